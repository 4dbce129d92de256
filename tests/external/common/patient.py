"""Requests that wait where the service asks for patience.

How many requests an address or a key may make a second is the service's to say; how fast a test asks is the machine's.
A test that is no test of limits asks through here, so that a fast machine does not fail it."""

import time
import urllib.error
import urllib.request

# A test asks a server of its own, whose bursts last seconds; what is refused for longer is a fault.
LONGEST_WAIT_SECONDS = 120


def urlopen(request, timeout=60):
    """The answer to a request, asked again after `Retry-After` for as long as it is 429; raises what `urllib` raises for the rest."""
    given_up = time.monotonic() + LONGEST_WAIT_SECONDS
    while True:
        try:
            return urllib.request.urlopen(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            wait = float(error.headers.get("Retry-After", "1")) if error.code == 429 else None
            if wait is None or time.monotonic() + wait > given_up:
                raise
            error.close()
        time.sleep(wait)


def fetch(address, key=None, headers=None, method="GET"):
    """Status, headers and body of an answer, a refusal too."""
    named = {**(headers or {}), **({"X-API-Key": key} if key else {})}
    try:
        with urlopen(urllib.request.Request(address, headers=named, method=method)) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, refusal.headers, refusal.read()
