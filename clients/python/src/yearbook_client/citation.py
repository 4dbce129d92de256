"""Citations: the service's own, and one made of a result's headers where the service has none. Owns
the fallback's words; never a DOI that nobody registered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, get_args
from urllib.parse import parse_qsl, quote, urlsplit

from .credits import Credit
from .errors import NotFoundError, UsageError
from .http.retries import RetryBudget
from .session import Session

CitationFormat = Literal["text", "bibtex", "ris", "csl-json", "cff", "datacite-json"]
FORMATS: tuple[str, ...] = get_args(CitationFormat)
_DIGEST = re.compile(r"yb1:[0-9a-f]{64}")


def cite_path(credit: Credit) -> tuple[str, dict[str, str]]:
    """Returns path and parameters of the citation of a result."""
    path = f"/cite/{credit.dataset}/{credit.snapshot_id}"
    if credit.cite_as:
        return path, dict(parse_qsl(urlsplit(credit.cite_as).query, keep_blank_values=True))
    return path, dict(credit.query)


def cite(session: Session, credit: Credit, style: str) -> str:
    """Returns the citation of a result in one of FORMATS: free, and without the key."""
    if style not in FORMATS:
        raise UsageError(f"`format` is {style!r}.", f"It is one of {', '.join(FORMATS)}.")
    path, query = cite_path(credit)

    def attempt() -> str:
        with session.transport.request(
            session.origin, None, path, {**query, "format": style}
        ) as response:
            return response.read().decode("utf-8", "replace")

    try:
        return RetryBudget().run(attempt)
    except NotFoundError as error:
        # An operator may leave pages out; what the result itself says is still true.
        if error.code == "no_such_snapshot":
            raise
        return fallback(session, credit, style)


def fallback(session: Session, credit: Credit, style: str) -> str:
    """Returns a citation made of a result's headers and of the free preview."""
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
    path, query = cite_path(credit)
    query["format"] = "text"
    if recompute:
        query["verify"] = "true"

    def attempt() -> str:
        key = session.key if recompute else None
        with session.transport.request(session.origin, key, path, query) as response:
            return response.read().decode("utf-8", "replace")

    found = _DIGEST.search(session.budget.run(attempt))
    if found is None:
        raise UsageError(
            "The citation names no digest.",
            "Only that of a whole snapshot does; verify with recompute=True, which costs a request.",
        )
    return found[0]


def known_digest(text: str | Mapping[str, Any]) -> str:
    """Returns the digest in a citation or in a text that is one.

    Raises UsageError where there is none."""
    found = _DIGEST.search(text if isinstance(text, str) else str(dict(text)))
    if found is None:
        raise UsageError("There is no digest in it.", "A digest is yb1: and 64 hexadecimal digits.")
    return found[0]


def _address(credit: Credit) -> str:
    query = "&".join(
        f"{quote(name, safe='')}={quote(value, safe='')}"
        for name, value in sorted({**credit.query, "snapshot": credit.snapshot_id}.items())
    )
    return f"{credit.service}/v1/datasets/{credit.dataset}/data?{query}"


def _tex(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(
        special.get(char) or (f"\\{char}" if char in "{}%&$#_" else char) for char in text
    )
