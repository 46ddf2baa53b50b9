# SPDX-License-Identifier: LGPL-2.1-or-later
"""D-Bus as it is on the socket: for clients that send more, or otherwise, than a library would."""
import os
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


def fields_of(data):
    """The header's fields by their code; only those that are texts or numbers."""
    fields, at = {}, 0
    while at < len(data):
        at += -at % 8
        code, kind = data[at], chr(data[at + 2])
        at += 4
        if kind == "g":
            length, at = data[at], at + 1
        else:
            at += -at % 4
            length, at = struct.unpack_from("<I", data, at)[0], at + 4
        if kind == "u":
            fields[code] = length
        else:
            fields[code] = data[at:at + length].decode()
            at += length + 1
    return fields


class Message:
    def __init__(self, kind, serial, fields, body):
        self.kind, self.serial, self.body = kind, serial, body # 1: a call, 2: an answer, 3: an error
        self.answers, self.error = fields.get(5), fields.get(4)
        self.member, self.sender = fields.get(3), fields.get(7)

    def text(self):
        """The first string of the body."""
        length = struct.unpack_from("<I", self.body)[0]
        return self.body[4:4 + length].decode()


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
        while 1 not in (message.answers for message in self.messages()):
            pass

    def send(self, path, interface, member, signature="", body=b""):
        """Calls storpowerd. Returns the serial that the answer will name."""
        self.serial += 1
        self.socket.sendall(call(self.serial, "org.storpower1", path, interface, member, signature, body))
        return self.serial

    def wait_for(self, serial):
        while True:
            for message in self.messages():
                if message.answers == serial:
                    return message

    def messages(self):
        """The answers and errors that have come."""
        return (message for message in self.received() if message.kind in (2, 3))

    def received(self):
        data = self.socket.recv(1 << 20)
        if not data:
            sys.exit("the bus has hung up")
        self.bytes += data
        while len(self.bytes) >= 16:
            kind, body, serial, fields = self.bytes[1], *struct.unpack_from("<III", self.bytes, 4)
            start = 16 + fields + -fields % 8
            if len(self.bytes) < start + body:
                return
            message = Message(kind, serial, fields_of(self.bytes[16:16 + fields]), self.bytes[start:start + body])
            self.bytes = self.bytes[start + body:]
            yield message
