"""Meltano: the generated project is installed and run with Meltano, tap and loader as they are on PyPI."""

import json
import os

import jsonschema
import revisions
import service
import unusual
import yaml

from tally import proof

# With a second version to come.
CHANGED = "synthetic_nz_retail_quarterly"
# Several pages at 1,000 rows each, a row key of three columns; wide; spatial without a date, several
# pages of 500. Others with old rows that are revised and with numbers that are not finite.
LONG, WIDE, SPATIAL = "us_unemployment_by_industry", "us_macro_quarterly", "us_counties_unemployment"
NAMES = [LONG, WIDE, CHANGED, SPATIAL, revisions.NAME, unusual.NAME]


@proof
def check_first(tally, starter, unlimited, program, folder, crowd):
    """Install and first run. The files that it wrote, for the second."""
    if tally.check("meltano: the project unpacks", lambda: starter.unpack("meltano", NAMES, folder) or True) is None:
        return None
    tally.check("meltano: meltano.yml is valid by Meltano's own schema", lambda: check_schema(program, folder))
    tally.check("meltano: geometry can be left out", lambda: check_geometry(starter))
    tally.check("meltano: reading on is a choice", lambda: check_incremental(starter))
    if tally.check("meltano: installs", lambda: run(program, folder, starter, "install")) is None:
        return None
    ran = tally.check("meltano: runs, a 429 meanwhile", lambda: crowd.refuse_once(run, program, folder, starter, "run", "load"))
    if ran is None:
        return None
    for name in NAMES:
        tally.check(f"meltano: {name} arrives whole", lambda: service.same_rows(unlimited.rows(name), output(folder, name), key(unlimited, name)))
    return {name: files(folder, name) for name in NAMES}


@proof
def check_second(tally, starter, unlimited, program, folder, first):
    """Second run, after rows were added to one dataset and old rows of another were revised: everything arrives."""
    if tally.check("meltano: runs again", lambda: run(program, folder, starter, "run", "load")) is None:
        return
    for name in NAMES:
        tally.check(f"meltano: {name} arrives whole again", lambda: service.same_rows(unlimited.rows(name), output(folder, name), key(unlimited, name)))
        tally.check(f"meltano: {name} is in a file of its own", lambda: true(set(first[name]) < set(files(folder, name)), "the first was written on"))
    tally.check("meltano: a revision of an old row arrives", lambda: check_revision(folder, first[revisions.NAME]))
    tally.check("meltano: so do new rows", lambda: true(len(output(folder, CHANGED)) > len(read(first[CHANGED][-1])), "nothing newer came"))
    tally.check("meltano: a project that reads on runs twice", lambda: check_reading_on(starter, unlimited, program, folder))


def check_reading_on(starter, unlimited, program, folder):
    """The project that reads on, in the place of the other, whose plugins are the same: without a state, then with one."""
    made, _ = starter.project("meltano", [LONG, WIDE], **{"meltano.incremental": "true"})
    (folder / "meltano.yml").write_text(made["meltano.yml"])
    run(program, folder, starter, "run", "load")
    run(program, folder, starter, "run", "load")
    for name in [LONG, WIDE]:
        rows, found = unlimited.rows(name), read(folder / "output" / f"{name}.jsonl")
        # `start` is inclusive, so the last date comes again.
        last = max(row["date"] for row in rows)
        service.same_rows(rows, found[: len(rows)], key(unlimited, name))
        service.same_rows([row for row in rows if row["date"] == last], found[len(rows) :], key(unlimited, name))
    return True


def check_revision(folder, first):
    def value(rows):
        return next(row["value"] for row in rows if row["date"] == "2024-01-01" and row["region"] == "NA")

    assert (value(read(first[-1])), value(output(folder, revisions.NAME))) == (1.5, 1.75)
    return True


def check_schema(program, folder):
    found = list(program.parent.parent.glob("lib/python3*/site-packages/meltano/schemas/meltano.schema.json"))
    assert found, "Meltano has no schema"
    project = yaml.safe_load((folder / "meltano.yml").read_text())
    jsonschema.Draft202012Validator(json.loads(found[0].read_text())).validate(project)
    # The check would notice.
    project["plugins"]["extractors"][0]["capabilties"] = []
    assert not jsonschema.Draft202012Validator(json.loads(found[0].read_text())).is_valid(project)


def check_geometry(server):
    files, _ = server.project("meltano", [SPATIAL], **{"meltano.geometry": "false"})
    stream = yaml.safe_load(files["meltano.yml"])["plugins"]["extractors"][0]["config"]["streams"][0]
    assert stream["params"]["geometry"] == "false", "text, not a boolean"
    assert "geometry_wkt" not in stream["schema"]["properties"]


def run(program, folder, server, *arguments):
    environment = dict(os.environ, SERVICE_API_KEY=server.key, MELTANO_SEND_ANONYMOUS_USAGE_STATS="false", NO_COLOR="1")
    # Tests may run inside an environment of their own.
    environment.pop("VIRTUAL_ENV", None)
    return service.run([program, *arguments], cwd=folder, env=environment)


def check_incremental(server):
    def stream(**options):
        made, _ = server.project("meltano", [WIDE], **options)
        return yaml.safe_load(made["meltano.yml"])["plugins"]["extractors"][0]["config"]["streams"][0]

    assert "replication_key" not in stream() and stream()["primary_keys"] == ["date"]
    assert stream(**{"meltano.incremental": "true"})["replication_key"] == "date"
    return True


def files(folder, name):
    """Return the files that the loader wrote of a dataset, one for each run, oldest first."""
    return sorted((folder / "output").glob(f"{name}-[0-9]*.jsonl"))


def output(folder, name):
    """Return the rows that the last run wrote."""
    return read(files(folder, name)[-1])


def read(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def key(server, name):
    return server.dataset(name)["primary_key"]


def true(found, otherwise):
    assert found, otherwise
