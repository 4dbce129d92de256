"""Two tables, each in two versions, made of the values that readers and formats get wrong. What they hold is known from Python's own
values, so that no reader has a say in what is expected.

Run with a folder as its argument, it writes data packages into `1_first` and `2_second` below it.
"""

import json
import math
import pathlib
import sys

import pyarrow as pa

KEYED, KEYLESS = "difficult_values", "difficult_rows"

TEXTS = [
    "", " ", " spaces at both ends ", "\t", "a,b", "a;b|c", 'a "quoted" word', '"', '""', "'", "two\nlines", "two\r\nlines", "return\ralone",
    "\n", "back\\slash \\n", "NA", "N/A", "NaN", "null", "NULL", "None", "nil", "TRUE", "false", "-", "#N/A", "# no comment", "007", "1e5", "0x1F",
    "1,5", "12345678901234567890", "2020-01-01", "=1+1", "a\u00a0b", "line\u2028and\u2029paragraph", "\ufeffmark", "del \x7f", "unit \x1f",
    "Māori, Ōtautahi", "Ελλάδα", "Россия", "日本語", "한국어", "हिन्दी", "ไทย", "العربية", "עברית \u202bright to left\u202c", "e\u0301 is not \u00e9",
    "\u1112\u1161\u11ab", "👩‍👩‍👧‍👦🏳️‍🌈🇳🇿", "𝔘𐍈𠜎", "\U0010ffff", "\ufffd", "{[<&amp;>]}", "%s %00", "long " * 3000,
]
CODES = ["007", "00", "0", "-0", "+1", "1.0", "01e1", "0x10", "1_000", "٠٧", "NA", "9007199254740993"]
# Such a column looks like one of numbers.
DIGITS = ["007", "0012", "0"]
WHOLES = [
    0, 1, -1, 2**31 - 1, -(2**31), 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1, 10**18 + 1, 2**63 - 1, 2**63 - 2, -(2**63) + 1, -(2**63),
]
# R's own conversion of text gives a neighbour of it where a long double has 64 bits.
MISSED_BY_R = 29288.70965060044
NUMBERS = [
    0.0, -0.0, 1.0, -1.5, 0.1, 0.1 + 0.2, 1 / 3, 2 / 3, math.pi, 1e-5, 1e16, 1e22, 1e23, 123456789012345680.0, 9007199254740993.0, 0.30000000000000004,
    5e-324, 2.225073858507201e-308, 2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308, 1.0000000000000002,
    0.9999999999999999, MISSED_BY_R, 4.35, 2.675, 1.005, 9.5367431640625e-07, 8.41, 7.2057594037927933e16, 6.02214076e23, 1.8446744073709552e19,
]
NOT_NUMBERS = [math.nan, math.inf, -math.inf]
DAYS = ["0001-01-01", "0004-02-29", "0999-12-31", "1582-10-10", "1600-02-29", "1900-01-01", "1970-01-01", "2000-02-29", "2038-01-20", "9999-12-31"]

FIELDS = {
    "day": "date", "id": "integer", "text": "string", "code": "string", "digits": "string", "whole": "integer", "number": "number",
    "odd": "number", "flag": "boolean", "nothing": "string", "no_number": "number",
}
ARROW = {"string": pa.string(), "date": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}


def now():
    """Rows of the second version, one for each text and one with a null in its place."""

    def at(values, row):
        # A null after each turn, so that every column has some.
        turn = row % (len(values) + 1)
        return values[turn] if turn < len(values) else None

    return [
        {
            "day": DAYS[row % len(DAYS)], "id": row + 1, "text": text, "code": at(CODES, row), "digits": at(DIGITS, row),
            "whole": at(WHOLES, row), "number": at(NUMBERS, row), "odd": at([*NOT_NUMBERS, 0.5, -0.0], row), "flag": at([True, False], row),
            "nothing": None, "no_number": None,
        }
        for row, text in enumerate([*TEXTS, None])
    ]


def before():
    """Rows of the first version: every seventh is not there yet, some are to go, and each kind of revision that is easy to miss is to come."""
    rows = {row["id"]: row for row in now() if row["id"] % 7}
    for row in rows.values():
        if row["text"] == "":
            row["text"] = None
        elif row["text"] is None:
            row["text"] = ""
        elif row["text"] == "NA":
            row["text"] = "NA "
        if row["whole"] == 2**53:
            row["whole"] = 2**53 + 1
        if row["number"] == 0.1 + 0.2:
            row["number"] = 0.3
        elif row["number"] is not None and row["number"] == 0.0:
            row["number"] = -row["number"]
        if row["odd"] is not None and math.isnan(row["odd"]):
            row["odd"] = None
        if row["flag"] is None:
            row["flag"] = False
    for identity in (1001, 1002, -1):
        rows[identity] = dict.fromkeys(FIELDS) | {"day": "2020-02-29", "id": identity, "text": "to go", "nothing": "something"}
    return list(rows.values())


VERSIONS = {"1_before": before, "2_now": now}


def without_key(rows):
    """The same rows without what tells them apart, some of them twice."""
    kept = [{name: value for name, value in row.items() if name != "id"} for row in rows]
    return kept + kept[::3]


def fields_of(name, version):
    """The table without a key gains a column."""
    lacks = {"id"} | ({"code"} if version == "1_before" else set()) if name == KEYLESS else set()
    return {field: kind for field, kind in FIELDS.items() if field not in lacks}


def expected(name, version="2_now"):
    """Return the rows of a version, as an Arrow table in the order that the service promises: date, key, then the file's."""
    rows, fields = VERSIONS[version](), fields_of(name, version)
    if name == KEYLESS:
        rows = without_key(rows)
    rows = sorted(rows, key=lambda row: (row["day"], row.get("id", 0)))
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, ARROW[kind]) for name, kind in fields.items()]))


def _csv(rows, fields):
    """`""` is a text and nothing is null; written by no library, since few can tell them apart."""
    numbers = {"nan": "NaN", "inf": "INF", "-inf": "-INF"}

    def cell(value, kind):
        if value is None:
            return ""
        if kind in ("string", "date"):
            return '"' + value.replace('"', '""') + '"'
        if kind == "number":
            return numbers.get(repr(value), repr(value))
        return str(value).lower()

    lines = [",".join(fields)] + [",".join(cell(row[name], kind) for name, kind in fields.items()) for row in rows]
    return "\n".join(lines) + "\n"


def _package(folder, name, fields, rows):
    key = ["id"] if "id" in fields else []
    folder.mkdir(parents=True)
    (folder / "data.csv").write_bytes(_csv(rows, fields).encode())
    schema = {"fields": [{"name": field, "type": kind} for field, kind in fields.items()]}
    descriptor = {
        "name": name,
        "title": "Values that are hard to carry",
        "licenses": [{"name": "CC0-1.0"}],
        "sources": [{"title": "Nobody"}],
        "resources": [{"name": name, "path": "data.csv", "schema": schema | ({"primaryKey": key} if key else {})}],
        "yearbook": {
            "namespace": "tests", "source": "Nobody", "attribution_text": "Nobody, made up: Ōtautahi – 日本 “quoted”", "date_filter_column": "day",
            "dimensions": ["text"], "bulk_redistribution": True,
        },
    }
    path = folder / "datapackage.json"
    path.write_text(json.dumps(descriptor, ensure_ascii=False), encoding="utf-8")
    return path


def main(folder):
    for version, rows in VERSIONS.items():
        _package(folder / KEYED / version, KEYED, fields_of(KEYED, version), rows())
        _package(folder / KEYLESS / version, KEYLESS, fields_of(KEYLESS, version), without_key(rows()))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
