"""The R client: its tests, every value that it reads, its recipes and R's own checks of the package.

Run by `cargo xtask test`. The keys come in YEARBOOK_KEY (enterprise) and YEARBOOK_FREE (free). Prints one line a check and, last,
`clients-r: N passed, N failed`.
"""

import argparse
import base64
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request

import numpy
import pyarrow as pa
from pyarrow import parquet

HERE = pathlib.Path(__file__).parent
for shared in ("readers", "guide"):
    sys.path.insert(0, str(HERE.parent / shared))

import blocks  # noqa: E402
import compare  # noqa: E402
import month  # noqa: E402
import page_lines  # noqa: E402
import patient  # noqa: E402
from tally import Tally, proof  # noqa: E402

# An R that takes longer hangs.
SECONDS = 1800
# Examples that take longer, in seconds, are worth a note. CRAN's bound is 5 on a machine with nothing else to do.
EXAMPLE_SECONDS = 120
TYPES = {"string": pa.string(), "date": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}
WORDS = {b"TRUE": True, b"FALSE": False}
# Packages that the client itself needs; all that these need comes with them.
CORE = ["httr2", "jsonlite", "openssl"]


class Client:
    """The package, built and installed into a library of its own, and a service to talk to."""

    def __init__(self, given):
        self.repository = HERE.parents[2]
        self.sources = self.repository / "clients" / "r"
        self.work, self.base = given.work, given.base
        self.key, self.free = os.environ.pop("YEARBOOK_KEY"), os.environ.pop("YEARBOOK_FREE")
        self.library = self.work / "library"
        self.bare = self.work / "bare"
        self.archive = None

    def environment(self, key=None, cache="cache", bare=False, **more):
        """Nothing of this session's own settings."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("R_LIBS", "SERVICE_"))}
        found = kept | {"LC_ALL": "C.UTF-8", "R_LIBS": str(self.library), **more}
        if bare:
            found |= {"R_LIBS": "", "R_LIBS_USER": "", "R_LIBS_SITE": str(self.bare)}
        if key:
            found |= {"SERVICE_BASE_URL": self.base, "SERVICE_API_KEY": key, "SERVICE_CACHE_DIR": str(self.work / cache)}
        return found

    def run(self, *command, cwd=None, environment=None):
        """Returns the output of a command; fails with it."""
        ran = subprocess.run(
            command, cwd=cwd or self.work, env=environment or self.environment(), capture_output=True, encoding="utf-8", errors="replace",
            timeout=SECONDS, check=False,
        )
        assert ran.returncode == 0, f"{command[0]} ended with {ran.returncode}\n{ran.stdout[-4000:]}{ran.stderr[-4000:]}"
        return ran.stdout

    def r(self, code, key=None, **how):
        return self.run("Rscript", "--no-init-file", "-e", code, environment=self.environment(key, **how))

    def install(self):
        """Builds the package from a copy of its sources, and installs it twice: beside everything, and with its core alone."""
        self.library.mkdir(parents=True)
        copy = self.work / "sources"
        shutil.copytree(self.sources, copy)
        self.run("R", "CMD", "build", str(copy))
        (self.archive,) = self.work.glob("yearbook_*.tar.gz")
        self.run("R", "CMD", "INSTALL", "--no-docs", f"--library={self.library}", str(self.archive))
        names = ", ".join(f'"{name}"' for name in CORE)
        paths = self.r(
            f"installed <- installed.packages(); needed <- c({names});"
            "needed <- unique(c(needed, unlist(tools::package_dependencies(needed, installed, recursive = TRUE))));"
            'writeLines(find.package(setdiff(needed, rownames(installed)[installed[, "Priority"] %in% "base"])))'
        ).split()
        self.bare.mkdir()
        for path in [*paths, self.library / "yearbook"]:
            (self.bare / pathlib.Path(path).name).symlink_to(path)


def run_suite(client, vectors):
    """Failures, skips and number of checks of each test, by its name."""
    more = {"NOT_CRAN": "true", "YEARBOOK_DIGEST_VECTORS": str(vectors), "YEARBOOK_SOURCES": str(client.sources)}
    printed = client.run(
        "Rscript", "--no-init-file", str(HERE / "suite.R"), str(client.work / "sources" / "tests" / "testthat"),
        environment=client.environment(**more),
    )
    found = {}
    for line in printed.splitlines():
        if line.startswith("TEST\t"):
            _, failed, skipped, checks, name = line.split("\t", 4)
            found[name] = (int(failed), int(skipped), int(checks))
    if any(failed for failed, _, _ in found.values()):
        print(printed, flush=True)
    return found


def check_suite(tally, results):
    """One line a test."""
    tally.check("the suite has tests", lambda: compare.same("the suite", True, len(results) > 40))
    for name, (failed, skipped, checks) in results.items():

        def passed():
            assert failed == 0, f"{failed} of {checks} checks failed"

        tally.check(f"{name}{' (skipped)' if skipped and not failed else ''}", passed)


def of_rules(tally, results, section, *rules):
    """Checks of the tests that name each rule: there are some, and all ran and passed."""
    for rule in rules:
        rule = f"contract-{section}-{rule}"

        def passed():
            named = {name: result for name, result in results.items() if f"({rule})" in name}
            assert named, "no test names it"
            for name, (failed, skipped, checks) in named.items():
                assert failed == 0 and skipped == 0 and checks > 0, f"{name}: {failed} failed, {skipped} skipped, {checks} checks"

        tally.check(rule, passed)


@proof
def r_has_its_names_and_its_verbs(tally, results):
    of_rules(tally, results, 11, "names", "wire", "environment", "base", "verbs", "to", "r-core", "progress")


@proof
def r_takes_arguments_as_people_have_them(tally, results):
    of_rules(tally, results, 11, "arguments", "exact")


@proof
def r_works_behind_proxies_and_in_forks(tally, results):
    of_rules(tally, results, 11, "fork", "proxy", "head", "files")


@proof
def r_reads_typed_arrow_streams(tally, results):
    of_rules(tally, results, 11, "arrow", "typed")


@proof
def r_credits_what_it_read(tally, results):
    of_rules(tally, results, 11, "credit")


@proof
def r_plans_a_pull_and_keeps_to_one_snapshot(tally, results):
    of_rules(tally, results, 11, "plan", "pages", "one-snapshot", "month", "refused-first")


@proof
def r_takes_bulk_files_whole(tally, results):
    of_rules(tally, results, 11, "bulk", "resume", "fallback")


@proof
def r_survives_faults(tally, results):
    of_rules(tally, results, 11, "retries", "cut", "cache-errors")


@proof
def r_caches_by_snapshot_and_tag(tally, results):
    of_rules(tally, results, 11, "cache", "cache-off")


@proof
def r_keeps_the_key_to_itself(tally, results):
    of_rules(tally, results, 11, "key")


@proof
def r_sends_selections(tally, results):
    of_rules(
        tally, results, 15, "clients-where", "clients-refused", "clients-selection", "clients-pages", "clients-values", "clients-ignored",
        "clients-links", "clients-completion", "clients-labels",
    )


@proof
def r_reads_other_times(tally, results):
    of_rules(tally, results, 21, "clients-as-of", "clients-errors", "clients-revisions")


@proof
def r_computes_the_digest(tally, results):
    of_rules(tally, results, 13, "clients")
    of_rules(tally, results, 21, "clients-proof")


def stored(client, dataset):
    """The stored Parquet file, or, where the licence forbids it, all rows as Parquet."""
    headers = {"X-API-Key": client.key}
    bulk = f"{client.base}/v1/bulk/{dataset['namespace']}/{dataset['name']}?freshness=current"
    rows = f"{client.base}/v1/datasets/{dataset['name']}/data?format=parquet&limit=100000000"
    for address in (bulk, rows):
        try:
            with patient.urlopen(urllib.request.Request(address, headers=headers), timeout=SECONDS) as response:
                body = response.read()
                if address == bulk:
                    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
                    compare.same("Repr-Digest", f"sha-256=:{digest}:", response.headers["Repr-Digest"])
                return parquet.read_table(pa.BufferReader(body))
        except urllib.error.HTTPError as error:
            if error.code != 403:
                raise
    raise AssertionError("no Parquet is served")


def written(path):
    """The table that values.R wrote."""
    fields = [line.rsplit(":", 1) for line in path.with_name(path.name + ".columns").read_text(encoding="utf-8").splitlines()]
    body, columns = path.read_bytes(), []
    rows, at = int.from_bytes(body[:4], "little"), 4
    for _, kind in fields:
        nulls, at = numpy.frombuffer(body, bool, rows, at), at + rows
        if kind == "number":
            values, at = numpy.frombuffer(body, "<f8", rows, at), at + 8 * rows
        else:
            *texts, rest = body[at:].split(b"\0", rows)
            at = len(body) - len(rest)
            make = {"integer": int, "boolean": WORDS.get}.get(kind, bytes.decode)
            values = [None if null else make(text) for text, null in zip(texts, nulls)]
        columns.append(pa.array(values, TYPES[kind], mask=nulls))
    compare.same("the number of bytes", len(body), at)
    return pa.table(columns, schema=pa.schema([(name, TYPES[kind]) for name, kind in fields]))


@proof
def r_has_every_value_of_every_dataset(tally, client):
    """With suggested packages and without, each value is the stored one, bit by bit."""
    request = urllib.request.Request(f"{client.base}/v1/datasets", headers={"X-API-Key": client.key})
    with patient.urlopen(request) as response:
        datasets = json.load(response)
    for packages in ("with", "without"):
        folder = client.work / f"values_{packages}"
        folder.mkdir()
        environment = client.environment(client.key, bare=packages == "without")
        names = [dataset["name"] for dataset in datasets]
        tally.check(
            f"R reads every dataset {packages} suggested packages",
            lambda: client.run("Rscript", "--no-init-file", str(HERE / "values.R"), str(folder), packages, *names, environment=environment),
        )
    for dataset in datasets:
        expected = tally.check(f"{dataset['name']} as Parquet", lambda: stored(client, dataset))
        for packages in ("with", "without"):
            path = client.work / f"values_{packages}" / dataset["name"]
            tally.check(f"{dataset['name']} {packages} suggested packages", lambda: compare.equal(expected, written(path)))


@proof
def r_spends_no_request_twice(tally, client):
    """50,000 rows on a Free key are one request, and the same pull again none."""
    code = (
        'library(yearbook); first <- yb_get("penn_world_table_9_1_long", limit = 50000);'
        'second <- yb_get("penn_world_table_9_1_long", limit = 50000);'
        "stopifnot(nrow(first) == 50000, identical(first, second)); cat(yb_me()$requests$used)"
    )
    tally.check("50,000 rows twice", lambda: compare.same("requests used", "1", client.r(code, client.free, cache="free").strip()))
    # Eight pages are needed, of which nine requests have room; then one is left for eight others.
    code = (
        'library(yearbook); whole <- yb_get("penn_world_table_9_1_long"); stopifnot(nrow(whole) == 373217);'
        "cat(yb_me()$requests$used)"
    )
    tally.check("all pages", lambda: compare.same("requests used", "8", client.r(code, client.free, cache="free").strip()))
    code = (
        'library(yearbook); error <- tryCatch(yb_get("penn_world_table_9_1_long", geometry = FALSE, end = "2016-12-31"),'
        "yb_error_budget = function(error) error);"
        "stopifnot(inherits(error, 'yb_error_budget')); cat(yb_me()$requests$used)"
    )
    tally.check("a pull beyond the month", lambda: compare.same("requests used", "8", client.r(code, client.free, cache="free").strip()))


@proof
def r_verifies_what_it_reads(tally, client):
    """Whole snapshots and selections have the digest that the service cites, and the citation is the service's."""
    pulls = {
        "a whole snapshot": '"us_macro_quarterly"',
        "a selection": '"us_macro_quarterly", start = "2000-01-01", columns = c("unemp", "date")',
        "the first rows": '"us_macro_quarterly", limit = 7',
        "difficult values": '"difficult_values", integers = "character"',
    }
    for what, pull in pulls.items():
        code = (
            f"library(yearbook); found <- yb_get({pull}); result <- yb_verify(found); print(result); stopifnot(result$verified);"
            'cited <- paste(capture.output(print(yb_cite(found))), collapse = " "); stopifnot(grepl("[data set]", cited, fixed = TRUE))'
        )
        tally.check(f"{what} is verified", lambda: client.r(code, client.key))


