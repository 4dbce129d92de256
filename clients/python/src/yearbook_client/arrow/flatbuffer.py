"""Tables of a FlatBuffer, read in place. Owns the bounds: an offset that leads out of the buffer is
a StreamError, never a wrong value. The layout is that of flatbuffers.dev/internals."""

from __future__ import annotations

import struct

from ..errors import StreamError

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
        """True where a field is written down."""
        return self._field(number) != 0

    def byte(self, number: int, default: int = 0) -> int:
        """Returns an unsigned byte, a boolean or the kind of a union."""
        position = self._field(number)
        if not position:
            return default
        if position >= len(self._buffer):
            raise StreamError("A message of the Arrow stream points out of itself.")
        return self._buffer[position]

    def int16(self, number: int) -> int:
        """Returns a signed number of 16 bits, 0 where it is absent."""
        position = self._field(number)
        return self._read(_I16, position) if position else 0

    def int32(self, number: int) -> int:
        """Returns a signed number of 32 bits, 0 where it is absent."""
        position = self._field(number)
        return self._read(_I32, position) if position else 0

    def int64(self, number: int) -> int:
        """Returns a signed number of 64 bits, 0 where it is absent."""
        position = self._field(number)
        return self._read(_I64, position) if position else 0

    def table(self, number: int) -> FlatTable | None:
        """Returns a table inside this one."""
        position = self._field(number)
        if not position:
            return None
        return FlatTable(self._buffer, position + self._read(_U32, position))

    def text(self, number: int) -> str:
        """Returns a text, the empty one where it is absent."""
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
        """Returns a list of tables."""
        start, count = self._vector(number)
        places = range(start, start + 4 * count, 4)
        return [FlatTable(self._buffer, place + self._read(_U32, place)) for place in places]

    def pairs(self, number: int) -> list[tuple[int, int]]:
        """Returns a list of structures of two signed numbers of 64 bits each."""
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
