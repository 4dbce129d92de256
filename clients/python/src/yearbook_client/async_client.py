"""The twin of the client for asyncio: every verb in a thread of its own."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any, SupportsInt, TypeVar

from .client import Client
from .settings import PathLike

if TYPE_CHECKING:
    from .change_feed import Changes, LocalTable
    from .credits import CitationFormat
    from .downloads import Download
    from .models import Account, Dataset, DatasetSummary, Integration, Link, Preview, Values
    from .published import Published
    from .verification import Verification

_Result = TypeVar("_Result")


async def _in_thread(verb: Callable[..., _Result], *given: Any, **named: Any) -> _Result:
    import asyncio  # long, and of no use to scripts

    return await asyncio.to_thread(verb, *given, **named)


class AsyncClient:
    """A `Client` whose verbs are awaited: each runs in a thread, and takes, returns and raises what
    that of `Client` does. It takes the arguments of `Client`, or one to wrap.

    A verb that is cancelled goes on in its thread until its request has ended."""

    def __init__(self, client: Client | None = None, **settings: Any) -> None:
        self.client = client if client is not None else Client(**settings)

    async def datasets(self) -> list[DatasetSummary]:
        return await _in_thread(self.client.datasets)

    async def search(self, words: str, limit: SupportsInt | None = 20) -> list[DatasetSummary]:
        return await _in_thread(self.client.search, words, limit)

    async def describe(self, name: str) -> Dataset:
        return await _in_thread(self.client.describe, name)

    async def preview(self, name: str) -> Preview:
        return await _in_thread(self.client.preview, name)

    async def values(self, name: str, **selected: Any) -> dict[str, Values]:
        return await _in_thread(lambda: self.client.values(name, **selected))

    async def link(self, name: str, **selected: Any) -> Link:
        return await _in_thread(lambda: self.client.link(name, **selected))

    async def me(self) -> Account:
        return await _in_thread(self.client.me)

    async def get(self, name: str, **selected: Any) -> Any:
        return await _in_thread(lambda: self.client.get(name, **selected))

    async def iter_batches(self, name: str, **selected: Any) -> AsyncIterator[Any]:
        """Yields one batch at a time; no more is in memory."""
        batches = self.client.iter_batches(name, **selected)
        end = object()
        try:
            while (batch := await _in_thread(next, batches, end)) is not end:
                yield batch
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                # Cancelled while a thread reads the next batch: it ends when that thread lets go.
                with contextlib.suppress(ValueError):
                    close()

    async def revisions(self, name: str, **selected: Any) -> Any:
        return await _in_thread(lambda: self.client.revisions(name, **selected))

    async def changes(self, name: str, since: str | None = None, **how: Any) -> Changes:
        return await _in_thread(self.client.changes, name, since, **how)

    async def download(self, name: str, path: PathLike, **selected: Any) -> Download:
        return await _in_thread(self.client.download, name, path, **selected)

    async def sync(self, name: str, path: PathLike | None = None) -> LocalTable:
        return await _in_thread(self.client.sync, name, path)

    async def cite(self, result: Any, format: CitationFormat = "text") -> str:  # noqa: A002
        return await _in_thread(self.client.cite, result, format)

    async def verify(self, table: Any, expected: str | None = None, **how: Any) -> Verification:
        return await _in_thread(self.client.verify, table, expected, **how)

    async def prove(self, result: Any, log_key: str) -> Published:
        return await _in_thread(self.client.prove, result, log_key)

    async def integration(self, tool: str, datasets: str | Sequence[str]) -> Integration:
        return await _in_thread(self.client.integration, tool, datasets)

    async def aclose(self) -> None:
        await _in_thread(self.client.close)
