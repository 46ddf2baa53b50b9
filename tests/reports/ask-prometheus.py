#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Asks a Prometheus on this machine.

  ask-prometheus.py free N                   prints N free ports
  ask-prometheus.py value PORT EXPR          the one value of an expression
  ask-prometheus.py type PORT METRIC         gauge, counter
  ask-prometheus.py rules PORT               every rule has been evaluated without an error; prints their number
  ask-prometheus.py alert PORT NAME          pending or firing
  ask-prometheus.py dashboard PORT FILE      evaluates each query of the dashboard, over time as Grafana does:
                                             none is an error, and all have data; prints how many there are
  ask-prometheus.py serve PORT COMMAND...    what the command prints, as OpenMetrics, at http://127.0.0.1:PORT
"""
import http.server
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

# What Grafana puts in their place; the scrapes of the test come every second.
VARIABLES = {"$instance": ".*", "$__rate_interval": "15s", "$__range": "60s"}


def free(n):
    sockets = [socket.socket() for _ in range(int(n))]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    print(*[s.getsockname()[1] for s in sockets])


def ask(port, path, **parameters):
    url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as e:
        sys.exit(f"{parameters}: {json.load(e)['error']}")
    except OSError as e:
        sys.exit(f"{url}: {e}")


def value(port, expr):
    result = ask(port, "query", query=expr)["result"]
    if len(result) != 1:
        sys.exit(f"{expr}: {len(result)} series")
    print(f"{float(result[0]['value'][1]):.10g}")


def type_of(port, metric):
    print(ask(port, "metadata", metric=metric)[metric][0]["type"])


def all_rules(port):
    return [rule for group in ask(port, "rules")["groups"] for rule in group["rules"]]


def rules(port):
    wrong = [f"{r['name']}: {r['health']} {r.get('lastError', '')}" for r in all_rules(port) if r["health"] != "ok"]
    if wrong:
        sys.exit("\n".join(wrong))
    print(len(all_rules(port)))


def alert(port, name):
    print(next(r["state"] for r in all_rules(port) if r["name"] == name))


def with_values(expr):
    for name, text in VARIABLES.items():
        expr = expr.replace(name, text)
    if "$" in expr:
        sys.exit(f"{expr}: a variable that is not known")
    return expr


def evaluate(port, target):
    expr = with_values(target["expr"])
    if target["instant"]:
        return ask(port, "query", query=expr)["result"]
    now = time.time()
    return ask(port, "query_range", query=expr, start=now - 30, end=now, step=1)["result"]


def dashboard(port, path):
    with open(path, encoding="utf-8") as f:
        targets = [(p["title"], t) for p in json.load(f)["panels"] for t in p["targets"]]
    empty = [f"{title}: {t['expr']}" for title, t in targets if not evaluate(port, t)]
    if empty or not targets:
        sys.exit("no data:\n" + "\n".join(empty))
    print(len(targets))


def serve(port, *command):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            text = subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout
            self.send_response(200)
            self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    http.server.HTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


verbs = {"free": free, "value": value, "type": type_of, "rules": rules, "alert": alert, "dashboard": dashboard, "serve": serve}
verbs[sys.argv[1]](*sys.argv[2:])
