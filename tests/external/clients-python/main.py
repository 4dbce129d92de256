"""Checks the Python client as its users and its packagers would: the suite with every extra on this Python and with the core alone on
every other that is installed, strict types, lints, the built distribution, and the recipes of docs/clients.md.

Run by `cargo xtask test`. Prints one line a check and, last, `clients-python: N passed, N failed`.
"""

import argparse
import base64
import concurrent.futures
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import month
import page_lines
import patient
import pythons
import waiting
from tally import Tally, proof

CLIENT = pathlib.Path(__file__).parents[3] / "clients" / "python"
# A table with labels, statuses and two languages, which no demo dataset has.
RENTS = pathlib.Path(__file__).parents[1] / "common" / "rents" / "datapackage.json"
GUIDE = pathlib.Path(__file__).parents[1] / "guide" / "main.py"
PAGE = CLIENT.parents[1] / "docs" / "clients.md"
VERSIONS = range(10, 16)
# The suite without extras.
CORE = ["urllib3==2.8.0", "pytest==9.2.0", "hypothesis==6.168.5"]
# A fifth is documentation, a twelfth the names and digests of files, and 3 kB check signatures without another package.
WHEEL_BYTES = 98_000
PLANS = ("free", "spent", "starter", "pro", "enterprise")
# A program that takes longer hangs.
SECONDS = 1800


def interpreters():
    """Every `python3.x` that runs, one of each version, by version."""
    found = {minor: pythons.interpreter(minor) for minor in VERSIONS}
    return {minor: program for minor, program in found.items() if program}


def run(command, **how):
    """Runs a program; its output, or an exception with it."""
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, **how)
    assert done.returncode == 0, f"{pathlib.Path(command[0]).name} ended with {done.returncode}\n{done.stdout[-6000:]}"
    return done.stdout


class Suite:
    """The tests of the package, on one interpreter after the other."""

    def __init__(self, base, yearbook, work):
        self.base, self.yearbook, self.work = base, yearbook, work

    def key(self, plan):
        """A new key: counts of months are those of one interpreter alone."""
        done = run([*self.yearbook, "keys", "create", "--plan", "free" if plan == "spent" else plan, "--json"])
        return json.loads(done.strip().splitlines()[-1])["key"]

    def run(self, python, *arguments, installed=False):
        """Runs the suite; numbers of tests, and the lines that name its proofs."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
        variables |= {f"SERVICE_KEY_{plan.upper()}": self.key(plan) for plan in PLANS}
        variables |= {"SERVICE_BASE_URL": self.base, "PYTHONDONTWRITEBYTECODE": ""}
        variables["PYTHONPYCACHEPREFIX"] = str(self.work / "bytecode")
        variables["PYTHONPATH"] = "" if installed else str(CLIENT / "src")
        command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "--durations=5", *arguments]
        done = subprocess.run(command, cwd=CLIENT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
        numbers = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error|skipped)", done.stdout.rstrip().rsplit("\n", 1)[-1])}
        return done, numbers


def publish_rents(suite):
    """Publishes the table with labels and waits until it is served."""
    snapshot = re.search(r"snapshot (\w+)", run([*suite.yearbook, "publish", RENTS]))[1]
    address = f"{suite.base}/v1/datasets/labelled_rents/preview"
    waiting.until(lambda: snapshot.encode() in patient.fetch(address)[2], "the table with labels is served")


def check_suites(tally, suite, others):
    """The suite on all interpreters, two at a time: they wait for servers that fail most of the time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = {f"3.{sys.version_info[1]} with every extra": pool.submit(suite.run, sys.executable)}
        for minor, program in others.items():
            def core(minor=minor, program=program):
                python = pythons.environment(suite.work / f"python3.{minor}", program, CORE)
                return suite.run(python, "--cut-step", "23")

            runs[f"3.{minor} with the core alone"] = pool.submit(core)
        for name, future in runs.items():
            tally.check(f"suite on Python {name}", lambda: passed(tally, name, *future.result()))


def passed(tally, name, done, numbers):
    """Takes over what a suite counted, or shows its end."""
    for line in done.stdout.splitlines():
        if line.startswith("executed: "):
            print(line, flush=True)
    good, bad = numbers.get("passed", 0), numbers.get("failed", 0) + numbers.get("error", 0)
    print(f"       {name}: {good} passed, {bad} failed, {numbers.get('skipped', 0)} skipped", flush=True)
    assert done.returncode == 0 and good > 80, done.stdout[-8000:]
    # The check itself is one more.
    tally.passed += good - 1


def check_distribution(tally, work, others):
    """Source and wheel as they would be uploaded."""
    folder = work / "dist"
    for old in folder.glob("*"):
        old.unlink()
    tally.check("build", lambda: run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, CLIENT]))
    wheels = list(folder.glob("*.whl"))
    tally.check("twine check", lambda: run([sys.executable, "-m", "twine", "check", "--strict", *folder.iterdir()]))

    def small():
        (wheel,) = wheels
        size = wheel.stat().st_size
        print(f"       the wheel has {size} bytes", flush=True)
        assert size < WHEEL_BYTES, f"the wheel has {size} bytes"
        names = zipfile.ZipFile(wheel).namelist()
        assert "yearbook_client/py.typed" in names and not any("test" in name for name in names), names

    tally.check("wheel", small)

    def installed():
        program = next(iter(others.values()), sys.executable)
        run([program, "-m", "venv", "--clear", work / "installed"])
        python = work / "installed" / "bin" / "python"
        run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wheels])
        assert run([python, "-m", "yearbook_client", "--version"], cwd=work).strip()
        found = run([python, "-m", "pip", "list", "--format=freeze", "--disable-pip-version-check"]).splitlines()
        assert {line.split("==")[0] for line in found} - {"pip", "setuptools"} == {"urllib3", "yearbook_client"}, found

    tally.check("installed wheel", installed)


