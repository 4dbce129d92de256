"""One call of the client: service, key, connections and folders, fixed for its duration. Owns the
documents that are kept with their ETag, and the free requests that every pull begins with: preview,
account and HEAD (contract-11-plan)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from .errors import IntegrityError
from .http.answers import Headers, RetryBudget
from .http.transport import Transport
from .models import Account, Preview
from .settings import ApiKey, Origin
from .store import Part, Store

if TYPE_CHECKING:
    import tempfile

LAYOUT = "documents-v1"


class Documents:
    """Documents of services. `folder` None keeps nothing."""

    def __init__(self, transport: Transport, folder: Path | None) -> None:
        self._transport = transport
        self._folder = folder / LAYOUT if folder is not None else None

    def get(
        self,
        origin: Origin,
        key: ApiKey | None,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        keep: bool = True,
    ) -> tuple[Any, Headers]:
        """Returns the JSON at `path`, from the disk where the service says that it is unchanged."""
        file = self._file(origin, path, query) if keep else None
        kept = _load(file)

        def attempt() -> tuple[Any, Headers]:
            headers = {"Accept": "application/json"}
            if kept is not None:
                headers["If-None-Match"] = kept[0]
            with self._transport.request(
                origin, key, path, query, headers=headers, accepted=(200, 304)
            ) as response:
                body = response.read()
            if response.status == 304:
                if kept is None:
                    raise IntegrityError("The service answered 304 to a first request.")
                return kept[1], response.headers
            try:
                document = json.loads(body)
            except ValueError:
                raise IntegrityError("The service's answer is no JSON.") from None
            etag = response.headers.get("ETag")
            if file is not None and etag:
                _save(file, {"etag": etag, "document": document})
            return document, response.headers

        return RetryBudget().run(attempt)

    def peek(self, origin: Origin, path: str) -> Any:
        """Returns the document that is on the disk, current or not, without asking; else None."""
        kept = _load(self._file(origin, path, None))
        return kept[1] if kept is not None else None

    def _file(self, origin: Origin, path: str, query: Mapping[str, str] | None) -> Path | None:
        if self._folder is None:
            return None
        text = json.dumps([origin.base, path, sorted((query or {}).items())])
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


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


Progress = Callable[[str, int, int | None], None]


@dataclass
class Session:
    """Parts that one call needs. `no_bulk` has the names of datasets whose bulk file was refused to
    this client; `progress` is told a label, what is done and the whole, in rows or bytes."""

    origin: Origin
    key: ApiKey | None
    transport: Transport
    documents: Documents
    cache: Store | None
    progress: Progress
    no_bulk: set[str] = field(default_factory=set[str])
    budget: RetryBudget = field(default_factory=RetryBudget)
    _scratch: tempfile.TemporaryDirectory[str] | None = None
    _scratch_store: Store | None = None

    def preview(self, name: str) -> Preview:
        """Returns the newest rows and the shape of a dataset: free, and without the key."""
        path = f"/v1/datasets/{name}/preview"
        document, _ = self.documents.get(self.origin, None, path, keep=False)
        return Preview.parse(document)

    def account(self) -> Account:
        document, _ = self.documents.get(self.origin, self.key, "/v1/me", keep=False)
        return Account.parse(document)

    def head(
        self, path: str, query: Mapping[str, str] | None = None, etags: tuple[str, ...] = ()
    ) -> tuple[int, Headers]:
        """Returns status, 200 or 304, and headers of what GET would answer: free."""
        headers = {"If-None-Match": ", ".join(etags)} if etags else {}

        def attempt() -> tuple[int, Headers]:
            with self.transport.request(
                self.origin,
                self.key,
                path,
                query,
                method="HEAD",
                headers=headers,
                accepted=(200, 304),
            ) as response:
                response.read()
            return response.status, response.headers

        return self.budget.run(attempt)

    @property
    def stores(self) -> list[Store]:
        """Returns the stores that may hold pages: the cache, then this call's own folder."""
        return [store for store in (self.cache, self._scratch_store) if store is not None]

    def begin(self, request: Mapping[str, str]) -> Part:
        """Begins a page in the cache, or in a folder of this call where that cannot be written."""
        if self.cache is not None:
            try:
                return self.cache.write(request)
            except OSError:
                self.cache = None
        return self.scratch().write(request)

    def scratch(self) -> Store:
        """Returns a store that ends with this call."""
        if self._scratch_store is None:
            import tempfile

            self._scratch = tempfile.TemporaryDirectory(prefix="yearbook_client-")
            self._scratch_store = Store(Path(self._scratch.name))
        return self._scratch_store

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = self._scratch_store = None
