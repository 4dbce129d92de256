"""`/changes` applied by readers: the rows of the first version, with the changes since, are the rows of the newest."""

import json

import duckdb
import pandas
import pyarrow as pa
from pyarrow import ipc

import compare
import text
from tally import proof

# Few enough rows a page that watermarks within one version's changes are followed, too.
PAGE = 11
TAKEN_AWAY, ADDED = ["delete", "update_preimage"], ["insert", "update_postimage"]
ABOUT_A_CHANGE = ["_change_type", "_snapshot_id", "_committed_at"]


def check(tally, server, package, expected, folder):
    """DuckDB on Parquet; pandas on Arrow where there is a key."""
    path = folder / "changes"
    tally.check(f"{package.name} changes duckdb", lambda: equal(package, expected, in_duckdb(server, package, path)))
    if package.key:
        tally.check(f"{package.name} changes pandas", lambda: equal(package, expected, in_pandas(server, package, path)))


def equal(package, expected, found):
    """Changes say nothing about the order of equal keys, and without a key nothing about any order."""
    names = expected.column_names
    keys = [package.date, *package.key] if package.key else names
    order = [(name, "ascending") for name in keys]
    compare.equal(expected.sort_by(order), found.select(names).sort_by(order))


def first_version(server, package):
    with server.open(f"/v1/datasets/{package.name}") as response:
        snapshots = json.load(response)["snapshots"]
    # Oldest first: else nothing would change.
    compare.same("the number of versions", 2, len(snapshots))
    return snapshots[0]["id"]


def pages(server, package, snapshot, format_name, path):
    """Downloads one page of changes after the other and yields its path when it is there."""
    since, more = snapshot, True
    while more:
        with server.open(f"/v1/datasets/{package.name}/changes", since=since, limit=PAGE, format=format_name) as response:
            path.write_bytes(response.read())
            since, more = response.headers["X-Service-Watermark"], response.headers["X-Service-Has-More"] == "true"
        yield path
    path.unlink()


@proof
def in_duckdb(server, package, path):
    connection = duckdb.connect()
    snapshot = first_version(server, package)
    server.download(package, "parquet", path, snapshot=snapshot)
    connection.execute(f"CREATE TABLE copy AS FROM read_parquet('{path}')")
    for name, kind in text.types(package, text.SQL_TYPES).items():
        # The newest version may have columns that the first did not: they are null there.
        connection.execute(f"ALTER TABLE copy ADD COLUMN IF NOT EXISTS {name} {kind}")
    names = ", ".join(package.fields)
    same_key = " AND ".join(f"copy.{name} = gone.{name}" for name in package.key)
    # All that goes before all that comes: to SQL a row with -0.0 equals the same row with 0.0.
    connection.execute("CREATE TABLE changes AS SELECT *, '' AS _change_type FROM copy LIMIT 0")
    for page in pages(server, package, snapshot, "parquet", path):
        connection.execute(f"INSERT INTO changes BY NAME SELECT {names}, _change_type FROM read_parquet('{page}')")
    gone = f"SELECT {names} FROM changes WHERE _change_type IN ('{TAKEN_AWAY[0]}', '{TAKEN_AWAY[1]}')"
    if package.key:
        connection.execute(f"DELETE FROM copy USING ({gone}) AS gone WHERE {same_key}")
    else:
        # Whole rows, each as often as it is named.
        connection.execute(f"CREATE OR REPLACE TABLE copy AS SELECT {names} FROM copy EXCEPT ALL {gone}")
    connection.execute(f"INSERT INTO copy BY NAME SELECT {names} FROM changes WHERE _change_type IN ('{ADDED[0]}', '{ADDED[1]}')")
    return text.relation(connection.sql(f"SELECT {names} FROM copy"))


@proof
def in_pandas(server, package, path):
    def read():
        with pa.OSFile(str(path)) as file:
            return ipc.open_stream(file).read_pandas(types_mapper=pandas.ArrowDtype).set_index(package.key)

    snapshot = first_version(server, package)
    server.download(package, "arrow", path, snapshot=snapshot)
    copy = read()
    for _ in pages(server, package, snapshot, "arrow", path):
        page = read()
        copy = copy.drop(page.index[page["_change_type"].isin(TAKEN_AWAY)])
        added = page[page["_change_type"].isin(ADDED)]
        copy = pandas.concat([copy, added.drop(columns=ABOUT_A_CHANGE)])
    return text.frame(copy.reset_index())
