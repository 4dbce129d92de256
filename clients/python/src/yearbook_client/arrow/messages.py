"""Messages of an Arrow stream in a buffer. Owns the framing, and that a stream ends with its marker:
one without it was cut, however well its last message ends (contract-11-cut)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import CutBodyError, StreamError
from .flatbuffer import FlatTable

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
