#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares an interface of the committed contract with a live introspection.

contract.py CONTRACT.xml INTERFACE <LIVE.xml      prints what differs; exit status 1 if anything does
"""
import sys
import xml.etree.ElementTree as ElementTree


def describe(interface):
    """One line a fact, so that a difference names itself; the order of members does not count."""
    facts = set()
    for member in interface:
        what = f"{member.tag} {member.get('name')}"
        if member.tag == "property":
            facts.add(f"{what}: {member.get('type')}, {member.get('access')}")
        else:
            facts.add(what)
        default = "out" if member.tag == "signal" else "in"
        for n, argument in enumerate(member.findall("arg")):
            direction = argument.get("direction", default)
            facts.add(f"{what}: argument {n} {argument.get('name')}: {argument.get('type')}, {direction}")
        for annotation in member.findall("annotation"):
            facts.add(f"{what}: {annotation.get('name')}={annotation.get('value')}")
    return facts


def find(tree, name):
    found = [i for i in tree.iter("interface") if i.get("name") == name]
    if len(found) != 1:
        sys.exit(f"{len(found)} interfaces {name}, not one")
    return describe(found[0])


def main():
    contract = find(ElementTree.parse(sys.argv[1]), sys.argv[2])
    live = find(ElementTree.parse(sys.stdin), sys.argv[2])
    for fact in sorted(contract - live):
        print(f"only in the contract: {fact}")
    for fact in sorted(live - contract):
        print(f"only in the daemon: {fact}")
    sys.exit(contract != live)


main()
