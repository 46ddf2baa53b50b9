/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "ctl/ctl.h"

/* Decisions of one second that are alike but for their device and its watts share a line. */
void print_decisions(const Ctl *c, json_object *decisions);
