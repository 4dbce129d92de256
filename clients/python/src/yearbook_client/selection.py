"""A selection: rows and columns of a dataset. Owns the keywords and query parameters that say so, and
the moments at which it is read."""

from __future__ import annotations

import datetime
import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol, SupportsInt, TypedDict, TypeVar, cast

from .errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOMENT = re.compile(rf"({_DATE.pattern})[Tt ](\d\d:\d\d:\d\d)(?:\.\d+)?([Zz]|[+-]\d\d:\d\d)")

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
# A day, which is its end in UTC, or a moment with its time zone.
Moment = str | datetime.date | Scalar


class Criteria(TypedDict, total=False):
    """Keywords of every verb that reads rows: `Client.get` says what they mean."""

    start: DateLike | None
    end: DateLike | None
    dimensions: str | None
    columns: Iterable[str] | None
    geometry: bool
    snapshot: str | None
    as_of: Moment | None
    limit: SupportsInt | None
    where: Mapping[str, Any] | None
    sort: Iterable[str] | None
    last: SupportsInt | None
    first: SupportsInt | None
    bbox: Iterable[float] | None


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
    as_of: str | None = None
    limit: int | None = None
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    sort: tuple[str, ...] | None = None
    last: int | None = None
    first: int | None = None
    bbox: str | None = None
    # Whether each row comes as often as it was published differently, and since when.
    revisions: bool = False
    since: str | None = None

    @classmethod
    def of(cls, name: str, **criteria: Unpack[Criteria]) -> Selection:
        """Checks arguments and makes a selection of them.

        Raises UsageError for what the service would refuse in any case."""
        for one in ("labels", "lang"):
            if one in criteria:
                raise UsageError(
                    f"`{one}` is not taken here.",
                    "Labels come with `get`, `iter_batches` and `values`; files have codes.",
                )
        name = str(name)
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is no name of a dataset.", "Look the name up with `search`."
            )
        checked: dict[str, Any] = {
            **criteria,
            "start": _day("start", criteria.get("start")),
            "end": _day("end", criteria.get("end")),
            "dimensions": text("dimensions", criteria.get("dimensions"), empty=True),
            "columns": _names("columns", criteria.get("columns")),
            "geometry": flag("geometry", criteria.get("geometry", True)),
            "snapshot": text("snapshot", criteria.get("snapshot")),
            "as_of": moment("as_of", criteria.get("as_of")),
            "where": _conditions(criteria.get("where")),
            "sort": _names("sort", criteria.get("sort")),
            "bbox": _box(criteria.get("bbox")),
            **{name: whole(name, criteria.get(name)) for name in ("limit", "last", "first")},
        }
        return cls(name, **checked)

    @property
    def path(self) -> str:
        return f"/v1/datasets/{self.name}/{'revisions' if self.revisions else 'data'}"

    @property
    def filtered(self) -> bool:
        """True where less than the whole table is selected."""
        whole = not self.revisions and self.limit is None
        return not whole or bool(self.query().keys() - {"snapshot", "as_of"})

    def query(self) -> dict[str, Any]:
        """Returns the parameters that decide rows and columns; a list repeats its own."""
        found: dict[str, Any] = {
            "as_of": self.as_of,
            "bbox": self.bbox,
            "columns": self.columns and ",".join(self.columns),
            "dimensions": self.dimensions,
            "end": self.end,
            "first": self.first and str(self.first),
            "geometry": None if self.geometry else "false",
            "last": self.last and str(self.last),
            "since": self.since,
            "snapshot": self.snapshot,
            "sort": self.sort and ",".join(self.sort),
            "start": self.start,
            **{name: list(values) for name, values in self.where},
        }
        return {name: value for name, value in found.items() if value is not None}


def _plain(value: Any) -> Any:
    """Returns Python's own value of a scalar of numpy or pyarrow, which need not be installed."""
    if type(value).__name__ == "datetime64":
        value = value.astype("datetime64[us]")
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


def moment(name: str, value: Any) -> str | None:
    """Returns the text of a day or a moment; None where it is missing."""
    if value is None:
        return None
    found = value
    if type(value).__name__ == "datetime64" and value.dtype.str.endswith("[D]"):
        found = value.astype(object)
    found = _plain(found)
    if isinstance(found, datetime.datetime) and found.tzinfo:
        found = found.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    elif isinstance(found, datetime.date) and not isinstance(found, datetime.datetime):
        found = found.isoformat()
    try:
        instant(found)
    except (TypeError, ValueError):
        raise UsageError(
            f"`{name}` is no day and no moment with a time zone: {value!r:.60}.",
            "Give a date, which is its end in UTC, a datetime with tzinfo, or a text such as "
            "2026-10-01T09:00:00+13:00.",
        ) from None
    return str(found)


