#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stands for polkit on a bus, and answers as it is told.

authority.py SOCKET FOLDER

FOLDER/answer has "yes", "no", "challenge" (a password is wanted), "error", or "later": then it answers once
the file has another word. FOLDER/questions gets a line for each question, "ACTION FLAGS", and "cancelled"
for each that is withdrawn.
"""
import os
import select
import struct
import sys

sys.dont_write_bytecode = True
import wire

NAME = "org.freedesktop.PolicyKit1"


def string(text):
    return struct.pack("<I", len(text)) + text.encode() + b"\0"


def read_string(body, at):
    at += -at % 4
    length = struct.unpack_from("<I", body, at)[0]
    return body[at + 4:at + 4 + length].decode(), at + 5 + length


def read_question(body):
    """Of "(sa{sv})sa{ss}us": the action, the flags and the name by which it is cancelled."""
    kind, at = read_string(body, 0)
    assert kind == "system-bus-name", kind
    at += -at % 4
    length = struct.unpack_from("<I", body, at)[0]
    at += 4
    at += -at % 8 + length
    action, at = read_string(body, at)
    at += -at % 4 + 4 # no details
    at += -at % 8
    flags = struct.unpack_from("<I", body, at)[0]
    return action, flags, read_string(body, at + 4)[0]


class Authority(wire.Client):
    def __init__(self, path, folder):
        super().__init__(path)
        self.folder, self.waiting = folder, {}
        bus = "org.freedesktop.DBus"
        name = string(NAME)
        name += b"\0" * (-len(name) % 4) + struct.pack("<I", 0)
        self.serial += 1
        self.socket.sendall(wire.call(self.serial, bus, "/org/freedesktop/DBus", bus, "RequestName", "su", name))
        self.wait_for(self.serial)

    def word(self):
        with open(f"{self.folder}/answer") as file:
            return file.read().strip()

    def note(self, line):
        with open(f"{self.folder}/questions", "a") as file:
            print(line, file=file)

    def reply(self, question, word):
        self.serial += 1
        fields = struct.pack("<B", 5) + b"\1u\0" + struct.pack("<I", question.serial)
        named = [(6, "s", question.sender)]
        named.append((4, "s", f"{NAME}.Error.Failed") if word == "error" else (8, "g", "(bba{ss})"))
        for code, kind, text in named:
            fields += b"\0" * (-len(fields) % 8)
            if kind == "g":
                fields += struct.pack("<B", code) + b"\1g\0" + struct.pack("<B", len(text)) + text.encode() + b"\0"
            else:
                fields += wire.field(code, kind, text)
        body = b"" if word == "error" else struct.pack("<IIII", word == "yes", word == "challenge", 0, 0)
        head = struct.pack("<cBBBIII", b"l", 3 if word == "error" else 2, 0, 1, len(body), self.serial, len(fields))
        head += fields
        self.socket.sendall(head + b"\0" * (-len(head) % 8) + body)

    def take(self, message):
        if message.member == "CheckAuthorization":
            action, flags, name = read_question(message.body)
            self.waiting[name] = message
            self.note(f"{action} {flags}")
        elif message.member == "CancelCheckAuthorization":
            self.waiting.pop(message.text(), None)
            self.note("cancelled")

    def run(self):
        while True:
            if select.select([self.socket], [], [], 0.02)[0]:
                for message in self.received():
                    if message.kind == 1:
                        self.take(message)
            word = self.word()
            while self.waiting and word not in ("", "later"):
                self.reply(self.waiting.pop(next(iter(self.waiting))), word)


Authority(*sys.argv[1:3]).run()
