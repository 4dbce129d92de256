"""Clients that ask all the time: a process with keep-alive connections to every host, which sends requests at a rate, in an order by
chance, and writes down when each was sent, when its answer had ended, and what it told.

The clock is the monotonic one of the machine, which all processes share."""

import array
import multiprocessing
import random
import selectors
import signal
import time

import wire

# What an id in a request is: none that ever was, that of the visible dataset's release, that of the new one's.
NEVER, WAITS, WAITS_HIDDEN = range(3)
LINES_PER_HOST = 24
# Time for which a host is left alone that refused a connection.
PAUSE_SECONDS = 0.05
# An answer that takes longer is none.
LONGEST_SECONDS = 30.0
# What is not sent for lack of a free connection for longer than this is not caught up with.
BACKLOG_SECONDS = 0.1


class Record:
    """What was asked and told, as columns."""

    COLUMNS = {"host": "b", "request": "h", "asked": "b", "told": "i", "status": "h", "sent": "d", "ended": "d"}

    def __init__(self, addresses):
        for name, kind in self.COLUMNS.items():
            setattr(self, name, array.array(kind))
        # Texts that were told, by number.
        self.texts, self.numbers = [], {}
        self.broken = [0] * addresses
        self.late = 0

    def add(self, host, request, asked, answer, text, sent, ended):
        number = self.numbers.get(text)
        if number is None:
            number = self.numbers[text] = len(self.texts)
            self.texts.append(text)
        for name, value in zip(self.COLUMNS, (host, request, asked, number, answer.status, sent, ended), strict=True):
            getattr(self, name).append(value)

    def __len__(self):
        return len(self.sent)


class Slot:
    """A connection to a host and what is asked on it now."""

    def __init__(self, host, address):
        self.host, self.line = host, wire.Line(address)
        self.request = self.asked = None
        self.sent = 0.0


class Crowd:
    """The loop of the process."""

    def __init__(self, pipe, addresses, requests, rate):
        self.pipe, self.requests, self.rate = pipe, requests, rate
        self.record = Record(len(addresses))
        # What is in the bucket is asked of the last address, behind those of the hosts.
        self.bucket = len(addresses) - 1 if any(request.in_bucket for request in requests) else None
        self.selector = selectors.DefaultSelector()
        self.free = [[Slot(host, address) for _ in range(LINES_PER_HOST)] for host, address in enumerate(addresses)]
        self.paused = [0.0] * len(addresses)
        self.busy = set()
        # Known values by what an id is.
        self.known = {}
        self.texts = {}
        self.deck, self.chosen = [], random.Random()
        self.passes = 0

    def learn(self, asked, known):
        """From now on requests are asked with these values too."""
        self.known[asked] = known
        for index, request in enumerate(self.requests):
            if asked == NEVER or request.asks_with_id and (asked == WAITS or request.hidden_id):
                ids = [known[name].encode() for name in ("id", "digest") if "{" + name + "}" in request.path + (request.body or "")]
                self.texts[index, asked] = request.encoded(known), ids[0] if ids else b""
        self.deck = []

    def deal(self):
        """The next request of a pass over all of them at all hosts."""
        if not self.deck:
            self.deck = [
                (host, index, asked) for host in range(len(self.free)) for index, asked in self.texts
                if self.requests[index].in_bucket == (host == self.bucket)]
            self.chosen.shuffle(self.deck)
            self.passes += 1
        return self.deck.pop()

    def send_next(self, now):
        """Sends a request to a host that has a free connection. False where there was none."""
        for _ in range(8):
            host, index, asked = self.deal()
            if not self.free[host] or now < self.paused[host]:
                continue
            slot = self.free[host].pop()
            try:
                connection = slot.line.open(blocking=False)
                slot.request, slot.asked, slot.sent = index, asked, time.monotonic()
                slot.line.send(self.texts[index, asked][0], self.requests[index].method == "HEAD")
            except OSError:
                self.drop(slot, now)
                return True
            self.selector.register(connection, selectors.EVENT_READ, slot)
            self.busy.add(slot)
            return True
        return False

    def drop(self, slot, now):
        """A connection that ended or was refused."""
        self.record.broken[slot.host] += 1
        self.paused[slot.host] = now + PAUSE_SECONDS
        slot.line.close()
        self.free[slot.host].append(slot)

    def receive(self, slot):
        connection = slot.line.socket
        try:
            answer = slot.line.receive()
        except wire.Broken:
            self.selector.unregister(connection)
            self.busy.discard(slot)
            self.drop(slot, time.monotonic())
            return
        if answer is None:
            return
        ended = time.monotonic()
        self.selector.unregister(connection)
        self.busy.discard(slot)
        self.free[slot.host].append(slot)
        text = wire.told(answer, self.requests[slot.request].scrub, self.texts[slot.request, slot.asked][1])
        self.record.add(slot.host, slot.request, slot.asked, answer, text, slot.sent, ended)

    def drop_stuck(self, now):
        for slot in [slot for slot in self.busy if now - slot.sent > LONGEST_SECONDS]:
            self.selector.unregister(slot.line.socket)
            self.busy.discard(slot)
            self.drop(slot, now)

    def obey(self):
        """Does what the other process says; False at the end."""
        while self.pipe.poll():
            kind, *told = self.pipe.recv()
            if kind == "learn":
                self.learn(*told)
            elif kind == "passes":
                self.pipe.send(self.passes)
            else:
                return False
        return True

    def run(self):
        due = time.monotonic()
        while self.obey():
            now = time.monotonic()
            while due <= now:
                if now - due > BACKLOG_SECONDS:
                    self.record.late += int((now - due) * self.rate)
                    due = now
                if not self.texts or not self.send_next(now):
                    break
                due += 1 / self.rate
            for key, _ in self.selector.select(timeout=max(0.0, min(due - now, 0.01))):
                self.receive(key.data)
            self.drop_stuck(now)
        for slot in self.busy:
            slot.line.close()
        self.pipe.send(self.record)


def serve(pipe, addresses, requests, rate):
    # The terminal's interrupt is for the process that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    Crowd(pipe, addresses, requests, rate).run()


class Handle:
    """The process, as the script that starts it sees it."""

    def __init__(self, addresses, requests, rate):
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=serve, args=(theirs, addresses, requests, rate), daemon=True)
        self.process.start()
        self.begun = time.monotonic()

    def learn(self, asked, known):
        self.pipe.send(("learn", asked, known))

    def passes(self):
        """How often everything was asked."""
        self.pipe.send(("passes",))
        return self.pipe.recv()

    def end(self):
        """What was told."""
        self.pipe.send(("end",))
        record = self.pipe.recv()
        self.process.join()
        record.seconds = time.monotonic() - self.begun
        return record
