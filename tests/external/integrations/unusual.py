"""A dataset of what few datasets have: columns called as words of SQL, and a column of numbers that is never null in the service but
null in JSON, where a number is not finite."""

import json

import quoting
import service

NAME = "unusual"
# The last two have more than 32 bits.
RATES = ["NaN", "INF", "-INF", "0.1", "16777217.5"]
WORDS = """
import duckdb, json
found = duckdb.sql("select distinct keyword_name from duckdb_keywords() where keyword_category in ('reserved', 'type_function') order by all")
print(json.dumps([word for word, in found.fetchall()]))
"""


def publish(command, server, python, folder):
    """Publishes the dataset and waits until it is served. `python` has DuckDB, whose words the columns are called by."""
    words = json.loads(service.run([python, "-c", WORDS]))
    assert len(words) > 50, words
    folder.mkdir(parents=True)
    rows = [f"{index},{rate}" + ",7" * len(words) for index, rate in enumerate(RATES)]
    (folder / "data.csv").write_text("\n".join([",".join(["id", "rate", *words]), *rows, ""]))
    rate = {"name": "rate", "type": "number", "constraints": {"required": True}}
    fields = [{"name": "id", "type": "integer"}, rate, *({"name": word, "type": "integer"} for word in words)]
    described = quoting.package(fields) | {"name": NAME, "title": "Unusual"}
    described["resources"] = [{"name": NAME, "path": "data.csv", "schema": {"fields": fields, "primaryKey": ["id"]}}]
    descriptor = folder / "datapackage.json"
    descriptor.write_text(json.dumps(described))
    service.run([*command, descriptor])
    quoting.wait_for(server, NAME)
    assert [row["rate"] for row in server.rows(NAME)] == [None, None, None, 0.1, 16777217.5]
    return True
