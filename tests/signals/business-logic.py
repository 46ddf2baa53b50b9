#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""business-logic.py URL KEY METHOD PATH [JSON]: asks a VTN, with all rights, by a token that is signed with the key
(base64) of the VTN's own OAuth. Prints the answer; fails with what the VTN says."""
import base64
import hashlib
import hmac
import json
import sys
import time
import urllib.error
import urllib.request

SCOPES = ["read_all", "write_programs", "write_events", "write_reports_bl", "write_vens_bl", "write_users"]


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def token(key):
    claims = {"sub": "business-logic", "exp": int(time.time()) + 3600, "scope": " ".join(SCOPES)}
    signed = b".".join(base64url(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    signature = hmac.new(base64.b64decode(key), signed, hashlib.sha256).digest()
    return (signed + b"." + base64url(signature)).decode()


url, key, method, path = sys.argv[1:5]
body = sys.argv[5].encode() if len(sys.argv) > 5 else None
request = urllib.request.Request(f"{url}/{path}", body, method=method, headers={
    "Authorization": "Bearer " + token(key), "Content-Type": "application/json"})
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    with opener.open(request, timeout=10) as answer:
        print(answer.read().decode())
except urllib.error.HTTPError as e:
    sys.exit(f"{method} {path}: {e.code} {e.read().decode()}")
except OSError as e:
    sys.exit(f"{method} {path}: {e}")
