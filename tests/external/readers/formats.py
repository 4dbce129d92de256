"""Formats that come as plugins to install, each read by libraries that are not ours. Geometry is compared as geometry, since a format may
turn rings or write it in binary."""

import datetime
import json
import math
import re
import urllib.error

import duckdb
import geopandas
import numpy as np
import openpyxl
import polars
import pyarrow as pa
import sdmx
import shapely
from pyarrow import parquet
from pyjstat import pyjstat
from sdmx.model import v30

import compare
import losses
import source
import text

GEOMETRY = "geometry_wkt"
# Python objects for millions of cells take long and show nothing new.
ROWS = 20_000
# Cells of a cube that pyjstat is given: it makes room for all.
CELLS = 200_000
NO_CUBE = rb"no column of values|too many for a dimension|cells, more than"


def ndjson_polars(path, package):
    return polars.read_ndjson(path, schema=text.types(package, text.POLARS_TYPES)).to_arrow()


def ndjson_duckdb(path, package):
    kinds = text.types(package, text.SQL_TYPES)
    return text.relation(duckdb.read_json(str(path), columns=kinds, format="newline_delimited", maximum_object_size=64 * 1024 * 1024))


def ndjson_python(path, package):
    # Only a line feed ends a line: texts may hold other separators.
    rows = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    return pa.Table.from_pylist(rows, schema=pa.schema(list(package.fields.items())))


def check_ndjson(path, package, expected):
    for read in (ndjson_polars, ndjson_duckdb, ndjson_python):
        compare.equal(losses.left_of(expected, (losses.only_finite,)), read(path, package))


def same_geometries(expected, found, turned):
    """The geometries of a table; rings may be `turned`."""
    expected = shapely.from_wkt(expected.column(GEOMETRY).to_pylist())
    compare.same("which geometries are null", [shape is None for shape in expected], [shape is None for shape in found])
    same = rings_turned if turned else shapely.equals_exact
    # All at once, as most are, and one by one what is left.
    alike = shapely.equals_exact(shapely.orient_polygons(expected) if turned else expected, found)
    for row in np.flatnonzero(~alike):
        if expected[row] is not None and not same(expected[row], found[row]):
            raise compare.Difference(f"geometry of row {row + 1} is another one")


def rings_turned(before, after):
    """Equal, but for rings that run the other way from the same point. (`normalize` cannot tell: where a ring meets its least point
    twice, it begins at either.)"""
    if shapely.get_dimensions(before) != 2:
        return shapely.equals_exact(before, after)
    parts = [shapely.get_parts(shape) for shape in (before, after)]
    if before.geom_type != after.geom_type or [len(part.interiors) for part in parts[0]] != [len(part.interiors) for part in parts[1]]:
        return False
    rings = zip(*(shapely.get_rings(part) for part in parts), strict=True)
    return all(shapely.equals_exact(ring, turned) or shapely.equals_exact(ring.reverse(), turned) for ring, turned in rings)


def check_geojson(path, package, expected):
    whole = json.loads(path.read_bytes())
    compare.same("attribution", package.attribution, whole["attribution"])
    shapes = shapely.from_geojson([feature["geometry"] and json.dumps(feature["geometry"]) for feature in whole["features"]])
    same_geometries(expected, shapes, turned=True)
    for shape in filter(None, shapes):
        for part in getattr(shape, "geoms", [shape]):
            if isinstance(part, shapely.Polygon) and part.area > 0 and not anticlockwise(part.exterior):
                raise compare.Difference("an outer ring runs clockwise")
    others = expected.drop_columns([GEOMETRY])
    rows = pa.Table.from_pylist([feature["properties"] for feature in whole["features"]], schema=others.schema)
    compare.equal(losses.left_of(others, (losses.only_finite,)), rows)
    compare.same("rows that GDAL reads", expected.num_rows, len(geopandas.read_file(path)))


