"""Tables of pyarrow and polars, from streams without a copy and from Parquet. Owns the cast of text
to dates and the checks that both packages leave out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ..credits import attach
from ..errors import ConversionError, ShortTableError, StreamError
from ..optional import available, require
from ..pull import Pull, Source
from .rows import ColumnType

PURPOSE = 'The result to="arrow"'
# Rows of a batch that is read from Parquet.
BATCH_ROWS = 16_384


def to_arrow(pull: Pull) -> Any:
    """Returns all rows of a pull as a `pyarrow.Table` with the credit in its metadata."""
    return attach(plain_table(pull), pull.credit)


def plain_table(pull: Pull) -> Any:
    """Returns the table without the client's own metadata."""
    pa = require("pyarrow", PURPOSE)
    tables: list[Any] = []
    for source in pull.sources:
        table = _parquet_table(source, pull.dates) if source.parquet else _stream_table(source)
        tables.append(with_dates(table, pull.dates))
    if not tables:
        raise ShortTableError("The pull has no page.")
    for table in tables[1:]:
        if not table.schema.equals(tables[0].schema):
            raise StreamError("Pages of one pull have different columns.")
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
        found = pa.ipc.open_stream(_mapped(source))
    for batch in found:
        table = with_dates(pa.Table.from_batches([batch]), dates)
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
    if file.metadata.num_rows != source.page.rows:
        raise ShortTableError(
            f"The bulk file has {file.metadata.num_rows} rows, and {source.page.rows} were announced."
        )
    return file


def column_types(schema: Any, dates: frozenset[str]) -> tuple[ColumnType, ...]:
    types = require("pyarrow", PURPOSE).types
    found: list[ColumnType] = []
    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if field.name in dates or types.is_date(kind):
            named = "date"
        elif types.is_integer(kind):
            named = "integer"
        elif types.is_floating(kind):
            named = "number"
        elif types.is_boolean(kind):
            named = "boolean"
        else:
            named = "string"
        found.append(ColumnType(field.name, named))
    return tuple(found)


def with_dates(table: Any, dates: frozenset[str]) -> Any:
    """Casts columns of text that are dates to `date32`.

    Raises ConversionError for text that is no date."""
    pa = require("pyarrow", PURPOSE)
    for index, field in enumerate(table.schema):
        if field.name not in dates or pa.types.is_date(field.type):
            continue
        column = table.column(index)
        if pa.types.is_dictionary(field.type):
            chunks = [_decoded(pa, chunk, field.name) for chunk in column.chunks]
            column = pa.chunked_array(chunks, type=pa.date32())
        else:
            column = _cast(pa, column, field.name)
        table = table.set_column(index, pa.field(field.name, pa.date32(), field.nullable), column)
    return table


def _decoded(pa: Any, chunk: Any, name: str) -> Any:
    days = _cast(pa, chunk.dictionary, name)
    return pa.DictionaryArray.from_arrays(chunk.indices, days).dictionary_decode()


def _cast(pa: Any, texts: Any, name: str) -> Any:
    try:
        return texts.cast(pa.date32())
    except pa.ArrowInvalid:
        raise ConversionError(
            f"The column {name!r} is declared as dates and holds something else.",
            "Report it to the publisher; `download` gives the file as it is.",
        ) from None


def _parquet_table(source: Source, dates: frozenset[str]) -> Any:
    return parquet_file(source, dates, mapped=True).read()


def _stream_table(source: Source) -> Any:
    pa = require("pyarrow", PURPOSE)
    table = pa.ipc.open_stream(_mapped(source)).read_all()
    if table.num_rows != source.page.rows:
        raise ShortTableError(
            f"A page has {table.num_rows} rows, and {source.page.rows} were announced."
        )
    return table


def _mapped(source: Source) -> Any:
    """Returns the file, mapped where a mapped file may be deleted."""
    pa = require("pyarrow", PURPOSE)
    if os.name == "posix":
        return pa.memory_map(os.fspath(source.page.path))
    return pa.py_buffer(source.page.path.read_bytes())


_POLARS = 'The result to="polars"'


def to_polars(pull: Pull) -> Any:
    """Returns all rows of a pull as a `polars.DataFrame`; every value and every null is kept."""
    pl = require("polars", _POLARS)
    if available("pyarrow") and not pull.sources[0].parquet:
        frame = pl.from_arrow(plain_table(pull))
    else:
        frames = [_polars_dates(pl, _read(pl, source), pull.dates) for source in pull.sources]
        frame = pl.concat(frames) if len(frames) > 1 else frames[0]
    return attach(frame, pull.credit)


def _polars_dates(pl: Any, frame: Any, dates: frozenset[str]) -> Any:
    """Casts columns of text that are dates to `Date`.

    Raises ConversionError for text that is no date."""
    names = [name for name in frame.columns if name in dates and frame[name].dtype == pl.String]
    try:
        return frame.with_columns(
            [pl.col(name).str.to_date("%Y-%m-%d", strict=True) for name in names]
        )
    except pl.exceptions.PolarsError:
        raise ConversionError(
            f"A column of {', '.join(names)} is declared as dates and holds something else.",
            "Report it to the publisher; `download` gives the file as it is.",
        ) from None


def _read(pl: Any, source: Source) -> Any:
    path = source.page.path
    frame = pl.read_parquet(path) if source.parquet else pl.read_ipc_stream(path.read_bytes())
    if frame.height != source.page.rows:
        raise ShortTableError(
            f"A file has {frame.height} rows, and {source.page.rows} were announced."
        )
    return frame