def check_labels(tally, client):
    """A code in text and one in numbers, a list of statuses and another language, with suggested packages and without."""
    rents = {
        "region": ['"Auckland", "Wellington", "99"', "1, 1, 2, 2, 3"],
        "dwelling": ['"Flat", "House (2)", "House (3)", "4"', "1, 2, 1, 3, 4"],
        "rent_status": ['"Normal value", "Missing value; data cannot exist", "Provisional value"', "1, 1, 3, 2, NA"],
    }
    code = 'library(yearbook); found <- yb_get("labelled_rents", labels = TRUE);' + "".join(
        f"stopifnot(identical(levels(found${name}), c({levels})), identical(as.double(found${name}), c({places})));"
        for name, (levels, places) in rents.items()
    )
    code += 'maori <- yb_get("labelled_rents", labels = TRUE, lang = "mi-NZ");'
    code += 'stopifnot(identical(levels(maori$region), c("T\\u0101maki Makaurau", "Te Whanganui-a-Tara", "99")));'
    code += 'codes <- yb_get("labelled_rents"); stopifnot(identical(codes$region, c("02", "02", "09", "09", "99")), yb_verify(codes)$verified)'
    for packages in ("with", "without"):
        tally.check(f"labels {packages} suggested packages", lambda: client.r(code, client.key, cache=f"labels_{packages}", bare=packages == "without"))


