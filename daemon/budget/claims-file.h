/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The standing claims as text, a claim a line (here broken into three):
 *
 *	storpower-claims 1
 *	next-cookie 18
 *	claim cookie=17 class=operator scope=node limit=80%
 *		source="storpowerctl (root)" reason="..."
 *		boot=ID created=US expiry=BOOT/WALL/LEFT
 */

#include "budget/claims-private.h"

#define CLAIMS_FILE_VERSION "storpower-claims 1"
