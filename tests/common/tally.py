"""Counts checks for the scripts that `cargo xtask test` runs: a line for each and, last, the line that it adds up."""

import os
import sys
import traceback

# It led here; programs that a script runs have modules of their own.
os.environ.pop("PYTHONPATH", None)


class Tally:
    """Checks that passed and failed."""

    def __init__(self, name):
        self.name = name
        self.passed = self.failed = 0

    def check(self, what, run):
        """Runs one check; an exception is its failure. Returns what it returned."""
        try:
            found = run()
        except Exception as error:  # every kind of failure counts, and the next check still runs
            self.failed += 1
            print(f"FAILED {what}: {error}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc(file=sys.stdout)
            return None
        self.passed += 1
        print(f"ok     {what}", flush=True)
        return found

    def group(self, what, run):
        """Runs a group of checks; only an exception between them counts, as a failure."""
        if self.check(what, lambda: run() or True):
            self.passed -= 1

    def end(self):
        """Prints the sum; the status to exit with."""
        print(f"{self.name}: {self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed else 0
