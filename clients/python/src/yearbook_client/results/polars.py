"""Data frames of polars, with pyarrow or without. Owns the cast of text to dates."""

from __future__ import annotations

from typing import Any

from ..credits import attach
from ..errors import ConversionError, ShortTableError
from ..optional import available, require
from ..pull import Pull, Source

PURPOSE = 'The result to="polars"'


def to_polars(pull: Pull) -> Any:
    """Returns all rows of a pull as a `polars.DataFrame`; every value and every null is kept."""
    pl = require("polars", PURPOSE)
    if available("pyarrow") and not pull.sources[0].parquet:
        from .arrow import plain_table

        frame = pl.from_arrow(plain_table(pull))
    else:
        frames = [with_dates(pl, _read(pl, source), pull.dates) for source in pull.sources]
        frame = pl.concat(frames) if len(frames) > 1 else frames[0]
    return attach(frame, pull.credit)


def with_dates(pl: Any, frame: Any, dates: frozenset[str]) -> Any:
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
