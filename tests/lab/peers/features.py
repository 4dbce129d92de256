"""Gives pygeoapi and tipg the areas that Yearbook serves, and compares their answers with its.

    features.py load TABLES FOLDER SOCKETS PORT    the table `areas` into PostGIS and GeoParquet, and a configuration of pygeoapi for each
    features.py same URL URL …                     fails unless all send the same features; Yearbook is the first

Run by `cargo xtask bench features`. PostgreSQL is reached by its socket. The key comes in YEARBOOK_KEY.
"""

import contextlib
import io
import json
import os
import pathlib
import sys
import urllib.request

import geopandas
import psycopg2
import pyarrow.parquet
import shapely

NAME, KEY, GEOMETRY = "areas", "area_code", "geometry_wkt"
# PostGIS prints nine decimals unless it is told otherwise.
DECIMALS = 1e-8


def into_postgis(table, folder, port):
    """The table with its primary key and an index of its shapes, as tipg's and pygeoapi's own pages have theirs."""
    rows = table.to_pylist()
    columns = [name for name in table.column_names if name != GEOMETRY]
    kinds = {"string": "text", "double": "double precision", "int64": "bigint", "bool": "boolean"}
    typed = ", ".join(f"{name} {kinds[str(table.schema.field(name).type)]}" for name in columns)
    text = io.StringIO()
    for row in rows:
        cells = [*(row[name] for name in columns), row[GEOMETRY] and f"SRID=4326;{row[GEOMETRY]}"]
        text.write("\t".join("\\N" if cell is None else str(cell) for cell in cells) + "\n")
    text.seek(0)
    database = psycopg2.connect(host=folder, port=port, user="yearbook", dbname="postgres")
    # VACUUM runs in no transaction.
    database.autocommit = True
    with contextlib.closing(database), database.cursor() as run:
        run.execute("CREATE EXTENSION postgis")
        run.execute(f"CREATE TABLE {NAME} ({typed}, geom geometry(Geometry, 4326), PRIMARY KEY ({KEY}))")
        run.copy_expert(f"COPY {NAME} FROM STDIN", text)
        run.execute(f"CREATE INDEX ON {NAME} USING gist (geom)")
        run.execute("VACUUM ANALYZE")


def into_parquet(table, path):
    """GeoParquet with the corners of boxes as columns, which pygeoapi selects by."""
    shapes = shapely.from_wkt(table[GEOMETRY].to_pylist())
    frame = geopandas.GeoDataFrame(table.drop_columns([GEOMETRY]).to_pandas(), geometry=shapes, crs="OGC:CRS84")
    frame[["west", "south", "east", "north"]] = shapely.bounds(shapes)
    frame.to_parquet(path)


def configuration(provider):
    """A configuration of pygeoapi. JSON is YAML."""
    url = {"url": "http://127.0.0.1"}
    return json.dumps({
        "server": {
            **url, "bind": {"host": "127.0.0.1", "port": 0}, "mimetype": "application/json", "encoding": "utf-8", "language": "en",
            "limits": {"max_items": 10_000, "default_items": 10, "on_exceed": "throttle"}, "map": {"url": "", "attribution": ""},
        },
        "logging": {"level": "ERROR"},
        "metadata": {
            "identification": {"title": "peer", "description": "peer", "keywords": ["peer"], "terms_of_service": "", **url},
            "license": {"name": "none", **url}, "provider": {"name": "peer", **url}, "contact": {"name": "peer"},
        },
        "resources": {
            NAME: {
                "type": "collection", "title": NAME, "description": NAME, "keywords": ["peer"], "links": [],
                "extents": {"spatial": {"bbox": [-180, -90, 180, 90], "crs": "http://www.opengis.net/def/crs/OGC/1.3/CRS84"}},
                "providers": [{"type": "feature", "id_field": KEY, **provider}],
            },
        },
    })


def load(tables, folder, sockets, port):
    table = pyarrow.parquet.read_table(tables / f"{NAME}.parquet")
    parquet = folder / f"{NAME}.parquet"
    into_postgis(table, sockets, port)
    into_parquet(table, parquet)
    reached = {"host": sockets, "port": port, "dbname": "postgres", "user": "yearbook", "password": "", "search_path": ["public"]}
    (folder / "postgis.yml").write_text(configuration({"name": "PostgreSQL", "data": reached, "table": NAME, "geom_field": "geom"}))
    fields = {"x_field": ["west", "east"], "y_field": ["south", "north"]}
    (folder / "parquet.yml").write_text(configuration({"name": "Parquet", "data": {"source": str(parquet)}, **fields}))


def features(address):
    """Properties and shapes by the id of Yearbook, and the bytes of the answer."""
    request = urllib.request.Request(address, headers={"X-API-Key": os.environ["YEARBOOK_KEY"]})
    with urllib.request.urlopen(request) as answer:
        body = answer.read()
    found = {}
    for feature in json.loads(body)["features"]:
        about = {"area_code": feature["id"], **feature["properties"]}
        found[about["area_code"]] = about, shapely.geometry.shape(feature["geometry"])
    return found, len(body)


def same(first, *others):
    wanted, size = features(first)
    names = set(next(iter(wanted.values()))[0])
    print(f"{size} bytes: {first}")
    for address in others:
        found, size = features(address)
        print(f"{size} bytes: {address}")
        assert found.keys() == wanted.keys(), f"{address}: {len(found)} features, {sorted(found.keys() ^ wanted.keys())[:5]}"
        for id, (about, shape) in wanted.items():
            others_about, others_shape = found[id]
            assert {name: others_about[name] for name in names} == about, f"{address}: {others_about}, not {about}"
            assert others_shape.normalize().equals_exact(shape.normalize(), DECIMALS), f"{address}: {id} has another shape"


def main():
    command, *given = sys.argv[1:]
    if command == "load":
        tables, folder, sockets, port = given
        load(pathlib.Path(tables), pathlib.Path(folder), sockets, int(port))
    else:
        same(*given)


if __name__ == "__main__":
    main()
