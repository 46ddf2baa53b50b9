# Samsung PM1725, PM1725a, PM1725b (MZWLL..., MZPLL..., MZWLK...)
#
# Sources
#  [study] Nibler and Ropars, "Carbon Footprint of Storage in Data Centers: The Impact of using SSDs for
#          Key-Value Stores": 6.18 W idle, about 18 W at peak.
#  [sheet] vendor's figures for the PM1725a U.2 as printed in AnandTech's enterprise SSD review (2020):
#          3300/3000 MB/s, 800 000/160 000 IOPS, at most 23 W.
#
# Rules for what no source gives (marked "estimated", error doubled unless given):
#  R1 Watts above idle go as throughput^0.77. Each of the three ratios printed for NVMe in Xie et al., "Can
#     Storage Devices be Power Adaptive?", HotStorage 2024 (20 %/40 %, 30 %/60 %, 40 %/90 % of power/
#     throughput shed) gives 0.72 to 0.81 with the PM9A3's idle; the same law serves the other families.
#  R2 One IO at a time gives its size over its latency; the latency assumed stands beside the point.
#  R3 4 KiB throughput at full depth is the data sheet's IOPS; 256 KiB that of its MB/s.
#  R4 Random writes of 256 KiB: the data sheet's 4 KiB MB/s are 40 % of them (the study's 60 % less), at
#     most 90 % of the sequential MB/s.
#  R5 Random writes saturate at the study's peak, the others 1 to 3 W below.

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

[points]
# Random reads: R3; at depth 64 the lesser of the data sheet's IOPS and 64 in 85 us; R1, R2 (85, 170 us)
point = ps=0 qd=256 chunk=4K read random: 15.95W 3277MB/s estimated
point = ps=0 qd=64 chunk=4K read random: 15.50W 3084MB/s estimated
point = ps=0 qd=4 chunk=4K read random: 7.28W 193MB/s estimated
point = ps=0 qd=1 chunk=4K read random: 6.56W 48MB/s estimated
point = ps=0 qd=64 chunk=256K read random: 16.00W 3135MB/s estimated
point = ps=0 qd=256 chunk=256K read random: 16.00W 3135MB/s estimated
point = ps=0 qd=1 chunk=256K read random: 11.87W 1542MB/s estimated

# Sequential reads: the data sheet's MB/s; R1, R2 (87 us or 45 % of it, 20 us)
point = ps=0 qd=64 chunk=256K read sequential: 15.00W 3300MB/s estimated
point = ps=0 qd=1 chunk=256K read sequential: 10.95W 1485MB/s estimated
point = ps=0 qd=64 chunk=4K read sequential: 14.31W 2970MB/s estimated
point = ps=0 qd=1 chunk=4K read sequential: 7.22W 205MB/s estimated

# Random writes: R3, R4; 60 % of the throughput at depth 1, as the study's case; R1, R2 (17 us)
point = ps=0 qd=64 chunk=256K write random: 18.00W 1638MB/s estimated
point = ps=0 qd=64 chunk=4K write random: 12.02W 655MB/s estimated
point = ps=0 qd=2 chunk=256K write random: 15.65W 1229MB/s estimated
point = ps=0 qd=1 chunk=256K write random: 14.16W 983MB/s estimated
point = ps=0 qd=1 chunk=4K write random: 8.92W 245MB/s estimated

# Sequential writes: the data sheet's MB/s; R1, R2 (140 us or 47 % of it, 17 us)
point = ps=0 qd=64 chunk=256K write sequential: 17.00W 3000MB/s estimated
point = ps=0 qd=1 chunk=256K write sequential: 12.23W 1410MB/s estimated
point = ps=0 qd=64 chunk=4K write sequential: 12.97W 1638MB/s estimated
point = ps=0 qd=1 chunk=4K write sequential: 7.73W 240MB/s estimated
