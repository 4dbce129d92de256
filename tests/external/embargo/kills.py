"""What is killed in a round, and when: a host, the publisher or the database. Each kill is one that a machine could make: at once, without
a word to anybody."""

import json
import random
import subprocess
import threading
import time

from ports import HOST

KINDS = ("host", "publisher", "postmaster")
# Around the time of the release, seconds.
AROUND = 3.0
LONGEST_AWAY = 5.0
# How long a publisher is let run at most, as a part of the time that the last one took: some come to their end.
BEYOND_THE_END = 1.15


class Kinds:
    """Kinds of rounds in an order by chance, each as often as the others."""

    def __init__(self, kinds):
        self.kinds = kinds
        self.chosen = random.Random()
        self.deck = []

    def next(self):
        if not self.deck:
            self.deck = list(self.kinds)
            self.chosen.shuffle(self.deck)
        return self.deck.pop()


class Kill:
    """A kill of a host or of the database near an instant of the monotonic clock, by a thread, and what it did."""

    def __init__(self, ground, kind, at, chosen):
        self.ground, self.kind = ground, kind
        self.host = chosen.choice(ground.hosts) if kind == "host" else None
        self.away = chosen.uniform(0, LONGEST_AWAY) if kind == "postmaster" else 0.0
        self.at = at + chosen.uniform(-AROUND, AROUND)
        self.began = self.ended = None
        self.failure = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        try:
            time.sleep(max(0.0, self.at - time.monotonic()))
            self.began = time.monotonic()
            if self.kind == "host":
                self.host.kill()
                self.host.start()
                self.host.await_ready()
            else:
                self.ground.postgres.kill()
                time.sleep(self.away)
                self.ground.postgres.start()
            self.ended = time.monotonic()
        except Exception as failure:  # told to the round, which waits for the end
            self.failure = failure

    def wait(self):
        """Waits until what was killed is there again."""
        self.thread.join()
        if self.failure:
            raise self.failure
        return self.ended

    def __str__(self):
        what = f"host {self.host.number} ({HOST}:{self.host.port})" if self.host else "PostgreSQL"
        return f"{what}, away for {self.ended - self.began:.1f} s"


def published(process):
    """What a publisher said of each release, by the dataset; `None` where it failed."""
    output, errors = process.communicate(timeout=120)
    if process.returncode != 0:
        return None, errors
    found, decoder, text = {}, json.JSONDecoder(), output.strip()
    while text:
        said, end = decoder.raw_decode(text)
        found[said["dataset"]] = said
        text = text[end:].strip()
    return found, errors


def kill_publisher(process, after):
    """Kills a publisher unless it ends before. True where it was killed."""
    try:
        process.wait(timeout=after)
        return False
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
