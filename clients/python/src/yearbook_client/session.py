"""One call of the client: service, key, connections and folders, fixed for its duration. Owns the
documents that are kept with their ETag, the free requests that every pull begins with: preview,
account and HEAD (contract-11-plan), and when progress is shown (contract-11-progress)."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .errors import IntegrityError, LicenceForbidsError, PlanRequiredError, RefusedError
from .http import Response, Transport
from .http.answers import Headers, RetryBudget
from .models import Account, Preview
from .settings import ApiKey, Origin
from .store import Page, Part, Store, file_name

if TYPE_CHECKING:
    import tempfile

LAYOUT = "documents-v1"
# A pull that is over sooner needs no bar.
FIRST_SECONDS = 1.0
BETWEEN_SECONDS = 0.1
_WIDTH = 24

# A list repeats the parameter.
Query = Mapping[str, Any]
Progress = Callable[[str, int, int | None], None]
_Result = TypeVar("_Result")


@dataclass
class Session:
    """Parts that one call needs. `folder` is the cache's, None keeps nothing. `no_bulk` has the names
    of datasets whose bulk file was refused to this client; `progress` is told a label, what is done
    and the whole, in rows or bytes."""

    origin: Origin
    key: ApiKey | None
    transport: Transport
    folder: Path | None
    cache: Store | None
    progress: Progress
    no_bulk: set[str] = field(default_factory=set[str])
    budget: RetryBudget = field(default_factory=RetryBudget)
    _scratch: tempfile.TemporaryDirectory[str] | None = None
    _scratch_store: Store | None = None

    def ask(
        self,
        path: str,
        read: Callable[[Response], _Result],
        query: Query | None = None,
        *,
        public: bool = False,
        **request: Any,
    ) -> _Result:
        """Returns what `read` makes of an answer; asks and reads again within the bounds of retries.

        `public` leaves the key out; `request` has further arguments of `Transport.request`."""
        key = None if public else self.key

        def attempt() -> _Result:
            with self.transport.request(self.origin, key, path, query, **request) as response:
                return read(response)

        return self.budget.run(attempt)

    def document(
        self, path: str, query: Query | None = None, *, keep: bool = True, public: bool = False
    ) -> Any:
        """Returns the JSON at `path`, from the disk where the service says that it is unchanged."""
        file = _document_file(self.folder, self.origin, path, query) if keep else None
        kept = _load(file)
        headers = {"Accept": "application/json"}
        if kept is not None:
            headers["If-None-Match"] = kept[0]

        def read(response: Response) -> Any:
            body = response.read()
            if response.status == 304:
                if kept is None:
                    raise IntegrityError("The service answered 304 to a first request.")
                return kept[1]
            try:
                document = json.loads(body)
            except ValueError:
                raise IntegrityError("The service's answer is no JSON.") from None
            etag = response.headers.get("ETag")
            if file is not None and etag:
                _save(file, {"etag": etag, "document": document})
            return document

        return self.ask(path, read, query, public=public, headers=headers, accepted=(200, 304))

    def preview(self, name: str) -> Preview:
        path = f"/v1/datasets/{name}/preview"
        return Preview.parse(self.document(path, keep=False, public=True))

    def account(self) -> Account:
        return Account.parse(self.document("/v1/me", keep=False))

    def head(
        self, path: str, query: Query | None = None, etags: tuple[str, ...] = ()
    ) -> tuple[int, Headers]:
        """Returns status, 200 or 304, and headers of what GET would answer: free."""
        headers = {"If-None-Match": ", ".join(etags)} if etags else {}

        def read(response: Response) -> tuple[int, Headers]:
            response.read()
            return response.status, response.headers

        asked: dict[str, Any] = {"headers": headers, "accepted": (200, 304)}
        try:
            return self.ask(path, read, query, method="HEAD", **asked)
        except (PlanRequiredError, LicenceForbidsError):
            raise  # a bulk file that pages replace
        except RefusedError:
            # The answer to HEAD has no sentence. GET is refused alike, which is free, and has one.
            self.ask(path, Response.close, query, **asked)
            raise

    @property
    def stores(self) -> list[Store]:
        """Returns the stores that may hold pages: the cache, then this call's own folder."""
        return [store for store in (self.cache, self._scratch_store) if store is not None]

    def find(
        self, request: Query, snapshot: str, cursor: str = "", etag: str | None = None
    ) -> Page | None:
        """Returns a page that is on the disk; with `etag`, only one that has it."""
        for store in self.stores:
            page = store.find(request, snapshot, cursor)
            if page is not None and (etag is None or page.etag == etag != ""):
                return page
        return None

    def begin(self, request: Query) -> Part:
        """Begins a page in the cache, or in a folder of this call where that cannot be written."""
        if self.cache is not None:
            try:
                return self.cache.write(request)
            except OSError:
                self.cache = None
        if self._scratch_store is None:
            import tempfile

            self._scratch = tempfile.TemporaryDirectory(prefix="yearbook_client-")
            self._scratch_store = Store(Path(self._scratch.name))
        return self._scratch_store.write(request)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = self._scratch_store = None


def kept_document(folder: Path | None, origin: Origin, path: str) -> Any:
    """Returns the document that is on the disk, current or not, without asking; else None."""
    kept = _load(_document_file(folder, origin, path))
    return kept[1] if kept is not None else None


def _document_file(
    folder: Path | None, origin: Origin, path: str, query: Query | None = None
) -> Path | None:
    if folder is None:
        return None
    text = json.dumps([origin.base, path, sorted((query or {}).items())])
    return folder / LAYOUT / f"{file_name(text)}.json"


def _load(file: Path | None) -> tuple[str, Any] | None:
    if file is None:
        return None
    try:
        stored = cast("dict[str, Any]", json.loads(file.read_text(encoding="utf-8")))
        return str(stored["etag"]), stored["document"]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save(file: Path, document: Mapping[str, Any]) -> None:
    import tempfile

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(number, "w", encoding="utf-8") as opened:
            json.dump(document, opened)
        os.replace(name, file)
    except OSError:
        # A cache that cannot be written costs requests, not results.
        return


class Bar:
    """A line on standard error that is written over."""

    def __init__(self, *, always: bool = False) -> None:
        self._began = self._shown = time.monotonic()
        self._always = always

    def __call__(self, label: str, done: int, whole: int | None) -> None:

        now = time.monotonic()
        ended = whole is not None and done >= whole
        early = now - self._began < FIRST_SECONDS and not self._always
        if early or (now - self._shown < BETWEEN_SECONDS and not ended):
            return
        self._shown = now
        text = f"{label} {done:,}"
        if whole:
            filled = min(_WIDTH, _WIDTH * done // whole)
            bar = "#" * filled + "-" * (_WIDTH - filled)
            text = f"{label} [{bar}] {100 * done // whole:3d} %  {done:,} of {whole:,}"
        sys.stderr.write(f"\r{text}\x1b[K" + ("\n" if ended else ""))
        sys.stderr.flush()


def progress_of(wanted: bool | Progress | None) -> Progress:
    """Returns what is told of progress: a bar where somebody looks, a function, or nothing."""
    if callable(wanted):
        return wanted
    try:
        shown = sys.stderr.isatty() if wanted is None else wanted
    except (AttributeError, ValueError):
        shown = False
    return Bar(always=bool(wanted)) if shown else _silent


def _silent(label: str, done: int, whole: int | None) -> None:
    """Shows nothing."""
