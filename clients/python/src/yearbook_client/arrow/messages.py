"""Messages of an Arrow stream in a buffer, and the FlatBuffers of their headers, read in place.
Owns the bounds: an offset that leads out of the buffer is a StreamError. Owns the framing too: a
stream without its end marker was cut, however well its last message ends (contract-11-cut)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import CutBodyError, StreamError

# A schema or a batch has no more columns.
MAX_ITEMS = 1 << 16


class FlatTable:
    """The table to which the offset at `place` leads. Fields are named by their number."""

    __slots__ = ("_buffer", "_position", "_vtable", "_vtable_bytes")

    def __init__(self, buffer: memoryview, place: int = 0) -> None:
        self._buffer = buffer
        self._position = self._follow(place)
        self._vtable = self._position - self._read("<i", self._position)
        self._vtable_bytes = self._read("<H", self._vtable)

    def _read(self, code: str, position: int) -> int:
        try:
            if position >= 0:
                return int(struct.unpack_from(code, self._buffer, position)[0])
        except struct.error:
            pass
        raise StreamError("A message of the Arrow stream points out of itself.")

    def _follow(self, place: int) -> int:
        return place + self._read("<I", place)

    def _field(self, number: int) -> int:
        """Returns the position of a field, or 0 where it is absent."""
        entry = 4 + 2 * number
        if entry + 2 > self._vtable_bytes:
            return 0
        offset = self._read("<H", self._vtable + entry)
        return self._position + offset if offset else 0

    def present(self, number: int) -> bool:
        return self._field(number) != 0

    def number(self, number: int, code: str) -> int:
        """Returns a field of the type `code` of `struct`; 0 where it is absent."""
        position = self._field(number)
        return self._read(code, position) if position else 0

    def table(self, number: int) -> FlatTable | None:
        position = self._field(number)
        return FlatTable(self._buffer, position) if position else None

    def text(self, number: int) -> str:
        start, length = self._vector(number)
        raw = bytes(self._buffer[start : start + length])
        if len(raw) != length:
            raise StreamError("A message of the Arrow stream points out of itself.")
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise StreamError("A name in the Arrow stream is not UTF-8.") from None

    def tables(self, number: int) -> list[FlatTable]:
        return [FlatTable(self._buffer, place) for place in self._places(number, 4)]

    def pairs(self, number: int) -> list[tuple[int, int]]:
        places = self._places(number, 16)
        return [(self._read("<q", place), self._read("<q", place + 8)) for place in places]

    def _vector(self, number: int) -> tuple[int, int]:
        """Returns the position of a vector's first item and the number of items."""
        position = self._field(number)
        if not position:
            return 0, 0
        start = self._follow(position)
        return start + 4, self._read("<I", start)

    def _places(self, number: int, size: int) -> range:
        start, count = self._vector(number)
        if count > MAX_ITEMS:
            raise StreamError("A message of the Arrow stream has too many parts.")
        return range(start, start + size * count, size)


_CONTINUATION = 0xFFFFFFFF
SCHEMA, BATCH = 1, 3


@dataclass(frozen=True)
class Message:
    """A header and the bytes that it describes. `end` is where both end in the buffer."""

    kind: int
    header: FlatTable
    body: memoryview
    end: int


def messages(buffer: memoryview) -> Iterator[Message]:
    """Yields the messages of a whole stream.

    Raises CutBodyError where the buffer ends before the end marker, and StreamError where bytes
    follow it or a message is malformed."""
    end = 0
    while True:
        start = end + 8
        if start > len(buffer):
            raise CutBodyError("The Arrow stream lacks its end marker: the body was cut.")
        mark, length = struct.unpack_from("<II", buffer, end)
        if mark != _CONTINUATION:
            raise StreamError("The answer is no Arrow stream.")
        if length == 0:
            if start != len(buffer):
                raise StreamError("Bytes follow the end marker of the Arrow stream.")
            return
        body = start + length
        if body > len(buffer):
            raise CutBodyError("The Arrow stream ends inside a message: the body was cut.")
        table = FlatTable(buffer[start:body])
        header, size = table.table(2), table.number(3, "<q")
        if header is None or size < 0:
            raise StreamError("A message of the Arrow stream has no header.")
        end = body + size
        if end > len(buffer):
            raise CutBodyError("The Arrow stream ends inside a batch: the body was cut.")
        yield Message(table.number(1, "B"), header, buffer[body:end], end)


def count_rows(buffer: memoryview) -> int:
    """Returns the number of rows of a whole stream without decoding any; checks its framing.

    Raises what `messages` raises, and StreamError where no schema comes first."""
    rows, first = 0, True
    for message in messages(buffer):
        if first != (message.kind == SCHEMA):
            raise StreamError("An Arrow stream has one schema, and it comes first.")
        first = False
        if message.kind == BATCH:
            rows += message.header.number(0, "<q")
    if first:
        raise StreamError("The Arrow stream has no schema.")
    return rows
