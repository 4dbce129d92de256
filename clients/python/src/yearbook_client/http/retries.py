"""Retries: how often a request is repeated and how long a pull waits in all. Owns the bounds
(contract-11-retries); sends nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from ..errors import (
    CutBodyError,
    RateLimitedError,
    ServiceError,
    StalledError,
    UnavailableError,
    UnreachableError,
    YearbookError,
)

REQUESTS_PER_PAGE = 5
WAITING_PER_PULL = 60.0
FIRST_BACK_OFF = 0.5
LONGEST_BACK_OFF = 16.0

_Result = TypeVar("_Result")

RETRIED = (RateLimitedError, UnavailableError, CutBodyError, StalledError, UnreachableError)


class RetryBudget:
    """Requests for one page and seconds of waiting for one pull. One object serves one pull."""

    def __init__(
        self,
        *,
        requests: int = REQUESTS_PER_PAGE,
        waiting: float = WAITING_PER_PULL,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.requests = requests
        self.left = waiting
        self._sleep = sleep

    def run(self, attempt: Callable[[], _Result]) -> _Result:
        """Calls `attempt`, at most `requests` times, until it succeeds; raises its last failure.

        A wait that does not fit into what is left of the pull's is not begun."""
        for number in range(1, self.requests + 1):
            try:
                return attempt()
            except RETRIED as error:
                if number == self.requests or not self._wait(number, error):
                    raise
        raise AssertionError("a budget has at least one request")

    def _wait(self, number: int, error: YearbookError) -> bool:
        # Most pulls wait for nothing, and these take long to import.
        import logging
        import random

        asked = error.retry_after if isinstance(error, ServiceError) else None
        if asked is None:
            bound = min(LONGEST_BACK_OFF, FIRST_BACK_OFF * 2 ** (number - 1))
            seconds = bound * (0.5 + random.random() / 2)  # noqa: S311, jitter and no secret
        else:
            # Clients that were refused together should not come back together.
            seconds = asked + random.random() * min(1.0, asked / 10)  # noqa: S311
        if seconds > self.left:
            return False
        logging.getLogger("yearbook_client").info(
            "%s; trying again in %.1f s", type(error).__name__, seconds
        )
        self.left -= seconds
        self._sleep(seconds)
        return True
