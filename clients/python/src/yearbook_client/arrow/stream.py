"""Schema, columns and batches of an Arrow stream. Owns the types of Arrow that this reader knows
and the values as Python objects: a null is None, a NaN stays one, and a text is never a null."""

from __future__ import annotations

import mmap
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
_INT_CODES = {
    (8, True): "b",
    (16, True): "h",
    (32, True): "i",
    (64, True): "q",
    (8, False): "B",
    (16, False): "H",
    (32, False): "I",
    (64, False): "Q",
}


@dataclass(frozen=True)
class ArrowField:
    """A column. `kind` is string, integer, number, boolean, date or null; `code` the item's code in
    Python's `struct`, that of the offsets for texts."""

    name: str
    kind: str
    code: str
    nullable: bool = True
    metadata: dict[str, str] = field(default_factory=dict[str, str], compare=False)


@dataclass(frozen=True)
class ArrowSchema:
    """Columns in their order, and the stream's metadata."""

    fields: tuple[ArrowField, ...]
    metadata: dict[str, str] = field(default_factory=dict[str, str])


def declared_dates(fields: tuple[ArrowField, ...]) -> frozenset[str] | None:
    """Returns the names of columns that the stream declares as dates, whatever Arrow type they have.

    None where the stream declares nothing of any column."""
    if not any(key.startswith("yearbook.") for one in fields for key in one.metadata):
        return None
    return frozenset(one.name for one in fields if one.metadata.get("yearbook.type") == "date")


def parse_schema(header: FlatTable) -> ArrowSchema:
    """Parses the header of a schema message.

    Raises StreamError for a type that the service does not send."""
    if header.int16(0) != 0:
        raise StreamError("The Arrow stream is big-endian, which this reader does not know.")
    metadata = {pair.text(0): pair.text(1) for pair in header.tables(2)}
    return ArrowSchema(tuple(_field(one) for one in header.tables(1)), metadata)


def _field(table: FlatTable) -> ArrowField:
    name = table.text(0)
    kind, code = _kind(name, table)
    metadata = {pair.text(0): pair.text(1) for pair in table.tables(6)}
    return ArrowField(name, kind, code, bool(table.byte(1)), metadata)


def _kind(name: str, table: FlatTable) -> tuple[str, str]:
    union, details = table.byte(2), table.table(3)
    if table.table(4) is None and details is not None:
        if union == _UTF8:
            return "string", "i"
        if union == _LARGE_UTF8:
            return "string", "q"
        if union == _INT:
            code = _INT_CODES.get((details.int32(0), bool(details.byte(1))))
            if code:
                return "integer", code
        if union == _FLOAT and details.int16(0) in (1, 2):
            return "number", "f" if details.int16(0) == 1 else "d"
        if union == _BOOL:
            return "boolean", "?"
        # Days are 0 and written down; milliseconds are the default and may be left out.
        if union == _DATE and details.present(0) and details.int16(0) == 0:
            return "date", "i"
        if union == _NULL:
            return "null", ""
    raise StreamError(
        f"The column {name!r} has a type that the reader in plain Python does not know.",
        'Install pyarrow and choose to="arrow".',
    )


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
        for described, node in zip(self.schema.fields, nodes):
            count = buffers_of(described)
            columns.append(column(described, node, buffers[:count], rows))
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
