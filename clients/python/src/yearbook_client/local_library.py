"""The local library: a folder of Parquet files, one a dataset, each with a document of its version.
Owns the folder's layout and its listing; fetches nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, cast

from .credits import Credit
from .errors import UsageError


@dataclass(frozen=True)
class LocalTable:
    """A table of the library: its file, version and credit. `key` has the columns that tell rows
    apart and order them, empty where that was never asked."""

    name: str
    path: Path
    snapshot_id: str
    rows: int
    size: int
    synced_at: str
    credit: Credit
    key: tuple[str, ...] = ()

    @property
    def current(self) -> bool:
        """True where the file is the one that the document describes."""
        try:
            return self.path.stat().st_size == self.size
        except OSError:
            return False


def library(folder: Path) -> list[LocalTable]:
    """Returns the tables in a folder, by name."""
    return sorted(_tables(folder), key=lambda table: table.name)


def local_table(path: Path) -> LocalTable | None:
    """Returns what is known of the Parquet file at `path`; None where it is missing or changed."""
    try:
        text = document_path(path).read_text(encoding="utf-8")
        document = cast("dict[str, Any]", json.loads(text))
        table = LocalTable(
            name=str(document["name"]),
            path=path,
            snapshot_id=str(document["snapshot_id"]),
            rows=int(document["rows"]),
            size=int(document["size"]),
            synced_at=str(document["synced_at"]),
            credit=Credit.from_dict(document["credit"]),
            key=tuple(document.get("key") or ()),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return table if table.current else None


def record(table: LocalTable) -> None:
    """Writes the document of a file that is in its place."""
    document = {**asdict(table), "path": table.path.name, "credit": table.credit.as_dict()}
    place = document_path(table.path)
    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    part.write_text(json.dumps(document, ensure_ascii=False, indent=1), encoding="utf-8")
    os.replace(part, place)


def described(
    name: str, path: Path, rows: int | None, credit: Credit, key: tuple[str, ...] = ()
) -> LocalTable:
    """Returns the description of a file that was just written."""
    if rows is None:
        raise UsageError("The number of rows of the file is unknown.")
    moment = datetime.now(timezone.utc).isoformat(timespec="seconds")
    size = path.stat().st_size
    return LocalTable(name, path, credit.snapshot_id, rows, size, moment, credit, key)


def document_path(path: Path) -> Path:
    """Returns the place of a file's document."""
    return path.with_name(path.name + ".json")


def _tables(folder: Path) -> Iterator[LocalTable]:
    for path in folder.glob("*.parquet"):
        table = local_table(path)
        if table is not None:
            yield table
