"""Keys in the operating system's keyring, where the package `keyring` is installed. Owns the names
under which they are stored: one for each service."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .errors import MissingExtraError, YearbookError
from .key import ApiKey

if TYPE_CHECKING:
    from .settings import Origin

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
