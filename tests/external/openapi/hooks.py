"""Checks of our own, run by schemathesis on every answer."""

import json
import random
import urllib.parse

import schemathesis

# Values that no generator guesses; the names are those of demo datasets.
REAL = ["co2_concentration_monthly", "london_boroughs,us_macro_quarterly", " nz_height_points ,nz_height_points"]

# Parameters whose value only a dataset, a secret of the service, or another parameter can judge; conditions are named by columns.
JUDGED_WITH_THE_DATASET = {
    "columns", "cursor", "since", "datasets", "snapshot", "as_of", "start", "format", "sort", "last", "first", "bbox", "after", "where",
    "apply",
}

# Transforms judge their own options, with the columns of the dataset; some must be given where the transform is applied.
TRANSFORMS = {"aggregate", "growth", "pivot", "resample"}


# Bytes of an address that the server's library reads; what is longer it refuses itself, without anything of ours.
LONGEST_ADDRESS = 60_000


@schemathesis.hook
def filter_case(ctx, case):
    """Leaves out requests that no handler of ours would see."""
    query = json.dumps(case.query or {}, ensure_ascii=False, default=str)
    return len(urllib.parse.quote(query, errors="replace")) < LONGEST_ADDRESS


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Two in three requests that suit the description get past what it cannot say, so that answers with data are seen too."""
    # The client must not ask for codings that it cannot decode: zstd, and those that `*` stands for.
    if case.headers and case.headers.get("Accept-Encoding") != "gzip":
        case.headers.pop("Accept-Encoding", None)
    if case.meta is None or not case.meta.generation.mode.is_positive or not (case.query or case.headers):
        return
    chance = random.Random(repr((sorted((case.query or {}).items()), sorted((case.headers or {}).items()))))
    if chance.random() < 2 / 3:
        for name in [name for name in case.headers or {} if name.lower() in ("if-match", "if-unmodified-since")]:
            del case.headers[name]
        if not case.query:
            return
        if "datasets" in case.query:
            case.query["datasets"] = chance.choice(REAL)
        for name in list(case.query):
            if name.split(".")[0] in (JUDGED_WITH_THE_DATASET | TRANSFORMS) - {"datasets", "format", "apply"}:
                del case.query[name]
        if "apply" in case.query:
            case.query["apply"] = "growth"
        # A random text accepts nothing that is made: 406.
        if case.headers:
            case.headers.pop("Accept", None)


@schemathesis.check
def only_the_dataset_may_refuse_what_the_schema_allows(ctx, response, case):
    """A 422 on a request that suits the description names only what the description cannot say."""
    # HEAD says no more than the status; the same requests are made with GET.
    if response.status_code != 422 or case.method == "HEAD" or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    for problem in response.json()["detail"]:
        _, name = problem["loc"]
        # A schema counts characters, the bound of an option bytes.
        if problem["type"] == "bytes_too_long" and len(problem["input"].encode()) > problem["ctx"]["max_length"] >= len(problem["input"]):
            continue
        # A pattern says the shape of a time, and not which months and days there are.
        if name in ("as_of", "since") and problem["type"] == "date_from_datetime_parsing":
            continue
        of_transform = problem["type"] in ("value_error", "missing") and name.split(".")[0] in TRANSFORMS and "apply" in case.query
        assert of_transform or (problem["type"] == "value_error" and name.split(".")[0] in JUDGED_WITH_THE_DATASET), problem


@schemathesis.check
def every_answer_can_be_traced_and_explained(ctx, response, case):
    """Every answer has the request's id; every refusal a code, and a sentence or a list of problems."""
    assert response.headers.get("x-request-id"), "no X-Request-Id"
    # A report of ill health is a 503 that refuses nothing.
    if response.status_code >= 400 and case.path != "/health/full":
        assert response.headers.get("x-service-error-code"), "no X-Service-Error-Code"
        if case.method != "HEAD":
            assert response.json()["detail"], "no detail"
