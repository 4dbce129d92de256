"""Long tables to wide ones and back. Owns the refusal of duplicates: two values never become one
without a word, and a value never changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .credits import Credit, attach, credit
from .errors import UsageError
from .results import ColumnType, Rows
from .results.tables import arrow_types, column_types, table_of
from .settings import require


def pivot_wider(
    table: Any,
    *,
    names_from: str | Iterable[str],
    values_from: str = "value",
    id_columns: str | Iterable[str] | None = None,
) -> Any:
    """Returns a table with a column for each value of `names_from`, in order of appearance.

    Rows, pandas, polars and pyarrow tables are taken and returned. `id_columns` are what tells rows
    apart, by default all other columns. Names of several columns are joined by `_`. Raises
    UsageError where two rows claim one cell, two series get one name, or a new name is taken."""
    names = _listed(names_from)
    rows, columns, rebuild = _taken(table)
    present = [column.name for column in columns]
    ids = [name for name in present if name not in (*names, values_from)]
    ids = ids if id_columns is None else _listed(id_columns)
    _check(present, [*names, values_from, *ids])
    wide: dict[tuple[Any, ...], dict[str, Any]] = {}
    order: dict[str, tuple[str | None, ...]] = {}
    for row in rows:
        series = tuple(None if row[name] is None else str(row[name]) for name in names)
        label = "_".join(part or "" for part in series)
        if order.setdefault(label, series) != series:
            raise UsageError(
                f"Two series get the same name {label!r}.",
                "Rename the values of one of them first, a null too.",
            )
        cells = wide.setdefault(tuple(row[name] for name in ids), {})
        if label in cells:
            place = ", ".join(f"{name}={row[name]!r}" for name in ids)
            raise UsageError(
                f"Two rows claim the cell {label!r} of {place}.",
                "Add the column that tells them apart to `names_from` or `id_columns`.",
            )
        cells[label] = row[values_from]
    taken = sorted(set(ids) & set(order))
    if taken:
        raise UsageError(f"The new column {taken[0]!r} has the name of an old one.")
    types = {column.name: column.type for column in columns}
    made = [ColumnType(name, types[name]) for name in ids]
    made += [ColumnType(label, types[values_from]) for label in order]
    found = [
        {**dict(zip(ids, place)), **{label: cells.get(label) for label in order}}
        for place, cells in wide.items()
    ]
    return rebuild(found, tuple(made))


def pivot_longer(
    table: Any,
    columns: str | Iterable[str],
    *,
    names_to: str = "name",
    values_to: str = "value",
    drop_nulls: bool = False,
) -> Any:
    """Returns a table with a row for each of `columns` of each row, in the order of both.

    Raises UsageError where the columns have different types: one column has one."""
    columns = _listed(columns)
    rows, present, rebuild = _taken(table)
    types = {column.name: column.type for column in present}
    _check(list(types), columns)
    kinds = {types[name] for name in columns}
    if kinds == {"integer", "number"}:
        raise UsageError(
            "Integers and numbers do not share a column without a change.", "Pivot them apart."
        )
    if len(kinds) != 1:
        raise UsageError(f"The columns have different types: {', '.join(sorted(kinds))}.")
    ids = [name for name in types if name not in columns]
    if {names_to, values_to} & set(ids) or names_to == values_to:
        raise UsageError("`names_to` or `values_to` is the name of a column that stays.")
    found = [
        {**{name: row[name] for name in ids}, names_to: column, values_to: row[column]}
        for row in rows
        for column in columns
        if not (drop_nulls and row[column] is None)
    ]
    made = [ColumnType(name, types[name]) for name in ids]
    made += [ColumnType(names_to, "string"), ColumnType(values_to, kinds.pop())]
    return rebuild(found, tuple(made))


def _listed(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _check(present: Sequence[str], wanted: Sequence[str]) -> None:
    missing = [name for name in wanted if name not in present]
    if missing:
        raise UsageError(f"There is no column {missing[0]!r}.", f"It has {', '.join(present)}.")


def _taken(table: Any) -> tuple[list[dict[str, Any]], tuple[ColumnType, ...], Any]:
    """Returns a table's rows and columns, and what makes a table of its kind of others."""
    if isinstance(table, Rows):
        own = table.credit

        def rows_again(rows: list[dict[str, Any]], types: tuple[ColumnType, ...]) -> Rows:
            return Rows(rows, types, own)

        return table, table.columns, rows_again
    pa = require("pyarrow", "Pivoting a data frame")
    kind, dtype_backend = type(table).__module__.partition(".")[0], None
    if kind == "pyarrow":
        kind, found = "arrow", table
    elif kind == "polars":
        found = table.to_arrow()
    elif kind == "pandas":
        found = pa.Table.from_pandas(table, preserve_index=False)
        if any(str(dtype).endswith("[pyarrow]") for dtype in table.dtypes):
            dtype_backend = "pyarrow"
    else:
        raise UsageError(f"A {type(table).__name__} cannot be pivoted.", "Give a result of `get`.")
    for index, field in enumerate(found.schema):
        # Moments have a time zone, and dates of pandas none.
        if pa.types.is_timestamp(field.type) and field.type.tz is None:
            found = found.set_column(index, field.name, found.column(index).cast(pa.date32()))
    arrow = arrow_types()
    known = _credit(table)

    def rebuild(rows: list[dict[str, Any]], types: tuple[ColumnType, ...]) -> Any:
        schema = pa.schema([(column.name, arrow[column.type]) for column in types])
        made = table_of(pa.Table.from_pylist(rows, schema=schema), kind, dtype_backend)
        return attach(made, known) if known is not None else made

    return found.to_pylist(), column_types(found.schema), rebuild


def _credit(table: Any) -> Credit | None:
    try:
        return credit(table)
    except UsageError:
        return None
