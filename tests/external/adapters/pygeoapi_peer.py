"""pygeoapi over the files of the demo's packages: boxes and dates select there what they select in the adapter `ogc`.

Called by `main.py`. Boxes are compared with its provider for GeoJSON, which decides exactly, by GEOS. It ignores `datetime`, so that
dates are compared with its provider for Parquet. Where it differs from the standard or from docs/spec/ogc.md, the difference is a check
of its own, which says what each answers; nothing is left out of a comparison.

- GeoJSON: a feature without geometry meets every box, as the standard says; in `ogc` it meets none.
- GeoJSON: west beyond east is the box between both, not the one across 180°.
- Parquet: a box has what lies wholly inside, without its edges, where the standard has what intersects it. Points at random have one
  answer to both.
"""

import contextlib
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

import geopandas
import pandas
import patient
import shapely
from packaged import package
from tally import proof

MOUNT = "/api/ogc"
SEED = 20261127
# Questions of both; half of them to each provider.
QUESTIONS = 500
# Features of an answer at most: more than any package has.
MOST = 10_000
AREAS = ["world_countries_indicators", "states_of_large_countries", "us_states_boundaries", "world_coastlines", "nz_regions_indicators"]
POINTS = ["usgs_earthquakes_2018_02", "un_urban_agglomerations"]
# One of its counties has no geometry.
SOME_WITHOUT = "us_counties_unemployment"
# Questions that select neither nothing nor everything, of each provider: others could not tell a wrong answer.
TELLING = 100


