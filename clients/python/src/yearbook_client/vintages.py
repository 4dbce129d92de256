"""Revisions: rows as often as they were published differently, and the table of what was known when.
Owns the two shapes (contract-21-clients-revisions), the moments as timestamps, and that a vintage is
never made of less than what was known then: what would leave out a part is refused."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from .credits import Credit, attach
from .errors import IntegrityError, UsageError
from .models import Preview
from .pull import Pull, pull
from .results import TIME, ColumnType, Rows, as_dicts, convert
from .results.tables import arrow_types, made_table
from .selection import OF_A_VERSION, Selection, instant, moment, text
from .session import Session
from .settings import require

FROM, UNTIL = "_valid_from", "_valid_to"
SHAPES = ("long", "wide")
_NEVER = datetime.max.replace(tzinfo=timezone.utc)
# Roles of columns that tell rows apart. Others, such as statuses, change from version to version.
_KEYS = ("date", "period", "dimension", "key")


@dataclass(frozen=True)
class Request:
    """Revisions of a selection, and the table to make of them."""

    selection: Selection
    shape: str
    value: str | None
    kind: str

    @classmethod
    def of(
        cls,
        name: str,
        criteria: Mapping[str, Any],
        since: Any,
        shape: Any,
        value: str | None,
        kind: str,
    ) -> Request:
        """Checks arguments. Raises UsageError for what no service could accept."""
        for one in sorted(OF_A_VERSION & criteria.keys()):
            raise UsageError(f"`{one}` is not taken here.", "Revisions are rows of all versions.")
        if shape not in SHAPES:
            raise UsageError(f"`shape` is {shape!r:.60}.", 'It is "long" or "wide".')
        selection = Selection.of(name, **criteria)
        columns = selection.columns
        if columns is not None:
            columns = (*columns, *(one for one in (FROM, UNTIL) if one not in columns))
        since = moment("since", since)
        selection = replace(selection, columns=columns, revisions=True, since=since)
        if shape == "wide":
            if selection.limit is not None:
                raise UsageError("`limit` would cut vintages.", "Bound `start`, `end` or `where`.")
            if kind == "geopandas":
                raise UsageError("Vintages have no geometry.", "Choose another `to`.")
        elif value is not None:
            raise UsageError("`value` is the column of vintages.", 'Add shape="wide".')
        return cls(selection, shape, text("value", value), kind)


def revisions(session: Session, request: Request, dtype_backend: str | None) -> Any:
    """Returns the revisions that `request` asks for, as a table of its kind and shape."""
    if request.shape == "long":
        pulled, table = pull(
            session,
            request.selection,
            lambda one: convert(one, request.kind, dtype_backend),
            bulk=False,
        )
        return attach(_timed(table, request.kind), pulled.credit)
    preview = session.preview(request.selection.name)
    keys, value = _triangle(preview, request)
    selection = replace(request.selection, columns=(*keys, value, FROM, UNTIL))
    pulled, found = pull(session, selection, lambda one: convert(one, "rows"), bulk=False)
    rows: Rows = _timed(found, "rows")
    return _wide(pulled, rows, keys, value, request.kind, dtype_backend)


def _triangle(preview: Preview, request: Request) -> tuple[tuple[str, ...], str]:
    """Returns the columns that tell rows apart, of those that are selected, and that of the values."""
    chosen = request.selection.columns
    columns = [one for one in preview.columns if chosen is None or one.name in chosen]
    values = [one.name for one in columns if one.role == "value"]
    value = request.value
    if value is None and len(values) == 1:
        (value,) = values
    if value is None or value not in {one.name for one in preview.columns}:
        raise UsageError(
            "Vintages are of one column"
            + (", and there are several." if value is None else f"; there is no {value!r}."),
            f"Give `value`: {', '.join(values) or 'a column of values'}.",
        )
    keys = {one.name for one in columns if one.role in _KEYS and one.name != value}
    order = chosen or [one.name for one in preview.columns]
    return tuple(name for name in order if name in keys), value


def _wide(
    pulled: Pull,
    rows: Rows,
    keys: tuple[str, ...],
    value: str,
    kind: str,
    dtype_backend: str | None,
) -> Any:
    """Returns a row for each combination of `keys`, with a column for each time of a change."""
    both: list[datetime | None] = [row[name] for row in rows for name in (FROM, UNTIL)]
    found: set[datetime] = {one for one in both if one is not None}
    if pulled.plan.selection.since is not None:
        # Before it only a part of the rows is here, at it all that stood.
        since = instant(pulled.plan.selection.since)
        stood = any(row[FROM] <= since and since < (row[UNTIL] or _NEVER) for row in rows)
        found = {one for one in found if one > since}
        if stood:
            found.add(since)
    times = sorted(found)
    lines: dict[tuple[Any, ...], list[Any]] = {}
    claimed: dict[tuple[Any, ...], list[bool]] = {}
    for row in rows:
        key = tuple(row[name] for name in keys)
        line = lines.setdefault(key, [None] * len(times))
        taken = claimed.setdefault(key, [False] * len(times))
        end = len(times) if row[UNTIL] is None else bisect_left(times, row[UNTIL])
        for place in range(bisect_left(times, row[FROM]), end):
            if taken[place]:
                raise UsageError(
                    "At one time two rows had the same "
                    + (", ".join(f"{name}={one!r}" for name, one in zip(keys, key)) or "key")
                    + ".",
                    "Add the column that tells them apart to `columns`, or bound `where`.",
                )
            line[place], taken[place] = row[value], True
    types = {column.name: column.type for column in rows.columns}
    named = [(name, types[name]) for name in keys]
    named += [(f"{one:%Y-%m-%dT%H:%M:%SZ}", types[value]) for one in times]
    columns = tuple(ColumnType(*one) for one in named)
    cells = [[key[place] for key in lines] for place in range(len(keys))]
    cells += [[line[place] for line in lines.values()] for place in range(len(times))]
    return _table(columns, cells, len(lines), kind, dtype_backend, pulled.credit)


def _table(
    columns: tuple[ColumnType, ...],
    cells: list[list[Any]],
    rows: int,
    kind: str,
    dtype_backend: str | None,
    credit: Credit,
) -> Any:
    if kind == "rows":
        return Rows(as_dicts(columns, (cells, rows)), columns, credit)
    return attach(made_table(columns, (cells, rows), kind, dtype_backend), credit)


def _timed(table: Any, kind: str) -> Any:
    """Returns a table of revisions with moments for the texts that name them."""
    if kind == "rows":
        known: dict[Any, datetime | None] = {None: None}
        for row in table:
            for name in (FROM, UNTIL):
                if row[name] not in known:
                    known[row[name]] = _instant(row[name])
                row[name] = known[row[name]]
        table.columns = tuple(
            ColumnType(one.name, TIME) if one.name in (FROM, UNTIL) else one
            for one in table.columns
        )
        return table
    try:
        return _cast(table, kind)
    except ValueError:
        raise _unreadable() from None


def _cast(table: Any, kind: str) -> Any:
    if kind == "arrow":
        pa, found = require("pyarrow", 'The result to="arrow"'), arrow_types()[TIME]
        for name in (FROM, UNTIL):
            place = table.schema.get_field_index(name)
            column = table.column(place).cast(pa.string()).cast(found)
            field = table.schema.field(place).with_type(found)
            table = table.set_column(place, field, column)
        return table
    if kind == "polars":
        pl = require("polars", 'The result to="polars"')
        made = [
            pl.col(name).cast(pl.String).str.to_datetime("%Y-%m-%dT%H:%M:%S%#z", time_unit="us")
            for name in (FROM, UNTIL)
        ]
        try:
            return table.with_columns(made)
        except pl.exceptions.PolarsError:
            raise _unreadable() from None
    pandas = require("pandas", f"The result to={kind!r}")
    for name in (FROM, UNTIL):
        kept = str(table[name].dtype).endswith("[pyarrow]")
        column = pandas.to_datetime(table[name].astype(object), utc=True).dt.as_unit("us")
        if kept:
            column = column.astype(pandas.ArrowDtype(arrow_types()[TIME]))
        table[name] = column
    return table


def _instant(text: Any) -> datetime:
    try:
        return instant(text)
    except (TypeError, ValueError):
        raise _unreadable() from None


def _unreadable() -> IntegrityError:
    return IntegrityError("The service's revisions have a time that cannot be read.")
