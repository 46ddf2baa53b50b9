# Samsung PM1735 (MZWLJ..., U.2; MZPLJ..., card; told from the PM1733 by capacity)
#
# Sources
#  [study] Nibler and Ropars, "Carbon Footprint of Storage in Data Centers: The Impact of using SSDs for
#          Key-Value Stores": 7.17 W idle, about 14 W at peak.
#  [sheet] vendor's announcement, card: 8000/3800 MB/s, 1 450 000/260 000 IOPS.
#
# Rules for what no source gives (marked "estimated", error doubled unless given):
#  R1 Watts above idle go as throughput^0.77. Each of the three ratios printed for NVMe in Xie et al., "Can
#     Storage Devices be Power Adaptive?", HotStorage 2024 (20 %/40 %, 30 %/60 %, 40 %/90 % of power/
#     throughput shed) gives 0.72 to 0.81 with the PM9A3's idle; the same law serves the other families.
#  R2 One IO at a time gives its size over its latency; the latency assumed stands beside the point.
#  R3 [study] gives the relations: above 16 KiB reads draw more than writes, reads are 65 % more efficient,
#     sequential is as efficient as random, large reads are up to 40 % more efficient than the PM1725's, small
#     blocks less efficient. With the peak's 14 W that is 3.5 GB/s, as in a slot of PCIe 3; [sheet]'s MB/s and
#     IOPS give way to [study].
#  R4 Random writes of 4 KiB: as efficient as R3 leaves them, a little less than the PM1725's.
#  R5 Sequential reads of 256 KiB draw nearly the peak.
#  R6 Writes of 32 KiB: what R3's 65 % leave them beside reads of that size; R1 from 256 KiB.
#  R7 IOs of 1 KiB come as often as those of 4 KiB, with fewer bytes; R1.

[profile]
match = SAMSUNG MZ[WP]LJ800*
match = SAMSUNG MZ[WP]LJ1T6*
match = SAMSUNG MZ[WP]LJ3T2*
match = SAMSUNG MZ[WP]LJ6T4*
match = SAMSUNG MZ[WP]LJ12T*
kind = nvme
# [study]: "about 14 W" at peak, and a tenth for the "about"
rated = 15.4 W
# [study]
idle = 7.17 W
estimated = rated
# as "about" as the peak
error = 10%
# [sheet]
read_mb_s = 8000
write_mb_s = 3800
read_iops = 1450000
write_iops = 260000

[points]
# Random reads: 98 % of the sequential ones; of 4 KiB R3; R1, R2 (85, 170 us)
point = ps=0 qd=256 chunk=4K read random: 11.13W 1900MB/s estimated
point = ps=0 qd=64 chunk=4K read random: 11.13W 1900MB/s estimated
point = ps=0 qd=4 chunk=4K read random: 7.85W 193MB/s estimated
point = ps=0 qd=1 chunk=4K read random: 7.40W 48MB/s estimated
point = ps=0 qd=64 chunk=256K read random: 13.40W 3420MB/s estimated
point = ps=0 qd=256 chunk=256K read random: 13.40W 3420MB/s estimated
point = ps=0 qd=1 chunk=256K read random: 10.54W 1542MB/s estimated

# Sequential reads: R3, R5; R1, R2 (45 % of it, 20 us)
point = ps=0 qd=64 chunk=256K read sequential: 13.70W 3500MB/s estimated
point = ps=0 qd=1 chunk=256K read sequential: 10.70W 1575MB/s estimated
point = ps=0 qd=64 chunk=4K read sequential: 11.33W 1950MB/s estimated
point = ps=0 qd=1 chunk=4K read sequential: 7.90W 205MB/s estimated

# Random writes: R3, R4; 60 % of the throughput at depth 1, as the case of R1's study; R1, R2 (17 us)
point = ps=0 qd=64 chunk=256K write random: 12.20W 1890MB/s estimated
point = ps=0 qd=64 chunk=4K write random: 9.09W 540MB/s estimated
point = ps=0 qd=2 chunk=256K write random: 11.20W 1418MB/s estimated
point = ps=0 qd=1 chunk=256K write random: 10.56W 1134MB/s estimated
point = ps=0 qd=1 chunk=4K write random: 8.21W 245MB/s estimated

# Sequential writes: R3; R1, R2 (47 % of it, 17 us); of 4 KiB as efficient as random ones
point = ps=0 qd=64 chunk=256K write sequential: 12.90W 2000MB/s estimated
point = ps=0 qd=1 chunk=256K write sequential: 10.37W 940MB/s estimated
point = ps=0 qd=64 chunk=4K write sequential: 9.35W 570MB/s estimated
point = ps=0 qd=1 chunk=4K write sequential: 8.29W 240MB/s estimated

# Writes of 32 KiB: R6
point = ps=0 qd=64 chunk=32K write random: 11.38W 1500MB/s estimated
point = ps=0 qd=64 chunk=32K write sequential: 11.95W 1580MB/s estimated

# IO of 1 KiB: R7
point = ps=0 qd=256 chunk=1K read random: 8.53W 475MB/s estimated
point = ps=0 qd=64 chunk=1K read random: 8.53W 475MB/s estimated
point = ps=0 qd=64 chunk=1K read sequential: 8.60W 488MB/s estimated
point = ps=0 qd=64 chunk=1K write random: 7.83W 135MB/s estimated
point = ps=0 qd=64 chunk=1K write sequential: 7.92W 142MB/s estimated
