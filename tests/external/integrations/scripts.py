"""Python and R: the generated scripts are run and what they read is compared."""

import json
import os

import quoting
import revisions
import service
from tally import proof

NAMES = ["us_unemployment_by_industry", "us_macro_quarterly", "us_wildlife_strikes", "london_boroughs", revisions.NAME, quoting.NAME]
PYTHON = """
import json, sys
import pyarrow as pa
import read_statistics

def rows(frame):
    table = frame.to_arrow() if hasattr(frame, "to_arrow") else pa.Table.from_pandas(frame, preserve_index=False)
    return [{field.name: str(field.type) for field in table.schema}, table.to_pylist()]

found = {name: rows(read_statistics.read(name)) for name in read_statistics.DATASETS}
text = read_statistics.DATASETS[sys.argv[1]]
json.dump([found, text["title"], text["attribution"]], open("found.json", "w"), default=str)
"""
R = """
source("read_statistics.R")
found <- lapply(stats::setNames(names(datasets), names(datasets)), function(name) {
  frame <- read_dataset(name)
  list(as.list(sapply(frame, function(column) class(column)[[1]])), frame)
})
# jsonlite writes large numbers short.
exact <- function(column) if (is.numeric(column) && !inherits(column, "Date")) ifelse(is.na(column), NA, sprintf("%.17g", column)) else column
for (name in names(found)) found[[name]][[2]][] <- lapply(found[[name]][[2]], exact)
text <- attr(found[[commandArgs(TRUE)[[1]]]][[2]], "attribution")
title <- attr(found[[commandArgs(TRUE)[[1]]]][[2]], "title")
json <- toJSON(list(found, title, text), auto_unbox = TRUE, dataframe = "rows", na = "null")
writeLines(enc2utf8(json), "found.json", useBytes = TRUE)
"""
ARROW = {"integer": ["int64"], "number": ["double"], "boolean": ["bool"], "date": ["date32[day]"], "string": ["string", "large_string"]}
CLASSES = {"integer": ["numeric"], "number": ["numeric"], "boolean": ["logical"], "date": ["Date"], "string": ["character"]}


def check(tally, starter, unlimited, python, has_r, folder):
    for frame in ["pandas", "polars"]:
        options = {"python.frame": frame}
        place, command = folder / frame, [python, "-c", PYTHON, quoting.NAME]
        compare(tally, starter, unlimited, "python", f"python with {frame}", place, command, options, ARROW)
    if has_r:
        (folder / "read.R").write_text(R)
        command = ["Rscript", folder / "read.R", quoting.NAME]
        compare(tally, starter, unlimited, "r", "r", folder / "r", command, {}, CLASSES)


@proof
def compare(tally, starter, unlimited, tool, label, folder, command, options, types):
    def run():
        starter.unpack(tool, NAMES, folder, **options)
        service.run(command, cwd=folder, env=dict(os.environ, SERVICE_API_KEY=starter.key, SERVICE_BASE_URL=starter.base))
        return json.loads((folder / "found.json").read_text())

    found = tally.check(f"{label}: the script runs", run)
    if found is None:
        return
    for name in NAMES:
        tally.check(f"{label}: {name} arrives whole and typed", lambda: check_rows(unlimited, name, *found[0][name], types))
    tally.check(f"{label}: free text survives", lambda: equal(found[1:], [quoting.HARD, quoting.HARD]))


def check_rows(server, name, classes, rows, types):
    described = server.dataset(name)
    equal(list(classes), [column["name"] for column in described["columns"]])
    for column in described["columns"]:
        assert classes[column["name"]] in types[column["type"]], (column, classes)
    expected = server.rows(name)
    if types is CLASSES:
        # Doubles, as the project's warning says.
        numbers = {column["name"] for column in described["columns"] if column["type"] in ("integer", "number")}

        def doubles(row):
            return {name: float(value) if name in numbers and value is not None else value for name, value in row.items()}

        expected, rows = [doubles(row) for row in expected], [doubles(row) for row in rows]
    service.same_rows(expected, rows, described["primary_key"] or list(classes))


def equal(found, expected):
    assert found == expected, f"{found} instead of {expected}"
