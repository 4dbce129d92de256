"""The recipe of a sheet that refreshes: LibreOffice is given a link, the dataset is published again, and the sheet has the new rows
when it is opened."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import urllib.parse

import patient
from tally import proof
from waiting import until

HERE = pathlib.Path(__file__).parent
NAME = "rainfall_of_regions"
SECONDS = 300
COLUMNS = {"date": "date", "region": "string", "mm": "number"}
OLD = ["2026-01-01,Hawke's Bay,60.5", '2026-01-01,"Ōtaki, north",71', "2026-02-01,Hawke's Bay,58", '2026-02-01,"Ōtaki, north",']
NEW = [*OLD[:3], '2026-02-01,"Ōtaki, north",80.25', "2026-03-01,Hawke's Bay,-0.5"]


def run(command, **how):
    """What a program prints; fails with it."""
    done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8", timeout=SECONDS, **how)
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def publish(yearbook, folder, rows):
    """Publishes a version and waits until it is served."""
    (folder / "data.csv").write_text("\n".join([",".join(COLUMNS), *rows, ""]), encoding="utf-8")
    fields = [{"name": name, "type": kind} for name, kind in COLUMNS.items()]
    resource = {"name": NAME, "path": "data.csv", "schema": {"fields": fields, "primaryKey": ["date", "region"]}}
    descriptor = folder / "datapackage.json"
    descriptor.write_text(json.dumps({
        "name": NAME, "title": "Rainfall", "licenses": [{"name": "CC0-1.0"}], "sources": [{"title": "Nobody"}], "resources": [resource],
        "yearbook": {"namespace": "tests", "source": "Nobody", "attribution_text": "Nobody", "bulk_redistribution": True},
    }))
    snapshot = re.search(r"snapshot (\w+)", run([*yearbook, "publish", descriptor]))[1]
    address = f"{os.environ['YEARBOOK']}/v1/datasets/{NAME}/preview"
    until(lambda: snapshot.encode() in patient.fetch(address)[2], f"snapshot {snapshot} is served")


def calc(*arguments):
    shared = HERE.parent / "common"
    printed = run(["/usr/bin/python3", HERE / "calc.py", *arguments], env=os.environ | {"PYTHONPATH": str(shared)})
    return json.loads(printed)


@proof
def libreoffice_refreshes_a_link(yearbook):
    """A saved sheet has the rows of the day of its link, and on another day those of a new version; numbers are numbers."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        publish(yearbook, folder, OLD)
        query = urllib.parse.urlencode({"last": 1, "columns": "region,mm", "sort": "region", "format": "csv"})
        _, _, body = patient.fetch(f"{os.environ['YEARBOOK']}/v1/datasets/{NAME}/link?{query}", os.environ["KEY"])
        header, bay, otaki = ["region", "mm"], "Hawke's Bay", "Ōtaki, north"
        linked = calc("link", folder / "sheet.ods", json.loads(body)["url"])
        assert linked == [header, [bay, 58], [otaki, ""]], linked
        publish(yearbook, folder, NEW)
        opened = calc("open", folder / "sheet.ods")
        assert opened == [header, [bay, -0.5], [otaki, 80.25]], opened
