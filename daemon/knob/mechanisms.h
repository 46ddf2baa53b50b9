/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The mechanisms of this room: one file each, but that attribute-knobs.c has a row for each knob
 * that is one attribute. */

#include "knob/knob.h"

extern const Knob knob_nvme_power_state;
extern const Knob knob_nvme_power_limit;
extern const Knob knob_nvme_ocp_state;
extern const Knob knob_io_cost;
extern const Knob knob_io_max;
extern const Knob knob_bfq_strict;
extern const Knob knob_queue_depth;
extern const Knob knob_nr_requests;
extern const Knob knob_async_depth;
extern const Knob knob_max_sectors;
extern const Knob knob_link_power;
extern const Knob knob_idle_latency;
extern const Knob knob_condition;
