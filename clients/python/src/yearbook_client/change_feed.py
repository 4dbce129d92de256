"""Changes of a dataset since a version, and the local Parquet files that they keep up to date, with a
note beside each. Owns the walk from answer to answer, and the choice between nothing, the whole table
and the changes, by the requests that each costs; a file is replaced whole or not."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, cast

from .credits import Credit
from .downloads import download, replacing
from .errors import RefusedError, ShortTableError, UsageError
from .http.answers import Headers
from .models import Account, Dataset
from .planning import PAGE_ROWS, PullPlan, afford
from .pull import Pull, Source, fetch_stream
from .results import ColumnType, Rows, columns_of, convert
from .selection import Selection
from .session import Session
from .settings import available, require
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


@dataclass(frozen=True)
class LocalTable:
    """A table of the library: its file, version and credit. `key` has the columns that tell rows
    apart and order them, empty where that was never asked."""

    name: str
    path: Path
    snapshot_id: str
    rows: int
    size: int
    synced_at: str
    credit: Credit
    key: tuple[str, ...] = ()

    @property
    def current(self) -> bool:
        """True where the file is the one that the document describes."""
        try:
            return self.path.stat().st_size == self.size
        except OSError:
            return False


def library(folder: Path) -> list[LocalTable]:
    """Returns the tables in a folder, by name."""
    found = (local_table(path) for path in folder.glob("*.parquet"))
    return sorted((table for table in found if table), key=lambda table: table.name)


def local_table(path: Path) -> LocalTable | None:
    """Returns what is known of the Parquet file at `path`; None where it is missing or changed."""
    try:
        text = document_path(path).read_text(encoding="utf-8")
        document = cast("dict[str, Any]", json.loads(text))
        table = LocalTable(
            name=str(document["name"]),
            path=path,
            snapshot_id=str(document["snapshot_id"]),
            rows=int(document["rows"]),
            size=int(document["size"]),
            synced_at=str(document["synced_at"]),
            credit=Credit.from_dict(document["credit"]),
            key=tuple(document.get("key") or ()),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return table if table.current else None


def record(table: LocalTable) -> None:
    """Writes the document of a file that is in its place."""
    document = {**asdict(table), "path": table.path.name}
    with replacing(document_path(table.path)) as file:
        file.write(json.dumps(document, ensure_ascii=False, indent=1).encode())


def described(
    name: str, path: Path, rows: int | None, credit: Credit, key: tuple[str, ...] = ()
) -> LocalTable:

    if rows is None:
        raise UsageError("The number of rows of the file is unknown.")
    moment = datetime.now(timezone.utc).isoformat(timespec="seconds")
    size = path.stat().st_size
    return LocalTable(name, path, credit.snapshot_id, rows, size, moment, credit, key)


def document_path(path: Path) -> Path:
    return path.with_name(path.name + ".json")


@dataclass(frozen=True)
class Sync:
    """Outcome: the table, and `way`, which is unchanged, whole or changes."""

    table: LocalTable
    way: str


def sync(session: Session, name: str, path: Path) -> Sync:
    """Brings the Parquet file at `path` up to the current snapshot.

    One that takes several pages is brought up by its changes where these cost less, which needs
    pyarrow and a table that fits into memory."""
    selection = Selection.of(name)
    _, headers = session.head(selection.path, {"format": "parquet", "limit": "1"})
    known = local_table(path)
    if known is not None and known.name != name:
        known = None
    if known is not None and known.snapshot_id == headers.get("X-Service-Snapshot-Id"):
        return Sync(known, "unchanged")
    account = session.account()
    whole = _requests(account, headers)
    if known is not None and whole > 1 + (not known.key) and available("pyarrow"):
        changed = _by_changes(session, known, headers, account, whole)
        if changed is not None:
            record(changed)
            return Sync(changed, "changes")
    found = download(session, selection, path, "parquet")
    table = described(name, path, found.rows, found.credit, known.key if known else ())
    record(table)
    return Sync(table, "whole")


def _requests(account: Account, headers: Headers) -> int:
    """Returns the requests that the whole table costs: one where the plan has no cap."""
    total = headers.count("X-Service-Total-Rows") or 0
    return 1 if account.row_cap is None else max(1, -(-total // account.row_cap))


def _by_changes(
    session: Session, known: LocalTable, head: Headers, account: Account, whole: int
) -> LocalTable | None:
    """Applies the changes since the file's snapshot; None where the whole table is the better way."""
    key, spent = known.key, 0
    if not key:
        key = _order(Dataset.parse(session.document(f"/v1/datasets/{known.name}")))
        spent = 1
        if not key:
            return None
    kept, session.cache = session.cache, None
    parquet = require("pyarrow.parquet", "Synchronising")
    table: Any = parquet.read_table(known.path)
    snapshot: str | None = None
    try:
        for page in answers(session, ChangeRequest(known.name, known.snapshot_id), account):
            spent += 1
            table = apply_changes(table, page, key)
            snapshot = page.headers.get("X-Service-Snapshot-Id")
            more = page.headers.get("X-Service-Has-More") == "true"
            if table is None or (more and spent >= whole):
                return None
    except RefusedError:
        # The version is gone, or the month: the whole table says which.
        return None
    finally:
        session.cache = kept
    current = snapshot is not None and snapshot == head.get("X-Service-Snapshot-Id")
    if not current or table.num_rows != head.count("X-Service-Total-Rows"):
        return None
    credit = Credit.from_headers(known.name, session.origin.base, {}, head)
    metadata: dict[bytes, bytes] = {
        **(table.schema.metadata or {}),
        b"yearbook.snapshot_id": credit.snapshot_id.encode(),
        b"yearbook.attribution": credit.attribution.encode(),
        b"yearbook.licence": credit.licence.encode(),
        b"yearbook.source": credit.source.encode(),
    }
    ordered = table.sort_by([(column, "ascending") for column in key])
    with replacing(known.path) as file:
        parquet.write_table(ordered.replace_schema_metadata(metadata), file)
    return described(known.name, known.path, table.num_rows, credit, key)


