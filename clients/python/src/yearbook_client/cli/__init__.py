"""The command line `python -m yearbook_client`. Owns exit codes (contract-11-exit-codes) and how
values and failures are printed; CSV and JSON are those of the service. Every verb is the client's."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..client import Client
from ..errors import (
    MonthUsedUpError,
    PullTooExpensiveError,
    RateLimitedError,
    RefusedError,
    ServiceError,
    UsageError,
    YearbookError,
)
from ..models import as_json
from .parser import parser

SUCCESS, FAILURE, USAGE, REFUSED, MONTH_USED_UP = 0, 1, 2, 3, 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code."""
    given = parser().parse_args(arguments)
    from .commands import COMMANDS

    client = Client(progress=False if given.quiet or given.json else None)
    try:
        COMMANDS[given.verb](client, given)
        sys.stdout.flush()
    except YearbookError as error:
        _complain(error, machine=given.json)
        return exit_code(error)
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        return FAILURE
    except BrokenPipeError:
        # The reader, such as `head`, has enough; Python must not complain at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return SUCCESS


def exit_code(error: YearbookError) -> int:
    if isinstance(error, (MonthUsedUpError, PullTooExpensiveError)):
        return MONTH_USED_UP
    if isinstance(error, (RefusedError, RateLimitedError)):
        return REFUSED
    return USAGE if isinstance(error, UsageError) else FAILURE


def _complain(error: YearbookError, *, machine: bool) -> None:
    if not machine:
        sys.stderr.write(f"error: {error}\n")
        return
    document: dict[str, object] = {
        "error": type(error).__name__,
        "message": error.message,
        "advice": error.advice,
    }
    if isinstance(error, ServiceError):
        document |= {"status": error.status, "code": error.code, "request_id": error.request_id}
    sys.stderr.write(json.dumps(document, ensure_ascii=False) + "\n")


def json_text(value: Any) -> str:
    return json.dumps(as_json(value), ensure_ascii=False, allow_nan=False)


def table_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns rows under each other, for a person."""
    if not rows:
        return ""
    names = list(rows[0])
    cells = [names] + [
        ["" if row[name] is None else str(row[name]) for name in names] for row in rows
    ]
    widths = [min(60, max(len(line[index]) for line in cells)) for index in range(len(names))]
    lines = (
        "  ".join(cell[:size].ljust(size) for cell, size in zip(line, widths)) for line in cells
    )
    return "".join(line.rstrip() + "\n" for line in lines)


def print_rows(batches: Iterable[Any], *, machine: bool) -> None:
    """Prints batches of rows as CSV with a header line, or as an array of JSON objects."""
    first = True
    for rows in batches:
        names = [column.name for column in rows.columns]
        if first and not machine:
            sys.stdout.write(",".join(map(_csv, names)) + "\n")
            first = False
        for row in rows:
            if machine:
                sys.stdout.write(("[" if first else ",\n") + json_text(row))
                first = False
            else:
                sys.stdout.write(",".join(_csv(row[name]) for name in names) + "\n")
    if machine:
        sys.stdout.write("[]\n" if first else "]\n")


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
