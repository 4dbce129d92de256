"""The bulk file: downloaded with resumption by range and checked by its digest
(contract-11-resume). Owns ranges and digests; knows nothing of Parquet."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from typing import BinaryIO

from .errors import (
    CutBodyError,
    DigestMismatchError,
    IntegrityError,
    MixedSnapshotsError,
    ShortTableError,
)
from .http.answers import Headers
from .planning import BulkFile, PullPlan, cached_bulk
from .session import Session
from .store import Page

_DIGEST = re.compile(r"(?:^|[,\s])sha-256=:([A-Za-z0-9+/=]+):")
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_BLOCK = 1 << 20


def bulk_page(session: Session, plan: PullPlan, bulk: BulkFile) -> Page:
    """Returns the bulk file of a plan, from the cache where it is there."""
    kept = cached_bulk(session, plan)
    if kept is not None:
        return kept
    with session.begin(plan.bulk_request()) as part:
        download_bulk(session, bulk, part.file, plan.selection.name)
        # The headers of the rows: those of the file lack the number of rows and the citation.
        merged = Headers({**plan.headers, **bulk.headers}.items())
        return part.commit(merged, plan.total or 0)


def download_bulk(session: Session, bulk: BulkFile, file: BinaryIO, label: str) -> None:
    """Appends to `file`, which may hold a beginning, what it lacks, and checks the whole.

    Raises DigestMismatchError after a second download with wrong bytes, and MixedSnapshotsError
    where the service has another file by now."""
    expected = _repr_digest(bulk.headers)
    length = bulk.headers.count("Content-Length")
    for again in (True, False):
        running = RunningDigest()
        if file.seek(0, os.SEEK_END) != length or length is None:
            session.budget.run(lambda: _receive(session, bulk, file, label, running))  # noqa: B023
        size = file.seek(0, os.SEEK_END)
        if length is not None and size != length:
            raise ShortTableError(f"The bulk file has {size} bytes, and {length} were announced.")
        if expected is None:
            raise IntegrityError("The service names no digest of the bulk file.")
        if (running.digest() if running.position == size else _file_digest(file)) == expected:
            return
        file.seek(0)
        file.truncate()
        if not again:
            raise DigestMismatchError("The bulk file is not the one that its digest names.")


class RunningDigest:
    """The SHA-256 of a file's beginning, taken while it arrives: no byte is read again."""

    def __init__(self) -> None:
        self._sums = hashlib.sha256()
        self.position = 0

    def update(self, offset: int, chunk: bytes) -> None:
        """Adds bytes that follow what it has; starts again with the file, and skips all else."""
        if offset == 0:
            self._sums, self.position = hashlib.sha256(), 0
        if offset == self.position:
            self._sums.update(chunk)
            self.position += len(chunk)

    def digest(self) -> bytes:
        """Returns the digest of the first `position` bytes."""
        return self._sums.digest()


def _receive(
    session: Session, bulk: BulkFile, file: BinaryIO, label: str, running: RunningDigest
) -> None:
    offset = file.seek(0, os.SEEK_END)
    headers = {"Range": f"bytes={offset}-", "If-Range": bulk.etag} if offset else {}
    length = bulk.headers.count("Content-Length")
    with session.transport.request(
        session.origin, session.key, bulk.path, headers=headers, accepted=(200, 206)
    ) as response:
        if response.own and response.headers.get("ETag", bulk.etag) != bulk.etag:
            raise MixedSnapshotsError("The dataset was refreshed while its file was read.")
        place = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if response.status == 200:
            offset = 0
        elif place is None or int(place[1]) != offset:
            raise CutBodyError("The service sent another range than the one that was asked for.")
        file.seek(offset)
        file.truncate()
        for chunk in response.chunks():
            file.write(chunk)
            running.update(offset, chunk)
            offset += len(chunk)
            session.progress(label, offset, length)
    if length is not None and offset < length:
        raise CutBodyError(f"The bulk file ended after {offset} of {length} bytes.")


def _repr_digest(headers: Headers) -> bytes | None:
    """Returns the SHA-256 in `Repr-Digest` (RFC 9530); None where there is none."""
    found = _DIGEST.search(headers.get("Repr-Digest", ""))
    if found is None:
        return None
    try:
        return base64.b64decode(found[1], validate=True)
    except binascii.Error:
        return None


def _file_digest(file: BinaryIO) -> bytes:
    file.flush()
    file.seek(0)
    digest = hashlib.sha256()
    block = bytearray(_BLOCK)
    view = memoryview(block)
    while count := file.readinto(block):  # type: ignore[attr-defined]
        digest.update(view[:count])
    return digest.digest()
