# Intel (Solidigm) D7-P5510, SSDPF2KX... (the P5520 answers alike)
#
# Sources
#  [study] Xie et al., "Can Storage Devices be Power Adaptive?", HotStorage 2024.
#  [drive] power state descriptors: PS0 25 W, PS1 12 W, PS2 10 W, 60 ms in and out, all ranks 0.
#  [sheet] vendor's data sheet, 7.68 TB: 7000/4194 MB/s, 930 000/190 000 IOPS, active 18 W, idle 5 W.
#
# Rules for what no source gives (marked "estimated", error doubled unless given):
#  R1 Watts above idle go as throughput^0.77. Each of the three ratios printed for NVMe in Xie et al., "Can
#     Storage Devices be Power Adaptive?", HotStorage 2024 (20 %/40 %, 30 %/60 %, 40 %/90 % of power/
#     throughput shed) gives 0.72 to 0.81 with the PM9A3's idle; the same law serves the other families.
#  R2 One IO at a time gives its size over its latency; the latency assumed stands beside the point.
#  R3 4 KiB throughput at full depth is the data sheet's IOPS; 256 KiB that of its MB/s.
#  R4 Random writes of 256 KiB: the data sheet's 4 KiB MB/s are 40 % of them (the study's 60 % less), at
#     most 90 % of the sequential MB/s.
#  R5 Writes saturate a little under the active power; reads, which no source gives, at 60 % above idle.
#  R6 In a lower power state random writes keep, at every depth and size, the share of the watts above idle that
#     its maximum leaves them at saturation, and by R1 the throughput of that (half of it or less): [study] saw
#     capping hurt them most, with a similar difference of power and a similar drop at other depths.
#  R7 Reads and sequential writes lose 5 % of their throughput in a lower state, which stands for [study]'s
#     "negligible" change of latency, and the watts of that; more where the state's maximum demands it, as
#     throughput^1.3 for reads and in proportion for sequential writes.
#
# Where [study] is not followed: it saw a negligible change of latency. At a fixed depth throughput and mean
# latency are one figure (Little's law), so where the throughput falls the latency rises as much. Random writes
# take 1.9 times as long in PS1 and 2.9 times in PS2, at every depth; sequential writes at depth 64, where the
# maximum binds, 1.6 and 2.3 times; reads there 1.06 and 1.4 times.

[profile]
match = INTEL SSDPF2KX*
match = SOLIDIGM SSDPF2KX*
kind = nvme
# [sheet]: PS0's 25 W is a ceiling that it does not reach
rated = 18 W
# [sheet]
idle = 5 W
error = 8%
# [sheet]
interface = pcie4x4
read_mb_s = 7000
write_mb_s = 4194
read_iops = 930000
write_iops = 190000

# [drive]
[power-state 0]
max = 25 W
entry = 60ms
exit = 60ms

[power-state 1]
max = 12 W
entry = 60ms
exit = 60ms

[power-state 2]
max = 10 W
entry = 60ms
exit = 60ms

[points]
# Random reads: R3; at depth 64 the lesser of the data sheet's IOPS and 64 in 85 us; R1, R2 (85, 170 us)
point = ps=0 qd=256 chunk=4K read random: 9.69W 3809MB/s estimated
point = ps=0 qd=64 chunk=4K read random: 8.99W 3084MB/s estimated
point = ps=0 qd=4 chunk=4K read random: 5.47W 193MB/s estimated
point = ps=0 qd=1 chunk=4K read random: 5.16W 48MB/s estimated
point = ps=0 qd=64 chunk=256K read random: 12.50W 6650MB/s estimated
point = ps=0 qd=256 chunk=256K read random: 12.50W 6650MB/s estimated
point = ps=0 qd=1 chunk=256K read random: 7.43W 1542MB/s estimated

# Sequential reads: the data sheet's MB/s; R1, R2 (87 us or 45 % of it, 20 us)
point = ps=0 qd=64 chunk=256K read sequential: 12.50W 7000MB/s estimated
point = ps=0 qd=1 chunk=256K read sequential: 8.92W 3013MB/s estimated
point = ps=0 qd=64 chunk=4K read sequential: 8.99W 3084MB/s estimated
point = ps=0 qd=1 chunk=4K read sequential: 5.49W 205MB/s estimated

# Random writes: R3, R4; 60 % of the throughput at depth 1, as the study's case; R1, R2 (17 us)
point = ps=0 qd=64 chunk=256K write random: 16.50W 1946MB/s estimated
point = ps=0 qd=64 chunk=4K write random: 10.68W 778MB/s estimated
point = ps=0 qd=2 chunk=256K write random: 14.21W 1459MB/s estimated
point = ps=0 qd=1 chunk=256K write random: 12.76W 1167MB/s estimated
point = ps=0 qd=1 chunk=4K write random: 7.33W 245MB/s estimated

