#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls every method that the daemon's introspection names with random arguments, many clients at a time.

strangers.py SOCKET UID CLIENTS CALLS SEED

Each method is called once with arguments of its types; then come CALLS random ones, one in ten of them
with wrong types. Prints a line "INTERFACE.METHOD OUTCOME COUNT" for each that came; the outcome is "answer" or
the error's name. Exit status 1 when a call is not answered within a minute.
"""
import collections
import os
import random
import selectors
import struct
import sys
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
import wire

BASIC = {"y": "B", "b": "I", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d"}
INTROSPECTABLE = "org.freedesktop.DBus.Introspectable"
SANE_NUMBERS = [1, 9, 50, 80, 90, 100]
NUMBERS = [0, 0.5, 1, 9, 50, 80, 100, 100.1, 3600, 1e8, -1, -0.0, 1e308, 5e-324, float("inf"), float("-inf"),
           float("nan")]
COUNTS = [*range(10), 100, 4096, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1]
WORDS = ["", "%", "W", "balanced", "advise", "enforce", "average", "marginal", "emergency", "operator", "flash", "depth",
         "power-state,pacing", "org.storpower1.Manager", "org.storpower1.Device", "Claims", "Setting", "../../etc/passwd",
         "%s%n%s%n", "\n\t\x1b[2J", "Ä\u2028\U0001f50c", "a" * 257, "b" * 100000]
OPTIONS = {"reason": "s", "class": "s", "source": "s", "device": "s", "group": "s", "policy": "s", "for_seconds": "d",
           "start_in_seconds": "u", "tolerance_seconds": "d", "standing": "b", "replace": "b", "power-state": "i",
           "forbid": "s", "only": "s", "nosuch": "s", "": "s"}
WRONG = ["", "s", "t", "d", "ds", "dsa{sv}t", "a{sv}", "v", "aay", "(sv)", "a(tsss)"]
VARIANTS = ["s", "s", "d", "d", "b", "b", "i", "t", "y", "o", "g", "as", "a{sv}", "(ds)", "v"]


def complete_types(signature):
    """"da{sv}" is "d" and "a{sv}"."""
    types, start, depth = [], 0, 0
    for at, kind in enumerate(signature):
        depth += (kind in "({") - (kind in ")}")
        if kind != "a" and not depth:
            types.append(signature[start:at + 1])
            start = at + 1
    return types


class Chance:
    def __init__(self, seed, devices):
        self.random, self.devices = random.Random(seed), devices

    def word(self, member):
        if self.random.random() < 0.3:
            return self.random.choice("%W")
        # a test of a real disk is answered after minutes
        words = WORDS if member == "WakeTest" or self.random.random() < 0.8 else self.devices
        return self.random.choice(words[:-1] if self.random.random() < 0.9 else words)

    def put(self, data, kind, member, depth=0, held=None):
        """Appends a random value of that type, aligned as D-Bus wants it. held: what a variant is of."""
        choose, first = self.random.choice, kind[0]
        if first in BASIC:
            code = BASIC[first]
            data += b"\0" * (-len(data) % struct.calcsize(code))
            bits = 8 * struct.calcsize(code)
            value = choose(COUNTS) % 2**bits
            if first == "d":
                value = float(choose(choose([SANE_NUMBERS, NUMBERS])))
            elif first == "b":
                value %= 2
            elif first in "nix" and value >= 2**(bits - 1):
                value -= 2**bits
            data += struct.pack("<" + code, value)
        elif first in "so":
            text = choose(["/", "/org/storpower1", "/x"]) if first == "o" else self.word(member)
            text = text.encode()
            data += b"\0" * (-len(data) % 4) + struct.pack("<I", len(text)) + text + b"\0"
        elif first == "g":
            data += b"\1s\0"
        elif first == "v":
            inner = held or choose(VARIANTS if depth < 2 else "sdb")
            data += struct.pack("<B", len(inner)) + inner.encode() + b"\0"
            self.put(data, inner, member, depth + 1)
        elif first == "a":
            self.put_array(data, kind[1:], member, depth)
        else:
            data += b"\0" * (-len(data) % 8)
            for inner in complete_types(kind[1:-1]):
                self.put(data, inner, member, depth)

    def put_array(self, data, kind, member, depth):
        data += b"\0" * (-len(data) % 4)
        length_at = len(data)
        data += b"\0\0\0\0"
        if kind[0] in "({xtd":
            data += b"\0" * (-len(data) % 8)
        start = len(data)
        for _ in range(self.random.randrange(4)):
            if kind == "{sv}": # options have names
                data += b"\0" * (-len(data) % 8)
                name = self.random.choice(list(OPTIONS))
                data += struct.pack("<I", len(name)) + name.encode() + b"\0"
                right = self.random.random() < 0.8
                self.put(data, "v", member, depth + 1, OPTIONS[name] if right else None)
            else:
                self.put(data, kind, member, depth)
        struct.pack_into("<I", data, length_at, len(data) - start)

    def body(self, signature, member):
        data = bytearray()
        for kind in complete_types(signature):
            self.put(data, kind, member)
        return bytes(data)


def introspect(client, path):
    """The methods at the path and below: (path, interface, member, signature)."""
    answer = client.wait_for(client.send(path, INTROSPECTABLE, "Introspect"))
    if answer.kind != 2:
        sys.exit(f"{path}: {answer.error}")
    tree = ElementTree.fromstring(answer.text())
    methods = []
    for interface in tree.findall("interface"):
        for method in interface.findall("method"):
            signature = "".join(arg.get("type") for arg in method.findall("arg")
                                if arg.get("direction", "in") == "in")
            methods.append((path, interface.get("name"), method.get("name"), signature))
    for node in tree.findall("node"):
        methods += introspect(client, f"{path}/{node.get('name')}")
    return methods


def random_calls(methods, n, chance):
    for path, interface, member, signature in methods:
        yield path, interface, member, signature, chance.body(signature, member)
    by_name = collections.defaultdict(list) # else most calls would be to devices
    for method in methods:
        by_name[method[1:3]].append(method)
    names = sorted(by_name)
    for _ in range(n):
        path, interface, member, signature = chance.random.choice(by_name[chance.random.choice(names)])
        if chance.random.random() < 0.1:
            signature = chance.random.choice(WRONG)
        if chance.random.random() < 0.02:
            path = chance.random.choice(["/", "/org/storpower1/device/nosuch", "/org/storpower1/x"])
        yield path, interface, member, signature, chance.body(signature, member)


def run(clients, calls, outcomes):
    """Each client has one call out."""
    selector, out = selectors.DefaultSelector(), {}

    def next_call(client):
        call = next(calls, None)
        if call:
            client.send(*call)
            out[client] = f"{call[1]}.{call[2]}"

    for client in clients:
        selector.register(client.socket, selectors.EVENT_READ, client)
        next_call(client)
    while out:
        ready = selector.select(60)
        if not ready:
            sys.exit(f"not answered: {sorted(set(out.values()))}")
        for client in [key.data for key, _ in ready]:
            for message in client.messages():
                outcomes[out.pop(client), message.error or "answer"] += 1
                next_call(client)


def main():
    path, uid, n_clients, n_calls, seed = sys.argv[1], *map(int, sys.argv[2:])
    if os.geteuid() == 0:
        os.setgroups([])
        os.setuid(uid)
    clients = [wire.Client(path) for _ in range(n_clients)]
    methods = introspect(clients[0], "/org/storpower1")
    devices = [path.rsplit("/", 1)[1] for path, *_ in methods if path.startswith("/org/storpower1/device/")]
    outcomes = collections.Counter()
    run(clients, random_calls(methods, n_calls, Chance(seed, sorted(set(devices)))), outcomes)
    for (method, outcome), count in sorted(outcomes.items()):
        print(method, outcome, count)


main()
