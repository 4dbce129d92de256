"""A reader of Arrow's IPC stream in plain Python. Owns the types of Arrow that it knows and the
values as Python objects: a null is None, a NaN stays one, and a text is never a null. Knows no
dataset and no HTTP."""

from __future__ import annotations

import mmap
import struct
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import CutBodyError, StreamError
from .messages import BATCH, SCHEMA, FlatTable, Message, messages

# Members of the union `Type` in Arrow's Schema.fbs.
_NULL, _INT, _FLOAT, _UTF8, _BOOL, _DATE, _LARGE_UTF8 = 1, 2, 3, 5, 6, 8, 20
# Codes of `struct`, by bits; unsigned numbers have them in capitals.
_INT_CODES = {8: "b", 16: "h", 32: "i", 64: "q"}
_ADVICE = 'Install pyarrow and choose to="arrow".'
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class ArrowField:
    """A column. `kind` is string, integer, number, boolean, date or null; `code` the item's code in
    Python's `struct`, that of the offsets for texts."""

    name: str
    kind: str
    code: str
    metadata: dict[str, str] = field(default_factory=dict[str, str], compare=False)

    def fault(self, text: str = "is malformed") -> StreamError:
        return StreamError(f"The column {self.name!r} of the Arrow stream {text}.")


def declared_dates(fields: tuple[ArrowField, ...]) -> frozenset[str] | None:
    """Returns the names of columns that the stream declares as dates, whatever Arrow type they have.

    None where the stream declares nothing of any column."""
    if not any(key.startswith("yearbook.") for one in fields for key in one.metadata):
        return None
    return frozenset(one.name for one in fields if one.metadata.get("yearbook.type") == "date")


def parse_schema(header: FlatTable) -> tuple[ArrowField, ...]:
    """Parses the header of a schema message.

    Raises StreamError for a type that the service does not send."""
    if header.number(0, "<h") != 0:
        raise StreamError("The Arrow stream is big-endian, which this reader does not know.")
    return tuple(_field(one) for one in header.tables(1))


def _field(table: FlatTable) -> ArrowField:
    name = table.text(0)
    kind, code = _kind(name, table)
    metadata = {pair.text(0): pair.text(1) for pair in table.tables(6)}
    return ArrowField(name, kind, code, metadata)


def _kind(name: str, table: FlatTable) -> tuple[str, str]:
    union, details = table.number(2, "B"), table.table(3)
    if table.table(4) is None and details is not None:
        if union in (_UTF8, _LARGE_UTF8):
            return "string", "i" if union == _UTF8 else "q"
        if union == _INT:
            code = _INT_CODES.get(details.number(0, "<i"))
            if code:
                return "integer", code if details.number(1, "B") else code.upper()
        precision = details.number(0, "<h")
        if union == _FLOAT and precision in (1, 2):
            return "number", "f" if precision == 1 else "d"
        if union == _BOOL:
            return "boolean", "?"
        # Days are 0 and written down; milliseconds are the default and may be left out.
        if union == _DATE and details.present(0) and precision == 0:
            return "date", "i"
        if union == _NULL:
            return "null", ""
    raise StreamError(
        f"The column {name!r} has a type that the reader in plain Python does not know.", _ADVICE
    )


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
        if kind == "boolean":
            found: list[Any] = [bit == "1" for bit in _bits(self.values, self.length)]
        else:
            found = _numbers(self.values, self.field.code).tolist()
        try:
            if kind == "string":
                found = self._strings(found)
            elif kind == "date":
                found = [_EPOCH + timedelta(days) for days in found]
        except UnicodeDecodeError:
            raise self.field.fault("has text that is no UTF-8") from None
        except OverflowError:
            raise self.field.fault("has a day beyond 9999") from None
        if self.nulls:
            bits = _bits(self.validity, self.length)
            found = [value if bit == "1" else None for value, bit in zip(found, bits)]
        return found

    def _strings(self, offsets: list[int]) -> list[Any]:
        raw = bytes(self.texts)
        if raw.isascii():
            text = raw.decode("ascii")
            return [text[a:b] for a, b in zip(offsets, offsets[1:])]
        return [raw[a:b].decode() for a, b in zip(offsets, offsets[1:])]


def column(
    field: ArrowField, node: tuple[int, int], buffers: list[memoryview], rows: int
) -> ColumnData:
    """Makes a column of its buffers: validity, values, and the bytes of texts.

    Raises StreamError where a buffer is too short for the values that it should hold."""
    length, nulls = node
    empty = memoryview(b"")
    if field.kind == "null":
        return ColumnData(field, rows, rows, empty, empty, empty)
    validity, values, texts = (*buffers, empty)[:3]
    is_text = field.kind == "string"
    if field.kind == "boolean":
        size = (rows + 7) // 8
    else:
        size = struct.calcsize(field.code) * (rows + is_text)
    if is_text and rows == 0:
        # An empty batch may leave its only offset out.
        values = memoryview(bytes(size))
    if length != rows or not 0 <= nulls <= rows or len(values) < size:
        raise field.fault()
    if nulls and len(validity) * 8 < rows:
        raise field.fault()
    values = values[:size]
    if is_text:
        offsets = _numbers(values, field.code).tolist()
        if offsets[0] < 0 or offsets[-1] > len(texts) or offsets != sorted(offsets):
            raise field.fault()
        texts = texts[: offsets[-1]]
    return ColumnData(field, rows, nulls, validity, values, texts)


def buffers_of(field: ArrowField) -> int:
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
        self.fields = parse_schema(first.header)

    def __iter__(self) -> Iterator[Batch]:
        for message in self._messages:
            if message.kind != BATCH:
                raise StreamError(
                    "The Arrow stream has dictionaries, which the reader in plain Python lacks.",
                    _ADVICE,
                )
            yield self._batch(message)

    def _batch(self, message: Message) -> Batch:
        header = message.header
        rows, nodes, places = header.number(0, "<q"), header.pairs(1), header.pairs(2)
        if header.present(3):
            raise StreamError(
                "The Arrow stream is compressed, which the reader in plain Python lacks.", _ADVICE
            )
        wanted = sum(buffers_of(field) for field in self.fields)
        if rows < 0 or len(nodes) != len(self.fields) or len(places) != wanted:
            raise StreamError("A batch of the Arrow stream does not fit its schema.")
        size = len(message.body)
        if any(start < 0 or length < 0 or start + length > size for start, length in places):
            raise StreamError("A batch of the Arrow stream points out of itself.")
        buffers = [message.body[start : start + length] for start, length in places]
        columns: list[ColumnData] = []
        for described, node in zip(self.fields, nodes):
            count = buffers_of(described)
            columns.append(column(described, node, buffers[:count], rows))
            buffers = buffers[count:]
        return Batch(rows, tuple(columns))


def open_stream(path: Path) -> StreamReader:
    """Opens the stream in a file, mapped and not read."""
    with path.open("rb") as file:
        return StreamReader(map_file(file))


def map_file(file: BinaryIO) -> memoryview:
    """Returns the bytes of a file, mapped and not read; they are there after it is closed.

    The map ends with the last view of it. Closing it here would fail where a traceback or a
    generator holds one. Raises CutBodyError for an empty file."""
    try:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except ValueError:
        raise CutBodyError("The body is empty.") from None