# Sequential writes: the data sheet's MB/s; R1, R2 (140 us or 47 % of it, 17 us)
point = ps=0 qd=64 chunk=256K write sequential: 16.50W 4194MB/s estimated
point = ps=0 qd=1 chunk=256K write sequential: 11.18W 1872MB/s estimated
point = ps=0 qd=64 chunk=4K write sequential: 10.58W 1638MB/s estimated
point = ps=0 qd=1 chunk=4K write sequential: 6.27W 240MB/s estimated

# Power state 1, random writes: R6
point = ps=1 qd=64 chunk=256K write random: 12.00W 1021MB/s estimated
point = ps=1 qd=64 chunk=4K write random: 8.45W 408MB/s estimated
point = ps=1 qd=2 chunk=256K write random: 10.60W 766MB/s estimated
point = ps=1 qd=1 chunk=256K write random: 9.72W 612MB/s estimated
point = ps=1 qd=1 chunk=4K write random: 6.41W 129MB/s estimated

# Power state 1, the others: R7
point = ps=1 qd=64 chunk=256K write sequential: 12.00W 2553MB/s estimated
point = ps=1 qd=1 chunk=256K write sequential: 10.87W 1778MB/s estimated
point = ps=1 qd=64 chunk=4K write sequential: 10.30W 1556MB/s estimated
point = ps=1 qd=1 chunk=4K write sequential: 6.20W 228MB/s estimated
point = ps=1 qd=256 chunk=4K read random: 9.38W 3619MB/s estimated
point = ps=1 qd=64 chunk=4K read random: 8.73W 2930MB/s estimated
point = ps=1 qd=4 chunk=4K read random: 5.43W 183MB/s estimated
point = ps=1 qd=1 chunk=4K read random: 5.14W 46MB/s estimated
point = ps=1 qd=64 chunk=256K read random: 12.00W 6306MB/s estimated
point = ps=1 qd=256 chunk=256K read random: 12.00W 6306MB/s estimated
point = ps=1 qd=1 chunk=256K read random: 7.27W 1465MB/s estimated
point = ps=1 qd=64 chunk=256K read sequential: 12.00W 6638MB/s estimated
point = ps=1 qd=1 chunk=256K read sequential: 8.66W 2862MB/s estimated
point = ps=1 qd=64 chunk=4K read sequential: 8.73W 2930MB/s estimated
point = ps=1 qd=1 chunk=4K read sequential: 5.45W 195MB/s estimated

# Power state 2, random writes: R6
point = ps=2 qd=64 chunk=256K write random: 10.00W 660MB/s estimated
point = ps=2 qd=64 chunk=4K write random: 7.46W 264MB/s estimated
point = ps=2 qd=2 chunk=256K write random: 9.00W 495MB/s estimated
point = ps=2 qd=1 chunk=256K write random: 8.37W 396MB/s estimated
point = ps=2 qd=1 chunk=4K write random: 6.01W 83MB/s estimated

# Power state 2, the others: R7
point = ps=2 qd=64 chunk=256K write sequential: 10.00W 1823MB/s estimated
point = ps=2 qd=1 chunk=256K write sequential: 10.00W 1515MB/s estimated
point = ps=2 qd=64 chunk=4K write sequential: 10.00W 1468MB/s estimated
point = ps=2 qd=1 chunk=4K write sequential: 6.20W 228MB/s estimated
point = ps=2 qd=256 chunk=4K read random: 9.38W 3619MB/s estimated
point = ps=2 qd=64 chunk=4K read random: 8.73W 2930MB/s estimated
point = ps=2 qd=4 chunk=4K read random: 5.43W 183MB/s estimated
point = ps=2 qd=1 chunk=4K read random: 5.14W 46MB/s estimated
point = ps=2 qd=64 chunk=256K read random: 10.00W 4867MB/s estimated
point = ps=2 qd=256 chunk=256K read random: 10.00W 4867MB/s estimated
point = ps=2 qd=1 chunk=256K read random: 7.27W 1465MB/s estimated
point = ps=2 qd=64 chunk=256K read sequential: 10.00W 5123MB/s estimated
point = ps=2 qd=1 chunk=256K read sequential: 8.66W 2862MB/s estimated
point = ps=2 qd=64 chunk=4K read sequential: 8.73W 2930MB/s estimated
point = ps=2 qd=1 chunk=4K read sequential: 5.45W 195MB/s estimated
