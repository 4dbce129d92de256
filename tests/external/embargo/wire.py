"""HTTP/1.1 over keep-alive sockets: requests as bytes, answers as far as they may tell anything.

The standard library's client parses headers into objects, which costs more than the service takes for most answers here; and this one
says when the last byte of an answer came."""

import json
import re
import socket
import time

# Headers that differ between two answers to one request.
OF_THE_REQUEST = (
    b"date:", b"x-request-id:", b"x-ratelimit-", b"ratelimit:", b"ratelimit-policy:", b"x-service-requests-remaining:",
)
NO_BODY = (204, 304)
MOST_BYTES = 1 << 16
# Parts of an address in the object storage that follow from the second in which it was signed.
SIGNED = re.compile(rb"X-Amz-(Date|Credential|Signature)=[^&]*")


class Broken(Exception):
    """The connection ended before the answer did."""


class Answer:
    """A whole answer: status, lines of the header, and the body without its framing."""

    __slots__ = ("body", "closes", "lines", "status")

    def __init__(self, status, lines, body, closes):
        self.status, self.lines, self.body, self.closes = status, lines, body, closes

    def header(self, name):
        """The value of a header, or empty."""
        start = name.lower().encode() + b":"
        return next((line[len(start):].strip().decode() for line in self.lines if line.lower().startswith(start)), "")

    def json(self):
        return json.loads(self.body)


def encoded(method, path, headers, body=None, host="stats.example"):
    """A request as bytes."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b"")


def parsed(data, is_head):
    """The answer that `data` begins with, and the number of its bytes; None where it is not whole yet."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    lines = bytes(data[:end]).split(b"\r\n")
    status = int(lines[0].split(b" ", 2)[1])
    length, chunked, closes = None, False, False
    for line in lines[1:]:
        name, _, value = line.partition(b":")
        name = name.lower()
        if name == b"content-length":
            length = int(value)
        elif name == b"transfer-encoding":
            chunked = b"chunked" in value.lower()
        elif name == b"connection":
            closes = b"close" in value.lower()
    at = end + 4
    if is_head or status in NO_BODY:
        return Answer(status, lines, b"", closes), at
    if chunked:
        return unchunked(data, at, status, lines, closes)
    if len(data) < at + (length or 0):
        return None
    return Answer(status, lines, bytes(data[at:at + (length or 0)]), closes), at + (length or 0)


def unchunked(data, at, status, lines, closes):
    """The answer whose chunks begin at `at`, once the last one is there."""
    parts = []
    while True:
        end = data.find(b"\r\n", at)
        if end < 0:
            return None
        size = int(bytes(data[at:end]).split(b";")[0], 16)
        if size == 0:
            # No trailers are sent, so the empty line follows.
            whole = data.find(b"\r\n", end + 2)
            return None if whole < 0 else (Answer(status, lines, b"".join(parts), closes), whole + 2)
        if len(data) < end + 2 + size + 2:
            return None
        parts.append(bytes(data[end + 2:end + 2 + size]))
        at = end + 2 + size + 2


def told(answer, scrub=None, asked=b""):
    """What an answer may tell: status, headers in their order and body, without what is of the request, and without what was asked
    with (an id), so that answers about two ids that both do not exist are the same text."""
    if scrub is unread:
        return b""
    kept = [SIGNED.sub(b"", line) for line in answer.lines if not line.lower().startswith(OF_THE_REQUEST)]
    body = answer.body
    if scrub is not None:
        kept = [line for line in kept if not line.lower().startswith((b"content-length:", b"etag:"))]
        body = scrub(body)
    text = b"\n".join(kept) + b"\n\n" + body
    return text.replace(asked, b"{asked}") if asked else text


def unread(_body):
    """For answers that say what the machine is like, up to a minute ago: nothing in them is compared."""
    return b""


def without(pattern):
    """A scrubber that takes out what matches."""
    compiled = re.compile(pattern)
    return lambda body: compiled.sub(b"", body)


def unsigned(body):
    """Lines of a share without the addresses of files, which the second of the request is signed with. The file stands beside its
    address by its digest."""
    lines = []
    for line in body.split(b"\n"):
        try:
            action = json.loads(line)
        except ValueError:
            lines.append(line)
            continue
        for kind in ("file", "add", "cdf", "cdc", "remove"):
            for inner in inners(action, kind):
                for name in ("url", "expirationTimestamp"):
                    inner.pop(name, None)
        lines.append(json.dumps(action).encode())
    return b"\n".join(lines)


def inners(action, kind):
    """The objects called `kind` in an action, whatever it is wrapped in."""
    if not isinstance(action, dict):
        return
    for name, value in action.items():
        if isinstance(value, dict):
            if name == kind:
                yield value
            yield from inners(value, kind)


class Line:
    """A connection that is kept, for one request at a time."""

    def __init__(self, address):
        self.address = address
        self.socket = None
        self.data = bytearray()
        self.is_head = False

    def open(self, blocking):
        """Connects where there is no connection."""
        if self.socket is None:
            self.socket = socket.create_connection(self.address, timeout=10)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.data.clear()
            if not blocking:
                self.socket.setblocking(False)
        return self.socket

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.socket = None

    def send(self, request, is_head):
        """Sends a request, which fits into the buffer of the kernel."""
        self.is_head = is_head
        self.socket.sendall(request)

    def receive(self):
        """The answer, once it is whole; else None. Raises `Broken` where the connection ended."""
        try:
            got = self.socket.recv(MOST_BYTES)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError as error:
            raise Broken(str(error)) from error
        if not got:
            raise Broken("it was closed")
        self.data += got
        found = parsed(self.data, self.is_head)
        if found is None:
            return None
        answer, length = found
        del self.data[:length]
        if answer.closes:
            self.close()
        return answer


def ask(address, method, path, headers, body=None, within=30.0, **host):
    """The answer to one request on a connection of its own. Raises `OSError` or `Broken`."""
    line = Line(address)
    try:
        line.open(blocking=True).settimeout(within)
        line.send(encoded(method, path, headers, body, **host), method == "HEAD")
        ends = time.monotonic() + within
        while time.monotonic() < ends:
            answer = line.receive()
            if answer is not None:
                return answer
        raise Broken("it takes too long")
    finally:
        line.close()
