"""Completion for bash, zsh and fish. Owns the scripts; names of datasets come from the cache, so that
a key press costs no request."""

from __future__ import annotations

from typing import Any, cast

from ..documents import Documents
from ..errors import YearbookError
from ..http.transport import Transport
from ..settings import cache_dir, origin
from .parser import VERBS, parser

# Verbs whose argument is the name of a dataset.
_NAMED = "describe|preview|get|changes|download|sync|cite|verify"
FUNCTION = "_yearbook_client"
COMMAND = "yearbook-py"


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
        document: Any = Documents(Transport(), cache_dir()).peek(origin(), "/v1/datasets")
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
