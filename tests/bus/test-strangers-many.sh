#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# limit: 3600
# long: all
#
# As many clients and calls as one user may bring.
CLIENTS=1000 CALLS=100000 exec "$(dirname "$0")/test-strangers.sh"
