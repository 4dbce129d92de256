"""Rows as Python objects, read without any other package, and the choice of a result
(contract-11-to). Owns the conversion of text to dates; a null is None and an empty text is a text
(contract-11-typed)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, get_args

from ..arrow.stream import ArrowField, Batch, StreamReader, open_stream
from ..credits import Credit, attach
from ..errors import ConversionError, UsageError
from ..optional import available, require
from ..pull import Pull, Source


@dataclass(frozen=True)
class ColumnType:
    """Name and type of a column: string, integer, number, boolean or date."""

    name: str
    type: str


class Rows(list[dict[str, Any]]):
    """Rows as dictionaries, with their columns and their credit."""

    def __init__(
        self, rows: list[dict[str, Any]], columns: tuple[ColumnType, ...], credit: Credit
    ) -> None:
        super().__init__(rows)
        self.columns = columns
        self.credit = credit

    def __repr__(self) -> str:
        head = ", ".join(repr(row) for row in self[:3])
        more = f", … {len(self) - 3} more" if len(self) > 3 else ""
        return f"Rows([{head}{more}])"


def to_rows(pull: Pull) -> Rows:
    found: list[dict[str, Any]] = []
    columns: tuple[ColumnType, ...] = ()
    for source in pull.sources:
        columns = columns_of(source, pull.dates)
        for rows in row_batches(source, pull.dates):
            found.extend(rows)
    return Rows(found, columns, pull.credit)


def columns_of(source: Source, dates: frozenset[str]) -> tuple[ColumnType, ...]:
    if source.parquet:
        from .arrow import column_types, parquet_file

        return column_types(parquet_file(source).schema_arrow, dates)
    with open_stream(source.page.path) as buffer:
        return stream_columns(StreamReader(buffer).schema.fields, dates)


def stream_columns(fields: tuple[ArrowField, ...], dates: frozenset[str]) -> tuple[ColumnType, ...]:
    """Returns names and types of the columns of a stream; text that is a date is one."""
    return tuple(
        ColumnType(field.name, "date" if _is_date(field, dates) else _named(field.kind))
        for field in fields
    )


def row_batches(source: Source, dates: frozenset[str]) -> Iterator[list[dict[str, Any]]]:
    """Yields the rows of a file, batch by batch."""
    if source.parquet:
        from .arrow import record_batches

        require("pyarrow", "Reading Parquet")
        for batch in record_batches(source, dates):
            columns = [column.to_pylist() for column in batch.columns]
            yield as_dicts(batch.schema.names, columns, batch.num_rows)
        return
    with open_stream(source.page.path) as buffer:
        reader = StreamReader(buffer)
        names = [field.name for field in reader.schema.fields]
        for batch in reader:
            yield as_dicts(names, column_values(batch, dates), batch.rows)


def as_dicts(names: list[str], columns: list[list[Any]], rows: int) -> list[dict[str, Any]]:
    if not columns:
        return [{} for _ in range(rows)]
    return [dict(zip(names, row)) for row in zip(*columns)]


def column_values(batch: Batch, dates: frozenset[str]) -> list[list[Any]]:
    """Returns the values of a batch, column by column, with text of dates as dates."""
    return [
        days(column.to_list(), column.field.name)
        if _is_date(column.field, dates) and column.field.kind == "string"
        else column.to_list()
        for column in batch.columns
    ]


def days(texts: list[Any], name: str) -> list[date | None]:
    """Parses ISO dates; a column has few different ones.

    Raises ConversionError for text that is no date."""
    known: dict[Any, date | None] = {None: None}
    for text in set(texts) - {None}:
        try:
            known[text] = date.fromisoformat(text)
        except ValueError:
            raise ConversionError(
                f"The column {name!r} is declared as dates and holds {text!r}.",
                "Report it to the publisher; `download` gives the file as it is.",
            ) from None
    return [known[text] for text in texts]


def _is_date(field: ArrowField, dates: frozenset[str]) -> bool:
    return field.kind == "date" or (field.kind == "string" and field.name in dates)


def _named(kind: str) -> str:
    return "string" if kind == "null" else kind


To = Literal["rows", "pandas", "polars", "arrow", "geopandas"]
KINDS: tuple[str, ...] = get_args(To)


def choose(to: str | None) -> str:
    """Returns the kind of result: `to`, else pandas where it is installed, else rows."""
    if to is None:
        return "pandas" if available("pandas") else "rows"
    if to not in KINDS:
        raise UsageError(f"`to` is {to!r}.", f"It is one of {', '.join(KINDS)}.")
    needed = {"arrow": "pyarrow", "rows": None}.get(to, to)
    if needed is not None:
        # Before anything is charged.
        require(needed, f"The result to={to!r}")
    return to


def reads_parquet(kind: str) -> bool:
    """True where a result of this kind can be made of the bulk file with what is installed."""
    return available("pyarrow") or (kind == "polars" and available("polars"))


def convert(pull: Pull, kind: str, dtype_backend: str | None = None) -> Any:
    if kind == "rows":
        return to_rows(pull)
    if kind == "arrow":
        from .arrow import to_arrow

        return to_arrow(pull)
    if kind == "polars":
        from .arrow import to_polars

        return to_polars(pull)
    from .pandas import to_geopandas, to_pandas

    return to_geopandas(pull) if kind == "geopandas" else to_pandas(pull, dtype_backend)


def convert_batches(
    pull: Pull, source: Source, kind: str, dtype_backend: str | None = None
) -> Iterator[Any]:
    """Yields the rows of one file as tables of `kind`, one batch at a time in memory."""
    credit = pull.credit
    if kind == "rows" or not available("pyarrow"):
        columns = columns_of(source, pull.dates)
        for rows in row_batches(source, pull.dates):
            yield _of_rows(Rows(rows, columns, credit), kind)
        return
    from .arrow import record_batches

    for batch in record_batches(source, pull.dates):
        if kind == "arrow":
            yield attach(batch, credit)
            continue
        pa = require("pyarrow", "Reading batches")
        yield attach(_of_table(pa.Table.from_batches([batch]), kind, dtype_backend), credit)


def _of_table(table: Any, kind: str, dtype_backend: str | None) -> Any:
    if kind == "polars":
        return require("polars", "polars").from_arrow(table)
    from .pandas import frame_of, geo_frame

    frame = frame_of(table, dtype_backend)
    return geo_frame(require("geopandas", "geopandas"), frame) if kind == "geopandas" else frame


def _of_rows(rows: Rows, kind: str) -> Any:
    """Makes a table of rows where pyarrow is missing."""
    if kind == "rows":
        return rows
    columns = {column.name: [row[column.name] for row in rows] for column in rows.columns}
    if kind == "polars":
        pl = require("polars", "polars")
        types = {
            "string": pl.String,
            "integer": pl.Int64,
            "number": pl.Float64,
            "boolean": pl.Boolean,
            "date": pl.Date,
        }
        schema = {column.name: types[column.type] for column in rows.columns}
        return attach(pl.DataFrame(columns, schema=schema), rows.credit)
    from .pandas import frame_of_values, geo_frame

    frame = frame_of_values(
        {column.name: column.type for column in rows.columns}, columns, len(rows)
    )
    if kind == "geopandas":
        frame = geo_frame(require("geopandas", "geopandas"), frame)
    return attach(frame, rows.credit)
