#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads what storpowerctl metrics prints, more strictly than Prometheus does, and says what is wrong.

  metrics.py check FILE [openmetrics]       every line; prints how many samples there are
  metrics.py value FILE SERIES              the value of one series, as it is written: up{a="b"}
  metrics.py rising EARLIER LATER           no counter fell, and none went
  metrics.py equal FILE STATUS.json LIST.json   the figures are those of the daemon's properties
"""
import json
import math
import re
import sys

NAME = r"storpower_[a-z0-9_]+"
LABEL = r'[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"({NAME})(?:{{({LABEL}(?:,{LABEL})*)}})? (-?[0-9.]+(?:e[-+][0-9]+)?)")
UNITS = ("seconds", "bytes", "joules", "watts", "ratio", "bytes_per_second", "grams_per_joule")
OTHER_UNITS = re.compile(r"_(us|ms|microseconds|milliseconds|minutes|hours|mb|kib|mib|kwh|wh|percent)(_|$)")
SUFFIX = {"counter": "_total", "info": "_info", "gauge": ""}


class Wrong(Exception):
    pass


def unescape(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)


def labels_of(text):
    labels = {}
    for name, value in re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', text or ""):
        if name in labels:
            raise Wrong(f"the label {name} is there twice")
        labels[name] = unescape(value)
    return labels


class Parser:
    """One file; `samples` is {(name, labels): value}, `types` is {name of the sample: type}."""

    def __init__(self, openmetrics):
        self.openmetrics = openmetrics
        self.samples, self.types, self.families = {}, {}, set()
        self.family = self.type = None
        self.state = "done"  # "help", "type", "unit": what the line before was

    def help(self, name, text):
        if self.state not in ("done", "sample"):
            raise Wrong(f"{self.family} has no sample")
        if name in self.families:
            raise Wrong(f"{name} is there twice")
        if not re.fullmatch(r"[^\\]*(\\[\\n\"][^\\]*)*", text) or not text.endswith(".") and ":" not in text:
            raise Wrong(f"the help of {name} is no sentence: {text}")
        self.family, self.state = name, "help"
        self.families.add(name)

    def type_line(self, name, kind):
        if self.state != "help" or name != self.family:
            raise Wrong("TYPE does not follow its HELP")
        if kind not in (("gauge", "counter", "info") if self.openmetrics else ("gauge", "counter")):
            raise Wrong(f"the type is {kind}")
        if self.openmetrics and name.endswith(("_total", "_info")):
            raise Wrong("a family has the suffix of its samples")
        if not self.openmetrics and (kind == "counter") != name.endswith("_total"):
            raise Wrong("counters and only they end in _total")
        if OTHER_UNITS.search(name):
            raise Wrong("the unit is not a base unit")
        self.type, self.state = kind, "type"

    def unit(self, name, unit):
        if not self.openmetrics or self.state != "type" or name != self.family:
            raise Wrong("UNIT is out of place")
        if unit not in UNITS or not name.endswith("_" + unit):
            raise Wrong(f"{name} is not in {unit}")
        self.state = "unit"

    def sample(self, line):
        m = SAMPLE.fullmatch(line)
        if not m:
            raise Wrong("it is no sample")
        name, labels, value = m[1], labels_of(m[2]), float(m[3])
        wanted = self.family + (SUFFIX[self.type] if self.openmetrics else "")
        if self.state not in ("type", "unit", "sample") or name != wanted:
            raise Wrong(f"it stands under {self.family}")
        if not math.isfinite(value) or self.type == "counter" and value < 0:
            raise Wrong(f"the value is {value}")
        key = (name, tuple(sorted(labels.items())))
        if key in self.samples:
            raise Wrong("the series is there twice")
        self.samples[key], self.types[name], self.state = value, self.type, "sample"

    def line(self, line):
        if m := re.fullmatch(rf"# HELP ({NAME}) (\S.*\S)", line):
            self.help(m[1], m[2])
        elif m := re.fullmatch(rf"# TYPE ({NAME}) ([a-z]+)", line):
            self.type_line(m[1], m[2])
        elif m := re.fullmatch(rf"# UNIT ({NAME}) ([a-z_]+)", line):
            self.unit(m[1], m[2])
        else:
            self.sample(line)

    def parse(self, text):
        lines = text.split("\n")
        if lines[-2:] != ["# EOF", ""]:
            raise Wrong("it does not end with # EOF and a newline")
        for n, line in enumerate(lines[:-2], 1):
            try:
                self.line(line)
            except Wrong as e:
                raise Wrong(f"line {n}: {line}: {e}") from None
        if self.state != "sample":
            raise Wrong("the last family has no sample")
        return self


def read(path, openmetrics=False):
    with open(path, encoding="utf-8", newline="") as f:
        return Parser(openmetrics).parse(f.read())


def rising(earlier, later):
    a, b = read(earlier), read(later)
    counters = {k: v for k, v in a.samples.items() if a.types[k[0]] == "counter"}
    if not counters:
        raise Wrong("there is no counter")
    for key, value in counters.items():
        if not b.samples.get(key, -1) >= value:
            raise Wrong(f"{key}: {value} became {b.samples.get(key)}")


# name of the sample: source, property, scale
OF_NODE = {
    "storpower_draw_watts": [("measured", "MeasuredPower", 1), ("model", "EstimatedPower", 1)],
    "storpower_draw_error_watts": [(None, "PowerError", 1)],
    "storpower_joules_total": [("measured", "EnergyMeasured", 1), ("model", "EnergyModelled", 1)],
    "storpower_budget_watts": [(None, "EffectiveLimit", 1)],
    "storpower_operating_watts": [(None, "OperatingPower", 1)],
    "storpower_cap_watts": [(None, "CapPower", 1)],
    "storpower_floor_watts": [(None, "FloorPower", 1)],
    "storpower_shortfall_watts": [(None, "Shortfall", 1)],
    "storpower_enforcing": [(None, "Enforcing", 1)],
    "storpower_degraded": [(None, "Degraded", 1)],
    "storpower_above_budget_seconds_total": [(None, "SecondsAbove", 1)],
    "storpower_limited_seconds_total": [(None, "SecondsLimited", 1)],
    "storpower_overload_seconds": [(None, "Overload", 1)],
    "storpower_tolerance_seconds": [(None, "Tolerance", 1)],
    "storpower_throughput_bytes_per_second": [(None, "Throughput", 1e6)],
    "storpower_demand_bytes_per_second": [(None, "Demand", 1e6)],
    "storpower_price_per_joule": [(None, "Price", 1 / 3.6e6)],
}
OF_DEVICE = {
    "storpower_device_watts": [("measured", "MeasuredPower", 1), ("model", "EstimatedPower", 1)],
    "storpower_device_joules_total": [("measured", "EnergyMeasured", 1), ("model", "EnergyModelled", 1)],
    "storpower_device_cap_watts": [(None, "CapPower", 1)],
    "storpower_device_operating_watts": [(None, "OperatingPower", 1)],
    "storpower_device_throughput_bytes_per_second": [(None, "Throughput", 1e6)],
    "storpower_device_read_bytes_total": [(None, "BytesRead", 1)],
    "storpower_device_written_bytes_total": [(None, "BytesWritten", 1)],
    "storpower_device_reads_total": [(None, "Reads", 1)],
    "storpower_device_writes_total": [(None, "Writes", 1)],
    "storpower_device_p99_wait_seconds": [("measured", "WaitP99", 1e-6), ("model", "P99", 1e-6)],
}
LEAST_MB_S = 0.1


def expect(wanted, name, labels, value):
    if value is not None:
        wanted[name, tuple(sorted(labels.items()))] = float(value)


def expect_all(wanted, table, labels, properties):
    for name, sources in table.items():
        for source, key, scale in sources:
            with_source = labels | ({"source": source} if source else {})
            value = properties.get(key)
            expect(wanted, name, with_source, None if value is None else value * scale)


def device_labels(d):
    return {"device": d["Name"], "model": d["Model"], "group": d["Group"], "pool": d["Pool"]}


def expect_device(wanted, d):
    labels = device_labels(d)
    expect_all(wanted, OF_DEVICE, labels, d)
    expect(wanted, "storpower_device_problem", labels, d["Problem"] != "")
    expect(wanted, "storpower_power_state", labels, d["PowerState"] if d["PowerState"] >= 0 else None)
    if None not in (d["WaitP99"], d["WaitP99Before"]):
        gained = max(d["WaitP99"] - d["WaitP99Before"], 0)
        expect(wanted, "storpower_device_throttle_wait_seconds", labels, gained / 1e6)
    if d["Kind"] == "hdd":
        expect(wanted, "storpower_device_asleep", labels, d["Asleep"])
        expect(wanted, "storpower_spinups_total", labels, d["StartsUsed"])
        for c in ("active", "idle_a", "idle_b", "idle_c", "standby_y", "standby_z"):
            expect(wanted, "storpower_power_condition", labels | {"condition": c}, d["Condition"] == c)


def expect_units(wanted, state, devices):
    units = {}
    for d in devices:
        units.setdefault((d["Pool"] or d["Name"], d["Pool"]), []).append(d)
    for (unit, pool), members in units.items():
        labels = {"unit": unit, "pool": pool}
        served = sum(d["Throughput"] for d in members)
        asked = sum(d["FullThroughput"] for d in members)
        expect(wanted, "storpower_unit_throughput_bytes_per_second", labels, served * 1e6)
        expect(wanted, "storpower_unit_demand_bytes_per_second", labels, asked * 1e6)
        loss = min(max(1 - served / asked, 0), 1) if asked > LEAST_MB_S else None
        expect(wanted, "storpower_unit_loss_ratio", labels, loss if loss is None or state["Enforcing"] else 0)
        waits = [d["WaitP99"] for d in members if d["WaitP99"] is not None]
        plans = [d["P99"] for d in members if d["FullThroughput"] > LEAST_MB_S and d["P99"] is not None]
        for source, all_us in (("measured", waits), ("model", plans)):
            value = max(all_us) / 1e6 if all_us else None
            expect(wanted, "storpower_unit_p99_wait_seconds", labels | {"source": source}, value)


def expect_state(wanted, state):
    expect_all(wanted, OF_NODE, {}, state)
    expect(wanted, "storpower_up", {}, 1)
    expect(wanted, "storpower_advising", {}, state["Mode"] == "advise")
    if state.get("CarbonIntensity") is not None:
        kind = {"kind": "marginal" if state["CarbonMarginal"] else "average"}
        expect(wanted, "storpower_carbon_intensity_grams_per_joule", kind, state["CarbonIntensity"] / 3.6e6)
    for c in ("emergency", "operator", "signal", "schedule"):
        active = [claim for claim in state["Claims"] if claim["Active"] and claim["Class"] == c]
        expect(wanted, "storpower_claims", {"class": c}, len(active))
    if "LedgerProblem" in state:
        expect(wanted, "storpower_ledger_problem", {}, state["LedgerProblem"] != "")
        written = state["LedgerWrittenUSec"] / 1e6
        expect(wanted, "storpower_ledger_written_timestamp_seconds", {}, written or None)


def equal(path, status_path, list_path):
    with open(status_path) as s, open(list_path) as l:
        state, devices = json.load(s), json.load(l)
    wanted, got = {}, read(path).samples
    expect_state(wanted, state)
    for d in devices:
        expect_device(wanted, d)
    expect_units(wanted, state, devices)
    # the floors are of a plan, and no property; the build has other labels
    others = ("storpower_unit_floor_bytes_per_second", "storpower_build_info")
    got = {k: v for k, v in got.items() if k[0] not in others}
    if got.keys() != wanted.keys():
        raise Wrong(f"only one of the two has {sorted(got.keys() ^ wanted.keys())}")
    for key, value in wanted.items():
        if not math.isclose(got[key], value, rel_tol=1e-8, abs_tol=1e-9):
            raise Wrong(f"{key}: {got[key]}, the property says {value}")


def value(path, series):
    m = re.fullmatch(rf"({NAME})(?:{{(.*)}})?", series)
    print(f"{read(path).samples[m[1], tuple(sorted(labels_of(m[2]).items()))]:.15g}")


def main(verb, *arguments):
    if verb == "check":
        print(len(read(arguments[0], arguments[1:] == ("openmetrics",)).samples))
    else:
        {"value": value, "rising": rising, "equal": equal}[verb](*arguments)


try:
    main(*sys.argv[1:])
except Wrong as wrong:
    sys.exit(f"{sys.argv[2]}: {wrong}")
