"""GDAL, geopandas and OWSLib, unmodified, against the adapter `ogc`; and its description, against what it does.

Called by `main.py`.
"""

import csv
import io
import json
import math
import random
import urllib.parse

import geopandas
import openapi_spec_validator
import owslib.ogcapi.features
import owslib.ogcapi.records
import patient
import pyogrio
import shapely
from tally import proof

MOUNT = "/api/ogc"
# Features of a page of GDAL, so that most datasets have several.
PAGE = 500
# Rows of the largest dataset that is read feature by feature.
SMALL = 120
# More rows than any of them has: all geometries at once are refused without a limit.
MOST = 20_000
# Boxes and values of each dataset that GDAL selects by.
SELECTIONS = 6
SEED = 20261127


class Collection:
    """A dataset with geometry, as `/v1` has it."""

    def __init__(self, service, name):
        meta = service.json(f"/v1/datasets/{name}")
        self.service, self.name, self.key = service, name, meta["primary_key"]
        self.columns = {column["name"]: column for column in meta["columns"]}
        self.geometry = next((column for column, about in self.columns.items() if about["role"] == "geometry"), None)
        self.rows = self.selected() if self.geometry else []

    def selected(self, **query):
        """Rows as dictionaries of text, geometries as well-known text."""
        text = self.service.get(f"/v1/datasets/{self.name}/data", format="csv", limit=MOST, **query).decode()
        csv.field_size_limit(1 << 30)
        return list(csv.DictReader(io.StringIO(text)))

    def ids(self, rows):
        """Ids of rows of which none was left out, else of rows with a key."""
        if not self.key:
            return [str(at) for at, _ in enumerate(rows)]
        if len(self.key) == 1:
            return [row[self.key[0]] for row in rows]
        return [",".join(row[name].replace("~", "~~").replace(",", "~,") for name in self.key) for row in rows]

    def address(self, *below, **query):
        path = "/".join(urllib.parse.quote(part, safe="") for part in ("collections", self.name, *below))
        return f"{MOUNT}/{path}?{urllib.parse.urlencode(query)}"

    def items(self, **query):
        """Features of every page."""
        found, address = [], self.service.base + self.address("items", **query)
        while address:
            status, _, body = patient.fetch(address, self.service.key)
            assert status == 200, f"{address}: {status} {body[:300]}"
            page = json.loads(body)
            assert page["numberReturned"] == len(page["features"])
            found += page["features"]
            address = next((link["href"] for link in page["links"] if link["rel"] == "next"), None)
        return found


def same_cell(found, text, kind):
    """Equality of a value of a client and the text of CSV."""
    if text == "":
        return found is None or found == "" or found != found
    if kind == "number":
        return float(found) == float(text)
    if kind == "integer":
        return int(found) == int(text)
    if kind == "boolean":
        return str(bool(found)).lower() == text
    if hasattr(found, "isoformat"):
        # GDAL makes dates and times of text.
        return found.isoformat().startswith(text.removesuffix("Z").removesuffix(".000"))
    return str(found) == text


def same_shape(found, text):
    if text == "":
        return found is None or found.is_empty
    wanted = shapely.from_wkt(text)
    if found.normalize().equals_exact(wanted.normalize(), 1e-12):
        return True
    # A ring that crosses itself has no direction that both agree on.
    positions = [sorted(map(tuple, shapely.get_coordinates(shape))) for shape in (found, wanted)]
    return not wanted.is_valid and positions[0] == positions[1]


def gdal(service):
    """The address for GDAL, and its open options: the key goes by Basic, for it sends no header of another name."""
    return f"OAPIF:{service.base}{MOUNT}", {"USERPWD": f"key:{service.key}", "PAGE_SIZE": str(PAGE)}


@proof
def gdal_reads_every_feature_contract_18(tally, service, collection):
    def check():
        address, options = gdal(service)
        frame = geopandas.read_file(address, layer=collection.name, engine="pyogrio", **options)
        assert len(frame) == len(collection.rows), f"{len(frame)} features of {len(collection.rows)}"
        assert frame.crs is not None and frame.crs.to_epsg() == 4326 or str(frame.crs) == "OGC:CRS84", frame.crs
        for name, about in collection.columns.items():
            if name == collection.geometry:
                continue
            kind = about["type"]
            for found, row in zip(frame[name].astype(object), collection.rows, strict=True):
                assert same_cell(found, row[name], kind), f"{name}: {found!r}, not {row[name]!r}"
        for found, row in zip(frame.geometry, collection.rows, strict=True):
            assert same_shape(found, row[collection.geometry]), f"{found}, not {row[collection.geometry][:200]}"
        return True

    tally.check(f"{collection.name} by GDAL", check)