def instant(text: Any) -> datetime.datetime:
    """Returns the moment that a text names, in whole seconds; of a day its last one, in UTC.

    Raises ValueError where it names none, and TypeError for what is no text."""
    parts = _MOMENT.fullmatch(f"{text}T23:59:59Z" if _DATE.fullmatch(text) else text)
    if parts is None:
        raise ValueError
    day, time, zone = parts.groups()
    found = datetime.datetime.fromisoformat(f"{day}T{time}{'+00:00' if zone in 'Zz' else zone}")
    return found.astimezone(datetime.timezone.utc)


def text(name: str, value: Any, *, empty: bool = False) -> str | None:
    """Checks an argument; None where it is missing, or empty and may be."""
    if value is None or (isinstance(value, str) and (value or empty)):
        return value or None
    raise UsageError(f"`{name}` is no text: {value!r:.60}.", "Give one text, or leave it away.")


def flag(name: str, value: Any) -> bool:
    """Checks an argument that is True or False: any other value, such as "no", would switch it on."""
    value = _plain(value)
    if isinstance(value, bool):
        return value
    raise UsageError(f"`{name}` is no bool: {value!r:.60}.", "Give True or False.")


def _names(name: str, value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = [one.strip() for one in value.split(",")]
    try:
        found = tuple(one.name if type(one).__name__ == "Column" else _plain(one) for one in value)
    except TypeError:
        found = ()
    if not found or not all(isinstance(one, str) and one and "," not in one for one in found):
        raise UsageError(
            f"`{name}` has no names of columns, or one with a comma: {value!r:.60}.",
            'Give a list of names, such as ["date", "value"].',
        )
    return found


def value_text(name: str, value: Any) -> str | None:
    """Returns the text of a value that rows are compared with; None of a null."""
    value = _plain(value)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
    if isinstance(value, float) and 2**53 <= abs(value) <= 2**63:
        value = int(value)  # an integer may be meant, of which Python shows 17 digits
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, datetime.date):
        return _day(name, value)
    raise UsageError(f"`{name}` has no value: {value!r:.60}.", "Give texts, numbers or dates.")


def _list(value: Any) -> list[Any]:
    found: Any = _plain(value)
    many = isinstance(found, Iterable) and not isinstance(found, (str, bytes, Mapping))
    return list(cast("Iterable[Any]", found)) if many else [found]


def _conditions(where: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Returns parameters and their values, by name."""
    if where is not None and not isinstance(where, dict):
        raise UsageError(
            f"`where` has no conditions by column: {where!r:.60}.", 'Give {"column": value}.'
        )
    found: dict[str, tuple[str, ...]] = {}
    for column, given in cast("dict[str, Any]", where or {}).items():
        name = f"where.{column}"
        values = [value_text(name, one) for one in _list(given)]
        if values == [None]:
            name, values = f"{name}.null", ["true"]
        found[name] = tuple(one for one in values if one is not None)
        if not values or None in values:
            raise UsageError(
                f"`{name}` has no values, or a null among them: {given!r:.60}.",
                "Give one value, a list of some, or None for rows without one.",
            )
    return tuple(sorted(found.items()))


def _box(value: Any) -> str | None:
    if value is None:
        return None
    given = value.split(",") if isinstance(value, str) else _list(value)
    found = [value_text("bbox", one) for one in given]
    if len(found) != 4 or None in found:
        raise UsageError(
            f"`bbox` has no four numbers: {value!r:.60}.", "Give west, south, east and north."
        )
    return ",".join(map(str, found))


def whole(name: str, value: Any) -> int | None:
    """Returns the number that an argument is, of rows, datasets or days; None for none."""
    number = _plain(value)
    if number is None:
        return None
    if isinstance(number, (int, float)) and number >= 1 and number == number // 1:
        return int(number)
    raise UsageError(
        f"`{name}` is no whole number from 1 on: {value!r:.60}.", "Leave it away for the default."
    )


def selecting(verb: _Verb, *, without: frozenset[str] = frozenset()) -> _Verb:
    """Writes the criteria into the signature of a verb, where help and completion look for them."""
    own = inspect.signature(verb)
    named = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    criteria = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default)
        for one in fields(Selection)
        if one.name in Criteria.__annotations__.keys() - without
    ]
    verb.__signature__ = own.replace(parameters=[*named, *criteria])  # type: ignore[attr-defined]
    return verb


# What chooses a version or rows of it: revisions are of all versions.
OF_A_VERSION = frozenset(("snapshot", "as_of", "first", "last"))
selecting_revisions = functools.partial(selecting, without=OF_A_VERSION)
