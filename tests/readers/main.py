"""Downloads published datasets in every format and compares them, value by value, with the tables
they were published from, through readers that share no code with ours.

Run by `cargo xtask test`. The key comes in YEARBOOK_KEY. Prints one line a check and, last,
`readers: N passed, N failed`.
"""

import argparse
import os
import pathlib
import sys
import traceback

import bulk
import compare
import memory
import readback
import service
import source

# What a response may add to the server's memory: the promise for a table of a million rows.
ALLOWED_GROWTH = 128 * 1024 * 1024


class Tally:
    """Checks that passed and failed."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, run):
        """Runs one check; an exception is its failure. Returns what it returned."""
        try:
            found = run()
        except Exception as error:  # every kind of failure counts, and the next check still runs
            self.failed += 1
            print(f"FAILED {name}: {error}", flush=True)
            if not isinstance(error, compare.Difference):
                traceback.print_exc(file=sys.stdout)
            return None
        self.passed += 1
        print(f"ok     {name}", flush=True)
        return found

    def group(self, name, run):
        """Runs a group of checks; only an exception between them counts, as a failure."""
        if self.check(name, lambda: run() or True):
            self.passed -= 1


def check_dataset(tally, server, package, downloads):
    """Every format of one dataset, through every reader of that format."""
    expected = source.table(package)
    for format_name, readers in readback.READERS.items():
        path = downloads / f"{package.name}.{format_name}"
        headers = tally.check(f"{package.name} {format_name} download", lambda: server.download(package, format_name, path))
        if headers is None:
            continue
        tally.check(f"{package.name} {format_name} credit", lambda: readback.check_credit(package, format_name, path, headers))
        for reader, read in readers.items():
            tally.check(f"{package.name} {format_name} {reader}", lambda: compare.equal(expected, read(path, package)))
        path.unlink()
    bulk.check(tally, server, package, expected)


def check_large(tally, server, process, package, downloads):
    """The large table: as every other, and the server's memory stays bounded while it streams."""
    for format_name in readback.READERS:
        server.download(package, format_name, downloads / "warm_up", limit=100)
    idle = memory.resident(process)
    print(f"       idle: {idle / 2**20:.0f} MiB resident", flush=True)
    expected = source.table(package)
    for format_name, readers in readback.READERS.items():
        path = downloads / f"{package.name}.{format_name}"

        def bounded():
            memory.forget_peak(process)
            server.download(package, format_name, path)
            growth = memory.peak(process) - idle
            print(f"       {format_name}: {path.stat().st_size / 1e6:.1f} MB sent, {growth / 2**20:.0f} MiB above idle", flush=True)
            if growth >= ALLOWED_GROWTH:
                raise compare.Difference(f"memory grew by {growth / 2**20:.0f} MiB while streaming")

        tally.check(f"{package.name} {format_name} memory", bounded)
        for reader, read in readers.items():
            # A million rows as Python objects take minutes; the other readers suffice.
            if reader != "python":
                tally.check(f"{package.name} {format_name} {reader}", lambda: compare.equal(expected, read(path, package)))
        path.unlink(missing_ok=True)
    bulk.check(tally, server, package, expected)

    def slow_client():
        memory.forget_peak(process)
        server.read_slowly(package, "json", seconds=3)
        growth = memory.peak(process) - idle
        print(f"       a client that stalls: {growth / 2**20:.0f} MiB above idle", flush=True)
        if growth >= ALLOWED_GROWTH:
            raise compare.Difference(f"memory grew by {growth / 2**20:.0f} MiB while a client stalled")
        # It has gone away in the middle; everybody else is still answered.
        server.names()

    tally.check(f"{package.name} stalled client", slow_client)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--base", required=True, help="address of the server")
    arguments.add_argument("--process", required=True, type=int, help="the server's process id")
    arguments.add_argument("--large", required=True, type=pathlib.Path, help="descriptor of the large table")
    arguments.add_argument("--downloads", required=True, type=pathlib.Path, help="folder for files")
    arguments.add_argument("descriptors", nargs="+", type=pathlib.Path)
    given = arguments.parse_args()
    given.downloads.mkdir(parents=True, exist_ok=True)

    server = service.Server(given.base, os.environ["YEARBOOK_KEY"])
    tally = Tally()
    packages = [source.Package(path) for path in given.descriptors]
    large = source.Package(given.large)
    tally.check("every published dataset is listed", lambda: compare.same_names(packages, server.names()))
    # First, while the server is as fresh as it gets.
    tally.group("the large table", lambda: check_large(tally, server, given.process, large, given.downloads))
    for package in packages:
        if package.name != large.name:
            tally.group(f"{package.name}", lambda: check_dataset(tally, server, package, given.downloads))
    print(f"readers: {tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
