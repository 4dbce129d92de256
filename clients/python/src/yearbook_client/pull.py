"""A pull: every row of a selection, of one snapshot, in files that were checked before anybody sees
them. Owns pages, one request each, with their checks: end marker, number of rows, snapshot; the
restart after a refresh, once (contract-11-one-snapshot), or where its files went; the bulk file,
resumed by range and checked by its digest (contract-11-resume); and the Parquet file that is made of
pages. Makes no other table."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, BinaryIO, TypeVar

from .arrow import declared_dates, map_file, open_stream
from .arrow.messages import count_rows
from .credits import Credit
from .errors import (
    CacheClearedError,
    CutBodyError,
    DigestMismatchError,
    IntegrityError,
    LicenceForbidsError,
    MixedSnapshotsError,
    PlanRequiredError,
    ShortTableError,
    SnapshotGoneError,
    StreamError,
    YearbookError,
)
from .http import Response
from .http.answers import Headers
from .planning import BulkFile, PullPlan, find_bulk, find_page, plan_pull
from .selection import Selection
from .session import Session
from .settings import require
from .store import Page, Part

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
_DIGEST = re.compile(r"(?:^|[,\s])sha-256=:([A-Za-z0-9+/=]+):")
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_BLOCK = 1 << 20
PURPOSE = "Joining the pages of a capped plan to one Parquet file"
_Result = TypeVar("_Result")


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
                found = declared_dates(open_stream(source.page.path).fields)
                if found is not None:
                    return found
        return self.plan.preview.date_columns

    @property
    def credit(self) -> Credit:
        return plan_credit(self.plan, self.sources[0].page.headers if self.sources else {})


def plan_credit(plan: PullPlan, headers: Mapping[str, str]) -> Credit:
    """Returns the credit of a plan's rows; HEAD may lack what the answer with `headers` has."""
    # Revisions are of all versions, and the newest one is cited.
    query = {} if plan.selection.revisions else plan.selection.query()
    if plan.selection.limit is not None and not plan.selection.revisions:
        query["limit"] = str(plan.selection.limit)
    merged = {**plan.headers, **headers}
    found = Credit.from_headers(plan.selection.name, plan.base, query, merged)
    return replace(found, cite_as=_cited_whole(found.cite_as, plan))


def _cited_whole(address: str, plan: PullPlan) -> str:
    """Returns the citation of all rows of a plan, of that of its first page.

    The service takes the length of a page for a limit that its reader wanted."""
    base, mark, text = address.partition("?")
    parts = [part for part in text.split("&") if part and not part.startswith("limit=")]
    limit = plan.selection.limit
    if limit is not None and (plan.total is None or plan.total > limit):
        parts = sorted([*parts, f"limit={limit}"])
    return f"{base}?{'&'.join(parts)}" if mark and parts else base


def restarting(selection: Selection, attempt: Callable[[], _Result]) -> _Result:
    """Calls `attempt`, once more where pages went from the cache, and after a refresh or a 410 unless
    `selection` names its snapshot."""
    try:
        return attempt()
    except CacheClearedError:
        pass
    except (SnapshotGoneError, MixedSnapshotsError):
        if selection.snapshot is not None:
            raise
    return attempt()


@contextlib.contextmanager
def reading() -> Generator[None, None, None]:
    """Raises CacheClearedError where a file of a pull is gone: another process may empty the cache."""
    try:
        yield
    except FileNotFoundError:
        raise CacheClearedError("Pages went from the cache before they were read.") from None


def pull(
    session: Session, selection: Selection, make: Callable[[Pull], _Result], *, bulk: bool
) -> tuple[Pull, _Result]:
    """Fetches every row, and has `make` read them. `bulk` says that it can read Parquet."""

    def attempt() -> tuple[Pull, _Result]:
        plan = plan_pull(session, selection, bulk=bulk)
        found = Pull(plan, tuple(_sources(session, plan)))
        with reading():
            return found, make(found)

    return restarting(selection, attempt)


def stream(session: Session, selection: Selection, *, bulk: bool) -> Iterator[tuple[Pull, Source]]:
    """Yields the files of a pull one by one, and what is known of it.

    A refresh starts it again, once, while nothing was yielded; later it is an exception, since rows
    of two snapshots do not mix."""

    def begin() -> tuple[PullPlan, Iterator[Source], Source | None]:
        plan = plan_pull(session, selection, bulk=bulk)
        sources = _sources(session, plan)
        return plan, sources, next(sources, None)

    plan, sources, source = restarting(selection, begin)
    while source is not None:
        yield Pull(plan, (source,)), source
        source = next(sources, None)


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


def pages(session: Session, plan: PullPlan) -> Iterator[Page]:
    """Yields the pages of a plan in their order, from the cache where they are there.

    Raises ShortTableError where they do not add up to the rows that the service announced."""
    limit, seen, cursor = plan.selection.limit, 0, ""
    while True:
        rows = plan.page_rows if limit is None else min(plan.page_rows, limit - seen)
        page = find_page(session, plan, rows, cursor) or _fetch(session, plan, rows, cursor)
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
    query = {**plan.query(rows), "cursor": cursor} if cursor else plan.query(rows)
    return fetch_stream(session, plan.selection.path, query, plan.request(rows), cursor)


