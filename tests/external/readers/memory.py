"""Resident memory of another process, in bytes, from Linux's /proc."""

import pathlib


def resident(process):
    """Return the memory that the process holds now."""
    return _line(process, "VmRSS:")


def peak(process):
    """The most that it held since the last `forget_peak`."""
    return _line(process, "VmHWM:")


def forget_peak(process):
    """Sets the high-water mark back to the present size; see proc_pid_clear_refs(5)."""
    pathlib.Path(f"/proc/{process}/clear_refs").write_text("5")


def _line(process, name):
    for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/{process}/status has no {name}")
