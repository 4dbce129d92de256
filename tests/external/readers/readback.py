"""Readers of each format, none of them ours; each returns an Arrow table. Those of CSV and JSON stand in text.py, R's in in_r.py."""

import dataclasses
import typing

import duckdb
import pandas
import polars
import pyarrow as pa
from pyarrow import ipc, parquet

import compare
import losses
import text
from tally import proof


def arrow_pyarrow(path, _package):
    with pa.OSFile(str(path)) as file:
        return ipc.open_stream(file).read_all()


@proof
def arrow_polars(path, _package):
    return polars.read_ipc_stream(path).to_arrow()


def arrow_pandas(path, _package):
    with pa.OSFile(str(path)) as file:
        return text.frame(ipc.open_stream(file).read_pandas(types_mapper=pandas.ArrowDtype))


def arrow_duckdb(path, _package):
    """By way of pyarrow's reader: DuckDB's own is an extension, which PyPI does not have for this version."""
    with pa.OSFile(str(path)) as file:
        batches = ipc.open_stream(file)  # DuckDB finds it by its name
        return text.relation(duckdb.sql("FROM batches"))


@proof
def parquet_pyarrow(path, _package):
    return parquet.read_table(path)


def parquet_duckdb(path, _package):
    return text.relation(duckdb.read_parquet(str(path)))


def parquet_polars(path, _package):
    return polars.read_parquet(path).to_arrow()


def parquet_pandas(path, _package):
    return text.frame(pandas.read_parquet(path, dtype_backend="pyarrow"))


@dataclasses.dataclass
class Reader:
    """One way to read a format; `loses` is what it, or the format, cannot carry."""

    read: typing.Callable
    loses: tuple = ()
    # A million rows as Python objects take long and show nothing new.
    of_millions: bool = True

    def check(self, path, package, expected):
        compare.equal(losses.left_of(expected, self.loses), self.read(path, package))


FINITE = (losses.only_finite,)
READERS = {
    "json": {
        "duckdb": Reader(text.json_duckdb, FINITE),
        "polars": Reader(text.json_polars, FINITE),
        "pandas": Reader(text.json_pandas, FINITE, of_millions=False),
        "pyarrow": Reader(text.json_pyarrow, FINITE, of_millions=False),
        "python": Reader(text.json_python, FINITE, of_millions=False),
    },
    "csv": {
        "duckdb": Reader(text.csv_duckdb),
        "pyarrow": Reader(text.csv_pyarrow),
        "polars": Reader(text.csv_polars),
        "pandas": Reader(text.csv_pandas, (losses.empty_is_null, losses.nan_is_null)),
        "pandas by way of pyarrow": Reader(text.csv_pandas_pyarrow),
    },
    "arrow": {
        "pyarrow": Reader(arrow_pyarrow), "polars": Reader(arrow_polars), "pandas": Reader(arrow_pandas), "duckdb": Reader(arrow_duckdb),
    },
    "parquet": {
        "pyarrow": Reader(parquet_pyarrow), "duckdb": Reader(parquet_duckdb), "polars": Reader(parquet_polars), "pandas": Reader(parquet_pandas),
    },
}


@proof
def check_credit(package, format_name, path, headers):
    """The credit travels in headers and, where the format has room for it, in the file."""
    # urllib reads header bytes as Latin-1; the service sends UTF-8.
    sent = {name.lower(): value.encode("latin-1").decode("utf-8") for name, value in headers.items()}
    compare.same("X-Service-Attribution", package.attribution, sent.get("x-service-attribution"))
    compare.same("X-Service-Licence", package.licence, sent.get("x-service-licence"))
    if format_name == "arrow":
        metadata = ipc.open_stream(path).schema.metadata
    elif format_name == "parquet":
        metadata = parquet.read_metadata(path).metadata
    else:
        return
    kept = {key.decode(): value.decode() for key, value in (metadata or {}).items()}
    compare.same("yearbook.attribution", package.attribution, kept.get("yearbook.attribution"))
    compare.same("yearbook.licence", package.licence, kept.get("yearbook.licence"))
    compare.same("yearbook.snapshot_id", sent.get("x-service-snapshot-id"), kept.get("yearbook.snapshot_id"))
