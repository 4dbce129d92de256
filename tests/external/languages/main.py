"""Installs the example plugins written in Python and JavaScript on a running service and reads what they make: Markdown with
markdown-it-py, the JavaScript module with Node, and what the transforms calculate beside the same calculated here.

Run by `cargo xtask test`. The key comes in SERVICE_API_KEY. Prints one line a check and, last, `languages: N passed, N failed`.
"""

import argparse
import csv
import decimal
import json
import math
import os
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import patient
from markdown_it import MarkdownIt
from tally import Tally

# Every sign that Markdown, HTML or a table gives a meaning, at the places where it has one.
HARD = [
    "a|b", "\\", "\\|", "`code|`", "**bold**", "_it_", "<b>not bold</b>", "<!-- no comment -->", "&amp; &lt;", "[text](http://a.example)",
    "![image](b.png)", "~~gone~~", "# no heading", "| - |", "two\nlines", "Ōtautahi 日本語 👩‍👩‍👧‍👦", "http://c.example", "1. no list", "a*b*c", "--:", "$x$", "\"quoted\" 'text'",
]


class Server:
    """A running server and the key to ask it with."""

    def __init__(self, base, key):
        self.base, self.key = base, key

    def get(self, path, **query):
        address = f"{self.base}{path}?{urllib.parse.urlencode(query)}"
        with patient.urlopen(urllib.request.Request(address, headers={"X-API-Key": self.key}), timeout=120) as response:
            return response.headers, response.read()

    def json(self, path, **query):
        return json.loads(self.get(path, **query)[1])


def eventually(ask, error):
    """Return the result of `ask` once it stops raising `error`: running hosts follow the catalog within seconds, and compile what is new to them."""
    for _ in range(240):
        try:
            return ask()
        except error:
            time.sleep(0.5)
    return ask()


