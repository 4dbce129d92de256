"""The client for asyncio: each verb runs in a thread, so that the event loop goes on. Owns no rule
of its own: behaviour and exceptions are those of `Client`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from .change_feed import Changes
from .client import Client
from .credits import CitationFormat
from .downloads import Download
from .local_library import LocalTable
from .models import Account, Dataset, DatasetSummary, Integration, Preview
from .settings import PathLike
from .verification import Verification


class AsyncClient:
    """A `Client` whose verbs are awaited: each takes and returns what that of `Client` does. It takes
    the arguments of `Client`, or one to wrap.

    A verb that is cancelled goes on in its thread until its request has ended."""

    def __init__(self, client: Client | None = None, **settings: Any) -> None:
        self.client = client if client is not None else Client(**settings)

    async def datasets(self) -> list[DatasetSummary]:
        return await asyncio.to_thread(self.client.datasets)

    async def search(self, words: str, limit: int = 20) -> list[DatasetSummary]:
        return await asyncio.to_thread(self.client.search, words, limit)

    async def describe(self, name: str) -> Dataset:
        return await asyncio.to_thread(self.client.describe, name)

    async def preview(self, name: str) -> Preview:
        return await asyncio.to_thread(self.client.preview, name)

    async def me(self) -> Account:
        return await asyncio.to_thread(self.client.me)

    async def get(self, name: str, **selected: Any) -> Any:
        return await asyncio.to_thread(lambda: self.client.get(name, **selected))

    async def iter_batches(self, name: str, **selected: Any) -> AsyncIterator[Any]:
        """Yields one batch at a time; no more is in memory."""
        batches = self.client.iter_batches(name, **selected)
        end = object()
        try:
            while (batch := await asyncio.to_thread(next, batches, end)) is not end:
                yield batch
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                close()

    async def changes(self, name: str, since: str | None = None, **how: Any) -> Changes:
        return await asyncio.to_thread(self.client.changes, name, since, **how)

    async def download(self, name: str, path: PathLike, **selected: Any) -> Download:
        return await asyncio.to_thread(self.client.download, name, path, **selected)

    async def sync(self, name: str, path: PathLike | None = None) -> LocalTable:
        return await asyncio.to_thread(self.client.sync, name, path)

    async def cite(self, result: Any, format: CitationFormat = "text") -> str:  # noqa: A002
        return await asyncio.to_thread(self.client.cite, result, format)

    async def verify(self, table: Any, expected: str | None = None, **how: Any) -> Verification:
        return await asyncio.to_thread(self.client.verify, table, expected, **how)

    async def integration(self, tool: str, datasets: str | Sequence[str]) -> Integration:
        return await asyncio.to_thread(self.client.integration, tool, datasets)

    async def aclose(self) -> None:
        await asyncio.to_thread(self.client.close)
