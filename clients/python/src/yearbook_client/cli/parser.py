"""Arguments of the command line, and their completion for bash, zsh and fish. Owns names and help.
Names of datasets are completed from the cache, so that a key press costs no request."""

from __future__ import annotations

import argparse
from typing import Any, cast

from .. import __version__
from ..credits import FORMATS
from ..errors import YearbookError
from ..session import kept_document
from ..settings import cache_dir, origin

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
# Verbs whose argument is the name of a dataset.
_NAMED = "describe|preview|get|changes|download|sync|cite|verify"
FUNCTION = "_yearbook_client"
COMMAND = "yearbook-py"


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


def script(shell: str) -> str:
    """Returns a script that completes the command `yearbook-py`, an alias that it defines too."""
    lines = "\n".join(
        f"    {verb}) options='{' '.join(options)}' ;;" for verb, options in _options().items()
    )
    verbs = " ".join(VERBS)
    alias = f"alias {COMMAND}='python -m yearbook_client'\n"
    names = "python -m yearbook_client completion names 2>/dev/null"
    if shell == "fish":
        fish = [alias, f"complete -c {COMMAND} -f\n"]
        for verb, text in VERBS.items():
            fish.append(
                f"complete -c {COMMAND} -n __fish_use_subcommand -a {verb} -d '{_quoted(text)}'\n"
            )
        for verb, options in _options().items():
            seen = f"'__fish_seen_subcommand_from {verb}'"
            fish += [
                f"complete -c {COMMAND} -n {seen} -l {option[2:]}\n"
                for option in options
                if option.startswith("--")
            ]
        named = _NAMED.replace("|", " ")
        fish.append(
            f"complete -c {COMMAND} -n '__fish_seen_subcommand_from {named}' -a '({names})'\n"
        )
        return "".join(fish)
    head = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return f"""{head}{alias}{FUNCTION}() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" verb="${{COMP_WORDS[1]}}" options=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{verbs}' -- "$word")); return
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
    """Returns the options of each verb, as the parser has them."""
    top: Any = parser()
    verbs: dict[str, Any] = next(one.choices for one in top._actions if one.dest == "verb")
    return {
        verb: [str(text) for action in one._actions for text in action.option_strings]
        for verb, one in verbs.items()
    }


def _quoted(text: str) -> str:
    return text.replace("'", "\\'")
