"""The command line `python -m yearbook_client`. Owns exit codes (contract-11-exit-codes), arguments
with their help and completion, and how values and failures are printed; CSV and JSON are those of the
service. Every verb is the client's."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from .. import __version__
from ..client import Client
from ..credits import FORMATS
from ..errors import (
    MonthUsedUpError,
    PullTooExpensiveError,
    RateLimitedError,
    RefusedError,
    ServiceError,
    UsageError,
    YearbookError,
)
from ..models import as_json
from ..session import kept_document
from ..settings import cache_dir, origin

SUCCESS, FAILURE, USAGE, REFUSED, MONTH_USED_UP = 0, 1, 2, 3, 4
PROGRAM = "python -m yearbook_client"
VERBS: dict[str, str] = {
    "datasets": "list all datasets",
    "search": "find datasets by words",
    "describe": "show columns, versions and provenance of a dataset",
    "preview": "show the newest rows, free and without a key",
    "values": "list the values of columns",
    "link": "print an address of rows that needs no key and is as secret as one, free",
    "get": "print rows as CSV or JSON, or write them to a file",
    "revisions": "print rows as often as they were published differently",
    "changes": "print what changed since a version",
    "download": "write rows to a file in any format of the service",
    "sync": "keep local Parquet files up to date",
    "library": "list the local Parquet files",
    "cite": "print a citation",
    "verify": "compare the digest of a dataset's rows with the service's",
    "integration": "write a project for a data tool",
    "me": "show plan and remaining requests, free",
    "login": "store the API key in the operating system's keyring",
    "logout": "delete the stored API key",
    "cache": "show or clear the cache",
    "completion": "print a completion script for a shell",
    "mcp": "serve these verbs to an assistant over the Model Context Protocol",
}
# Verbs whose argument is the name of a dataset.
_NAMED = "describe|preview|values|link|get|revisions|changes|download|sync|cite|verify"
FUNCTION = "_yearbook_client"
COMMAND = "yearbook-py"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the shell
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    reconfigure: Any = getattr(sys.stdout, "reconfigure", None)
    if reconfigure:
        # Files and pipes get UTF-8, as from the service; a terminal shows what it can.
        encoding = None if sys.stdout.isatty() else "utf-8"
        reconfigure(encoding=encoding, errors="backslashreplace")
    code, machine = SUCCESS, False
    try:
        try:
            given = parser().parse_args(arguments)
            machine = given.json
            code = _run(given)
        finally:
            sys.stdout.flush()
    except OSError as error:
        # Nothing more can go there, and Python must not complain at its end.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # The reader of a broken pipe, such as `head`, has enough.
        if not isinstance(error, BrokenPipeError):
            code = FAILURE
            with contextlib.suppress(OSError):
                _complain(YearbookError(f"Writing failed: {error}.", "Make room."), machine=machine)
    return code


def _run(given: argparse.Namespace) -> int:
    from .commands import COMMANDS

    client = Client(progress=False if given.quiet or given.json else None)
    try:
        COMMANDS[given.verb](client, given)
    except YearbookError as error:
        _complain(error, machine=given.json)
        return exit_code(error)
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        return FAILURE
    return SUCCESS


def exit_code(error: YearbookError) -> int:
    if isinstance(error, (MonthUsedUpError, PullTooExpensiveError)):
        return MONTH_USED_UP
    if isinstance(error, (RefusedError, RateLimitedError)):
        return REFUSED
    return USAGE if isinstance(error, UsageError) else FAILURE


def _complain(error: YearbookError, *, machine: bool) -> None:
    if not machine:
        sys.stderr.write(f"error: {error}\n")
        return
    document: dict[str, object] = {
        "error": type(error).__name__,
        "message": error.message,
        "advice": error.advice,
    }
    if isinstance(error, ServiceError):
        document |= {"status": error.status, "code": error.code, "request_id": error.request_id}
    sys.stderr.write(json.dumps(document, ensure_ascii=False) + "\n")


def json_text(value: Any) -> str:
    return json.dumps(as_json(value), ensure_ascii=False, allow_nan=False)


def table_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns rows under each other, for a person."""
    if not rows:
        return ""
    names = list(rows[0])
    cells = [names] + [
        ["" if row[name] is None else str(row[name]) for name in names] for row in rows
    ]
    widths = [min(60, max(len(line[index]) for line in cells)) for index in range(len(names))]
    lines = (
        "  ".join(cell[:size].ljust(size) for cell, size in zip(line, widths)) for line in cells
    )
    return "".join(line.rstrip() + "\n" for line in lines)


