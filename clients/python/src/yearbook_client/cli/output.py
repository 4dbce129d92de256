"""Printing: rows as CSV or JSON lines, documents as tables or JSON. Owns how values are written; CSV
and JSON are those of the service."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from ..results.rows import ColumnType


def print_json(value: Any) -> None:
    """Prints a value of the client as one JSON document."""
    sys.stdout.write(json.dumps(_plain(value), ensure_ascii=False, allow_nan=False) + "\n")


def print_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Prints rows under each other for a person."""
    if not rows:
        return
    names = list(rows[0])
    cells = [names] + [
        ["" if row[name] is None else str(row[name]) for name in names] for row in rows
    ]
    widths = [min(60, max(len(line[index]) for line in cells)) for index in range(len(names))]
    for line in cells:
        text = "  ".join(cell[:width].ljust(width) for cell, width in zip(line, widths))
        sys.stdout.write(text.rstrip() + "\n")


def print_rows(batches: Iterable[Any], *, machine: bool) -> None:
    """Prints batches of rows as CSV with a header line, or as an array of JSON objects."""
    first = True
    for rows in batches:
        if machine:
            for row in rows:
                sys.stdout.write(("[" if first else ",\n") + _json_row(row))
                first = False
            continue
        if first:
            sys.stdout.write(",".join(_csv(column.name) for column in rows.columns) + "\n")
            first = False
        types: tuple[ColumnType, ...] = rows.columns
        for row in rows:
            sys.stdout.write(",".join(_csv(row[column.name]) for column in types) + "\n")
    if machine:
        sys.stdout.write("[]\n" if first else "]\n")


def _json_row(row: Mapping[str, Any]) -> str:
    return json.dumps(_plain(row), ensure_ascii=False, allow_nan=False)


def _csv(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        return repr(value) if math.isfinite(value) else ("INF" if value > 0 else "-INF")
    text = str(value)
    # A text that is empty is not a null.
    quoted = not text or any(char in text for char in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text


def _plain(value: Any) -> Any:
    """Returns a value that JSON can hold; NaN and infinities become null, as in the service's JSON."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.name != "raw"
        }
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}  # pyright: ignore
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]  # pyright: ignore
    return value
