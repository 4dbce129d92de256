"""Search over the list of datasets. Owns ranking: a pure function of the list and the words,
without case and diacritics."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from .models import DatasetSummary

_WORD = re.compile(r"[^\W_]+")
# What a match is worth, by the field that has it.
_WEIGHTS = (
    ("name", 8.0),
    ("title", 6.0),
    ("namespace", 3.0),
    ("source", 3.0),
    ("description", 2.0),
)
_EXACT, _PREFIX, _INSIDE, _SLIP = 1.0, 0.7, 0.35, 0.3
# Shorter words have too many neighbours.
SHORTEST_SLIP = 5


def rank(datasets: Iterable[DatasetSummary], words: str, limit: int = 20) -> list[DatasetSummary]:
    """Returns the datasets that have every word, best first, then by name; at most `limit`.

    A word matches a whole word, the beginning of one, a part of one, or one with a letter wrong."""
    wanted = _words(words)
    scored: list[tuple[float, str, DatasetSummary]] = []
    for dataset in datasets:
        fields = [(weight, _words(getattr(dataset, name) or "")) for name, weight in _WEIGHTS]
        scores = [max(_score(word, found) * weight for weight, found in fields) for word in wanted]
        if all(scores):
            scored.append((-sum(scores), dataset.name, dataset))
    return [dataset for _, _, dataset in sorted(scored, key=lambda entry: entry[:2])[:limit]]


def _words(text: str) -> list[str]:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    return _WORD.findall(plain)


def _score(word: str, found: list[str]) -> float:
    best = 0.0
    for other in found:
        if other in (word, word + "s", word + "es") or word in (other + "s", other + "es"):
            return _EXACT
        if other.startswith(word):
            best = max(best, _PREFIX)
        elif word in other:
            best = max(best, _INSIDE)
        elif len(word) >= SHORTEST_SLIP and _one_slip(word, other):
            best = max(best, _SLIP)
    return best


def _one_slip(one: str, other: str) -> bool:
    """True where one letter is wrong, missing, too many, or two are swapped."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    rest, tail = one[start:], other[start:]
    swapped = rest[:2] == tail[:2][::-1] and rest[2:] == tail[2:]
    return rest[1:] == tail[1:] or rest[1:] == tail or rest == tail[1:] or swapped
