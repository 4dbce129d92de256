"""Random boxes over coastlines, islands across 180°, points and poles: `ogc` selects what shapely finds in the files of the packages.

Called by `main.py` with a part of the boxes; alone, with YEARBOOK_KEY, with as many as are wanted:

    python boxes.py --base http://127.0.0.1:8000 --boxes 10000
"""

import argparse
import collections
import http.client
import json
import os
import random
import sys
import urllib.parse

import numpy as np
import shapely
from packaged import package
from tally import Tally, proof

SEED = 20261127
# Boxes in a run of `main.py`; the others are of the same sequence.
BOXES = 3_000
# Corners of an answer of `ogc` at most: where shapely finds more, `/v1`, which decides by the same box, is asked for rows without
# their geometry instead, so that a check takes seconds.
CORNERS = 2_000
# Packages, and what in them every second box is near: by a column, its values; nothing is everything.
PLACES = [
    ("world_countries_indicators", "name", ["Fiji", "Russia", "Antarctica", "Greenland"]),
    ("world_coastlines", None, None),
    ("nz_named_islands", "island_group", ["Chatham Islands"]),
    ("nz_regional_councils_2018", None, None),
    ("states_of_large_countries", "name", ["Alaska"]),
    ("us_counties_unemployment", "name", ["Aleutians West"]),
    ("us_airports", None, None),
    ("usgs_earthquakes_2018_02", None, None),
]
KINDS = ["anywhere", "near", "from a corner", "a line", "a point", "across 180°", "at a pole"]


class Place:
    """A package, and a tree of its shapes."""

    def __init__(self, name, column, values):
        self.about = package(name)
        shapes = self.about.shapes
        chosen = [at for at, row in enumerate(self.about.rows) if column is None or row[column] in values]
        assert chosen, f"{name}: nothing is {values}"
        self.near = shapely.get_coordinates(shapes[chosen])
        self.all = shapely.get_coordinates(shapes)
        far = self.all[np.abs(self.all[:, 0]) > 170]
        self.far = far if len(far) else self.all
        self.corners = dict(zip(self.about.ids, shapely.get_num_coordinates(shapes).tolist(), strict=True))
        self.tree = shapely.STRtree(shapes)

    def wanted(self, west, south, east, north):
        """Ids of the shapes that have a point in the closed box."""
        parts = [(west, east)] if west <= east else [(west, 180.0), (-180.0, east)]
        found = [self.tree.query(area(left, south, right, north), predicate="intersects") for left, right in parts]
        return [self.about.ids[at] for at in np.unique(np.concatenate(found))]

    def box(self, chance, kind):
        near = self.near if chance.random() < 0.5 else self.all
        x, y = near[chance.randrange(len(near))].tolist()
        wide, high = (10 ** chance.uniform(-3, 1.5) for _ in range(2))
        if kind == "anywhere":
            (west, east), (south, north) = (sorted(chance.uniform(-most, most) for _ in range(2)) for most in (180, 90))
        elif kind == "near":
            west, south = x - wide * chance.random(), y - high * chance.random()
            east, north = west + wide, south + high
        elif kind == "from a corner":
            # Each of its corners or edges has a point of a shape.
            other, far = near[chance.randrange(len(near))].tolist() if chance.random() < 0.5 else (x + wide, y - high)
            (west, east), (south, north) = sorted([x, other]), sorted([y, far])
        elif kind == "a line":
            west, south, east, north = chance.choice([(x, y - high, x, y + high), (x - wide, y, x + wide, y), (x, y, x + wide, y)])
        elif kind == "a point":
            west, south, east, north = x, y, x, y
        elif kind == "across 180°":
            x, y = self.far[chance.randrange(len(self.far))].tolist()
            west, east = chance.choice([(180 - wide, wide - 180), (180, -180), (179 + chance.random(), -180), (x, x - wide)])
            south, north = y - high, chance.choice([y, y + high])
        else:
            south, north = chance.choice([(-90, y), (y, 90), (-90, -90), (90, 90), (-90, -89.9), (90 - high, 90)])
            west, east = chance.choice([(-180, 180), (x, 180), (-180, x), (x, x), (x, x - wide)])
        return max(-180, min(180, west)), max(-90, min(90, south)), max(-180, min(180, east)), max(-90, min(90, north))


def area(west, south, east, north):
    """A closed box, which may be a line or a point."""
    if west == east or south == north:
        ends = [(west, south), (east, north)]
        return shapely.Point(ends[0]) if ends[0] == ends[1] else shapely.LineString(ends)
    return shapely.box(west, south, east, north)


class Client:
    """One connection, which answers keep open."""

    def __init__(self, base, key):
        self.key = key
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(base).netloc, timeout=60)

    def get(self, path, box, **query):
        path = f"{path}?{urllib.parse.urlencode({'limit': 10_000, 'bbox': ','.join(map(repr, map(float, box))), **query})}"
        self.connection.request("GET", path, headers={"X-API-Key": self.key})
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200, f"{path}: {answer.status} {body[:300]}"
        return path, json.loads(body)

    def rows(self, about, box):
        """Ids of rows of `/v1`, which sends them without their geometry."""
        _, rows = self.get(f"/v1/datasets/{about.name}/data", box, geometry="false", columns=",".join(about.key))
        return [",".join(about.escaped(str(row[name])) for name in about.key) for row in rows]

    def features(self, about, box):
        """Ids of features of `ogc`."""
        path, page = self.get(f"/api/ogc/collections/{about.name}/items", box)
        assert page["numberReturned"] == len(page["features"]) and not any(link["rel"] == "next" for link in page["links"]), path
        return [str(feature["id"]) for feature in page["features"]]


def compared(client, boxes):
    """Differences, and how many boxes of each kind selected something."""
    chance, places = random.Random(SEED), [Place(*place) for place in PLACES]
    differ, telling, asked = [], collections.Counter(), collections.Counter()
    for at in range(boxes):
        place, kind = places[at % len(places)], KINDS[at // len(places) % len(KINDS)]
        box = place.box(chance, kind)
        wanted = place.wanted(*box)
        ask = client.features if sum(map(place.corners.get, wanted)) <= CORNERS else client.rows
        found = ask(place.about, box)
        asked[ask] += 1
        if sorted(found) != sorted(wanted):
            only = sorted(set(found) ^ set(wanted))
            differ.append(f"{kind}, {place.about.name} {box}: {len(found)} of {len(wanted)}, {only[:5]}")
        telling[kind] += 0 < len(wanted) < len(place.about.rows)
    assert min(asked[client.features], asked[client.rows]) > boxes // 20, asked
    return differ, telling


@proof
def boxes_over_coasts_and_poles_are_those_of_shapely_contract_18(tally, base, key, boxes=BOXES):
    def check():
        differ, telling = compared(Client(base, key), boxes)
        assert not differ, f"{len(differ)} of {boxes} differ: {differ[:5]}"
        few = {kind: telling[kind] for kind in KINDS if telling[kind] < boxes / len(KINDS) / 4}
        assert not few, f"boxes that select some but not all: {few}"
        return True

    tally.check(f"{boxes} boxes by shapely", check)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--base", required=True, help="address of the server")
    arguments.add_argument("--boxes", type=int, default=10_000)
    given = arguments.parse_args()
    tally = Tally("boxes")
    boxes_over_coasts_and_poles_are_those_of_shapely_contract_18(tally, given.base, os.environ["YEARBOOK_KEY"], given.boxes)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
