"""A PostgreSQL server of its own, reached by a socket in its folder, which can be killed and started again; and its clock, as it says it,
which can be set."""

import collections
import math
import os
import pathlib
import pwd
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time

from fake_clock import SettableClock
from ports import free_port
from waiting import until

USER = "postgres"
# A statement a poll; what lies between two polls is bounded by how far clocks drift.
EVERY_SECONDS = 0.02
# Difference in speed of two clocks of one machine at most: the kernel slews by 500 parts in a million.
DRIFT = 500e-6
# `clock_timestamp()` is asked for in microseconds.
RESOLUTION = 2e-6
MOST_READINGS = 200_000


def programs():
    """The folder in which Debian has the newest server's programs."""
    found = [path for path in pathlib.Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    assert found, "there is no PostgreSQL: apt-get install postgresql"
    return max(found, key=lambda path: int(path.parent.name))


class Postgres:
    """The server. Kills of its processes lose nothing, since the machine stays up: so nothing is forced to disk."""

    def __init__(self, can_be_set):
        """`can_be_set`: its clock is one of its own."""
        # Short, since the path of a socket has to be, and where another user may go.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="embargo-"))
        self.can_be_set = can_be_set
        self.port, self.process = free_port(), None
        self.is_root = os.geteuid() == 0
        if self.is_root:
            user = pwd.getpwnam(USER)
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self.clock = SettableClock(self.folder / "clock")
        self.run("initdb", "--username=yearbook", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--pgdata", self.folder / "data")
        self.start()

    @property
    def url(self):
        return f"postgres://yearbook@localhost:{self.port}/postgres?host={self.folder}"

    def command(self, program, *arguments):
        """A command of the server, as a user who may run one."""
        change = ["--reuid", USER, "--regid", USER, "--clear-groups"] if self.is_root else []
        # Set for the program alone: the library keeps what the user who changes could not write.
        is_set = self.can_be_set and program == "postgres"
        clock = [f"{name}={value}" for name, value in self.clock.variables.items()] if is_set else []
        return ["setpriv", *change, "env", *clock, programs() / program, *arguments]

    def run(self, program, *arguments):
        done = subprocess.run(self.command(program, *arguments), capture_output=True, text=True, cwd="/")
        assert done.returncode == 0, done.stderr

    def start(self):
        settings = ["listen_addresses=", "fsync=off", "max_connections=200", "unix_socket_permissions=0777"]
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen(
                self.command("postgres", "-D", self.folder / "data", "-k", self.folder, "-p", str(self.port),
                             *(part for setting in settings for part in ("-c", setting))),
                stdout=log, stderr=log, cwd="/", start_new_session=True)
        until(self.answers, "PostgreSQL answers", every=0.02)

    def answers(self):
        try:
            with Session(self) as session:
                return session.ask("SELECT 1") == "1"
        except OSError:
            assert self.process.poll() is None, f"PostgreSQL has ended: {(self.folder / 'log').read_text()[-2000:]}"
            return False

    def children(self):
        """Processes of the server besides the first one."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                except OSError:
                    continue
                if parent == self.process.pid:
                    found.append(int(entry.name))
        return found

    def kill(self):
        """Ends every process of the server at once, as a machine that stops would."""
        # Nothing forks once it is stopped, so the list is whole.
        os.kill(self.process.pid, signal.SIGSTOP)
        for pid in [*self.children(), self.process.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=60)
        shutil.rmtree(self.folder)


class Session:
    """A session by the protocol itself, so that nothing lies between a question and its answer."""

    def __init__(self, server):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(5)
        try:
            self.socket.connect(str(server.folder / f".s.PGSQL.{server.port}"))
            begin = struct.pack("!I", 196608) + b"user\0yearbook\0database\0postgres\0\0"
            self.socket.sendall(struct.pack("!I", len(begin) + 4) + begin)
            self.until_ready()
        except OSError:
            self.socket.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def exactly(self, length):
        data = b""
        while len(data) < length:
            got = self.socket.recv(length - len(data))
            if not got:
                raise ConnectionResetError("the server has gone")
            data += got
        return data

    def until_ready(self):
        """The first value that comes before the server waits for a statement."""
        value = None
        while True:
            kind, length = struct.unpack("!cI", self.exactly(5))
            body = self.exactly(length - 4)
            if kind == b"E":
                raise ConnectionResetError(body.decode(errors="replace"))
            if kind == b"D" and value is None:
                size = struct.unpack("!i", body[2:6])[0]
                value = body[6:6 + size].decode()
            if kind == b"Z":
                return value

    def ask(self, statement):
        text = statement.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!I", len(text) + 4) + text)
        return self.until_ready()


class Clock:
    """The database's clock against the monotonic one: each answer says that it stood at some time between question and answer."""

    def __init__(self, server):
        self.server = server
        # (question, time, answer)
        self.readings = collections.deque(maxlen=MOST_READINGS)
        # When it was set (began, ended), and what to.
        self.settings, self.offset = [], 0.0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.poll, daemon=True)
        self.thread.start()

    def poll(self):
        session = None
        while not self.ended.wait(EVERY_SECONDS):
            try:
                session = session or Session(self.server)
                asked = time.monotonic()
                said = float(session.ask("SELECT extract(epoch FROM clock_timestamp())"))
                self.readings.append((asked, said, time.monotonic()))
            except OSError:
                if session:
                    session.socket.close()
                session = None

    def stop(self):
        self.ended.set()
        self.thread.join()

    def bounds(self, at, within=60.0):
        """What, added to the monotonic clock at about `at`, is the database's time at least and at most. The narrowest bounds that
        readings around it give; each is widened by the drift since."""
        since = max((ended for _, ended in self.settings if ended <= at), default=-math.inf)
        until_set = min((began for began, ended in self.settings if ended > at), default=math.inf)
        near = [reading for reading in list(self.readings) if abs(reading[0] - at) <= within and since <= reading[0] and reading[2] <= until_set]
        assert near, "the database never said what time it is"
        least = max(said - heard - RESOLUTION - DRIFT * abs(heard - at) for asked, said, heard in near)
        most = min(said - asked + RESOLUTION + DRIFT * abs(asked - at) for asked, said, heard in near)
        assert least <= most, f"the database's clock was set: {least} to {most}"
        return least, most

    def set(self, offset):
        """Sets it to the machine's and so many seconds."""
        began = time.monotonic()
        self.server.clock.set(offset)
        self.settings.append((began, time.monotonic()))
        self.offset = offset

    def now(self):
        """The database's time, about."""
        least, most = self.bounds(time.monotonic())
        return time.monotonic() + (least + most) / 2
