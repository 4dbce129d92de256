"""Reads datasets of a statistics service into typed tables.

The key comes from SERVICE_API_KEY. What DATASETS says of each dataset under "attribution" must be passed
on with the data, word for word.
"""

import io
import os
import time

import httpx
import pyarrow as pa
import pyarrow.parquet as pq

BASE_URL = os.environ.get("SERVICE_BASE_URL", "http://localhost:8080")

# Credits, rows of a request, and the columns with their types.
DATASETS = {}

# Tries of a request, and the longest wait between them in seconds; whoever is told to wait longer has
# used up the month.
TRIES = 5
PATIENCE = 120


def read(name):
    """All rows of a dataset, of one snapshot."""
    dataset = DATASETS[name]
    schema = pa.schema(dataset["columns"])
    query = {"format": "parquet", "limit": dataset["rows"]}
    pages = []
    with httpx.Client(base_url=BASE_URL, headers={"X-API-Key": os.environ["SERVICE_API_KEY"]}, timeout=300) as client:
        while True:
            response = ask(client, f"/v1/datasets/{name}/data", query)
            pages.append(pq.read_table(io.BytesIO(response.content)).select(schema.names).cast(schema))
            cursor = response.headers.get("X-Next-Page")
            if not cursor:
                break
            query["cursor"] = cursor
    table = pa.concat_tables(pages)
    return table


def ask(client, address, query):
    """A successful response. Waits where the service says for how long."""
    for attempt in range(1, TRIES + 1):
        response = client.get(address, params=query)
        if response.is_success:
            return response
        wait = int(response.headers.get("Retry-After", 2**attempt))
        if response.status_code not in (429, 500, 502, 503, 504) or attempt == TRIES or wait > PATIENCE:
            raise RuntimeError(f"{response.url}: {response.status_code} {response.text}")
        time.sleep(wait)


if __name__ == "__main__":
    for name, dataset in DATASETS.items():
        print(dataset["title"])
        print(read(name).head())
        print(dataset["attribution"])
