"""The digest of a result (contract-13-digest): `yb1:` and a SHA-256 over rows, columns and values, the
same from every format. Owns its bytes; a digest is no signature and proves no origin."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from .errors import UsageError

PREFIX = "yb1:"
_TYPES = {"string": 0, "integer": 1, "number": 2, "boolean": 3, "date": 4}
_CANONICAL_NAN = struct.pack("<Q", 0x7FF8_0000_0000_0000)
# Values that are hashed in one piece.
_BLOCK = 16_384


class ResultDigest:
    """A digest that grows batch by batch. `columns` has names and types in the result's order."""

    def __init__(self, columns: Sequence[tuple[str, str]]) -> None:
        self._columns = list(columns)
        self._hashes = [hashlib.sha256() for _ in self._columns]
        self._rows = 0

    def update(self, columns: Sequence[Sequence[Any]], rows: int) -> None:
        """Adds a batch, column by column; a null is None."""
        self._rows += rows
        for (_, kind), sums, values in zip(self._columns, self._hashes, columns):
            for start in range(0, rows, _BLOCK):
                sums.update(b"".join(_encoded(kind, values[start : start + _BLOCK])))

    def text(self) -> str:
        """Returns the digest of what was added."""
        whole = hashlib.sha256(b"yearbook-result-1")
        whole.update(struct.pack("<Q", self._rows))
        for (name, kind), sums in zip(self._columns, self._hashes):
            raw = name.encode()
            whole.update(struct.pack("<I", len(raw)) + raw + bytes([_TYPES[kind]]) + sums.digest())
        return PREFIX + whole.hexdigest()


def digest_of_columns(columns: Sequence[tuple[str, str, Sequence[Any]]], rows: int) -> str:
    """Returns the digest of a whole table: name, type and values of each column."""
    found = ResultDigest([(name, kind) for name, kind, _ in columns])
    found.update([values for _, _, values in columns], rows)
    return found.text()


def _encoded(kind: str, values: Sequence[Any]) -> Iterable[bytes]:
    if kind in ("string", "date"):
        for value in values:
            if value is None:
                yield b"\0"
                continue
            raw = (value.isoformat() if isinstance(value, date) else value).encode()
            yield b"\1" + struct.pack("<I", len(raw)) + raw
    elif kind == "integer":
        for value in values:
            yield b"\0" if value is None else b"\1" + struct.pack("<q", value)
    elif kind == "boolean":
        for value in values:
            yield b"\0" if value is None else (b"\1\1" if value else b"\1\0")
    elif kind == "number":
        for value in values:
            if value is None:
                yield b"\0"
            else:
                yield b"\1" + (_CANONICAL_NAN if math.isnan(value) else struct.pack("<d", value))
    else:
        raise UsageError(f"A column of type {kind!r} has no digest.")
