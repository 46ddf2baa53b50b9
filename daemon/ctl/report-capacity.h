/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "ctl/report.h"

/* Usable TB of all devices together: raw * data / (data + parity) * fill, of --size or of what the
 * daemon knows of its devices. NAN: not known. Returns an exit status. */
int report_usable(Ctl *c, double *ret_tb);
/* The same of the daemon's devices; NAN where one of them does not tell its size. */
double report_devices_tb(const Ctl *c, json_object *devices, const Protection *told);
