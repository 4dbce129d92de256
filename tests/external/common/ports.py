"""Ports for servers whose address is told to others before they listen."""

import pathlib
import random
import socket

HOST = "127.0.0.1"
LOWEST = 10_000
# Linux takes the ports of outgoing connections from here on, unless it is told otherwise.
EPHEMERAL = 32_768
RANGE = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port():
    """A port that nothing listens on, of those that no outgoing connection is given: until its server listens, and while a test has
    it stopped, other programs of the machine leave it alone."""
    first = int(RANGE.read_text().split()[0]) if RANGE.exists() else EPHEMERAL
    chosen = random.SystemRandom()
    for _ in range(1_000):
        # The kernel chooses where it keeps no ports for listeners.
        port = chosen.randrange(LOWEST, first) if first > LOWEST else 0
        with socket.socket() as listener:
            try:
                listener.bind((HOST, port))
            except OSError:
                continue
            return listener.getsockname()[1]
    raise RuntimeError("every port is taken")
