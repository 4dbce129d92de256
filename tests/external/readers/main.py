"""Downloads published datasets in every format and compares them, value by value, with the tables
they were published from, through readers that share no code with ours.

Run by `cargo xtask test`. The key comes in YEARBOOK_KEY. Prints one line a check and, last,
`readers: N passed, N failed`.
"""

import argparse
import os
import pathlib

import bulk
import changes
import compare
import difficult
import formats
import guesses
import in_r
import memory
import metrics
import readback
import selections
import service
import simplified
import slow
import source
import transforms
from tally import Tally, leave

MIB = 1024 * 1024
# Memory that a response may add to the server's: the promise for a table of a million rows.
ALLOWED_GROWTH = 128 * MIB
# Random selections of each dataset: twenty thousand over the demo's.
SELECTIONS = 520
# Random requests for each transform of each dataset.
TRANSFORMS = 6
# Tolerances for the geometry of each dataset.
TOLERANCES = 2
# Memory that each of many slow clients may add: chunks of a file, or a sandbox with a batch of rows and chunks of its answer.
ALLOWED_A_FILE, ALLOWED_A_TABLE = 2 * MIB, 16 * MIB


def check_dataset(tally, server, package, expected, downloads, with_r):
    """Every format of one dataset, through every reader of that format."""
    for format_name, readers in readback.READERS.items():
        path = downloads / f"{package.name}.{format_name}"
        headers = tally.check(f"{package.name} {format_name} download", lambda: server.download(package, format_name, path))
        if headers is None:
            continue
        tally.check(f"{package.name} {format_name} credit", lambda: readback.check_credit(package, format_name, path, headers))
        for reader, found in readers.items():
            tally.check(f"{package.name} {format_name} {reader}", lambda: found.check(path, package, expected))
        path.unlink()
    if with_r:
        in_r.check(tally, server, package, expected, downloads)
    formats.check(tally, server, package, expected, downloads)
    bulk.check(tally, server, package, expected)
    tally.group(f"{package.name} selections", lambda: selections.selections_are_those_of_duckdb(tally, server, package, expected, SELECTIONS))
    tally.group(f"{package.name} transforms", lambda: transforms.transforms_are_those_of_pandas(tally, server, package, expected, TRANSFORMS))
    simplified.simplified_geometry_is_judged_by_shapely_contract_16(tally, server, package, expected, TOLERANCES)


def check_difficult(tally, server, package, downloads, with_r):
    """As every other dataset, but what is expected comes from no file."""
    expected = difficult.expected(package.name)
    tally.check(f"{package.name} as its file has it", lambda: compare.equal(expected, source.table(package)))
    check_dataset(tally, server, package, expected, downloads, with_r)
    if package.name == difficult.KEYED:
        guesses.check(tally, server, package, downloads, with_r)


def check_large(tally, server, process, package, downloads, with_r):
    """The large table: as every other, and the server's memory stays bounded while it streams."""
    for format_name in readback.READERS:
        server.download(package, format_name, downloads / "warm_up", limit=100)
    idle = memory.resident(process)
    print(f"       idle: {idle / MIB:.0f} MiB resident", flush=True)

    def bounded(what, run, allowed=ALLOWED_GROWTH):
        """Runs something that may cost the server a bounded amount of memory."""
        memory.forget_peak(process)
        run()
        growth = memory.peak(process) - idle
        print(f"       {what}: {growth / MIB:.0f} MiB above idle", flush=True)
        if growth >= allowed:
            raise compare.Difference(f"memory grew by {growth / MIB:.0f} MiB")

    expected = source.table(package)
    for format_name, readers in readback.READERS.items():
        path = downloads / f"{package.name}.{format_name}"
        tally.check(f"{package.name} {format_name} memory", lambda: bounded(format_name, lambda: server.download(package, format_name, path)))
        for reader, found in readers.items():
            if found.of_millions:
                tally.check(f"{package.name} {format_name} {reader}", lambda: found.check(path, package, expected))
        path.unlink(missing_ok=True)
    if with_r:
        # jsonlite would take half a minute and 1.6 GB for these; the long demo tables show what it does with many rows.
        in_r.check(tally, server, package, expected, downloads, ["csv", "csv_exact"])
    bulk.check(tally, server, package, expected)
    tally.check(f"{package.name} stalled client", lambda: bounded("a client that stalls", lambda: slow.stall_once(server, package)))
    for what, address, whole, allowed in slow.waits(server, package, ALLOWED_A_FILE, ALLOWED_A_TABLE):
        tally.check(
            f"{package.name} {slow.CLIENTS} slow clients {what}",
            lambda: bounded(what, lambda: slow.check(server, package, address, whole), slow.CLIENTS * allowed),
        )


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--base", required=True, help="address of the server")
    arguments.add_argument("--admin", required=True, help="address of its admin listener")
    arguments.add_argument("--process", required=True, type=int, help="the server's process id")
    arguments.add_argument("--large", required=True, type=pathlib.Path, help="descriptor of the large table")
    arguments.add_argument("--downloads", required=True, type=pathlib.Path, help="folder for files")
    arguments.add_argument("--without-r", action="store_true", help="R is not here")
    arguments.add_argument("descriptors", nargs="+", type=pathlib.Path)
    given = arguments.parse_args()
    given.downloads.mkdir(parents=True, exist_ok=True)

    server = service.Server(given.base, os.environ["YEARBOOK_KEY"])
    tally = Tally("readers")
    packages = [source.Package(path) for path in given.descriptors]
    large = source.Package(given.large)
    with_r = not given.without_r
    tally.check("every published dataset is listed", lambda: compare.same_names(packages, server.names()))
    # First, while the server is as fresh as it gets.
    tally.group("the large table", lambda: check_large(tally, server, given.process, large, given.downloads, with_r))
    for package in packages:
        if package.name in (difficult.KEYED, difficult.KEYLESS):
            tally.group(package.name, lambda: check_difficult(tally, server, package, given.downloads, with_r))
        elif package.name != large.name:
            tally.group(package.name, lambda: check_dataset(tally, server, package, source.table(package), given.downloads, with_r))
        if package.versions > 1:
            tally.group(f"{package.name} changes", lambda: changes.check(tally, server, package, source.table(package), given.downloads))
    metrics.check(tally, given.admin, readback.READERS)
    return tally.end()


if __name__ == "__main__":
    leave(main())
