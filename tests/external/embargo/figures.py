"""Figures of all rounds: when hosts turned, and whether the time that answers take tells anything.

Two samples of times are compared request by request and host by host, by ranks: the part of pairs in which the one took longer than the
other (0.5: none is slower). Times of one kind of request differ by more than what is looked for, so pairs of different kinds say nothing."""

import bisect
import math
import statistics

# A difference that is a fault: so far from one half beyond what two halves of one time differ by, and further than rounds differ among
# themselves would explain, of which there have to be some.
LARGE, DEVIATIONS, LEAST_ROUNDS = 0.05, 5.0, 5
LEAST_TIMES = 2


def pairs_slower(first, second):
    """Pairs in which a time of `second` is longer than one of `first` (equal ones count half), and the number of pairs."""
    ordered, slower = sorted(first), 0.0
    for seconds in second:
        slower += (bisect.bisect_left(ordered, seconds) + bisect.bisect_right(ordered, seconds)) / 2
    return slower, len(first) * len(second)


def slower(first, second):
    """The part of pairs of the same request at the same host in which `second` took longer; None where there are no pairs. A request
    counts by its answers and not by its pairs, which would let the most asked decide."""
    weighted = weights = 0.0
    for key, times in first.items():
        others = second.get(key, ())
        if len(times) >= LEAST_TIMES and len(others) >= LEAST_TIMES:
            part, number = pairs_slower(times, others)
            weight = len(times) * len(others) / (len(times) + len(others))
            weighted += weight * part / number
            weights += weight
    return weighted / weights if weights else None


def largest_gap(first, second):
    """Kolmogorov's and Smirnov's distance of two samples, each time divided by the median of its request at its host."""
    one, other = [], []
    for key, times in first.items():
        others = second.get(key, ())
        if len(times) >= LEAST_TIMES and len(others) >= LEAST_TIMES:
            usual = statistics.median([*times, *others])
            one += [seconds / usual for seconds in times]
            other += [seconds / usual for seconds in others]
    if not one:
        return None
    one.sort()
    other.sort()
    gaps = (abs(bisect.bisect_right(one, at) / len(one) - bisect.bisect_right(other, at) / len(other)) for at in one + other)
    return max(gaps)


class Comparison:
    """Two samples of times, round by round."""

    def __init__(self, name):
        self.name = name
        self.parts, self.gaps, self.medians = [], [], []

    def add(self, first, second):
        part = slower(first, second)
        if part is None:
            return
        self.parts.append(part)
        self.gaps.append(largest_gap(first, second))
        both = [[seconds for key, times in sample.items() for seconds in times if key in first and key in second] for sample in (first, second)]
        self.medians.append([1000 * statistics.median(times) for times in both])

    @property
    def distance(self):
        """How far from no difference the rounds are on average."""
        return abs(statistics.fmean(self.parts) - 0.5) if self.parts else 0.0

    def summary(self, usual):
        """Line of the table, and whether the difference is a fault where `usual` is one of nothing."""
        if not self.parts:
            return f"{self.name}: no times", False
        mean = statistics.fmean(self.parts)
        error = statistics.stdev(self.parts) / math.sqrt(len(self.parts)) if len(self.parts) > 1 else math.inf
        deviations = (mean - 0.5) / error if error else math.inf
        large = len(self.parts) >= LEAST_ROUNDS and self.distance > LARGE + usual and abs(deviations) > DEVIATIONS
        first, second = (statistics.median(values) for values in zip(*self.medians, strict=True))
        return (f"{self.name}: the second is slower in {100 * mean:.1f} % of pairs (50: no difference; {deviations:+.1f} standard errors over "
                f"{len(self.parts)} rounds); largest gap of the distributions {statistics.median(self.gaps):.3f} (median of rounds); "
                f"medians {first:.2f} and {second:.2f} ms"), large


class Figures:
    """What is added up over rounds."""

    def __init__(self):
        self.turned = {0: [], 1: [], 2: []}
        self.silent = {0: [], 1: [], 2: []}
        self.spread, self.uncertainty, self.rates, self.answers = [], [], [], 0
        self.counts = {}
        self.ready, self.described = [], []
        self.comparisons = {
            "ids": Comparison("an id that never was / an id that waits"),
            "before": Comparison("5 s before the publish / 5 s before the time"),
            "halves": Comparison("first and second half of the 5 s before the publish (for comparison)"),
        }

    def add(self, findings, moment, publish_began, settled, strict):
        """`settled`: when what waits was asked for first. `strict`: nothing was killed, so that times count."""
        record = findings.record
        self.answers += len(record)
        self.rates.append(len(record) / record.seconds)
        for kind, number in findings.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + number
        times = findings.times()
        if strict:
            self.uncertainty.append(moment.uncertainty)
            for host, seconds in times.items():
                self.turned[host].append(seconds)
            for host, seconds in findings.last_silence().items():
                self.silent[host].append(seconds)
            if times:
                self.spread.append(max(times.values()) - min(times.values()))
            last = moment.earliest
            self.comparisons["ids"].add(
                findings.with_ids(findings.latencies(settled, last, 0)), findings.with_ids(findings.waiting_latencies(settled, last)))
            before = findings.latencies(publish_began - 5, publish_began, 0)
            self.comparisons["before"].add(before, findings.latencies(last - 5, last, 0))
            middle = publish_began - 2.5
            self.comparisons["halves"].add(
                findings.latencies(publish_began - 5, middle, 0), findings.latencies(middle, publish_began, 0))

    def lines(self):
        """The table, and the faults that only all rounds show."""
        lines, faults = [], []
        for host, seconds in self.turned.items():
            if seconds:
                lines.append(
                    f"host {host} first told of it: median {1000 * statistics.median(seconds):.1f} ms after the time, worst "
                    f"{1000 * max(seconds):.1f} ms, least {1000 * min(seconds):.1f} ms; was last asked and did not tell: median "
                    f"{1000 * statistics.median(self.silent[host]):.1f} ms, worst {1000 * max(self.silent[host]):.1f} ms ({len(seconds)} rounds "
                    "without a kill at the time)")
        if self.spread:
            lines.append(f"first and last host of a round: median {1000 * statistics.median(self.spread):.1f} ms apart, worst {1000 * max(self.spread):.1f} ms")
        if self.ready:
            lines.append(f"after a kill every host served it: median {statistics.median(self.ready):.2f} s after everything was there, worst {max(self.ready):.2f} s ({len(self.ready)} kills)")
        if self.described:
            lines.append(f"readers of Iceberg had it at every host: median {statistics.median(self.described):.1f} s after the time, worst {max(self.described):.1f} s")
        if self.uncertainty:
            lines.append(f"the time was known to {1000 * statistics.median(self.uncertainty):.2f} ms (median), worst {1000 * max(self.uncertainty):.2f} ms")
        if self.rates:
            lines.append(f"{self.answers} answers; {statistics.median(self.rates):.0f} a second (median of rounds)")
        for comparison in self.comparisons.values():
            line, large = comparison.summary(self.comparisons["halves"].distance)
            lines.append(line)
            if large:
                faults.append(f"the time that answers take tells: {line}")
        lines.append("answers: " + ", ".join(f"{number} {kind}" for kind, number in sorted(self.counts.items())))
        return lines, faults
