"""A clock of the database that is set near an instant: when, by how much, and what has to hold then.

What is due by the database's clock is visible, and hosts know that clock from its last answer. So once it is set and every host has heard
from the database again, the instant is where the new clock has it; and what everybody saw once is never taken back."""

import threading
import time

from findings import Moment

# Set far before the instant or after it, over it, and back within the time in which hosts have not heard of it.
KINDS = ("forward-before", "back-before", "forward-over", "back-after", "back-at")
# The kinds by which the instant is known as well as without.
PLAIN = ("forward-before", "back-before", "back-after")
# Time in which every host hears from the database: twice the interval of its polls.
HEARD_SECONDS = 1.0
LEAST_SECONDS, MOST_SECONDS = 1.5, 6.0


class Setting:
    """A clock that is set near an instant of the monotonic clock, `due`, by a thread."""

    def __init__(self, clock, kind, due, chosen):
        self.clock, self.kind, self.old_due = clock, kind, due
        seconds = chosen.uniform(LEAST_SECONDS, MOST_SECONDS)
        self.seconds = seconds if kind.startswith("forward") else -seconds
        self.at = due + {
            "forward-before": -seconds - chosen.uniform(2 * HEARD_SECONDS, 4 * HEARD_SECONDS),
            "back-before": -chosen.uniform(1.5 * HEARD_SECONDS, 4 * HEARD_SECONDS),
            "forward-over": -chosen.uniform(0.3, seconds - 0.3),
            "back-after": chosen.uniform(HEARD_SECONDS, 3 * HEARD_SECONDS),
            "back-at": chosen.uniform(-0.45, 0.15),
        }[kind]
        # The instant by the clock that was set, by the monotonic one, about.
        self.due = self.at if kind == "forward-over" else due if kind == "back-after" else due - self.seconds
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        time.sleep(max(0.0, self.at - time.monotonic()))
        self.clock.set(self.clock.offset + self.seconds)
        self.began, self.ended = self.clock.settings[-1]

    def moment(self, at):
        """The instant `at` by the monotonic clock. Where it is not one by both clocks, it is the time from the first one to the last: in
        between a host may tell, or not."""
        self.thread.join()
        if self.kind == "forward-over":
            return Moment.between(self.began, self.ended)
        if self.kind == "back-at":
            before, after = (Moment(self.clock, at, near) for near in (self.began, self.ended))
            return Moment.between(before.earliest, after.latest)
        return Moment(self.clock, at, self.began if self.kind == "back-after" else self.ended)

    def ready(self, hosts):
        """From when on each host has to tell."""
        return {host: self.ended + HEARD_SECONDS for host in hosts} if self.kind == "forward-over" else {}

    def check(self, findings, one, at):
        """Where the clock went back at the instant: a host has told before it heard of it, or tells by the new clock."""
        if self.kind != "back-at":
            return
        after = Moment(self.clock, at, self.ended)
        early = [host for host, told in findings.first_told.items() if told < after.earliest]
        for host in early:
            late = findings.first_told[host] - self.ended
            one.expect(late <= HEARD_SECONDS, f"host {host} told by the clock of before {late:.3f} s after that was set back")
        one.notes.append(f"{len(early)} hosts had told by the clock of before")

    def __str__(self):
        return f"clock set by {self.seconds:+.2f} s {self.began - self.old_due:+.2f} s from the time: {self.kind}"
