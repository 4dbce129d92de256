"""Checks that every contestant of the benchmark answers a request with the same rows: those that polars finds for it in
the tables that were published. A number about different rows would mean nothing, so a difference ends the benchmark.

Run by `cargo xtask bench`: reads a list of questions from a file, prints one JSON object a question.
"""

import io
import json
import pathlib
import sys
import urllib.request

import polars as pl
import shapely
from tables import DIMENSIONS, KEYS


class Difference(Exception):
    """Somebody returned other rows."""


def matching(tables, asked):
    """Every row that a question is about, before its limit."""
    name = asked["table"]
    rows = pl.read_parquet(tables / f"{name}.parquet")
    if asked.get("start"):
        rows = rows.filter(pl.col("date").is_between(pl.lit(asked["start"]), pl.lit(asked["end"])))
    if needle := asked.get("dimensions"):
        cells = [pl.col(column).str.to_lowercase().str.contains(needle.lower(), literal=True) for column in DIMENSIONS[name]]
        rows = rows.filter(pl.any_horizontal(cells))
    if series := asked.get("series"):
        rows = rows.filter(pl.col("series_code") == series)
    if asked.get("last"):
        # Ascending by date, as the tables are.
        rows = rows.group_by("series_code", maintain_order=True).last().sort("date", "series_code").select(rows.columns)
    if asked.get("newest"):
        # Any of them are the first.
        rows = rows.filter(pl.col("date") == pl.col("date").max())
    if bbox := asked.get("bbox"):
        geometry = shapely.from_wkt(rows["geometry_wkt"].to_list())
        rows = rows.filter(pl.Series(shapely.intersects(geometry, shapely.box(*map(float, bbox.split(","))))))
    return rows if asked.get("geometry", True) else rows.drop("geometry_wkt")


def answer(question):
    """The body of one answer."""
    body = question["body"].encode() if question.get("body") else None
    request = urllib.request.Request(question["url"], data=body, headers=question["headers"])
    with urllib.request.urlopen(request) as response:
        return io.BytesIO(response.read())


def compare_values(question, rows):
    """Compares the distinct values of a column."""
    column = question["asked"]["values"]
    found = json.load(answer(question))
    if "columns" in found:
        found = [{name: value[name] for name in ("value", "rows", "first", "last")} for value in found["columns"][0]["values"]]
    counted = rows.group_by(pl.col(column).alias("value")).agg(
        rows=pl.len().cast(pl.Int64), first=pl.col("date").min().cast(pl.String), last=pl.col("date").max().cast(pl.String)
    )
    if sorted(found, key=lambda value: value["value"]) != counted.sort("value").to_dicts():
        raise Difference("other values")
    return "the same values"


def received(question, schema):
    """The rows of one answer, with the columns and types that they should have."""
    content = answer(question)
    # SQLite has no booleans.
    types = {name: pl.Int64 if kind == pl.Boolean and question["integers_for_booleans"] else kind for name, kind in schema.items()}
    match question["format"]:
        case "json":
            rows = pl.read_json(content, schema=types)
        case "csv":
            rows = pl.read_csv(content, schema=types)
        case "arrow":
            rows = pl.read_ipc_stream(content)
        case _:
            rows = pl.read_parquet(content)
    if rows.columns != list(schema):
        raise Difference(f"columns {rows.columns} instead of {list(schema)}")
    return rows.cast(schema)


def compare(question, tables):
    """Return what an answer has in common with the right one; an exception where that is too little."""
    asked = question["asked"]
    right = matching(tables, asked)
    if asked.get("values"):
        return compare_values(question, right)
    rows = received(question, right.schema)
    if question["format"] == "csv":
        # Not everybody's CSV can tell a null text from an empty one.
        texts = [pl.col(name).fill_null("") for name, kind in right.schema.items() if kind == pl.String]
        right, rows = right.with_columns(texts), rows.with_columns(texts)
    limit = asked.get("limit") or asked.get("newest") or right.height
    expected = right.head(limit)
    if rows.height != expected.height or rows.height == 0:
        raise Difference(f"{rows.height} rows instead of {expected.height}")
    if rows.equals(expected):
        return "the same rows in the same order"
    if not question["any_order"] and not asked.get("last") and not asked.get("newest"):
        raise Difference("other rows, or another order")
    key = KEYS[asked["table"]]
    if rows.sort(key).equals(expected.sort(key)):
        return "the same rows in another order"
    # Without an order a limit may stop at any of the matching rows; each must be one of them.
    among = right.join(rows.select(key), on=key, how="semi").sort(key)
    if among.height == expected.height and rows.sort(key).equals(among):
        return "as many of the matching rows, but not the first of them"
    raise Difference("rows that do not match, or with other values")


def main():
    """Asks every question of the file."""
    tables, questions = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
    for question in questions:
        try:
            found = compare(question, tables)
        except Exception as error:
            sys.exit(f"{question['who']}, {question['case']}: {error!r}\n{question['url']} {question.get('body') or ''}")
        print(json.dumps({"case": question["case"], "who": question["who"], "found": found}), flush=True)


if __name__ == "__main__":
    main()
