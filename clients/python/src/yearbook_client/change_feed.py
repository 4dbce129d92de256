"""Changes of a dataset since a version. Owns the walk from answer to answer and the watermark to go
on from; applies nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .credits import Credit
from .errors import ShortTableError, UsageError
from .http.answers import Headers
from .models import Account, Preview
from .pages import MEDIA_TYPE, receive
from .planning import PullPlan, afford
from .pull import Pull, Source
from .results.rows import Rows, columns_of, convert
from .selection import Selection
from .session import Session
from .store import Page

COLUMNS = ("_change_type", "_snapshot_id", "_committed_at")
# Changed rows of one answer where the plan has no cap.
ROWS = 100_000


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

    def query(self) -> dict[str, str]:
        found = {"geometry": None if self.geometry else "false", "since": self.since}
        return {name: value for name, value in found.items() if value is not None}

    def answer_query(self, since: str | None, account: Account) -> dict[str, str]:
        """Returns the parameters of the answer that begins after `since`."""
        found = {**self.query(), "format": "arrow", "limit": str(account.row_cap or ROWS)}
        return found if since is None else {**found, "since": since}


@dataclass(frozen=True)
class ChangePlan(PullPlan):
    """A plan whose pages are answers of `/changes`. They are never kept: each has a watermark."""

    since: str | None = None

    def request(self, rows: int) -> dict[str, str]:
        """Returns the name of an answer while it is on the disk."""
        return {"base": self.base, "path": "changes", "name": self.selection.name}


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
    found = list(answers(session, request, preview, account))
    plan, last = found[-1]
    watermark = last.headers.get("X-Service-Watermark", "")
    if not watermark:
        raise ShortTableError("The service's answer has no watermark.")
    sources = [Source(page, False) for _, page in found]
    credit = Credit.from_headers(request.name, session.origin.base, request.query(), last.headers)
    return Changes(_table(plan, sources, kind, dtype_backend), watermark, credit)


def answers(
    session: Session, request: ChangeRequest, preview: Preview, account: Account
) -> Iterator[tuple[PullPlan, Page]]:
    """Yields the answers to a request and its continuations, each checked."""
    rows = account.row_cap or ROWS
    since, number = request.since, 0
    while True:
        selection = Selection.of(request.name, geometry=request.geometry)
        plan = ChangePlan(
            selection, preview, account, rows, Headers(()), None, None, session.origin.base, since
        )
        page = session.budget.run(_attempt(session, request, plan, since, number))
        session.progress(request.name, number + 1, None)
        yield plan, page
        following = page.headers.get("X-Service-Watermark", "")
        if page.headers.get("X-Service-Has-More") != "true":
            return
        if not following or following == since:
            raise ShortTableError("The service sends changes that never end.")
        since, number = following, number + 1


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


def _attempt(
    session: Session, request: ChangeRequest, plan: PullPlan, since: str | None, number: int
) -> Callable[[], Page]:
    query = request.answer_query(since, plan.account)

    def attempt() -> Page:
        with session.transport.request(
            session.origin, session.key, request.path, query, headers={"Accept": MEDIA_TYPE}
        ) as response:
            return receive(session, plan, plan.page_rows, f"{number}", response)

    return attempt


def _table(plan: PullPlan, sources: list[Source], kind: str, dtype_backend: str | None) -> Any:
    pull = Pull(plan, tuple(sources))
    first = columns_of(sources[0], pull.dates)
    if all(columns_of(source, pull.dates) == first for source in sources[1:]):
        return convert(pull, kind, dtype_backend)
    if kind != "rows":
        raise UsageError(
            "The columns of the dataset changed in between.",
            'Choose to="rows", or ask for the changes up to now from a later version.',
        )
    found: list[dict[str, Any]] = []
    for source in sources:
        one = convert(Pull(plan, (source,)), "rows")
        found.extend(one)
    columns = {
        column.name: column for source in sources for column in columns_of(source, pull.dates)
    }
    return Rows(found, tuple(columns.values()), pull.credit)
