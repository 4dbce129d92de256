"""A service that fails as asked: one dataset, the routes that the client uses, and faults that each
apply to one request. Owns the faults; answers without one are those of the wire interface."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import http.server
import json
import socket
import struct
import threading
import time
import urllib.parse

import arrow_writer

COLUMNS = [("date", "date"), ("region", "string"), ("count", "integer"), ("value", "number"), ("final", "boolean")]
KEY = "yb_secretsecretsecret"
TOKEN = "AQx3sealedsealedsealed"


def table(rows, seed=0):
    """Rows with nulls, empty texts and numbers of every kind."""
    return [
        (
            f"{2000 + (row + seed) // 366:04}-{row % 12 + 1:02}-{row % 28 + 1:02}",
            [None, "", "Ōtautahi", "a,b", '"q"'][(row + seed) % 5],
            None if row % 7 == 3 else (row - 3) * 2**40 + seed,
            [0.1, -0.0, float("nan"), None, 1e308, float("-inf")][row % 6],
            [True, False, None][row % 3],
        )
        for row in range(rows)
    ]


@dataclasses.dataclass
class Fault:
    """Fault of one request. `status` answers a refusal; `cut` ends the body after so many
    bytes, by a reset where `reset`; `framing` is length, chunked or none."""

    status: int | None = None
    code: str = ""
    headers: dict = dataclasses.field(default_factory=dict)
    cut: int | None = None
    reset: bool = False
    framing: str = "chunked"
    drip: float = 0.0
    silence: float = 0.0
    location: str | None = None
    refresh: bool = False
    mixed: bool = False
    wrong_digest: bool = False
    rows_header: str | None = None
    damage: int | None = None


@dataclasses.dataclass
class Asked:
    """A request as it came."""

    method: str
    path: str
    query: dict
    headers: dict
    charged: bool = False
    # The query as it came, with what is repeated.
    pairs: list = dataclasses.field(default_factory=list)


class Service:
    """A running service. `faults` has a list for each kind of request: data, head, bulk, preview, me."""

    def __init__(self, rows=10, row_cap=None, limit=None, geometry=False, bulk=None, batch_rows=3, framing="chunked"):
        self.snapshots = {"a" * 32: table(rows)}
        self.current = "a" * 32
        # Times of publication and what was current from then on, and rows with the times between which they stood.
        self.history, self.revisions = [], []
        # Roles by column; others are values.
        self.roles = {}
        self.row_cap, self.limit, self.used = row_cap, limit, 0
        self.geometry, self.bulk, self.batch_rows, self.framing = geometry, bulk, batch_rows, framing
        self.bulk_refusal = None
        self.bulk_snapshot = None
        self.citation = None
        # Labels by column and text of a value; None answers as if values were not there.
        self.labels = None
        # Columns of which an answer never has all values, and the snapshot that answers say they are of.
        self.endless, self.values_snapshot = (), None
        # Names that it does not know.
        self.ignored = None
        # A store that gives a file to whoever has its address.
        self.keyless = False
        self.faults = {}
        self.asked = []
        self.lock = threading.Lock()
        service = self

        class Handler(_Handler):
            owner = service

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.base = f"http://127.0.0.1:{self.server.server_port}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def fail(self, kind, *faults):
        self.faults.setdefault(kind, []).extend(faults)

    def fault(self, kind):
        with self.lock:
            waiting = self.faults.get(kind)
            return waiting.pop(0) if waiting else Fault(framing=self.framing)

    def refresh(self, rows=10):
        number = len(self.snapshots)
        name = "bcdef"[number - 1] * 32
        self.snapshots[name] = table(rows, seed=number)
        self.current = name

    def known(self, moment):
        """What was current at a moment in UTC, or at the end of a day."""
        moment = f"{moment}T23:59:59Z" if len(moment) == 10 else moment
        return next((snapshot for time, snapshot in reversed(self.history) if time <= moment), None)

    @property
    def charged(self):
        return sum(one.charged for one in self.asked)

    @property
    def rows(self):
        return self.snapshots[self.current]


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: Service
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        service = self.owner
        parts = urllib.parse.urlsplit(self.path)
        pairs = urllib.parse.parse_qsl(parts.query, keep_blank_values=True)
        asked = Asked(self.command, parts.path, dict(pairs), dict(self.headers.items()), pairs=pairs)
        service.asked.append(asked)
        path = parts.path
        if path.endswith("/preview"):
            kind = "preview"
        elif path == "/v1/me":
            kind = "me"
        elif path.startswith("/v1/bulk"):
            kind = "bulk"
        elif path.endswith("/data"):
            kind = "data"
        elif path.endswith(("/changes", "/revisions")):
            kind = path.rpartition("/")[2]
        elif path.startswith("/cite/"):
            kind = "cite"
        elif path.endswith("/values"):
            kind = "values"
        elif path.endswith("/link"):
            kind = "link"
        elif path == "/v1/datasets/table" and service.labels is not None:
            kind = "describe"
        else:
            kind = "other"
        if self.command == "HEAD":
            kind = {"data": "head", "bulk": "bulk_head"}.get(kind, kind)
        fault = service.fault(kind)
        if fault.refresh:
            service.refresh()
        if fault.silence:
            time.sleep(fault.silence)
        if fault.location:
            return self.send(307, {"Location": fault.location}, b"", fault)
        if fault.status:
            return self.refuse(fault.status, fault.code, fault)
        if kind not in ("preview", "cite") and not service.keyless and self.headers.get("X-API-Key") != KEY:
            return self.refuse(401, "key_missing" if not self.headers.get("X-API-Key") else "key_invalid", fault)
        return getattr(self, f"answer_{kind.replace('bulk_head', 'bulk').replace('head', 'data')}")(asked, fault)

    def answer_preview(self, asked, fault):
        service = self.owner
        columns = [{"name": name, "type": kind, "role": self.owner.roles.get(name, "value")} for name, kind in COLUMNS]
        hidden = ["geometry_wkt"] if service.geometry else []
        document = {"name": "table", "snapshot_id": service.current, "row_count": len(service.rows), "columns": columns, "hidden_columns": hidden, "rows": []}
        self.send(200, {}, json.dumps(document).encode(), fault)

    def answer_me(self, asked, fault):
        service = self.owner
        left = None if service.limit is None else service.limit - service.used
        requests = {"limit": service.limit, "used": service.used, "left": left, "resets_at": "2030-01-01T00:00:00Z"}
        self.send(200, {}, json.dumps({"plan": "free", "row_cap": service.row_cap, "requests": requests}).encode(), fault)

    def answer_cite(self, asked, fault):
        """The whole snapshot has a digest for everybody; a selection has one for a key that asks for it."""
        service = self.owner
        if service.citation is None:
            return self.refuse(404, "no_such_route", fault)
        selected = set(asked.query) & {"start", "end", "columns", "dimensions", "limit"}
        verify = asked.query.get("verify") == "true"
        if verify and self.headers.get("X-API-Key") != KEY:
            return self.refuse(401, "key_missing", fault)
        asked.charged = verify
        text = service.citation if verify or not selected else "Nobody (2026). Table."
        self.send(200, {}, text.encode(), fault)

    def answer_describe(self, asked, fault):
        """The metadata costs a request where it is not the one that the client has."""
        labels = self.owner.labels
        roles = {"date": "date", "region": "dimension", "value": "value"}
        columns = [{"name": name, "type": kind, "role": roles.get(name, "attribute")} | ({"labelled": True} if name in labels else {}) for name, kind in COLUMNS]
        tag = f'"about-{self.owner.current[:4]}-{"-".join(labels)}"'
        if self.headers.get("If-None-Match") == tag:
            return self.send(304, {"ETag": tag}, b"", fault)
        document = {"name": "table", "namespace": "tests", "source": "Nobody", "current_snapshot_id": self.owner.current, "row_count_at_last_refresh": len(self.owner.rows), "columns": columns, "snapshots": []}
        self.send_charged(asked, {"ETag": tag}, json.dumps(document).encode(), fault)

    def answer_labels(self, asked, fault):
        """All values of a column, ascending; free."""
        service, name = self.owner, asked.query["columns"]
        snapshot = service.known(asked.query["as_of"]) if "as_of" in asked.query else asked.query.get("snapshot", service.current)
        place = [column for column, _ in COLUMNS].index(name)
        found = sorted({row[place] for row in service.snapshots[snapshot]} - {None})
        labels = service.labels.get(name, {})
        if asked.query.get("lang") == "mi":
            labels = {value: f"mi {label}" for value, label in labels.items()}
        text = {True: "true", False: "false"}
        values = [{"value": value, "label": labels.get(text[value] if isinstance(value, bool) else str(value)), "rows": 1} for value in found]
        column = {"name": name, "role": "dimension", "distinct": len(found), "nulls": 0, "values": values, "next": found[-1] if name in service.endless else None}
        document = {"name": "table", "snapshot_id": service.values_snapshot or snapshot, "selection": "", "rows": 4, "columns": [column]}
        self.send(200, {"ETag": f'"{hashlib.sha256(json.dumps(document).encode()).hexdigest()[:16]}"'}, json.dumps(document).encode(), fault)

    def answer_values(self, asked, fault):
        if self.owner.labels is not None:
            return self.answer_labels(asked, fault)
        value = {"value": "Otago", "label": None, "rows": 3, "first": "2000-01-01", "last": "2000-03-01"}
        column = {"name": "region", "role": "dimension", "distinct": 2, "nulls": 1, "values": [value], "next": "Otago"}
        document = {"name": "table", "snapshot_id": self.owner.current, "selection": "", "rows": 4, "columns": [column]}
        self.send(200, {"ETag": '"values"'}, json.dumps(document).encode(), fault)

    def answer_link(self, asked, fault):
        document = {"url": f"{self.owner.base}/l/{TOKEN}.csv", "expires_at": "2026-12-03T09:00:00Z", "format": "csv", "selection": "last=1"}
        if asked.query.get("days") == "366":
            document["expires_at"] = None
        self.send(200, {"Cache-Control": "no-store"}, json.dumps(document).encode(), fault)

    def answer_other(self, asked, fault):
        self.refuse(404, "no_such_route", fault)

    def answer_data(self, asked, fault):
        service, query = self.owner, asked.query
        snapshot, start = query.get("snapshot", service.current), 0
        if "cursor" in query:
            snapshot, _, offset = query["cursor"].partition("-")
            start = int(offset)
        elif "as_of" in query:
            snapshot = service.known(query["as_of"])
            if snapshot is None:
                return self.refuse(404, "not_published_yet", fault)
        if snapshot not in service.snapshots:
            return self.refuse(410, "snapshot_gone", fault)
        rows = service.snapshots[snapshot]
        limit = min(int(query["limit"]), service.row_cap or 10**9)
        cited = {name: value for name, value in query.items() if name in ("columns", "start", "end")}
        if start + limit < len(rows) and "cursor" not in query:
            cited["limit"] = query["limit"]
        cited = "?" * bool(cited) + urllib.parse.urlencode(sorted(cited.items()))
        page = rows[start : start + limit]
        tag = '"' + hashlib.sha256(json.dumps([snapshot, start, limit, sorted(asked.pairs)]).encode()).hexdigest()[:16] + '"'
        shown = service.current if fault.mixed else snapshot
        headers = {
            "ETag": tag, "X-Service-Snapshot-Id": shown, "X-Service-Rows": fault.rows_header or str(len(page)),
            "X-Service-Total-Rows": str(len(rows)), "X-Service-Attribution": "Ōtautahi – credit",
            "X-Service-Licence": "CC0-1.0", "X-Service-Source": "Nobody", "X-Service-Namespace": "tests",
            "Link": f'<{service.base}/cite/table/{shown}{cited}>; rel="cite-as"', "Last-Modified": "Sun, 01 Nov 2026 00:00:00 GMT",
        }
        # Of what only reading tells, HEAD tells no number of rows.
        if any(name.startswith("where.") or name in ("first", "last", "bbox") for name in query):
            del headers["X-Service-Total-Rows"]
            if self.command == "HEAD":
                del headers["X-Service-Rows"]
        if start + limit < len(rows):
            headers["X-Next-Page"] = f"{snapshot}-{start + limit}"
            headers["Link"] += f', <{service.base}/x>; rel="next"'
        if tag in self.headers.get("If-None-Match", ""):
            return self.send(304, headers, b"", fault)
        kinds = dict(COLUMNS)
        chosen = [name for name in query.get("columns", "").split(",") if name in kinds] or list(kinds)
        page = [[dict(zip(kinds, row))[name] for name in chosen] for row in page]
        columns = [(name, kinds[name]) for name in chosen]
        return self.send_charged(asked, headers, arrow_writer.stream(columns, page, service.batch_rows), fault)

    def answer_revisions(self, asked, fault):
        """Rows with the times between which they stood; a cursor is the number of those that were sent."""
        service, query = self.owner, asked.query
        rows = [row for row in service.revisions if row[-1] is None or row[-1] > query.get("since", "")]
        start = int(query.get("cursor", "0"))
        end = start + min(int(query["limit"]), service.row_cap or 10**9)
        kinds = dict([*COLUMNS, ("_valid_from", "string"), ("_valid_to", "string")])
        chosen = query.get("columns", ",".join(kinds)).split(",")
        page = [[dict(zip(kinds, row))[name] for name in chosen] for row in rows[start:end]]
        headers = {"ETag": f'"{hashlib.sha256(json.dumps([page, chosen]).encode()).hexdigest()[:16]}"', "X-Service-Snapshot-Id": service.current}
        headers |= {"X-Service-Attribution": "Ōtautahi – credit", "X-Service-Licence": "CC0-1.0", "X-Service-Source": "Nobody"}
        if end < len(rows):
            headers["X-Next-Page"] = str(end)
        if headers["ETag"] in self.headers.get("If-None-Match", ""):
            return self.send(304, headers, b"", fault)
        return self.send_charged(asked, headers, arrow_writer.stream([(name, kinds[name]) for name in chosen], page, service.batch_rows), fault)

    def answer_changes(self, asked, fault):
        """Every row of the current snapshot as an insert; a watermark is the number of those that were sent."""
        service = self.owner
        start = int(asked.query.get("since", "w0").removeprefix("w"))
        end = min(len(service.rows), start + min(int(asked.query["limit"]), service.row_cap or 10**9))
        page = [(*row, "insert", service.current, "2026-11-01T00:00:00Z") for row in service.rows[start:end]]
        columns = [*COLUMNS, *((name, "string") for name in ("_change_type", "_snapshot_id", "_committed_at"))]
        headers = {"X-Service-Watermark": f"w{end}", "X-Service-Has-More": str(end < len(service.rows)).lower(), "X-Service-Snapshot-Id": service.current}
        self.send_charged(asked, headers, arrow_writer.stream(columns, page, service.batch_rows), fault)

    def send_charged(self, asked, headers, body, fault):
        service = self.owner
        if self.command == "GET":
            with service.lock:
                if service.limit is not None and service.used >= service.limit:
                    month = Fault(headers={"X-RateLimit-Reset": "1893456000", "Retry-After": "999999"})
                    return self.refuse(429, "quota_used_up", month)
                service.used += 1
            asked.charged = True
        return self.send(200, headers, body, fault)

    def answer_bulk(self, asked, fault):
        service = self.owner
        if service.bulk is None or service.bulk_refusal:
            status = service.bulk_refusal or 402
            return self.refuse(status, {402: "payment_required", 403: "bulk_forbidden"}[status], fault)
        body = service.bulk
        digest = base64.b64encode(hashlib.sha256(body + b"x" * fault.wrong_digest).digest()).decode()
        headers = {
            "ETag": f'"{service.current[:8]}"', "X-Service-Snapshot-Id": service.bulk_snapshot or service.current, "X-Service-Namespace": "tests",
            "Repr-Digest": f"sha-256=:{digest}:", "X-Service-Attribution": "Ōtautahi – credit", "Accept-Ranges": "bytes",
        }
        asked.charged = self.command == "GET"
        wanted = self.headers.get("Range")
        framing = dataclasses.replace(fault, framing="length")
        if wanted and self.headers.get("If-Range") == headers["ETag"]:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
            return self.send(206, headers, body[start:], framing)
        return self.send(200, headers, body, framing)

    def refuse(self, status, code, fault):
        detail = json.dumps({"detail": f"refused: {code or status}"}).encode()
        self.send(status, {"X-Service-Error-Code": code, "X-Request-Id": "r-1", **fault.headers}, detail, Fault(framing="length"))

    def send(self, status, headers, body, fault):
        self.send_response_only(status)
        if self.owner.ignored and status < 300:
            headers = {**headers, "X-Service-Ignored": self.owner.ignored}
        for name, value in headers.items():
            self.wfile_header(name, value)
        bodiless = self.command == "HEAD" or status == 304
        if fault.damage is not None and body:
            at = fault.damage % len(body)
            body = body[:at] + bytes([body[at] ^ 0xFF]) + body[at + 1 :]
        if fault.framing == "chunked" and not bodiless and status == 200:
            self.wfile_header("Transfer-Encoding", "chunked")
        elif fault.framing == "none" and not bodiless:
            self.close_connection = True
            self.wfile_header("Connection", "close")
        else:
            self.wfile_header("Content-Length", "0" if status == 304 else str(len(body)))
        self.end_headers()
        if bodiless:
            return
        if fault.framing == "chunked" and status == 200:
            body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in _parts(body)) + b"0\r\n\r\n"
        whole = body if fault.cut is None else body[: fault.cut]
        try:
            if fault.drip:
                for byte in whole:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(fault.drip)
            else:
                self.wfile.write(whole)
                self.wfile.flush()
        except OSError:
            self.close_connection = True
            return
        if fault.cut is not None:
            self.close_connection = True
            if fault.reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()

    def wfile_header(self, name, value):
        self._headers_buffer.append(f"{name}: {value}\r\n".encode())


def _parts(body, size=97):
    return [body[at : at + size] for at in range(0, len(body), size)]
