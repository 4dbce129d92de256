"""A table as a pandas data frame, again and again: by the client, or as people read it without one. Run by
`cargo xtask bench clients`; prints one JSON object.
"""

import io
import json
import os
import statistics
import sys
import time
import urllib.request

import pandas

import yearbook_client as yb

BASE, KEY = os.environ["SERVICE_BASE_URL"], os.environ["SERVICE_API_KEY"]

# Rows of a page, where rows come page by page.
PAGE = 50_000


def ask(path):
    """The response to a request with the key."""
    return urllib.request.urlopen(urllib.request.Request(BASE + path, headers={"X-API-Key": KEY}))


def by_client(name, _):
    """The client, without its cache."""
    return yb.Client(cache="", progress=False).get(name, to="pandas", dtype_backend="pyarrow")


def by_read_csv(name, rows):
    """All rows as CSV."""
    return pandas.read_csv(io.BytesIO(ask(f"/v1/datasets/{name}/data?format=csv&limit={rows}").read()))


def by_pages(name, _):
    """Records of JSON, page after page, as clients of most services collect them."""
    found, path = [], f"/v1/datasets/{name}/data?limit={PAGE}"
    while path:
        with ask(path) as response:
            found += json.load(response)
            cursor = response.headers.get("X-Next-Page")
        path = cursor and f"/v1/datasets/{name}/data?limit={PAGE}&cursor={cursor}"
    return pandas.DataFrame(found)


WAYS = {"Yearbook": by_client, "pandas.read_csv": by_read_csv, "pages of JSON": by_pages}


def main():
    """Reads one table in one way."""
    way, name, rows, runs = sys.argv[1:]
    seconds = []
    for run in range(int(runs) + 1):
        begun = time.perf_counter()
        frame = WAYS[way](name, rows)
        if run:
            seconds.append(time.perf_counter() - begun)
        assert len(frame) == int(rows), len(frame)
    print(json.dumps({"seconds": statistics.median(seconds)}))


if __name__ == "__main__":
    main()
