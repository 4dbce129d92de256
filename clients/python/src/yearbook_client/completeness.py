"""The end of a body and the joint of two, by format. Owns how a cut body of each format is
recognised (contract-11-cut) and which formats may be joined of pages."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

from .arrow.messages import SCHEMA, count_rows, messages
from .arrow.stream import map_file
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
    """CSV and NDJSON: a line is a row, and the last one has an end. A cut at a line's end shows by
    the number of rows. A CSV line end inside quotes is none."""

    def __init__(self, *, header: bool, quoted: bool) -> None:
        self._rows = -1 if header else 0
        self._quotes = 0
        self._quoted = quoted
        self._last = b""

    def update(self, chunk: bytes) -> None:
        if not chunk:
            return
        self._last = chunk[-1:]
        if not self._quoted or (b'"' not in chunk and self._quotes % 2 == 0):
            self._rows += chunk.count(b"\n")
            return
        for number, part in enumerate(chunk.split(b'"')):
            self._quotes += 1 if number else 0
            if self._quotes % 2 == 0:
                self._rows += part.count(b"\n")

    def finish(self, *, framed: bool, file: BinaryIO, start: int) -> int | None:
        if self._rows < 0 or self._quotes % 2 or self._last not in (b"\n", b""):
            raise CutBodyError("The last line of the body is cut.")
        return self._rows


class _Json(Checker):
    """JSON: an array or an object that is closed."""

    def __init__(self) -> None:
        self._first = self._tail = b""

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


def checker(format_name: str) -> Checker:
    if format_name == "csv":
        return _Lines(header=True, quoted=True)
    if format_name == "ndjson":
        return _Lines(header=False, quoted=False)
    if format_name in ("json", "geojson"):
        return _Json()
    return {"arrow": _Arrow, "parquet": _Parquet, "geoparquet": _Parquet}.get(
        format_name, Checker
    )()


class Joiner:
    """Bodies of a format that stay single files."""

    joins = False

    def begin(self, file: BinaryIO) -> int:
        """Returns the place at which the next body is written."""
        return file.seek(0, os.SEEK_END)

    def end(self, file: BinaryIO, *, last: bool) -> None:
        """Makes one file of what was there and the body that was just written."""


class _Headed(Joiner):
    """Bodies whose beginning or end would stand in the middle: what is doubled is cut out."""

    joins = True

    def __init__(self) -> None:
        self._start = 0

    def begin(self, file: BinaryIO) -> int:
        self._start = file.seek(0, os.SEEK_END)
        return self._start

    def end(self, file: BinaryIO, *, last: bool) -> None:
        if self._start:
            self._drop(file, self._start, self._head(file, self._start))
        if not last:
            file.seek(-self._tail, os.SEEK_END)
            file.truncate()

    _tail = 0

    def _head(self, file: BinaryIO, start: int) -> int:
        raise NotImplementedError

    @staticmethod
    def _drop(file: BinaryIO, start: int, count: int) -> None:
        """Moves what follows `count` bytes at `start` to their place."""
        end = file.seek(0, os.SEEK_END)
        place = start
        while place + count < end:
            file.seek(place + count)
            block = file.read(_COPY)
            file.seek(place)
            file.write(block)
            place += len(block)
        file.seek(end - count)
        file.truncate()


class _CsvJoiner(_Headed):
    """CSV: the header line of later bodies goes; names of columns have no line ends."""

    def _head(self, file: BinaryIO, start: int) -> int:
        file.seek(start)
        return len(file.readline())


class _ArrowJoiner(_Headed):
    """Arrow streams: later schemas and earlier end markers go."""

    _tail = len(_END_OF_STREAM)

    def _head(self, file: BinaryIO, start: int) -> int:
        parts = messages(map_file(file)[start:])
        return next(message.end for message in parts if message.kind == SCHEMA)


class _Plain(Joiner):
    """NDJSON: lines follow lines."""

    joins = True


def joiner(format_name: str) -> Joiner:
    return {"csv": _CsvJoiner, "arrow": _ArrowJoiner, "ndjson": _Plain}.get(format_name, Joiner)()