def check_times(tally, client):
    """Two versions by their times, as rows, a file, a link and values, and by their revisions."""
    code = (
        'library(yearbook); name <- "synthetic_nz_retail_quarterly"; versions <- utils::tail(as.data.frame(yb_describe(name)$snapshots), 2);'
        'versions <- versions[order(versions$created_at), ]; then <- as.POSIXct(versions$created_at[1], "UTC", "%Y-%m-%dT%H:%M:%SZ");'
        "rows <- yb_get(name, as_of = then); kept <- yb_get(name, snapshot = versions$id[1]);"
        "stopifnot(nrow(rows) == 2016, identical(yb_digest(rows), yb_digest(kept)), yb_verify(rows)$verified);"
        "stopifnot(nrow(yb_get(name, as_of = versions$created_at[2])) == 2048);"
        'path <- yb_download(name, tempfile(), format = "csv", as_of = then); stopifnot(length(readLines(path)) == 2017);'
        'stopifnot(length(readLines(yb_link(name, as_of = then, format = "csv")$url)) == 2017);'
        'stopifnot(nrow(yb_values(name, "period", as_of = then)) == 63, nrow(yb_values(name, "period")) == 64);'
        "early <- tryCatch(yb_get(name, as_of = then - 3e8), error = identity);"
        'stopifnot(inherits(early, c("yb_error_not_published", "yb_error_not_found"), which = TRUE) > 0)'
    )
    tally.check("versions by their times", lambda: client.r(code, client.key, cache="times"))
    code = (
        'library(yearbook); name <- "synthetic_nz_retail_quarterly"; long <- yb_revisions(name); wide <- yb_revisions(name, shape = "wide");'
        'stopifnot(nrow(long) > 2048, inherits(long[["_valid_to"]], "POSIXct"), nrow(wide) == 2048);'
        'for (vintage in utils::tail(names(wide), 2)) { at <- as.POSIXct(vintage, "UTC", "%Y-%m-%dT%H:%M:%SZ");'
        'until <- long[["_valid_to"]]; stood <- long[long[["_valid_from"]] <= at & (is.na(until) | until > at), ];'
        "known <- yb_get(name, as_of = at); value <- wide[[vintage]];"
        "stopifnot(all.equal(as.data.frame(stood)[names(known)], as.data.frame(known), check.attributes = FALSE));"
        "stopifnot(identical(value[!is.na(value)], known$value[!is.na(known$value)])) };"
        'cited <- paste(capture.output(print(yb_cite(long))), collapse = " "); stopifnot(grepl(name, cited, fixed = TRUE))'
    )
    tally.check("revisions and vintages", lambda: client.r(code, client.key, cache="times"))


