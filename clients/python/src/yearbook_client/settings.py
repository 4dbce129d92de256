"""Settings: explicit arguments first, then the environment and the keyring, at each call and never
at import (contract-11-environment); and the packages that may be installed. Owns the key as a value
that no `repr`, log line, pickle or traceback shows, and its name in the system's keyring."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from .errors import MissingExtraError, UsageError, YearbookError

BASE_URL = "SERVICE_BASE_URL"
API_KEY = "SERVICE_API_KEY"
CACHE_DIR = "SERVICE_CACHE_DIR"
CACHE_BYTES = "SERVICE_CACHE_BYTES"
LIBRARY_DIR = "SERVICE_LIBRARY_DIR"

DEFAULT_CACHE_BYTES = 4 * 1024**3
# The name of folders, and of the keyring's entries.
_APPLICATION = "yearbook_client"
_ALLOWED = re.compile(r"[!-~]{1,512}")
# The extra that brings a package, where its name is another one.
_EXTRAS = {"geopandas": "geo"}

PathLike = str | os.PathLike[str]


def available(name: str) -> bool:
    """True where the package is installed; does not import it."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def require(name: str, purpose: str) -> Any:
    """Returns the package. Raises MissingExtraError with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        extra = _EXTRAS.get(name, name.partition(".")[0])
        raise MissingExtraError(
            f"{purpose} needs {name}, which is not installed.",
            f"Run `pip install 'yearbook_client[{extra}]'`.",
        ) from None


class ApiKey:
    """A key whose text only `reveal` returns."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        # An HTTP library would quote the whole header in its complaint about a control character.
        if not isinstance(text, str) or not _ALLOWED.fullmatch(text.strip()):  # pyright: ignore
            raise UsageError(
                "The API key is no text, or has characters that no key has.",
                "Copy it again, without line ends.",
            )
        self._text = text.strip()

    def reveal(self) -> str:
        """Returns the text, for the header of a request to the service's own origin."""
        return self._text

    def __repr__(self) -> str:
        return "ApiKey(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an API key is not pickled; read it from the environment where it is used")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApiKey) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


def _keyring() -> Any:
    return require("keyring", f"A key outside of {API_KEY}")


def store_key(service: Origin, key: ApiKey) -> None:
    keyring = _keyring()
    try:
        keyring.set_password(_APPLICATION, service.base, key.reveal())
    except Exception as error:
        # The text of a foreign exception may quote what it was given.
        raise YearbookError(
            f"The keyring refused the key ({type(error).__name__}).",
            f"Unlock it, or set {API_KEY} instead.",
        ) from None


def forget_key(service: Origin) -> bool:
    """Deletes the key of `service`; False where there was none."""
    keyring = _keyring()
    try:
        keyring.delete_password(_APPLICATION, service.base)
    except Exception:
        return False
    return True


@dataclass(frozen=True)
class Origin:
    """The address of a service: scheme, host and port, and a path in front of `/v1`."""

    scheme: str
    host: str
    port: int
    prefix: str

    @property
    def base(self) -> str:
        """Returns the address without a slash at its end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _default_port(self.scheme) else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"

    def owns(self, url: str) -> bool:
        """True where a request to `url` stays with this service, and so may carry the key."""
        try:
            parts = urlsplit(url)
            port = parts.port or _default_port(parts.scheme)
        except ValueError:
            return False
        same = (parts.scheme, parts.hostname, port) == (self.scheme, self.host, self.port)
        return same and parts.path.startswith(self.prefix + "/") and "@" not in parts.netloc


def _default_port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def parse_origin(text: str) -> Origin:
    """Parses an address. A path is kept but for a `/v1` at its end, which every request adds; user
    names and queries are refused.

    Raises UsageError for anything but `http` and `https`."""
    try:
        parts = urlsplit(text.strip())
        port, host = parts.port, parts.hostname
    except ValueError:
        raise UsageError("The service's address has no valid port.") from None
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(
            "The service's address is not an http or https address.",
            f"Set {BASE_URL} to something like https://statistics.example.org.",
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError(
            "The service's address has a user name, a query or a fragment.",
            f"Put the key into {API_KEY} and leave the rest away.",
        )
    prefix = parts.path.rstrip("/").removesuffix("/v1").rstrip("/")
    return Origin(parts.scheme, host, port or _default_port(parts.scheme), prefix)


def origin(explicit: str | None = None) -> Origin:
    """Returns the service to ask: `explicit`, else `SERVICE_BASE_URL`."""
    text = str(explicit) if explicit is not None else os.environ.get(BASE_URL, "")
    if not text.strip():
        raise UsageError("No service is named.", f"Set {BASE_URL} to its address.")
    return parse_origin(text)


def api_key(service: Origin, explicit: ApiKey | None = None) -> ApiKey | None:
    """Returns the key to send: `explicit`, else `SERVICE_API_KEY`, else the keyring's for `service`.

    None leaves the answer, a 401 with advice, to the service."""
    if explicit is not None:
        return explicit
    text = os.environ.get(API_KEY, "")
    if not text.strip():
        try:
            text = _keyring().get_password(_APPLICATION, service.base)
        except Exception:  # a locked or broken keyring is as good as none
            return None
    return ApiKey(text) if text else None


def cache_dir(explicit: PathLike | None = None) -> Path | None:
    """Returns the folder of the cache, or None where `SERVICE_CACHE_DIR` is set and empty."""
    text = os.fspath(explicit) if explicit is not None else os.environ.get(CACHE_DIR)
    if text is not None:
        return Path(text).expanduser() if text else None
    return _user_folder("Caches", "XDG_CACHE_HOME", ".cache")


def cache_bytes() -> int:
    """Returns the bound of the cache in bytes: `SERVICE_CACHE_BYTES`, else 4 GiB."""
    text = os.environ.get(CACHE_BYTES, "").strip()
    if not text:
        return DEFAULT_CACHE_BYTES
    if not text.isdigit():
        raise UsageError(f"{CACHE_BYTES} is not a number of bytes.", "Set it to digits alone.")
    return int(text)


def library_dir(explicit: PathLike | None = None) -> Path:
    """Returns the folder of tables that `sync` keeps up to date."""
    folder = explicit if explicit is not None else os.environ.get(LIBRARY_DIR) or None
    if folder is not None:
        return Path(folder).expanduser()
    return _user_folder("Application Support", "XDG_DATA_HOME", ".local/share") / "library"


def _user_folder(macos: str, variable: str, default: str) -> Path:
    """Returns this package's folder among those that the operating system has for the user."""
    home = Path.home()
    if sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        folder = home / "Library" / macos
    else:
        folder = Path(os.environ.get(variable) or home / default)
    return folder / _APPLICATION
