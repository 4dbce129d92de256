"""Batches of an Arrow stream. Owns the order of messages and the place of each column's buffers."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..errors import CutBodyError, StreamError
from .columns import ColumnData, buffers_of, column
from .flatbuffer import FlatTable
from .messages import BATCH, SCHEMA, Message, messages
from .schema import ArrowSchema, parse_schema


@dataclass(frozen=True)
class Batch:
    """Rows, column by column."""

    rows: int
    columns: tuple[ColumnData, ...]


class StreamReader:
    """A whole stream in a buffer. Batches are decoded one by one and refer to the buffer."""

    def __init__(self, buffer: bytes | memoryview) -> None:
        self._messages = messages(memoryview(buffer).cast("B"))
        first = next(self._messages, None)
        if first is None or first.kind != SCHEMA:
            raise StreamError("The Arrow stream does not begin with a schema.")
        self.schema: ArrowSchema = parse_schema(first.header)

    def __iter__(self) -> Iterator[Batch]:
        for message in self._messages:
            if message.kind != BATCH:
                raise StreamError(
                    "The Arrow stream has dictionaries, which the reader in plain Python lacks.",
                    'Install pyarrow and choose to="arrow".',
                )
            yield self._batch(message)

    def _batch(self, message: Message) -> Batch:
        header: FlatTable = message.header
        rows, nodes, places = header.int64(0), header.pairs(1), header.pairs(2)
        if header.present(3):
            raise StreamError(
                "The Arrow stream is compressed, which the reader in plain Python lacks.",
                'Install pyarrow and choose to="arrow".',
            )
        wanted = sum(buffers_of(field) for field in self.schema.fields)
        if rows < 0 or len(nodes) != len(self.schema.fields) or len(places) != wanted:
            raise StreamError("A batch of the Arrow stream does not fit its schema.")
        size = len(message.body)
        for start, length in places:
            if start < 0 or length < 0 or start + length > size:
                raise StreamError("A batch of the Arrow stream points out of itself.")
        buffers = [message.body[start : start + length] for start, length in places]
        columns: list[ColumnData] = []
        for field, node in zip(self.schema.fields, nodes):
            count = buffers_of(field)
            columns.append(column(field, node, buffers[:count], rows))
            buffers = buffers[count:]
        return Batch(rows, tuple(columns))


class open_stream:  # noqa: N801, a context manager in the manner of `open`
    """A file in memory, mapped and not read. Values that refer to it must be made before it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._view: memoryview | None = None

    def __enter__(self) -> memoryview:
        with self._path.open("rb") as file:
            self._view = map_file(file)
        return self._view

    def __exit__(self, *_: object) -> None:
        self._view = None


def map_file(file: BinaryIO) -> memoryview:
    """Returns the bytes of a file, mapped and not read; they are there after it is closed.

    The map ends with the last view of it. Closing it here would fail where a traceback or a
    generator holds one. Raises CutBodyError for an empty file."""
    try:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except ValueError:
        raise CutBodyError("The body is empty.") from None
