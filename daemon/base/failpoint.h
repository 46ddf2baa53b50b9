/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Marks a place where a kill would hurt. Does nothing in the daemon; a test defines its own
 * failpoint() and dies there, to prove that the journal brings everything back. */
void failpoint(const char *name);
