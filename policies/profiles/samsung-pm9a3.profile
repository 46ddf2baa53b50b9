# Samsung PM9A3 (MZQL2..., U.2; MZ1L2..., M.2; MZ3L..., E1.S)
#
# Sources
#  [study] Xie, Stavrinos, Zhu, Peter, Kasikci, Anderson, "Can Storage Devices be Power Adaptive?",
#          HotStorage 2024. It prints ratios, not tables: they are kept here exactly, hung on [drive]'s watts.
#  [drive] power state descriptors of a MZQL23T8HCLS: PS0 25 W (14 W active), PS1 8 W, 70 us both ways.
#  [sheet] vendor's data sheet, 3.84 TB U.2: 6800/4000 MB/s, 1 000 000/180 000 IOPS.
#
# Rules for what no source gives (marked "estimated", error doubled unless given):
#  R1 Watts above idle go as throughput^0.77. Each of the three ratios printed for NVMe in Xie et al., "Can
#     Storage Devices be Power Adaptive?", HotStorage 2024 (20 %/40 %, 30 %/60 %, 40 %/90 % of power/
#     throughput shed) gives 0.72 to 0.81 with the PM9A3's idle; the same law serves the other families.
#  R2 One IO at a time gives its size over its latency; the latency assumed stands beside the point.
#  R3 4 KiB throughput at full depth is the data sheet's IOPS; 256 KiB that of its MB/s.
#  R4 Random writes of 256 KiB: [sheet]'s 180 000 IOPS of 4 KiB are 40 % of them (the study's 60 % less).
#  R5 Idle: a little below the least point, 14 W x (1 - 0.594), the study's power dynamic range.
#  R6 In a lower power state random writes keep, at every depth and size, the share of the watts above idle that
#     its maximum leaves them at saturation, and by R1 the throughput of that (half of it or less): [study] saw
#     capping hurt them most, with a similar difference of power and a similar drop at other depths.
#  R7 Reads and sequential writes lose 5 % of their throughput in a lower state, which stands for [study]'s
#     "negligible" change of latency, and the watts of that; more where the state's maximum demands it, as
#     throughput^1.3 for reads and in proportion for sequential writes.
#
# Where [study] is not followed: it saw a negligible change of latency. At a fixed depth throughput and mean
# latency are one figure (Little's law), so where the throughput falls the latency rises as much. Random writes
# take 3.8 times as long in PS1, at every depth; sequential writes at depth 64, where the maximum binds, 2.6
# times; reads there 1.7 to 1.9 times.

[profile]
match = SAMSUNG MZQL2*
match = SAMSUNG MZ1L2*
match = SAMSUNG MZ3L[1-9]*
kind = nvme
# [drive]: active
rated = 14 W
# R5
idle = 5 W
estimated = idle
error = 5%
# [sheet]
interface = pcie4x4
read_mb_s = 6800
write_mb_s = 4000
read_iops = 1000000
write_iops = 180000

# [drive]
[power-state 0]
max = 25 W
entry = 70us
exit = 70us

[power-state 1]
max = 8 W
entry = 70us
exit = 70us

[points]
# Random writes. The anchor is [drive]'s active power less 5 %, which [study] does not print. MB/s: R4.
point = ps=0 qd=64 chunk=256K write random: 13.3W 1843MB/s error=5% estimated
# [study], case study: to shed 20 % of the power, depth 1 and chunk 256 KiB, at 40 % of the throughput.
point = ps=0 qd=1 chunk=256K write random: 10.6W 1106MB/s error=5% estimated
# [study]: a smaller chunk at depth 64 takes 30 % of the power and 60 % of the throughput.
point = ps=0 qd=64 chunk=4K write random: 9.31W 737MB/s 180000iops error=5% estimated
# R1, the throughput of the steps between taken as 50, 75, 90 % of the anchor's
point = ps=0 qd=64 chunk=16K write random: 9.87W 922MB/s estimated
point = ps=0 qd=64 chunk=64K write random: 11.65W 1382MB/s estimated
point = ps=0 qd=64 chunk=1024K write random: 13.30W 1843MB/s estimated
point = ps=0 qd=2 chunk=256K write random: 11.65W 1382MB/s estimated
point = ps=0 qd=4 chunk=256K write random: 12.65W 1659MB/s estimated
# R1, R2: 16 us for 4 KiB; a MiB at once keeps 80 % of the anchor's throughput
point = ps=0 qd=1 chunk=4K write random: 6.76W 245MB/s estimated
point = ps=0 qd=1 chunk=1024K write random: 11.99W 1474MB/s estimated

