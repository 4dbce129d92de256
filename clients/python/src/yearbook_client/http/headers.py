"""Header fields of an answer. Owns that names ignore case and that values are UTF-8."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

_LINK = re.compile(r'<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^",;\s]+))*)')


class Headers(Mapping[str, str]):
    """Header fields; the values of a repeated one are joined by commas."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Iterable[tuple[str, str]]) -> None:
        self._fields: dict[str, str] = {}
        for name, value in fields:
            name = name.lower()
            self._fields[name] = f"{self._fields[name]}, {value}" if name in self._fields else value

    @classmethod
    def from_wire(cls, fields: Iterable[tuple[str, str]]) -> Headers:
        """Makes them from what Python's HTTP library hands out: bytes read as Latin-1."""
        return cls((name, _utf8(value)) for name, value in fields)

    def __getitem__(self, name: str) -> str:
        return self._fields[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def count(self, name: str) -> int | None:
        """Returns a field that is a number of rows or bytes; None where it is missing or is none."""
        text = self._fields.get(name.lower(), "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None

    def link(self, relation: str) -> str | None:
        """Returns the target of the first `Link` with this relation (RFC 8288)."""
        for target, parameters in _LINK.findall(self._fields.get("link", "")):
            for name, quoted, bare in re.findall(
                r';\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^",;\s]+))', parameters
            ):
                if name.lower() == "rel" and relation in (quoted or bare).lower().split():
                    return str(target)
        return None


def _utf8(text: str) -> str:
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text
