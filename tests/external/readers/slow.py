"""Clients that take a little and then nothing more: a stored file and rows that wait for them stop nobody else."""

import contextlib
import hashlib
import socket
import time
import urllib.parse

import compare

CLIENTS = 200
# Longest time that another client waits for one answer meanwhile, on a busy machine with a debug build. Were it kept waiting for the
# slow ones, it would wait for ever.
PATIENCE_SECONDS = 60


def ask(server, path):
    """A connection on which `path` was asked for and the head of the answer has come; what came of the body with it."""
    address = urllib.parse.urlsplit(server.base)
    connection = socket.socket()
    # A small window, so that it is the server that has to wait.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(PATIENCE_SECONDS)
    connection.connect((address.hostname, address.port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nX-API-Key: {server.key}\r\nConnection: close\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        more = connection.recv(512)
        compare.same("a connection that ended", False, not more)
        head += more
    head, _, body = head.partition(b"\r\n\r\n")
    compare.same("the status", b"HTTP/1.1 200 OK", head.splitlines()[0])
    return connection, head, body


def stall_once(server, package):
    """A client that takes a little, waits, and goes away in the middle."""
    connection, _, _ = ask(server, f"/v1/datasets/{package.name}/data?{server.everything(package)}")
    time.sleep(3)
    connection.close()
    server.names()


def waits(server, package, a_file, a_table):
    """Return their requests: a name, the address, the entity tag where it is a digest, and the memory that each may cost."""
    stored = f"/v1/bulk/{package.namespace}/{package.name}"
    with server.open(stored) as response:
        yield "for the file", stored, response.headers["ETag"], a_file
    yield "for rows", f"/v1/datasets/{package.name}/data?{server.everything(package)}", None, a_table


def check(server, package, path, whole):
    """Opens them all, sees that everybody else is still answered, then that one of them still gets the file whose digest is `whole`."""
    with contextlib.ExitStack() as open_connections:
        clients = []
        for _ in range(CLIENTS):
            clients.append(ask(server, path))
            open_connections.callback(clients[-1][0].close)
        for what, run in others(server, package).items():
            started = time.monotonic()
            run()
            took = time.monotonic() - started
            print(f"       with {CLIENTS} slow clients: {what} in {took:.2f} s", flush=True)
            if took > PATIENCE_SECONDS:
                raise compare.Difference(f"{what} took {took:.0f} s")
        if whole:
            connection, _, body = clients[0]
            digest = hashlib.sha256(body)
            while more := connection.recv(1024 * 1024):
                digest.update(more)
            compare.same("the digest of the file", whole, f'"{digest.hexdigest()}"')
    # They have all gone away, most in the middle.
    server.names()


def others(server, package):
    """Return the requests of another client."""

    def read(path):
        with server.open(path) as response:
            while response.read(1024 * 1024):
                pass

    return {
        "liveness": lambda: read("/health"),
        "the list": lambda: read("/v1/datasets"),
        "a preview": lambda: read(f"/v1/datasets/{package.name}/preview"),
        "a page": lambda: read(f"/v1/datasets/{package.name}/data?limit=10000&format=csv"),
        "the file": lambda: read(f"/v1/bulk/{package.namespace}/{package.name}"),
    }
