#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stand-in for an OpenADR 3 VTN, as little of one as the test needs: the real one is in make check-signals.

vtn.py FOLDER [PORT]: on loopback. It takes what it says from files of the folder, for each request anew:
PATH.json for each path, and "token", the only token that it knows. Where "statuses" begins with "PATH STATUS",
what is posted there next is answered with that status, and a report is not kept. While there is "deaf" nothing is
skipped that is to be. It writes its port to "port", the requests to "log" and the reports to "reports"."""
import http.server
import json
import os
import sys
import urllib.parse

folder = sys.argv[1]


def read(name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return f.read()


def write(name, text, mode="a"):
    with open(os.path.join(folder, name), mode, encoding="utf-8") as f:
        f.write(text + "\n")


def status_for(path):
    """The one that is to be answered this time; None: as usual."""
    words = read("statuses").split() if os.path.exists(os.path.join(folder, "statuses")) else []
    if words[:1] != [path]:
        return None
    write("statuses", " ".join(words[2:]), "w")
    return int(words[1])


class Vtn(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a part of an answer does not wait until the one before has arrived

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def is_known(self):
        return self.headers.get("Authorization") == "Bearer " + read("token").strip()

    def do_GET(self):
        url = urllib.parse.urlparse(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        write("log", "GET " + self.path)
        if not self.is_known():
            return self.answer(401, '{"title": "no such token"}')
        try:
            text = read(url.path.strip("/") + ".json")
        except FileNotFoundError:
            return self.answer(404, '{"title": "there is none"}')
        try:
            found = json.loads(text)
        except ValueError:
            return self.answer(200, text)
        if not isinstance(found, list):
            return self.answer(200, text)
        found = [o for o in found if query.get("programID") in (None, o.get("programID"))]
        skip, limit = int(query["skip"]), int(query["limit"])
        if os.path.exists(os.path.join(folder, "deaf")):
            skip = 0
        return self.answer(200, json.dumps(found[skip:skip + limit]))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        write("log", "POST " + self.path)
        status = status_for(self.path)
        if self.path == "/auth/token":
            if dict(urllib.parse.parse_qsl(body)) != {"grant_type": "client_credentials", "client_id": "node1",
                                                      "client_secret": "se cret&"}:
                return self.answer(401, '{"error": "invalid_client"}')
            return self.answer(status or 200, json.dumps({"access_token": read("token").strip(),
                                                          "token_type": "Bearer", "expires_in": 3600}))
        if not self.is_known():
            return self.answer(401, '{"title": "no such token"}')
        if status:
            return self.answer(status, '{"title": "not now"}')
        write("reports", json.dumps(json.loads(body)))
        return self.answer(201, body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Vtn)
write("port.new", str(server.server_address[1]), "w")
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