class Peer:
    """A running pygeoapi over packages that were written for it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"

    def written(self, name):
        """Its configuration of a package, for which it writes the file."""
        about = package(name)
        if name in POINTS:
            path = self.folder / f"{name}.parquet"
            days = pandas.to_datetime([row["date"] for row in about.rows])
            x, y = shapely.get_coordinates(about.shapes).T
            columns = {"id": about.ids, "date": days, "x": x, "y": y}
            frame = geopandas.GeoDataFrame(columns, geometry=about.shapes, crs="OGC:CRS84")
            frame.to_parquet(path)
            return {
                "name": "Parquet", "data": {"source": str(path)}, "id_field": "id", "time_field": "date", "x_field": "x", "y_field": "y",
            }
        path = self.folder / f"{name}.geojson"
        features = [
            {"type": "Feature", "id": id, "properties": {"at": at}, "geometry": shape and json.loads(shapely.to_geojson(shape))}
            for at, (id, shape) in enumerate(zip(about.ids, about.shapes, strict=True))
        ]
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
        return {"name": "GeoJSON", "data": str(path), "id_field": "id"}

    def configured(self):
        resources = {
            name: {
                "type": "collection", "title": name, "description": name, "keywords": ["demo"], "links": [],
                "extents": {
                    "spatial": {"bbox": [-180, -90, 180, 90], "crs": "http://www.opengis.net/def/crs/OGC/1.3/CRS84"},
                    # Without it an end that is empty is an error.
                    "temporal": {"begin": None, "end": None},
                },
                "providers": [{"type": "feature", **self.written(name)}],
            }
            for name in [*AREAS, *POINTS, SOME_WITHOUT]
        }
        url = {"url": self.base}
        return {
            "server": {
                "bind": {"host": "127.0.0.1", "port": self.port}, **url, "mimetype": "application/json", "encoding": "utf-8",
                "language": "en", "limits": {"max_items": MOST, "default_items": 10, "on_exceed": "throttle"},
                "map": {"url": "", "attribution": ""},
            },
            "logging": {"level": "ERROR"},
            "metadata": {
                "identification": {"title": "peer", "description": "peer", "keywords": ["demo"], "terms_of_service": "", **url},
                "license": {"name": "none", **url}, "provider": {"name": "peer", **url}, "contact": {"name": "peer"},
            },
            "resources": resources,
        }

    @contextlib.contextmanager
    def serving(self):
        # JSON is YAML.
        config, described = self.folder / "config.yml", self.folder / "openapi.json"
        config.write_text(json.dumps(self.configured()))
        environment = {**os.environ, "PYGEOAPI_CONFIG": str(config), "PYGEOAPI_OPENAPI": str(described)}
        command = [pathlib.Path(sys.executable).with_name("pygeoapi")]
        generate = [*command, "openapi", "generate", config, "--format", "json", "--output-file", described]
        log = self.folder / "log"
        with log.open("wb") as out:
            written = subprocess.run(generate, env=environment, stdout=out, stderr=out)
            assert written.returncode == 0, log.read_text()[-2000:]
            process = subprocess.Popen([*command, "serve"], env=environment, stdout=out, stderr=out)
        with process:
            try:
                for _ in range(240):
                    assert process.poll() is None, log.read_text()[-2000:]
                    with contextlib.suppress(OSError):
                        patient.fetch(f"{self.base}/conformance?f=json")
                        break
                    time.sleep(0.25)
                yield
            finally:
                process.terminate()

    def selected(self, name, question):
        """Ids, and the number of features that it says match."""
        asked = urllib.parse.urlencode({"f": "json", "limit": MOST, **question})
        address = f"{self.base}/collections/{name}/items?{asked}"
        status, _, body = patient.fetch(address)
        assert status == 200, f"{address}: {status} {body[:300]}"
        page = json.loads(body)
        # Of Parquet it sends the number in the answer as `id`, and ours as a property.
        ids = (feature["properties"]["id"] if name in POINTS else feature["id"] for feature in page["features"])
        return sorted(map(str, ids)), page["numberMatched"]


def of_service(service, name, question):
    """The same of `ogc`, which says how many match where all of them are on the page."""
    address = f"{service.base}{MOUNT}/collections/{name}/items?{urllib.parse.urlencode({'limit': MOST, **question})}"
    status, _, body = patient.fetch(address, service.key)
    assert status == 200, f"{address}: {status} {body[:300]}"
    page = json.loads(body)
    assert page["numberReturned"] == len(page["features"]), address
    assert not any(link["rel"] == "next" for link in page["links"]), address
    return sorted(str(feature["id"]) for feature in page["features"]), page["numberMatched"]


def box(west, south, east, north):
    return ",".join(map(repr, (west, south, east, north)))


def some_box(chance, about):
    """A box at random, two in three near a shape."""
    if chance.random() < 1 / 3:
        (west, east), (south, north) = (sorted(chance.uniform(-most, most) for _ in range(2)) for most in (180, 90))
        return west, south, east, north
    x, y = chance.choice(shapely.get_coordinates(chance.choice(about.shapes)).tolist())
    wide, high = (10 ** chance.uniform(-2, 1.3) for _ in range(2))
    west, south = x - wide * chance.random(), y - high * chance.random()
    return max(west, -180.0), max(south, -90.0), min(west + wide, 180.0), min(south + high, 90.0)


def some_days(chance, about):
    """A day, or an interval with or without ends."""
    first, last = sorted(chance.choice(about.rows)["date"] for _ in range(2))
    return chance.choice([first, f"{first}/{last}", f"{first}/{last}", f"{first}/..", f"../{last}", f"{first}/", f"/{last}"])


def questions(names, with_dates):
    """A half of the questions, which turn over the packages called `names`."""
    chance = random.Random(f"{SEED} {names}")
    for at in range(QUESTIONS // 2):
        about = package(names[at % len(names)])
        question = {"bbox": box(*some_box(chance, about))}
        if with_dates and chance.random() < 0.8:
            question["datetime"] = some_days(chance, about)
            if chance.random() < 0.2:
                del question["bbox"]
        yield about, question


def same(tally, service, peer, what, names, with_dates):
    def check():
        differ, telling = [], 0
        for about, question in questions(names, with_dates):
            wanted, matched = peer.selected(about.name, question)
            found, number = of_service(service, about.name, question)
            assert matched == len(wanted), f"pygeoapi: {matched} match, {len(wanted)} come"
            if (found, number) != (wanted, matched):
                only = sorted(set(found) ^ set(wanted))
                differ.append(f"{about.name} {question}: {len(found)} and {len(wanted)}, {only[:5]}")
            telling += 0 < len(wanted) < len(about.rows)
        assert not differ, f"{len(differ)} differ: {differ[:5]}"
        assert telling >= TELLING, f"{telling} questions select some but not all"
        return True

    tally.check(what, check)


def known_differences(tally, service, peer):
    world = package("world_countries_indicators")

    def without_geometry():
        about = package(SOME_WITHOUT)
        none = sorted(id for id, shape in zip(about.ids, about.shapes, strict=True) if shape is None)
        assert none, "each has geometry"
        for question in ({"bbox": "-90,30,-80,40"}, {"bbox": "10,10,20,20"}):
            found, _ = of_service(service, about.name, question)
            wanted, _ = peer.selected(about.name, question)
            assert not set(found) & set(none) and sorted([*found, *none]) == wanted, f"{question}: {found}"
        return True

    def across():
        for west, south, east, north in [(170, -90, -170, 90), (177, 65, -177, 70), (100, -50, -100, 50), (179.5, -20, -179.9, -16)]:
            found, _ = of_service(service, world.name, {"bbox": box(west, south, east, north)})
            parts = [(west, south, 180, north), (-180, south, east, north)]
            wanted = {id for part in parts for id in peer.selected(world.name, {"bbox": box(*part)})[0]}
            assert found == sorted(wanted), f"{west} to {east}: {found}"
            between, _ = of_service(service, world.name, {"bbox": box(east, south, west, north)})
            assert peer.selected(world.name, {"bbox": box(west, south, east, north)})[0] == between
        return True

    def edges():
        about = package(POINTS[0])
        (x, y), = shapely.get_coordinates(about.shapes[0]).tolist()
        question = {"bbox": box(x, y, x + 0.5, y + 0.5)}
        found, wanted = of_service(service, about.name, question)[0], peer.selected(about.name, question)[0]
        assert about.ids[0] in found and about.ids[0] not in wanted, question
        return True

    def counts():
        number = of_service(service, world.name, {})[1]
        assert number == peer.selected(world.name, {})[1] == len(world.rows)
        return True

    tally.check("pygeoapi, and features without geometry", without_geometry)
    tally.check("pygeoapi, and boxes across 180°", across)
    tally.check("pygeoapi for Parquet, and points on an edge", edges)
    tally.check("pygeoapi, and how many match without a condition", counts)


@proof
def boxes_and_dates_are_those_of_pygeoapi_contract_18(tally, service):
    with tempfile.TemporaryDirectory() as folder:
        peer = Peer(folder)
        with peer.serving():
            same(tally, service, peer, "boxes of areas and lines are those of pygeoapi", AREAS, with_dates=False)
            same(tally, service, peer, "boxes and dates of points are those of pygeoapi", POINTS, with_dates=True)
            known_differences(tally, service, peer)
