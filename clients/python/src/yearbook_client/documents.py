"""JSON documents of the service, kept with their ETag: one that has not changed costs no request.
Owns their files in the cache; knows no field of any document."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from .errors import IntegrityError
from .http.headers import Headers
from .http.retries import RetryBudget
from .http.transport import Transport
from .key import ApiKey
from .settings import Origin

LAYOUT = "documents-v1"


class Documents:
    """Documents of services. `folder` None keeps nothing."""

    def __init__(self, transport: Transport, folder: Path | None) -> None:
        self._transport = transport
        self._folder = folder / LAYOUT if folder is not None else None

    def get(
        self,
        origin: Origin,
        key: ApiKey | None,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        keep: bool = True,
    ) -> tuple[Any, Headers]:
        """Returns the JSON at `path`, from the disk where the service says that it is unchanged."""
        file = self._file(origin, path, query) if keep else None
        kept = _load(file)

        def attempt() -> tuple[Any, Headers]:
            headers = {"Accept": "application/json"}
            if kept is not None:
                headers["If-None-Match"] = kept[0]
            with self._transport.request(
                origin, key, path, query, headers=headers, accepted=(200, 304)
            ) as response:
                body = response.read()
            if response.status == 304:
                if kept is None:
                    raise IntegrityError("The service answered 304 to a first request.")
                return kept[1], response.headers
            try:
                document = json.loads(body)
            except ValueError:
                raise IntegrityError("The service's answer is no JSON.") from None
            etag = response.headers.get("ETag")
            if file is not None and etag:
                _save(file, {"etag": etag, "document": document})
            return document, response.headers

        return RetryBudget().run(attempt)

    def peek(self, origin: Origin, path: str) -> Any:
        """Returns the document that is on the disk, current or not, without asking; else None."""
        kept = _load(self._file(origin, path, None))
        return kept[1] if kept is not None else None

    def _file(self, origin: Origin, path: str, query: Mapping[str, str] | None) -> Path | None:
        if self._folder is None:
            return None
        text = json.dumps([origin.base, path, sorted((query or {}).items())])
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def _load(file: Path | None) -> tuple[str, Any] | None:
    if file is None:
        return None
    try:
        stored = cast("dict[str, Any]", json.loads(file.read_text(encoding="utf-8")))
        return str(stored["etag"]), stored["document"]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save(file: Path, document: Mapping[str, Any]) -> None:
    import tempfile

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(number, "w", encoding="utf-8") as opened:
            json.dump(document, opened)
        os.replace(name, file)
    except OSError:
        # A cache that cannot be written costs requests, not results.
        return
