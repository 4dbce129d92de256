"""A selection: rows and columns of a dataset. Owns the keywords and query parameters that say so."""

from __future__ import annotations

import datetime
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, SupportsInt, TypedDict, TypeVar

from .errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


class Scalar(Protocol):
    """A value of numpy, such as a `datetime64`."""

    def item(self) -> Any: ...


class Period(Protocol):
    """A period of pandas: it begins with its first day and ends with its last."""

    @property
    def start_time(self) -> Any: ...
    @property
    def end_time(self) -> Any: ...


DateLike = str | datetime.date | Scalar | Period


class Criteria(TypedDict, total=False):
    """Keywords of every verb that reads rows. `start` and `end` are inclusive, `dimensions` is a text
    that any dimension contains, `snapshot` a version to read, `limit` None every row."""

    start: DateLike | None
    end: DateLike | None
    dimensions: str | None
    columns: Iterable[str] | None
    geometry: bool
    snapshot: str | None
    limit: SupportsInt | None


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
        name = str(name)
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is no name of a dataset.", "Look the name up with `search`."
            )
        columns = criteria.get("columns")
        checked: dict[str, Any] = {
            **criteria,
            "start": _day("start", criteria.get("start")),
            "end": _day("end", criteria.get("end")),
            "dimensions": text("dimensions", criteria.get("dimensions"), empty=True),
            "columns": None if columns is None else _names(columns),
            "snapshot": text("snapshot", criteria.get("snapshot")),
            "limit": whole("limit", criteria.get("limit")),
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


def _plain(value: Any) -> Any:
    """Returns Python's own value of a scalar of numpy or pyarrow, which need not be installed."""
    method = getattr(value, "item", None) or getattr(value, "as_py", None)
    try:
        return method() if method else value
    except (TypeError, ValueError):
        return value  # a table or a list


def _day(name: str, value: Any) -> str | None:
    """Returns the text of a date; of a month or a year its first day, as `end` its last."""
    if value is None:
        return None
    day = value
    if type(value).__name__ == "datetime64":
        if name == "end" and value.dtype.str.endswith(("[M]", "[Y]")):
            day = (value + 1).astype("datetime64[D]") - 1
        day = day.astype("datetime64[us]")
    elif hasattr(value, "end_time"):
        day = getattr(value, f"{name}_time").date()
    day = _plain(day)
    try:
        if isinstance(day, datetime.datetime) and day.time() == datetime.time():
            day = day.date()
        found = day.isoformat() if isinstance(day, datetime.date) else day
        datetime.date.fromisoformat(found if _DATE.fullmatch(found) else "")
    except (TypeError, ValueError):
        raise UsageError(
            f"`{name}` is no date: {value!r:.60}.", "Write YYYY-MM-DD, without a time of day."
        ) from None
    return str(found)


def text(name: str, value: Any, *, empty: bool = False) -> str | None:
    """Checks an argument; None where it is missing, or empty and may be."""
    if value is None or (isinstance(value, str) and (value or empty)):
        return value or None
    raise UsageError(f"`{name}` is no text: {value!r:.60}.", "Give one text, or leave it away.")


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [one.strip() for one in value.split(",")]
    try:
        found = tuple(_plain(one) for one in value)
    except TypeError:
        found = ()
    if not found or not all(isinstance(one, str) and one and "," not in one for one in found):
        raise UsageError(
            f"`columns` has no names of columns, or one with a comma: {value!r:.60}.",
            'Give a list of names, such as ["date", "value"].',
        )
    return found


def whole(name: str, value: Any) -> int | None:
    """Returns the number of rows or datasets that an argument bounds, None for all."""
    number = _plain(value)
    if number is None:
        return None
    if isinstance(number, (int, float)) and number >= 1 and number == number // 1:
        return int(number)
    raise UsageError(
        f"`{name}` is no whole number from 1 on: {value!r:.60}.", "Leave it away for all."
    )


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
