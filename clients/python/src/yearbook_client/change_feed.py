"""Changes of a dataset since a version. Owns the walk from answer to answer and the watermark to go
on from; applies nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .credits import Credit
from .errors import ShortTableError, UsageError
from .http.answers import Headers
from .models import Account
from .planning import PAGE_ROWS, PullPlan, afford
from .pull import Pull, Source, fetch_stream
from .results import ColumnType, Rows, columns_of, convert
from .selection import Selection
from .session import Session
from .store import Page

COLUMNS = ("_change_type", "_snapshot_id", "_committed_at")


@dataclass(frozen=True)
class Changes:
    """Changed rows, oldest first, as a table of the kind that was asked for. `watermark` is what the
    next call gives as `since`."""

    table: Any
    watermark: str
    credit: Credit


@dataclass(frozen=True)
class ChangeRequest:
    """A request for the changes after `since`; None is the oldest version that is kept."""

    name: str
    since: str | None
    geometry: bool = True

    @property
    def path(self) -> str:
        return f"/v1/datasets/{self.name}/changes"

    def query(self, since: str | None) -> dict[str, str]:
        found = {"geometry": None if self.geometry else "false", "since": since}
        return {name: value for name, value in found.items() if value is not None}

    def answer_query(self, since: str | None, account: Account) -> dict[str, str]:
        """Returns the parameters of the answer that begins after `since`."""
        limit = str(account.row_cap or PAGE_ROWS)
        return {**self.query(since), "format": "arrow", "limit": limit}


def changes(
    session: Session, request: ChangeRequest, kind: str, dtype_backend: str | None = None
) -> Changes:
    """Returns all changes after `since`, one charged request for each answer.

    Raises SnapshotGoneError where that version is no longer kept, and PullTooExpensiveError or
    MonthUsedUpError, before the first request, where the month has too few left."""
    # Answers of changes have no name in the cache.
    session.cache = None
    preview = session.preview(request.name)
    account = session.account()
    needed = _needed_requests(session, request, account)
    narrower = "Begin at a later version, or read the current one with `get`"
    afford(account, needed, "These changes need at least", narrower)
    sources = tuple(Source(page, False) for page in answers(session, request, account))
    last, base = sources[-1].page.headers, session.origin.base
    watermark = last.get("X-Service-Watermark", "")
    if not watermark:
        raise ShortTableError("The service's answer has no watermark.")
    selection = Selection.of(request.name, geometry=request.geometry)
    plan = PullPlan(selection, preview, account, PAGE_ROWS, base, Headers(()))
    credit = Credit.from_headers(request.name, base, request.query(request.since), last)
    return Changes(_table(Pull(plan, sources), kind, dtype_backend), watermark, credit)


def answers(session: Session, request: ChangeRequest, account: Account) -> Iterator[Page]:
    """Yields the answers to a request and its continuations, each checked."""
    # An answer's name while it is on the disk.
    named = {"base": session.origin.base, "path": "changes", "name": request.name}
    since, number = request.since, 0
    while True:
        query = request.answer_query(since, account)
        page = fetch_stream(session, request.path, query, named, f"{number}")
        number += 1
        session.progress(request.name, number, None)
        yield page
        following = page.headers.get("X-Service-Watermark", "")
        if page.headers.get("X-Service-Has-More") != "true":
            return
        if not following or following == since:
            raise ShortTableError("The service sends changes that never end.")
        since = following


def _needed_requests(session: Session, request: ChangeRequest, account: Account) -> int:
    """Returns the charged requests that all changes take, by the watermarks of HEAD, which is free.

    It stops at the first one that the month no longer has; a plan without a limit is not counted."""
    since, needed = request.since, 0
    while account.left is not None and needed <= account.left:
        needed += 1
        _, headers = session.head(request.path, request.answer_query(since, account))
        following = headers.get("X-Service-Watermark")
        if headers.get("X-Service-Has-More") != "true" or following in (None, since):
            break
        since = following
    return needed


def _table(pull: Pull, kind: str, dtype_backend: str | None) -> Any:
    types = [columns_of(source, pull.dates) for source in pull.sources]
    if all(columns == types[0] for columns in types):
        return convert(pull, kind, dtype_backend)
    if kind != "rows":
        raise UsageError(
            "The columns of the dataset changed in between.",
            'Choose to="rows", or ask for the changes up to now from a later version.',
        )
    found: list[dict[str, Any]] = []
    for source in pull.sources:
        found.extend(convert(Pull(pull.plan, (source,)), kind))
    columns: dict[str, ColumnType] = {one.name: one for several in types for one in several}
    return Rows(found, tuple(columns.values()), pull.credit)