def table(text):
    """Header and rows of the only table in a Markdown text, as a reader sees them."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    rows = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append("".join(shown(child) for child in token.children))
    assert [token.type for token in tokens if token.level == 0 and token.nesting == 1] == ["table_open"], "it is not one table"
    return rows[0], rows[1:]


def shown(token):
    if token.type == "text" or token.type == "text_special":
        return token.content
    assert (token.type, token.content) == ("html_inline", "<br>"), f"markup in a cell: {token}"
    return "\n"


def written(value):
    """A JSON value as the table should show it."""
    return value if isinstance(value, str) else "–" if value is None else json.dumps(value)


def markdown(tally, server, dataset, **query):
    def run():
        rows = server.json(f"/v1/datasets/{dataset}/data", **query)
        head, body = server.get(f"/v1/datasets/{dataset}/data", format="markdown", **{"markdown.null": "–"}, **query)
        assert head["Content-Type"] == "text/markdown; charset=utf-8; variant=GFM", head["Content-Type"]
        names, found = table(body.decode())
        assert names == list(rows[0]), names
        expected = [[written(value) for value in row.values()] for row in rows]
        assert len(found) == len(rows) > 0
        for one, other in zip(expected, found):
            assert all(same(left, right) for left, right in zip(one, other)) and len(one) == len(other), f"{other} instead of {one}"

    tally.check(f"markdown of {dataset} {query} is what JSON has", run)


def same(left, right):
    """The same text, or another way to write the same float."""
    if left == right:
        return True
    try:
        return float(left) == float(right)
    except ValueError:
        return False


def publish_hard(publish, folder):
    folder.mkdir(parents=True)
    with (folder / "data.csv").open("w", newline="") as file:
        table = csv.writer(file, quoting=csv.QUOTE_MINIMAL)
        table.writerow(["id", "text", "maybe"])
        table.writerows([row, text, None if row % 3 else row / 7] for row, text in enumerate(HARD))
    fields = [{"name": "id", "type": "integer"}, {"name": "text", "type": "string"}, {"name": "maybe", "type": "number"}]
    package = {
        "name": "hard_markdown", "title": "Hard", "licenses": [{"name": "CC0-1.0"}], "sources": [{"title": "Nobody"}],
        "resources": [{"name": "hard_markdown", "path": "data.csv", "schema": {"fields": fields, "primaryKey": ["id"]}}],
        "yearbook": {"namespace": "tests", "source": "Nobody", "attribution_text": "Nobody", "bulk_redistribution": True},
    }
    (folder / "datapackage.json").write_text(json.dumps(package))
    subprocess.run([*publish, "publish", folder / "datapackage.json"], check=True)


def javascript(tally, server, datasets, folder):
    def run():
        project = server.json("/v1/integrations/javascript", datasets=",".join(datasets))
        folder.mkdir(parents=True)
        for path, content in project["files"].items():
            assert server.key not in content, "the key stands in a file"
            (folder / path).write_text(content)
        printed = subprocess.run(["node", "example.mjs"], cwd=folder, stdout=subprocess.PIPE, timeout=300, check=True, text=True).stdout
        found = [json.loads(line) for line in printed.splitlines()]
        assert [line["name"] for line in found] == datasets, printed
        for line in found:
            metadata = server.json(f"/v1/datasets/{line['name']}")
            (first,) = server.json(f"/v1/datasets/{line['name']}/data", limit=1, geometry="false")
            assert line["count"] == metadata["row_count_at_last_refresh"], f"{line['count']} rows instead of {metadata['row_count']}"
            assert line["first"] == first, f"{line['first']} instead of {first}"
            assert metadata["attribution_text"] in (folder / "README.md").read_text()

    tally.check(f"Node reads all rows of {', '.join(datasets)} with the generated module", run)


def calculated(tally, server, dataset, calculation, expected, **query):
    """Rows through a transform are the rows without it, with `expected` of them in the value columns of numbers."""
    def run():
        columns = server.json(f"/v1/datasets/{dataset}")["columns"]
        values = [column["name"] for column in columns if column["role"] == "value" and column["type"] == "number"]
        rows = server.json(f"/v1/datasets/{dataset}/data", **{name: value for name, value in query.items() if "." not in name})
        ask = lambda: server.json(f"/v1/datasets/{dataset}/data", apply=calculation, **query)
        found = eventually(ask, urllib.error.HTTPError)
        assert values and len(found) == len(rows) > 0, f"{len(found)} of {len(rows)} rows"
        for row, one in zip(expected(columns, values, rows), found):
            assert row == one, f"{one} instead of {row}"

    tally.check(f"{calculation} of {dataset} {query} is what Python calculates", run)


def running_totals(columns, values, rows):
    """The sums of each series so far, by `math.fsum`."""
    series = [column["name"] for column in columns if column["role"] == "dimension"]
    seen = {}
    for row in rows:
        row = dict(row)
        for value in values:
            if row[value] is not None:
                so_far = seen.setdefault((value, *(row[name] for name in series)), [])
                so_far.append(row[value])
                row[value] = Near(math.fsum(so_far))
        yield row


class Near(float):
    """A sum that was rounded at each step is as good."""

    def __eq__(self, other):
        return math.isclose(self, other, rel_tol=1e-12, abs_tol=1e-9)


def rounded(digits):
    """Numbers to decimal places, halves away from zero, by decimal arithmetic on the number times a power of ten."""
    def expected(columns, values, rows):
        for row in rows:
            numbers = {name: row[name] for name in values if row[name] is not None}
            yield row | {name: nearest(number * 10.0 ** digits) / 10.0 ** digits for name, number in numbers.items()}

    return expected


def nearest(number):
    return float(decimal.Decimal(number).quantize(1, decimal.ROUND_HALF_UP))


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--base", required=True, help="address of the server")
    arguments.add_argument("--work", required=True, type=pathlib.Path, help="an empty folder")
    arguments.add_argument("--components", required=True, nargs="+", type=pathlib.Path, help="those made of examples; without Node none in JavaScript")
    arguments.add_argument("yearbook", nargs="+", help="the program with the data directory of the server")
    given = arguments.parse_args()
    server = Server(given.base, os.environ["SERVICE_API_KEY"])
    tally = Tally("languages")
    for plugin in given.components:
        what = f"{plugin.name} passes the conformance list and is installed"
        tally.check(what, lambda plugin=plugin: subprocess.run([*given.yearbook, "plugin", "install", plugin, "--now"], check=True))
    publish_hard(given.yearbook, given.work / "hard")

    one = "/v1/datasets/hard_markdown/data"
    tally.check("the format markdown is served", lambda: eventually(lambda: server.get(one, format="markdown"), urllib.error.HTTPError) and None)
    markdown(tally, server, "hard_markdown")
    markdown(tally, server, "us_unemployment_by_industry", limit=2000)
    markdown(tally, server, "us_macro_quarterly", limit=500)
    markdown(tally, server, "london_boroughs", geometry="false")
    calculated(tally, server, "us_unemployment_by_industry", "running_total", running_totals, limit=2000)
    calculated(tally, server, "us_macro_quarterly", "running_total", running_totals)
    if any(plugin.stem == "javascript" for plugin in given.components):
        calculated(tally, server, "us_macro_quarterly", "rounded", rounded(0))
        calculated(tally, server, "us_macro_quarterly", "rounded", rounded(2), **{"rounded.digits": 2})
        one = "/v1/integrations/javascript"
        ask = lambda: server.json(one, datasets="hard_markdown")
        tally.check("the integration javascript is served", lambda: eventually(ask, urllib.error.HTTPError) and None)
        javascript(tally, server, ["hard_markdown", "us_unemployment_by_industry", "london_boroughs"], given.work / "javascript")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
