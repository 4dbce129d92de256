"""The choice of a result: `to` and what is installed. Owns the default (contract-11-to)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args

from ..credits import attach
from ..errors import UsageError
from ..optional import available, require
from ..pull import Pull, Source
from .rows import Rows, columns_of, row_batches, to_rows

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
    """Returns all rows of a pull as a table of `kind`."""
    if kind == "rows":
        return to_rows(pull)
    if kind == "arrow":
        from .arrow import to_arrow

        return to_arrow(pull)
    if kind == "polars":
        from .polars import to_polars

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
