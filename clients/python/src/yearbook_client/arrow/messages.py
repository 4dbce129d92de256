"""Messages of an Arrow stream in a buffer, and the FlatBuffers of their headers, read in place.
Owns the bounds: an offset that leads out of the buffer is a StreamError. Owns the framing too: a
stream without its end marker was cut, however well its last message ends (contract-11-cut)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import CutBodyError, StreamError

_U16 = struct.Struct("<H")
_I16 = struct.Struct("<h")
_I32 = struct.Struct("<i")
_U32 = struct.Struct("<I")
_I64 = struct.Struct("<q")

# A schema or a batch has no more columns, and a table no deeper types.
MAX_ITEMS = 1 << 16


class FlatTable:
    """One table. Fields are named by their number; one that is absent has its default."""

    __slots__ = ("_buffer", "_position", "_vtable", "_vtable_bytes")

    def __init__(self, buffer: memoryview, position: int) -> None:
        self._buffer = buffer
        self._position = position
        self._vtable = position - self._read(_I32, position)
        self._vtable_bytes = self._read(_U16, self._vtable)

    @classmethod
    def root(cls, buffer: memoryview) -> FlatTable:
        """Returns the table that the buffer begins with."""
        if len(buffer) < 8:
            raise StreamError("A message of the Arrow stream is too short.")
        return cls(buffer, int(_U32.unpack_from(buffer, 0)[0]))

    def _read(self, kind: struct.Struct, position: int) -> int:
        if position < 0:
            raise StreamError("A message of the Arrow stream points out of itself.")
        try:
            return int(kind.unpack_from(self._buffer, position)[0])
        except struct.error:
            raise StreamError("A message of the Arrow stream points out of itself.") from None

    def _field(self, number: int) -> int:
        """Returns the position of a field, or 0 where it is absent."""
        entry = 4 + 2 * number
        if entry + 2 > self._vtable_bytes:
            return 0
        offset = self._read(_U16, self._vtable + entry)
        return self._position + offset if offset else 0

    def present(self, number: int) -> bool:
        return self._field(number) != 0

    def byte(self, number: int, default: int = 0) -> int:
        position = self._field(number)
        if not position:
            return default
        if position >= len(self._buffer):
            raise StreamError("A message of the Arrow stream points out of itself.")
        return self._buffer[position]

    def int16(self, number: int) -> int:
        position = self._field(number)
        return self._read(_I16, position) if position else 0

    def int32(self, number: int) -> int:
        position = self._field(number)
        return self._read(_I32, position) if position else 0

    def int64(self, number: int) -> int:
        position = self._field(number)
        return self._read(_I64, position) if position else 0

    def table(self, number: int) -> FlatTable | None:
        position = self._field(number)
        if not position:
            return None
        return FlatTable(self._buffer, position + self._read(_U32, position))

    def text(self, number: int) -> str:
        position = self._field(number)
        if not position:
            return ""
        start = position + self._read(_U32, position)
        length = self._read(_U32, start)
        raw = bytes(self._buffer[start + 4 : start + 4 + length])
        if len(raw) != length:
            raise StreamError("A message of the Arrow stream points out of itself.")
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise StreamError("A name in the Arrow stream is not UTF-8.") from None

    def tables(self, number: int) -> list[FlatTable]:
        start, count = self._vector(number)
        places = range(start, start + 4 * count, 4)
        return [FlatTable(self._buffer, place + self._read(_U32, place)) for place in places]

    def pairs(self, number: int) -> list[tuple[int, int]]:
        start, count = self._vector(number)
        places = range(start, start + 16 * count, 16)
        return [(self._read(_I64, place), self._read(_I64, place + 8)) for place in places]

    def _vector(self, number: int) -> tuple[int, int]:
        position = self._field(number)
        if not position:
            return 0, 0
        start = position + self._read(_U32, position)
        count = self._read(_U32, start)
        if count > MAX_ITEMS:
            raise StreamError("A message of the Arrow stream has too many parts.")
        return start + 4, count


_HEAD = struct.Struct("<II")
_CONTINUATION = 0xFFFFFFFF
SCHEMA, DICTIONARY, BATCH = 1, 2, 3


@dataclass(frozen=True)
class Message:
    """A header and the bytes that it describes. `start` and `end` bound both in the buffer."""

    kind: int
    header: FlatTable
    body: memoryview
    start: int
    end: int


def messages(buffer: memoryview) -> Iterator[Message]:
    """Yields the messages of a whole stream.

    Raises CutBodyError where the buffer ends before the end marker, and StreamError where bytes
    follow it or a message is malformed."""
    position = 0
    while True:
        if position + _HEAD.size > len(buffer):
            raise CutBodyError("The Arrow stream lacks its end marker: the body was cut.")
        mark, length = _HEAD.unpack_from(buffer, position)
        if mark != _CONTINUATION:
            raise StreamError("The answer is no Arrow stream.")
        metadata = position + _HEAD.size
        if length == 0:
            if metadata != len(buffer):
                raise StreamError("Bytes follow the end marker of the Arrow stream.")
            return
        if metadata + length > len(buffer):
            raise CutBodyError("The Arrow stream ends inside a message: the body was cut.")
        table = FlatTable.root(buffer[metadata : metadata + length])
        header, size = table.table(2), table.int64(3)
        if header is None or size < 0:
            raise StreamError("A message of the Arrow stream has no header.")
        end = metadata + length + size
        if end > len(buffer):
            raise CutBodyError("The Arrow stream ends inside a batch: the body was cut.")
        yield Message(table.byte(1), header, buffer[metadata + length : end], position, end)
        position = end


def count_rows(buffer: memoryview) -> int:
    """Returns the number of rows of a whole stream without decoding any; checks its framing.

    Raises what `messages` raises, and StreamError where no schema comes first."""
    rows, first = 0, True
    for message in messages(buffer):
        if first != (message.kind == SCHEMA):
            raise StreamError("An Arrow stream has one schema, and it comes first.")
        first = False
        if message.kind == BATCH:
            rows += message.header.int64(0)
    if first:
        raise StreamError("The Arrow stream has no schema.")
    return rows
