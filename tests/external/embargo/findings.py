"""What a round shows: answers that told too early, too late, or were taken back; and when each host turned."""

import collections
import copy
import difflib

from crowd import NEVER, WAITS

# Answers that began so long after the time have to tell.
LATE_SECONDS = 0.05
# Time in which every host serves a version once everything is there again.
PATIENCE_SECONDS = 5.0
UNAVAILABLE = (500, 502, 503, 504)
FORBIDDEN = 403
# Faults of one kind that are described in a round.
DESCRIBED = 5


class Moment:
    """The time of a release by the monotonic clock: it lies between two bounds, since the database's clock is known to some."""

    def __init__(self, clock, at, near=None):
        """`near`: when the database's clock was the one that counts, where it was set."""
        # The bounds of what is added to the monotonic clock are those near the time itself.
        rough = at - sum(clock.bounds(near or clock.readings[-1][2])) / 2
        least, most = clock.bounds(near or rough)
        self.earliest, self.latest = at - most, at - least

    @classmethod
    def between(cls, earliest, latest):
        """A time that is known to lie between two."""
        made = cls.__new__(cls)
        made.earliest, made.latest = earliest, latest
        return made

    def moved(self, seconds):
        """Another instant, so many seconds later."""
        other = copy.copy(self)
        other.earliest, other.latest = self.earliest + seconds, self.latest + seconds
        return other

    @property
    def middle(self):
        return (self.earliest + self.latest) / 2

    @property
    def uncertainty(self):
        return self.latest - self.earliest


def first_difference(before, after):
    """Lines that differ, the first few."""
    lines = difflib.unified_diff(
        before.decode(errors="replace").split("\n"), after.decode(errors="replace").split("\n"), "before", "told", n=0, lineterm="")
    found = [line[:300] for line in lines if not line.startswith(("---", "+++", "@@"))]
    return " | ".join(found[:4])


