"""Answers that are no success, as exceptions. Owns the table from status and code to exception."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any, cast

from .. import errors
from ..json_values import items
from .headers import Headers

# Statuses whose meaning depends on the code are told apart by it.
_BY_CODE: dict[str, type[errors.RefusedError]] = {
    "no_such_dataset": errors.DatasetNotFoundError,
    "no_such_snapshot": errors.SnapshotNotFoundError,
    "no_such_integration": errors.IntegrationNotFoundError,
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
    detail = _detail(body)
    sentence = detail if isinstance(detail, str) else f"The service answered {status}."
    problems = _problems(detail)
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
    reset = headers.get("X-RateLimit-Reset", "")
    try:
        if reset.isascii() and reset.isdigit():
            return datetime.fromtimestamp(int(reset), timezone.utc)
        if retry_after is not None:
            return datetime.now(timezone.utc) + timedelta(seconds=retry_after)
    except (OverflowError, OSError, ValueError):
        pass
    return None


def _detail(body: bytes) -> Any:
    try:
        document = json.loads(body)
    except ValueError:
        return None
    return cast("dict[str, Any]", document).get("detail") if isinstance(document, dict) else None


def _problems(detail: Any) -> tuple[dict[str, Any], ...]:
    return tuple(cast("dict[str, Any]", one) for one in items(detail) if isinstance(one, dict))


def _place(problem: dict[str, Any]) -> str:
    place = items(problem.get("loc"))[1:]
    return ".".join(str(part) for part in place) or "request"
