"""Client of Yearbook, a service of public statistics.

    import yearbook_client as yb
    table = yb.get("us_macro_quarterly", start="2000-01-01")

Every verb is a function here and a method of `Client`. The functions read `SERVICE_BASE_URL` and
`SERVICE_API_KEY` at each call. Owns the version and the public names; nothing else in the package is
public."""

from __future__ import annotations

__version__ = "0.1.0"

import importlib
from typing import TYPE_CHECKING

from . import errors
from .async_client import AsyncClient
from .client import Client
from .errors import YearbookError

if TYPE_CHECKING:
    from .change_feed import Changes, LocalTable
    from .credits import Credit, credit
    from .downloads import Download
    from .models import (
        Account,
        Column,
        Dataset,
        DatasetSummary,
        Integration,
        Link,
        Preview,
        Snapshot,
        Values,
    )
    from .pivot import pivot_longer, pivot_wider
    from .published import Published, check_proof
    from .results import ColumnType, Rows
    from .verification import Verification, digest

# Names that a script may never use, by the module that has them: it is imported when they are.
_MODULES = {
    "change_feed": "Changes LocalTable",
    "credits": "Credit credit",
    "downloads": "Download",
    "models": "Account Column Dataset DatasetSummary Integration Link Preview Snapshot Values",
    "pivot": "pivot_longer pivot_wider",
    "published": "Published check_proof",
    "results": "ColumnType Rows",
    "verification": "Verification digest",
}
_LATER = {name: module for module, names in _MODULES.items() for name in names.split()}

_client = Client()

datasets = _client.datasets
search = _client.search
describe = _client.describe
preview = _client.preview
me = _client.me
get = _client.get
iter_batches = _client.iter_batches
revisions = _client.revisions
changes = _client.changes
download = _client.download
sync = _client.sync
library = _client.library
cite = _client.cite
link = _client.link
values = _client.values
verify = _client.verify
prove = _client.prove
integration = _client.integration
clear_cache = _client.clear_cache


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    # Completion finds what is not imported yet.
    return sorted({*globals(), *_LATER})


__all__ = [
    "Account",
    "AsyncClient",
    "Changes",
    "Client",
    "Column",
    "ColumnType",
    "Credit",
    "Dataset",
    "DatasetSummary",
    "Download",
    "Integration",
    "Link",
    "LocalTable",
    "Preview",
    "Published",
    "Rows",
    "Snapshot",
    "Values",
    "Verification",
    "YearbookError",
    "__version__",
    "changes",
    "check_proof",
    "cite",
    "clear_cache",
    "credit",
    "datasets",
    "describe",
    "digest",
    "download",
    "errors",
    "get",
    "integration",
    "iter_batches",
    "library",
    "link",
    "me",
    "pivot_longer",
    "pivot_wider",
    "preview",
    "prove",
    "revisions",
    "search",
    "sync",
    "values",
    "verify",
]
