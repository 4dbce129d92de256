"""Power Query: the generated queries are parsed with Microsoft's parser of M."""

import json
import os
import pathlib

import page_lines
import quoting
import revisions
import service
from tally import proof

NAMES = ["us_unemployment_by_industry", "us_macro_quarterly", "london_boroughs", revisions.NAME, quoting.NAME]


@proof
def check(tally, starter, modules, folder):
    """`modules` is the folder of npm's packages."""
    if tally.check("power-query: the queries unpack", lambda: starter.unpack("power-query", NAMES, folder) or True) is None:
        return
    files = sorted(folder.glob("*.pq"))
    parsed = tally.check("power-query: every query is M", lambda: parse(modules, files))
    if parsed is None:
        return
    tally.check("power-query: free text survives", lambda: check_text(parsed[f"dataset_{quoting.NAME}.pq"]))
    for name in NAMES[:-1]:
        tally.check(f"power-query: {name} has its columns", lambda: check_columns(starter, name, parsed[f"dataset_{name}.pq"]))
    tally.check("power-query: the lines of pages for Excel are M", lambda: check_page_lines(starter.base, modules, folder))
    spoilt = folder / "spoilt.pq"
    spoilt.write_text((folder / f"dataset_{NAMES[0]}.pq").read_text().replace("in\n", "in in\n", 1))

    def check_spoilt():
        try:
            parse(modules, [spoilt])
        except AssertionError:
            return
        raise AssertionError("nothing was noticed")

    tally.check("power-query: what is not M is noticed", check_spoilt)


def check_page_lines(base, modules, folder):
    for name in page_lines.DATASETS:
        file = folder / f"page_{name}.pq"
        file.write_text(page_lines.lines(base, name)["Excel"])
        literals = parse(modules, [file])[file.name]
        assert base in literals and f"v1/series/{name}/data" in literals, literals


def parse(modules, files):
    """Text literals of each file."""
    script = pathlib.Path(__file__).with_name("parse_m.cjs")
    said = service.run(["node", script, *files], env=dict(os.environ, NODE_PATH=str(modules)))
    return {pathlib.Path(path).name: literals for path, literals in json.loads(said).items()}


def check_text(literals):
    assert literals.count(quoting.HARD) == 2, literals


def check_columns(server, name, literals):
    described = server.dataset(name)
    for column in described["columns"]:
        # Once where records become a table, once with its type, and perhaps in the key.
        expected = 2 + (column["name"] in described["primary_key"])
        assert literals.count(column["name"]) == expected, (column, literals)
    assert described["attribution_text"] in literals, literals
