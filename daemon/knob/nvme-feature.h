/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the knobs of NVMe features share. */

#include "knob/attribute.h"

/* -EOPNOTSUPP where no NVMe commands reach the device. */
int nvme_feature_read(Device *d, uint8_t feature, uint32_t *ret);
int nvme_feature_write(Device *d, uint8_t feature, uint32_t value);
/* Can it be read? Says why not. `what`: "power limit". */
int nvme_feature_probe(Device *d, uint8_t feature, const char *what, char **ret_why_not);

/* Offers limits in steps of step_w, up to the rated power. A drive does not tell how low a limit it
 * takes; its lowest operational power state is a value that it is known to work at. */
int nvme_limit_offer(const Device *d, double step_w, Offer *offer, char **ret_why_not);

/* "12.5W"; "none" is 0. *ret_decimals: as many as were written. */
int value_watts(const KnobValue *v, double *ret_w, unsigned *ret_decimals);
