# Samsung 860 EVO
#
# Sources
#  [study] Xie et al., "Can Storage Devices be Power Adaptive?", HotStorage 2024, used it for standby alone:
#          slumber takes 50 % less power and 0.3 s to come back.
#  [sheet] vendor's data sheet, 1 TB: 550/520 MB/s, 98 000/90 000 IOPS; average 3.0 W, at most 4.0 W; idle
#          50 mW with link power management.
#  [review] AnandTech's review of the 860 EVO M.2: just under 2 W reading sequentially.
#
# Rules for what no source gives (marked "estimated", error doubled unless given):
#  R1 Watts above idle go as throughput^0.77. Each of the three ratios printed for NVMe in Xie et al., "Can
#     Storage Devices be Power Adaptive?", HotStorage 2024 (20 %/40 %, 30 %/60 %, 40 %/90 % of power/
#     throughput shed) gives 0.72 to 0.81 with the PM9A3's idle; the same law serves the other families.
#  R2 One IO at a time gives its size over its latency; the latency assumed stands beside the point.
#  R3 4 KiB throughput at full depth is the data sheet's IOPS; 256 KiB that of its MB/s.
#  R4 Random writes of 256 KiB: the data sheet's 4 KiB MB/s are 40 % of them, at most 90 % of the
#     sequential MB/s.
#  R5 Reads saturate at [review]'s 2 W, writes at [sheet]'s average.

[profile]
match = Samsung SSD 860 EVO*
kind = sata-ssd
# [sheet]: the most
rated = 4.0 W
# an active link draws about 0.25 W more than [sheet]'s 50 mW
idle = 0.3 W
# [study]: half of it; [sheet]'s 50 mW, which would be less, gives way
link_saving = 0.15 W
link_recovery = 300ms
# both hang on the watts that nobody gives
estimated = idle, link_saving
error = 10%
# [sheet]
interface = sata
read_mb_s = 550
write_mb_s = 520
read_iops = 98000
write_iops = 90000

[points]
# Reads: R3; R1, R2 (110 us random, 36 us sequential for 4 KiB; the link's time more for 256 KiB)
point = ps=0 qd=32 chunk=4K read random: 1.63W 401MB/s estimated
point = ps=0 qd=1 chunk=4K read random: 0.51W 37MB/s estimated
point = ps=0 qd=32 chunk=256K read random: 2.00W 534MB/s estimated
point = ps=0 qd=1 chunk=256K read random: 1.59W 385MB/s estimated
point = ps=0 qd=32 chunk=256K read sequential: 2.00W 550MB/s estimated
point = ps=0 qd=1 chunk=256K read sequential: 1.87W 495MB/s estimated
point = ps=0 qd=32 chunk=4K read sequential: 1.45W 330MB/s estimated
point = ps=0 qd=1 chunk=4K read sequential: 0.79W 110MB/s estimated

# Writes: R3, R4; R1, R2 (52 us random, 36 us sequential)
point = ps=0 qd=32 chunk=256K write random: 3.00W 468MB/s estimated
point = ps=0 qd=32 chunk=4K write random: 2.55W 369MB/s estimated
point = ps=0 qd=1 chunk=256K write random: 2.57W 374MB/s estimated
point = ps=0 qd=1 chunk=4K write random: 0.98W 78MB/s estimated
point = ps=0 qd=32 chunk=256K write sequential: 3.00W 520MB/s estimated
point = ps=0 qd=1 chunk=256K write sequential: 2.68W 442MB/s estimated
point = ps=0 qd=32 chunk=4K write sequential: 2.07W 300MB/s estimated
point = ps=0 qd=1 chunk=4K write sequential: 1.12W 110MB/s estimated
