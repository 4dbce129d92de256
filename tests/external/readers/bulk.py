"""Stored files over HTTP: digests, downloads that are cut and resumed, and readers that open the address in place and fetch no more
than they need.

What each reader needs for the key: DuckDB a secret with EXTRA_HTTP_HEADERS (its httpfs extension, here from PyPI, because the usual
download needs its own site), pyarrow and polars a file opened by fsspec. polars' own HTTP reader has no setting for a header.
"""

import base64
import hashlib
import importlib.util
import pathlib
import random
import urllib.error
import urllib.request

import duckdb
import fsspec
import polars
from pyarrow import parquet

import compare
import patient
import text


def address(server, package):
    return f"{server.base}/v1/bulk/{package.namespace}/{package.name}"


def request(server, package, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return patient.urlopen(urllib.request.Request(address(server, package), headers={"X-API-Key": server.key, **named}), timeout=600)


def download(server, package):
    """The whole file and its entity tag, once its digest has been found right."""
    with request(server, package) as response:
        body, headers = response.read(), response.headers
    digest = hashlib.sha256(body)
    compare.same("Repr-Digest", f"sha-256=:{base64.b64encode(digest.digest()).decode()}:", headers["Repr-Digest"])
    compare.same("ETag", f'"{digest.hexdigest()}"', headers["ETag"])
    compare.same("Content-Length", str(len(body)), headers["Content-Length"])
    return body, headers["ETag"]


def resumed(server, package, body, tag):
    """The same file from a connection that is lost again and again, each time after another number of bytes."""
    places = random.Random(package.name)
    got = b""
    while len(got) < len(body):
        with request(server, package, Range=f"bytes={len(got)}-", If_Range=tag) as response:
            compare.same("status", 206, response.status)
            got += response.read(places.randint(1, max(2, len(body) // 2)))
    if got != body:
        raise compare.Difference("a resumed download is another file")


def forbidden(server, package):
    """A licence that forbids it is 403 on every plan."""
    try:
        request(server, package).close()
    except urllib.error.HTTPError as refusal:
        compare.same("status", 403, refusal.code)
        return
    raise compare.Difference("the file was sent although its licence forbids it")


def in_duckdb(server, package):
    extension = importlib.util.find_spec("duckdb_extension_httpfs").submodule_search_locations[0]
    (path,) = pathlib.Path(extension).glob(f"extensions/v{duckdb.__version__}/httpfs.duckdb_extension")
    connection = duckdb.connect()
    connection.execute(f"LOAD '{path}'")
    connection.execute(f"CREATE SECRET service (TYPE http, EXTRA_HTTP_HEADERS MAP {{'X-API-Key': '{server.key}'}})")
    return text.relation(connection.sql(f"SELECT * FROM read_parquet('{address(server, package)}')"))


def opened(server, package):
    return fsspec.open(address(server, package), client_kwargs={"headers": {"X-API-Key": server.key}}, block_size=64 * 1024)


def in_pyarrow(server, package):
    with opened(server, package) as file:
        return parquet.read_table(file)


def in_polars(server, package):
    with opened(server, package) as file:
        return polars.read_parquet(file).to_arrow()


READERS = {"duckdb": in_duckdb, "pyarrow": in_pyarrow, "polars": in_polars}


def check(tally, server, package, expected):
    """Everything above for one dataset."""
    if not package.bulk:
        tally.check(f"{package.name} bulk forbidden", lambda: forbidden(server, package))
        return
    found = tally.check(f"{package.name} bulk download", lambda: download(server, package))
    if found:
        tally.check(f"{package.name} bulk resumed", lambda: resumed(server, package, *found))
    for reader, read in READERS.items():
        tally.check(f"{package.name} bulk {reader}", lambda: compare.equal(expected, read(server, package)))
