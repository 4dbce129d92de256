"""Writers of SDMX in Python, over observations that Yearbook sends.

    sdmx_clients.py WHO BASE DATASET ROWS RUNS

WHO is `sdmx1` or `pysdmx`. Reads the message into the library's own objects and writes it again as SDMX-ML 2.1, RUNS times.
Prints the median of the seconds of writing, as JSON. Run by `cargo xtask bench statistics`. The key comes in YEARBOOK_KEY.
"""

import io
import json
import logging
import os
import statistics
import sys
import time
import urllib.request


def get(address):
    request = urllib.request.Request(address, headers={"X-API-Key": os.environ["YEARBOOK_KEY"]})
    with urllib.request.urlopen(request) as answer:
        return answer.read()


def by_sdmx1(message, base, dataset):
    import sdmx

    logging.getLogger("sdmx").setLevel(logging.ERROR)
    read = sdmx.read_sdmx(io.BytesIO(message))
    count = sum(len(part.obs) for part in read.data)
    return count, lambda: sdmx.to_xml(read)


def by_pysdmx(message, base, dataset):
    from pysdmx.io import get_datasets, write_sdmx
    from pysdmx.io.format import Format

    structure = get(f"{base}/api/sdmx/2.1/dataflow/all/{dataset.upper()}?references=all")
    read = get_datasets(message.decode(), structure.decode())
    count = sum(len(part.data) for part in read)
    return count, lambda: write_sdmx(read, Format.DATA_SDMX_ML_2_1_STR)


def main():
    who, base, dataset, rows, runs = sys.argv[1:]
    message = get(f"{base}/v1/datasets/{dataset}/data?limit={rows}&geometry=false&format=sdmx-ml&sdmx-ml.layout=series")
    count, write = {"sdmx1": by_sdmx1, "pysdmx": by_pysdmx}[who](message, base, dataset)
    # A row has an observation of each of its measures.
    assert count and count % int(rows) == 0, f"{who} read {count} observations of {rows} rows"
    seconds = []
    for _ in range(int(runs)):
        begun = time.perf_counter()
        written = write()
        seconds.append(time.perf_counter() - begun)
        assert len(written) > len(message) / 4, f"{who} wrote {len(written)} bytes"
    print(json.dumps({"seconds": statistics.median(seconds)}))


if __name__ == "__main__":
    main()
