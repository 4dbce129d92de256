"""Checks of the share, run by schemathesis on every answer of its routes."""

import json
import os
import pathlib
import random

import schemathesis
import yaml
from openapi_schema_validator import OAS31Validator

# Tables that there are, as [schema, table].
TABLES = json.loads(os.environ["SHARE_TABLES"])

DESCRIPTION = yaml.safe_load(pathlib.Path(__file__).with_name("share.yaml").read_text())
LINE = OAS31Validator({"$ref": "#/components/schemas/Line", "components": DESCRIPTION["components"]})

# Codes of refusals that a request may meet which suits the description.
JUDGED_WITH_THE_TABLE = {"INVALID_PARAMETER_VALUE", "RESOURCE_DOES_NOT_EXIST"}


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Three in four requests that suit the description name a table that is there."""
    if case.meta is None or not case.meta.generation.mode.is_positive or not case.path_parameters:
        return
    chance = random.Random(repr((case.path, sorted(case.path_parameters.items()), repr(case.query), repr(case.body))))
    if chance.random() < 3 / 4:
        schema, table = chance.choice(TABLES)
        for name, value in (("share", "yearbook"), ("schema", schema), ("table", table)):
            if name in case.path_parameters:
                case.path_parameters[name] = value
        # A random text is the token of no list, and that of no table.
        if case.query:
            case.query.pop("pageToken", None)
        if isinstance(case.body, dict):
            case.body.pop("refreshToken", None)


@schemathesis.check
def refusals_have_the_protocols_shape(ctx, response, case):
    """Every refusal can be traced, says why in a sentence, and is never 429."""
    assert response.headers.get("x-request-id"), "no X-Request-Id"
    if response.status_code < 400:
        return
    assert response.status_code != 429, "the official client would repeat it ten times"
    assert response.headers.get("x-service-error-code"), "no X-Service-Error-Code"
    if case.method != "HEAD":
        body = response.json()
        assert set(body) == {"errorCode", "message"} and body["message"].endswith("."), body


@schemathesis.check
def only_the_table_may_refuse_what_the_schema_allows(ctx, response, case):
    """A 400 on a request that suits the description is about what only the table can judge."""
    if response.status_code == 400 and case.meta is not None and case.meta.generation.mode.is_positive:
        assert response.json()["errorCode"] in JUDGED_WITH_THE_TABLE, response.text


@schemathesis.check
def lines_are_actions_of_the_protocol(ctx, response, case):
    """Lines are JSON of the described shapes: protocol, metadata, then files, and an end only where it was asked for."""
    kinds = response.headers.get("content-type") or [""]
    if response.status_code != 200 or not kinds[0].startswith("application/x-ndjson"):
        return
    text = response.content.decode()
    # As clients split it, at every character that Unicode calls a line's end.
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        faults = [error.message for error in LINE.iter_errors(line)]
        assert not faults, f"{line}: {faults}"
    members = [next(iter(line)) for line in lines]
    assert members[:2] == ["protocol", "metaData"], members
    used = (response.headers.get("delta-sharing-capabilities") or [""])[0]
    assert members.count("endStreamAction") == used.count("includeendstreamaction=true"), (members, used)
