"""The end of a body and the joint of two, by format. Owns how a cut body of each format is
recognised (contract-11-cut) and which formats may be joined of pages."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

from .arrow import map_file
from .arrow.messages import SCHEMA, count_rows, messages
from .errors import CutBodyError

_END_OF_STREAM = struct.pack("<II", 0xFFFFFFFF, 0)
_COPY = 1 << 20


class Checker:
    """A body of a format that is not known here: only the transfer shows its end."""

    def update(self, chunk: bytes) -> None:
        """Takes the next bytes."""

    def finish(self, *, framed: bool, file: BinaryIO, start: int) -> int | None:
        """Returns the number of rows of a body that is whole, None where they are not counted.

        `start` is its place in `file`. Raises CutBodyError where it is not whole."""
        if not framed:
            raise CutBodyError("Nothing shows whether the body is whole: it has no length.")
        return None


class _Lines(Checker):
    """NDJSON: a line is a row, and the last one has an end. A cut at a line's end shows by the number
    of rows."""

    _rows = 0
    _quotes = 0
    _last = b""

    def update(self, chunk: bytes) -> None:
        self._last = chunk[-1:] or self._last
        self._rows += chunk.count(b"\n")

    def finish(self, *, framed: bool, file: BinaryIO, start: int) -> int | None:
        if self._rows < 0 or self._quotes % 2 or self._last not in (b"\n", b""):
            raise CutBodyError("The last line of the body is cut.")
        return self._rows


class _Csv(_Lines):
    """CSV: the first line is the header, and a line end inside quotes is none."""

    _rows = -1

    def update(self, chunk: bytes) -> None:
        for number, part in enumerate(chunk.split(b'"')):
            self._quotes += 1 if number else 0
            if self._quotes % 2 == 0:
                self._rows += part.count(b"\n")
        self._last = chunk[-1:] or self._last


class _Json(Checker):
    """JSON: an array or an object that is closed."""

    _first = _tail = b""

    def update(self, chunk: bytes) -> None:
        self._first = self._first or chunk.lstrip()[:1]
        self._tail = (self._tail + chunk)[-64:]

    def finish(self, *, framed: bool, file: BinaryIO, start: int) -> int | None:
        closing = {b"[": b"]", b"{": b"}"}.get(self._first)
        if closing is None or not self._tail.rstrip().endswith(closing):
            raise CutBodyError("The JSON is not closed: the body was cut.")
        return super().finish(framed=framed, file=file, start=start)


class _Arrow(Checker):
    """Arrow: the end marker, and the rows of all batches."""

    def finish(self, *, framed: bool, file: BinaryIO, start: int) -> int | None:
        return count_rows(map_file(file)[start:])


class _Parquet(Checker):
    """Parquet: the footer whose length stands in front of the last four bytes."""

    def finish(self, *, framed: bool, file: BinaryIO, start: int) -> int | None:
        size = file.seek(0, os.SEEK_END) - start
        file.seek(max(start, start + size - 8))
        tail = file.read(8)
        whole = size >= 12 and tail[4:] == b"PAR1"
        if not whole or int.from_bytes(tail[:4], "little") + 12 > size:
            raise CutBodyError("The Parquet file has no footer: the body was cut.")
        return None


_CHECKERS: dict[str, type[Checker]] = {
    "csv": _Csv,
    "ndjson": _Lines,
    "json": _Json,
    "geojson": _Json,
    "arrow": _Arrow,
    "parquet": _Parquet,
    "geoparquet": _Parquet,
}


def checker(format_name: str) -> Checker:
    return _CHECKERS.get(format_name, Checker)()


class Joiner:
    """Bodies of a format that stay single files."""

    joins = False
    _tail = 0

    def __init__(self) -> None:
        self._start = 0

    def begin(self, file: BinaryIO) -> int:
        """Returns the place at which the next body is written."""
        self._start = file.seek(0, os.SEEK_END)
        return self._start

    def end(self, file: BinaryIO, *, last: bool) -> None:
        """Makes one file of what was there and the last body: cuts out what would stand double."""
        if self._start:
            self._drop(file, self._head(file))
        if not last:
            file.seek(-self._tail, os.SEEK_END)
            file.truncate()

    def _head(self, file: BinaryIO) -> int:
        """Returns the bytes with which a later body repeats the first one."""
        return 0

    def _drop(self, file: BinaryIO, count: int) -> None:
        """Moves what follows `count` bytes of the last body to their place."""
        end = file.seek(0, os.SEEK_END)
        place = self._start
        while count and place + count < end:
            file.seek(place + count)
            block = file.read(_COPY)
            file.seek(place)
            file.write(block)
            place += len(block)
        file.seek(end - count)
        file.truncate()


class _Plain(Joiner):
    """NDJSON: lines follow lines."""

    joins = True


class _CsvJoiner(_Plain):
    """CSV: the header line of later bodies goes; names of columns have no line ends."""

    def _head(self, file: BinaryIO) -> int:
        file.seek(self._start)
        return len(file.readline())


class _ArrowJoiner(_Plain):
    """Arrow streams: later schemas and earlier end markers go."""

    _tail = len(_END_OF_STREAM)

    def _head(self, file: BinaryIO) -> int:
        parts = messages(map_file(file)[self._start :])
        return next(message.end for message in parts if message.kind == SCHEMA)


def joiner(format_name: str) -> Joiner:
    return {"csv": _CsvJoiner, "arrow": _ArrowJoiner, "ndjson": _Plain}.get(format_name, Joiner)()
