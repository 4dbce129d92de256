"""Loads datasets of a statistics service with dlt.

The first run reads each dataset whole. Later runs ask which snapshot there is, which costs nothing, and
merge what has changed since the one that was loaded.
"""

import json
import pathlib
import time

import dlt
import requests

DATASETS = json.loads(pathlib.Path(__file__).with_name("datasets.json").read_text(encoding="utf-8"))

# Tries of a request, and the longest wait between them in seconds; whoever is told to wait longer has
# used up the month.
TRIES = 5
PATIENCE = 120

# What dlt needs to merge changes: whether a row is gone, and which of a row's changes is the last.
MERGING = {
    "_deleted": {"data_type": "bool", "hard_delete": True},
    "_change_number": {"data_type": "bigint", "dedup_sort": "desc"},
}


@dlt.source(name="yearbook", section="yearbook", max_table_nesting=0)
def yearbook(base_url: str = dlt.config.value, api_key: str = dlt.secrets.value):
    """A resource for each dataset."""
    session = requests.Session()
    session.headers["X-API-Key"] = api_key
    for name, dataset in DATASETS.items():
        address = f"{base_url.rstrip('/')}/v1/datasets/{name}"
        key = dataset["primary_key"]
        yield dlt.resource(
            read(session, address, dataset),
            name=name,
            primary_key=key or None,
            columns=dataset["columns"],
            write_disposition="merge" if key else "append",
        )


def read(session, address, dataset):
    """Rows of a dataset that are not loaded yet. The state has the snapshot that is."""
    state = dlt.current.resource_state()
    current = ask(session, "HEAD", f"{address}/data", {}).headers["X-Service-Snapshot-Id"]
    loaded = state.get("snapshot")
    if loaded == current:
        return
    if loaded and dataset["primary_key"]:
        first = ask(session, "GET", f"{address}/changes", {"since": loaded, "limit": dataset["rows"]})
        # 410: what was loaded is so old that its changes are kept no longer.
        if first.status_code != 410:
            yield from changes(session, address, dataset, first, state)
            return
    yield from whole(session, address, dataset, current)
    state["snapshot"] = current


def whole(session, address, dataset, snapshot):
    """All rows of a snapshot, in the place of what was loaded before."""
    query = {"format": "json", "limit": dataset["rows"], "snapshot": snapshot}
    hints = dlt.mark.make_hints(write_disposition="replace")
    while True:
        response = ask(session, "GET", f"{address}/data", query)
        if response.status_code == 410:
            raise RuntimeError(f"{address}: the snapshot went while it was read; run again")
        yield dlt.mark.with_hints(response.json(), hints)
        cursor = response.headers.get("X-Next-Page")
        if not cursor:
            return
        query = {"format": "json", "limit": dataset["rows"], "cursor": cursor}


def changes(session, address, dataset, response, state):
    """Rows that came, changed or went, as dlt merges them."""
    number = 0
    hints = dlt.mark.make_hints(write_disposition="merge", columns=MERGING)
    while True:
        rows = []
        for change in response.json():
            kind = change["_change_type"]
            if kind == "update_preimage":
                continue
            number += 1
            row = {name: value for name, value in change.items() if name in dataset["columns"]}
            rows.append(row | {"_deleted": kind == "delete", "_change_number": number})
        yield dlt.mark.with_hints(rows, hints)
        state["snapshot"] = response.headers["X-Service-Watermark"]
        if response.headers.get("X-Service-Has-More") != "true":
            return
        query = {"since": state["snapshot"], "limit": dataset["rows"]}
        response = ask(session, "GET", f"{address}/changes", query)
        if response.status_code == 410:
            raise RuntimeError(f"{address}: the changes went while they were read; run again")


def ask(session, method, address, query):
    """A response that is a success or 410. Waits where the service says for how long."""
    for attempt in range(1, TRIES + 1):
        response = session.request(method, address, params=query, timeout=300)
        if response.ok or response.status_code == 410:
            return response
        wait = int(response.headers.get("Retry-After", 2**attempt))
        if response.status_code not in (429, 500, 502, 503, 504) or attempt == TRIES or wait > PATIENCE:
            # HEAD has no body; the code names the reason too.
            reason = response.text or response.headers.get("X-Service-Error-Code", "")
            raise RuntimeError(f"{method} {address}: {response.status_code} {reason}")
        time.sleep(wait)


if __name__ == "__main__":
    pipeline = dlt.pipeline(pipeline_name="yearbook", destination="duckdb", dataset_name="statistics")
    print(pipeline.run(yearbook()))
    for dataset in DATASETS.values():
        print(f"{dataset['title']}: {dataset['attribution']}")
