"""A pull: every row of a selection, of one snapshot, in files that were checked. Owns the restart
after a refresh, once (contract-11-one-snapshot). Makes no table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from .arrow.stream import StreamReader, declared_dates, open_stream
from .bulk import bulk_page
from .credits import Credit
from .errors import LicenceForbidsError, MixedSnapshotsError, PlanRequiredError, SnapshotGoneError
from .pages import pages
from .planning import PullPlan, plan_pull
from .selection import Selection
from .session import Session
from .store import Page


@dataclass(frozen=True)
class Source:
    """A file with rows: an Arrow stream, or the Parquet file of the whole table."""

    page: Page
    parquet: bool


@dataclass(frozen=True)
class Pull:
    """All rows of a selection."""

    plan: PullPlan
    sources: tuple[Source, ...]

    @cached_property
    def dates(self) -> frozenset[str]:
        """Returns the names of the columns whose text is dates.

        A stream declares them itself, an old snapshot's too; a bulk file is of the snapshot that the
        preview describes."""
        for source in self.sources[:1]:
            if not source.parquet:
                with open_stream(source.page.path) as buffer:
                    found = declared_dates(StreamReader(buffer).schema.fields)
                if found is not None:
                    return found
        return self.plan.preview.date_columns

    @property
    def credit(self) -> Credit:
        return plan_credit(self.plan, self.sources[0].page if self.sources else None)


def plan_credit(plan: PullPlan, page: Page | None) -> Credit:
    """Returns the credit of a plan's rows; HEAD may lack what the answer `page` has."""
    headers = {**dict(plan.headers), **(dict(page.headers) if page is not None else {})}
    query = plan.selection.query()
    if plan.selection.limit is not None:
        query["limit"] = str(plan.selection.limit)
    found = Credit.from_headers(plan.selection.name, plan.base, query, headers)
    return replace(found, cite_as=cited_whole(found.cite_as, plan))


def cited_whole(address: str, plan: PullPlan) -> str:
    """Returns the citation of all rows of a plan, of that of its first page.

    The service takes the length of a page for a limit that its reader wanted."""
    base, mark, text = address.partition("?")
    parts = [part for part in text.split("&") if part and not part.startswith("limit=")]
    limit = plan.selection.limit
    if limit is not None and (plan.total is None or plan.total > limit):
        parts = sorted([*parts, f"limit={limit}"])
    return f"{base}?{'&'.join(parts)}" if mark and parts else base


def pull(session: Session, selection: Selection, *, bulk: bool) -> Pull:
    """Fetches every row. `bulk` says that the result can be made of Parquet.

    A refresh or a 410 in between starts it again, once, unless `selection` names its snapshot."""
    for again in (True, False):
        try:
            plan = plan_pull(session, selection, bulk=bulk)
            return Pull(plan, tuple(_sources(session, plan)))
        except (SnapshotGoneError, MixedSnapshotsError):
            if not again or selection.snapshot:
                raise
    raise AssertionError("the second attempt returns or raises")


def stream(session: Session, selection: Selection, *, bulk: bool) -> Iterator[tuple[Pull, Source]]:
    """Yields the files of a pull one by one, and what is known of it.

    A refresh starts it again, once, while nothing was yielded; later it is an exception, since rows
    of two snapshots do not mix."""
    again = selection.snapshot is None
    while True:
        started = False
        try:
            plan = plan_pull(session, selection, bulk=bulk)
            for source in _sources(session, plan):
                pulled = Pull(plan, (source,))
                started = True
                yield pulled, source
            return
        except (SnapshotGoneError, MixedSnapshotsError):
            if started or not again:
                raise
            again = False


def _sources(session: Session, plan: PullPlan) -> Iterator[Source]:
    if plan.bulk is not None:
        try:
            yield Source(bulk_page(session, plan, plan.bulk), True)
        except (PlanRequiredError, LicenceForbidsError):
            # HEAD allowed what GET does not; remembered, so the next pull does not ask.
            session.no_bulk.add(f"{plan.base} {plan.selection.name}")
        else:
            return
    for page in pages(session, plan):
        yield Source(page, False)
