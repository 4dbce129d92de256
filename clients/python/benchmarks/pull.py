"""Times `get` against `pyarrow.parquet.read_table` over the same bytes plus their download, and measures the memory of
`iter_batches`. Needs a service (SERVICE_BASE_URL, SERVICE_API_KEY of a plan with bulk) and two large datasets.

    python benchmarks/pull.py get long_1000000
    python benchmarks/pull.py memory long_10000000
"""

import argparse
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import yearbook_client as yb

ROUNDS = 5


def seconds(run):
    """Time of one run, in seconds."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def by_hand(name):
    """The bulk file by the standard library, and read by pyarrow."""
    import pyarrow.parquet

    base, key = os.environ["SERVICE_BASE_URL"], os.environ["SERVICE_API_KEY"]
    namespace = yb.Client(cache="").get(name, limit=1, to="rows").credit.namespace
    request = urllib.request.Request(f"{base}/v1/bulk/{namespace}/{name}", headers={"X-API-Key": key})
    return lambda: pyarrow.parquet.read_table(io.BytesIO(urllib.request.urlopen(request).read()))


def time_get(name):
    """Prints medians of runs that take turns."""
    client = yb.Client(cache="", progress=False)
    runs = {"read_table": by_hand(name)} | {to: lambda to=to: client.get(name, to=to) for to in ("arrow", "polars")}
    runs["pandas"] = lambda: client.get(name, to="pandas", dtype_backend="pyarrow")
    found = {what: [] for what in runs}
    for _ in range(ROUNDS):
        for what, run in runs.items():
            found[what].append(seconds(run))
    base = statistics.median(found["read_table"])
    for what, times in found.items():
        median = statistics.median(times)
        print(f"{what:10} {median:6.2f} s  {median / base:5.2f} x")


def time_download(name):
    """Prints the speed of a bulk download beside curl's."""
    with tempfile.TemporaryDirectory() as folder:
        client = yb.Client(progress=False)
        namespace = yb.Client(cache="").get(name, limit=1, to="rows").credit.namespace
        address = f"{os.environ['SERVICE_BASE_URL']}/v1/bulk/{namespace}/{name}"
        curl = ["curl", "-sS", "-o", f"{folder}/curl", "-H", f"X-API-Key: {os.environ['SERVICE_API_KEY']}", address]
        ours, theirs = [], []
        for number in range(ROUNDS):
            theirs.append(seconds(lambda: subprocess.run(curl, check=True)))
            ours.append(seconds(lambda n=number: client.download(name, f"{folder}/{n}.parquet")))
        size = os.path.getsize(f"{folder}/curl")
        print(f"curl {size / 1e6 / statistics.median(theirs):.0f} MB/s, download {size / 1e6 / statistics.median(ours):.0f} MB/s")


def memory(name):
    """Prints the peak of this process while it takes every row in batches, by each way."""
    for to, limit in (("rows", None), ("rows", 10**9), ("arrow", None)):
        program = (
            "import resource, yearbook_client as yb\n"
            f"rows = sum(len(b) for b in yb.Client(cache='', progress=False).iter_batches({name!r}, to={to!r}, limit={limit}))\n"
            "print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"
        )
        began = time.perf_counter()
        rows, peak = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
        way = "bulk" if limit is None else "pages"
        print(f"{to:6} by {way:5} {rows} rows, {peak} MiB at most, {time.perf_counter() - began:.0f} s")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("what", choices=("get", "download", "memory"))
    arguments.add_argument("name", help="a dataset")
    given = arguments.parse_args()
    {"get": time_get, "download": time_download, "memory": memory}[given.what](given.name)


if __name__ == "__main__":
    main()
