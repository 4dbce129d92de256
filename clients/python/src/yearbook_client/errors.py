"""Exceptions, one for each refusal of the service and one for each way in which an answer can be
unusable. Owns their names and advice; sends nothing. No exception holds a key."""

from __future__ import annotations

from datetime import datetime
from typing import Any


class YearbookError(Exception):
    """Base of all exceptions of this package. `advice` says what to do next."""

    advice = ""

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if advice is not None:
            self.advice = advice

    def __str__(self) -> str:
        return f"{self.message} {self.advice}".strip()


class UsageError(YearbookError, ValueError):
    """An argument or a setting that no service could accept."""


class MissingExtraError(YearbookError, ImportError):
    """A result needs a package that is not installed."""


class ConversionError(YearbookError, ValueError):
    """A value that the chosen result cannot hold exactly."""

    advice = 'Choose to="arrow", or dtype_backend="pyarrow" for pandas: they hold every value.'


class ServiceError(YearbookError):
    """An answer of the service that is not a success."""

    def __init__(
        self,
        message: str,
        *,
        # Pickle calls with the message alone, and then restores the rest.
        status: int = 0,
        code: str = "",
        request_id: str = "",
        retry_after: float | None = None,
        advice: str | None = None,
    ) -> None:
        super().__init__(message, advice)
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after


class RefusedError(ServiceError):
    """A correct no of the service: the same request is refused again."""


class KeyRefusedError(RefusedError):
    """401: the key is missing, malformed, unknown or revoked."""

    advice = "Set SERVICE_API_KEY, or run `python -m yearbook_client login`."


class PlanRequiredError(RefusedError):
    """402: the plan does not include the bulk file."""

    advice = "Read it with `get`, which takes pages, or upgrade the plan."


class LicenceForbidsError(RefusedError):
    """403: the licence forbids bulk redistribution, on every plan."""

    advice = "Read it with `get`, which takes pages."


class NotFoundError(RefusedError):
    """404: no such path."""


class DatasetNotFoundError(NotFoundError):
    """404: no dataset has this name."""

    advice = "Look the name up with `search` or `datasets`; do not guess."


class SnapshotNotFoundError(NotFoundError):
    """404: the dataset never had this snapshot."""

    advice = "`describe(name).snapshots` lists those that are kept."


class NotPublishedYetError(NotFoundError):
    """404: at that time the dataset had not been published."""

    advice = "`describe(name).snapshots` has the versions that are kept, with their times."


class IntegrationNotFoundError(NotFoundError):
    """404: no such tool."""


class FormatRefusedError(RefusedError):
    """406: no loaded format has this media type."""


class SnapshotGoneError(RefusedError):
    """410: the snapshot or watermark is no longer kept. `oldest` is the oldest usable watermark."""

    advice = "Read the current snapshot again and go on from it."
    oldest: str | None = None


class HistoryGoneError(RefusedError):
    """410: the history of the dataset does not reach back to that time."""

    advice = "`describe(name).snapshots` has the versions that are kept, with their times."


class ChangedError(RefusedError):
    """412: the table has another version than the one that was asked for."""


class PullTooLargeError(RefusedError):
    """413: the rows are more than one answer may hold."""


class TooManyVersionsError(PullTooLargeError):
    """413: the dataset had more versions than one answer of revisions may span."""

    advice = "Give `since`, or a later one."


class InvalidParametersError(RefusedError):
    """422: parameters are wrong. `errors` has the service's list, one entry a parameter."""

    errors: tuple[dict[str, Any], ...] = ()


class RateLimitedError(ServiceError):
    """429: too many requests at once, or too many open responses."""

    advice = "Wait for the time in `retry_after`, in seconds."


class MonthUsedUpError(RefusedError):
    """429: the month has no request left. `resets_at` is the moment at which the next one begins."""

    resets_at: datetime | None = None


class PullTooExpensiveError(RefusedError):
    """A pull needs more requests than the month has left. Nothing was charged."""

    needed: int = 0
    left: int = 0
    resets_at: datetime | None = None


class UnavailableError(ServiceError):
    """502, 503 or 504: the service is busy, or a part of it is down."""

    advice = "Try again later."


class RebuildingError(UnavailableError):
    """503: the service is making an old version readable again, and waiting was not enough."""

    advice = "Try again in a few minutes; it is made once."


class ServiceFaultError(ServiceError):
    """Another 5xx: a fault of the service."""

    advice = "Report it to the operator with the request id."


class TransportError(YearbookError):
    """The network failed before the answer was complete."""

    advice = "Check the network and SERVICE_BASE_URL, then try again."


class UnreachableError(TransportError):
    """No connection could be made."""


class StalledError(TransportError):
    """The service sent nothing, or next to nothing, for too long."""


class CutBodyError(TransportError):
    """A body ended before its end. Nothing of it was used."""


class RedirectRefusedError(TransportError):
    """The service sent the request to another origin, where the key must not go."""

    advice = "Set SERVICE_BASE_URL to the address that the operator names."


class CacheClearedError(YearbookError):
    """Pages went from the cache before they were read, and once more when they were fetched again."""

    advice = "Stop what empties the cache, or set SERVICE_CACHE_DIR to a folder of your own."


class IntegrityError(YearbookError):
    """An answer that contradicts itself; nothing of it was used."""

    advice = "Try again; if it happens twice, report it to the operator."


class DigestMismatchError(IntegrityError):
    """The bytes are not those that the digest names."""


class MixedSnapshotsError(IntegrityError):
    """Pages of one pull come from different snapshots."""


class ShortTableError(IntegrityError):
    """An answer has fewer or more rows than it announces."""


class StreamError(IntegrityError):
    """Bytes that are no Arrow stream, or one with types that this reader does not know."""