@proof
def boxes_and_filters_of_gdal_are_those_of_data_contract_18(tally, service, collection):
    chance, (address, options) = random.Random(f"{SEED} {collection.name}"), gdal(service)
    shapes = [shapely.from_wkt(row[collection.geometry]) for row in collection.rows if row[collection.geometry]]

    def boxes():
        for shape in chance.sample(shapes, min(SELECTIONS, len(shapes))):
            west, south, east, north = shape.bounds
            yield west - 0.5, south - 0.25, west + (east - west) / 2, south + (north - south) / 2
        yield -180, -90, 180, -60
        yield -180, 60, 180, 90
        yield 0, 89.9, 0, 90

    def inside(box):
        return [max(-180, min(180, box[0])), max(-90, min(90, box[1])), max(-180, min(180, box[2])), max(-90, min(90, box[3]))]

    def by_box():
        for box in map(inside, boxes()):
            wanted = collection.selected(bbox=",".join(map(repr, box)))
            found = pyogrio.read_dataframe(address, layer=collection.name, bbox=tuple(box), **options)
            assert len(found) == len(wanted), f"{box}: {len(found)} features of {len(wanted)}"
        return True

    def across():
        for west, south, east, north in [(170, -90, -170, 90), (177, 65, -177, 70), (179, -90, 178, 90), (100, -50, -100, 50)]:
            parts = [shapely.box(west, south, 180, north), shapely.box(-180, south, east, north)]
            wanted = [
                name
                for name, row in zip(collection.ids(collection.rows), collection.rows, strict=True)
                if row[collection.geometry] and shapely.intersects(shapely.from_wkt(row[collection.geometry]), parts).any()
            ]
            found = collection.items(bbox=f"{west},{south},{east},{north}", limit=PAGE)
            assert [str(feature["id"]) for feature in found] == wanted, f"{west} to {east}: {len(found)} features of {len(wanted)}"
        return True

    def by_value():
        names = [name for name, about in collection.columns.items() if about["type"] == "string" and about["role"] != "geometry"]
        for name in chance.sample(names, min(2, len(names))):
            value = chance.choice(collection.rows)[name]
            wanted = sum(row[name] == value for row in collection.rows)
            quoted = value.replace("'", "''")
            found = pyogrio.read_dataframe(address, layer=collection.name, where=f"\"{name}\" = '{quoted}'", **options)
            assert value == "" or len(found) == wanted, f"{name} = {value!r}: {len(found)} features of {wanted}"
            if value:
                assert len(collection.items(**{name: value, "limit": PAGE})) == wanted, f"{name} = {value!r}"
        return True

    tally.check(f"{collection.name} in boxes by GDAL", by_box)
    tally.check(f"{collection.name} in boxes across 180°", across)
    tally.check(f"{collection.name} by value", by_value)


@proof
def owslib_reads_collections_and_pages_contract_18(tally, service, collections):
    def check():
        client = owslib.ogcapi.features.Features(f"{service.base}{MOUNT}", headers={"X-API-Key": service.key})
        names = sorted(collection.name for collection in collections)
        assert sorted(client.feature_collections()) == names, client.feature_collections()
        assert any(link["rel"] == "service-desc" for link in client.links)
        assert client.conformance()["conformsTo"]
        assert client.api()["openapi"].startswith("3.0")
        for collection in collections:
            about = client.collection(collection.name)
            assert about["id"] == collection.name and about["links"]
            assert client.collection_queryables(collection.name)["type"] == "object"
            page = client.collection_items(collection.name, limit=7)
            wanted = collection.ids(collection.rows)[:7]
            assert [str(feature["id"]) for feature in page["features"]] == wanted, collection.name
            assert page["numberMatched"] == len(collection.rows)
            if len(collection.rows) <= SMALL:
                ids = [str(feature["id"]) for feature in collection.items(limit=7)]
                assert ids == collection.ids(collection.rows), f"{collection.name}: pages of seven"
            for at in (0, len(page["features"]) - 1):
                one = client.collection_item(collection.name, urllib.parse.quote(str(page["features"][at]["id"]), safe=""))
                links = one.pop("links")
                assert one == page["features"][at] and any(link["rel"] == "collection" for link in links)
        return True

    tally.check("OWSLib's Features", check)


