"""The credit of a result: publisher, licence, snapshot and citation address. Owns how it is attached
to a table of each kind and found again (contract-11-credit)."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from .errors import UsageError
from .http.headers import Headers

ATTRIBUTE = "yearbook"
_PREFIX = b"yearbook.client."

# Tables that have no room for an attribute, by identity, for as long as they live.
_REGISTRY: dict[int, tuple[weakref.ref[Any], Credit]] = {}


@dataclass(frozen=True)
class Credit:
    """The source of a table and the terms under which it is passed on. `attribution` is to be passed
    on verbatim; `query` has the parameters that selected the rows."""

    dataset: str
    attribution: str = ""
    source: str = ""
    licence: str = ""
    source_url: str = ""
    namespace: str = ""
    snapshot_id: str = ""
    snapshot_date: str = ""
    cite_as: str = ""
    service: str = ""
    query: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def from_headers(
        cls, dataset: str, service: str, query: Mapping[str, str], headers: Mapping[str, str]
    ) -> Credit:
        """Makes it of an answer's headers; `service` is the base address."""
        known = Headers(headers.items())
        return cls(
            dataset,
            known.get("X-Service-Attribution", ""),
            known.get("X-Service-Source", ""),
            known.get("X-Service-Licence", ""),
            known.get("X-Service-Source-URL", ""),
            known.get("X-Service-Namespace", ""),
            known.get("X-Service-Snapshot-Id", ""),
            _iso_day(known.get("Last-Modified", "")),
            known.link("cite-as") or "",
            service,
            {name: value for name, value in query.items() if name != "snapshot"},
        )

    def as_dict(self) -> dict[str, Any]:
        """Returns it as plain values that JSON can hold."""
        return {**asdict(self), "query": dict(self.query)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Credit:
        """Makes it of what `as_dict` returned."""
        known: dict[str, Any] = {**values, "query": dict(values.get("query") or {})}
        return cls(**known)

    def __str__(self) -> str:
        licence = f" Licence: {self.licence}." if self.licence else ""
        return f"{self.attribution or self.source}{licence} Snapshot {self.snapshot_id}."


def attach(table: Any, credit: Credit) -> Any:
    """Attaches `credit` to a table in the way of its kind and returns the table."""
    attributes = getattr(table, "attrs", None)
    if isinstance(attributes, dict):
        attributes[ATTRIBUTE] = credit.as_dict()
        return table
    if hasattr(table, "replace_schema_metadata"):
        metadata = dict(table.schema.metadata or {})
        for name, value in credit.as_dict().items():
            text = value if isinstance(value, str) else _encode(value)
            metadata[_PREFIX + name.encode()] = text.encode()
        return table.replace_schema_metadata(metadata)
    try:
        table.credit = credit
    except AttributeError:
        _register(table, credit)
    return table


def credit(result: Any) -> Credit:
    """Returns the credit of a result of `get`, `changes` or `iter_batches`.

    Raises UsageError for a table that has none, such as one that was computed from a result."""
    own = getattr(result, "credit", None)
    if isinstance(own, Credit):
        return own
    attributes = getattr(result, "attrs", None)
    if isinstance(attributes, dict) and ATTRIBUTE in attributes:
        return Credit.from_dict(cast("dict[str, Any]", attributes[ATTRIBUTE]))
    metadata: Any = getattr(getattr(result, "schema", None), "metadata", None)
    if isinstance(metadata, dict) and _PREFIX + b"dataset" in metadata:
        values: dict[str, Any] = {
            name[len(_PREFIX) :].decode(): value.decode()
            for name, value in cast("dict[bytes, bytes]", metadata).items()
            if name.startswith(_PREFIX)
        }
        return Credit.from_dict({**values, "query": _decode(values.get("query", "{}"))})
    found = _REGISTRY.get(id(result))
    if found is not None and found[0]() is result:
        return found[1]
    raise UsageError(
        "This table has no credit.", "Ask the table that `get` returned, before computing with it."
    )


def _register(table: Any, credit: Credit) -> None:
    key = id(table)

    def forget(_: object) -> None:
        _REGISTRY.pop(key, None)

    _REGISTRY[key] = (weakref.ref(table, forget), credit)


def _encode(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _decode(text: str) -> dict[str, str]:
    import json

    return cast("dict[str, str]", json.loads(text))


def _iso_day(http_date: str) -> str:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(http_date).date().isoformat()
    except (TypeError, ValueError):
        return ""
