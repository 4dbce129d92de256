"""Arguments of the command line. Owns their names and help; runs nothing."""

from __future__ import annotations

import argparse

from .._version import __version__
from ..citation import FORMATS

PROGRAM = "python -m yearbook_client"
VERBS: dict[str, str] = {
    "datasets": "list all datasets",
    "search": "find datasets by words",
    "describe": "show columns, versions and provenance of a dataset",
    "preview": "show the newest rows, free and without a key",
    "get": "print rows as CSV or JSON, or write them to a file",
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


def parser() -> argparse.ArgumentParser:
    """Returns the parser of all verbs."""
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
        one = made[verb] = verbs.add_parser(verb, help=text, description=text.capitalize() + ".")
        one.add_argument("--json", action="store_true", help="print JSON for machines")
        one.add_argument("--quiet", action="store_true", help="show no progress")
    _lookups(made)
    _rows(made)
    _rest(made)
    return top


def _lookups(verbs: dict[str, argparse.ArgumentParser]) -> None:
    verbs["search"].add_argument("words", nargs="+", help="all of them must occur")
    verbs["search"].add_argument("--limit", type=_positive, default=20, help="datasets at most")
    for verb in ("describe", "preview"):
        verbs[verb].add_argument("name", help="name of a dataset")


def _rows(verbs: dict[str, argparse.ArgumentParser]) -> None:
    for verb in ("get", "download", "verify"):
        one = verbs[verb]
        one.add_argument("name", help="name of a dataset")
        one.add_argument("--start", metavar="DATE", help="first date, YYYY-MM-DD")
        one.add_argument("--end", metavar="DATE", help="last date, YYYY-MM-DD")
        one.add_argument("--dimensions", metavar="TEXT", help="text that a dimension contains")
        one.add_argument("--columns", metavar="A,B", help="columns, in the order that you want")
        one.add_argument("--no-geometry", action="store_true", help="leave geometry out")
        one.add_argument("--snapshot", metavar="ID", help="a version that is kept")
        one.add_argument("--limit", type=_positive, metavar="N", help="rows at most; default: all")
    verbs["get"].add_argument("-o", "--output", metavar="FILE", help="write to a file instead")
    verbs["get"].add_argument("--format", help="format of FILE; default: its suffix")
    verbs["download"].add_argument("file", metavar="FILE", help="file to write")
    verbs["download"].add_argument("--format", help="format; default: the suffix of FILE")
    verbs["verify"].add_argument("--expected", metavar="DIGEST", help="digest or citation to match")
    verbs["verify"].add_argument(
        "--recompute", action="store_true", help="have the service read the rows: a request"
    )
    verbs["changes"].add_argument("name", help="name of a dataset")
    verbs["changes"].add_argument("--since", metavar="ID", help="watermark or snapshot id")
    verbs["changes"].add_argument("--no-geometry", action="store_true", help="leave geometry out")
    verbs["sync"].add_argument("names", nargs="*", metavar="NAME", help="default: the library's")
    verbs["sync"].add_argument("-o", "--output", metavar="FILE", help="file, for one dataset")


def _rest(verbs: dict[str, argparse.ArgumentParser]) -> None:
    verbs["cite"].add_argument("name", help="name of a dataset")
    verbs["cite"].add_argument("--format", choices=FORMATS, default="text")
    verbs["integration"].add_argument("tool", help="such as meltano")
    verbs["integration"].add_argument("names", nargs="+", metavar="NAME", help="datasets")
    verbs["integration"].add_argument("-o", "--output", metavar="FOLDER", help="folder to write to")
    verbs["login"].add_argument(
        "--key-from-stdin", action="store_true", help="read the key from a pipe"
    )
    verbs["cache"].add_argument("--clear", action="store_true", help="delete every page")
    verbs["completion"].add_argument("shell", choices=("bash", "zsh", "fish", "names"))


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number
