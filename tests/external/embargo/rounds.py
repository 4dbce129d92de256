"""One round: two versions wait for an instant while everything is asked at every host, and perhaps something is killed."""

import datetime
import hashlib
import json
import math
import random
import secrets
import time
import urllib.parse

import bucket
import clocks
import wire
from addresses import CONDITIONAL, HIDDEN, ICEBERG, NAMESPACE, TABLE, VISIBLE
from crowd import NEVER, WAITS, WAITS_HIDDEN, Handle
from findings import DESCRIBED, PATIENCE_SECONDS, Findings, Moment, first_difference
from kills import BEYOND_THE_END, Kill, kill_publisher, published

# Time from the publish to the instant besides what publishing takes: the publisher wants ten seconds.
LEAD_SECONDS = 14.0
# Answers of so long before the publish are what later ones are held against, and so many passes over everything. The first seconds of
# them open connections and fill caches, so times are taken of the last five.
BEFORE_SECONDS, BEFORE_PASSES = 8.0, 1
BEFORE_AT_MOST = 120.0
# How long everything is asked after the instant, and after readers of Iceberg are told.
AFTER_SECONDS = 4.0
# Rounds after which `doctor` is asked while something waits.
DOCTOR_EVERY = 10
# Readers of Iceberg are told within so long (contract-21-waiting-files).
DESCRIBED_SECONDS = 60.0
# How far from the instant another one is, of which nothing holds that holds of it.
CONTROL_SECONDS = 1.0
# Part of that in which no answer changes any more, whatever the host has to do after the instant.
SETTLED_SECONDS = 2.5


