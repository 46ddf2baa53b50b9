# Samsung PM1733 (MZWLJ..., U.2; MZPLJ..., card; told from the PM1735 by capacity)
#
# Sources
#  [drive] power state descriptors: PS0 only, 25 W. So IO shaping and pacing carry the budget alone.
#  [sheet] vendor's announcement: U.2 6400/3800 MB/s, 1 450 000/260 000 IOPS.
#  [sister] Nibler and Ropars, "Carbon Footprint of Storage in Data Centers": PM1735, 7.17 W idle, about
#          14 W at peak. The same controller and flash with more spare area.
#
# Rules for what no source gives (marked "estimated", error doubled unless given):
#  R1 Watts above idle go as throughput^0.77. Each of the three ratios printed for NVMe in Xie et al., "Can
#     Storage Devices be Power Adaptive?", HotStorage 2024 (20 %/40 %, 30 %/60 %, 40 %/90 % of power/
#     throughput shed) gives 0.72 to 0.81 with the PM9A3's idle; the same law serves the other families.
#  R2 One IO at a time gives its size over its latency; the latency assumed stands beside the point.
#  R3 4 KiB throughput at full depth is the data sheet's IOPS; 256 KiB that of its MB/s.
#  R4 Random writes of 256 KiB: the data sheet's 4 KiB MB/s are 40 % of them (the study's 60 % less), at
#     most 90 % of the sequential MB/s.
#  R5 Writes saturate at [sister]'s peak, reads 1 W below.

[profile]
match = SAMSUNG MZ[WP]LJ960*
match = SAMSUNG MZ[WP]LJ1T9*
match = SAMSUNG MZ[WP]LJ3T8*
match = SAMSUNG MZ[WP]LJ7T6*
match = SAMSUNG MZ[WP]LJ15T*
match = SAMSUNG MZ[WP]LJ30T*
kind = nvme
# [drive]
rated = 25 W
# [sister]
idle = 7.17 W
estimated = idle
error = 12%
# [sheet]
interface = pcie4x4
read_mb_s = 6400
write_mb_s = 3800
read_iops = 1450000
write_iops = 260000

# [drive]
[power-state 0]
max = 25 W

[points]
# Random reads: R3; at depth 64 the lesser of the data sheet's IOPS and 64 in 85 us; R1, R2 (85, 170 us)
point = ps=0 qd=256 chunk=4K read random: 12.67W 5939MB/s estimated
point = ps=0 qd=64 chunk=4K read random: 10.49W 3084MB/s estimated
point = ps=0 qd=4 chunk=4K read random: 7.56W 193MB/s estimated
point = ps=0 qd=1 chunk=4K read random: 7.31W 48MB/s estimated
point = ps=0 qd=64 chunk=256K read random: 13.00W 6080MB/s estimated
point = ps=0 qd=256 chunk=256K read random: 13.00W 6080MB/s estimated
point = ps=0 qd=1 chunk=256K read random: 9.20W 1542MB/s estimated

# Sequential reads: the data sheet's MB/s; R1, R2 (87 us or 45 % of it, 20 us)
point = ps=0 qd=64 chunk=256K read sequential: 13.00W 6400MB/s estimated
point = ps=0 qd=1 chunk=256K read sequential: 10.32W 2880MB/s estimated
point = ps=0 qd=64 chunk=4K read sequential: 10.49W 3084MB/s estimated
point = ps=0 qd=1 chunk=4K read sequential: 7.58W 205MB/s estimated

# Random writes: R3, R4; 60 % of the throughput at depth 1, as the study's case; R1, R2 (17 us)
point = ps=0 qd=64 chunk=256K write random: 14.00W 2662MB/s estimated
point = ps=0 qd=64 chunk=4K write random: 10.54W 1065MB/s estimated
point = ps=0 qd=2 chunk=256K write random: 12.64W 1997MB/s estimated
point = ps=0 qd=1 chunk=256K write random: 11.78W 1597MB/s estimated
point = ps=0 qd=1 chunk=4K write random: 8.26W 245MB/s estimated

# Sequential writes: the data sheet's MB/s; R1, R2 (140 us or 47 % of it, 17 us)
point = ps=0 qd=64 chunk=256K write sequential: 14.00W 3800MB/s estimated
point = ps=0 qd=1 chunk=256K write sequential: 10.99W 1786MB/s estimated
point = ps=0 qd=64 chunk=4K write sequential: 10.74W 1638MB/s estimated
point = ps=0 qd=1 chunk=4K write sequential: 7.98W 240MB/s estimated
