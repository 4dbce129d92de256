"""Loads datasets of a statistics service into Fivetran.

A dataset is loaded anew when it has a new snapshot, since statistics get revised, and skipped
otherwise: asking for the snapshot is a HEAD request, which costs nothing. A sync that was stopped
goes on at the page where it stopped.
"""

import time

import requests
from fivetran_connector_sdk import Connector
from fivetran_connector_sdk import Logging as log
from fivetran_connector_sdk import Operations as op

# Rows of a request, and what each table is made of.
DATASETS = {}

# Tries of a request, and the longest wait between them in seconds; whoever is told to wait longer has
# used up the month.
TRIES = 5
PATIENCE = 120


def schema(configuration):
    """The tables, typed."""
    return [
        {"table": name, "primary_key": dataset["primary_key"], "columns": dataset["columns"]}
        for name, dataset in DATASETS.items()
    ]


def update(configuration, state):
    """Loads what has changed. `state` has, for each dataset, the snapshot that was loaded, or the one
    that is being loaded with the cursor of the next page."""
    session = requests.Session()
    session.headers["X-API-Key"] = configuration["api_key"]
    base = configuration["base_url"].rstrip("/")
    for name, dataset in DATASETS.items():
        address = f"{base}/v1/datasets/{name}/data"
        load(session, address, name, dataset, state)


def load(session, address, name, dataset, state):
    """Loads one dataset unless it is loaded already."""
    done = state.get(name, {})
    current = ask(session, "HEAD", address, {}).headers["X-Service-Snapshot-Id"]
    if done.get("snapshot") == current and not done.get("cursor"):
        log.info(f"{name}: snapshot {current} is loaded already")
        return
    # A cursor keeps reading the snapshot that it was made for. Newer rows come with the next sync.
    cursor = done.get("cursor")
    snapshot = done["snapshot"] if cursor else current
    if not cursor:
        # Rows that are not in the new snapshot are marked as deleted; the others come back below.
        op.truncate(name)
    while True:
        query = {"format": "json", "limit": dataset["rows"]}
        query |= {"cursor": cursor} if cursor else {"snapshot": snapshot}
        response = ask(session, "GET", address, query)
        if response.status_code == 410:
            log.warning(f"{name}: snapshot {snapshot} is kept no longer; loading the current one")
            state.pop(name, None)
            return load(session, address, name, dataset, state)
        for row in response.json():
            op.upsert(name, row)
        cursor = response.headers.get("X-Next-Page")
        state[name] = {"snapshot": snapshot, "cursor": cursor} if cursor else {"snapshot": snapshot}
        op.checkpoint(state)
        if not cursor:
            log.info(f"{name}: snapshot {snapshot} is loaded")
            return


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
        log.warning(f"{address}: {response.status_code}, waiting {wait} s")
        time.sleep(wait)


connector = Connector(update=update, schema=schema)

if __name__ == "__main__":
    connector.debug()
