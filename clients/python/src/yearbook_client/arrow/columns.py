"""Columns of a batch, as views of the bytes that arrived. Owns their checks and their values as
Python objects: a null is None, a NaN stays one, and a text is never a null."""

from __future__ import annotations

import sys
from array import array
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from ..errors import StreamError
from .schema import ArrowField

_EPOCH = date(1970, 1, 1)
_SIZES = {"b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "Q": 8, "f": 4, "d": 8}


@dataclass(frozen=True)
class ColumnData:
    """A column of one batch: `length` values, of which `nulls` are null."""

    field: ArrowField
    length: int
    nulls: int
    validity: memoryview
    values: memoryview
    texts: memoryview

    def to_list(self) -> list[Any]:
        """Returns the values as Python objects, None where null."""
        kind = self.field.kind
        if kind == "null":
            return [None] * self.length
        if kind == "string":
            found: list[Any] = self._strings()
        elif kind == "boolean":
            found = [bit == "1" for bit in _bits(self.values, self.length)]
        elif kind == "date":
            found = self._days()
        else:
            found = _numbers(self.values, self.field.code).tolist()
        if self.nulls:
            bits = _bits(self.validity, self.length)
            found = [value if bit == "1" else None for value, bit in zip(found, bits)]
        return found

    def _days(self) -> list[Any]:
        try:
            return [
                _EPOCH + timedelta(days) for days in _numbers(self.values, self.field.code).tolist()
            ]
        except OverflowError:
            raise StreamError(f"The column {self.field.name!r} has a day beyond 9999.") from None

    def _strings(self) -> list[Any]:
        offsets = _numbers(self.values, self.field.code).tolist()
        raw = bytes(self.texts)
        try:
            if raw.isascii():
                text = raw.decode("ascii")
                return [text[a:b] for a, b in zip(offsets, offsets[1:])]
            return [raw[a:b].decode() for a, b in zip(offsets, offsets[1:])]
        except UnicodeDecodeError:
            raise StreamError(
                f"The column {self.field.name!r} has text that is no UTF-8."
            ) from None


def column(
    field: ArrowField, node: tuple[int, int], buffers: list[memoryview], rows: int
) -> ColumnData:
    """Makes a column of its buffers: validity, values, and the bytes of texts.

    Raises StreamError where a buffer is too short for the values that it should hold."""
    length, nulls = node
    empty = memoryview(b"")
    if field.kind == "null":
        return ColumnData(field, rows, rows, empty, empty, empty)
    validity, values = buffers[0], buffers[1]
    texts = buffers[2] if field.kind == "string" else empty
    if length != rows or not 0 <= nulls <= rows:
        raise _malformed(field)
    if nulls and len(validity) * 8 < rows:
        raise _malformed(field)
    if field.kind == "boolean":
        if len(values) * 8 < rows:
            raise _malformed(field)
        return ColumnData(field, rows, nulls, validity, values, texts)
    items = rows + 1 if field.kind == "string" else rows
    size = _SIZES[field.code] * items
    if field.kind == "string" and rows == 0:
        # An empty batch may leave its only offset out.
        return ColumnData(field, 0, 0, validity, memoryview(bytes(size)), texts)
    if len(values) < size:
        raise _malformed(field)
    values = values[:size]
    if field.kind == "string":
        offsets = _numbers(values, field.code).tolist()
        if offsets[0] < 0 or offsets[-1] > len(texts) or offsets != sorted(offsets):
            raise _malformed(field)
        texts = texts[: offsets[-1]]
    return ColumnData(field, rows, nulls, validity, values, texts)


def buffers_of(field: ArrowField) -> int:
    """Returns the number of buffers of a column in the stream."""
    return {"null": 0, "string": 3}.get(field.kind, 2)


def _numbers(values: memoryview, code: str) -> memoryview | array[Any]:
    """Returns little-endian numbers as this machine reads them."""
    if sys.byteorder == "little":
        return values.cast(code)  # type: ignore[call-overload,no-any-return,unused-ignore]
    swapped: array[Any] = array(code)
    swapped.frombytes(values)
    swapped.byteswap()
    return swapped


def _bits(buffer: memoryview, count: int) -> str:
    """Returns the first `count` bits, the lowest of each byte first, as a text of 0 and 1."""
    used = int.from_bytes(buffer[: (count + 7) // 8], "little")
    return bin(used | 1 << ((count + 7) // 8 * 8))[:2:-1][:count]


def _malformed(field: ArrowField) -> StreamError:
    return StreamError(f"The column {field.name!r} of the Arrow stream is malformed.")
