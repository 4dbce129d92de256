"""The calendar month that requests are counted in, which ends at midnight UTC. A test that counts requests begins when there is
time to end in the same month."""

import datetime
import time


def seconds_left(now):
    """Seconds from `now`, in UTC, until the month ends."""
    following = (now.replace(day=1) + datetime.timedelta(days=32)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (following - now).total_seconds()


def wait_for_room(seconds):
    """Sleeps into the next month where this one ends within so many seconds."""
    left = seconds_left(datetime.datetime.now(datetime.timezone.utc))
    if left < seconds:
        print(f"       the month ends in {left:.0f} s: waiting for the next one", flush=True)
        time.sleep(left + 1)