def text_of(at):
    """RFC 3339 of a whole second."""
    return datetime.datetime.fromtimestamp(at, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Round:
    """What happens in one round, and what it finds."""

    def __init__(self, ground, clock, requests, rate, number, kill, history):
        self.ground, self.clock, self.requests, self.rate, self.number = ground, clock, requests, rate, number
        self.kind, self.history = kill, history
        self.faults, self.notes = [], []
        self.chosen = random.Random()
        self.announced = number % 2 == 1
        # Every third name was there before and was retired.
        retired = [name for name in history.names if name.startswith(HIDDEN)]
        self.hidden = retired[-1] if retired and number % 3 == 2 else f"{HIDDEN}_{number}"
        self.ready_after = self.described_after = None
        # When tables were described for readers of Iceberg: at once where they never are.
        self.described = 0.0

    def expect(self, condition, text):
        if not condition:
            self.faults.append(text)
        return condition

    def known(self):
        """What requests are filled with, by the first host's word."""
        host = self.ground.hosts[0]

        def ask(path):
            return self.ground.ask(host, path)

        current = ask(f"/v1/datasets/{VISIBLE}").json()
        version = next(one["version"] for one in current["snapshots"] if one["id"] == current["current_snapshot_id"])
        size = int(ask("/log/checkpoint").body.split(b"\n")[1])
        link = urllib.parse.urlsplit(ask(f"/v1/datasets/{VISIBLE}/link?format=csv&last=1&days=7").json()["url"])
        file = urllib.parse.urlsplit(self.shared_file(host))
        never = secrets.token_hex(16)
        known = {
            "hidden": self.hidden, "HIDDEN": self.hidden.upper(), "current": current["current_snapshot_id"],
            "version_1": str(version + 1), "size": str(size), "size_1": str(size + 1), "size_2": str(size + 2),
            "today": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"), "link": link.path,
            "file": f"{file.path}?{file.query}", "signature": file.query, "id": never, "digest": hashlib.sha256(never.encode()).hexdigest(),
            "cursor": ask(f"/v1/datasets/{VISIBLE}/data?format=csv&limit=2").header("x-next-page"),
        }
        for path in CONDITIONAL:
            known["tag of " + path] = ask(path).header("etag")
        if self.ground.bucket:
            known |= bucket.named_by(self.iceberg_table(host, VISIBLE)) | {
                "signed_file": known["file"], "hidden_version": str(self.history.next_number(self.hidden))}
        self.current = current["current_snapshot_id"]
        return known

    def shared_file(self, host):
        """The signed address of the newest file of the visible dataset."""
        answer = wire.ask(host.address, "POST", f"{TABLE}/{VISIBLE}/query", {
            "Authorization": f"Bearer {self.ground.key}", "Content-Type": "application/json"}, b"{}")
        lines = [json.loads(line) for line in answer.body.decode().split("\n") if line]
        return next(line["file"]["url"] for line in lines if "file" in line)

    def iceberg_table(self, host, name):
        """What readers of Iceberg are told of a table; `None` where they are told of none."""
        answer = self.ground.ask(host, f"{ICEBERG}/namespaces/{NAMESPACE}/tables/{name}")
        return answer.json() if answer.status == 200 else None

    def run(self):
        """The whole round. Returns the findings."""
        ground = self.ground
        packages = [ground.package(name, self.history.steps(name))[0] for name in (VISIBLE, self.hidden)]
        self.history.step(VISIBLE, self.hidden)
        known = self.known()
        crowd = Handle(ground.addresses(), self.requests, self.rate)
        try:
            crowd.learn(NEVER, known)
            begun = time.monotonic()
            while time.monotonic() < begun + BEFORE_SECONDS or crowd.passes() <= BEFORE_PASSES:
                assert time.monotonic() < begun + BEFORE_AT_MOST, "everything cannot be asked once: choose a higher rate"
                time.sleep(0.1)
            self.publish_began = time.monotonic()
            at, ids = self.release(packages)
            files = {name: ground.waiting_file(name) for name in ids}
            self.expect(all(one in ground.waiting_files() for one in files.values()), f"no file waits where files wait: {files}")
            crowd.learn(WAITS, known | {"id": ids[VISIBLE], "digest": files[VISIBLE]})
            crowd.learn(WAITS_HIDDEN, known | {"id": ids[self.hidden], "digest": files[self.hidden]})
            settled = time.monotonic() + 0.2
            kill, setting = self.wait(at)
            if ground.bucket:
                self.await_described(ids, max(kill.ended if kill else 0.0, self.due))
            time.sleep(AFTER_SECONDS)
            record = crowd.end()
        finally:
            if crowd.process.is_alive():
                crowd.process.terminate()
        return self.find(record, at, ids, settled, kill, setting)

    def release(self, packages):
        """Publishes what waits, after a publisher that was killed in a round of this kind. The instant and the ids."""
        ground = self.ground
        if self.kind == "publisher":
            at = math.ceil(self.clock.now() + 2 * LEAD_SECONDS)
            process = ground.begin_release(packages, at, self.announced)
            after = self.chosen.uniform(0, self.history.publish_seconds * BEYOND_THE_END)
            killed = kill_publisher(process, after)
            left = {one["name"]: one for one in ground.waiting()}
            self.notes.append(f"publisher {'killed' if killed else 'ended'} after {after:.2f} s, {len(left)} of 2 waited")
            self.expect(all(one["release_at"] == text_of(at) for one in left.values()), f"releases wait for another time than {text_of(at)}: {left}")
        at = math.ceil(self.clock.now() + LEAD_SECONDS + self.history.publish_seconds)
        begun = time.monotonic()
        said, errors = published(ground.begin_release(packages, at, self.announced, replace=self.kind == "publisher"))
        self.history.publish_seconds = time.monotonic() - begun
        assert said is not None, f"publish --release-at failed: {errors}"
        ids = {name: said[name]["snapshot_id"] for name in (VISIBLE, self.hidden)}
        self.expect(all(one["status"] == "waiting" for one in said.values()), f"not everything waits: {said}")
        waiting = {one["name"]: (one["snapshot"], one["release_at"]) for one in ground.waiting()}
        self.expect(waiting == {name: (ids[name], text_of(at)) for name in ids}, f"what waits is {waiting}, not {ids} at {text_of(at)}")
        if self.kind == "publisher":
            for name, one in left.items():
                self.expect(one["snapshot"] == ids[name], f"the killed publisher left {one['snapshot']} of {name}, and the next one {ids[name]}")
        if self.number % DOCTOR_EVERY == 0:
            self.history.check_doctor(self)
        return at, ids

    def wait(self, at):
        """Waits beyond the instant, and for what is killed; the kill, or the setting of a clock."""
        due = at - sum(self.clock.bounds(time.monotonic())) / 2
        assert due > time.monotonic(), "publishing took longer than the time to the instant"
        kill = Kill(self.ground, self.kind, due, self.chosen) if self.kind in ("host", "postmaster") else None
        setting = clocks.Setting(self.clock, self.kind, due, self.chosen) if self.kind in clocks.KINDS else None
        self.due = due = setting.due if setting else due
        time.sleep(max(0.0, due - time.monotonic()))
        if kill:
            there = max(kill.wait(), due)
            names = {VISIBLE: None, self.hidden: None}
            ends = there + 4 * PATIENCE_SECONDS
            while any(value is None for value in names.values()) and time.monotonic() < ends:
                for name in names:
                    shown = self.ground.shown(name)
                    if names[name] is None and all(one and one != self.current for one in shown):
                        names[name] = time.monotonic()
                time.sleep(0.02)
            late = [name for name, value in names.items() if value is None]
            if self.expect(not late, f"not every host serves {late} {4 * PATIENCE_SECONDS:.0f} s after everything was there again"):
                self.ready_after = max(0.0, max(names.values()) - there)
                self.expect(self.ready_after <= PATIENCE_SECONDS, f"every host served it {self.ready_after:.2f} s after everything was there again")
            self.notes.append(f"killed {kill.at - due:+.2f} s from the time: {kill}")
            time.sleep(max(0.0, there + PATIENCE_SECONDS - time.monotonic()))
        return kill, setting

    def await_described(self, ids, since):
        """Waits until every host tells readers of Iceberg of the versions, and reads what it names."""
        hosts = self.ground.hosts
        ends = since + DESCRIBED_SECONDS
        left = [(host, name) for host in hosts for name in ids]
        while left and time.monotonic() < ends:
            tables = [(host, name, self.iceberg_table(host, name)) for host, name in left]
            left = [(host, name) for host, name, table in tables if table is None or not bucket.describes(table, ids[name])]
            time.sleep(0.1)
        self.described = time.monotonic()
        told = [(host.number, name) for host, name in left]
        self.expect(not left, f"readers of Iceberg are not told of it {DESCRIBED_SECONDS:.0f} s after the time: {told}")
        self.described_after = self.described - self.due
        for name in ids if not left else ():
            for kind, path in bucket.named_by(self.iceberg_table(hosts[0], name)).items():
                status = self.ground.bucket.get(path).status
                self.expect(status == 200, f"the {kind} of {name} that readers of Iceberg are told of is {path}, status {status}")

    def find(self, record, at, ids, settled, kill, setting):
        moment = setting.moment(at) if setting else Moment(self.clock, at)
        words = [name.encode() for name in (self.hidden, *ids.values())]
        outage = (kill.began, kill.ended) if kill and kill.kind == "postmaster" else None
        findings = Findings(record, self.requests, moment, self.publish_began, words, self.announced, outage, self.described)
        ready = setting.ready(range(len(self.ground.hosts))) if setting else {}
        if kill:
            hosts = [kill.host.number] if kill.host else range(len(self.ground.hosts))
            ready = {host: kill.ended + PATIENCE_SECONDS for host in hosts}
        findings.check_all(ready)
        self.faults += findings.faults
        self.faults += [f"{kind}: {number} in all" for kind, number in findings.faults_by_kind.items() if number > DESCRIBED]
        self.faults += [f"never told of it at any host: {name}" for name in findings.find_silent()]
        if not kill:
            for host in range(len(self.ground.hosts)):
                self.expect(host in findings.first_told, f"host {host} never told of it")
        settled_at = moment.latest + SETTLED_SECONDS if not kill else max(moment.latest, kill.ended) + PATIENCE_SECONDS
        # A description may come at one host before another.
        self.compare_hosts(record, max(settled_at, self.described + SETTLED_SECONDS))
        if setting:
            setting.check(findings, self, at)
            self.notes.append(str(setting))
        self.moment, self.settled, self.ids, self.at = moment, settled, ids, at
        if self.is_strict:
            self.check_the_check(record, words)
        return findings

    def check_the_check(self, record, words):
        """Had the instant been another one, the same answers would be faults: a check that finds nothing there would find nothing here."""
        for seconds, kind in ((CONTROL_SECONDS, "EARLY"), (-CONTROL_SECONDS, "LATE")):
            moved = Findings(record, self.requests, self.moment.moved(seconds), self.publish_began, words, self.announced, None, self.described)
            moved.check_all({})
            self.expect(moved.counts[kind], f"the check itself: an instant that is {seconds:+.1f} s away gives no fault of the kind {kind}")

    def compare_hosts(self, record, since):
        """The last answers of hosts to one request are the same."""
        last = {}
        for index in range(len(record)):
            if record.sent[index] >= since and record.asked[index] == NEVER:
                last.setdefault(record.request[index], {})[record.host[index]] = index
        for request, hosts in last.items():
            texts = {record.texts[record.told[index]] for index in hosts.values() if record.status[index] < 500}
            if len(texts) > 1:
                one, other = sorted(texts)[:2]
                self.faults.append(f"hosts differ long after the time: {self.requests[request].name}, {sorted(hosts)}: {first_difference(one, other)}")

    @property
    def is_strict(self):
        """Nothing was killed near the time, which is one by every clock."""
        return self.kind in (None, "publisher", *clocks.PLAIN)
