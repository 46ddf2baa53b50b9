#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A BMC that measures power, for QEMU's ipmi-bmc-extern (OpenIPMI's "VM" protocol).

bmc.py FOLDER: listens on FOLDER/bmc.sock; Get Power Reading (DCMI 1.5, 6.6.1) answers with the
watts that stand in FOLDER/watts: a number, "inactive" (no measurement going on) or "refuse".
"""
import os
import socket
import struct
import sys

START, END, ESCAPE = 0xA0, 0xA1, 0xAA
NETFN_APP, NETFN_DCGRP, GROUP_DCMI = 0x06, 0x2C, 0xDC
OK, UNKNOWN_COMMAND = 0x00, 0xC1
DEVICE_ID = bytes([0x20, 1, 1, 0, 2, 0x9F, 0, 0, 0, 1, 0, 0, 0, 0, 0])


def escaped(data):
    out = bytearray()
    for byte in data:
        out += bytes([ESCAPE, byte | 0x10]) if byte in (START, END, ESCAPE) else bytes([byte])
    return out


def power_reading(folder):
    try:
        with open(os.path.join(folder, "watts"), encoding="ascii") as f:
            said = f.read().strip()
    except FileNotFoundError:
        said = "refuse"
    if said == "refuse":
        return bytes([UNKNOWN_COMMAND])
    watts = 0 if said == "inactive" else int(said)
    state = 0x00 if said == "inactive" else 0x40
    return bytes([OK, GROUP_DCMI]) + struct.pack("<HHHHII", watts, watts, watts, watts, 0, 1000) + \
        bytes([state])


def answer(message, folder):
    sequence, netfn, command, data = message[0], message[1] >> 2, message[2], message[3:-1]
    body = bytes([UNKNOWN_COMMAND])
    if (netfn, command) == (NETFN_APP, 0x01):
        body = bytes([OK]) + DEVICE_ID
    elif (netfn, command) == (NETFN_DCGRP, 0x02) and data[:1] == bytes([GROUP_DCMI]):
        body = power_reading(folder)
    reply = bytes([sequence, message[1] | 4, command]) + body
    return escaped(reply + bytes([-sum(reply) & 0xFF])) + bytes([START])


def serve(connection, folder):
    message, escape = bytearray(), False
    while data := connection.recv(4096):
        for byte in data:
            if byte == START:  # ends a message
                if len(message) >= 4:
                    connection.sendall(answer(bytes(message), folder))
                message.clear()
            elif byte == END:  # ends a word of QEMU's own
                message.clear()
            elif byte == ESCAPE:
                escape = True
            else:
                message.append(byte & ~0x10 if escape else byte)
                escape = False


def main():
    folder = sys.argv[1]
    path = os.path.join(folder, "bmc.sock")
    if os.path.exists(path):
        os.unlink(path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(1)
        while True:
            connection, _ = listening.accept()
            with connection:
                serve(connection, folder)


if __name__ == "__main__":
    main()
