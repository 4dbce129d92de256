"""The bulk file: downloaded with resumption by range and checked by its digest
(contract-11-resume). Owns ranges and digests; knows nothing of Parquet."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from typing import Any, BinaryIO

from .errors import (
    CutBodyError,
    DigestMismatchError,
    IntegrityError,
    MixedSnapshotsError,
    ShortTableError,
)
from .http.answers import Headers
from .planning import BulkFile, PullPlan, find_bulk
from .session import Session
from .store import Page

_DIGEST = re.compile(r"(?:^|[,\s])sha-256=:([A-Za-z0-9+/=]+):")
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_BLOCK = 1 << 20


def bulk_page(session: Session, plan: PullPlan, bulk: BulkFile) -> Page:
    """Returns the bulk file of a plan, from the cache where it is there."""
    kept = find_bulk(session, bulk)
    if kept is not None:
        return kept
    with session.begin(bulk.request) as part:
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