@contextlib.contextmanager
def _begun(session: Session, request: Mapping[str, Any]) -> Generator[Part, None, None]:
    """Begins a page; what fails from then on says where there is room."""
    try:
        with session.begin(request) as part:
            yield part
    except OSError as error:
        raise YearbookError(
            f"The page cannot be written ({error.strerror}).",
            "Make room, or set SERVICE_CACHE_DIR to a folder on another disk.",
        ) from None


def fetch_stream(
    session: Session, path: str, query: dict[str, Any], request: dict[str, Any], cursor: str
) -> Page:
    """Writes one answer to the disk, under the name `request` and `cursor`, and checks it."""
    wanted = int(query["limit"])

    def receive(response: Response) -> Page:
        with _begun(session, request) as part:
            for chunk in response.chunks():
                part.file.write(chunk)
            part.file.flush()
            rows = count_rows(map_file(part.file))
            announced = response.headers.count("X-Service-Rows")
            if announced is not None and announced != rows:
                raise ShortTableError(f"A page has {rows} rows, and {announced} were announced.")
            if rows > wanted:
                raise ShortTableError(f"A page has {rows} rows, and {wanted} were asked for.")
            return part.commit(response.headers, rows, cursor)

    return session.ask(path, receive, query, headers={"Accept": MEDIA_TYPE})


def write_pages(session: Session, plan: PullPlan, file: BinaryIO) -> tuple[int, Credit]:
    """Writes all rows of a plan to `file`, a page at a time in memory; their number and credit.

    Raises MissingExtraError without pyarrow, before anything is charged."""
    pa, parquet = require("pyarrow", PURPOSE), require("pyarrow.parquet", PURPOSE)
    writer: Any = None
    first: Mapping[str, str] = {}
    rows = 0
    try:
        for page in pages(session, plan):
            first = first or page.headers
            with reading():
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
    return rows, plan_credit(plan, first)


def bulk_page(session: Session, plan: PullPlan, bulk: BulkFile) -> Page:
    """Returns the bulk file of a plan, from the cache where it is there."""
    kept = find_bulk(session, bulk)
    if kept is not None:
        return kept
    with _begun(session, bulk.request) as part:
        download_bulk(session, bulk, part.file, plan.selection.name)
        # The headers of the rows: those of the file lack the number of rows and the citation.
        merged = Headers({**plan.headers, **bulk.headers}.items())
        return part.commit(merged, plan.total or 0)


def download_bulk(session: Session, bulk: BulkFile, file: BinaryIO, label: str) -> None:
    """Appends to `file`, which may hold a beginning, what it lacks, and checks the whole.

    Raises DigestMismatchError after a second download with wrong bytes, and MixedSnapshotsError
    where the service has another file by now."""
    # RFC 9530 has digests in Base64.
    expected = _DIGEST.search(bulk.headers.get("Repr-Digest", ""))
    length = bulk.headers.count("Content-Length")
    for again in (True, False):
        if file.seek(0, os.SEEK_END) == length:
            found = _hash_file(file)
        else:
            found = session.budget.run(lambda: _receive(session, bulk, file, label))
        size = file.tell()
        if length is not None and size != length:
            raise ShortTableError(f"The bulk file has {size} bytes, and {length} were announced.")
        if expected is None:
            raise IntegrityError("The service names no digest of the bulk file.")
        if base64.b64encode(found.digest()).decode() == expected[1]:
            return
        file.seek(0)
        file.truncate()
        if not again:
            raise DigestMismatchError("The bulk file is not the one that its digest names.")


def _receive(session: Session, bulk: BulkFile, file: BinaryIO, label: str) -> Any:
    """Appends to `file` what it lacks; the SHA-256 of the whole, taken while it arrives."""
    found, offset = _hash_file(file), file.tell()
    headers = {"Range": f"bytes={offset}-", "If-Range": bulk.etag} if offset else {}
    length = bulk.headers.count("Content-Length")
    with session.transport.request(
        session.origin, session.key, bulk.path, headers=headers, accepted=(200, 206)
    ) as response:
        if response.own and response.headers.get("ETag", bulk.etag) != bulk.etag:
            raise MixedSnapshotsError("The dataset was refreshed while its file was read.")
        place = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if response.status == 200:
            found, offset = hashlib.sha256(), 0
        elif place is None or int(place[1]) != offset:
            raise CutBodyError("The service sent another range than the one that was asked for.")
        file.seek(offset)
        file.truncate()
        for chunk in response.chunks():
            file.write(chunk)
            found.update(chunk)
            offset += len(chunk)
            session.progress(label, offset, length)
    if length is not None and offset < length:
        raise CutBodyError(f"The bulk file ended after {offset} of {length} bytes.")
    return found


def _hash_file(file: BinaryIO) -> Any:
    """Returns the SHA-256 of a file, whose place is its end afterwards."""
    file.seek(0)
    found = hashlib.sha256()
    while block := file.read(_BLOCK):
        found.update(block)
    return found
