"""Verification: the digest of a table in memory (contract-13-digest) against the one of the service
or of a citation. Owns how a table of each kind gives its values; what lost the difference between
null and NaN is an exception, never a match by luck (contract-13-clients)."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from .errors import UsageError
from .results import LABEL, TIME, Rows
from .results.tables import LABELLED, POLARS_TYPES, column_types
from .settings import require

PREFIX = "yb1:"
_CANONICAL_NAN = struct.pack("<Q", 0x7FF8_0000_0000_0000)
# Values that are hashed in one piece.
_BLOCK = 16_384

Columns = list[tuple[str, str, list[Any]]]


def _text(value: date | str) -> bytes:
    raw = (value if isinstance(value, str) else value.isoformat()).encode()
    return struct.pack("<I", len(raw)) + raw


def _number(value: float) -> bytes:
    return _CANONICAL_NAN if math.isnan(value) else struct.pack("<d", value)


# The number of each type, and the bytes of a value that is not null.
_TYPES: dict[str, tuple[int, Callable[[Any], bytes]]] = {
    "string": (0, _text),
    "integer": (1, struct.Struct("<q").pack),
    "number": (2, _number),
    "boolean": (3, struct.Struct("<?").pack),
    "date": (4, _text),
}


class ResultDigest:
    """A digest that grows batch by batch. `columns` has names and types in the result's order."""

    def __init__(self, columns: Sequence[tuple[str, str]]) -> None:
        self._columns = [(name, kind, hashlib.sha256()) for name, kind in columns]
        self._rows = 0

    def update(self, columns: Sequence[Sequence[Any]], rows: int) -> None:
        """Adds a batch, column by column; a null is None."""
        self._rows += rows
        for (_, kind, sums), values in zip(self._columns, columns):
            for start in range(0, rows, _BLOCK):
                sums.update(b"".join(_encoded(kind, values[start : start + _BLOCK])))

    def text(self) -> str:
        whole = hashlib.sha256(b"yearbook-result-1")
        whole.update(struct.pack("<Q", self._rows))
        for name, kind, sums in self._columns:
            whole.update(_text(name) + bytes([_TYPES[kind][0]]) + sums.digest())
        return PREFIX + whole.hexdigest()


def digest_of_columns(columns: Sequence[tuple[str, str, Sequence[Any]]], rows: int) -> str:
    """Returns the digest of a whole table: name, type and values of each column."""
    found = ResultDigest([(name, kind) for name, kind, _ in columns])
    found.update([values for _, _, values in columns], rows)
    return found.text()


def _encoded(kind: str, values: Sequence[Any]) -> Iterable[bytes]:
    if kind not in _TYPES:
        raise UsageError(f"A column of type {kind!r} has no digest.")
    encode = _TYPES[kind][1]
    return (b"\0" if value is None else b"\1" + encode(value) for value in values)


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

    Raises UsageError for a table that no longer has every value, or a column of another type or with
    labels."""
    module = type(table).__module__.partition(".")[0]
    if isinstance(table, Rows):
        columns: Columns = [
            (column.name, column.type, [row[column.name] for row in table])
            for column in table.columns
        ]
    elif module == "pyarrow":
        types = column_types(table.schema)
        columns = [
            (column.name, column.type, table.column(index).to_pylist())
            for index, column in enumerate(types)
        ]
    elif module == "polars":
        columns = _polars_columns(table)
    elif module in ("pandas", "geopandas"):
        columns = _pandas_columns(table)
    else:
        raise UsageError(f"A {type(table).__name__} has no digest.", "Give a result of `get`.")
    for name, kind, _ in columns:
        if kind == LABEL:
            raise UsageError(
                f"The column {name!r} has labels in place of its values.",
                "Get the rows without `labels` to verify them.",
            )
        if kind == TIME:
            raise UsageError("Revisions have no digest.", "Verify what `get` returned.")
    return digest_of_columns(columns, len(table))


def _polars_columns(frame: Any) -> Columns:
    pl = require("polars", "polars")
    kinds = {getattr(pl, dtype): kind for kind, dtype in POLARS_TYPES.items()}
    columns: Columns = []
    for name, dtype in frame.schema.items():
        kind = LABEL if isinstance(dtype, pl.Enum) else kinds.get(dtype)
        kind = TIME if isinstance(dtype, pl.Datetime) else kind
        if kind is None:
            raise UsageError(f"The column {name!r} was changed to {dtype}.", "Get it again.")
        columns.append((name, kind, frame[name].to_list()))
    return columns


def _pandas_columns(frame: Any) -> Columns:
    if "geometry" in frame.columns and "geometry_wkt" not in frame.columns:
        raise UsageError("Geometries have lost their text.", 'Choose to="arrow" to verify it.')
    columns: Columns = []
    for name in frame.columns:
        series = frame[name]
        labelled = name in frame.attrs.get(LABELLED, ())
        kind, text = LABEL if labelled else "string", str(series.dtype)
        missing = series.isna().tolist()
        if "UTC" in text:
            kind = TIME
        elif text.startswith("datetime64") or text == "date32[day][pyarrow]":
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
        if text.endswith("[pyarrow]"):
            # A NaN is a value there, and `isna` would not tell.
            values = series.array.__arrow_array__().to_pylist()
        else:
            is_date = kind == "date"
            values = [
                None if gone else value.date() if is_date else value
                for value, gone in zip(series.tolist(), missing)
            ]
        columns.append((str(name), kind, values))
    return columns
