"""Tables of pyarrow, polars, pandas and geopandas, from streams without a copy and from Parquet. Owns
the types of their columns, in pandas too: a null number is NaN unless `dtype_backend="pyarrow"`
(contract-11-pandas-null). What a package cannot hold exactly, or does not check, is an exception."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..errors import ConversionError, ShortTableError, StreamError, UsageError
from ..pull import Pull, Source
from ..settings import available, require
from . import LABEL, TIME, ColumnType, Values, columns_of, no_dates, value_batches

# The mark of a column with labels, in Arrow's metadata and the attributes of pandas.
LABELLED = "yearbook.client.labelled"
PURPOSE = 'The result to="arrow"'
# Rows of a batch that is read from Parquet.
BATCH_ROWS = 16_384
# Integers beyond it have neighbours that a float cannot tell apart.
EXACT = 2**53
POLARS_TYPES = {
    "string": "String",
    "integer": "Int64",
    "number": "Float64",
    "boolean": "Boolean",
    "date": "Date",
}


def whole_table(pull: Pull, kind: str, dtype_backend: str | None) -> Any:
    """Returns all rows of a pull as a table of `kind`, without its credit.

    In pandas, dates are `datetime64[us]`, booleans with nulls `boolean`, numbers and integers with
    nulls floats in which a null is NaN. In geopandas the geometry, in EPSG:4326, is the column
    `geometry`. Raises ConversionError where an integer would lose digits by that."""
    if kind == "polars" and (pull.sources[0].parquet or not available("pyarrow")):
        pl = require("polars", 'The result to="polars"')
        return pl.concat([_polars_frame(pl, source, pull.dates) for source in pull.sources])
    if kind == "geopandas":
        dtype_backend = None
    elif kind == "pandas" and dtype_backend not in (None, "pyarrow"):
        raise UsageError(f"`dtype_backend` is {dtype_backend!r}.", 'It is "pyarrow" or left away.')
    if available("pyarrow") or kind == "arrow" or dtype_backend:
        return table_of(_arrow_table(pull), kind, dtype_backend)
    columns = columns_of(pull.sources[0], pull.dates)
    found: list[list[Any]] = [[] for _ in columns]
    rows = 0
    for source in pull.sources:
        for values, count in value_batches(source, pull.dates):
            rows += count
            for whole, part in zip(found, values):
                whole.extend(part)
    return table_of_values(columns, (found, rows), kind)


def table_of(table: Any, kind: str, dtype_backend: str | None = None) -> Any:
    """Turns a table or a batch of pyarrow into a table of `kind`."""
    if kind == "arrow":
        return table
    pa = require("pyarrow", "Reading batches")
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if kind == "polars":
        return require("polars", "polars").from_arrow(table)
    pandas = require("pandas", f"The result to={kind!r}")
    if dtype_backend == "pyarrow":
        return _shaped(table.to_pandas(types_mapper=pandas.ArrowDtype), kind)
    nullable: list[str] = []
    for index, field in enumerate(table.schema):
        column = table.column(index)
        if pa.types.is_integer(field.type) and column.null_count:
            bounds = pa.compute.min_max(column).as_py()
            _check_exact(field.name, bounds["min"] or 0, bounds["max"] or 0)
        elif pa.types.is_date(field.type):
            table = table.set_column(index, field.name, column.cast(pa.timestamp("us")))
        elif pa.types.is_boolean(field.type) and column.null_count:
            nullable.append(field.name)
    frame = table.to_pandas()
    for name in nullable:
        frame[name] = frame[name].astype("boolean")
    return _shaped(frame, kind)


def table_of_values(columns: tuple[ColumnType, ...], values: Values, kind: str) -> Any:
    """Makes a table of Python objects where pyarrow is missing."""
    package = require("polars" if kind == "polars" else "pandas", f"The result to={kind!r}")
    named = dict(zip((column.name for column in columns), values[0]))
    if kind == "polars":
        types = {column.name: getattr(package, POLARS_TYPES[column.type]) for column in columns}
        return package.DataFrame(named, schema=types)
    series = {column.name: _series(package, column, named[column.name]) for column in columns}
    return _shaped(package.DataFrame(series, index=package.RangeIndex(values[1])), kind)


def made_table(
    columns: tuple[ColumnType, ...], values: Values, kind: str, dtype_backend: str | None
) -> Any:
    """Makes a table of `kind`, other than rows, of Python objects."""
    if kind != "arrow" and not dtype_backend:
        return table_of_values(columns, values, kind)
    pa = require("pyarrow", PURPOSE)
    types = arrow_types()
    schema = pa.schema([(column.name, types[column.type]) for column in columns])
    arrays = [pa.array(found, field.type) for found, field in zip(values[0], schema)]
    return table_of(pa.Table.from_arrays(arrays, schema=schema), kind, dtype_backend)


def arrow_types() -> dict[str, Any]:
    """Returns the type of Arrow of each type of a column."""
    pa = require("pyarrow", PURPOSE)
    return {
        "string": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        LABEL: pa.string(),
        TIME: pa.timestamp("us", "UTC"),
    }


def _series(pandas: Any, column: ColumnType, values: list[Any]) -> Any:
    text = "str" if int(pandas.__version__.partition(".")[0]) >= 3 else object
    nulls = None in values
    if column.type == "date":
        return pandas.Series(values, dtype=object).astype("datetime64[us]")
    if column.type == "integer" and nulls:
        numbers = [value for value in values if value is not None]
        _check_exact(column.name, min(numbers, default=0), max(numbers, default=0))
    types = {
        "boolean": "boolean" if nulls else "bool",
        "integer": "float64" if nulls else "int64",
        "number": "float64",
    }
    return pandas.Series(values, dtype=types.get(column.type, text))


def _check_exact(name: str, lowest: int, highest: int) -> None:
    if max(-lowest, highest) > EXACT:
        raise ConversionError(
            f"The column {name!r} has nulls and integers beyond 2^53, which a float would round.",
            'Choose dtype_backend="pyarrow", or to="arrow".',
        )


def _shaped(frame: Any, kind: str) -> Any:
    """Turns the column of WKT of a data frame for geopandas into one of geometries."""
    if kind != "geopandas":
        return frame
    geopandas = require("geopandas", 'The result to="geopandas"')
    if "geometry_wkt" not in frame.columns:
        raise UsageError(
            "The selection has no geometry.", 'Choose to="pandas", or select `geometry_wkt` too.'
        )
    texts = frame["geometry_wkt"]
    shapes = geopandas.GeoSeries.from_wkt(texts.astype(object).where(texts.notna(), None), crs=4326)
    position = list(frame.columns).index("geometry_wkt")
    frame = frame.drop(columns="geometry_wkt")
    frame.insert(position, "geometry", shapes)
    return geopandas.GeoDataFrame(frame, geometry="geometry", crs=4326)


def _arrow_table(pull: Pull) -> Any:
    pa = require("pyarrow", PURPOSE)
    tables: list[Any] = []
    for source in pull.sources:
        if source.parquet:
            table = parquet_file(source, pull.dates, mapped=True).read()
        else:
            table = pa.ipc.open_stream(_mapped(pa, source)).read_all()
            _check_rows("page", table.num_rows, source)
        tables.append(_with_dates(pa, table, pull.dates))
        if not tables[0].schema.equals(tables[-1].schema):
            raise StreamError("Pages of one pull have different columns.")
    if not tables:
        raise ShortTableError("The pull has no page.")
    return pa.concat_tables(tables) if len(tables) > 1 else tables[0]


def record_batches(source: Source, dates: frozenset[str]) -> Iterator[Any]:
    """Yields the rows of a file as `pyarrow.RecordBatch`, one at a time in memory."""
    pa = require("pyarrow", PURPOSE)
    if source.parquet:
        file = parquet_file(source, dates)
        # Of several row groups at once, pyarrow reads all ahead.
        found = (
            batch
            for group in range(file.num_row_groups)
            for batch in file.iter_batches(batch_size=BATCH_ROWS, row_groups=[group])
        )
    else:
        found = pa.ipc.open_stream(_mapped(pa, source))
    for batch in found:
        table = _with_dates(pa, pa.Table.from_batches([batch]), dates)
        yield from table.combine_chunks().to_batches()


def parquet_file(
    source: Source, dates: frozenset[str] = frozenset(), *, mapped: bool = False
) -> Any:
    """Opens the Parquet file of a bulk download; `mapped` counts what was read as memory in use.

    Raises ShortTableError where it has another number of rows than the service announced."""
    parquet = require("pyarrow.parquet", "Reading the bulk file")
    # Few different dates are cast once each; the file keeps its text as a dictionary anyhow.
    try:
        path, dictionaries = source.page.path, sorted(dates)
        file = parquet.ParquetFile(path, read_dictionary=dictionaries, memory_map=mapped)
    except require("pyarrow", PURPOSE).ArrowException:
        raise StreamError("The bulk file is no Parquet file.") from None
    _check_rows("bulk file", file.metadata.num_rows, source)
    return file


def column_types(schema: Any, dates: frozenset[str] = frozenset()) -> tuple[ColumnType, ...]:
    """Returns names and types of the columns of a schema of pyarrow."""
    types = require("pyarrow", PURPOSE).types
    kinds = {
        "integer": types.is_integer,
        "number": types.is_floating,
        "boolean": types.is_boolean,
        "date": types.is_date,
        TIME: types.is_timestamp,
    }
    found: list[ColumnType] = []
    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        named = next((name for name, is_kind in kinds.items() if is_kind(kind)), "string")
        if LABELLED.encode() in (field.metadata or {}):
            named = LABEL
        found.append(ColumnType(field.name, "date" if field.name in dates else named))
    return tuple(found)


def _with_dates(pa: Any, table: Any, dates: frozenset[str]) -> Any:
    """Casts columns of text that are dates to `date32`."""
    for index, field in enumerate(table.schema):
        if field.name not in dates or pa.types.is_date(field.type):
            continue
        column = table.column(index)
        try:
            if pa.types.is_dictionary(field.type):
                chunks = [
                    pa.DictionaryArray.from_arrays(
                        chunk.indices, chunk.dictionary.cast(pa.date32())
                    ).dictionary_decode()
                    for chunk in column.chunks
                ]
                column = pa.chunked_array(chunks, type=pa.date32())
            else:
                column = column.cast(pa.date32())
        except pa.ArrowInvalid:
            raise no_dates(field.name) from None
        table = table.set_column(index, pa.field(field.name, pa.date32(), field.nullable), column)
    return table


def _mapped(pa: Any, source: Source) -> Any:
    """Returns the file, mapped where a mapped file may be deleted."""
    if os.name == "posix":
        return pa.memory_map(os.fspath(source.page.path))
    return pa.py_buffer(source.page.path.read_bytes())


def _polars_frame(pl: Any, source: Source, dates: frozenset[str]) -> Any:
    """Reads a file by polars alone, with text of dates as dates."""
    path = source.page.path
    frame = pl.read_parquet(path) if source.parquet else pl.read_ipc_stream(path.read_bytes())
    _check_rows("file", frame.height, source)
    names = [name for name in frame.columns if name in dates and frame[name].dtype == pl.String]
    try:
        return frame.with_columns(
            [pl.col(name).str.to_date("%Y-%m-%d", strict=True) for name in names]
        )
    except pl.exceptions.PolarsError:
        raise no_dates(", ".join(names)) from None


def _check_rows(file: str, rows: int, source: Source) -> None:
    if rows != source.page.rows:
        raise ShortTableError(f"A {file} has {rows} rows, and {source.page.rows} were announced.")