class Findings:
    """The record of a round against the answers before the publish."""

    def __init__(self, record, requests, moment, began, words, announced, outage, described):
        """`began`: when the publisher was started. `words`: what nobody may know (bytes). `outage`: when the database was away. `described`:
        when the tables were described for readers of Iceberg, where objects are on S3."""
        self.record, self.requests, self.moment = record, requests, moment
        self.began, self.words, self.announced, self.outage = began, words, announced, outage
        self.described = described
        self.faults = []
        self.counts = collections.Counter()
        self.faults_by_kind = collections.Counter()
        # When a host first told, and when a request was sent to it last whose answer did not.
        self.first_told, self.last_silent = {}, {}
        self.before = self.texts_before()

    def fault(self, kind, text):
        self.counts[kind] += 1
        self.faults_by_kind[kind] += 1
        if self.faults_by_kind[kind] <= DESCRIBED:
            self.faults.append(f"{kind}: {text}")

    def describe(self, index, text=None):
        """Host, address, time and what differs."""
        record = self.record
        request = self.requests[record.request[index]]
        sent, ended = (at - self.moment.middle for at in (record.sent[index], record.ended[index]))
        told = record.texts[record.told[index]]
        wanted = self.before.get(record.request[index], [told])[0]
        text = text or first_difference(record.texts[wanted] if isinstance(wanted, int) else wanted, told)
        asked = ("never", "waits", "waits, hidden")[record.asked[index]]
        whom = "the bucket" if request.in_bucket else f"host {record.host[index]}"
        return f"{whom}, {request.name} (id: {asked}), sent {sent:+.4f} s, ended {ended:+.4f} s, status {record.status[index]}: {text}"

    def texts_before(self):
        """Numbers of the texts of each request before the publish: one, unless hosts differ."""
        record, found = self.record, collections.defaultdict(collections.Counter)
        place = {}
        for index in range(len(record)):
            if record.asked[index] == NEVER and record.ended[index] < self.began:
                found[record.request[index]][record.told[index]] += 1
                place.setdefault((record.request[index], record.told[index]), index)
        before = {request: [told for told, _ in texts.most_common()] for request, texts in found.items()}
        for request, texts in before.items():
            for other in texts[1:]:
                index = place[request, other]
                difference = first_difference(record.texts[texts[0]], record.texts[other])
                self.fault("two answers before the publish", (
                    f"host {record.host[index]}, {self.requests[request].name}, {self.began - record.sent[index]:.2f} s before the publisher "
                    f"began, {found[request][other]} of {sum(found[request].values())} answers: {difference}"))
        return before

    def in_outage(self, index):
        """The database was away, or had been within the time that hosts have to find it again."""
        if self.outage is None:
            return False
        began, ended = self.outage
        return self.record.ended[index] > began and self.record.sent[index] < ended + PATIENCE_SECONDS

    def check_all(self, ready):
        """Looks at every answer. `ready`: from when on each host has to tell, by its number, where that is later than the time itself."""
        record = self.record
        order = sorted(range(len(record)), key=lambda index: record.ended[index])
        for index in order:
            request = record.request[index]
            before = self.before.get(request)
            if before is None:
                self.counts["never asked before"] += 1
                continue
            same = record.told[index] in before
            unavailable = record.status[index] in UNAVAILABLE
            if self.requests[request].in_bucket and record.status[index] == FORBIDDEN:
                self.fault("the S3 server refuses the crowd, which proves nothing", self.describe(index))
            if unavailable and not same:
                self.counts["unavailable"] += 1
                if not self.in_outage(index):
                    self.fault("refused although the database was there", self.describe(index))
                continue
            must = max(self.must(self.requests[request]), ready.get(record.host[index], 0.0))
            self.check_answer(index, request, same, must)
        self.find_taken_back(order)
        if self.announced:
            self.check_calendar(ready)

    def check_calendar(self, ready):
        """The calendar tells of an announced release when it is out: no answer is one of those that were given while it waited."""
        record, coming = self.record, collections.defaultdict(set)
        for index in range(len(record)):
            request = self.requests[record.request[index]]
            must = max(self.moment.latest + LATE_SECONDS, ready.get(record.host[index], 0.0))
            if not request.planned or record.status[index] in UNAVAILABLE:
                continue
            if record.ended[index] < self.moment.earliest:
                coming[record.request[index]].add(record.told[index])
            elif record.sent[index] >= must and record.told[index] in coming[record.request[index]]:
                self.fault("LATE", self.describe(index, "the calendar is that of before"))

    def must(self, request):
        """From when on a request has to tell: lists of the bucket do so once the table is described for readers of Iceberg."""
        return (self.described if request.in_bucket else self.moment.latest) + LATE_SECONDS

    def check_answer(self, index, request, same, must):
        """Looks at one answer, which is `same` as before the publish or not; it has to be another one where it began after `must`."""
        record, asked = self.record, self.requests[request]
        if record.ended[index] < self.moment.earliest:
            self.counts["before"] += 1
            if not same and not (asked.planned and self.announced):
                self.fault("EARLY", self.describe(index))
            elif not same:
                told = record.texts[record.told[index]]
                if any(word in told for word in self.words):
                    self.fault("EARLY", self.describe(index, "the calendar names what waits"))
        elif record.sent[index] >= must:
            self.counts["after"] += 1
            if same and asked.tells and record.asked[index] == NEVER:
                self.fault("LATE", self.describe(index, "the answer is that of before"))
        else:
            self.counts["unknown"] += 1
        if not asked.tells or asked.in_bucket or record.asked[index] != NEVER:
            return
        host = record.host[index]
        if not same and record.ended[index] >= self.moment.earliest:
            self.first_told.setdefault(host, record.ended[index])
        if same:
            self.last_silent[host] = max(self.last_silent.get(host, record.sent[index]), record.sent[index])

    def find_taken_back(self, order):
        """A host that told once tells from then on, whatever it is asked."""
        record = self.record
        for index in order:
            told = self.first_told.get(record.host[index])
            request = self.requests[record.request[index]]
            if told is None or record.sent[index] <= told or not request.tells or record.asked[index] != NEVER:
                continue
            if record.told[index] not in self.before.get(record.request[index], ()):
                continue
            # The log goes on once the database has the version, and until then shows its last checkpoint (docs/spec/log.md); an index for
            # searches follows the view. Both have as long as everything has, and are late after that.
            if request.follows:
                self.counts["log or search behind, the database away or just back"] += self.in_outage(index)
            else:
                self.fault("TAKEN BACK", self.describe(index, f"this host had told {record.sent[index] - told:.4f} s before it was asked"))

    def find_silent(self):
        """Requests that should have told of it and never did, at whatever host: the list of addresses is wrong there."""
        record = self.record
        after = collections.defaultdict(set)
        for index in range(len(record)):
            if record.sent[index] > self.must(self.requests[record.request[index]]) and record.asked[index] == NEVER:
                after[record.request[index]].add(record.told[index] in self.before.get(record.request[index], ()))
        return [self.requests[request].name for request, same in after.items() if same == {True} and self.requests[request].tells]

    def times(self):
        """Seconds after the time at which each host first told, at most."""
        return {host: at - self.moment.earliest for host, at in self.first_told.items()}

    def last_silence(self):
        """Seconds after the time at which each host was asked last that answered as before; less than zero where nobody asked later."""
        return {host: at - self.moment.earliest for host, at in self.last_silent.items()}

    def latencies(self, since, until, asked=None):
        """Seconds that answers took which were sent in a part of the round, by host and request."""
        record, found = self.record, collections.defaultdict(list)
        for index in range(len(record)):
            if since <= record.sent[index] and record.ended[index] < until and (asked is None or record.asked[index] == asked):
                found[record.host[index], record.request[index]].append(record.ended[index] - record.sent[index])
        return found

    def with_ids(self, found):
        """Those of requests that ask with an id."""
        return {key: times for key, times in found.items() if self.requests[key[1]].asks_with_id}

    def waiting_latencies(self, since, until):
        """Times of requests with an id that waits, by host and request, whichever of both ids."""
        found = collections.defaultdict(list)
        for asked in (WAITS, WAITS + 1):
            for key, times in self.latencies(since, until, asked).items():
                found[key].extend(times)
        return found
