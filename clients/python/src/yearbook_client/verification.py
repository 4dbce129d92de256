"""Verification: the digest of a table in memory (contract-13-digest) against the one of the service
or of a citation. Owns how a table of each kind gives its values; what lost the difference between
null and NaN is an exception, never a match by luck (contract-13-clients)."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from .errors import UsageError
from .optional import require
from .results.rows import Rows

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


@dataclass(frozen=True)
class Verification:
    """Outcome of a comparison. True where both digests are equal."""

    matches: bool
    digest: str
    expected: str

    def __bool__(self) -> bool:
        return self.matches


def digest(table: Any) -> str:
    """Returns the digest of a result of `get`: rows, arrow, polars, or pandas with pyarrow's types.

    Raises UsageError for a table that no longer has every value, or a column of another type."""
    if isinstance(table, Rows):
        columns = [
            (column.name, column.type, [row[column.name] for row in table])
            for column in table.columns
        ]
        return digest_of_columns(columns, len(table))
    module = type(table).__module__.partition(".")[0]
    if module == "pyarrow":
        return _arrow_digest(table)
    if module == "polars":
        return _polars_digest(table)
    if module in ("pandas", "geopandas"):
        return _pandas_digest(table)
    raise UsageError(f"A {type(table).__name__} has no digest.", "Give a result of `get`.")


def _arrow_digest(table: Any) -> str:
    from .results.arrow import column_types

    columns = [
        (column.name, column.type, table.column(index).to_pylist())
        for index, column in enumerate(column_types(table.schema, frozenset()))
    ]
    return digest_of_columns(columns, table.num_rows)


def _polars_digest(frame: Any) -> str:
    pl = require("polars", "polars")
    kinds = {
        pl.String: "string",
        pl.Int64: "integer",
        pl.Float64: "number",
        pl.Boolean: "boolean",
        pl.Date: "date",
    }
    columns: list[tuple[str, str, list[Any]]] = []
    for name, dtype in frame.schema.items():
        kind = kinds.get(dtype)
        if kind is None:
            raise UsageError(f"The column {name!r} was changed to {dtype}.", "Get it again.")
        columns.append((name, kind, frame[name].to_list()))
    return digest_of_columns(columns, frame.height)


def _pandas_digest(frame: Any) -> str:
    if "geometry" in frame.columns and "geometry_wkt" not in frame.columns:
        raise UsageError("Geometries have lost their text.", 'Choose to="arrow" to verify it.')
    columns: list[tuple[str, str, list[Any]]] = []
    for name in frame.columns:
        series = frame[name]
        kind, text = "string", str(series.dtype)
        missing = series.isna().tolist()
        if text.startswith("datetime64") or text == "date32[day][pyarrow]":
            kind = "date"
        elif text in ("bool", "boolean", "bool[pyarrow]"):
            kind = "boolean"
        elif text in ("int64", "int64[pyarrow]", "Int64"):
            kind = "integer"
        elif text in ("float64", "double[pyarrow]"):
            kind = "number"
            if text == "float64" and any(missing):
                raise UsageError(
                    f"In the column {name!r} a null and a NaN look alike.",
                    'Choose dtype_backend="pyarrow" or to="arrow" to verify it.',
                )
        values = series.tolist()
        if text.endswith("[pyarrow]"):
            # A NaN is a value there, and `isna` would not tell.
            values = series.array.__arrow_array__().to_pylist()
        elif kind == "date":
            values = [_day(value, gone) for value, gone in zip(values, missing)]
        else:
            values = [None if gone else value for value, gone in zip(values, missing)]
        columns.append((str(name), kind, values))
    return digest_of_columns(columns, len(frame))


def _day(value: Any, missing: bool) -> date | None:
    return None if missing else value.date()
