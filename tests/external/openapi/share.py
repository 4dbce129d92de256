"""Has schemathesis send what share.yaml describes to the share, right and wrong, and judges the answers."""

import json
import os
import pathlib
import subprocess
import sys
import urllib.request

from tally import proof

HERE = pathlib.Path(__file__).parent
BUDGET_SECONDS = 180


def tables(endpoint, key):
    """Schema and name of every table."""
    request = urllib.request.Request(f"{endpoint}/shares/yearbook/all-tables?maxResults=1000", headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return [[item["schema"], item["name"]] for item in json.load(response)["items"]]


def schemathesis(endpoint, key, work):
    command = [
        pathlib.Path(sys.executable).with_name("schemathesis"), "--config-file", HERE / "share.toml", "run", HERE / "share.yaml",
        "--url", endpoint, "--header", f"Authorization: Bearer {key}", "--phases", "examples,coverage,fuzzing", "--max-examples", "40",
        "--seed", "20261121", "--workers", "2", "--request-timeout", "20", "--continue-on-failure", "--no-color",
    ]
    environment = {
        **os.environ, "SCHEMATHESIS_HOOKS": "share_hooks", "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1",
        "SHARE_TABLES": json.dumps(tables(endpoint, key)),
    }
    done = subprocess.run(command, env=environment, timeout=BUDGET_SECONDS, cwd=work, check=False)
    assert done.returncode == 0, f"schemathesis ended with {done.returncode}; its findings stand above"


@proof
def the_share_answers_as_its_description_says(tally, base, key, work):
    tally.check("the share does what share.yaml says", lambda: schemathesis(f"{base}/share/delta", key, work))