# Sequential writes: [sheet]'s MB/s at a little under the active power; R1, R2 (140 us, 17 us)
point = ps=0 qd=64 chunk=256K write sequential: 12.70W 4000MB/s estimated
point = ps=0 qd=1 chunk=256K write sequential: 9.29W 1870MB/s estimated
point = ps=0 qd=64 chunk=4K write sequential: 8.87W 1638MB/s estimated
point = ps=0 qd=1 chunk=4K write sequential: 5.90W 245MB/s estimated

# Random reads. [study]: a smaller depth takes 40 % of the power and 90 % of the throughput; it does not
# print which depths: depth 64 to 4 loses that with 70 us for an IO. 5.7 W is R5's least point.
point = ps=0 qd=64 chunk=4K read random: 9.5W 2458MB/s 600000iops error=5% estimated
point = ps=0 qd=4 chunk=4K read random: 5.7W 246MB/s 60000iops error=5% estimated
# R1, R2 (77 us), R3
point = ps=0 qd=1 chunk=4K read random: 5.23W 53MB/s estimated
point = ps=0 qd=16 chunk=4K read random: 7.00W 860MB/s estimated
point = ps=0 qd=256 chunk=4K read random: 11.67W 4096MB/s estimated
# R1, R2 (154 us)
point = ps=0 qd=64 chunk=256K read random: 11.00W 6500MB/s estimated
point = ps=0 qd=256 chunk=256K read random: 11.20W 6600MB/s estimated
point = ps=0 qd=1 chunk=256K read random: 7.14W 1700MB/s estimated

# Sequential reads: [sheet]'s MB/s; R1, R2 (87 us, 20 us with read-ahead in the drive)
point = ps=0 qd=64 chunk=256K read sequential: 11.00W 6800MB/s estimated
point = ps=0 qd=1 chunk=256K read sequential: 8.20W 3000MB/s estimated
point = ps=0 qd=64 chunk=4K read sequential: 7.74W 2458MB/s estimated
point = ps=0 qd=1 chunk=4K read sequential: 5.40W 205MB/s estimated

# Power state 1, random writes: R6
point = ps=1 qd=64 chunk=256K write random: 8.00W 492MB/s estimated
point = ps=1 qd=1 chunk=256K write random: 7.02W 295MB/s estimated
point = ps=1 qd=64 chunk=4K write random: 6.55W 197MB/s estimated
point = ps=1 qd=64 chunk=16K write random: 6.76W 246MB/s estimated
point = ps=1 qd=64 chunk=64K write random: 7.40W 369MB/s estimated
point = ps=1 qd=64 chunk=1024K write random: 8.00W 492MB/s estimated
point = ps=1 qd=2 chunk=256K write random: 7.40W 369MB/s estimated
point = ps=1 qd=4 chunk=256K write random: 7.76W 442MB/s estimated
point = ps=1 qd=1 chunk=4K write random: 5.63W 65MB/s estimated
point = ps=1 qd=1 chunk=1024K write random: 7.52W 393MB/s estimated

# Power state 1, the others: R7
point = ps=1 qd=64 chunk=256K write sequential: 8.00W 1558MB/s estimated
point = ps=1 qd=1 chunk=256K write sequential: 8.00W 1308MB/s estimated
point = ps=1 qd=64 chunk=4K write sequential: 8.00W 1270MB/s estimated
point = ps=1 qd=1 chunk=4K write sequential: 5.85W 233MB/s estimated
point = ps=1 qd=64 chunk=4K read random: 8.00W 1799MB/s estimated
point = ps=1 qd=4 chunk=4K read random: 5.65W 234MB/s estimated
point = ps=1 qd=1 chunk=4K read random: 5.21W 50MB/s estimated
point = ps=1 qd=16 chunk=4K read random: 6.87W 817MB/s estimated
point = ps=1 qd=256 chunk=4K read random: 8.00W 2214MB/s estimated
point = ps=1 qd=64 chunk=256K read random: 8.00W 3812MB/s estimated
point = ps=1 qd=256 chunk=256K read random: 8.00W 3812MB/s estimated
point = ps=1 qd=1 chunk=256K read random: 7.00W 1615MB/s estimated
point = ps=1 qd=64 chunk=256K read sequential: 8.00W 3988MB/s estimated
point = ps=1 qd=1 chunk=256K read sequential: 7.99W 2850MB/s estimated
point = ps=1 qd=64 chunk=4K read sequential: 7.56W 2335MB/s estimated
point = ps=1 qd=1 chunk=4K read sequential: 5.37W 195MB/s estimated
