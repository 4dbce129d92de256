"""A day in which receivers of webhooks are silent, in some minutes."""

import argparse
import json
import os
import signal
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from fake_clock import SettableClock
from ports import free_port
from waiting import until

HOUR = 3600
# Real seconds between the hours: time for silent receivers that are due to be tried, of which sixteen are at once.
PAUSE = 15
# An attempt lasts fifteen: whoever listens waits for none to end.
LATEST_SECONDS = 10
# What a hundred attempts may hold.
MOST_MEBIBYTES = 64
NAME = "a_table"


class Receivers:
    """One address: `/well` takes everything at once, the others nothing until they wake."""

    def __init__(self):
        self.received = defaultdict(list)
        self.attempts = defaultdict(int)
        self.awake = threading.Event()
        self.stopped = threading.Event()
        receivers = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                receivers.attempts[self.path] += 1
                if self.path != "/well" and not receivers.awake.is_set():
                    receivers.stopped.wait(60)
                    return
                data = json.loads(body)["data"]
                receivers.received[self.path].append(data["version"])
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 1024

        self.server = Server(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def versions(self, path):
        """Versions in the order in which they came first: the lease of an attempt may end while the clock is set."""
        return list(dict.fromkeys(self.received[path]))


class Service:
    def __init__(self, binary, folder):
        self.binary, self.folder, self.offset = binary, folder, 0
        self.clock = SettableClock(folder / "clock")
        self.variables = {
            **os.environ, **self.clock.variables, "YEARBOOK_DATA_DIR": str(folder / "data"), "YEARBOOK_WEBHOOKS__ALLOW_PRIVATE": "true"}
        (folder / "data").mkdir()
        self.process = None

    def pass_hour(self):
        self.offset += HOUR
        self.clock.set(self.offset)

    def run(self, *arguments):
        done = subprocess.run([self.binary, *arguments], env=self.variables, capture_output=True, text=True)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return done.stdout

    def publish(self, version):
        package = self.folder / "package"
        package.mkdir(exist_ok=True)
        (package / "table.csv").write_text("id,v\n" + "".join(f"{row},{row + version}\n" for row in range(100)))
        (package / "datapackage.json").write_text(json.dumps({
            "name": NAME, "licenses": [{"name": "CC-BY-4.0"}], "sources": [{"title": "Made up", "path": "https://example.org/"}],
            "resources": [{"path": "table.csv", "schema": {"primaryKey": ["id"], "fields": [
                {"name": "id", "type": "integer"}, {"name": "v", "type": "integer"}]}}],
            "yearbook": {"namespace": "tests"},
        }))
        self.run("publish", str(package))

    def serve(self):
        self.key = json.loads(self.run("keys", "create", "--plan", "enterprise", "--json"))["key"]
        ports = [free_port(), free_port()]
        self.base = f"http://127.0.0.1:{ports[0]}"
        log = open(self.folder / "log", "w")
        self.process = subprocess.Popen(
            [self.binary, "serve", "--listen", f"127.0.0.1:{ports[0]}", "--admin-listen", f"127.0.0.1:{ports[1]}"],
            env=self.variables, stdout=log, stderr=log)
        until(self.is_up, "the server answers", within=60, every=0.02)

    def is_up(self):
        try:
            return urllib.request.urlopen(f"{self.base}/health", timeout=1).status == 200
        except OSError:
            return False

    def memory(self):
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

    def answer_time(self):
        times = []
        for _ in range(50):
            begun = time.monotonic()
            asked = urllib.request.Request(f"{self.base}/v1/datasets/{NAME}/data", headers={"x-api-key": self.key})
            urllib.request.urlopen(asked, timeout=10).read()
            times.append(time.monotonic() - begun)
        return statistics.median(times) * 1000, max(times) * 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--silent", type=int, default=100)
    parser.add_argument("--hours", type=int, default=24)
    arguments = parser.parse_args()
    # What ends this ends what it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        receivers, service = Receivers(), Service(arguments.binary, Path(folder))
        service.publish(0)
        silent = [f"/silent/{number}" for number in range(arguments.silent)]
        for path in [*silent, "/well"]:
            service.run("webhooks", "add", receivers.base + path)
        try:
            service.serve()
            watch(arguments, receivers, service, silent)
        finally:
            receivers.stopped.set()
            if service.process:
                service.process.kill()
                service.process.wait()


def watch(arguments, receivers, service, silent):
    begun, delays, answers = service.memory(), [], []
    for hour in range(arguments.hours):
        service.publish(hour + 1)
        expected = list(range(1, hour + 2))
        published = time.monotonic()
        until(lambda: receivers.versions("/well") == expected, f"version {hour + 1}", within=LATEST_SECONDS, every=0.02)
        delays.append(time.monotonic() - published)
        answers.append(service.answer_time())
        time.sleep(PAUSE)
        service.pass_hour()
    attempts = [receivers.attempts[path] for path in silent]
    print(f"{len(silent)} silent receivers, {arguments.hours} hours, {sum(attempts)} attempts in vain ({min(attempts)} to {max(attempts)} each)")
    print(f"the one that listens had each version {statistics.median(delays):.1f} s (median) to {max(delays):.1f} s after the publish")
    print(f"an answer took {statistics.median(median for median, _ in answers):.1f} ms (median) to {max(worst for _, worst in answers):.0f} ms; "
          f"resident {begun:.0f} MiB at first, {service.memory():.0f} MiB at the end")
    assert service.memory() < begun + MOST_MEBIBYTES
    receivers.awake.set()
    expected = list(range(1, arguments.hours + 1))
    late = lambda: [path for path in silent if receivers.versions(path) != expected]  # noqa: E731
    for _ in range(200):
        if not late():
            break
        time.sleep(2)
        service.pass_hour()
    assert not late(), {path: receivers.versions(path) for path in late()[:3]}
    listed = service.run("webhooks", "list")
    ended = [line.split()[4] for line in listed.splitlines()[1:]]
    assert ended == ["-"] * (len(silent) + 1), listed
    told = sum(len(receivers.received[path]) for path in silent)
    print(f"afterwards each of them had every version, in order; {told - len(silent) * arguments.hours} messages came again")


main()
