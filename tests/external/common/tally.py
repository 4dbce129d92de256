"""Counts checks for the scripts that `cargo xtask test` runs: a line for each and, last, the line that it adds up."""

import functools
import os
import pathlib
import sys
import time
import traceback

# It led here; programs that a script runs have modules of their own.
os.environ.pop("PYTHONPATH", None)


# A check that takes as long says so.
LONG_SECONDS = 5

# Proofs that ended without an exception, as `file::function`.
EXECUTED = set()


def proof(function):
    """Marks a function that docs/spec may name. A call that ends without an exception is written down, unless it was given a tally
    and checked nothing: `cargo xtask test` compares what is written down with what the rules name."""
    name = f"{pathlib.Path(function.__code__.co_filename).stem}::{function.__name__}"

    @functools.wraps(function)
    def run(*given, **named):
        tallies = [value for value in (*given, *named.values()) if isinstance(value, Tally)]
        before = [tally.passed for tally in tallies]
        found = function(*given, **named)
        if not tallies or before != [tally.passed for tally in tallies]:
            EXECUTED.add(name)
        return found

    return run


class Tally:
    """Checks that passed and failed."""

    def __init__(self, name):
        self.name = name
        self.passed = self.failed = 0

    def check(self, what, run):
        """Runs one check; an exception is its failure. Returns what it returned."""
        begun = time.monotonic()
        try:
            found = run()
        except Exception as error:  # every kind of failure counts, and the next check still runs
            self.failed += 1
            print(f"FAILED {what}: {error}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc(file=sys.stdout)
            return None
        self.passed += 1
        seconds = time.monotonic() - begun
        # The few that take long are what a shorter run begins with.
        print(f"ok     {what}" + (f" ({seconds:.0f} s)" if seconds >= LONG_SECONDS else ""), flush=True)
        return found

    def group(self, what, run):
        """Runs a group of checks; only an exception between them counts, as a failure."""
        if self.check(what, lambda: run() or True):
            self.passed -= 1

    def end(self):
        """Prints the sum; the status to exit with."""
        print(f"executed: {' '.join(sorted(EXECUTED))}", flush=True)
        print(f"{self.name}: {self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed else 0


def leave(status):
    """Ends the process, without the interpreter's own end: threads that native libraries (Arrow's, polars') still run would be torn
    down under them there, which now and then aborts a process whose checks have all passed."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
