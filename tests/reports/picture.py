#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Says as JSON what a PNG of a browser shows: picture.py FILE light|dark"""
import json
import struct
import sys
import zlib

# the style sheet's (daemon/ctl/report-style.c): area's line, budget, above it
COLOURS = {
    "light": {"area": (0x2F, 0x6F, 0xB2), "budget": (0xB4, 0x53, 0x09), "above": (0xC6, 0x28, 0x28)},
    "dark": {"area": (0x6C, 0xAB, 0xF0), "budget": (0xF5, 0xA5, 0x24), "above": (0xFF, 0x6B, 0x6B)},
}


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def unfilter(kind, line, before, n):
    if kind == 2:
        return bytearray((x + y) & 255 for x, y in zip(line, before))
    for i in range(len(line) if kind else 0):
        a = line[i - n] if i >= n else 0
        if kind == 1:
            line[i] = (line[i] + a) & 255
        elif kind == 3:
            line[i] = (line[i] + (a + before[i]) // 2) & 255
        elif kind == 4:
            line[i] = (line[i] + paeth(a, before[i], before[i - n] if i >= n else 0)) & 255
    return line


def read(path):
    """Lines of pixels: [[(r, g, b), ...], ...]."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, packed = 8, b""
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if name == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and colour in (2, 6), "another kind of PNG"
        elif name == b"IDAT":
            packed += body
        at += 12 + size
    n = 3 if colour == 2 else 4
    raw, before, lines = zlib.decompress(packed), bytearray(width * n), []
    for y in range(height):
        start = y * (width * n + 1)
        line = bytearray(raw[start + 1:start + 1 + width * n])
        before = line = unfilter(raw[start], line, before, n)
        lines.append([tuple(line[x:x + 3]) for x in range(0, width * n, n)])
    return lines


def near(a, b):
    return max(abs(x - y) for x, y in zip(a, b)) <= 12


def facts(lines, scheme):
    picked = [sum(p) / 3 for line in lines[::7] for p in line[::7]]
    colours = {}
    for line in lines:
        for p in line:
            colours[p] = colours.get(p, 0) + 1
    return {
        # lines of pixels that are no mere background
        "lines": len(lines),
        "busy": sum(len(set(line)) > 8 for line in lines),
        "colours": len(colours),
        "brightness": sum(picked) / len(picked),
        # its last columns have one colour: nothing reaches beyond the page
        "margin": len({line[x] for line in lines for x in (-1, -2, -3)}) == 1,
        **{name: sum(n for p, n in colours.items() if near(p, c)) for name, c in COLOURS[scheme].items()},
    }


print(json.dumps(facts(read(sys.argv[1]), sys.argv[2])))
