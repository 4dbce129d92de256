"""The embargo: versions that wait for an instant, at three hosts whose clocks are wrong, asked all the time and killed at random.

Run by hand, by `run.sh` beside this file. Ends with a table of figures; the exit code is 1 where anything was told early, late or wrong."""

import argparse
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback

import clocks
import kills
from addresses import everything
from bucket import Bucket
from figures import Figures
from ground import Ground
from history import History
from kills import Kinds
from postgres import Clock, Postgres
from rounds import Round

# Rounds after which what is stored is read whole.
DEEP_EVERY = 10
# Time in which every host hears of what was done between rounds.
QUIET_SECONDS = 1.5


def play(ground, clock, history, figures, requests, number, options, kinds):
    """One round with what comes before and after it. Its faults."""
    began = time.monotonic()
    if number and random.random() < 0.5:
        ground.drift()
    offsets = [host.check_clock() for host in ground.hosts]
    time.sleep(QUIET_SECONDS)
    one = Round(ground, clock, requests, options.rate, number, kinds.next(), history)
    findings = one.run()
    figures.add(findings, one.moment, one.publish_began, one.settled, one.is_strict)
    if one.ready_after is not None:
        figures.ready.append(one.ready_after)
    if one.described_after is not None:
        figures.described.append(one.described_after)
    history.check(one)
    if options.set_clock:
        clock.set(0.0)
        time.sleep(QUIET_SECONDS)
    if options.kill or number % DEEP_EVERY == 0:
        history.check_commands(one, deep=number % DEEP_EVERY == 0)
    history.retire_hidden(one)
    told = ", ".join(f"{1000 * seconds:.0f}" for _, seconds in sorted(findings.times().items()))
    clocks = ", ".join(f"{offset:+.2f}" for offset in offsets)
    print(f"round {number}: clocks {clocks} s; {len(findings.record)} answers ({len(findings.record) / findings.record.seconds:.0f}/s), "
          f"{findings.counts['before']} before, {findings.counts['unknown']} unknown, {findings.counts['after']} after; told after {told} ms; "
          f"{'announced' if one.announced else 'silent'}, {one.hidden}; {'; '.join([*one.notes, ''])}{time.monotonic() - began:.0f} s", flush=True)
    for fault in one.faults:
        print(f"FAULT in round {number}: {fault}", flush=True)
    return one.faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--rate", type=float, default=2000, help="requests a second, over all hosts")
    happens = parser.add_mutually_exclusive_group()
    happens.add_argument("--kill", action="store_true", help="kill a host, the publisher or PostgreSQL in each round")
    happens.add_argument("--set-clock", action="store_true", help="set PostgreSQL's clock near the time of each round")
    parser.add_argument("--setting", choices=clocks.KINDS, help="how --set-clock sets it in every round, in place of every way in turn")
    parser.add_argument("--store", choices=("folder", "s3"), default="folder", help="where files are stored")
    parser.add_argument("--s3-server", default="s3s-fs", help="the program s3s-fs")
    parser.add_argument("--binary", required=True)
    parser.add_argument("--plugins", help="folder of plugins, for a binary that does not carry them")
    parser.add_argument("folder", nargs="?", help="where to work; it must not exist")
    options = parser.parse_args()
    # What ends this ends what it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    work = pathlib.Path(options.folder or tempfile.mkdtemp(prefix="embargo-work-"))
    if options.folder:
        work.mkdir(parents=True)
    postgres = Postgres(can_be_set=options.set_clock)
    ground, bucket, figures, faults = None, None, Figures(), []
    clock = Clock(postgres)
    done = 0
    try:
        bucket = Bucket(options.s3_server, work) if options.store == "s3" else None
        ground = Ground(options.binary, options.plugins, work, postgres, bucket)
        ground.prepare()
        history = History(ground)
        requests = everything(ground.key, bucket and bucket.host)
        settings = [options.setting] if options.setting else clocks.KINDS
        kinds = Kinds(kills.KINDS if options.kill else settings if options.set_clock else [None])
        print(f"{len(requests)} requests at {len(ground.hosts)} hosts; work in {work}", flush=True)
        for number in range(options.rounds):
            faults += play(ground, clock, history, figures, requests, number, options, kinds)
            done += 1
    except KeyboardInterrupt:
        print("stopped", flush=True)
    except Exception as failure:  # the figures of the rounds before are told all the same
        traceback.print_exc(file=sys.stdout)
        faults.append(f"round {done} broke off: {failure}")
        print(f"FAULT {faults[-1]}", flush=True)
    finally:
        if ground:
            ground.stop()
        if bucket:
            bucket.stop()
        clock.stop()
        postgres.stop()
    lines, more = figures.lines()
    faults += more
    print(f"\n== {done} rounds, {len(faults)} faults")
    print("\n".join([*lines, *(f"FAULT {fault}" for fault in more)]), flush=True)
    if not options.folder and not faults:
        shutil.rmtree(work)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
