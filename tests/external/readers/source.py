"""Data packages and the tables in them, read by pyarrow: what a server must give back."""

import json

import pyarrow as pa
from pyarrow import csv

TYPES = {"string": pa.string(), "date": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}


class Package:
    """A descriptor, as far as the checks need it."""

    def __init__(self, path):
        descriptor = json.loads(path.read_text(encoding="utf-8"))
        (resource,) = descriptor["resources"]
        self.name = descriptor["name"]
        # Versions of a dataset stand side by side, in folders numbered from 1.
        self.versions = len(list(path.parent.parent.glob("[0-9]*_*/datapackage.json"))) if path.parent.name[0].isdigit() else 1
        self.table = path.parent / resource["path"]
        self.fields = {field["name"]: TYPES[field["type"]] for field in resource["schema"]["fields"]}
        self.key = resource["schema"].get("primaryKey", [])
        self.date = descriptor["yearbook"].get("date_filter_column")
        self.namespace = descriptor["yearbook"]["namespace"]
        self.bulk = descriptor["yearbook"].get("bulk_redistribution", True)
        self.attribution = descriptor["yearbook"]["attribution_text"]
        self.licence = descriptor["licenses"][0]["name"]


def read_csv(path, fields):
    """A CSV table in which `""` is an empty text and nothing between two commas is null."""
    return csv.read_csv(
        path,
        # A block must hold the longest row, and one boundary alone is half a megabyte.
        read_options=csv.ReadOptions(block_size=16 * 1024 * 1024),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=fields,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["true"],
            false_values=["false"],
        ),
    )


def table(package):
    """The source table in the order that the service promises: date, primary key, file order."""
    rows = read_csv(package.table, package.fields)
    keys = ([package.date] if package.date else []) + [name for name in package.key if name != package.date]
    rows = rows.append_column("file_order", pa.array(range(rows.num_rows), pa.int64()))
    rows = rows.sort_by([(name, "ascending") for name in [*keys, "file_order"]])
    return rows.drop_columns(["file_order"])
