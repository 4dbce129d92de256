"""Rows as Python objects, and the way from Arrow streams to them without any other package. Owns the
conversion of text to dates; a null is None and an empty text is a text (contract-11-typed)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from ..arrow.schema import ArrowField
from ..arrow.stream import Batch, StreamReader, open_stream
from ..credits import Credit
from ..errors import ConversionError
from ..optional import require
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
    """Returns all rows of a pull."""
    found: list[dict[str, Any]] = []
    columns: tuple[ColumnType, ...] = ()
    for source in pull.sources:
        columns = columns_of(source, pull.dates)
        for rows in row_batches(source, pull.dates):
            found.extend(rows)
    return Rows(found, columns, pull.credit)


def columns_of(source: Source, dates: frozenset[str]) -> tuple[ColumnType, ...]:
    """Returns names and types of the columns of a file."""
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
    """Turns columns into rows."""
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