@proof
def r_runs_the_lines_of_pages(tally, client):
    """The lines of dataset pages read every row, with the key from the environment."""
    for name in page_lines.DATASETS:

        def run():
            environment = client.environment(client.key)
            environment.pop("SERVICE_BASE_URL")
            code = f"{page_lines.lines(client.base, name)['R']}\ncat(nrow(table))"
            printed = client.run("Rscript", "--no-init-file", "-e", code, environment=environment)
            compare.same("rows", page_lines.rows(client.base, name, client.key), int(printed.split()[-1]))

        tally.check(f"{name}: the line for R", run)


def check_recipes(tally, client, page):
    """Each recipe prints what the page shows."""
    examples, _ = blocks.parse(page.read_text(encoding="utf-8"))
    recipes = [example for example in examples if example.language == "r"]
    tally.check("there are ten recipes", lambda: compare.same("ten recipes", True, len(recipes) >= 10))
    for example in recipes:

        def run():
            folder = client.work / f"recipe_{example.line}"
            folder.mkdir()
            (folder / "recipe.R").write_text(example.code, encoding="utf-8")
            environment = client.environment(client.key, R_USER_DATA_DIR=str(folder / "data"))
            printed = client.run("Rscript", "--no-init-file", "recipe.R", cwd=folder, environment=environment)
            if example.expected is not None:
                assert blocks.matches(example.expected, printed), f"printed\n{printed}\nand not\n{example.expected}"

        tally.check(f"{page.name}:{example.line}", run)


