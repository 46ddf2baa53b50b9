# Seagate Exos 7E2000 (Enterprise Capacity 2.5 v3), 2.5 inch, 7200 rpm
#
# Sources
#  [study] Xie et al., "Can Storage Devices be Power Adaptive?", HotStorage 2024: spin-down takes 85 % less
#          power and 3 s to come back.
#  [sister] Constellation 500 GB SATA, the 2.5 inch line before it: random read/write 6.5/5.3 W, idle 3.7,
#          idle_a 3.1, idle_b 2.8, idle_c 1.5, standby 0.53 (86 % less than idle, which agrees), start 26.1 W.
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
match = *ST2000NX02*
match = *ST2000NX03*
match = *ST2000NX0403*
match = *ST2000NX0423*
match = *ST2000NX0433*
match = *ST1000NX0*
kind = hdd
# [sister]: random reads
rated = 6.5 W
# [sister]
idle = 3.7 W
estimated = rated, idle
error = 10%
# [sheet]
read_mb_s = 136
write_mb_s = 136
# start/stop rating of the family
cycles = 50000

# [sister]
[condition idle_a]
watts = 3.1 W
enter = 10ms
recovery = 10ms
estimated = yes

# [sister]
[condition idle_b]
watts = 2.8 W
enter = 1s
recovery = 650ms
estimated = yes

# [sister]
[condition idle_c]
watts = 1.5 W
enter = 2s
recovery = 3s
estimated = yes

# [study]: 85 % less than idle, 3 s back; the watts of the start are [sister]'s
[condition standby_z]
watts = 0.55 W
enter = 3s
recovery = 3s
wake_watts = 26.1 W
wake_time = 3s

[points]
# Random reads: R2 with 12.7 ms, R4
point = ps=0 qd=32 chunk=4K read random: 6.50W 0.717MB/s estimated
point = ps=0 qd=1 chunk=4K read random: 5.21W 0.323MB/s estimated
point = ps=0 qd=32 chunk=256K read random: 6.50W 34MB/s estimated
point = ps=0 qd=1 chunk=256K read random: 5.40W 18MB/s estimated
# Sequential reads: R3; 60 % of the random watts above idle, the arm resting
point = ps=0 qd=32 chunk=256K read sequential: 5.38W 136MB/s estimated
point = ps=0 qd=1 chunk=256K read sequential: 5.05W 102MB/s estimated
point = ps=0 qd=32 chunk=4K read sequential: 5.11W 109MB/s estimated
point = ps=0 qd=1 chunk=4K read sequential: 4.53W 54MB/s estimated

# Random writes: R2 with 13.7 ms, R4
point = ps=0 qd=32 chunk=4K write random: 5.30W 0.664MB/s estimated
point = ps=0 qd=1 chunk=4K write random: 4.57W 0.299MB/s estimated
point = ps=0 qd=32 chunk=256K write random: 5.30W 32MB/s estimated
point = ps=0 qd=1 chunk=256K write random: 4.66W 17MB/s estimated
# Sequential writes: R3; 60 % of the random watts above idle, the arm resting
point = ps=0 qd=32 chunk=256K write sequential: 4.66W 136MB/s estimated
point = ps=0 qd=1 chunk=256K write sequential: 4.47W 102MB/s estimated
point = ps=0 qd=32 chunk=4K write sequential: 4.51W 109MB/s estimated
point = ps=0 qd=1 chunk=4K write sequential: 4.17W 54MB/s estimated
