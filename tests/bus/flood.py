#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Asks the daemon for all its objects without waiting for answers, or makes claims:

flood.py SOCKET UID once N      one connection, N questions; prints answers and refusals
flood.py SOCKET UID on N C      C connections with N questions each in flight, until it is killed;
                                prints "full" when the first was refused
flood.py SOCKET UID deaf N      one connection, N questions, whose answers are never read
flood.py SOCKET UID claims N    N connections, which own a claim of 100 % each until it is killed; prints
                                how many were made and how many refused
flood.py SOCKET UID pin DEVICE STATE  pins a power state until it is killed; prints whether it may
"""
import os
import selectors
import signal
import struct
import sys

sys.dont_write_bytecode = True
import wire


def options(of):
    """An array of named strings and numbers, to stand at a multiple of 8."""
    data = b""
    for name, value in of.items():
        kind = b"i" if isinstance(value, int) else b"s"
        data += b"\0" * (-len(data) % 8) + struct.pack("<I", len(name)) + name.encode() + b"\0\1" + kind + b"\0"
        data += b"\0" * (-len(data) % 4)
        data += struct.pack("<i", value) if kind == b"i" else struct.pack("<I", len(value)) + value.encode() + b"\0"
    return data


class Client(wire.Client):
    def ask(self):
        self.send("/org/storpower1", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")

    def claim(self, **of):
        """True when it was made."""
        more = options({name.replace("_", "-"): value for name, value in of.items()})
        serial = self.send("/org/storpower1", "org.storpower1.Manager", "SetBudget", "dsa{sv}",
                           struct.pack("<dI2s2xI4x", 100, 1, b"%", len(more)) + more)
        return self.wait_for(serial).kind == 2


def once(path, n):
    client, seen = Client(path), {2: 0, 3: 0}
    for _ in range(n):
        client.ask()
    while sum(seen.values()) < n:
        for message in client.messages():
            seen[message.kind] += 1
    print(seen[2], seen[3])


def go_on(path, n, connections):
    selector, full = selectors.DefaultSelector(), False
    for _ in range(connections):
        client = Client(path)
        selector.register(client.socket, selectors.EVENT_READ, client)
        for _ in range(n):
            client.ask()
    while True:
        for key, _ in selector.select():
            for message in key.data.messages():
                if message.kind == 3 and not full:
                    full = True
                    print("full", flush=True)
                key.data.ask()


def stay_deaf(path, n):
    client = Client(path)
    for _ in range(n):
        client.ask()
    signal.pause()


def own_claims(path, n):
    clients = [Client(path) for _ in range(n)]
    made = [client.claim() for client in clients]
    print(made.count(True), made.count(False), flush=True)
    signal.pause()


def pin(path, device, state):
    client = Client(path)
    print(client.claim(device=device, power_state=state), flush=True)
    signal.pause()


if os.geteuid() == 0:
    os.setgroups([])
    os.setuid(int(sys.argv[2]))
if sys.argv[3] == "once":
    once(sys.argv[1], int(sys.argv[4]))
elif sys.argv[3] == "claims":
    own_claims(sys.argv[1], int(sys.argv[4]))
elif sys.argv[3] == "pin":
    pin(sys.argv[1], sys.argv[4], int(sys.argv[5]))
elif sys.argv[3] == "deaf":
    stay_deaf(sys.argv[1], int(sys.argv[4]))
else:
    go_on(sys.argv[1], int(sys.argv[4]), int(sys.argv[5]))
