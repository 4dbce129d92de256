"""The plan of a pull: bulk file or pages, how many requests it costs, and the refusal of one that
the month cannot finish. Owns the routing (contract-11-bulk, contract-11-pages) and asks only what
is free; moves no row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .errors import LicenceForbidsError, MonthUsedUpError, PlanRequiredError, PullTooExpensiveError
from .http.answers import Headers
from .models import Account, Preview
from .selection import Selection
from .session import Session
from .store import Page

# Rows of a page where the plan has no cap, and the size from which the bulk file is taken.
PAGE_ROWS = 100_000
BULK_ROWS = 100_000
# Rows of a page in an order of its own: the service sorts no more at once.
SORTED_ROWS = 10_000


@dataclass(frozen=True)
class BulkFile:
    """The stored file of a snapshot, as HEAD describes it."""

    base: str
    path: str
    headers: Headers

    @property
    def snapshot(self) -> str:
        return self.headers.get("X-Service-Snapshot-Id", "")

    @property
    def etag(self) -> str:
        return self.headers.get("ETag", "")

    @property
    def request(self) -> dict[str, str]:
        """Returns the name under which the file is kept."""
        return {"base": self.base, "path": self.path}


@dataclass(frozen=True)
class PullPlan:
    """The way to a selection. `page_rows` is the length of a page; `total` the number of rows, None
    where only reading tells; `bulk` the file that has them all, None for pages."""

    selection: Selection
    preview: Preview
    account: Account
    page_rows: int
    base: str
    headers: Headers
    total: int | None = None
    bulk: BulkFile | None = None

    @property
    def snapshot(self) -> str:
        return self.headers.get("X-Service-Snapshot-Id", "")

    def request(self, rows: int) -> dict[str, Any]:
        """Returns the name under which pages of `rows` rows are kept, without the cursor."""
        return {"base": self.base, "path": self.selection.path, **self.query(rows)}

    def query(self, rows: int) -> dict[str, Any]:
        return {**self.selection.query(), "format": "arrow", "limit": str(rows)}

    @property
    def wanted(self) -> int | None:
        """Returns the number of rows that the pull has, None where only reading tells."""
        limit = self.selection.limit
        if self.total is None:
            return None
        return self.total if limit is None else min(self.total, limit)


def answer_cap(account: Account, selection: Selection) -> int | None:
    """Returns the rows of one answer at most, None without a bound."""
    caps = (account.row_cap, SORTED_ROWS if selection.sort else None)
    return min((cap for cap in caps if cap), default=None)


def plan_pull(session: Session, selection: Selection, *, bulk: bool) -> PullPlan:
    """Plans a pull with free requests alone. `bulk` says that its result can come from Parquet.

    Raises PullTooExpensiveError or MonthUsedUpError where the month has too little left, and the
    refusals that the pull itself would meet."""
    preview = session.preview(selection.name)
    account = session.account()
    cap = answer_cap(account, selection) or PAGE_ROWS
    rows = cap if selection.limit is None else min(cap, selection.limit)
    plan = PullPlan(selection, preview, account, rows, session.origin.base, Headers(()))
    request = plan.request(rows)
    kept = [page for store in session.stores for page in store.first_pages(request)]
    etags = tuple(page.etag for page in kept if page.etag)
    status, headers = session.head(selection.path, plan.query(rows), etags)
    if status == 304:
        etag = headers.get("ETag", "")
        matching = [page for page in kept if page.etag == etag] or kept
        headers = matching[0].headers
    plan = replace(plan, headers=headers, total=headers.count("X-Service-Total-Rows"))
    if bulk:
        plan = replace(plan, bulk=_bulk_file(session, plan))
    needed = _missing_requests(session, plan)
    afford(account, needed, "This pull needs", "Narrow it by dates, columns or `limit`")
    return plan


def _bulk_file(session: Session, plan: PullPlan) -> BulkFile | None:
    """Returns the bulk file where it has exactly the rows of the plan, and may be had."""
    selection, preview = plan.selection, plan.preview
    large = (plan.total or preview.row_count) > BULK_ROWS or preview.has_geometry
    namespace = plan.headers.get("X-Service-Namespace", "")
    remembered = f"{plan.base} {selection.name}"
    if selection.filtered or not large or not namespace or remembered in session.no_bulk:
        return None
    path = f"/v1/bulk/{namespace}/{selection.name}"
    try:
        _, headers = session.head(path)
    except (PlanRequiredError, LicenceForbidsError):
        session.no_bulk.add(remembered)
        return None
    found = BulkFile(plan.base, path, headers)
    return found if found.snapshot == plan.snapshot and found.etag else None


def find_page(session: Session, plan: PullPlan, rows: int, cursor: str = "") -> Page | None:
    """Returns a page of a plan that is on the disk: the first one where the service has just
    confirmed its tag; those after it, of the plan's snapshot, never change."""
    etag = None if cursor else plan.headers.get("ETag", "")
    return session.find(plan.request(rows), plan.snapshot, cursor, etag)


def find_bulk(session: Session, bulk: BulkFile) -> Page | None:
    """Returns a bulk file that is on the disk with the tag that the service has just named."""
    return session.find(bulk.request, bulk.snapshot, etag=bulk.etag)


def _missing_requests(session: Session, plan: PullPlan) -> int:
    """Returns how many charged requests a plan needs at least."""
    if plan.bulk is not None:
        return 0 if find_bulk(session, plan.bulk) else 1
    kept = rows = 0
    page = find_page(session, plan, plan.page_rows)
    while page is not None:
        kept += 1
        rows += page.rows
        left = plan.page_rows
        if plan.selection.limit is not None:
            left = min(left, plan.selection.limit - rows)
        if page.cursor is None or left <= 0:
            return 0
        page = find_page(session, plan, left, page.cursor)
    pages = 1 if plan.wanted is None else max(1, -(-plan.wanted // plan.page_rows))
    return max(1, pages - kept)


def afford(account: Account, needed: int, pull: str, narrower: str) -> None:
    """Raises PullTooExpensiveError or MonthUsedUpError where the month has less than `needed` left.

    `pull` is the beginning of the sentence that says so, `narrower` advice for a cheaper one."""
    left, ends = account.left, account.resets_at
    if left is None or needed <= left:
        return
    until = f" The month ends at {ends:%Y-%m-%d %H:%M} UTC." if ends else ""
    kind = PullTooExpensiveError if left else MonthUsedUpError
    error = kind(
        f"{pull} {needed} requests and the month has {left} left.",
        status=429,
        code="quota_used_up",
        advice=f"{narrower}, or upgrade the plan.{until} Nothing was charged.",
    )
    error.resets_at = ends
    if isinstance(error, PullTooExpensiveError):
        error.needed, error.left = needed, left
    raise error
