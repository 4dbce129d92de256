"""What is tested: a database, stored files, three hosts whose clocks are wrong, and the commands of operators."""

import datetime
import json
import os
import random
import re
import signal
import subprocess

import wire
from addresses import NAMESPACE, VISIBLE
from fake_clock import faketime
from ports import HOST, free_port
from postgres import Session
from waiting import until

OFFSETS = (2.0, -2.0, 0.0)
# How far the offset that a host measures may be from the one it was given, seconds.
OFFSET_TOLERANCE = 0.3
REGIONS = {"North": "174.8 -36.8", "Middle": "175.3 -39.0", "South": "170.5 -45.9"}
MONTHS = 40


class Host:
    """A process that serves, with a clock that is off by so many seconds."""

    def __init__(self, ground, number, offset):
        self.ground, self.number, self.offset = ground, number, offset
        self.port, self.admin, self.process = free_port(), free_port(), None
        self.log = ground.work / f"host-{number}.log"

    @property
    def address(self):
        return HOST, self.port

    def start(self):
        environment = self.ground.environment | {
            "LD_PRELOAD": self.ground.faketime, "FAKETIME": f"{self.offset:+.3f}s", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            # Times of files are the machine's.
            "NO_FAKE_STAT": "1",
        }
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                self.ground.command("serve", "--listen", f"{HOST}:{self.port}", "--admin-listen", f"{HOST}:{self.admin}"),
                env=environment, stdout=log, stderr=log, start_new_session=True)

    def await_ready(self, within=120):
        until(self.is_ready, f"host {self.number} answers (host-{self.number}.log says why not)", within=within, every=0.05)

    def is_ready(self):
        try:
            return wire.ask(self.address, "GET", "/health", {}, within=5).status == 200
        except (OSError, wire.Broken):
            assert self.process.poll() is None, f"host {self.number} has ended: {self.log.read_text()[-2000:]}"
            return False

    def measured(self):
        """By how much its clock is off by its own word, seconds, and its uncertainty; None while it does not know."""
        text = wire.ask((HOST, self.admin), "GET", "/metrics", {}).body.decode()
        found = dict(re.findall(r"^yearbook_database_clock_(offset|uncertainty)_seconds (\S+)$", text, re.M))
        # The metric says by how much the database is ahead.
        return (-float(found["offset"]), float(found["uncertainty"])) if len(found) == 2 else None

    def check_clock(self):
        """The clock is off as it should be: without that nothing of this would be a test of clocks."""
        offset, uncertainty = until(self.measured, f"host {self.number} knows the database's clock", within=30)
        assert abs(offset - self.offset) <= OFFSET_TOLERANCE + uncertainty, f"host {self.number} is off by {offset}, not {self.offset}"
        return offset

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.kill()


