# Intel (Solidigm) SATA data-center drives S4500, S4510, S4520, S4600, S4610, S4620
#
# Sources
#  [study] Xie et al., "Can Storage Devices be Power Adaptive?", HotStorage 2024, "Intel SATA SSD, D3 series";
#          its slumber, 50 % less power and 0.3 s to come back, was measured on a Samsung 860 EVO.
#  [sheet] product specification of the S4500/S4600: 500/490 MB/s, 72 000/33 000 IOPS of 4 KiB, active/idle
#          5.6/1.1 W (S4600 5.0/1.0, S4520 4.3/1.4, S4620 3.9/1.3): the S4500, the largest, stands for all.
#
# Rules for what no source gives (marked "estimated", error doubled unless given):
#  R1 Watts above idle go as throughput^0.77. Each of the three ratios printed for NVMe in Xie et al., "Can
#     Storage Devices be Power Adaptive?", HotStorage 2024 (20 %/40 %, 30 %/60 %, 40 %/90 % of power/
#     throughput shed) gives 0.72 to 0.81 with the PM9A3's idle; the same law serves the other families.
#  R2 One IO at a time gives its size over its latency; the latency assumed stands beside the point.
#  R3 4 KiB throughput at full depth is the data sheet's IOPS; 256 KiB that of its MB/s.
#  R4 Random writes of 256 KiB: the data sheet's 4 KiB MB/s are 40 % of them, at most 90 % of the
#     sequential MB/s.
#  R5 Writes saturate a little under the active power; reads at 75 % of it.

[profile]
match = INTEL SSDSC2KB*
match = INTEL SSDSC2KG*
match = SOLIDIGM SSDSC2KB*
match = SOLIDIGM SSDSC2KG*
match = SSDSC2K[BG]*
kind = sata-ssd
# [sheet]: active
rated = 5.6 W
# [sheet]
idle = 1.1 W
# half of idle, as [study]'s other drive
link_saving = 0.55 W
link_recovery = 300ms
estimated = link_saving
error = 8%
# [sheet]
interface = sata
read_mb_s = 500
write_mb_s = 490
read_iops = 72000
write_iops = 33000

[points]
# Reads: R3; R1, R2 (110 us random, 36 us sequential for 4 KiB; the link's time more for 256 KiB)
point = ps=0 qd=32 chunk=4K read random: 3.16W 295MB/s estimated
point = ps=0 qd=1 chunk=4K read random: 1.52W 37MB/s estimated
point = ps=0 qd=32 chunk=256K read random: 4.20W 485MB/s estimated
point = ps=0 qd=1 chunk=256K read random: 3.46W 350MB/s estimated
point = ps=0 qd=32 chunk=256K read sequential: 4.20W 500MB/s estimated
point = ps=0 qd=1 chunk=256K read sequential: 3.96W 450MB/s estimated
point = ps=0 qd=32 chunk=4K read sequential: 3.35W 330MB/s estimated
point = ps=0 qd=1 chunk=4K read sequential: 2.07W 110MB/s estimated

# Writes: R3, R4; R1, R2 (52 us random, 36 us sequential)
point = ps=0 qd=32 chunk=256K write random: 5.20W 338MB/s estimated
point = ps=0 qd=32 chunk=4K write random: 3.12W 135MB/s estimated
point = ps=0 qd=1 chunk=256K write random: 4.55W 270MB/s estimated
point = ps=0 qd=1 chunk=4K write random: 2.43W 78MB/s estimated
point = ps=0 qd=32 chunk=256K write sequential: 5.20W 490MB/s estimated
point = ps=0 qd=1 chunk=256K write sequential: 4.72W 416MB/s estimated
point = ps=0 qd=32 chunk=4K write sequential: 3.91W 300MB/s estimated
point = ps=0 qd=1 chunk=4K write sequential: 2.40W 110MB/s estimated
