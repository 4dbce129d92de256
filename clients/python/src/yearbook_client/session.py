"""One call of the client: service, key, connections and folders, fixed for its duration. Owns the
free requests that every pull begins with: preview, account and HEAD (contract-11-plan)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from .documents import Documents
from .http.headers import Headers
from .http.retries import RetryBudget
from .http.transport import Transport
from .key import ApiKey
from .models import Account, Preview
from .settings import Origin
from .store import Part, Store

if TYPE_CHECKING:
    import tempfile

Progress = Callable[[str, int, int | None], None]


@dataclass
class Session:
    """What one call needs. `no_bulk` has the names of datasets whose bulk file was refused to this
    client; `progress` is told a label, what is done and the whole, in rows or bytes."""

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
        """Returns plan and remaining requests: free."""
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
