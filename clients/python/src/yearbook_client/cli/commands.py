"""The verbs of the command line. Owns which method of the client each calls and what it prints."""

from __future__ import annotations

import argparse
import getpass
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from ..client import Client
from ..downloads import replacing
from ..errors import IntegrityError, UsageError, YearbookError
from ..selection import Criteria
from ..settings import ApiKey, cache_bytes, cache_dir, forget_key, library_dir, origin, store_key
from ..store import Store
from . import cached_names, json_text, print_rows, script, table_text

Given = argparse.Namespace


def _print(given: Given, value: Any, text: str) -> None:
    """Prints a value of the client as one JSON document, or `text` for a person."""
    sys.stdout.write(json_text(value) + "\n" if given.json else text)


def _selection(given: Given) -> dict[str, Any]:
    where: dict[str, list[str]] = {}
    for column, value in given.where or ():
        where.setdefault(column, []).append(value)
    own = {"geometry": not given.no_geometry, "where": where}
    names = (name for name in Criteria.__annotations__ if hasattr(given, name))
    return {name: getattr(given, name) for name in names} | own


def _rows(number: int) -> str:
    return f"{number} row" if number == 1 else f"{number} rows"


def _datasets(client: Client, given: Given) -> None:
    found = (
        client.datasets()
        if given.verb == "datasets"
        else client.search(" ".join(given.words), given.limit)
    )
    rows = [{"name": one.name, "source": one.source, "title": one.title} for one in found]
    _print(given, found, table_text(rows))


def _describe(client: Client, given: Given) -> None:
    found = client.describe(given.name)
    columns = [
        {"column": one.name, "type": one.type, "role": one.role, "unit": one.unit}
        for one in found.columns
    ]
    text = (
        f"{found.name}: {found.title or ''}\n{found.description or ''}\n"
        f"{_rows(found.rows)}, {found.layout or 'no'} layout, licence {found.licence or 'unknown'}\n"
        f"snapshot {found.current_snapshot_id} of {found.last_refreshed_at}\n"
        f"{found.attribution_text or ''}\n\n"
    )
    _print(given, found.raw, text + table_text(columns))


def _preview(client: Client, given: Given) -> None:
    found = client.preview(given.name)
    text = f"{_rows(found.row_count)}, snapshot {found.snapshot_id}\n"
    _print(given, found, text + table_text(found.rows))


def _values(client: Client, given: Given) -> None:
    found = client.values(given.name, **_selection(given))
    rows = [{"column": name, **value} for name, one in found.items() for value in one.values]
    _print(given, found, table_text(rows))


def _link(client: Client, given: Given) -> None:
    found = client.link(given.name, format=given.format, days=given.days, **_selection(given))
    _print(given, found, found.url + "\n")
    sys.stderr.write(f"It ends at {found.expires_at}; whoever has it reads these rows.\n")


def _get(client: Client, given: Given) -> None:
    if given.output:
        given.file = given.output
        _download(client, given)
        return
    if given.format:
        raise UsageError("`--format` is for `--output`.", "Add -o FILE, or leave it away.")
    batches = client.iter_batches(given.name, to="rows", **_selection(given))
    print_rows(batches, machine=given.json)


def _revisions(client: Client, given: Given) -> None:
    how: dict[str, Any] = {"since": given.since, "shape": given.shape, "value": given.value}
    rows = client.revisions(given.name, to="rows", **how, **_selection(given))
    for row in rows:
        # As the service writes them.
        moments = {name: one for name, one in row.items() if isinstance(one, datetime)}
        row.update({name: f"{one:%Y-%m-%dT%H:%M:%SZ}" for name, one in moments.items()})
    print_rows([rows], machine=given.json)


def _download(client: Client, given: Given) -> None:
    found = client.download(given.name, given.file, format=given.format, **_selection(given))
    _print(given, found, "")
    if not given.json:
        rows = f"{_rows(found.rows)}, " if found.rows is not None else ""
        sys.stderr.write(f"{found.path}: {rows}{found.size} bytes. {found.credit}\n")


def _changes(client: Client, given: Given) -> None:
    found = client.changes(given.name, given.since, geometry=not given.no_geometry, to="rows")
    print_rows([found.table], machine=given.json)
    sys.stderr.write(f"watermark: {found.watermark}\n")


