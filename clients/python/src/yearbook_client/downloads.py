"""Downloads into a file, in any format that the service has. Owns the choice between bulk file, one
answer and joined pages, and that a file appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from .completeness import checker, joiner
from .credits import Credit
from .errors import MixedSnapshotsError, ShortTableError, UsageError, YearbookError
from .http import Response
from .http.answers import Headers
from .planning import BulkFile, PullPlan, answer_cap, plan_pull
from .pull import download_bulk, plan_credit, restarting, write_pages
from .selection import Selection, text
from .session import Session

# Suffixes that are not the name of their format.
_SUFFIXES = {".arrows": "arrow", ".pq": "parquet", ".jsonl": "ndjson", ".parq": "parquet"}


@dataclass(frozen=True)
class Download:
    """A file that arrived whole. `rows` is None where the service did not count them."""

    path: Path
    size: int
    rows: int | None
    credit: Credit


def format_of(path: Path, explicit: str | None) -> str:
    """Returns the format to ask for: `explicit`, else the suffix of `path`."""
    if explicit := text("format", explicit):
        return explicit
    suffix = path.suffix.lower()
    if not suffix:
        raise UsageError("The file's name has no suffix to tell its format.", "Give `format` too.")
    return _SUFFIXES.get(suffix, suffix[1:])


def download(session: Session, selection: Selection, path: Path, format_name: str) -> Download:
    """Writes a selection to `path`, all of it, with as few requests as the plan allows.

    A file that exists is replaced at the end."""

    def attempt() -> Download:
        plan = plan_pull(session, selection, bulk=format_name == "parquet")
        rows, credit = _written(session, plan, path, format_name)
        return Download(path, path.stat().st_size, rows, credit)

    return restarting(selection, attempt)


def _written(
    session: Session, plan: PullPlan, path: Path, format_name: str
) -> tuple[int | None, Credit]:
    """Writes the rows of a plan; their number, where it is known, and their credit."""
    if plan.bulk is not None:
        with resumed(path, plan.bulk) as file:
            download_bulk(session, plan.bulk, file, plan.selection.name)
        return plan.total, plan_credit(plan, plan.bulk.headers)
    cap, rows = answer_cap(plan.account, plan.selection), plan.wanted
    several = cap is not None and (plan.preview.row_count if rows is None else rows) > cap
    if several and format_name == "parquet":
        with replacing(path) as file:
            return write_pages(session, plan, file)
    if several and rows is not None and not joiner(format_name).joins:
        raise _not_joined(format_name, cap or 0)
    with replacing(path) as file:
        return _write_answers(session, plan, format_name, file)


def _write_answers(
    session: Session, plan: PullPlan, format_name: str, file: BinaryIO
) -> tuple[int | None, Credit]:
    """Writes answers one after the other; where there is more than one, as one file of the format."""
    limit, seen, cursor = plan.selection.limit, 0, ""
    # Without a cap, one answer has every row that there can be.
    cap = answer_cap(plan.account, plan.selection) or max(
        plan.preview.row_count, plan.total or 0, 1
    )
    counted = True
    join = joiner(format_name)
    first: Headers | None = None
    while True:
        rows = cap if limit is None else min(cap, limit - seen)
        query = {**plan.selection.query(), "format": format_name, "limit": str(rows)}
        if cursor:
            query["cursor"] = cursor
        headers, found = _answer(session, plan, query, file, join.begin(file))
        first = first or headers
        if headers.get("X-Service-Snapshot-Id") != plan.snapshot:
            raise MixedSnapshotsError("The dataset was refreshed while it was read.")
        counted = counted and found is not None
        seen += found if found is not None else (headers.count("X-Service-Rows") or 0)
        following = headers.get("X-Next-Page")
        more = following is not None and (limit is None or seen < limit)
        if more and (not join.joins or following == cursor):
            raise _not_joined(format_name, cap)
        join.end(file, last=not more)
        session.progress(plan.selection.name, seen, plan.wanted)
        if not more:
            break
        cursor = following or ""
    if counted and plan.wanted is not None and seen != plan.wanted:
        raise ShortTableError(f"The file has {seen} rows, and {plan.wanted} were announced.")
    return seen if counted else None, plan_credit(plan, first)


def _answer(
    session: Session, plan: PullPlan, query: dict[str, Any], file: BinaryIO, start: int
) -> tuple[Headers, int | None]:
    """Appends one answer at `start`, again from there where it was cut; its rows where they can be
    counted."""

    def read(response: Response) -> tuple[Headers, int | None]:
        file.seek(start)
        file.truncate()
        check = checker(query["format"])
        for chunk in response.chunks():
            check.update(chunk)
            file.write(chunk)
        file.flush()
        found = check.finish(framed=response.framed, file=file, start=start)
        announced = response.headers.count("X-Service-Rows")
        if found is not None and announced is not None and found != announced:
            raise ShortTableError(f"An answer has {found} rows, and {announced} were announced.")
        return response.headers, announced if found is None else found

    return session.ask(plan.selection.path, read, query)


def _not_joined(format_name: str, cap: int) -> UsageError:
    return UsageError(
        f"The plan's {cap} rows of an answer are less than the selection, and files of the format "
        f"{format_name!r} are not joined.",
        "Choose arrow, csv, ndjson or parquet, or narrow the selection.",
    )


@contextlib.contextmanager
def _writing(path: Path) -> Generator[None, None, None]:
    """Makes the folder of `path`; what fails from then on says what cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is there and no file.", "Name a file that may be replaced.")
        yield
    except OSError as error:
        import shutil

        free = ""
        with contextlib.suppress(OSError):
            free = f" {shutil.disk_usage(path.parent).free // 2**20} MiB are free."
        raise YearbookError(
            f"{path} cannot be written ({error.strerror}).{free}", "Choose another folder."
        ) from None


@contextlib.contextmanager
def replacing(path: Path) -> Generator[BinaryIO, None, None]:
    """Opens a file beside `path` that takes its place at the end; after a failure nothing is left."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with _writing(path):
        try:
            with part.open("w+b") as file:
                yield file
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)


@contextlib.contextmanager
def resumed(path: Path, bulk: BulkFile) -> Generator[BinaryIO, None, None]:
    """Opens a file beside `path` with what an earlier download of the same file left of it.

    The beginning stays after a failure. Two processes never append to one file."""
    tag = "".join(char for char in bulk.etag if char.isalnum())[:32]
    part = path.with_name(f".{path.name}.{tag}.part")
    lock = part.with_suffix(".lock")
    with _writing(path):
        if not _acquired(lock):
            # Another process has it; this one downloads on its own.
            with replacing(path) as own:
                yield own
            return
        try:
            part.touch()
            with part.open("r+b") as file:
                yield file
            os.replace(part, path)
        finally:
            lock.unlink(missing_ok=True)


def _acquired(lock: Path) -> bool:
    """Makes a lock file with this process in it; takes over one whose process has ended."""
    for _ in range(2):
        try:
            with lock.open("x") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            if _alive(lock):
                return False
            lock.unlink(missing_ok=True)
        else:
            return True
    return False


def _alive(lock: Path) -> bool:
    try:
        os.kill(int(lock.read_text() or "0"), 0)
    except (ProcessLookupError, ValueError):
        return False
    except OSError:
        pass
    return True
