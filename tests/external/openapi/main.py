"""Holds /openapi.json against its specification and against the server that it describes, the share against a description of its own,
and opens the page that shows the first.

Run by `cargo xtask test`; takes the key from YEARBOOK_KEY. The last line counts what passed and what failed."""

import argparse
import json
import os
import pathlib
import sys
import urllib.request

import generated
import page
import share
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from tally import Tally


def fetch(base):
    with urllib.request.urlopen(f"{base}/openapi.json") as response:
        assert response.headers["content-type"] == "application/json", response.headers["content-type"]
        return json.load(response)


def resolve(document, item):
    if "$ref" not in item:
        return item
    for step in item["$ref"].removeprefix("#/").split("/"):
        document = document[step]
    return document


def examples(item):
    """Every example of a parameter, header or media type."""
    if "example" in item:
        yield item["example"]
    yield from (example["value"] for example in item.get("examples", {}).values())
    yield from item.get("schema", {}).get("examples", [])


def illustrated(document):
    """(where, schema, example) of every example in the document."""
    for name, schema in document["components"]["schemas"].items():
        yield from ((name, {"$ref": f"#/components/schemas/{name}"}, example) for example in schema.get("examples", []))
    for name, header in document["components"]["headers"].items():
        yield from ((name, header["schema"], example) for example in examples(header))
    for path, item in document["paths"].items():
        operation = item["get"]
        for parameter in operation.get("parameters", []):
            parameter = resolve(document, parameter)
            yield from ((f"{path} {parameter['name']}", parameter["schema"], example) for example in examples(parameter))
        for status, response in operation["responses"].items():
            for kind, media in response.get("content", {}).items():
                yield from ((f"{path} {status} {kind}", media["schema"], example) for example in examples(media))


def wrong_examples(document):
    seen = 0
    for where, schema, example in illustrated(document):
        seen += 1
        for error in OAS31Validator({**schema, "components": document["components"]}).iter_errors(example):
            yield f"{where}: {error.message}"
    if seen < 100:
        yield f"only {seen} examples were found"


def unexplained(document):
    """Answers of 4xx and 5xx without an example."""
    for path, item in document["paths"].items():
        for status, response in item["get"]["responses"].items():
            for kind, media in response.get("content", {}).items():
                if status >= "400" and not list(examples(media)) and status != "503":
                    yield f"{path} {status} {kind} has no example"


def none(findings):
    """Fails with what was found."""
    findings = list(findings)
    assert not findings, "\n    ".join(["", *findings])
    return True


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--base", required=True)
    arguments.add_argument("--printed", required=True, type=pathlib.Path, help="what `yearbook openapi` printed")
    arguments.add_argument("--work", required=True, type=pathlib.Path, help="a folder for what schemathesis writes, and for pictures")
    arguments.add_argument("--without-browser", action="store_true", help="Chromium is not here")
    given = arguments.parse_args()
    key = os.environ["YEARBOOK_KEY"]
    document = fetch(given.base)
    same = json.loads(given.printed.read_text()) == document
    tally = Tally("openapi")
    checks = {
        "`yearbook openapi` prints what the server answers": lambda: [] if same else ["they differ"],
        "the document is valid OpenAPI 3.1": lambda: [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()],
        "every example suits its schema": lambda: wrong_examples(document),
        "every refusal has an example": lambda: unexplained(document),
    }
    for what, findings in checks.items():
        tally.check(what, lambda: none(findings()))
    tally.check("the server does what the document says", lambda: generated.send(
        pathlib.Path(__file__).parent, f"{given.base}/openapi.json", "schemathesis.toml", "hooks",
        url=given.base, header=f"X-API-Key: {key}", examples=60, request_seconds=60, budget_seconds=1200, work=given.work,
    ))
    share.the_share_answers_as_its_description_says(tally, given.base, key, given.work)
    if not given.without_browser:
        tally.group("/docs in a browser", lambda: page.check(tally, given.base, key, document, given.work))
    sys.exit(tally.end())


if __name__ == "__main__":
    main()
