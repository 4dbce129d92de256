"""Has schemathesis send what share.yaml describes to the share, right and wrong, and judges the answers."""

import json
import pathlib
import urllib.request

import generated
from tally import proof

HERE = pathlib.Path(__file__).parent


def tables(endpoint, key):
    """Schema and name of every table."""
    request = urllib.request.Request(f"{endpoint}/shares/yearbook/all-tables?maxResults=1000", headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return [[item["schema"], item["name"]] for item in json.load(response)["items"]]


@proof
def the_share_answers_as_its_description_says(tally, base, key, work):
    endpoint = f"{base}/share/delta"
    tally.check("the share does what share.yaml says", lambda: generated.send(
        HERE, HERE / "share.yaml", "share.toml", "share_hooks",
        url=endpoint, header=f"Authorization: Bearer {key}", examples=40, request_seconds=20, budget_seconds=180, work=work,
        environment={"SHARE_TABLES": json.dumps(tables(endpoint, key))},
    ))
