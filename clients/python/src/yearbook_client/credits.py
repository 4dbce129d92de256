"""The credit of a result, and citations made of it. Owns how a credit is attached to a table of
each kind and found again (contract-11-credit), and the words of a citation where the service has
none."""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast, get_args
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from .errors import NotFoundError, UsageError
from .http import Response
from .http.answers import Headers
from .session import Session

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
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @classmethod
    def from_headers(
        cls, dataset: str, service: str, query: Mapping[str, Any], headers: Mapping[str, str]
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
            {name: value for name, value in query.items() if name not in ("snapshot", "as_of")},
        )

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "query": dict(self.query)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Credit:
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
            if not isinstance(value, str):
                value = json.dumps(value, ensure_ascii=False, sort_keys=True)
            metadata[_PREFIX + name.encode()] = value.encode()
        return table.replace_schema_metadata(metadata)
    try:
        table.credit = credit
    except AttributeError:
        key = id(table)
        known = weakref.ref(table, lambda _: _REGISTRY.pop(key, None))
        _REGISTRY[key] = (known, credit)
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
        return Credit.from_dict({**values, "query": json.loads(values.get("query", "{}"))})
    found = _REGISTRY.get(id(result))
    if found is not None and found[0]() is result:
        return found[1]
    raise UsageError(
        "This table has no credit.", "Ask the table that `get` returned, before computing with it."
    )


def _iso_day(http_date: str) -> str:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(http_date).date().isoformat()
    except (TypeError, ValueError):
        return ""


CitationFormat = Literal["text", "bibtex", "ris", "csl-json", "cff", "datacite-json"]
FORMATS: tuple[str, ...] = get_args(CitationFormat)
_DIGEST = re.compile(r"yb1:[0-9a-f]{64}")


def _cite_path(credit: Credit) -> tuple[str, dict[str, Any]]:
    path = f"/cite/{credit.dataset}/{credit.snapshot_id}"
    if credit.cite_as:
        return path, dict(parse_qs(urlsplit(credit.cite_as).query, keep_blank_values=True))
    return path, dict(credit.query)


def _text(response: Response) -> str:
    return response.read().decode("utf-8", "replace")


def cite(session: Session, credit: Credit, style: str) -> str:
    """Returns the citation of a result in one of FORMATS: free, and without the key."""
    if style not in FORMATS:
        raise UsageError(f"`format` is {style!r}.", f"It is one of {', '.join(FORMATS)}.")
    path, query = _cite_path(credit)
    try:
        return session.ask(path, _text, {**query, "format": style}, public=True)
    except NotFoundError as error:
        # An operator may leave pages out; what the result itself says is still true.
        if error.code == "no_such_snapshot":
            raise
        return _fallback(credit, style)


def _fallback(credit: Credit, style: str) -> str:
    """Returns a citation made of a result's headers."""
    if style not in ("text", "bibtex"):
        raise UsageError(
            f"The service has no citation pages, so there is none as {style}.",
            'Choose format="text" or "bibtex".',
        )
    year = credit.snapshot_date[:4] or "n.d."
    address = credit.cite_as or _address(credit)
    if style == "text":
        version = f"Version {credit.snapshot_date} " if credit.snapshot_date else ""
        return (
            f"{credit.source} ({year}). {credit.dataset} [data set]. {version}"
            f"(snapshot {credit.snapshot_id}). {address}. {credit.attribution} "
            f"Licence: {credit.licence}.\n"
        )
    fields = {
        "author": "{" + _tex(credit.source) + "}",
        "title": _tex(credit.dataset),
        "year": credit.snapshot_date[:4],
        "version": credit.snapshot_id,
        "url": address,
        "note": _tex(f"{credit.attribution} Licence: {credit.licence}."),
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@misc{{{credit.dataset}_{credit.snapshot_id[:8]},\n{lines}}}\n"


def service_digest(session: Session, credit: Credit, *, recompute: bool) -> str:
    """Returns the service's digest of a result.

    `recompute` has the service read the rows, at the price of a request; without it, only the whole
    of a snapshot has one, in its citation."""
    path, query = _cite_path(credit)
    query["format"] = "text"
    if recompute:
        query["verify"] = "true"
    return known_digest(
        session.ask(path, _text, query, public=not recompute),
        "The citation names no digest.",
        "Only that of a whole snapshot does; verify with recompute=True, which costs a request.",
    )


def known_digest(
    text: object,
    missing: str = "There is no digest in it.",
    advice: str = "A digest is yb1: and 64 hexadecimal digits.",
) -> str:
    """Returns the digest in a citation or in a text that is one.

    Raises UsageError where there is none."""
    found = _DIGEST.search(str(text))
    if found is None:
        raise UsageError(missing, advice)
    return found[0]


def _address(credit: Credit) -> str:
    query = sorted({**credit.query, "snapshot": credit.snapshot_id}.items())
    text = urlencode(query, doseq=True, quote_via=quote, safe="")
    return f"{credit.service}/v1/datasets/{credit.dataset}/data?{text}"


def _tex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(
        special.get(char) or (f"\\{char}" if char in "{}%&$#_" else char) for char in text
    )
