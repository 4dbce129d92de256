"""The examples in a Markdown page: fenced blocks of a language that we run, each with the output it promises."""

import dataclasses
import re

LANGUAGES = ("sh", "python", "r")
FENCE = re.compile(r"^```(.*)$")


@dataclasses.dataclass
class Example:
    """One block; `expected` is None where the page promises no output."""

    language: str
    line: int
    code: str
    expected: str | None = None


def parse(text):
    """Examples in their order, and the lines that every example of a language begins with.

    A block marked `setup` goes in front of all later blocks of its language; a `text` block belongs to the example that
    stands right above it.
    """
    examples, setup, last = [], {}, None
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        fence = FENCE.match(line)
        if not fence:
            if line.strip():
                last = None
            continue
        language, _, mark = fence.group(1).partition(" ")
        body = []
        for _, inner in lines:
            if FENCE.match(inner):
                break
            body.append(inner)
        else:
            raise ValueError(f"line {number}: this block never ends")
        code = "\n".join(body) + "\n"
        if language == "text":
            if last is None:
                raise ValueError(f"line {number}: an output without an example above it")
            last.expected, last = code, None
        elif language not in LANGUAGES:
            raise ValueError(f"line {number}: {language or 'no language'} is none that is run: {', '.join(LANGUAGES)}")
        elif mark == "setup":
            setup[language] = setup.get(language, "") + code
        else:
            last = Example(language, number, setup.get(language, "") + code)
            examples.append(last)
    return examples, setup


def matches(expected, found):
    """Return true if the output is what the page shows; `…` stands for any text, and white space at line ends does not count."""
    pattern = ".*?".join(re.escape(part) for part in _settled(expected).split("…"))
    return re.fullmatch(pattern, _settled(found), re.DOTALL) is not None


def _settled(text):
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
