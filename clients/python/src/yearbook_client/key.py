"""The API key as a value that no `repr`, log line, pickle or traceback shows. Owns its check and the
one place that reveals it."""

from __future__ import annotations

import re
from typing import NoReturn

from .errors import UsageError

_ALLOWED = re.compile(r"[!-~]{1,512}")


class ApiKey:
    """A key whose text only `reveal` returns."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        text = text.strip()
        # An HTTP library would quote the whole header in its complaint about a control character.
        if not _ALLOWED.fullmatch(text):
            raise UsageError(
                "The API key has characters that no key has.", "Copy it again, without line ends."
            )
        self._text = text

    def reveal(self) -> str:
        """Returns the text, for the header of a request to the service's own origin."""
        return self._text

    def __repr__(self) -> str:
        return "ApiKey(…)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an API key is not pickled; read it from the environment where it is used")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApiKey) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)