def _sync(client: Client, given: Given) -> None:
    names: list[str] = given.names or [table.name for table in client.library()]
    if given.output and len(names) != 1:
        raise UsageError("`--output` is for one dataset.", "Name exactly one.")
    if not names:
        raise UsageError("The library is empty.", "Name the datasets to keep.")
    failures: list[YearbookError] = []
    found: list[dict[str, Any]] = []
    for name in names:
        line: dict[str, Any] = {"name": name}
        try:
            one = client.sync_report(name, given.output)
        except YearbookError as error:
            # One that fails leaves the others to be synchronised.
            failures.append(error)
            line |= {"way": "failed", "reason": str(error)}
        else:
            table = one.table
            line |= {"way": one.way, "rows": table.rows, "snapshot": table.snapshot_id}
            line["path"] = table.path
        found.append(line)
    _print(given, found, "".join("  ".join(map(str, one.values())) + "\n" for one in found))
    if failures:
        raise failures[0]


def _library(client: Client, given: Given) -> None:
    tables = client.library()
    rows = [
        {"name": one.name, "rows": one.rows, "bytes": one.size, "synced": one.synced_at}
        for one in tables
    ]
    _print(given, tables, f"{library_dir()}\n{table_text(rows)}")


def _cite(client: Client, given: Given) -> None:
    text = client.cite(given.name, given.format)
    document = {"format": given.format, "citation": text}
    _print(given, document, text if text.endswith("\n") else text + "\n")


def _verify(client: Client, given: Given) -> None:
    table = client.get(given.name, to="rows", **_selection(given))
    found = client.verify(table, given.expected, recompute=given.recompute)
    _print(given, found, f"{'equal' if found else 'DIFFERENT'}: {found.digest}\n")
    if not found:
        raise IntegrityError("The rows are not those of the digest.", "Compare their snapshots.")


def _integration(client: Client, given: Given) -> None:
    found = client.integration(given.tool, given.names)
    for warning in found.warnings:
        sys.stderr.write(f"warning: {warning}\n")
    if not given.output:
        sys.stdout.write(json_text(found) + "\n")
        return
    folder = Path(given.output)
    for name, text in found.files.items():
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or "\\" in name or ":" in name:
            raise IntegrityError(f"The service names a file outside of the folder: {name!r}.")
        path = folder.joinpath(*place.parts)
        with replacing(path) as file:
            file.write(text.encode())
        sys.stderr.write(f"{path}\n")


def _me(client: Client, given: Given) -> None:
    found = client.me()
    cap = "no row cap" if found.row_cap is None else f"{_rows(found.row_cap)} a request"
    left = "unlimited"
    if found.limit is not None:
        ends = f" until {found.resets_at:%Y-%m-%d %H:%M} UTC" if found.resets_at else ""
        left = f"{found.left} of {found.limit} left{ends}"
    _print(given, found, f"plan {found.plan}, {cap}\nrequests: {left}\n")


def _login(client: Client, given: Given) -> None:
    service = origin()
    try:
        text = sys.stdin.readline() if given.key_from_stdin else getpass.getpass("API key: ")
    except (EOFError, UnicodeError):
        text = ""
    if not text.strip():
        raise UsageError("There was no key to read.", "Pipe it to `login --key-from-stdin`.")
    key = ApiKey(text)
    # A key that the service refuses is not worth keeping.
    plan = Client(service.base, key.reveal()).me().plan
    store_key(service, key)
    document = {"service": service.base, "plan": plan}
    _print(given, document, f"Stored the key of plan {plan} for {service.base}.\n")


def _logout(client: Client, given: Given) -> None:
    service = origin()
    gone = forget_key(service)
    document = {"service": service.base, "deleted": gone}
    _print(given, document, "Deleted the key.\n" if gone else "There was no key.\n")


def _cache(client: Client, given: Given) -> None:
    folder = cache_dir()
    size = 0
    if folder is not None:
        store = Store(folder)
        if given.clear:
            store.clear()
        size = store.size()
    document = {"folder": folder, "bytes": size, "bound": cache_bytes()}
    _print(given, document, table_text([document]))


def _completion(client: Client, given: Given) -> None:
    if given.shell == "names":
        sys.stdout.write("".join(f"{name}\n" for name in cached_names()))
    else:
        sys.stdout.write(script(given.shell))


def _mcp(client: Client, given: Given) -> None:
    from ..assistant import serve

    serve()


COMMANDS: dict[str, Callable[[Client, Given], None]] = {
    "datasets": _datasets,
    "search": _datasets,
    "describe": _describe,
    "preview": _preview,
    "values": _values,
    "link": _link,
    "get": _get,
    "revisions": _revisions,
    "changes": _changes,
    "download": _download,
    "sync": _sync,
    "library": _library,
    "cite": _cite,
    "verify": _verify,
    "integration": _integration,
    "me": _me,
    "login": _login,
    "logout": _logout,
    "cache": _cache,
    "completion": _completion,
    "mcp": _mcp,
}
