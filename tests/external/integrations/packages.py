"""Frictionless: the generated Data Package is validated against live data, and read."""

import json
import os

import quoting
import revisions
import service
from tally import proof

NAMES = ["us_unemployment_by_industry", "us_macro_quarterly", "us_wildlife_strikes", "london_boroughs", revisions.NAME, quoting.NAME]
VALIDATE = """
import json, os, requests, sys
from frictionless import Package, system
from requests.adapters import HTTPAdapter, Retry
session = requests.Session()
for scheme in ["http://", "https://"]:
    session.mount(scheme, HTTPAdapter(max_retries=Retry(8, status_forcelist=[429, 503])))
session.headers["X-API-Key"] = os.environ["SERVICE_API_KEY"]
with system.use_context(http_session=session, trusted=True):
    package = Package(sys.argv[1])
    report = package.validate()
    problems = report.flatten(["name", "type", "note"]) if report.errors or not report.valid else []
    rows = {resource.name: [row.to_dict(json=True) for row in resource.read_rows()] for resource in package.resources} if report.valid else {}
print(json.dumps([report.valid, problems, rows]))
"""


@proof
def check(tally, unlimited, python, folder):
    if tally.check("frictionless: the package unpacks", lambda: unlimited.unpack("frictionless", NAMES, folder) or True) is None:
        return
    rows = tally.check("frictionless: live data are valid by the package", lambda: check_valid(python, folder, unlimited))
    for name in NAMES if rows else []:
        tally.check(f"frictionless: {name} is read whole", lambda: check_rows(unlimited, name, rows[name]))
    tally.check("frictionless: a wrong type and a wrong key are noticed", lambda: check_spoilt(python, folder, unlimited))
    tally.check("frictionless: free text survives", lambda: check_text(folder))


def validate(python, folder, server, file):
    environment = dict(os.environ, SERVICE_API_KEY=server.key)
    return json.loads(service.run([python, "-c", VALIDATE, file], cwd=folder, env=environment).splitlines()[-1])


def check_valid(python, folder, server):
    valid, problems, rows = validate(python, folder, server, "datapackage.json")
    assert valid, problems[:10]
    return rows


def check_rows(server, name, found):
    described = server.dataset(name)
    # Readers of CSV can't tell a text of no characters from none, and keep numbers as decimals.
    numbers = {column["name"] for column in described["columns"] if column["type"] == "number"}

    def plain(row):
        return {name: None if value == "" else float(value) if name in numbers and value is not None else value for name, value in row.items()}

    key = described["primary_key"] or [column["name"] for column in described["columns"]]
    service.same_rows([plain(row) for row in server.rows(name)], [plain(row) for row in found], key)


def check_spoilt(python, folder, server):
    package = json.loads((folder / "datapackage.json").read_text())
    package["resources"] = package["resources"][:2]
    package["resources"][0]["schema"]["primaryKey"] = ["industry"]
    package["resources"][1]["schema"]["fields"][1]["type"] = "integer"
    (folder / "spoilt.json").write_text(json.dumps(package))
    valid, problems, _ = validate(python, folder, server, "spoilt.json")
    kinds = {kind for _, kind, _ in problems}
    assert not valid and {"primary-key", "type-error"} <= kinds, problems[:10]


def check_text(folder):
    resource = next(found for found in json.loads((folder / "datapackage.json").read_text())["resources"] if found["name"] == quoting.NAME)
    assert (resource["title"], resource["attribution"]) == (quoting.HARD, quoting.HARD), resource
    assert [field["description"] for field in resource["schema"]["fields"]] == quoting.columns(), resource