def anticlockwise(ring):
    """By its area. (`is_ccw` looks at the topmost point, which a ring with a spike may meet twice.)"""
    x, y = (shapely.get_coordinates(ring) - ring.coords[0]).T
    return (x[:-1] * y[1:] - x[1:] * y[:-1]).sum() > 0


def check_geoparquet(path, package, expected):
    rows = parquet.read_table(path)
    compare.same("yearbook.licence", package.licence.encode(), rows.schema.metadata[b"yearbook.licence"])
    compare.equal(expected.drop_columns([GEOMETRY]), rows.drop_columns(["geometry"]))
    same_geometries(expected, shapely.from_wkb(rows.column("geometry").to_pylist()), turned=False)
    frame = geopandas.read_parquet(path)
    compare.same("the reference system", "OGC:CRS84", frame.crs.to_string())
    about = json.loads(parquet.read_metadata(path).metadata[b"geo"])["columns"]["geometry"]
    compare.same("the bounding box", list(frame.total_bounds), about["bbox"])
    compare.same("the kinds of geometry", sorted({shape.geom_type for shape in frame.geometry if shape}), sorted(about["geometry_types"]))


def check_xlsx(path, package, expected):
    book = openpyxl.load_workbook(path, read_only=True)
    compare.same("the sheets", ["data", "about"], book.sheetnames)
    compare.same("attribution", package.attribution, dict(book["about"].iter_rows(values_only=True))["attribution"])
    names, *rows = book["data"].iter_rows(values_only=True)
    compare.same("the header", expected.column_names, list(names))
    kinds = expected.schema.types
    # A row ends with its last value.
    rows = [row + (None,) * (len(kinds) - len(row)) for row in rows]
    columns = [[cell_value(row[at], kind) for row in rows] for at, kind in enumerate(kinds)]
    found = pa.table([pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)], names=list(names))
    compare.equal(expected, found)


def cell_value(value, kind):
    """A cell as a value of the column; what a spreadsheet cannot hold came as text."""
    if value is None:
        return None
    if isinstance(value, datetime.datetime):
        return value.date().isoformat()
    if kind == pa.string():
        # openpyxl leaves such characters as they stand in the file.
        return re.sub(r"_x([0-9A-Fa-f]{4})_", lambda found: chr(int(found[1], 16)), value)
    return {pa.int64(): int, pa.float64(): float, pa.bool_(): bool}[kind](value)


def check_sdmx(path, package, expected):
    with open(path, encoding="utf-8", newline="") as file:
        header = file.readline().rstrip("\n").split(",")
    compare.same("the first columns", ["STRUCTURE", "STRUCTURE_ID", "ACTION"], header[:3])
    names = dict(zip(header[3:], expected.column_names, strict=True))
    first = dict.fromkeys(header[:3], pa.string())
    rows = source.read_csv(path, first | {name: package.fields[names[name]] for name in names})
    compare.same("STRUCTURE_ID", {f"{package.namespace}:{package.name}(1.0)"}, set(rows.column("STRUCTURE_ID").to_pylist()))
    compare.equal(expected, rows.drop_columns(header[:3]).rename_columns(expected.column_names))
    # sdmx1 takes the file apart at everything that Unicode calls a line's end, before it looks for quotes.
    if not any(len(cell.splitlines()) > 1 for column in texts(expected) for cell in column if cell):
        check_observations(path, header[3:], expected)


def texts(table):
    return [table.column(at).to_pylist() for at, kind in enumerate(table.schema.types) if kind == pa.string()]


