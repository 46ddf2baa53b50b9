/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How much the times differ that IOs take at a device. Pure. */

#include "model/profile.h"

/* Deviation of service times, relative to their mean: by the 99th percentile of a point of depth 1,
 * where the profile has one near in size; else *ret_assumed is set on flash, and left as it is on a
 * disk, whose is the study's. */
double service_deviation(const Profile *p, Direction d, Pattern t, double kib, bool *ret_assumed);

/* The 99th percentile of response times over their mean, where so many IOs always wait or are
 * served by so many servers behind one queue: a closed form of the Petri net in response.h, within
 * a fifth of it from a deviation of 0.3 on. servers 1..depth. */
double service_tail(double depth, double servers, double deviation);

/* The share of IOs that take longer than so many times the mean, where the 99th percentile is
 * `tail` times the mean: in a closed form, of gamma distributed times. */
double service_slower(double tail, double times);
