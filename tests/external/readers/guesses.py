"""The difficult table as readers read it without the settings that docs/api.md gives, or by ways that it warns of."""

import platform

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.json
from pyarrow import csv

import compare
import difficult
import in_r
import text
from tally import proof


def check(tally, server, package, folder, with_r):
    """Downloads the table and reads it carelessly."""
    paths = {}
    for format_name in ("csv", "json"):
        paths[format_name] = folder / f"guessed.{format_name}"
        server.download(package, format_name, paths[format_name])
    expected = difficult.expected(package.name)
    for format_name, what, run in GUESSES:
        tally.check(f"{format_name} {what}", lambda: run(paths[format_name], expected))
    if with_r:
        tally.check("csv R's read.csv misses last bits", lambda: r_misses_last_bits(server, package, folder, expected))
        tally.check("csv R's read.csv cuts a table off", lambda: r_cuts(server, package, folder, expected))
        tally.check("csv R's read.csv guesses", lambda: r_guesses(server, package, folder, expected))
        tally.check("json jsonlite rounds integers", lambda: r_rounds_integers(server, package, folder, expected))


def lost(found, expected):
    """The texts that are not what they were."""
    return {was for was, now in zip(expected.column("text").to_pylist(), found, strict=True) if was != now}


@proof
def pandas_csv(path, expected):
    frame = pandas.read_csv(path)
    texts = [None if pandas.isna(one) else one for one in frame["text"]]
    compare.same("the lost texts", {"", "NA", "N/A", "NaN", "null", "NULL", "None", "#N/A"}, lost(texts, expected))
    compare.same("codes of digits", {7.0, 12.0, 0.0}, set(frame["digits"].dropna()))
    compare.same("the type of integers with nulls", "float64", str(frame["whole"].dtype))


def pandas_csv_engine(path, expected):
    frame = pandas.read_csv(path, engine="pyarrow", dtype_backend="pyarrow", keep_default_na=False, na_values=[""])
    compare.same("the lost texts", {""}, lost([None if pandas.isna(one) else one for one in frame["text"]], expected))
    compare.equal(expected.select(["odd", "number"]), text.frame(frame[["odd", "number"]]))


def pandas_json(path, expected):
    frame = pandas.read_json(path)
    compare.same("codes of digits", {7.0, 12.0, 0.0}, set(frame["digits"].dropna()))
    compare.same("the type of integers with nulls", "float64", str(frame["whole"].dtype))
    pairs = zip(expected.column("number").to_pylist(), frame["number"], strict=True)
    if not any(was is not None and was != now for was, now in pairs):
        raise compare.Difference("read_json got every float right")


def pandas_json_precise(path, _expected):
    refused(ValueError, "Range error", lambda: pandas.read_json(path, dtype=False, precise_float=True))


def pyarrow_json(path, _expected):
    refused(pa.ArrowInvalid, "from object to array", lambda: pyarrow.json.read_json(path))


def pyarrow_csv(path, expected):
    table = csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True))
    compare.same("the lost texts", {None}, lost(table.column("text").to_pylist(), expected))
    compare.same("the type of dates and of digits", ["date32[day]", "int64"], [str(table.schema.field(name).type) for name in ("day", "digits")])


def duckdb_csv(path, expected):
    table = duckdb.read_csv(str(path))
    compare.same("the lost texts", {""}, lost([one for (one,) in table.project("text").fetchall()], expected))
    kinds = dict(zip(table.columns, map(str, table.types)))
    compare.same("the type of dates and of digits", ("DATE", "VARCHAR"), (kinds["day"], kinds["digits"]))


def polars_csv(path, expected):
    frame = polars.read_csv(path)
    compare.same("the lost texts", set(), lost(frame["text"], expected))
    kinds = [polars.Int64, polars.String]
    compare.same("the type of digits and of numbers with INF", kinds, [frame[name].dtype for name in ("digits", "odd")])


def refused(kind, words, read):
    """Passes when the reader says that it cannot."""
    try:
        read()
    except kind as refusal:
        if words in str(refusal):
            return
        raise
    raise compare.Difference("it was read after all")


def in_r_only(server, package, folder, reader, fields):
    """The table as one of R's readers has it, with these types."""
    return in_r.table(folder / reader, fields, in_r.run(server, package, fields, folder, [reader]))


def r_misses_last_bits(server, package, folder, expected):
    """The check of `csv` allows for it; this one finds it."""
    found = in_r_only(server, package, folder, "csv", package.fields).column("number").to_pylist()
    off = {was for was, now in zip(expected.column("number").to_pylist(), found, strict=True) if was != now}
    # A long double of another size misses others, or none.
    if platform.machine() == "x86_64":
        compare.same("the numbers that read.csv misses", {difficult.MISSED_BY_R}, off)


def r_rounds_integers(server, package, folder, expected):
    """jsonlite without bigint_as_char makes floats of integers."""
    floats = {name: pa.float64() if kind == pa.int64() else kind for name, kind in package.fields.items()}
    found = in_r_only(server, package, folder, "json_rounded", floats).column("whole").to_pylist()
    compare.same("integers", [None if was is None else float(was) for was in expected.column("whole").to_pylist()], found)


def r_cuts(server, package, folder, expected):
    """fileEncoding in another locale than one of UTF-8."""
    rows = in_r_only(server, package, folder, "csv_cut", package.fields).num_rows
    if not 0 < rows < expected.num_rows:
        raise compare.Difference(f"{rows} rows were read")


def r_guesses(server, package, folder, expected):
    """read.csv without settings. Were a type another one, readback.R could not write it as this one."""
    found = {"digits": pa.int64(), "whole": pa.float64(), "flag": pa.string()}
    table = in_r_only(server, package, folder, "csv_guessed", package.fields | found)
    # Line ends are lost with every setting.
    texts = {"NA", None, "two\r\nlines", "return\ralone"}
    compare.same("the lost texts", texts, lost(table.column("text").to_pylist(), expected))
    compare.same("codes of digits", {7, 12, 0, None}, set(table.column("digits").to_pylist()))
    rounded = [None if was is None else float(was) for was in expected.column("whole").to_pylist()]
    compare.same("integers", rounded, table.column("whole").to_pylist())


GUESSES = [
    ("csv", "pandas takes texts for nulls and codes for numbers", pandas_csv),
    ("csv", "pandas with pyarrow's engine takes empty texts for nulls", pandas_csv_engine),
    ("csv", "pyarrow takes null texts for empty ones", pyarrow_csv),
    ("csv", "DuckDB takes empty texts for nulls and keeps leading zeros", duckdb_csv),
    ("csv", "polars takes codes for numbers and INF for a text", polars_csv),
    ("json", "pandas.read_json takes codes for numbers and rounds", pandas_json),
    ("json", "pandas.read_json with precise_float refuses small numbers", pandas_json_precise),
    ("json", "pyarrow reads no array", pyarrow_json),
]
