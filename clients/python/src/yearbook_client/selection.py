"""A selection: rows and columns of a dataset. Owns the keywords and query parameters that say so."""

from __future__ import annotations

import datetime
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from .errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

DateLike = str | datetime.date
_Verb = TypeVar("_Verb", bound=Callable[..., Any])


class Criteria(TypedDict, total=False):
    """Keywords of every verb that reads rows. `start` and `end` are inclusive, `dimensions` is a text
    that any dimension contains, `snapshot` a version to read, `limit` None every row."""

    start: DateLike | None
    end: DateLike | None
    dimensions: str | None
    columns: Sequence[str] | None
    geometry: bool
    snapshot: str | None
    limit: int | None


@dataclass(frozen=True)
class Selection:
    """Rows and columns of a dataset: criteria that were checked."""

    name: str
    start: str | None = None
    end: str | None = None
    dimensions: str | None = None
    columns: tuple[str, ...] | None = None
    geometry: bool = True
    snapshot: str | None = None
    limit: int | None = None

    @classmethod
    def of(cls, name: str, **criteria: Unpack[Criteria]) -> Selection:
        """Checks arguments and makes a selection of them.

        Raises UsageError for what the service would refuse in any case."""
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is no name of a dataset.", "Look the name up with `search`."
            )
        columns, limit = criteria.get("columns"), criteria.get("limit")
        if isinstance(columns, str):
            columns = [column.strip() for column in columns.split(",")]
        if columns is not None and (not columns or any("," in column for column in columns)):
            raise UsageError("`columns` is empty, or has a name with a comma in it.")
        if limit is not None and limit < 1:
            raise UsageError("`limit` is below 1.", "Leave it away for every row.")
        checked: dict[str, Any] = {
            **criteria,
            "start": _day("start", criteria.get("start")),
            "end": _day("end", criteria.get("end")),
            "dimensions": criteria.get("dimensions") or None,
            "columns": tuple(columns) if columns is not None else None,
            "snapshot": criteria.get("snapshot") or None,
        }
        return cls(name, **checked)

    @property
    def path(self) -> str:
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


def selecting(verb: _Verb) -> _Verb:
    """Writes the criteria into the signature of a verb, where help and completion look for them."""
    own = inspect.signature(verb)
    named = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    criteria = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default)
        for one in fields(Selection)
        if one.name in Criteria.__annotations__
    ]
    verb.__signature__ = own.replace(parameters=[*named, *criteria])  # type: ignore[attr-defined]
    return verb