def print_rows(batches: Iterable[Any], *, machine: bool) -> None:
    """Prints batches of rows as CSV with a header line, or as an array of JSON objects."""
    first = True
    for rows in batches:
        names = [column.name for column in rows.columns]
        if first and not machine:
            sys.stdout.write(",".join(map(_csv, names)) + "\n")
            first = False
        for row in rows:
            if machine:
                sys.stdout.write(("[" if first else ",\n") + json_text(row))
                first = False
            else:
                sys.stdout.write(",".join(_csv(row[name]) for name in names) + "\n")
    if machine:
        sys.stdout.write("[]\n" if first else "]\n")


def _csv(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return "NaN"
        return repr(value) if math.isfinite(value) else ("INF" if value > 0 else "-INF")
    text = str(value)
    # A text that is empty is not a null.
    quoted = not text or any(char in text for char in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Reads public statistics. SERVICE_BASE_URL and SERVICE_API_KEY name the service.",
        epilog="Exit codes: 0 success, 1 failure, 2 usage, 3 refused by the service, "
        "4 the month is used up.",
    )
    top.add_argument("--version", action="version", version=__version__)
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True)
    made: dict[str, argparse.ArgumentParser] = {}
    for verb, text in VERBS.items():
        made[verb] = verbs.add_parser(verb, help=text, description=text.capitalize() + ".")

    def add(named: str, *flags: str, **how: Any) -> None:
        for verb in named.split():
            made[verb].add_argument(*flags, **how)

    every, one = " ".join(VERBS), "values link get download verify"
    rows = f"{one} revisions"
    add(every, "--json", action="store_true", help="print JSON for machines")
    add(every, "--quiet", action="store_true", help="show no progress")
    add(f"describe preview changes cite {rows}", "name", help="name of a dataset")
    add("search", "words", nargs="+", help="all of them must occur")
    add("search", "--limit", type=_positive, default=20, help="datasets at most")
    add(rows, "--start", metavar="DATE", help="first date, YYYY-MM-DD")
    add(rows, "--end", metavar="DATE", help="last date, YYYY-MM-DD")
    add(rows, "--dimensions", metavar="TEXT", help="text that a dimension contains")
    add(rows, "--columns", metavar="A,B", help="columns, in the order that you want")
    add(f"changes {rows}", "--no-geometry", action="store_true", help="leave geometry out")
    text = "condition, such as region=Otago or value.ge=2; repeat it for more"
    add(rows, "--where", type=_condition, action="append", metavar="A=VALUE", help=text)
    add(rows, "--sort", metavar="A,-B", help="order, such as --sort=-value")
    add(one, "--last", type=_positive, metavar="N", help="newest rows of each series")
    add(one, "--first", type=_positive, metavar="N", help="oldest rows of each series")
    add(rows, "--bbox", metavar="W,S,E,N", help="box, as --bbox=-80,35,-75,40")
    add(one, "--snapshot", metavar="ID", help="a version that is kept")
    text = "read what was current then, a date or a moment with its zone"
    add(one, "--as-of", type=_filled, metavar="TIME", help=text)
    add(rows, "--limit", type=_positive, metavar="N", help="rows at most; default: all")
    add("get", "-o", "--output", type=_filled, metavar="FILE", help="write to a file instead")
    add("download", "file", metavar="FILE", help="file to write")
    add("get download", "--format", type=_filled, help="format of FILE; default: its suffix")
    add("link", "--format", type=_filled, help="format of the rows; default: json")
    add("link", "--days", type=_positive, default=30, help="days until it ends; default: 30")
    add("verify", "--expected", type=_filled, metavar="DIGEST", help="digest or citation to match")
    text = "have the service read the rows: a request"
    add("verify", "--recompute", action="store_true", help=text)
    add("revisions", "--since", type=_filled, metavar="TIME", help="leave out what ended before")
    text = "wide has a column for each vintage"
    add("revisions", "--shape", choices=("long", "wide"), default="long", help=text)
    add("revisions", "--value", type=_filled, metavar="COLUMN", help="the column of vintages")
    add("changes", "--since", metavar="ID", help="watermark or snapshot id")
    add("sync", "names", nargs="*", metavar="NAME", help="default: the library's")
    add("sync", "-o", "--output", type=_filled, metavar="FILE", help="file, for one dataset")
    add("cite", "--format", choices=FORMATS, default="text")
    add("integration", "tool", help="such as meltano")
    add("integration", "names", nargs="+", metavar="NAME", help="datasets")
    add("integration", "-o", "--output", type=_filled, metavar="FOLDER", help="folder to write to")
    add("login", "--key-from-stdin", action="store_true", help="read the key from a pipe")
    add("cache", "--clear", action="store_true", help="delete every page")
    add("completion", "shell", choices=("bash", "zsh", "fish", "names"))
    return top


