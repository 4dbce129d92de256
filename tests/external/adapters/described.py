"""Has schemathesis send what the description of `ogc` says, right and wrong, and judges the answers.

Called by `main.py`.
"""

import pathlib
import tempfile

import generated
from tally import proof

HERE = pathlib.Path(__file__).parent
MOUNT = "/api/ogc"


@proof
def the_service_answers_as_its_definition_says_contract_18(tally, base, key):
    def check():
        with tempfile.TemporaryDirectory() as work:
            generated.send(
                HERE, f"{base}{MOUNT}/api", "described.toml", "described_hooks",
                url=f"{base}{MOUNT}", header=f"X-API-Key: {key}", examples=10, request_seconds=30, budget_seconds=600, work=work,
            )
        return True

    tally.check("the service does what the definition of `ogc` says", check)