def _order(dataset: Dataset) -> tuple[str, ...]:
    """Returns the columns that order a table, the service's way; empty where it has no key."""
    if not dataset.primary_key:
        return ()
    date = (dataset.date_filter_column,) if dataset.date_filter_column else ()
    return (*date, *(column for column in dataset.primary_key if column not in date))


def apply_changes(table: Any, page: Page, key: tuple[str, ...]) -> Any:
    """Returns a `pyarrow.Table` after one answer of changes; None where the columns changed.

    The law: rows of A and changes from A to B give rows of B, however B came to be."""
    pa = require("pyarrow", "Applying changes")
    answer = pa.ipc.open_stream(pa.memory_map(os.fspath(page.path))).read_all()
    rows = answer.drop_columns(list(COLUMNS))
    if rows.schema.names != table.schema.names or rows.schema.types != table.schema.types:
        return None
    kinds = answer.column("_change_type")
    # Within an answer a row may change more than once; the net effect is its first and last state.
    position = pa.array(range(answer.num_rows), pa.int64())
    numbered = answer.select(list(key)).append_column("_position", position)
    latest = numbered.group_by(list(key)).aggregate([("_position", "max")])
    table = table.join(latest.select(list(key)), keys=list(key), join_type="left anti")
    gone = pa.compute.is_in(kinds, value_set=pa.array(["delete", "update_preimage"]))
    last = pa.compute.is_in(position, value_set=latest.column("_position_max").combine_chunks())
    added = rows.filter(pa.compute.and_(last, pa.compute.invert(gone)))
    return pa.concat_tables([table.select(rows.schema.names).cast(rows.schema), added])
