"""Free text in generated files, read back by a parser that is not the generator's."""

import json

import service
import yaml
from waiting import until

# Every quote, braces, what templates open with, a comment, words and numbers that YAML 1.1 takes for something else.
HARD = "no: \"it's\" #1 {x} [y] `z` ${HOME} $KEY \\ % @ & * ! | > 1e3 {{ a }} {% b %} {# c #} \"\"\" ''' #(lf) \U0001f33e Māori </script>"
NAME = "hard_to_quote"
WORDS = ["no", "~", "1e3", "2020-01-01", "0x1F", "1:30", "- a", "? b", "'", '"', " c ", "#d", "#/100,000 people", "e: f", "%g", "@h", "\\n"]


def check(tally, server, publish, folder):
    """Publishes a dataset whose texts are hard to quote and reads them in connector.yaml."""

    def run():
        folder.mkdir(parents=True)
        described = [{"name": f"column_{index}", "type": "integer", "description": word} for index, word in enumerate(columns())]
        names = [column["name"] for column in described]
        (folder / "data.csv").write_text(f"{','.join(names)}\n{','.join('1' for _ in names)}\n")
        descriptor = folder / "datapackage.json"
        descriptor.write_text(json.dumps(package(described)))
        service.run([*publish, descriptor])
        found = wait_for(server, NAME)
        assert found["title"] == HARD
        files, _ = server.project("fivetran", [NAME])
        document = yaml.safe_load(files["connector.yaml"])
        operation = document["paths"]["/v1/datasets/hard_to_quote/data"]["get"]
        assert (operation["summary"], operation["description"]) == (HARD, HARD), operation
        properties = document["components"]["schemas"]["hard_to_quote_row"]["properties"]
        for column in described:
            read = properties[column["name"]]["description"]
            assert read == column["description"], f"{read!r} instead of {column['description']!r}"
        compile(files["connector.py"], "connector.py", "exec")

    tally.check("free text survives YAML", run)


def columns():
    """Return the descriptions of the columns of the dataset."""
    return [HARD, HARD + "\n" + HARD, *WORDS]


def package(columns):
    return {
        "name": "hard_to_quote",
        "title": HARD,
        "licenses": [{"name": "CC0-1.0"}],
        "sources": [{"title": "Nobody"}],
        "resources": [{"name": "hard_to_quote", "path": "data.csv", "schema": {"fields": columns}}],
        "yearbook": {
            "namespace": "tests",
            "source": "Nobody",
            "attribution_text": HARD,
            "bulk_redistribution": True,
        },
    }


def wait_for(server, name, snapshot=None):
    """A new dataset, or the new snapshot of one, once the running server has it."""

    def served():
        with server.open("/v1/datasets") as response:
            if all(dataset["name"] != name for dataset in json.load(response)):
                return None
        found = server.dataset(name)
        return found if snapshot in (None, found["current_snapshot_id"]) else None

    return until(served, f"{name} was published and is served", every=0.5)
