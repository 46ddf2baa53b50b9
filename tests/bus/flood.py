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
import socket
import struct
import sys


def field(code, kind, text):
    data = text.encode()
    if kind == "g":
        return struct.pack("<B", code) + b"\1g\0" + struct.pack("<B", len(data)) + data + b"\0"
    return struct.pack("<B", code) + b"\1" + kind.encode() + b"\0" + struct.pack("<I", len(data)) + data + b"\0"


def call(serial, destination, path, interface, member, signature="", body=b""):
    fields = b""
    named = [(1, "o", path), (2, "s", interface), (3, "s", member), (6, "s", destination)]
    for code, kind, text in named + ([(8, "g", signature)] if body else []):
        fields += b"\0" * (-len(fields) % 8) + field(code, kind, text)
    head = struct.pack("<cBBBIII", b"l", 1, 0, 1, len(body), serial, len(fields)) + fields
    return head + b"\0" * (-len(head) % 8) + body


def options(of):
    """An array of named strings and numbers, to stand at a multiple of 8."""
    data = b""
    for name, value in of.items():
        kind = b"i" if isinstance(value, int) else b"s"
        data += b"\0" * (-len(data) % 8) + struct.pack("<I", len(name)) + name.encode() + b"\0\1" + kind + b"\0"
        data += b"\0" * (-len(data) % 4)
        data += struct.pack("<i", value) if kind == b"i" else struct.pack("<I", len(value)) + value.encode() + b"\0"
    return data


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.serial, self.bytes = 1, b""
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.geteuid()).encode().hex().encode() + b"\r\n")
        assert self.socket.recv(4096).startswith(b"OK ")
        self.socket.sendall(b"BEGIN\r\n")
        bus = "org.freedesktop.DBus"
        self.socket.sendall(call(1, bus, "/org/freedesktop/DBus", bus, "Hello"))
        while 1 not in (serial for _, serial in self.answers()):
            pass

    def ask(self):
        self.serial += 1
        self.socket.sendall(call(self.serial, "org.storpower1", "/org/storpower1",
                                 "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))

    def claim(self, **of):
        """True when it was made."""
        self.serial += 1
        more = options({name.replace("_", "-"): value for name, value in of.items()})
        self.socket.sendall(call(self.serial, "org.storpower1", "/org/storpower1", "org.storpower1.Manager",
                                 "SetBudget", "dsa{sv}",
                                 struct.pack("<dI2s2xI4x", 100, 1, b"%", len(more)) + more))
        while True:
            for kind, serial in self.answers():
                if serial == self.serial:
                    return kind == 2

    def answers(self):
        """What has come: (2, an answer, or 3, an error; the serial of the question)."""
        data = self.socket.recv(1 << 20)
        if not data:
            sys.exit("the bus has hung up")
        self.bytes += data
        while len(self.bytes) >= 16:
            kind, body, fields = self.bytes[1], *struct.unpack_from("<I4xI", self.bytes, 4)
            length = 16 + fields + -fields % 8 + body
            if len(self.bytes) < length:
                return
            head = self.bytes[16:16 + fields]
            self.bytes = self.bytes[length:]
            at = head.find(b"\5\1u\0") # the field REPLY_SERIAL
            if kind in (2, 3) and at >= 0:
                yield kind, struct.unpack_from("<I", head, at + 4)[0]


def once(path, n):
    client, seen = Client(path), {2: 0, 3: 0}
    for _ in range(n):
        client.ask()
    while sum(seen.values()) < n:
        for kind, _ in client.answers():
            seen[kind] += 1
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
            for kind, _ in key.data.answers():
                if kind == 3 and not full:
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
