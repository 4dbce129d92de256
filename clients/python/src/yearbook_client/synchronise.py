"""A local Parquet file that is kept up to date. Owns the choice between nothing, the whole table and
the changes, by the requests that each costs; a file is replaced whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .change_feed import COLUMNS, ChangeRequest, answers
from .credits import Credit
from .downloads import download, replacing
from .errors import RefusedError, YearbookError
from .http.headers import Headers
from .local_library import LocalTable, described, local_table, record
from .models import Account, Dataset
from .optional import available, require
from .pull import Source
from .selection import Selection
from .session import Session


@dataclass(frozen=True)
class Sync:
    """Outcome: the table, and `way`, which is unchanged, whole or changes."""

    table: LocalTable
    way: str


def sync(session: Session, name: str, path: Path) -> Sync:
    """Brings the Parquet file at `path` up to the current snapshot.

    An unchanged table costs no request. One that takes several pages is brought up by its changes
    where these cost less, which needs pyarrow and a table that fits into memory."""
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
    key = known.key
    spent = 0
    if not key:
        document, _ = session.documents.get(
            session.origin, session.key, f"/v1/datasets/{known.name}"
        )
        key, spent = _order(Dataset.parse(document)), 1
        if not key:
            return None
    preview = session.preview(known.name)
    request = ChangeRequest(known.name, known.snapshot_id)
    kept, session.cache = session.cache, None
    table: Any = require("pyarrow.parquet", "Synchronising").read_table(known.path)
    last: Headers | None = None
    try:
        for _, page in answers(session, request, preview, account):
            spent += 1
            table = apply_changes(table, Source(page, False), key)
            last = page.headers
            if table is None or (
                spent >= whole and page.headers.get("X-Service-Has-More") == "true"
            ):
                return None
    except RefusedError:
        # The version is gone, or the month: the whole table says which.
        return None
    finally:
        session.cache = kept
    snapshot = head.get("X-Service-Snapshot-Id")
    if last is None or last.get("X-Service-Snapshot-Id") != snapshot:
        return None
    if table.num_rows != head.count("X-Service-Total-Rows"):
        return None
    credit = Credit.from_headers(known.name, session.origin.base, {}, head)
    _write(known.path, table.sort_by([(column, "ascending") for column in key]), credit)
    return replace(described(known.name, known.path, table.num_rows, credit), key=key)


def _order(dataset: Dataset) -> tuple[str, ...]:
    """Returns the columns that order a table, the service's way; empty where it has no key."""
    if not dataset.primary_key:
        return ()
    date = (dataset.date_filter_column,) if dataset.date_filter_column else ()
    return (*date, *(column for column in dataset.primary_key if column not in date))


def apply_changes(table: Any, source: Source, key: tuple[str, ...]) -> Any:
    """Returns a `pyarrow.Table` after one answer of changes; None where the columns changed.

    The law: rows of A and changes from A to B give rows of B, however B came to be."""
    pa = require("pyarrow", "Applying changes")
    answer = pa.ipc.open_stream(pa.memory_map(str(source.page.path))).read_all()
    rows = answer.drop_columns(list(COLUMNS))
    if rows.schema.names != table.schema.names or rows.schema.types != table.schema.types:
        return None
    kinds = answer.column("_change_type")
    # Within an answer a row may change more than once; the net effect is its first and last state.
    position = pa.array(range(answer.num_rows), pa.int64())
    numbered = answer.select(list(key)).append_column("_change_type", kinds)
    numbered = numbered.append_column("_position", position)
    latest = numbered.group_by(list(key)).aggregate([("_position", "max")])
    table = table.join(latest.select(list(key)), keys=list(key), join_type="left anti")
    gone = pa.compute.is_in(kinds, value_set=pa.array(["delete", "update_preimage"]))
    last = pa.compute.is_in(position, value_set=latest.column("_position_max").combine_chunks())
    added = rows.filter(pa.compute.and_(last, pa.compute.invert(gone)))
    return pa.concat_tables([table.select(rows.schema.names).cast(rows.schema), added])


def _write(path: Path, table: Any, credit: Credit) -> None:
    parquet = require("pyarrow.parquet", "Synchronising")
    metadata: dict[bytes, bytes] = {
        **(table.schema.metadata or {}),
        b"yearbook.snapshot_id": credit.snapshot_id.encode(),
        b"yearbook.attribution": credit.attribution.encode(),
        b"yearbook.licence": credit.licence.encode(),
        b"yearbook.source": credit.source.encode(),
    }
    try:
        with replacing(path) as file:
            parquet.write_table(table.replace_schema_metadata(metadata), file)
    except OSError as error:
        raise YearbookError(f"{path} cannot be written ({error.strerror}).") from None
