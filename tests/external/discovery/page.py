"""The page of a dataset: schema.org by extruct, and links by signposting."""

import json

import extruct
import signposting
from tally import proof


def embedded(service, name):
    """The one JSON-LD object in a page."""
    html = service.get(f"/datasets/{name}")[1].decode()
    found = extruct.extract(html, base_url=service.base, syntaxes=["json-ld"])["json-ld"]
    assert len(found) == 1, f"{len(found)} objects"
    assert "<script>alert" not in html and "<img src=x" not in html
    return found[0]


@proof
def pages_contain_the_schema_org_dataset(tally, service):
    def check(dataset):
        name = dataset["name"]
        found = embedded(service, name)
        alone = json.loads(service.get(f"/datasets/{name}.jsonld")[1])
        assert found == alone, "the page and its document differ"
        assert found["@type"] == "Dataset" and found["@context"] == "https://schema.org/"
        assert found["name"] == (dataset["title"] or name), found["name"]
        assert 50 <= len(found["description"]) <= 5000, len(found["description"])
        detail = json.loads(service.get(f"/v1/datasets/{name}", key=True)[1])
        assert found["version"] == detail["current_snapshot_id"]
        assert found["creditText"] == detail["attribution_text"]
        dates = detail["date_range"]
        assert found.get("temporalCoverage") == (f"{dates['first']}/{dates['last']}" if dates else None)
        files = {file["encodingFormat"]: file["contentUrl"] for file in found["distribution"]}
        rows = service.get(files["application/json"] + "&limit=1", key=True)[1]
        assert len(json.loads(rows)) == 1

    for dataset in service.datasets:
        tally.check(f"schema.org of {dataset['name']}", lambda: check(dataset))


@proof
def pages_are_signposted(tally, service):
    def check(name):
        found = signposting.find_signposting_http(f"{service.base}/datasets/{name}")
        detail = json.loads(service.get(f"/v1/datasets/{name}", key=True)[1])
        assert str(found.citeAs.target) == f"{service.base}/cite/{name}/{detail['current_snapshot_id']}", found.citeAs
        assert {str(link.target) for link in found.types} == {"https://schema.org/Dataset", "https://schema.org/AboutPage"}
        assert bool(found.license) == bool(detail["licence_url"]), found.license
        assert found.items and all(link.type for link in found.items)
        assert len(found.describedBy) == 2, found.describedBy
        for link in found.describedBy:
            headers, _ = service.get(str(link.target))
            assert headers["Content-Type"].partition(";")[0] == link.type, headers["Content-Type"]
        service.get(str(found.citeAs.target))

    for name in service.names:
        tally.check(f"Signposting of {name}", lambda: check(name))
