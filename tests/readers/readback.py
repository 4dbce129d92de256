"""Readers of each format, none of them ours; each returns an Arrow table."""

import json

import duckdb
import pandas
import polars
import pyarrow as pa
from pyarrow import ipc, parquet

import compare
import source

SQL_TYPES = {pa.string(): "VARCHAR", pa.int64(): "BIGINT", pa.float64(): "DOUBLE", pa.bool_(): "BOOLEAN"}


def sql_columns(package):
    return {name: SQL_TYPES[kind] for name, kind in package.fields.items()}


def arrow(relation):
    """A DuckDB relation as an Arrow table, in its order."""
    found = relation.arrow()
    return found.read_all() if isinstance(found, pa.RecordBatchReader) else found


def csv_duckdb(path, package):
    return arrow(duckdb.read_csv(
        str(path), header=True, columns=sql_columns(package), auto_detect=False, delimiter=",", quotechar='"', escapechar='"',
        na_values="", allow_quoted_nulls=False, max_line_size=16 * 1024 * 1024,
    ))


def csv_pyarrow(path, package):
    return source.read_csv(path, package.fields)


def json_duckdb(path, package):
    return arrow(duckdb.read_json(str(path), columns=sql_columns(package), format="array", maximum_object_size=64 * 1024 * 1024))


def json_python(path, package):
    rows = json.loads(path.read_bytes())
    for row in rows:
        if list(row) != list(package.fields):
            raise compare.Difference(f"a row has the keys {list(row)}")
    return pa.Table.from_pylist(rows, schema=pa.schema(list(package.fields.items())))


def arrow_pyarrow(path, _package):
    with pa.OSFile(str(path)) as file:
        return ipc.open_stream(file).read_all()


def arrow_polars(path, _package):
    return polars.read_ipc_stream(path).to_arrow()


def parquet_pyarrow(path, _package):
    return parquet.read_table(path)


def parquet_duckdb(path, _package):
    return arrow(duckdb.read_parquet(str(path)))


def parquet_polars(path, _package):
    return polars.read_parquet(path).to_arrow()


def parquet_pandas(path, _package):
    frame = pandas.read_parquet(path, dtype_backend="pyarrow")
    return pa.Table.from_pandas(frame, preserve_index=False)


READERS = {
    "json": {"duckdb": json_duckdb, "python": json_python},
    "csv": {"duckdb": csv_duckdb, "pyarrow": csv_pyarrow},
    "arrow": {"pyarrow": arrow_pyarrow, "polars": arrow_polars},
    "parquet": {"pyarrow": parquet_pyarrow, "duckdb": parquet_duckdb, "polars": parquet_polars, "pandas": parquet_pandas},
}


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
