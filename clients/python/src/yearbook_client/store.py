"""Pages on disk: bodies that arrived whole, each with its headers. Owns the layout of the cache's
folder, atomic writing and the bound on its size (contract-11-cache). Never decides what is current,
never deletes a file of others, and never raises because a disk is full or a file is damaged: such an
entry does not exist."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from .http.answers import Headers

# A layout that older versions of the package cannot read gets another name.
LAYOUT = "v1"
# A file that no process has finished within a day was left by one that ended.
ABANDONED_SECONDS = 86_400
# Other names in the folder are files of others.
_OWN = re.compile(r"[0-9a-f]{32}\.(json|body)|part-\w+(\.json)?")


@dataclass(frozen=True)
class Page:
    """A body that arrived whole: its file, its headers and its number of rows."""

    path: Path
    headers: Headers
    rows: int
    size: int

    @property
    def snapshot(self) -> str:
        return self.headers.get("X-Service-Snapshot-Id", "")

    @property
    def etag(self) -> str:
        return self.headers.get("ETag", "")

    @property
    def cursor(self) -> str | None:
        """Returns the cursor of the next page; None after the last."""
        return self.headers.get("X-Next-Page")


class Store:
    """A folder of pages, for one call. Processes may share it: a page appears whole or not at all."""

    def __init__(self, folder: Path, bound: int | None = None) -> None:
        self.folder = folder / LAYOUT
        self._bound = bound
        # Folders of pages that the call still reads.
        self._in_use: set[Path] = set()

    def find(self, request: Mapping[str, Any], snapshot: str, cursor: str = "") -> Page | None:
        """Returns the page of `request` that begins at `cursor`, if it is here."""
        place = self.place(request, snapshot, cursor)
        page = _load(place)
        if page is not None:
            self._in_use.add(place.parent)
        return page

    def first_pages(self, request: Mapping[str, Any]) -> list[Page]:
        """Returns the first pages of `request` that are here, of all snapshots, newest first."""
        try:
            snapshots = sorted(
                (self.folder / file_name(request)).iterdir(),
                key=lambda folder: folder.stat().st_mtime,
                reverse=True,
            )
        except OSError:
            return []
        found = (_load(folder / file_name("")) for folder in snapshots[:8])
        return [page for page in found if page is not None]

    def write(self, request: Mapping[str, Any]) -> Part:
        """Begins a page. Raises OSError where the folder cannot be written."""
        folder = self.folder / file_name(request)
        folder.mkdir(parents=True, exist_ok=True)
        return Part(self, request, folder)

    def clear(self) -> None:
        """Deletes every entry, and the folders that are empty then."""
        for _, _, path in self._entries():
            with contextlib.suppress(OSError):
                path.unlink()
        for folder, _, _ in os.walk(self.folder, topdown=False):
            with contextlib.suppress(OSError):
                Path(folder).rmdir()

    def size(self) -> int:
        return sum(size for _, size, _ in self._entries())

    def place(self, request: Mapping[str, Any], snapshot: str, cursor: str) -> Path:
        """Returns the path of a page without its suffix."""
        return self.folder / file_name(request) / file_name(snapshot) / file_name(cursor)

    def _entries(self) -> list[tuple[float, int, Path]]:
        """Returns last use, bytes and path of every file of the cache."""
        found: list[tuple[float, int, Path]] = []
        for folder, _, names in os.walk(self.folder):
            for name in filter(_OWN.fullmatch, names):
                path = Path(folder, name)
                try:
                    status = path.stat()
                except OSError:
                    continue
                found.append((status.st_mtime, status.st_size, path))
        return found

    def evict(self, place: Path) -> None:
        """Deletes what was used least recently until the bound holds, but no page that this call has
        found, nor those beside the one at `place`, which it has just written."""
        self._in_use.add(place.parent)
        if self._bound is None:
            return
        entries = sorted(self._entries())
        total = sum(size for _, size, _ in entries)
        oldest = time.time() - ABANDONED_SECONDS
        for used, size, path in entries:
            unfinished = path.name.startswith("part-")
            wanted = used >= oldest if unfinished else total <= self._bound
            if wanted or path.parent in self._in_use:
                continue
            try:
                path.unlink()
                total -= size
            except OSError:
                continue


class Part:
    """A body that is being written, under a name of its own."""

    def __init__(self, store: Store, request: Mapping[str, Any], folder: Path) -> None:
        import tempfile

        self._store = store
        self._request = request
        number, name = tempfile.mkstemp(prefix="part-", dir=folder)
        self._path = Path(name)
        self.file: BinaryIO = os.fdopen(number, "w+b")

    def commit(self, headers: Headers, rows: int, cursor: str = "") -> Page:
        """Gives a body that was checked its place, with the headers of its answer.

        Raises OSError where that fails."""
        size = self.file.seek(0, os.SEEK_END)
        self.file.close()
        snapshot = headers.get("X-Service-Snapshot-Id", "")
        place = self._store.place(self._request, snapshot, cursor)
        place.parent.mkdir(parents=True, exist_ok=True)
        page = Page(place.with_suffix(".body"), headers, rows, size)
        os.replace(self._path, page.path)
        document = {"headers": dict(headers), "rows": rows, "size": size}
        beside = self._path.with_suffix(".json")
        beside.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
        # The last step: without its document, a body does not exist.
        os.replace(beside, place.with_suffix(".json"))
        self._store.evict(place)
        return page

    def __enter__(self) -> Part:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.file.close()
        finally:
            self._path.unlink(missing_ok=True)


def _load(place: Path) -> Page | None:
    try:
        document = json.loads(place.with_suffix(".json").read_text(encoding="utf-8"))
        body = place.with_suffix(".body")
        headers = Headers((str(k), str(v)) for k, v in document["headers"].items())
        page = Page(body, headers, int(document["rows"]), int(document["size"]))
        if body.stat().st_size != page.size:
            return None
        for path in (body, place.with_suffix(".json"), place.parent):
            os.utime(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return page


def file_name(named: Mapping[str, Any] | str) -> str:
    """Returns a name for the file of what is named so."""
    text = named if isinstance(named, str) else json.dumps(dict(named), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