@proof
def records_are_found_by_owslib_contract_18(tally, service):
    def check():
        client = owslib.ogcapi.records.Records(f"{service.base}{MOUNT}")
        assert client.records() == ["catalogue"], client.records()
        names = sorted(listed["name"] for listed in service.json("/v1/datasets"))
        found, offset = [], 0
        while True:
            page = client.collection_items("catalogue", limit=9, offset=offset)
            found += [record["id"] for record in page["features"]]
            offset += 9
            if len(found) >= page["numberMatched"]:
                break
        assert sorted(found) == names, found
        airports = client.collection_items("catalogue", q="airports")
        assert "us_airports" in [record["id"] for record in airports["features"]]
        near = client.collection_items("catalogue", bbox=[170, -47, 180, -34], limit=100)
        assert "nz_named_islands" in [record["id"] for record in near["features"]]
        record = client.collection_item("catalogue", "us_airports")
        assert record["properties"]["type"] == "dataset" and record["geometry"]
        across = 0
        for name in names:
            record = client.collection_item("catalogue", name)
            if record["geometry"]:
                # As MetaSearch reads a record, from two corners.
                (west, south), _, (east, north) = record["geometry"]["coordinates"][0][:3]
                assert west <= east and south <= north, record["geometry"]
                across += record["bbox"][0] > record["bbox"][2]
        assert across, "no dataset across 180° was read"
        return True

    tally.check("OWSLib's Records", check)


@proof
def the_definition_is_valid_and_true_contract_18(tally, service, collections):
    def check():
        api = service.json(f"{MOUNT}/api")
        openapi_spec_validator.validate(api)
        for collection in collections:
            listed = api["paths"][f"/collections/{collection.name}/items"]["get"]["parameters"]
            names = [parameter["name"] for parameter in listed if "name" in parameter]
            others = [name for name in collection.columns if name != collection.geometry]
            assert names == others, names
            row = collection.rows[0]
            given = {name: row[name] for name in names if row[name] != ""}
            found = collection.items(**given)
            assert collection.ids(collection.rows)[0] in [str(feature["id"]) for feature in found], collection.name
        return True

    tally.check("OpenAPI 3.0", check)


@proof
def a_feature_that_is_not_there_is_not_charged_contract_18(tally, service, collection):
    def used():
        return service.json("/v1/me")["requests"]["used"]

    def check():
        before = used()
        for wrong in ["nowhere", "99999999", "a,b,c"]:
            status, headers, body = patient.fetch(service.base + collection.address("items", wrong), service.key)
            problem = json.loads(body)
            assert (status, problem["status"]) == (404, 404), f"{wrong}: {status} {body}"
            assert headers["Content-Type"] == "application/problem+json"
        without, _, body = patient.fetch(service.base + collection.address("items"))
        assert without == 401 and json.loads(body)["title"] == "Unauthorized", body
        assert used() == before
        collection.items(limit=MOST)
        assert used() == before + math.ceil(len(collection.rows) / 10_000)
        return True

    tally.check(f"what is not there in {collection.name}", check)


def check_all(tally, service):
    listed = [Collection(service, dataset["name"]) for dataset in service.json("/v1/datasets")]
    collections = [collection for collection in listed if collection.geometry]
    for collection in collections:
        gdal_reads_every_feature_contract_18(tally, service, collection)
        boxes_and_filters_of_gdal_are_those_of_data_contract_18(tally, service, collection)
    owslib_reads_collections_and_pages_contract_18(tally, service, collections)
    records_are_found_by_owslib_contract_18(tally, service)
    the_definition_is_valid_and_true_contract_18(tally, service, collections)
    for collection in collections[:3]:
        a_feature_that_is_not_there_is_not_charged_contract_18(tally, service, collection)
