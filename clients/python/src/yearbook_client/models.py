"""Documents of the service as values: datasets, previews, the account. Owns how each is parsed and
written as JSON, where a field that the service adds later stays in `raw`; and search over the list
of datasets, without case and diacritics."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from .errors import IntegrityError
from .http.answers import items

_Kind = TypeVar("_Kind")
Document = Mapping[str, Any]


@dataclass(frozen=True)
class DatasetSummary:
    """A dataset as the list of all datasets has it."""

    name: str
    namespace: str
    source: str
    title: str | None = None
    description: str | None = None

    @classmethod
    def parse(cls, document: Document) -> DatasetSummary:
        return cls(
            _get(document, "name", str),
            _get(document, "namespace", str),
            _get(document, "source", str),
            _opt(document, "title", str),
            _opt(document, "description", str),
        )


@dataclass(frozen=True)
class Column:
    """A column of a dataset. `type` is string, integer, number, boolean or date; `labelled` says that
    `values` has labels of its codes.

    `str` of a column is its name, and a selection takes a column for it."""

    name: str
    type: str
    role: str
    nullable: bool = True
    unit: str | None = None
    description: str | None = None
    labelled: bool = False

    @classmethod
    def parse(cls, document: Document) -> Column:
        return cls(
            _get(document, "name", str),
            _get(document, "type", str),
            _get(document, "role", str),
            bool(document.get("nullable", True)),
            _opt(document, "unit", str),
            _opt(document, "description", str),
            bool(document.get("labelled")),
        )

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Snapshot:
    """A version of a dataset that is kept."""

    id: str
    created_at: str
    rows: int


@dataclass(frozen=True)
class Dataset(DatasetSummary):
    """A dataset with its columns, versions and provenance. `raw` is the document as it came.

    `dataset["region"]` is a column; notebooks complete its name."""

    columns: tuple[Column, ...] = ()
    primary_key: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    layout: str | None = None
    has_geometry: bool = False
    date_filter_column: str | None = None
    licence: str | None = None
    attribution_text: str | None = None
    source_url: str | None = None
    current_snapshot_id: str = ""
    last_refreshed_at: str | None = None
    refresh_cadence: str | None = None
    rows: int = 0
    snapshots: tuple[Snapshot, ...] = ()
    raw: Document = field(default_factory=dict[str, Any], repr=False, compare=False)

    @classmethod
    def parse(cls, document: Document) -> Dataset:
        return cls(
            name=_get(document, "name", str),
            namespace=_get(document, "namespace", str),
            source=_get(document, "source", str),
            title=_opt(document, "title", str),
            description=_opt(document, "description", str),
            columns=tuple(Column.parse(one) for one in _list(document, "columns")),
            primary_key=tuple(_names(document, "primary_key")),
            dimensions=tuple(_names(document, "dimensions")),
            layout=_opt(document, "layout", str),
            has_geometry=bool(document.get("has_geometry")),
            date_filter_column=_opt(document, "date_filter_column", str),
            licence=_opt(document, "licence", str),
            attribution_text=_opt(document, "attribution_text", str),
            source_url=_opt(document, "source_url", str),
            current_snapshot_id=_get(document, "current_snapshot_id", str),
            last_refreshed_at=_opt(document, "last_refreshed_at", str),
            refresh_cadence=_opt(document, "refresh_cadence", str),
            rows=_get(document, "row_count_at_last_refresh", int),
            snapshots=tuple(
                Snapshot(_get(one, "id", str), _get(one, "created_at", str), _get(one, "rows", int))
                for one in _list(document, "snapshots")
            ),
            raw=document,
        )

    def __getitem__(self, name: str) -> Column:
        return {one.name: one for one in self.columns}[name]

    def _ipython_key_completions_(self) -> list[str]:
        return [one.name for one in self.columns]


@dataclass(frozen=True)
class Preview:
    """The newest rows of a dataset and its shape, free and without a key. `row_count` is that of the
    whole table; `columns` may lack those in `hidden_columns`."""

    name: str
    snapshot_id: str
    row_count: int
    columns: tuple[Column, ...]
    hidden_columns: tuple[str, ...]
    rows: tuple[Document, ...]

    @classmethod
    def parse(cls, document: Document) -> Preview:
        return cls(
            _get(document, "name", str),
            _get(document, "snapshot_id", str),
            _get(document, "row_count", int),
            tuple(Column.parse(one) for one in _list(document, "columns")),
            tuple(_names(document, "hidden_columns")),
            tuple(_list(document, "rows")),
        )

    @property
    def has_geometry(self) -> bool:
        roles = any(column.role == "geometry" for column in self.columns)
        return roles or "geometry_wkt" in self.hidden_columns

    @property
    def date_columns(self) -> frozenset[str]:
        return frozenset(column.name for column in self.columns if column.type == "date")


@dataclass(frozen=True)
class Values:
    """Values that a column has, ascending, each with its number of rows. `distinct` is None where
    they are too many to count; `next` is the value to give as `after`, None at the end.

    `values["Otago"]` is the entry of a value; notebooks complete it."""

    name: str
    role: str
    distinct: int | None
    nulls: int
    values: tuple[Document, ...]
    next: Any

    @classmethod
    def parse(cls, document: Document) -> dict[str, Values]:
        found = (
            cls(
                _get(one, "name", str),
                _get(one, "role", str),
                _opt(one, "distinct", int),
                _get(one, "nulls", int),
                tuple(_list(one, "values")),
                one.get("next"),
            )
            for one in _list(document, "columns")
        )
        return {one.name: one for one in found}

    def __getitem__(self, value: Any) -> Document:
        return {one["value"]: one for one in self.values}[value]

    def _ipython_key_completions_(self) -> list[Any]:
        return [one["value"] for one in self.values]


@dataclass(frozen=True)
class Link:
    """An address of rows that needs no key and is as secret as one: `repr` leaves it out."""

    url: str = field(repr=False)
    expires_at: str
    format: str
    selection: str

    @classmethod
    def parse(cls, document: Document) -> Link:
        return cls(**{one.name: _get(document, one.name, str) for one in fields(cls)})


@dataclass(frozen=True)
class Account:
    """The plan of a key and what is left of its month. None means unlimited."""

    plan: str
    row_cap: int | None
    limit: int | None
    used: int | None
    left: int | None
    resets_at: datetime | None

    @classmethod
    def parse(cls, document: Document) -> Account:
        requests = cast("dict[str, Any]", _get(document, "requests", dict))
        reset = _opt(requests, "resets_at", str)
        try:
            resets_at = datetime.fromisoformat(reset.replace("Z", "+00:00")) if reset else None
        except ValueError:
            resets_at = None
        return cls(
            _get(document, "plan", str),
            _opt(document, "row_cap", int),
            _opt(requests, "limit", int),
            _opt(requests, "used", int),
            _opt(requests, "left", int),
            resets_at,
        )


@dataclass(frozen=True)
class Integration:
    """Files for a data tool, by path. No file has a key."""

    tool: str
    files: Mapping[str, str]
    attribution: tuple[str, ...]
    warnings: tuple[str, ...]

    @classmethod
    def parse(cls, document: Document) -> Integration:
        files = cast("dict[str, Any]", _get(document, "files", dict))
        return cls(
            _get(document, "tool", str),
            {str(path): str(text) for path, text in files.items()},
            tuple(_names(document, "attribution")),
            tuple(_names(document, "warnings")),
        )


def _get(document: Mapping[str, Any], name: str, kind: type[_Kind]) -> _Kind:
    value = document.get(name)
    if not isinstance(value, kind):
        raise IntegrityError(f"The service's document has no valid {name!r}.")
    return value


def _opt(document: Mapping[str, Any], name: str, kind: type[_Kind]) -> _Kind | None:
    return None if document.get(name) is None else _get(document, name, kind)


def _list(document: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    _get(document, name, list)
    found = items(document[name])
    return [cast("dict[str, Any]", one) for one in found if isinstance(one, dict)]


def _names(document: Mapping[str, Any], name: str) -> list[str]:
    return [str(one) for one in items(document.get(name))]


def as_json(value: Any, longest: int | None = None) -> Any:
    """Returns a value that JSON can hold, with texts cut after `longest` characters.

    NaN and infinities become null, as in the service's JSON."""
    if isinstance(value, str):
        return value if longest is None or len(value) <= longest else value[:longest] + "…"
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value):
        names = (one.name for one in fields(value) if one.name != "raw")
        value = {name: getattr(value, name) for name in names}
    if isinstance(value, Mapping):
        return {str(name): as_json(one, longest) for name, one in value.items()}  # pyright: ignore
    if isinstance(value, (list, tuple)):
        return [as_json(one, longest) for one in value]  # pyright: ignore
    return value


