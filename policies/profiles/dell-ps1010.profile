# SK hynix PS1010, as sold by Dell
#
# Sources
#  [drive] power state descriptors of a Dell PS1010: 25, 20, 17, 14 W, and a non-operational state of 5 W;
#          30 ms in and out.
#  [sheet] vendor's data sheet: 14 800/10 200 MB/s, 3 100 000/600 000 IOPS.
#
# Rules for what no source gives (marked "estimated", error doubled unless given):
#  R1 Watts above idle go as throughput^0.77. Each of the three ratios printed for NVMe in Xie et al., "Can
#     Storage Devices be Power Adaptive?", HotStorage 2024 (20 %/40 %, 30 %/60 %, 40 %/90 % of power/
#     throughput shed) gives 0.72 to 0.81 with the PM9A3's idle; the same law serves the other families.
#  R2 One IO at a time gives its size over its latency; the latency assumed stands beside the point.
#  R3 4 KiB throughput at full depth is the data sheet's IOPS; 256 KiB that of its MB/s.
#  R4 Random writes of 256 KiB: the data sheet's 4 KiB MB/s are 40 % of them (the study's 60 % less), at
#     most 90 % of the sequential MB/s.
#  R5 Saturation at 80 % of PS0's maximum, so that with the doubled error the whole of it is reached.

[profile]
match = Dell*PS1010*
match = DELL*PS1010*
match = *HFS*EJVX*
match = SK?hynix*PS1010*
kind = nvme
# [drive]: PS0
rated = 25 W
# 30 % of rated, as for any NVMe drive: no source gives it
idle = 7.5 W
estimated = idle
error = 12%
# [sheet]
interface = pcie5x4
read_mb_s = 14800
write_mb_s = 10200
read_iops = 3100000
write_iops = 600000

# [drive]; nothing tells what IO gets in PS1 to PS3, which the model estimates by their maxima alone
[power-state 0]
max = 25 W
entry = 30ms
exit = 30ms

[power-state 1]
max = 20 W
entry = 30ms
exit = 30ms

[power-state 2]
max = 17 W
entry = 30ms
exit = 30ms

[power-state 3]
max = 14 W
entry = 30ms
exit = 30ms

[power-state 4]
max = 5 W
entry = 30ms
exit = 30ms
operational = no

[points]
# Random reads: R3; at depth 64 the lesser of the data sheet's IOPS and 64 in 85 us; R1, R2 (85, 170 us)
point = ps=0 qd=256 chunk=4K read random: 17.72W 12698MB/s estimated
point = ps=0 qd=64 chunk=4K read random: 10.94W 3084MB/s estimated
point = ps=0 qd=4 chunk=4K read random: 7.91W 193MB/s estimated
point = ps=0 qd=1 chunk=4K read random: 7.64W 48MB/s estimated
point = ps=0 qd=64 chunk=256K read random: 19.00W 14060MB/s estimated
point = ps=0 qd=256 chunk=256K read random: 19.00W 14060MB/s estimated
point = ps=0 qd=1 chunk=256K read random: 9.60W 1542MB/s estimated

# Sequential reads: the data sheet's MB/s; R1, R2 (87 us or 45 % of it, 20 us)
point = ps=0 qd=64 chunk=256K read sequential: 19.00W 14800MB/s estimated
point = ps=0 qd=1 chunk=256K read sequential: 10.88W 3013MB/s estimated
point = ps=0 qd=64 chunk=4K read sequential: 10.94W 3084MB/s estimated
point = ps=0 qd=1 chunk=4K read sequential: 7.93W 205MB/s estimated

# Random writes: R3, R4; 60 % of the throughput at depth 1, as the study's case; R1, R2 (17 us)
point = ps=0 qd=64 chunk=256K write random: 20.00W 6144MB/s estimated
point = ps=0 qd=64 chunk=4K write random: 13.67W 2458MB/s estimated
point = ps=0 qd=2 chunk=256K write random: 17.52W 4608MB/s estimated
point = ps=0 qd=1 chunk=256K write random: 15.94W 3686MB/s estimated
point = ps=0 qd=1 chunk=4K write random: 8.55W 245MB/s estimated

# Sequential writes: the data sheet's MB/s; R1, R2 (140 us or 47 % of it, 17 us)
point = ps=0 qd=64 chunk=256K write sequential: 20.00W 10200MB/s estimated
point = ps=0 qd=1 chunk=256K write sequential: 10.89W 1872MB/s estimated
point = ps=0 qd=64 chunk=4K write sequential: 10.56W 1638MB/s estimated
point = ps=0 qd=1 chunk=4K write sequential: 8.20W 240MB/s estimated
