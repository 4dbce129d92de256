"""Clocks that programs have for themselves, by libfaketime."""

import pathlib

LIBRARIES = ["/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1", "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1"]


def faketime():
    """The library that gives a program another clock."""
    found = next((path for path in LIBRARIES if pathlib.Path(path).exists()), None)
    assert found, "there is no libfaketime: apt-get install faketime"
    return found


class SettableClock:
    """A clock that is set while programs run. Deadlines and times of files stay the machine's."""

    def __init__(self, path):
        """`path`: the file that says how far it is off."""
        self.path = path
        self.set(0.0)

    def set(self, offset):
        """Sets it to the machine's and so many seconds, at once for every process."""
        new = self.path.with_suffix(".new")
        new.write_text(f"{offset:+.6f}s\n")
        new.chmod(0o644)
        new.rename(self.path)

    @property
    def variables(self):
        """The environment of a program that has it."""
        return {
            "LD_PRELOAD": faketime(), "FAKETIME_TIMESTAMP_FILE": str(self.path), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
