"""Runs the examples of a page against a live server and compares what they print with what the page shows.

Run by `cargo xtask test`. YEARBOOK, KEY (an enterprise key) and FREE (a free one) come from the environment, as the page
says. Prints one line an example and, last, `guide: N passed, M failed`.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import blocks
import sheet
from tally import Tally

# An example that takes longer hangs.
SECONDS = 600

COMMANDS = {
    "sh": ["bash", "-euo", "pipefail"],
    "python": [sys.executable],
    "r": ["Rscript", "--vanilla"],
}


def run_example(example):
    """Fails unless it prints what the page promises."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, f"example.{example.language}")
        program.write_text(example.code, encoding="utf-8")
        # In a folder of its own, with nothing but itself in it.
        run = subprocess.run(
            COMMANDS[example.language] + [str(program)], cwd=folder, capture_output=True, encoding="utf-8", errors="replace", timeout=SECONDS,
        )
    assert run.returncode == 0, f"ended with {run.returncode}\n{run.stdout}{run.stderr}"
    if example.expected is not None:
        assert blocks.matches(example.expected, run.stdout), f"printed\n{run.stdout}\nand not\n{example.expected}"


def check_examples_of_the_guide(tally, page, languages):
    """Runs each example in a language that is here."""
    examples, _ = blocks.parse(page.read_text(encoding="utf-8"))
    for language in languages:
        # A page that lost its examples proves nothing.
        tally.check(f"{page.name} has examples in {language}", lambda: has(examples, language))
    skipped = 0
    for example in examples:
        if example.language in languages:
            tally.check(f"{page.name}:{example.line} {example.language}", lambda: run_example(example))
        else:
            skipped += 1
    if skipped:
        print(f"NOT RUN: {skipped} examples in languages that are not here", flush=True)


def has(examples, language):
    assert any(example.language == language for example in examples), "there is none"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--without", action="append", default=[], choices=blocks.LANGUAGES, help="a language that is not here")
    arguments.add_argument("page", type=pathlib.Path)
    arguments.add_argument("yearbook", nargs="*", help="the program that publishes, with its first arguments, for a sheet of LibreOffice")
    given = arguments.parse_args()
    languages = [language for language in blocks.LANGUAGES if language not in given.without]
    tally = Tally("guide")
    check_examples_of_the_guide(tally, given.page, languages)
    if given.yearbook:
        tally.check("a sheet of LibreOffice has the rows of a link, and new ones after a refresh", lambda: sheet.libreoffice_refreshes_a_link(given.yearbook))
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