def _condition(text: str) -> tuple[str, str]:
    column, sign, value = text.partition("=")
    if not (column and sign):
        raise ValueError
    return column, value


def _filled(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("it is empty")
    return text


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def script(shell: str) -> str:
    """Returns a script that completes the command `yearbook-py`, an alias that it defines too."""
    options = _options()
    alias = f"alias {COMMAND}='{PROGRAM}'\n"
    names = f"{PROGRAM} completion names 2>/dev/null"
    if shell == "fish":
        begin, seen = f"complete -c {COMMAND}", "-n '__fish_seen_subcommand_from"
        fish = [f"{begin} -f"]
        for verb, text in VERBS.items():
            quoted = text.replace("'", "\\'")
            fish.append(f"{begin} -n __fish_use_subcommand -a {verb} -d '{quoted}'")
            long = (option[2:] for option in options[verb] if option.startswith("--"))
            fish += [f"{begin} {seen} {verb}' -l {option}" for option in long]
        fish.append(f"{begin} {seen} {_NAMED.replace('|', ' ')}' -a '({names})'")
        return alias + "\n".join(fish) + "\n"
    lines = "\n".join(f"    {verb}) options='{' '.join(own)}' ;;" for verb, own in options.items())
    head = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return f"""{head}{alias}{FUNCTION}() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" verb="${{COMP_WORDS[1]}}" options=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{" ".join(VERBS)}' -- "$word")); return
  fi
  case "$verb" in
{lines}
  esac
  case "$verb" in
    {_NAMED}) case "$word" in -*) ;; *) options="$options $({names})" ;; esac ;;
  esac
  COMPREPLY=($(compgen -W "$options" -- "$word"))
}}
complete -o default -F {FUNCTION} {COMMAND}
"""


def cached_names() -> list[str]:
    """Returns the names of datasets that an earlier list left in the cache."""
    try:
        document: Any = kept_document(cache_dir(), origin(), "/v1/datasets")
    except YearbookError:
        return []
    return [str(one["name"]) for one in cast("list[Any]", document or [])]


def _options() -> dict[str, list[str]]:
    top: Any = parser()
    verbs: dict[str, Any] = next(one.choices for one in top._actions if one.dest == "verb")
    return {
        verb: [str(text) for action in one._actions for text in action.option_strings]
        for verb, one in verbs.items()
    }
