"""A dataset that changes: what integrations must make of rows that come, go and are revised."""

import json
import re

import quoting
import service

NAME = "revised"
COLUMNS = [("date", "date"), ("region", "string"), ("value", "number"), ("count", "integer"), ("final", "boolean")]
FIRST = """date,region,value,count,final
2024-01-01,NA,1.5,1,true
2024-01-01,"",2.25,,false
2024-02-01,NA,0.1,9007199254740993,
2024-02-01,south,,4,true
2024-03-01,north,-3e-7,5,false
"""
# A revision, a row that is gone, one that is new, one that gets and one that loses a value.
SECOND = """date,region,value,count,final
2024-01-01,NA,1.75,1,true
2024-01-01,"",2.25,7,false
2024-02-01,south,,4,
2024-03-01,north,-3e-7,5,false
2024-04-01,NA,8,8,true
"""


def publish(command, server, folder, rows):
    """Publishes `rows` and waits until they are served."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data.csv").write_text(rows)
    fields = [{"name": name, "type": kind} for name, kind in COLUMNS]
    described = quoting.package(fields) | {"name": NAME, "title": "Revised"}
    described["resources"] = [{"name": NAME, "path": "data.csv", "schema": {"fields": fields, "primaryKey": ["date", "region"]}}]
    descriptor = folder / "datapackage.json"
    descriptor.write_text(json.dumps(described))
    publish_and_wait([*command, descriptor], server, NAME)


def publish_and_wait(command, server, name):
    """Publishes a version of a dataset and waits until it is served."""
    said = service.run(command)
    quoting.wait_for(server, name, re.search(r"snapshot (\w+)", said)[1])
