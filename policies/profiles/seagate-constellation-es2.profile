# Seagate Constellation ES.2, 3.5 inch, 7200 rpm
#
# Sources
#  [sheet] product manual, 2 TB SAS: random read/write 10.8/9.3 W, idle 7.0, idle_a 6.4, idle_b 5.4, idle_c
#          3.7, standby 1.5, start 23.6 W; sustained 155 MB/s; seek 8.5/9.5 ms; rated 50 000 starts.
#
# Rules for what no source gives (marked "estimated", error doubled unless given):
#  R1 Watts above idle go as throughput^0.77 from one depth or chunk to another, as on flash (no source
#     separates them on a disk; the error is wide).
#  R2 Random IO: one at a time takes the average seek and half a turn; 32 outstanding are served in 45 % of
#     that time each, because the drive sorts them.
#  R3 Sequential IO: the sustained rate; 75 % of it one at a time in 256 KiB, 40 % in 4 KiB.
#  R4 A random IO of 256 KiB adds its transfer at the sustained rate.

[profile]
match = *ST33000650*
match = *ST33000651*
match = *ST33000652*
match = *ST32000645*
match = *ST32000646*
match = *ST32000647*
kind = hdd
# [sheet]: random reads
rated = 10.8 W
# [sheet]
idle = 7.0 W
error = 5%
# [sheet]
read_mb_s = 155
write_mb_s = 155
# start/stop rating of the family
cycles = 50000

# [sheet]; idle_a comes back in less than 10 ms
[condition idle_a]
watts = 6.4 W
enter = 10ms
recovery = 10ms

# [sheet]; back in less than 650 ms
[condition idle_b]
watts = 5.4 W
enter = 1s
recovery = 650ms

# [sheet]; back in 3 to 15 s at a lower speed of the spindle
[condition idle_c]
watts = 3.7 W
enter = 2s
recovery = 5s

# [sheet]: 23.6 W to start; a full spin-up takes 10 to 15 s
[condition standby_z]
watts = 1.5 W
enter = 3s
recovery = 15s
wake_watts = 23.6 W
wake_time = 15s

[points]
# Random reads: R2 with 12.7 ms, R4
point = ps=0 qd=32 chunk=4K read random: 10.80W 0.717MB/s estimated
point = ps=0 qd=1 chunk=4K read random: 9.05W 0.323MB/s estimated
point = ps=0 qd=32 chunk=256K read random: 10.80W 35MB/s estimated
point = ps=0 qd=1 chunk=256K read random: 9.28W 18MB/s estimated
# Sequential reads: R3; 60 % of the random watts above idle, the arm resting
point = ps=0 qd=32 chunk=256K read sequential: 9.28W 155MB/s estimated
point = ps=0 qd=1 chunk=256K read sequential: 8.83W 116MB/s estimated
point = ps=0 qd=32 chunk=4K read sequential: 8.92W 124MB/s estimated
point = ps=0 qd=1 chunk=4K read sequential: 8.13W 62MB/s estimated

# Random writes: R2 with 13.7 ms, R4
point = ps=0 qd=32 chunk=4K write random: 9.30W 0.664MB/s estimated
point = ps=0 qd=1 chunk=4K write random: 8.24W 0.299MB/s estimated
point = ps=0 qd=32 chunk=256K write random: 9.30W 33MB/s estimated
point = ps=0 qd=1 chunk=256K write random: 8.37W 17MB/s estimated
# Sequential writes: R3; 60 % of the random watts above idle, the arm resting
point = ps=0 qd=32 chunk=256K write sequential: 8.38W 155MB/s estimated
point = ps=0 qd=1 chunk=256K write sequential: 8.11W 116MB/s estimated
point = ps=0 qd=32 chunk=4K write sequential: 8.16W 124MB/s estimated
point = ps=0 qd=1 chunk=4K write sequential: 7.68W 62MB/s estimated
