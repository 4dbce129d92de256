"""Rows of the demo's packages, read from their own files: what an answer of the service is held against without it.

Used by the checks of `ogc` beside this file.
"""

import csv
import functools
import gzip
import io
import json
import pathlib

import numpy as np
import shapely

DATASETS = pathlib.Path(__file__).parents[3] / "datasets"
GEOMETRY = "geometry_wkt"


class Package:
    """Rows as dictionaries of text, their ids in `ogc`, and their shapes."""

    def __init__(self, name):
        described = json.loads((DATASETS / name / "datapackage.json").read_text())
        (resource,) = described["resources"]
        self.name, self.key = name, resource["schema"]["primaryKey"]
        self.types = {field["name"]: field["type"] for field in resource["schema"]["fields"]}
        csv.field_size_limit(1 << 30)
        text = gzip.decompress((DATASETS / name / resource["path"]).read_bytes()).decode()
        self.rows = list(csv.DictReader(io.StringIO(text)))
        self.ids = [",".join(self.escaped(row[name]) for name in self.key) for row in self.rows]
        # None where there is no text. One by one: an array of texts, of which one is long, takes a hundred times as long.
        self.shapes = np.array([shapely.from_wkt(row[GEOMETRY] or None) for row in self.rows])

    def escaped(self, value):
        return value if len(self.key) == 1 else value.replace("~", "~~").replace(",", "~,")


@functools.cache
def package(name):
    return Package(name)
