"""One HTTP request and its answer, through urllib3. Owns which request carries the key, redirects,
time-outs, and that a body that was cut is an exception (contract-11-key, contract-11-cut). Knows no
dataset."""

from __future__ import annotations

import base64
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlencode, urljoin, urlsplit

from .. import __version__
from ..errors import (
    CutBodyError,
    RedirectRefusedError,
    StalledError,
    TransportError,
    UnreachableError,
    UsageError,
    YearbookError,
)
from ..settings import ApiKey, Origin
from .answers import Headers, refusal

if TYPE_CHECKING:
    import urllib3

CHUNK_BYTES = 1 << 18
# A document larger than this is no document of the service.
MAX_DOCUMENT_BYTES = 64 << 20
MAX_ERROR_BYTES = 1 << 20
MAX_REDIRECTS = 5
# A body slower than this, in bytes a second over the time-out, has stalled. The service has the
# same bound for its clients.
MIN_RATE = 4096
_PROXY_ADVICE = (
    "Set HTTPS_PROXY, or HTTP_PROXY for an http service, to http://user:password@host:port, and "
    "write @ as %40 and so on. socks is not supported: NO_PROXY names services that need no proxy."
)
_REDIRECTS = (301, 302, 303, 307, 308)


class Response:
    """An answer whose body is still to be read. Closing it early gives the connection up."""

    def __init__(self, raw: Any, timeout: float, *, own: bool, head: bool) -> None:
        self._raw = raw
        self._timeout = timeout
        # False where another origin answers, after a redirect.
        self.own = own
        self.status = int(raw.status)
        self.headers = Headers.from_wire(raw.headers.items())
        # Their length is that of the body that they leave out.
        self._bodiless = head or self.status == 304

    def chunks(self) -> Iterator[bytes]:
        """Yields the body, at most 256 KiB at a time.

        Raises CutBodyError where it ends early and StalledError where it hardly moves."""
        expected = None if self._bodiless else self.headers.count("Content-Length")
        total = window_bytes = 0
        window = time.monotonic()
        while True:
            try:
                chunk = self._raw.read1(CHUNK_BYTES)
            except Exception as error:
                raise _failure(error) from None
            if not chunk:
                break
            total += len(chunk)
            window_bytes += len(chunk)
            now = time.monotonic()
            if now - window > self._timeout:
                if window_bytes < MIN_RATE * (now - window):
                    self.close()
                    raise StalledError("The body arrives too slowly.")
                window, window_bytes = now, 0
            yield chunk
        if expected is not None and total != expected:
            raise CutBodyError(f"The body ended after {total} of {expected} bytes.")
        self._raw.release_conn()

    def read(self, bound: int = MAX_DOCUMENT_BYTES) -> bytes:
        """Returns the whole body, at most `bound` bytes."""
        parts: list[bytes] = []
        size = 0
        for chunk in self.chunks():
            size += len(chunk)
            if size > bound:
                self.close()
                raise TransportError(f"The answer has more than {bound} bytes.")
            parts.append(chunk)
        return b"".join(parts)

    @property
    def framed(self) -> bool:
        """True where the transfer itself shows its end, by a length or by chunks."""
        chunked = self.headers.get("Transfer-Encoding", "").lower().endswith("chunked")
        return chunked or "content-length" in self.headers

    def close(self) -> None:
        self._raw.close()

    def __enter__(self) -> Response:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.close()


