"""Meltano: the generated project is installed and run with Meltano, tap and loader as they are on PyPI."""

import json
import os

import jsonschema
import service
import yaml

from tally import proof

# With a second version to come.
CHANGED = "synthetic_nz_retail_quarterly"
# Several pages at 1,000 rows each, a row key of three columns; wide; spatial without a date, several
# pages of 500.
LONG, WIDE, SPATIAL = "us_unemployment_by_industry", "us_macro_quarterly", "us_counties_unemployment"
NAMES = [LONG, WIDE, CHANGED, SPATIAL]


@proof
def check_first(tally, starter, unlimited, program, folder):
    """Install and first run. The number of lines in each output file, for the second."""
    if tally.check("meltano: the project unpacks", lambda: starter.unpack("meltano", NAMES, folder) or True) is None:
        return None
    tally.check("meltano: meltano.yml is valid by Meltano's own schema", lambda: check_schema(program, folder))
    tally.check("meltano: geometry can be left out", lambda: check_geometry(starter))
    if tally.check("meltano: installs", lambda: run(program, folder, starter, "install")) is None:
        return None
    said = tally.check("meltano: runs", lambda: run(program, folder, starter, "run", "load"))
    if said is None:
        return None
    tally.check("meltano: a 429 is survived", lambda: contains(said, "429"))
    for name in NAMES:
        tally.check(f"meltano: {name} arrives whole", lambda: service.same_rows(unlimited.rows(name), output(folder, name), key(unlimited, name)))
    return {name: len(output(folder, name)) for name in NAMES}


@proof
def check_second(tally, starter, unlimited, program, folder, first):
    """Second run, after a new version of one dataset: only what is new is read."""
    if tally.check("meltano: runs again", lambda: run(program, folder, starter, "run", "load")) is None:
        return

    def added(name):
        return output(folder, name)[first[name] :]

    def check_dated(name):
        # `start` is inclusive, so the last date comes again.
        last = max(row["date"] for row in output(folder, name)[: first[name]])
        expected = [row for row in unlimited.rows(name) if row["date"] >= last]
        assert 0 < len(expected) < first[name]
        service.same_rows(expected, added(name), key(unlimited, name))
        return max(row["date"] for row in expected) > last

    tally.check("meltano: the new version's dates are read on", lambda: true(check_dated(CHANGED), "nothing newer came"))
    tally.check("meltano: an unchanged dataset is asked for its last date alone", lambda: check_dated(LONG))
    tally.check("meltano: a spatial dataset is read whole again", lambda: service.same_rows(unlimited.rows(SPATIAL), added(SPATIAL), key(unlimited, SPATIAL)))


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


def output(folder, name):
    return [json.loads(line) for line in (folder / "output" / f"{name}.jsonl").read_text().splitlines()]


def key(server, name):
    return server.dataset(name)["primary_key"]


def contains(text, part):
    assert part in text, f"no {part} in:\n{text[-3000:]}"


def true(found, otherwise):
    assert found, otherwise
