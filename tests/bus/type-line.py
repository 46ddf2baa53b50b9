#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Types a line, with tabs in it, into an interactive shell on a terminal of its own, as people do.

    type-line.py SETUP LINE WANTED SHELL [ARGUMENT...]

SETUP is a line typed first. A LINE that ends in two tabs is left there; others are entered. It succeeds when
the terminal shows WANTED behind that; after 30 s, or when the shell ends, it prints what is shown instead.
"""
import os
import pty
import re
import select
import signal
import sys
import time

READY = "ready-for-it"


def shown(data):
    """Without what moves the cursor and colours."""
    text = data.decode(errors="replace")
    return re.sub(r"\x1b(\[[0-9;?>=]*[a-zA-Z]|\][^\x07]*\x07|[()][A-Z0-9]|[=>])|\r", "", text)


def read_until(fd, wanted, end):
    data = b""
    while time.monotonic() < end:
        if select.select([fd], [], [], 0.2)[0]:
            try:
                data += os.read(fd, 65536)
            except OSError:
                break
        # the answers of a terminal, which fish waits for
        if b"\x1b[c" in data or b"\x1b[0c" in data:
            os.write(fd, b"\x1b[?1;2c")
            data = data.replace(b"\x1b[c", b"").replace(b"\x1b[0c", b"")
        if wanted in shown(data):
            return shown(data), True
    return shown(data), False


def main():
    setup, line, wanted, *shell = sys.argv[1:]
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(shell[0], shell)
    end = time.monotonic() + 30
    # what is typed is echoed, what is printed is without the quotes
    os.write(fd, f"{setup}; echo {READY[:5]}''{READY[5:]}\r".encode())
    text, found = read_until(fd, READY, end)
    if found:
        for part in re.split(r"(\t)", line):
            os.write(fd, part.encode())
            time.sleep(0.3)  # as fingers do: what is typed ahead is listed otherwise
        if not line.endswith("\t\t"):
            os.write(fd, b"\r")
        text, found = read_until(fd, wanted, end)
    os.kill(pid, signal.SIGKILL)
    os.close(fd)
    os.waitpid(pid, 0)
    if not found:
        sys.exit(f"\"{wanted}\" is not shown, but: {text}")


main()
