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

# An example that takes longer hangs.
SECONDS = 120

COMMANDS = {
    "sh": ["bash", "-euo", "pipefail"],
    "python": [sys.executable],
    "r": ["Rscript", "--vanilla"],
}


def run_example(example):
    """None when it prints what the page promises, else what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, f"example.{example.language}")
        program.write_text(example.code, encoding="utf-8")
        # In a folder of its own, with nothing but itself in it.
        run = subprocess.run(
            COMMANDS[example.language] + [str(program)], cwd=folder, capture_output=True, encoding="utf-8", errors="replace", timeout=SECONDS,
        )
    if run.returncode != 0:
        return f"ended with {run.returncode}\n{run.stdout}{run.stderr}"
    if example.expected is not None and not blocks.matches(example.expected, run.stdout):
        return f"printed\n{run.stdout}\nand not\n{example.expected}"
    return None


def check_examples_of_the_guide(page, languages):
    """How many examples passed and how many failed."""
    examples, _ = blocks.parse(page.read_text(encoding="utf-8"))
    passed = failed = skipped = 0
    for example in examples:
        name = f"{page.name}:{example.line} {example.language}"
        if example.language not in languages:
            skipped += 1
            continue
        try:
            problem = run_example(example)
        except subprocess.TimeoutExpired:
            problem = f"took more than {SECONDS} s"
        if problem is None:
            passed += 1
            print(f"ok     {name}", flush=True)
        else:
            failed += 1
            print(f"FAILED {name}: {problem}", flush=True)
    if skipped:
        print(f"NOT RUN: {skipped} examples in languages that are not here", flush=True)
    for language in languages:
        # A page that lost its examples proves nothing.
        if not any(example.language == language for example in examples):
            failed += 1
            print(f"FAILED {page.name} has no example in {language}", flush=True)
    return passed, failed


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--without", action="append", default=[], choices=blocks.LANGUAGES, help="a language that is not here")
    arguments.add_argument("page", type=pathlib.Path)
    given = arguments.parse_args()
    languages = [language for language in blocks.LANGUAGES if language not in given.without]
    passed, failed = check_examples_of_the_guide(given.page, languages)
    print(f"guide: {passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
