"""Results: rows as Python objects, read without any other package, and the choice of a table
(contract-11-to). Owns the conversion of text to dates; a null is None and an empty text is a text
(contract-11-typed)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, get_args

from ..arrow import ArrowField, ColumnData, open_stream
from ..credits import Credit, attach
from ..errors import ConversionError, UsageError
from ..pull import Pull, Source
from ..settings import available, require

To = Literal["rows", "pandas", "polars", "arrow", "geopandas"]
KINDS: tuple[str, ...] = get_args(To)
# The type of a column that has labels in place of its values.
LABEL = "label"
# That of the moments between which a row was what the service said.
TIME = "time"
# Values of a batch, column by column, and its number of rows.
Values = tuple[list[list[Any]], int]


@dataclass(frozen=True)
class ColumnType:
    """Name and type of a column: string, integer, number, boolean or date, label with `labels`, time
    in `revisions`."""

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


def choose(to: str | None) -> str:
    """Returns the kind of result: `to`, else pandas where it is installed, else rows."""
    if to is None:
        return "pandas" if available("pandas") else "rows"
    if to not in KINDS:
        raise UsageError(f"`to` is {to!r}.", f"It is one of {', '.join(KINDS)}.")
    if to != "rows":
        # Before anything is charged.
        require("pyarrow" if to == "arrow" else to, f"The result to={to!r}")
    return to


def reads_parquet(kind: str) -> bool:
    """True where a result of this kind can be made of the bulk file with what is installed."""
    return available("pyarrow") or (kind == "polars" and available("polars"))


def convert(pull: Pull, kind: str, dtype_backend: str | None = None) -> Any:
    """Returns all rows of a pull as one table of `kind`."""
    if kind == "rows":
        found: list[dict[str, Any]] = []
        columns: tuple[ColumnType, ...] = ()
        for source in pull.sources:
            columns = columns_of(source, pull.dates)
            for values in value_batches(source, pull.dates):
                found.extend(as_dicts(columns, values))
        return Rows(found, columns, pull.credit)
    from .tables import whole_table

    return attach(whole_table(pull, kind, dtype_backend), pull.credit)


def convert_batches(
    pull: Pull, source: Source, kind: str, dtype_backend: str | None = None
) -> Iterator[Any]:
    """Yields the rows of one file as tables of `kind`, one batch at a time in memory."""
    from .tables import record_batches, table_of, table_of_values

    credit = pull.credit
    if kind != "rows" and available("pyarrow"):
        for batch in record_batches(source, pull.dates):
            yield attach(table_of(batch, kind, dtype_backend), credit)
        return
    columns = columns_of(source, pull.dates)
    for values in value_batches(source, pull.dates):
        if kind == "rows":
            yield Rows(as_dicts(columns, values), columns, credit)
        else:
            yield attach(table_of_values(columns, values, kind), credit)


def columns_of(source: Source, dates: frozenset[str]) -> tuple[ColumnType, ...]:
    """Returns names and types of the columns of a file; text that is a date is one."""
    if source.parquet:
        from .tables import column_types, parquet_file

        return column_types(parquet_file(source).schema_arrow, dates)
    types: list[ColumnType] = []
    for field in open_stream(source.page.path).fields:
        kind = "string" if field.kind == "null" else field.kind
        types.append(ColumnType(field.name, "date" if _is_dated(field, dates) else kind))
    return tuple(types)


def value_batches(source: Source, dates: frozenset[str]) -> Iterator[Values]:
    """Yields the values of a file, batch by batch, with text of dates as dates."""
    if source.parquet:
        from .tables import record_batches

        for found in record_batches(source, dates):
            yield [column.to_pylist() for column in found.columns], found.num_rows
        return
    for batch in open_stream(source.page.path):
        yield [_values(column, dates) for column in batch.columns], batch.rows


def as_dicts(columns: tuple[ColumnType, ...], values: Values) -> list[dict[str, Any]]:
    if not columns:
        return [{} for _ in range(values[1])]
    names = [column.name for column in columns]
    return [dict(zip(names, row)) for row in zip(*values[0])]


def _is_dated(field: ArrowField, dates: frozenset[str]) -> bool:
    return field.kind == "string" and field.name in dates


def _values(column: ColumnData, dates: frozenset[str]) -> list[Any]:
    """Returns the values of a column; ISO dates, of which it has few different ones, are parsed.

    Raises ConversionError for text that is no date."""
    found = column.to_list()
    if not _is_dated(column.field, dates):
        return found
    known: dict[Any, date | None] = {None: None}
    for text in set(found) - {None}:
        try:
            known[text] = date.fromisoformat(text)
        except ValueError:
            raise no_dates(column.field.name, repr(text)) from None
    return [known[text] for text in found]


def no_dates(name: str, found: str = "something else") -> ConversionError:
    return ConversionError(
        f"The column {name!r} is declared as dates and holds {found}.",
        "Report it to the publisher; `download` gives the file as it is.",
    )
