# Samsung PM1725, PM1725a, PM1725b (MZWLL..., MZPLL..., MZWLK...)
#
# Sources
#  [study] Nibler and Ropars, "Carbon Footprint of Storage in Data Centers: The Impact of using SSDs for
#          Key-Value Stores": 6.18 W idle, about 18 W at peak; of 256 KiB, half reads and 80 % reads are 27 %
#          and 19 % less efficient than the weighted mean of random reads and random writes.
#  [sheet] vendor's figures for the PM1725a U.2 as printed in AnandTech's enterprise SSD review (2020):
#          3300/3000 MB/s, 800 000/160 000 IOPS, at most 23 W.
#
# Rules for what no source gives (marked "estimated", error doubled unless given):
#  R1 Watts above idle go as throughput^0.77. Each of the three ratios printed for NVMe in Xie et al., "Can
#     Storage Devices be Power Adaptive?", HotStorage 2024 (20 %/40 %, 30 %/60 %, 40 %/90 % of power/
#     throughput shed) gives 0.72 to 0.81 with the PM9A3's idle; the same law serves the other families.
#  R2 One IO at a time gives its size over its latency; the latency assumed stands beside the point.
#  R3 [study] gives the relations: above 16 KiB reads draw more than writes, reads are 65 % more efficient,
#     sequential is as efficient as random, and smaller blocks draw less. Writes are what these leave: [sheet]'s
#     3000 MB/s of them would take more than the drive draws, and give way to [study].
#  R4 Random writes of 4 KiB: [sheet]'s IOPS, 40 % of 256 KiB (the 60 % less of R1's study).
#  R5 Sequential reads of 256 KiB draw the peak.
#  R6 From 16 KiB on IOPS do not bind writes, which serve almost what they do of 256 KiB: so R3's 65 % hold for
#     all blocks above 16 KiB. Of 4 KiB [sheet]'s IOPS bind, and reads are better by more.
#  R7 IOs of 1 KiB come as often as those of 4 KiB, with fewer bytes; R1.

[profile]
match = SAMSUNG MZWLL*
match = SAMSUNG MZPLL*
match = SAMSUNG MZWLK*
kind = nvme
# [sheet]
rated = 23 W
# [study]
idle = 6.18 W
error = 10%
# [sheet]; the cards and the PM1725 itself give more IOPS
read_mb_s = 3300
write_mb_s = 3000
read_iops = 800000
write_iops = 160000

[points]
# Random reads: 95 % of the sequential ones, at depth 64 of 4 KiB 64 in 85 us; R1, R2 (85, 170 us)
point = ps=0 qd=256 chunk=4K read random: 16.96W 3084MB/s estimated
point = ps=0 qd=64 chunk=4K read random: 16.96W 3084MB/s estimated
point = ps=0 qd=4 chunk=4K read random: 7.46W 193MB/s estimated
point = ps=0 qd=1 chunk=4K read random: 6.62W 48MB/s estimated
point = ps=0 qd=64 chunk=256K read random: 17.10W 3135MB/s estimated
point = ps=0 qd=256 chunk=256K read random: 17.10W 3135MB/s estimated
point = ps=0 qd=1 chunk=256K read random: 12.50W 1542MB/s estimated

# Sequential reads: [sheet]'s MB/s at the peak, R5; R1, R2 (45 % of it, 20 us)
point = ps=0 qd=64 chunk=256K read sequential: 18.00W 3300MB/s estimated
point = ps=0 qd=1 chunk=256K read sequential: 12.57W 1485MB/s estimated
point = ps=0 qd=64 chunk=4K read sequential: 17.08W 2970MB/s estimated
point = ps=0 qd=1 chunk=4K read sequential: 7.57W 205MB/s estimated

# Random writes: R3, R4; 60 % of the throughput at depth 1, as the case of R1's study; R1, R2 (17 us)
point = ps=0 qd=64 chunk=256K write random: 14.76W 1638MB/s estimated
point = ps=0 qd=64 chunk=4K write random: 10.42W 655MB/s estimated
point = ps=0 qd=2 chunk=256K write random: 13.06W 1229MB/s estimated
point = ps=0 qd=1 chunk=256K write random: 11.97W 983MB/s estimated
point = ps=0 qd=1 chunk=4K write random: 8.17W 245MB/s estimated

# Sequential writes: R3; R1, R2 (47 % of it, 17 us); of 4 KiB as efficient as random ones
point = ps=0 qd=64 chunk=256K write sequential: 16.67W 1850MB/s estimated
point = ps=0 qd=1 chunk=256K write sequential: 12.05W 870MB/s estimated
point = ps=0 qd=64 chunk=4K write sequential: 11.36W 740MB/s estimated
point = ps=0 qd=1 chunk=4K write sequential: 8.36W 240MB/s estimated

# Writes of 16 KiB: R6
point = ps=0 qd=64 chunk=16K write random: 14.61W 1600MB/s estimated
point = ps=0 qd=64 chunk=16K write sequential: 16.45W 1800MB/s estimated

# IO of 1 KiB: R7
point = ps=0 qd=256 chunk=1K read random: 9.89W 771MB/s estimated
point = ps=0 qd=64 chunk=1K read random: 9.89W 771MB/s estimated
point = ps=0 qd=64 chunk=1K read sequential: 9.93W 742MB/s estimated
point = ps=0 qd=64 chunk=1K write random: 7.64W 164MB/s estimated
point = ps=0 qd=64 chunk=1K write sequential: 7.96W 185MB/s estimated

# Mixes: [study]'s efficiency, at the time-weighted mean of the watts
point = ps=0 qd=256 chunk=256K read=50% random: 15.56W 1671MB/s estimated
point = ps=0 qd=256 chunk=256K read=80% random: 16.34W 2235MB/s estimated
