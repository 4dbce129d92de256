"""A selection: which rows and columns of which dataset. Owns the query parameters that say so."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .errors import UsageError

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

DateLike = str | datetime.date


@dataclass(frozen=True)
class Selection:
    """Rows and columns of a dataset. `limit` None means every row."""

    name: str
    start: str | None = None
    end: str | None = None
    dimensions: str | None = None
    columns: tuple[str, ...] | None = None
    geometry: bool = True
    snapshot: str | None = None
    limit: int | None = None

    @classmethod
    def of(
        cls,
        name: str,
        *,
        start: DateLike | None = None,
        end: DateLike | None = None,
        dimensions: str | None = None,
        columns: Sequence[str] | None = None,
        geometry: bool = True,
        snapshot: str | None = None,
        limit: int | None = None,
    ) -> Selection:
        """Checks arguments and makes a selection of them.

        Raises UsageError for what the service would refuse in any case."""
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is no name of a dataset.", "Look the name up with `search`."
            )
        if isinstance(columns, str):
            columns = [column.strip() for column in columns.split(",")]
        if columns is not None and (not columns or any("," in column for column in columns)):
            raise UsageError("`columns` is empty, or has a name with a comma in it.")
        if limit is not None and limit < 1:
            raise UsageError("`limit` is below 1.", "Leave it away for every row.")
        return cls(
            name,
            _day("start", start),
            _day("end", end),
            dimensions or None,
            tuple(columns) if columns is not None else None,
            geometry,
            snapshot or None,
            limit,
        )

    @property
    def path(self) -> str:
        """Returns the path of the rows."""
        return f"/v1/datasets/{self.name}/data"

    @property
    def filtered(self) -> bool:
        """True where less than the whole table is selected."""
        parts = (self.start, self.end, self.dimensions, self.columns, self.limit)
        return not self.geometry or any(part is not None for part in parts)

    def query(self) -> dict[str, str]:
        """Returns the parameters that decide rows and columns, in the order of their names."""
        found = {
            "columns": ",".join(self.columns) if self.columns is not None else None,
            "dimensions": self.dimensions,
            "end": self.end,
            "geometry": None if self.geometry else "false",
            "snapshot": self.snapshot,
            "start": self.start,
        }
        return {name: value for name, value in found.items() if value is not None}


def _day(name: str, value: DateLike | None) -> str | None:
    if value is None:
        return None
    if isinstance(value, datetime.datetime):
        if value.time() != datetime.time():
            raise UsageError(f"`{name}` has a time of day.", "Give a date.")
        return value.date().isoformat()
    text = value.isoformat() if isinstance(value, datetime.date) else value
    try:
        datetime.date.fromisoformat(text if _DATE.fullmatch(text) else "")
    except ValueError:
        raise UsageError(f"`{name}` is no date: {text!r}.", "Write YYYY-MM-DD.") from None
    return text