class Ground:
    """Database, stored files, hosts and commands."""

    def __init__(self, binary, plugins, work, postgres, bucket=None):
        """`bucket`: where files are stored, in place of a folder."""
        self.binary, self.work, self.postgres, self.bucket = binary, work, postgres, bucket
        self.faketime = faketime()
        self.objects = bucket.objects if bucket else work / "data/objects"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("YEARBOOK_")}
        self.environment = kept | {
            "YEARBOOK_DATA_DIR": str(work / "data"), "YEARBOOK_DATABASE_URL": postgres.url,
            "YEARBOOK_LIMITS__BURST_PER_SECOND": "0", "YEARBOOK_LIMITS__REFUSALS_PER_SECOND": "0",
            "YEARBOOK_LIMITS__KEY_SHARE_PERCENT": "0", "YEARBOOK_LIMITS__ADDRESS_SHARE_PERCENT": "0",
            # One address for all hosts, so that their answers can be the same bytes.
            "YEARBOOK_SERVER__PUBLIC_URL": "http://stats.example",
        } | ({"YEARBOOK_PLUGINS_DIR": str(plugins)} if plugins else {}) | (bucket.settings if bucket else {})
        self.hosts = [Host(self, number, offset) for number, offset in enumerate(OFFSETS)]
        self.chosen = random.Random()

    def command(self, *arguments):
        return [self.binary, *map(str, arguments)]

    def begin(self, *arguments, output=subprocess.PIPE):
        """Starts a command of an operator, whose clock is the machine's."""
        return subprocess.Popen(
            self.command(*arguments), env=self.environment, stdout=output, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def run(self, *arguments):
        """Standard output of a command that must succeed."""
        process = self.begin(*arguments)
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, f"yearbook {' '.join(map(str, arguments))}: {process.returncode}: {errors}{output}"
        return output

    def said(self, *arguments):
        return json.loads(self.run(*arguments, "--json"))

    def waiting(self):
        return self.said("datasets", "releases")

    def waiting_files(self):
        """Digests of files that lie where files wait, be it that they wait no more."""
        folder = self.objects / "waiting"
        return {path.stem for path in folder.glob("*.parquet")} if folder.exists() else set()

    def waiting_file(self, name):
        """Digest of the table of a dataset's release that waits. No command tells it."""
        with Session(self.postgres) as session:
            return session.ask(f"SELECT file_sha256 FROM waiting_releases WHERE dataset = '{name}'")

    def addresses(self):
        """Whom the crowd asks."""
        return [host.address for host in self.hosts] + ([self.bucket.address] if self.bucket else [])

    def versions(self, name):
        return self.said("datasets", "snapshots", name)

    def package(self, name, step, title=None):
        """Writes the `step`-th version of a dataset: each has one row more and one that was revised. Its folder and its rows."""
        folder = self.work / "packages" / name
        folder.mkdir(parents=True, exist_ok=True)
        rows = []
        for index in range(MONTHS + step):
            date = f"{2020 + index // 12}-{index % 12 + 1:02}-01"
            for offset, (region, place) in enumerate(REGIONS.items()):
                value = "777.5" if index == 0 and step else f"{index * 10 + offset + (step if index == 1 else 0)}.5"
                rows.append(f'{date},{region},{value},"MULTIPOINT (({place}))"')
        (folder / "table.csv").write_text("date,region,value,geometry_wkt\n" + "\n".join(rows) + "\n")
        (folder / "datapackage.json").write_text(json.dumps({
            "name": name, "title": title or f"Yields of the {name}", "keywords": ["farms"],
            "licenses": [{"name": "CC0-1.0"}], "sources": [{"title": "Nobody"}],
            "resources": [{"name": name, "path": "table.csv", "schema": {
                "fields": [
                    {"name": "date", "type": "date"}, {"name": "region", "type": "string"},
                    {"name": "value", "type": "number", "unit": "tonnes"}, {"name": "geometry_wkt", "type": "string"},
                ], "primaryKey": ["date", "region"]}}],
            "yearbook": {
                "namespace": NAMESPACE, "source": "Nobody", "attribution_text": "Nobody", "refresh_cadence": "weekly",
                "date_filter_column": "date", "dimensions": ["region"], "bulk_redistribution": True, "layout": "long",
            },
        }))
        return folder / "datapackage.json", rows

    def prepare(self):
        """The first version of the visible dataset, a version after it, a key, and the hosts."""
        for step in (0, 1):
            self.run("publish", self.package(VISIBLE, step)[0])
        self.key = self.said("keys", "create", "--plan", "enterprise")["key"]
        for host in self.hosts:
            host.start()
            host.await_ready()

    def drift(self):
        """Gives hosts other clocks: one of them at least is started again with another offset."""
        moved = self.chosen.sample(self.hosts, self.chosen.randint(1, len(self.hosts)))
        for host in moved:
            host.stop()
            host.offset = round(self.chosen.uniform(-2, 2), 3)
            host.start()
        for host in moved:
            host.await_ready()
        return [host.number for host in moved]

    def ask(self, host, path, method="GET"):
        """An answer of a host to the key."""
        scheme = {"Authorization": f"Bearer {self.key}"} if path.startswith("/share/") else {"X-API-Key": self.key}
        return wire.ask(host.address, method, path, scheme)

    def begin_release(self, paths, at, announced, replace=False):
        """Starts the publisher of versions that wait until `at`."""
        time_text = datetime.datetime.fromtimestamp(at, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        options = ["--announce=Figures of the farms"] if announced else []
        return self.begin("publish", *paths, "--release-at", time_text, *options, *(["--replace"] if replace else []), "--json")

    def shown(self, name):
        """Ids that hosts show as current; None where one shows none."""
        def current(host):
            try:
                answer = self.ask(host, f"/v1/datasets/{name}")
            except (OSError, wire.Broken):
                return None
            return answer.json()["current_snapshot_id"] if answer.status == 200 else None

        return [current(host) for host in self.hosts]

    def retire(self, name):
        """Takes a dataset away again, and waits until no host shows it."""
        self.run("datasets", "retire", name)
        until(lambda: self.shown(name) == [None] * len(self.hosts), f"{name} is retired", within=30, every=0.05)

    def stop(self):
        for host in self.hosts:
            host.stop()
