"""Croissant 1.1: mlcroissant reads every document, and the digest in it is that of the bulk file."""

import hashlib
import json
import pathlib
import tempfile

import mlcroissant
from tally import proof

CONFORMS = "http://mlcommons.org/croissant/1.1"


@proof
def croissant_documents_load(tally, service):
    def check(name):
        body = service.get(f"/datasets/{name}/croissant.json")[1]
        document = json.loads(body)
        assert document["conformsTo"] == CONFORMS
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "croissant.json"
            path.write_bytes(body)
            metadata = mlcroissant.Dataset(jsonld=path).metadata
        assert not metadata.ctx.issues.errors, metadata.ctx.issues.report()
        assert metadata.name == name and metadata.license, metadata.license
        detail = json.loads(service.get(f"/v1/datasets/{name}", key=True)[1])
        columns = [column["name"] for column in detail["columns"]]
        sets = metadata.record_sets
        if not sets:
            status, _, _ = service.ask(f"/v1/bulk/{detail['namespace']}/{name}", key=True)
            assert status == 403, f"it may be passed on ({status}), but there is no file"
            return
        assert [field.name.rpartition("/")[2] for field in sets[0].fields] == columns
        file = document["distribution"][0]
        data = service.get(file["contentUrl"], key=True)[1]
        assert hashlib.sha256(data).hexdigest() == file["sha256"]
        assert file["contentSize"] == f"{len(data)} B"

    for name in service.names:
        tally.check(f"Croissant of {name}", lambda: check(name))
