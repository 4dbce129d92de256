"""What was published in all rounds, and that nothing of it is lost: versions, their times, their rows, and the log."""

import json
import random

from addresses import HIDDEN, VISIBLE
from rounds import text_of


class History:
    """Versions by dataset: (number, id, time)."""

    def __init__(self, ground):
        self.ground = ground
        self.known = {}
        self.last_step = {}
        self.publish_seconds = 3.0
        self.take(VISIBLE)
        self.last_step[VISIBLE] = 1

    @property
    def names(self):
        return list(self.known)

    def steps(self, name):
        """Number of the version of a dataset that is to come."""
        return self.last_step.get(name, 0) + 1

    def step(self, *names):
        for name in names:
            self.last_step[name] = self.steps(name)

    def take(self, name):
        """What the catalogue has of a dataset: (number, id, time), oldest first."""
        found = [(one["version"], one["id"], one["created_at"]) for one in self.ground.versions(name)]
        self.known.setdefault(name, [])
        return found

    def next_number(self, name):
        """Number of the version that a dataset's next release will be."""
        before = self.known.get(name)
        return before[-1][0] + 1 if before else 2 if name == VISIBLE else 0

    def check(self, one):
        """After a round: one more version of each dataset, dated at the time, and the ones before as they were."""
        for name, snapshot in one.ids.items():
            before, found = self.known.get(name, []), self.take(name)
            numbers = [version for version, _, _ in found]
            one.expect(numbers == list(range(numbers[0], numbers[0] + len(numbers))), f"{name} has versions {numbers}")
            wanted = (self.next_number(name), snapshot, text_of(one.at))
            one.expect(found[-1] == wanted, f"the newest version of {name} is {found[-1]}, not {wanted}")
            kept = [version for version in found[:-1] if before and version[0] >= before[0][0]]
            one.expect(all(version in before for version in kept), f"versions of {name} were {before} and are {found}")
            self.known[name] = before + [found[-1]] if before else found
        one.expect(self.ground.waiting() == [], f"after the time waits {self.ground.waiting()}")
        self.check_rows(one)
        self.check_revisions(one)
        self.check_past(one)

    def check_rows(self, one):
        """Rows are those of the package, at every host."""
        for name in one.ids:
            _, rows = self.ground.package(name, self.last_step[name])
            wanted = sorted(",".join(row.split(",")[:3]) for row in rows)
            for host in self.ground.hosts:
                answer = self.ground.ask(host, f"/v1/datasets/{name}/data?format=csv&limit=100000&geometry=false&columns=date,region,value")
                found = sorted(answer.body.decode().split()[1:])
                one.expect(found == wanted, f"host {host.number} has {len(found)} rows of {name} that are not the {len(wanted)} of the package")

    def check_revisions(self, one):
        """Every host has the version among the revisions, which it may have asked the database for before that had it."""
        for name in one.ids:
            for host in self.ground.hosts:
                answer = self.ground.ask(host, f"/v1/datasets/{name}/revisions?format=csv&limit=100000&columns=_valid_from")
                found = set(answer.body.decode().split()[1:])
                one.expect(text_of(one.at) in found, f"host {host.number} has revisions of {name} of {sorted(found)[-3:]}, and none of {text_of(one.at)}")

    def check_past(self, one):
        """A version of an earlier round is found by its time, and not a second before."""
        versions = self.known[VISIBLE]
        if len(versions) < 2:
            return
        place = random.randrange(1, len(versions))
        host = random.choice(self.ground.hosts)
        answer = self.ground.ask(host, f"/v1/datasets/{VISIBLE}/data?as_of={versions[place][2]}&limit=1")
        found = answer.header("x-service-snapshot-id")
        one.expect(found == versions[place][1], f"host {host.number} has {answer.status} {found} as of {versions[place][2]}, not {versions[place][1]}")

    def check_commands(self, one, deep=False):
        """`gc`, `doctor` and a check of the log find nothing wrong."""
        self.ground.run("gc")
        self.check_doctor(one, deep)
        key = self.ground.run("log", "key").strip()
        checkpoint = self.ground.work / "log.checkpoint"
        host = self.ground.hosts[one.number % len(self.ground.hosts)]
        self.ground.run(
            "log", "verify", f"http://{host.address[0]}:{host.port}", "--key", key, "--checkpoint", checkpoint, "--entries",
            "--dataset", VISIBLE, "--snapshot", one.ids[VISIBLE])

    def check_doctor(self, one, deep=False):
        process = self.ground.begin("doctor", "--json", *(["--deep"] if deep else []))
        output, errors = process.communicate(timeout=300)
        found = [check for check in json.loads(output or "[]") if check["status"] == "fail"]
        one.expect(process.returncode == 0, f"doctor, while {len(self.ground.waiting())} releases wait: {found} {errors}")

    def retire_hidden(self, one):
        self.ground.retire(one.hidden)
        assert one.hidden.startswith(HIDDEN)
