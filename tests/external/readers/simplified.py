"""The transform `simplify` over the geometry of every dataset, judged with shapely: what stays is of the original, lies within the
tolerance, is what GEOS leaves of a line, and is the same on both sides of a border."""

import collections
import random
import urllib.parse

import compare
import shapely
from selections import Connection
from shapely.geometry import LineString
from tally import proof

SEED = 20261128
TOLERANCES = [0.0005, 0.003, 0.01, 0.05, 0.3, 2.0, 30.0]
# Part of the lines that GEOS simplifies in the same way.
SAME = 0.97
# Distances are rounded.
NEARLY = 1 + 1e-9


def parts(geometry):
    """Its geometries of one part."""
    return [part for member in geometry.geoms for part in parts(member)] if hasattr(geometry, "geoms") else [geometry]


def lines(geometry):
    """Vertices of each line and ring, and whether it is a ring."""
    found = []
    for part in parts(geometry):
        if part.geom_type == "LineString" and not part.is_empty:
            found.append((list(part.coords), False))
        elif part.geom_type == "Polygon" and not part.is_empty:
            found += [(list(ring.coords), True) for ring in (part.exterior, *part.interiors)]
    return found


def neighbours(line, is_ring):
    """Each vertex with those beside it."""
    if is_ring:
        line = line[:-1]
        return [(at, {line[number - 1], line[(number + 1) % len(line)]} - {at}) for number, at in enumerate(line)]
    return [(at, set(line[max(number - 1, 0) : number + 2]) - {at}) for number, at in enumerate(line)]


def matched(before, after):
    """Each line of a geometry with what is left of it, or None: they come in one order, and some may be gone."""
    left = collections.deque(after)
    found = []
    for line, is_ring in before:
        vertices = set(line)
        is_there = left and left[0][1] == is_ring and all(at in vertices for at in left[0][0])
        found.append((line, is_ring, left.popleft()[0] if is_there else None))
    compare.same("lines that are none of the original", 0, len(left))
    return found


def arcs(line, is_ring, junctions):
    """A line cut where others meet it. Of a ring that nothing meets there is none: where it begins is a choice."""
    if is_ring:
        start = next((number for number, at in enumerate(line) if at in junctions), None)
        if start is None:
            return
        line = line[start:-1] + line[: start + 1]
    begin = 0
    for end in range(1, len(line)):
        if line[end] in junctions or end + 1 == len(line):
            if line[begin] != line[end]:
                yield line[begin : end + 1]
            begin = end


def of_geos(arc, tolerance):
    return set(LineString(arc).simplify(tolerance, preserve_topology=False).coords)


def would_vanish(geometry, junctions, tolerance):
    """Whether each ring of it would be a line, so that it is passed on as it was: no geometry vanishes."""
    for line, is_ring in lines(geometry):
        kept = set().union(*(of_geos(arc, tolerance) for arc in arcs(line, is_ring, junctions)))
        if len(kept) > 2 or not is_ring or junctions.isdisjoint(line):
            return False
    return True


def judge(before, after, tolerance):
    """Raises where a rule of simplified geometry does not hold; returns numbers of arcs, and of those that GEOS simplifies otherwise."""
    around = collections.defaultdict(list)
    for geometry in before:
        for line, is_ring in lines(geometry) if geometry else []:
            ends = () if is_ring else (line[0], line[-1])
            for at, beside in neighbours(line, is_ring):
                around[at].append(None if at in ends else frozenset(beside))
    junctions = {at for at, met in around.items() if None in met or len(set(met)) > 1}
    stays = collections.defaultdict(set)
    counted = others = 0
    for geometry, simple in zip(before, after, strict=True):
        compare.same("a geometry that is there", geometry is None, simple is None)
        if geometry is None:
            continue
        compare.same("the type of a geometry", geometry.geom_type, simple.geom_type)
        if not lines(geometry):
            compare.same("a geometry without lines", geometry.wkt, simple.wkt)
            continue
        compare.same("a geometry of nothing", False, simple.is_empty)
        if simple.wkb == geometry.wkb and would_vanish(geometry, junctions, tolerance):
            continue
        for line, is_ring, left in matched(lines(geometry), lines(simple)):
            if left is None:
                continue
            kept = set(left)
            near = LineString(left)
            shapely.prepare(near)
            if not shapely.dwithin(near, shapely.points(line), tolerance * NEARLY).all():
                raise compare.Difference(f"a line moves farther than {tolerance}")
            for at in set(line):
                stays[at].add(at in kept)
            for arc in arcs(line, is_ring, junctions):
                counted += 1
                others += of_geos(arc, tolerance) != kept.intersection(arc)
    torn = [at for at, kept in stays.items() if len(kept) > 1]
    compare.same("vertices that one side of a border keeps and another does not", [], torn[:3])
    gone = [at for at in junctions if stays[at] == {False}]
    compare.same("points where lines meet that are gone", [], gone[:3])
    return counted, others


def ask(connection, package, tolerance):
    """What the service answers."""
    bounds = {"limit": 0, "start": "0001-01-01"} if package.date else {"limit": 100_000_000}
    query = {**bounds, "format": "arrow", "apply": "simplify", "simplify.tolerance": tolerance}
    rows, _ = connection.page(f"/v1/datasets/{package.name}/data?" + urllib.parse.urlencode(query))
    return rows


@proof
def simplified_geometry_is_judged_by_shapely_contract_16(tally, server, package, everything, count, seed=SEED):
    """`count` tolerances for a dataset with geometry."""
    if "geometry_wkt" not in everything.column_names:
        return
    chance = random.Random(f"{seed} {package.name}")
    connection = Connection(server)
    before = list(shapely.from_wkt(everything.column("geometry_wkt").to_pylist()))

    def all_of_them():
        cut = same = 0
        for tolerance in chance.sample(TOLERANCES, count):
            found = ask(connection, package, tolerance)
            compare.equal(everything.drop_columns(["geometry_wkt"]), found.drop_columns(["geometry_wkt"]))
            counted, others = judge(before, list(shapely.from_wkt(found.column("geometry_wkt").to_pylist())), tolerance)
            cut, same = cut + counted, same + counted - others
        # Of vertices that are equally far GEOS takes the first, and we the least.
        if same < cut * SAME:
            raise compare.Difference(f"GEOS simplifies {cut - same} of {cut} lines otherwise")

    tally.check(f"{package.name}: simplified as shapely finds it right", all_of_them)
