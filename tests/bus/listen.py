#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# listen.py SOCKET PROGRAM [ARGUMENT...]: as a systemd socket unit with Accept=yes, starts the program for each
# caller, whose connection is its standard input and output. Ends with its parent's word.
import signal
import socket
import subprocess
import sys

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(16)
while True:
    caller, _ = listener.accept()
    subprocess.Popen(sys.argv[2:], stdin=caller, stdout=caller, restore_signals=True,
                     preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_DFL))
    caller.close()
