"""Gives the peers the rows that Yearbook serves: reads the tables of a benchmark from the service, as
Arrow, and writes it as Parquet (for ROAPI and for DuckDB) and into one SQLite file (for Datasette).

Run by `cargo xtask bench`. The key comes in YEARBOOK_KEY.
"""

import argparse
import json
import os
import pathlib
import sqlite3
import urllib.request

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
from tables import KEYS

SQLITE_TYPES = {pa.utf8(): "TEXT", pa.float64(): "REAL", pa.int64(): "INTEGER", pa.bool_(): "INTEGER"}


def ask(base, path):
    """The open response of a request with the key."""
    return urllib.request.urlopen(urllib.request.Request(base + path, headers={"X-API-Key": os.environ["YEARBOOK_KEY"]}))


def plain(table):
    """The same rows without dictionaries and without the credit in the metadata: nothing that a peer could stumble over."""
    fields = [pa.field(field.name, pa.utf8() if pa.types.is_dictionary(field.type) else field.type) for field in table.schema]
    return table.cast(pa.schema(fields))


def fetched(base, name):
    """One table of the service."""
    if name == "datasets":
        return pa.Table.from_pylist(json.load(ask(base, "/v1/datasets")))
    # Either bound lifts the guard against unbounded pulls.
    bound = "start=0001-01-01&limit=0" if "date" in KEYS[name] else "limit=1000000000"
    with ask(base, f"/v1/datasets/{name}/data?{bound}&format=arrow") as response:
        return plain(pyarrow.ipc.open_stream(response).read_all())


def into_sqlite(database, name, table):
    """One table with its primary key, filled in the order of its rows."""
    columns = ", ".join(f"{field.name} {SQLITE_TYPES[field.type]}" for field in table.schema)
    database.execute(f"CREATE TABLE {name} ({columns}, PRIMARY KEY ({', '.join(KEYS[name])}))")
    marks = ", ".join("?" * table.num_columns)
    for batch in table.to_batches(max_chunksize=50_000):
        database.executemany(f"INSERT INTO {name} VALUES ({marks})", zip(*(column.to_pylist() for column in batch.columns)))
    if "series_code" in KEYS[name]:
        # Whoever asks for one series would make it.
        database.execute(f"CREATE INDEX {name}_series ON {name} (series_code, date)")
    database.commit()


def main():
    """Writes all tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("names", nargs="+", choices=KEYS)
    arguments = parser.parse_args()
    database = sqlite3.connect(arguments.out / "tables.db")
    for name in arguments.names:
        table = fetched(arguments.base, name)
        pyarrow.parquet.write_table(table, arguments.out / f"{name}.parquet")
        into_sqlite(database, name, table)
        print(f"{name}: {table.num_rows} rows", flush=True)
    database.execute("ANALYZE")
    database.close()


if __name__ == "__main__":
    main()
