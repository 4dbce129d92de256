"""Settings: explicit arguments first, then the environment and the keyring, at each call and never
at import (contract-11-environment). Owns the key as a value that no `repr`, log line, pickle or
traceback shows, and its name in the keyring of the operating system."""

from __future__ import annotations

import importlib
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from .errors import MissingExtraError, UsageError, YearbookError

_ALLOWED = re.compile(r"[!-~]{1,512}")


class ApiKey:
    """A key whose text only `reveal` returns."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        text = text.strip()
        # An HTTP library would quote the whole header in its complaint about a control character.
        if not _ALLOWED.fullmatch(text):
            raise UsageError(
                "The API key has characters that no key has.", "Copy it again, without line ends."
            )
        self._text = text

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


_SERVICE = "yearbook_client"


def _module() -> Any:
    try:
        return importlib.import_module("keyring")
    except ImportError:
        return None


def stored_key(service: Origin) -> ApiKey | None:
    """Returns the key that `login` stored for `service`; None where there is none, or no keyring."""
    keyring = _module()
    if keyring is None:
        return None
    try:
        text = keyring.get_password(_SERVICE, service.base)
    except Exception:  # a locked or broken keyring is as good as none
        return None
    return ApiKey(text) if text else None


def store_key(service: Origin, key: ApiKey) -> None:
    """Stores `key` for `service`."""
    keyring = _required()
    try:
        keyring.set_password(_SERVICE, service.base, key.reveal())
    except Exception as error:
        # The text of a foreign exception may quote what it was given.
        raise YearbookError(
            f"The keyring refused the key ({type(error).__name__}).",
            "Unlock it, or set SERVICE_API_KEY instead.",
        ) from None


def forget_key(service: Origin) -> bool:
    """Deletes the key of `service`; False where there was none."""
    keyring = _required()
    try:
        keyring.delete_password(_SERVICE, service.base)
    except Exception:
        return False
    return True


def _required() -> Any:
    keyring = _module()
    if keyring is None:
        raise MissingExtraError(
            "The package keyring is not installed.",
            "Run `pip install yearbook_client[keyring]`, or set SERVICE_API_KEY.",
        )
    return keyring


BASE_URL = "SERVICE_BASE_URL"
API_KEY = "SERVICE_API_KEY"
CACHE_DIR = "SERVICE_CACHE_DIR"
CACHE_BYTES = "SERVICE_CACHE_BYTES"
LIBRARY_DIR = "SERVICE_LIBRARY_DIR"

DEFAULT_CACHE_BYTES = 4 * 1024**3
_APPLICATION = "yearbook_client"


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
        default = 443 if self.scheme == "https" else 80
        port = "" if self.port == default else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"

    def owns(self, url: str) -> bool:
        """True where a request to `url` stays with this service, and so may carry the key."""
        try:
            parts = urlsplit(url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            return False
        same = (parts.scheme, parts.hostname, port) == (self.scheme, self.host, self.port)
        return same and parts.path.startswith(self.prefix + "/") and "@" not in parts.netloc


def parse_origin(text: str) -> Origin:
    """Parses an address. A path prefix is kept; user names and queries are refused.

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
    default = 443 if parts.scheme == "https" else 80
    return Origin(parts.scheme, host, port or default, parts.path.rstrip("/"))


def origin(explicit: str | None = None) -> Origin:
    """Returns the service to ask: `explicit`, else `SERVICE_BASE_URL`."""
    text = explicit if explicit is not None else os.environ.get(BASE_URL, "")
    if not text.strip():
        raise UsageError("No service is named.", f"Set {BASE_URL} to its address.")
    return parse_origin(text)


def api_key(service: Origin, explicit: ApiKey | None = None) -> ApiKey | None:
    """Returns the key to send: `explicit`, else `SERVICE_API_KEY`, else the keyring's for `service`.

    None leaves the answer, a 401 with advice, to the service."""
    if explicit is not None:
        return explicit
    text = os.environ.get(API_KEY, "")
    if text.strip():
        return ApiKey(text)
    return stored_key(service)


def cache_dir(explicit: str | os.PathLike[str] | None = None) -> Path | None:
    """Returns the folder of the cache, or None where `SERVICE_CACHE_DIR` is set and empty."""
    text = os.fspath(explicit) if explicit is not None else os.environ.get(CACHE_DIR)
    if text is not None:
        return Path(text).expanduser() if text else None
    return _user_folder("cache") / _APPLICATION


def cache_bytes() -> int:
    """Returns the bound of the cache in bytes: `SERVICE_CACHE_BYTES`, else 4 GiB."""
    text = os.environ.get(CACHE_BYTES, "").strip()
    if not text:
        return DEFAULT_CACHE_BYTES
    if not text.isdigit():
        raise UsageError(f"{CACHE_BYTES} is not a number of bytes.", "Set it to digits alone.")
    return int(text)


def library_dir(explicit: str | os.PathLike[str] | None = None) -> Path:
    """Returns the folder of tables that `sync` keeps up to date."""
    text = os.fspath(explicit) if explicit is not None else os.environ.get(LIBRARY_DIR)
    return Path(text).expanduser() if text else _user_folder("data") / _APPLICATION / "library"


def _user_folder(kind: str) -> Path:
    """Returns the user's folder for caches or data, as the operating system has it."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    if sys.platform == "darwin":
        return home / "Library" / ("Caches" if kind == "cache" else "Application Support")
    variable, default = {
        "cache": ("XDG_CACHE_HOME", ".cache"),
        "data": ("XDG_DATA_HOME", ".local/share"),
    }[kind]
    return Path(os.environ.get(variable) or home / default)