def check_types_and_lints(tally, work):
    """Strict types by two checkers, and lints."""
    mypy = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", work / "mypy", "src/yearbook_client"]
    tally.check("mypy --strict", lambda: run(mypy, cwd=CLIENT))
    tally.check("pyright, strict", lambda: run([sys.executable, "-m", "pyright", "--project", CLIENT, "--pythonpath", sys.executable]))
    tally.check("ruff check", lambda: run([sys.executable, "-m", "ruff", "check", "--no-cache", CLIENT]))
    tally.check("ruff format", lambda: run([sys.executable, "-m", "ruff", "format", "--no-cache", "--check", CLIENT / "src"]))


def install(work):
    """The wheel, as a reader would have it."""
    (wheel,) = (work / "dist").glob("*.whl")
    run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall", wheel])


@proof
def lines_of_pages_run(tally, suite):
    """The lines of dataset pages for Python, curl, DuckDB and spreadsheets read as many rows as they should, with the key from the environment."""
    key = suite.key("enterprise")
    programs = pathlib.Path(sys.executable).parent
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    variables = kept | {"SERVICE_API_KEY": key, "SERVICE_CACHE_DIR": "", "PATH": f"{programs}{os.pathsep}{kept['PATH']}"}
    for name in page_lines.DATASETS:
        lines = page_lines.lines(suite.base, name)
        folder = suite.work / "lines" / name
        folder.mkdir(parents=True, exist_ok=True)

        def counted(command, expected):
            found = run(command, cwd=folder, env=variables).rstrip().splitlines()[-1]
            assert found == str(expected), f"{found} rows, and not {expected}"

        def counted_file(line, suffix):
            """The rows of the file that the line leaves behind."""
            printed = run(["sh", "-c", line], cwd=folder, env=variables)
            asked = int(re.search(r"limit=(\d+)", line)[1])
            query = f"SELECT count(*) FROM read_{suffix}('{name}.{suffix}')"
            counted([programs / "duckdb", "-noheader", "-list", "-c", query], page_lines.rows(suite.base, name, key, asked))
            return printed

        def linked(address):
            """A browser signs in with the key, and a sheet reads the address that it is shown."""
            basic = base64.b64encode(f"{key}:".encode()).decode()
            _, _, body = patient.fetch(address, headers={"Authorization": f"Basic {basic}"})
            _, _, sheet = patient.fetch(json.loads(body)["url"])
            _, *records = csv.reader(sheet.decode().splitlines(keepends=True))
            asked = int(re.search(r"limit=(\d+)", address)[1])
            expected = page_lines.rows(suite.base, name, key, asked)
            assert len(records) == expected, f"{len(records)} rows, and not {expected}"

        def shown():
            _, _, described = patient.fetch(f"{suite.base}/v1/datasets/{name}/preview")
            columns = {column["name"] for column in json.loads(described)["columns"]}
            printed = counted_file(lines["DuckDB"], "parquet")
            assert any(column in printed for column in columns), printed

        whole = page_lines.rows(suite.base, name, key)
        tally.check(f"{name}: the line for Python", lambda: counted([sys.executable, "-c", f"{lines['Python']}\nprint(len(table))"], whole))
        tally.check(f"{name}: the line for curl", lambda: counted_file(lines["curl"], "csv"))
        tally.check(f"{name}: the line for DuckDB", shown)
        tally.check(f"{name}: the address for spreadsheets", lambda: linked(lines["Spreadsheet"]))


def check_recipes(tally, suite):
    """The Python examples of the page, with what they print."""
    variables = os.environ | {"SERVICE_BASE_URL": suite.base, "SERVICE_API_KEY": suite.key("enterprise"), "MPLBACKEND": "agg"}
    variables |= {"SERVICE_CACHE_DIR": str(suite.work / "recipes"), "SERVICE_LIBRARY_DIR": str(suite.work / "library")}
    variables["PYTHONPATH"] = str(pathlib.Path(__file__).parents[1] / "common")
    done = subprocess.run([sys.executable, GUIDE, "--without", "sh", "--without", "r", PAGE], env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    *lines, total = done.stdout.rstrip().splitlines()
    print("\n".join(line for line in lines if not line.startswith("executed:")), flush=True)
    good, bad = map(int, re.search(r"(\d+) passed, (\d+) failed", total).groups())
    tally.passed += good
    tally.failed += bad
    assert good > 10, "the page has lost its examples"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--base", required=True, help="address of the server")
    arguments.add_argument("--work", required=True, type=pathlib.Path, help="folder for virtual environments and files")
    arguments.add_argument("yearbook", nargs="+", help="the program that makes keys, with its first arguments")
    given = arguments.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    tally = Tally("clients-python")
    others = {minor: program for minor, program in interpreters().items() if minor != sys.version_info[1]}
    suite = Suite(given.base, given.yearbook, given.work)
    tally.check("a table with labels is published", lambda: publish_rents(suite))
    # Suites compare what a key has left before and after.
    month.wait_for_room(SECONDS / 2)
    tally.group("suites", lambda: check_suites(tally, suite, others))
    tally.group("types and lints", lambda: check_types_and_lints(tally, given.work))
    tally.group("distribution", lambda: check_distribution(tally, given.work, others))
    tally.group("wheel for readers", lambda: install(given.work))
    tally.group("lines of pages", lambda: lines_of_pages_run(tally, suite))
    tally.group("recipes", lambda: check_recipes(tally, suite))
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
