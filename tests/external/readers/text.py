"""Readers of CSV and JSON, each with the settings that docs/api.md gives; each returns an Arrow table."""

import io
import json

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.json

import compare
import source
from tally import proof

SQL_TYPES = {pa.string(): "VARCHAR", pa.int64(): "BIGINT", pa.float64(): "DOUBLE", pa.bool_(): "BOOLEAN"}
PANDAS_TYPES = {pa.string(): "string", pa.int64(): "Int64", pa.float64(): "Float64", pa.bool_(): "boolean"}
POLARS_TYPES = {pa.string(): polars.String, pa.int64(): polars.Int64, pa.float64(): polars.Float64, pa.bool_(): polars.Boolean}


def types(package, of):
    """Each column's type as a reader calls it."""
    return {name: of[kind] for name, kind in package.fields.items()}


def relation(found):
    """A DuckDB relation as an Arrow table, in its order."""
    found = found.arrow()
    return found.read_all() if isinstance(found, pa.RecordBatchReader) else found


def frame(found):
    return pa.Table.from_pandas(found, preserve_index=False)


def csv_duckdb(path, package):
    return relation(duckdb.read_csv(
        str(path), header=True, columns=types(package, SQL_TYPES), auto_detect=False, delimiter=",", quotechar='"', escapechar='"',
        na_values="", allow_quoted_nulls=False, max_line_size=16 * 1024 * 1024,
    ))


@proof
def csv_pyarrow(path, package):
    return source.read_csv(path, package.fields)


@proof
def csv_polars(path, package):
    return polars.read_csv(path, schema=types(package, POLARS_TYPES)).to_arrow()


def csv_pandas(path, package):
    kinds = types(package, PANDAS_TYPES)
    nulls = {name: ["", "NaN"] if kind == "Float64" else [""] for name, kind in kinds.items()}
    return frame(pandas.read_csv(path, dtype=kinds, keep_default_na=False, na_values=nulls))


def csv_pandas_pyarrow(path, package):
    """The way to have all of a CSV in pandas."""
    return frame(csv_pyarrow(path, package).to_pandas(types_mapper=pandas.ArrowDtype))


def json_duckdb(path, package):
    kinds = types(package, SQL_TYPES)
    return relation(duckdb.read_json(str(path), columns=kinds, format="array", maximum_object_size=64 * 1024 * 1024))


def json_polars(path, package):
    return polars.read_json(path, schema=types(package, POLARS_TYPES)).to_arrow()


def json_pandas(path, package):
    kinds = types(package, PANDAS_TYPES)
    return frame(pandas.DataFrame(rows(path, package), columns=list(kinds), dtype=object).astype(kinds))


def json_python(path, package):
    return pa.Table.from_pylist(rows(path, package), schema=pa.schema(list(package.fields.items())))


def json_pyarrow(path, package):
    """pyarrow reads an object a line and no array; this makes lines of it."""
    lines = b"\n".join(json.dumps(row).encode() for row in rows(path, package))
    schema = pa.schema(list(package.fields.items()))
    return pyarrow.json.read_json(
        io.BytesIO(lines),
        # A block must hold the longest row.
        read_options=pyarrow.json.ReadOptions(block_size=16 * 1024 * 1024),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error"),
    )


def rows(path, package):
    """The rows as Python's own reader has them, once the order of their keys has been found right."""
    found = json.loads(path.read_bytes())
    for row in found:
        if list(row) != list(package.fields):
            raise compare.Difference(f"a row has the keys {list(row)}")
    return found
