"""dlt: the generated pipeline is run with dlt and DuckDB, again, and after new versions."""

import json
import os

import quoting
import revisions
import service
import unusual
from tally import proof

# With a second version to come.
CHANGED = "synthetic_nz_retail_quarterly"
# In pages; wide; without a primary key; spatial; with rows that change and go; with numbers that are not finite.
LONG, WIDE, KEYLESS = "us_unemployment_by_industry", "us_macro_quarterly", "us_wildlife_strikes"
NAMES = [LONG, WIDE, CHANGED, KEYLESS, "london_boroughs", revisions.NAME, quoting.NAME, unusual.NAME]
# Columns that dlt adds.
OWN = {"_dlt_id", "_dlt_load_id", "_deleted", "_change_number"}
TYPES = {"string": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE"}
READ = """
import duckdb, json, sys
found = duckdb.connect("yearbook.duckdb", read_only=True).execute(f"select * from statistics.{sys.argv[1]}")
columns = [(column[0], str(column[1])) for column in found.description]
print(json.dumps([columns, found.fetchall()], default=str))
"""
# A service that answers every request with 410.
GONE = """
import yearbook_pipeline

class Gone:
    ok, status_code, headers = False, 410, {}
    def request(self, *given, **named):
        return self
    def json(self):
        return {"detail": "gone"}

try:
    print(list(yearbook_pipeline.whole(Gone(), "unusual", {"rows": 1}, "0")))
except RuntimeError as error:
    print(error)
"""


@proof
def check_first(tally, starter, unlimited, python, folder):
    """First and second run. Whether there is something to go on with."""
    if tally.check("dlt: the project unpacks", lambda: starter.unpack("dlt", NAMES, folder) or True) is None:
        return False
    if tally.check("dlt: the pipeline runs", lambda: run(python, folder, starter)) is None:
        return False
    for name in NAMES:
        tally.check(f"dlt: {name} arrives whole and typed", lambda: check_table(python, folder, unlimited, name))
    said = tally.check("dlt: the pipeline runs again", lambda: run(python, folder, starter))
    tally.check("dlt: unchanged datasets are not loaded again", lambda: contains(said, "0 load package(s)"))
    tally.check("dlt: free text survives", lambda: check_text(folder))
    gone = "unusual: the snapshot went while it was read; run again"
    tally.check("dlt: a snapshot that is gone is no row", lambda: contains(service.run([python, "-c", GONE], cwd=folder), gone))
    return True


@proof
def check_second(tally, starter, unlimited, python, folder):
    """A run after two datasets changed."""
    before = used(starter)
    if tally.check("dlt: the pipeline runs after new versions", lambda: run(python, folder, starter)) is None:
        return
    tally.check("dlt: only what changed is asked for", lambda: equal(used(starter) - before, 2))
    for name in [CHANGED, revisions.NAME, LONG]:
        tally.check(f"dlt: {name} is as it is now, deleted rows gone", lambda: check_table(python, folder, unlimited, name))


def run(python, folder, server):
    environment = dict(os.environ, SOURCES__YEARBOOK__API_KEY=server.key, DLT_DATA_DIR=str(folder / "state"))
    return service.run([python, "yearbook_pipeline.py"], cwd=folder, env=environment)


def check_table(python, folder, server, name):
    columns, rows = json.loads(service.run([python, "-c", READ, name], cwd=folder))
    types = {column: kind for column, kind in columns if column not in OWN}
    described = server.dataset(name)
    equal(types, {column["name"]: TYPES[column["type"]] for column in described["columns"]})
    found = [{column: value for (column, _), value in zip(columns, row) if column not in OWN} for row in rows]
    service.same_rows(server.rows(name), found, described["primary_key"] or list(types))


def check_text(folder):
    dataset = json.loads((folder / "datasets.json").read_text())[quoting.NAME]
    equal((dataset["title"], dataset["attribution"]), (quoting.HARD, quoting.HARD))
    equal([column["description"] for column in dataset["columns"].values()], quoting.columns())


def used(server):
    """Requests of the month so far."""
    with server.open("/v1/me") as response:
        return json.load(response)["requests"]["used"]


def contains(text, part):
    assert part in text, f"no {part} in:\n{text[-3000:]}"


def equal(found, expected):
    assert found == expected, f"{found} instead of {expected}"
