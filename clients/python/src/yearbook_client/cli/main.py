"""The run of one command. Owns exit codes (contract-11-exit-codes) and how failures are printed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

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
    return SUCCESS


def exit_code(error: YearbookError) -> int:
    """Returns the exit code of a failure."""
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
