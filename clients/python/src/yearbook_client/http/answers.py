"""Answers as values: header fields, exceptions for those that are no success, and the retries of
those that pass (contract-11-retries). Owns the table from status and code to exception; sends
nothing."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar, cast

from .. import errors

_PARAMETER = r';\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^",;\s]+))'
_LINK = re.compile(rf"<([^>]*)>((?:\s*{_PARAMETER})*)")

# Bounds of retries: requests for a page, and seconds.
REQUESTS_PER_PAGE = 5
WAITING_PER_PULL = 60.0
FIRST_BACK_OFF = 0.5

_Result = TypeVar("_Result")

RETRIED = (
    errors.RateLimitedError,
    errors.UnavailableError,
    errors.CutBodyError,
    errors.StalledError,
    errors.UnreachableError,
)


class Headers(Mapping[str, str]):
    """Header fields; the values of a repeated one are joined by commas."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Iterable[tuple[str, str]]) -> None:
        self._fields: dict[str, str] = {}
        for name, value in fields:
            name = name.lower()
            self._fields[name] = f"{self._fields[name]}, {value}" if name in self._fields else value

    @classmethod
    def from_wire(cls, fields: Iterable[tuple[str, str]]) -> Headers:
        """Makes them from what Python's HTTP library hands out: bytes read as Latin-1."""
        return cls((name, _utf8(value)) for name, value in fields)

    def __getitem__(self, name: str) -> str:
        return self._fields[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def count(self, name: str) -> int | None:
        """Returns a field that is a number; None where it is missing or is none."""
        text = self._fields.get(name.lower(), "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None

    def link(self, relation: str) -> str | None:
        """Returns the target of the first `Link` with this relation (RFC 8288)."""
        for target, parameters, *_ in _LINK.findall(self._fields.get("link", "")):
            for name, quoted, bare in re.findall(_PARAMETER, parameters):
                if name.lower() == "rel" and relation in (quoted or bare).lower().split():
                    return str(target)
        return None


def _utf8(text: str) -> str:
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


# Statuses whose meaning depends on the code are told apart by it.
_BY_CODE: dict[str, type[errors.ServiceError]] = {
    "no_such_dataset": errors.DatasetNotFoundError,
    "no_such_snapshot": errors.SnapshotNotFoundError,
    "no_such_integration": errors.IntegrationNotFoundError,
    "not_published_yet": errors.NotPublishedYetError,
    "history_gone": errors.HistoryGoneError,
    "too_many_versions": errors.TooManyVersionsError,
    "rebuilding": errors.RebuildingError,
    "quota_used_up": errors.MonthUsedUpError,
}
_BY_STATUS: dict[int, type[errors.ServiceError]] = {
    401: errors.KeyRefusedError,
    402: errors.PlanRequiredError,
    403: errors.LicenceForbidsError,
    404: errors.NotFoundError,
    406: errors.FormatRefusedError,
    410: errors.SnapshotGoneError,
    412: errors.ChangedError,
    413: errors.PullTooLargeError,
    422: errors.InvalidParametersError,
    429: errors.RateLimitedError,
    502: errors.UnavailableError,
    503: errors.UnavailableError,
    504: errors.UnavailableError,
}

# A burst is over within seconds; a wait of hours is a month that has ended.
LONGEST_BURST = 300.0


def refusal(status: int, headers: Headers, body: bytes) -> errors.ServiceError:
    """Returns the exception for an answer of `status`, with the service's own sentence."""
    code = headers.get("X-Service-Error-Code", "")
    retry_after = retry_after_seconds(headers.get("Retry-After"))
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status)
    if kind is None:
        kind = errors.ServiceFaultError if status >= 500 else errors.RefusedError
    if kind is errors.RateLimitedError and (retry_after or 0) > LONGEST_BURST:
        kind = errors.MonthUsedUpError
    try:
        document = json.loads(body)
    except ValueError:
        document = None
    known = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    detail = known.get("detail")
    sentence = detail if isinstance(detail, str) else f"The service answered {status}."
    problems = tuple(cast("dict[str, Any]", one) for one in items(detail) if isinstance(one, dict))
    if problems:
        sentence = "; ".join(f"{_place(one)}: {one.get('msg', '')}" for one in problems)
    error = kind(
        sentence,
        status=status,
        code=code,
        request_id=headers.get("X-Request-Id", ""),
        retry_after=retry_after,
    )
    if isinstance(error, errors.MonthUsedUpError):
        error.resets_at = month_end(headers, retry_after)
        if error.resets_at is not None:
            error.advice = f"The month ends at {error.resets_at:%Y-%m-%d %H:%M} UTC."
    elif isinstance(error, errors.InvalidParametersError):
        error.errors = problems
    elif isinstance(error, errors.SnapshotGoneError):
        error.oldest = headers.get("X-Service-Watermark")
    elif isinstance(error, errors.ServiceFaultError) and error.request_id:
        error.advice = f"Report the request id {error.request_id} to the operator."
    return error


def retry_after_seconds(text: str | None) -> float | None:
    """Parses `Retry-After`, seconds or a date; None where it is missing or unreadable."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(min(int(text[:12]), 10**9))
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())


def month_end(headers: Headers, retry_after: float | None) -> datetime | None:
    """Returns the end of the month from `X-RateLimit-Reset` (Unix seconds) or `Retry-After`."""
    reset = headers.count("X-RateLimit-Reset")
    try:
        if reset is not None:
            return datetime.fromtimestamp(reset, timezone.utc)
        if retry_after is not None:
            return datetime.now(timezone.utc) + timedelta(seconds=retry_after)
    except (OverflowError, OSError, ValueError):
        pass
    return None


def items(value: object) -> list[Any]:
    """Returns a list of JSON, an empty one where the value is none."""
    return list(value) if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _place(problem: dict[str, Any]) -> str:
    place = items(problem.get("loc"))[1:]
    return ".".join(str(part) for part in place) or "request"


class RetryBudget:
    """Requests for one page and seconds of waiting for one pull. One object serves one pull."""

    def __init__(self, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._left = WAITING_PER_PULL
        self._sleep = sleep

    def run(self, attempt: Callable[[], _Result]) -> _Result:
        """Calls `attempt`, at most five times, until it succeeds; raises its last failure.

        A wait that does not fit into what is left of the pull's is not begun."""
        number = 1
        while True:
            try:
                return attempt()
            except RETRIED as error:
                if number == REQUESTS_PER_PAGE or not self._wait(number, error):
                    raise
            number += 1

    def _wait(self, number: int, error: errors.YearbookError) -> bool:
        # Most pulls wait for nothing, and these take long to import.
        import logging
        import random

        asked = error.retry_after if isinstance(error, errors.ServiceError) else None
        if asked is None:
            bound = FIRST_BACK_OFF * 2 ** (number - 1)
            seconds = bound * (0.5 + random.random() / 2)  # noqa: S311, jitter and no secret
        else:
            # Clients that were refused together should not come back together.
            seconds = asked + random.random() * min(1.0, asked / 10)  # noqa: S311
        if seconds > self._left:
            return False
        logging.getLogger("yearbook_client").info(
            "%s; trying again in %.1f s", type(error).__name__, seconds
        )
        self._left -= seconds
        self._sleep(seconds)
        return True
