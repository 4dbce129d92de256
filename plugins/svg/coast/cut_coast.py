#!/usr/bin/env python3
"""Cuts the coast outline of the maps from Natural Earth's land polygons at 1:50 million.

    npm pack world-atlas@2.0.2 && tar xzf world-atlas-2.0.2.tgz
    python3 cut_coast.py package/land-50m.json coast.bin

Natural Earth is in the public domain; the npm package holds it as TopoJSON.
Each ring is simplified by the area that a point adds (Visvalingam and Whyatt, 1993), rounded to
hundredths of a degree, and written as whole numbers of variable length:
the number of points, the first longitude and latitude, then differences.
A ring that crosses 180 degrees goes on beyond it, so that no edge runs along the meridian.
"""

import heapq
import hashlib
import json
import math
import sys

SOURCE_SHA256 = "619477ff690c086885e45cb91707d783805561bd75ae8e437b7d4694b0204e0f"
# A point whose triangle has less area than this, in square degrees at the equator, is left out.
LEAST_AREA = 0.0035
UNITS_PER_DEGREE = 100
MOST_BYTES = 60_000


def rings(topology):
    """All rings as lists of positions, longitudes without jumps."""
    (sx, sy), (tx, ty) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = []
    for arc in topology["arcs"]:
        x = y = 0
        points = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            points.append((x * sx + tx, y * sy + ty))
        arcs.append(points)

    def walk(geometry):
        if geometry["type"] == "GeometryCollection":
            for member in geometry["geometries"]:
                yield from walk(member)
        elif geometry["type"] == "MultiPolygon":
            for polygon in geometry["arcs"]:
                yield from polygon
        elif geometry["type"] == "Polygon":
            yield from geometry["arcs"]

    for indices in walk(topology["objects"]["land"]):
        points = []
        for index in indices:
            part = arcs[index] if index >= 0 else arcs[~index][::-1]
            points += part[1:] if points else part
        yield unwrapped(points)


def unwrapped(points):
    """A closed ring without its last point; each longitude within 180 degrees of the one before."""
    ring = [points[0]]
    for x, y in points[1:]:
        while x - ring[-1][0] > 180:
            x -= 360
        while x - ring[-1][0] < -180:
            x += 360
        ring.append((x, y))
    first, last = ring[0], ring[-1]
    if abs(first[0] - last[0]) > 180:
        # It goes around a pole, and is closed along it.
        ring += [(last[0], -90.0), (first[0], -90.0)]
    else:
        ring.pop()
    west = min(x for x, _ in ring)
    shift = -360 * math.floor((west + 180) / 360)
    return [(x + shift, y) for x, y in ring]


def area(a, b, c):
    """Area of a triangle in square degrees at the equator."""
    shrink = math.cos(math.radians(b[1]))
    return abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])) / 2 * shrink


def simplified(ring, least):
    """The ring without the points that add the least area; four stay at least."""
    count = len(ring)
    before = [(i - 1) % count for i in range(count)]
    after = [(i + 1) % count for i in range(count)]
    areas = [area(ring[before[i]], ring[i], ring[after[i]]) for i in range(count)]
    heap = [(size, i) for i, size in enumerate(areas)]
    heapq.heapify(heap)
    gone = [False] * count
    left = count
    while heap and left > 4:
        size, i = heapq.heappop(heap)
        if gone[i] or size != areas[i]:
            continue
        if size >= least:
            break
        gone[i] = True
        left -= 1
        a, b = before[i], after[i]
        after[a], before[b] = b, a
        for j in (a, b):
            areas[j] = max(size, area(ring[before[j]], ring[j], ring[after[j]]))
            heapq.heappush(heap, (areas[j], j))
    return [point for i, point in enumerate(ring) if not gone[i]]


def varint(number, out):
    """Appends a whole number, seven bits a byte, the sign in the lowest bit."""
    number = (number << 1) ^ (number >> 63)
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def encode(all_rings):
    out = bytearray()
    points = 0
    for ring in all_rings:
        grid = []
        for x, y in ring:
            point = (round(x * UNITS_PER_DEGREE), round(y * UNITS_PER_DEGREE))
            if not grid or point != grid[-1]:
                grid.append(point)
        if len(grid) < 3:
            continue
        points += len(grid)
        varint(len(grid), out)
        last = (0, 0)
        for x, y in grid:
            varint(x - last[0], out)
            varint(y - last[1], out)
            last = (x, y)
    return bytes(out), points


def main():
    source, target = sys.argv[1:]
    with open(source, "rb") as file:
        data = file.read()
    digest = hashlib.sha256(data).hexdigest()
    if digest != SOURCE_SHA256:
        sys.exit(f"{source} has the SHA-256 {digest}, not that of land-50m.json in world-atlas 2.0.2")
    land = sorted(rings(json.loads(data)), key=len, reverse=True)
    made, points = encode(simplified(ring, LEAST_AREA) for ring in land)
    if len(made) > MOST_BYTES:
        sys.exit(f"{len(made)} bytes are more than {MOST_BYTES}; raise LEAST_AREA")
    with open(target, "wb") as file:
        file.write(made)
    print(f"{len(land)} rings, {points} points, {len(made)} bytes")


if __name__ == "__main__":
    main()