class Transport:
    """Connections to services. Threads may share one; a fork opens connections of its own."""

    def __init__(self, timeout: float = 60.0) -> None:
        try:
            self.timeout = float(timeout)
        except (OverflowError, TypeError, ValueError):
            self.timeout = 0.0
        if not 0 < self.timeout <= 86400:
            raise UsageError(
                f"`timeout` is no number of seconds up to 86400: {timeout!r:.60}.",
                "Leave it away for 60.",
            )
        # By process too: a fork that wrote to sockets of its parent would get the other's answers.
        self._pools: dict[tuple[int, str | None], urllib3.PoolManager] = {}

    def request(
        self,
        origin: Origin,
        key: ApiKey | None,
        path: str,
        query: Mapping[str, Any] | None = None,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        accepted: tuple[int, ...] = (200,),
    ) -> Response:
        """Sends one request and returns an answer whose status is in `accepted`.

        `key` goes into no redirect that leaves `origin`. Only a redirect of `/v1/bulk` may leave it:
        the digest that the service announced vouches for the bytes. Raises the exception of
        `refusal` for every other status, and TransportError where the network fails."""
        url = f"{origin.base}{path}"
        if query:
            url = f"{url}?{urlencode(query, doseq=True)}"
        for _ in range(MAX_REDIRECTS):
            own = origin.owns(url)
            if not own and not path.startswith("/v1/bulk/"):
                raise RedirectRefusedError("The service redirects to another origin.")
            raw = self._send(method, url, headers or {}, key if own else None)
            response = Response(raw, self.timeout, own=own, head=method == "HEAD")
            if response.status in accepted:
                if ignored := response.headers.get("X-Service-Ignored"):
                    warnings.warn(f"The service ignored parameters: {ignored}", stacklevel=2)
                return response
            target = response.headers.get("Location")
            if response.status in _REDIRECTS and target:
                response.close()
                url = urljoin(url, target)
                if not url.startswith(("https://", f"{origin.scheme}://")):
                    raise RedirectRefusedError("The service redirects to a less safe address.")
                continue
            body = _error_body(response)
            response.close()
            if response.status == 407:
                raise _proxy_refusal()
            raise refusal(response.status, response.headers, body)
        raise RedirectRefusedError(f"The service redirects more than {MAX_REDIRECTS} times.")

    def _send(self, method: str, url: str, headers: Mapping[str, str], key: ApiKey | None) -> Any:
        sent = {
            "User-Agent": f"yearbook_client/{__version__} (python)",
            "Accept-Encoding": "identity",
            **headers,
        }
        if key is not None:
            sent["X-API-Key"] = key.reveal()
        pool = self._pool(url)
        try:
            return pool.request(
                method,
                url,
                headers=sent,
                redirect=False,
                retries=False,
                preload_content=False,
                decode_content=False,
            )
        except Exception as error:
            # `from None`: the frames below hold the header with the key.
            raise _failure(error) from None
        finally:
            del sent

    def _pool(self, url: str) -> urllib3.PoolManager:
        import urllib3

        proxy = _proxy(url)
        place = os.getpid(), proxy
        if place not in self._pools:
            timeout = urllib3.Timeout(connect=min(self.timeout, 20.0), read=self.timeout)
            settings: Any = {"timeout": timeout, "maxsize": 8}
            self._pools[place] = (
                _proxied(proxy, settings) if proxy else urllib3.PoolManager(**settings)
            )
        return self._pools[place]

    def __reduce__(self) -> tuple[type[Transport], tuple[float]]:
        # A pool of processes pickles the verbs that it calls; connections stay here.
        return Transport, (self.timeout,)

    def close(self) -> None:
        for pool in self._pools.values():
            pool.clear()


def _proxy(url: str) -> str | None:
    """Returns the proxy that the environment names for `url`, by the usual variables."""
    from urllib.request import getproxies, proxy_bypass

    parts, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.hostname or "") or proxy_bypass(parts.netloc):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _proxied(proxy: str, settings: dict[str, Any]) -> urllib3.PoolManager:
    """Makes connections through `proxy`, whose user name and password go into their header alone."""
    import urllib3
    from urllib3.util import parse_url

    try:
        parts = parse_url(proxy)
        if not parts.host:
            raise urllib3.exceptions.LocationValueError
        if parts.auth:
            basic = base64.b64encode(unquote(parts.auth).encode()).decode()
            settings["proxy_headers"] = {"Proxy-Authorization": f"Basic {basic}"}
        return urllib3.ProxyManager(parts._replace(auth=None).url, **settings)
    except (urllib3.exceptions.LocationValueError, urllib3.exceptions.ProxySchemeUnknown):
        raise UsageError("The proxy has no http or https address.", _PROXY_ADVICE) from None


def _proxy_refusal() -> YearbookError:
    return UsageError("The proxy refuses the user name and password, or wants them.", _PROXY_ADVICE)


def _error_body(response: Response) -> bytes:
    """Returns the body of a refusal, or nothing where it cannot be read: the status is enough."""
    try:
        return response.read(MAX_ERROR_BYTES)
    except TransportError:
        return b""


def _failure(error: Exception) -> YearbookError:
    """Returns what `error` of urllib3 or a socket means, without its text: it may quote a header."""
    import urllib3.exceptions as kinds

    cause = type(error).__name__
    if isinstance(error, (kinds.ReadTimeoutError, TimeoutError)):
        return StalledError("The service sent nothing for too long.")
    if isinstance(error, kinds.ProxyError) and "failed: 407" in str(error.original_error):
        return _proxy_refusal()
    unreachable = (
        kinds.NewConnectionError,
        kinds.ConnectTimeoutError,
        kinds.SSLError,
        kinds.ProxyError,
        kinds.MaxRetryError,
        kinds.LocationValueError,
    )
    if isinstance(error, unreachable):
        return UnreachableError(f"The service cannot be reached ({cause}).")
    if isinstance(error, (kinds.HTTPError, OSError)):
        return CutBodyError(f"The connection broke before the answer was complete ({cause}).")
    return TransportError(f"The request failed ({cause}).")
