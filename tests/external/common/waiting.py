"""Waits for what another program is about to do: as long as it takes, up to a deadline that only a fault reaches."""

import time

# What takes a second on a machine with nothing else to do takes many on one that builds and tests beside.
LONGEST_SECONDS = 240.0


def until(ready, what, within=LONGEST_SECONDS, every=0.1):
    """The first result of `ready` that is true; raises with `what` where there is none within so many seconds."""
    ends = time.monotonic() + within
    while True:
        found = ready()
        if found:
            return found
        assert time.monotonic() < ends, f"{what}: not within {within:.0f} s"
        time.sleep(every)
