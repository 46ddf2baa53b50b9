/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Why an md array (its folder of sysfs) must stay up: "md0 is being resynced (recover)", "md0 is
 * degraded"; NULL in *ret_why: nothing keeps it. -ENOMEM. */
int pool_md_busy(const char *folder, char **ret_why);
/* What an array does in md's own word for it, "recover", in words: "is being resynced (recover)".
 * NULL when out of memory. */
char *pool_sync_words(const char *action);