def check_observations(path, header, expected):
    """The rows as observations of sdmx1, which is told the structure: dimensions, perhaps one measure, attributes."""
    measure = header.index("OBS_VALUE") if "OBS_VALUE" in header else len(header)
    structure = v30.DataStructureDefinition(id="TABLE")
    structure.dimensions.extend(v30.Dimension(id=name) for name in header[:measure])
    structure.measures.extend(v30.Measure(id=name) for name in header[measure : measure + 1])
    structure.attributes.extend(v30.DataAttribute(id=name) for name in header[measure + 1 :])
    (found,) = sdmx.read_sdmx(path, format="csv", structure=structure).data
    compare.same("the number of observations", expected.num_rows, len(found.obs))
    for at, (name, kind) in enumerate(zip(header, expected.schema.types, strict=True)):
        parse = {pa.int64(): int, pa.float64(): float, pa.bool_(): {"true": True, "false": False}.get}.get(kind)
        for row, (cell, observation) in enumerate(zip(expected.column(at).to_pylist(), found.obs, strict=True)):
            value = observation_value(observation, name, at - measure)
            # An empty text and null are one to sdmx1.
            value = value if parse is None else parse(value) if value else None
            # As it is written, so that NaN is itself and a zero keeps its sign.
            if repr(value) != repr("" if cell is None and parse is None else cell):
                raise compare.Difference(f"sdmx1: {name} of row {row + 1} is {value!r}, not {cell!r}")


def observation_value(observation, name, side):
    """Return the values of a column that stands before, at or after the measure."""
    if side == 0:
        return observation.value
    return observation.dimension.values[name].value if side < 0 else observation.attached_attribute[name].value


def cell(value):
    """A value of a cube; numbers that are not finite are null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def check_cube(path, package, expected):
    """A cube: each cell by its number, and all of it by pyjstat where that may make room for every cell."""
    cube = json.loads(path.read_text(encoding="utf-8"))
    *key, metric = cube["id"]
    compare.same("the dimensions", sorted(package.key), sorted(key))
    codes = [cube["dimension"][name]["category"]["index"] for name in cube["id"]]
    compare.same("the sizes", [len(own) for own in codes], cube["size"])
    metrics = codes[-1]
    places = [{code: place for place, code in enumerate(own)} for own in codes[:-1]]
    wanted = {}
    for row in expected.to_pylist():
        first = 0
        for name, own in zip(key, places, strict=True):
            first = first * len(own) + own[str(row[name]).lower() if isinstance(row[name], bool) else str(row[name])]
        wanted |= {str(first * len(metrics) + at): cell(row[name]) for at, name in enumerate(metrics)}
    compare.same("the values", wanted, cube["value"])
    if math.prod(cube["size"]) <= CELLS:
        frame = pyjstat.Dataset.read(path.read_text(encoding="utf-8")).write("dataframe")
        compare.same("pyjstat: cells", math.prod(cube["size"]), len(frame))
        compare.same("pyjstat: columns", [*cube["id"], "value"], list(frame.columns))
        for number, value in wanted.items():
            if value is not None:
                compare.same(f"pyjstat: cell {number}", value, frame["value"].iloc[int(number)])


CHECKS = {"json-stat": check_cube, "ndjson": check_ndjson, "geojson": check_geojson, "geoparquet": check_geoparquet, "xlsx": check_xlsx, "sdmx-csv": check_sdmx}


def check(tally, server, package, expected, downloads):
    """Every such format of one dataset, of its first rows."""
    spatial = GEOMETRY in package.fields
    expected = expected.slice(0, ROWS)
    for format_name, compare_file in CHECKS.items():
        if format_name in ("geojson", "geoparquet") and not spatial:
            continue
        if format_name == "json-stat" and not package.key:
            continue
        # A cell is too small for a boundary.
        without = format_name == "xlsx" and spatial
        wanted = expected.drop_columns([GEOMETRY]) if without else expected
        path = downloads / f"{package.name}.{format_name}"

        def read():
            try:
                server.download(package, format_name, path, limit=ROWS, **({"geometry": "false"} if without else {}))
            except urllib.error.HTTPError as refused:
                # Not every table is a cube, and the refusal says why.
                if format_name == "json-stat" and refused.code == 422 and re.search(NO_CUBE, refused.read()):
                    return
                # Not every table has a time and a value; which parameter names them, the refusal says.
                if format_name == "sdmx-csv" and refused.code == 422 and b"`sdmx-csv." in refused.read():
                    return
                raise
            compare_file(path, package, wanted)

        tally.check(f"{package.name} {format_name}", read)
        path.unlink(missing_ok=True)
