"""Pages of a pull, one request each, whole and of one snapshot, and the Parquet file that is made
of them. Owns their checks: end marker, number of rows, snapshot (contract-11-one-snapshot). A page
is on disk and checked before anybody sees it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, BinaryIO

from .arrow.messages import count_rows
from .arrow.stream import map_file
from .errors import MixedSnapshotsError, ShortTableError, StreamError, YearbookError
from .http.transport import Response
from .optional import require
from .planning import PullPlan, cached_first_page, find_page
from .session import Session
from .store import Page

MEDIA_TYPE = "application/vnd.apache.arrow.stream"


def pages(session: Session, plan: PullPlan) -> Iterator[Page]:
    """Yields the pages of a plan in their order, from the cache where they are there.

    Raises ShortTableError where they do not add up to the rows that the service announced."""
    limit, seen, cursor = plan.selection.limit, 0, ""
    while True:
        rows = plan.page_rows if limit is None else min(plan.page_rows, limit - seen)
        page = find_page(session, plan, rows, cursor)
        page = page if cursor else cached_first_page(session, plan)
        if page is None:
            page = _fetch(session, plan, rows, cursor)
        if page.snapshot != plan.snapshot:
            raise MixedSnapshotsError("The dataset was refreshed while it was read.")
        seen += page.rows
        session.progress(plan.selection.name, seen, plan.wanted)
        yield page
        if page.cursor is None or (limit is not None and seen >= limit):
            break
        if page.rows == 0 or page.cursor == cursor:
            raise ShortTableError("The service sends pages that never end.")
        cursor = page.cursor
    if plan.wanted is not None and seen != plan.wanted:
        raise ShortTableError(f"The table has {seen} rows, and {plan.wanted} were announced.")


def _fetch(session: Session, plan: PullPlan, rows: int, cursor: str) -> Page:
    query = plan.query(rows)
    if cursor:
        query["cursor"] = cursor

    def attempt() -> Page:
        with session.transport.request(
            session.origin,
            session.key,
            plan.selection.path,
            query,
            headers={"Accept": MEDIA_TYPE},
        ) as response:
            return receive(session, plan, rows, cursor, response)

    return session.budget.run(attempt)


def receive(session: Session, plan: PullPlan, rows: int, cursor: str, response: Response) -> Page:
    """Writes one answer to the disk, checks it and gives it its place."""
    try:
        with session.begin(plan.request(rows)) as part:
            for chunk in response.chunks():
                part.write(chunk)
            part.file.flush()
            found = count_rows(map_file(part.file))
            announced = response.headers.count("X-Service-Rows")
            if announced is not None and announced != found:
                raise ShortTableError(f"A page has {found} rows, and {announced} were announced.")
            if found > rows:
                raise ShortTableError(f"A page has {found} rows, and {rows} were asked for.")
            return part.commit(response.headers, found, cursor)
    except OSError as error:
        raise YearbookError(
            f"The page cannot be written ({error.strerror}).",
            "Make room, or set SERVICE_CACHE_DIR to a folder on another disk.",
        ) from None


PURPOSE = "Joining the pages of a capped plan to one Parquet file"


def write_pages(session: Session, plan: PullPlan, file: BinaryIO) -> tuple[Page, int]:
    """Writes all rows of a plan to `file`, a page at a time in memory; the first page and the rows.

    Raises MissingExtraError without pyarrow, before anything is charged."""
    pa, parquet = require("pyarrow", PURPOSE), require("pyarrow.parquet", PURPOSE)
    writer: Any = None
    first: Page | None = None
    rows = 0
    try:
        for page in pages(session, plan):
            first = first or page
            table = pa.ipc.open_stream(pa.memory_map(os.fspath(page.path))).read_all()
            if writer is None:
                writer = parquet.ParquetWriter(file, table.schema, compression="snappy")
            if table.schema != writer.schema:
                raise StreamError("Pages of one pull have different columns.")
            writer.write_table(table)
            rows += page.rows
    finally:
        if writer is not None:
            writer.close()
    if first is None:
        raise StreamError("The pull has no page.")
    return first, rows