def stand_in_for_cran(folder):
    """An empty archive in CRAN's place: the checks ask it for packages that are suggested and not here, and CRAN may be out of reach."""
    (folder / "src" / "contrib").mkdir(parents=True)
    (folder / "src" / "contrib" / "PACKAGES").touch()
    (folder / "web" / "packages").mkdir(parents=True)
    path = folder / "web" / "packages" / "packages.rds"
    return f'saveRDS(data.frame(Package = character(), Maintainer = character()), "{path}")'


def run_check(client, name, *options, prefix=()):
    """The log of R CMD check, and its last line."""
    folder = client.work / name
    folder.mkdir()
    cran = f"file://{client.work / 'cran'}"
    environment = client.environment(
        R_LIBS="", R_CRAN_WEB=cran, R_CRAN_SRC=cran, _R_CHECK_CRAN_INCOMING_REMOTE_="FALSE", _R_CHECK_FORCE_SUGGESTS_="FALSE",
        _R_CHECK_SYSTEM_CLOCK_="FALSE", _R_CHECK_EXAMPLE_TIMING_THRESHOLD_=str(EXAMPLE_SECONDS),
        # arrow and nanoparquet, which the package can use, are not in Debian.
        _R_CHECK_PACKAGE_DEPENDS_IGNORE_MISSING_ENHANCES_="TRUE",
    )
    command = [*prefix, "R", "CMD", "check", "--as-cran", "--no-manual", *options, str(client.archive)]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", errors="replace", timeout=SECONDS, check=False)
    return ran.stdout + ran.stderr


def judge_check(log):
    """No error, no warning, and no note but that of a new submission."""
    status = re.search(r"^Status: (.*)$", log, re.MULTILINE)
    assert status, f"R CMD check did not end\n{log[-6000:]}"
    noted = re.findall(r"^\* checking (.*) \.\.\. (?:\[.*\] )?(NOTE|WARNING|ERROR)$", log, re.MULTILINE)
    faults = [what for what, verdict in noted if verdict != "NOTE" or what != "CRAN incoming feasibility"]
    assert not faults and "ERROR" not in status[1] and "WARNING" not in status[1], f"{status[1]}: {faults}\n{log[-6000:]}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--base", required=True, help="address of the server")
    arguments.add_argument("--work", required=True, type=pathlib.Path, help="folder for files")
    arguments.add_argument("--vectors", required=True, type=pathlib.Path, help="vectors of the result digest")
    arguments.add_argument("--recipes", required=True, type=pathlib.Path, help="page with the recipes")
    given = arguments.parse_args()
    given.work, given.vectors = given.work.resolve(), given.vectors.resolve()
    shutil.rmtree(given.work, ignore_errors=True)
    given.work.mkdir(parents=True)
    client = Client(given)

    tally = Tally("clients-r")
    tally.check("the package is built and installed", client.install)
    client.r(stand_in_for_cran(client.work / "cran"))
    with concurrent.futures.ThreadPoolExecutor(2) as beside:
        # Without a network there is a loopback interface still, which the tests' own server needs.
        offline = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "offline"]
        checks = {
            # The tests run with a network in the suite, and here as R's own checks run them.
            "R CMD check": beside.submit(run_check, client, "check", "--no-tests"),
            "R CMD check without a network": beside.submit(run_check, client, "check_offline", prefix=offline),
        }
        results = run_suite(client, given.vectors)
        check_suite(tally, results)
        for rules in (
            r_has_its_names_and_its_verbs, r_takes_arguments_as_people_have_them, r_works_behind_proxies_and_in_forks, r_reads_typed_arrow_streams,
            r_credits_what_it_read, r_plans_a_pull_and_keeps_to_one_snapshot, r_takes_bulk_files_whole, r_survives_faults,
            r_caches_by_snapshot_and_tag, r_keeps_the_key_to_itself, r_sends_selections, r_reads_other_times, r_computes_the_digest,
        ):
            rules(tally, results)
        tally.group("values", lambda: r_has_every_value_of_every_dataset(tally, client))
        month.wait_for_room(SECONDS / 4)
        tally.group("requests", lambda: r_spends_no_request_twice(tally, client))
        tally.group("digests", lambda: r_verifies_what_it_reads(tally, client))
        tally.group("labels", lambda: check_labels(tally, client))
        tally.group("times", lambda: check_times(tally, client))
        tally.group("lines of pages", lambda: r_runs_the_lines_of_pages(tally, client))
        tally.group("recipes", lambda: check_recipes(tally, client, given.recipes))
        for what, log in checks.items():
            tally.check(what, lambda: judge_check(log.result()))
    sys.exit(tally.end())


if __name__ == "__main__":
    main()