_WORD = re.compile(r"[^\W_]+")
# What a match is worth, by the field that has it.
_WEIGHTS = {"name": 8.0, "title": 6.0, "namespace": 3.0, "source": 3.0, "description": 2.0}
_EXACT, _PREFIX, _INSIDE, _SLIP = 1.0, 0.7, 0.35, 0.3
# Shorter words have too many neighbours.
_SHORTEST_SLIP = 5


def rank(
    datasets: Iterable[DatasetSummary], words: str, limit: int | None = 20
) -> list[DatasetSummary]:
    """Returns the datasets that have every word, best first, then by name; at most `limit`.

    A word matches a whole word, the beginning of one, a part of one, or one with a letter wrong."""
    wanted = _words(words)
    scored: list[tuple[float, str, DatasetSummary]] = []
    for dataset in datasets:
        texts = [
            (weight, _words(getattr(dataset, name) or "")) for name, weight in _WEIGHTS.items()
        ]
        scores = [max(_score(word, found) * weight for weight, found in texts) for word in wanted]
        if all(scores):
            scored.append((-sum(scores), dataset.name, dataset))
    return [dataset for _, _, dataset in sorted(scored, key=lambda entry: entry[:2])[:limit]]


def _words(text: str) -> list[str]:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    return _WORD.findall(plain)


def _score(word: str, found: list[str]) -> float:
    best = 0.0
    for other in found:
        if other in (word, word + "s", word + "es") or word in (other + "s", other + "es"):
            return _EXACT
        if other.startswith(word):
            best = max(best, _PREFIX)
        elif word in other:
            best = max(best, _INSIDE)
        elif len(word) >= _SHORTEST_SLIP and _one_slip(word, other):
            best = max(best, _SLIP)
    return best


def _one_slip(one: str, other: str) -> bool:
    """True where one letter is wrong, missing, too many, or two are swapped."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    rest, tail = one[start:], other[start:]
    swapped = rest[:2] == tail[:2][::-1] and rest[2:] == tail[2:]
    return rest[1:] == tail[1:] or rest[1:] == tail or rest == tail[1:] or swapped
