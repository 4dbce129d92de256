"""Packages that may be installed: pandas, polars, pyarrow, geopandas. Owns the sentence that says
how to install one that is missing."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from .errors import MissingExtraError

# The extra that brings a package, where its name is another one.
_EXTRAS = {"geopandas": "geo"}


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
