# Seagate ST2000NX0463 (of the Exos 7E2000 family)
#
# Sources
#  [study] Nibler and Ropars, "Carbon Footprint of Storage in Data Centers: The Impact of using SSDs for
#          Key-Value Stores": 6.02 W, constant whatever the load. So nothing but sleep saves power.
#  [sheet] vendor's data sheet: sustained 136 MB/s, seek 8.5/9.5 ms.
#
# Rules for what no source gives (marked "estimated", error doubled unless given):
#  R1 Watts above idle go as throughput^0.77 from one depth or chunk to another, as on flash (no source
#     separates them on a disk; the error is wide).
#  R2 Random IO: one at a time takes the average seek and half a turn; 32 outstanding are served in 45 % of
#     that time each, because the drive sorts them.
#  R3 Sequential IO: the sustained rate; 75 % of it one at a time in 256 KiB, 40 % in 4 KiB.
#  R4 A random IO of 256 KiB adds its transfer at the sustained rate.

[profile]
match = *ST2000NX0463*
kind = hdd
# [study], and the error
rated = 6.32 W
# [study]
idle = 6.02 W
estimated = rated
error = 5%
# [sheet]
read_mb_s = 136
write_mb_s = 136
# start/stop rating of the family
cycles = 50000

# 85 % less and 3 s back, as the HotStorage 2024 study saw on its family; start of the line before it
[condition standby_z]
watts = 0.9 W
enter = 3s
recovery = 3s
wake_watts = 26.1 W
wake_time = 3s
estimated = yes

[points]
# Random reads: R2 with 12.7 ms, R4
point = ps=0 qd=32 chunk=4K read random: 6.02W 0.717MB/s estimated
point = ps=0 qd=1 chunk=4K read random: 6.02W 0.323MB/s estimated
point = ps=0 qd=32 chunk=256K read random: 6.02W 34MB/s estimated
point = ps=0 qd=1 chunk=256K read random: 6.02W 18MB/s estimated
# Sequential reads: R3
point = ps=0 qd=32 chunk=256K read sequential: 6.02W 136MB/s estimated
point = ps=0 qd=1 chunk=256K read sequential: 6.02W 102MB/s estimated
point = ps=0 qd=32 chunk=4K read sequential: 6.02W 109MB/s estimated
point = ps=0 qd=1 chunk=4K read sequential: 6.02W 54MB/s estimated

# Random writes: R2 with 13.7 ms, R4
point = ps=0 qd=32 chunk=4K write random: 6.02W 0.664MB/s estimated
point = ps=0 qd=1 chunk=4K write random: 6.02W 0.299MB/s estimated
point = ps=0 qd=32 chunk=256K write random: 6.02W 32MB/s estimated
point = ps=0 qd=1 chunk=256K write random: 6.02W 17MB/s estimated
# Sequential writes: R3
point = ps=0 qd=32 chunk=256K write sequential: 6.02W 136MB/s estimated
point = ps=0 qd=1 chunk=256K write sequential: 6.02W 102MB/s estimated
point = ps=0 qd=32 chunk=4K write sequential: 6.02W 109MB/s estimated
point = ps=0 qd=1 chunk=4K write sequential: 6.02W 54MB/s estimated
