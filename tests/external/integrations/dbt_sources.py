"""dbt: the generated project is built with dbt on the tables that the dlt pipeline has loaded."""

import json
import os
import shutil

import quoting
import revisions
import service
import unusual
from tally import proof

NAMES = ["us_unemployment_by_industry", "us_macro_quarterly", "us_wildlife_strikes", "london_boroughs", revisions.NAME, quoting.NAME, unusual.NAME]
PROFILES = """
statistics:
  target: dev
  outputs:
    dev: {type: duckdb, path: "{{ env_var('YEARBOOK_DUCKDB') }}", schema: analysis}
"""
READ = """
import duckdb, json, sys
found = duckdb.connect(sys.argv[1], read_only=True).execute(f"select * from analysis.stg_{sys.argv[2]}")
columns = [column[0] for column in found.description]
print(json.dumps([dict(zip(columns, row)) for row in found.fetchall()], default=str))
"""
SPOIL = """
import duckdb, sys
database = duckdb.connect(sys.argv[1])
database.execute("insert into statistics.revised select * from statistics.revised limit 1")
database.execute("insert into statistics.us_macro_quarterly select * from statistics.us_macro_quarterly limit 1")
"""


@proof
def check(tally, unlimited, python, loaded, folder):
    """`loaded` is the database that dlt has filled."""
    options = {"dbt.loaded_at": "_dlt_load_id"}
    if tally.check("dbt: the project unpacks", lambda: unlimited.unpack("dbt", NAMES, folder, **options) or True) is None:
        return
    (folder / "profiles.yml").write_text(PROFILES)
    database = folder / "copy.duckdb"
    shutil.copy(loaded, database)
    said = tally.check("dbt: models build and tests pass", lambda: run(python, folder, database, "build"))
    if said is None:
        return
    tally.check("dbt: every dataset has its model", lambda: contains(said, f"{len(NAMES)} view models"))
    for name in [revisions.NAME, unusual.NAME]:
        tally.check(f"dbt: the model of {name} has its very values", lambda: check_model(unlimited, python, database, name))
    tally.check("dbt: free text survives YAML and Jinja", lambda: check_text(folder))

    def check_spoilt():
        service.run([python, "-c", SPOIL, database])
        try:
            run(python, folder, database, "test")
        except AssertionError as error:
            contains(str(error), "FAIL 1 revised_key_is_unique")
            contains(str(error), "FAIL 1 source_unique_statistics_us_macro_quarterly_date")
            return
        raise AssertionError("nothing was noticed")

    tally.check("dbt: repeated keys are noticed", check_spoilt)


def run(python, folder, database, command):
    environment = dict(os.environ, DBT_PROFILES_DIR=str(folder), YEARBOOK_DUCKDB=str(database), DO_NOT_TRACK="1")
    return service.run([python.with_name("dbt"), "--no-use-colors", command], cwd=folder, env=environment)


def check_model(server, python, database, name):
    found = json.loads(service.run([python, "-c", READ, database, name]))
    service.same_rows(server.rows(name), found, server.dataset(name)["primary_key"])
    return True


def check_text(folder):
    sources = json.loads((folder / "target" / "manifest.json").read_text())["sources"].values()
    source = next(found for found in sources if found["name"] == quoting.NAME)
    meta = source["config"]["meta"]
    assert (source["description"], meta["title"], meta["attribution"]) == (quoting.HARD, quoting.HARD, quoting.HARD), source
    found = [column["description"] for column in source["columns"].values()]
    assert found == quoting.columns(), found


def contains(text, part):
    assert part in text, f"no {part} in:\n{text[-6000:]}"
