"""Checks of our own, run by schemathesis on every answer of `ogc`."""

import random

import schemathesis

# Collections and features that no generator guesses.
REAL = [("us_state_capitals", "01"), ("nz_height_points", "2353944"), ("un_urban_agglomerations", "1950-01-01,20058")]
# What has columns as parameters.
OF_COLUMNS = (
    "/collections/{collectionId}/items",
    "/collections/{collectionId}/tiles/WebMercatorQuad/{tileMatrix}/{tileRow}/{tileCol}",
)
# Parameters whose values the definition describes as text or numbers only.
JUDGED_BY_THE_SERVICE = ("bbox", "datetime", "as_of", "cursor", "offset", "after", "ids")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Two in three requests that suit the definition are of a collection that is there."""
    given = case.path_parameters or {}
    if case.meta is None or not case.meta.generation.mode.is_positive or "collectionId" not in given:
        return
    chance = random.Random(repr(sorted(given.items())))
    if chance.random() < 2 / 3:
        given["collectionId"], feature = chance.choice(REAL)
        if "featureId" in given:
            given["featureId"] = feature


@schemathesis.hook
def filter_case(context, case):
    """The standard has a limit beyond the maximum mean the maximum, and its own schema a maximum all the same."""
    limit = str((case.query or {}).get("limit", ""))
    return not (limit.isdigit() and int(limit) > 1000)


@schemathesis.check
def only_what_no_schema_says_may_be_refused(context, response, case):
    """A 400 on a request that suits the description names what the description cannot say."""
    # HEAD says no more than the status; the same requests are made with GET.
    if response.status_code != 400 or case.method == "HEAD" or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    detail = response.json()["detail"]
    if case.operation.path in OF_COLUMNS and "is no parameter here" in detail:
        # A column of the collection, of which its queryables tell.
        return
    assert any(name in detail for name in JUDGED_BY_THE_SERVICE) or "address" in detail, detail


@schemathesis.check
def every_refusal_is_a_problem_document(context, response, case):
    """Every answer has the request's id; every refusal is a problem document with a code."""
    assert response.headers.get("x-request-id"), "no X-Request-Id"
    if response.status_code < 400 or case.method == "HEAD":
        return
    if response.status_code == 405:
        assert response.headers["allow"] == ["GET, HEAD, OPTIONS"], response.headers
    assert response.headers["content-type"][0].startswith("application/problem+json"), response.headers["content-type"]
    problem = response.json()
    assert problem["status"] == response.status_code and problem["title"] and problem["detail"] and problem["code"], problem
