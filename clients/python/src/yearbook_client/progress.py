"""Progress of long pulls on the terminal (contract-11-progress). Owns when something is shown: on
standard error, and only where somebody looks at it."""

from __future__ import annotations

import sys
import time

from .session import Progress

# A pull that is over sooner needs no bar.
FIRST_SECONDS = 1.0
BETWEEN_SECONDS = 0.1
_WIDTH = 24


class Bar:
    """A line on standard error that is written over."""

    def __init__(self, *, always: bool = False) -> None:
        self._began = self._shown = time.monotonic()
        self._always = always
        self._open = False

    def __call__(self, label: str, done: int, whole: int | None) -> None:
        """Shows what is done, in rows or bytes, of the whole."""
        now = time.monotonic()
        ended = whole is not None and done >= whole
        early = now - self._began < FIRST_SECONDS and not self._always
        if early or (now - self._shown < BETWEEN_SECONDS and not ended):
            return
        self._shown = now
        if whole:
            filled = min(_WIDTH, _WIDTH * done // whole)
            bar = "#" * filled + "-" * (_WIDTH - filled)
            text = f"{label} [{bar}] {100 * done // whole:3d} %  {done:,} of {whole:,}"
        else:
            text = f"{label} {done:,}"
        sys.stderr.write(f"\r{text}\x1b[K" + ("\n" if ended else ""))
        sys.stderr.flush()
        self._open = not ended

    def close(self) -> None:
        if self._open:
            sys.stderr.write("\n")
            self._open = False


def progress_of(wanted: bool | Progress | None) -> Progress:
    """Returns what is told of progress: a bar, the caller's own function, or nothing."""
    if callable(wanted):
        return wanted
    if wanted or (wanted is None and _terminal()):
        return Bar(always=bool(wanted))
    return _silent


def _terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


def _silent(label: str, done: int, whole: int | None) -> None:
    """Shows nothing."""
