#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# kernels: 6.12
# root: trixie
# long: all
# systemd
# limit: 1800
# changes: 1G
# resets: 1
#
# The same life on Debian 13, of the package that was built there.

packages='deb-trixie'
. "$(dirname "$0")/test-package.sh"
