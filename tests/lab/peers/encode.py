"""The other contestants of the encode benchmark: pyarrow, polars and DuckDB, one thread each. Driven by
`tests/lab/benches/encode.rs`, a line at a time, so that all peers take turns.

What is timed goes to /dev/null, because memory that grows with the output would be most of what is measured; DuckDB, which wants
a file of its own, writes to one in memory.

A line `FORMAT WHO TIMES` is answered with `{"seconds": …, "bytes": …}` for one encoding, or `{"cannot": "why"}`; a line
`check FORMAT PATH` or `check FORMAT WHO` with `{"same": true}` where the file, or what that peer makes, holds the table. The table comes from an Arrow stream, without dictionaries.
"""

import itertools
import json
import os
import pathlib
import sys
import time

# One thread each; what polars starts beside its own pool has to share the core.
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.environ["POLARS_MAX_THREADS"] = "1"

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

pa.set_cpu_count(1)
pa.set_io_thread_count(1)
# In memory, and overwritten each time.
SCRATCH = "/dev/shm/yearbook-encode"
# In front of the coordinates of a feature in GeoJSON.
COORDINATES = '{"type":"MultiPolygon","coordinates":'


def pyarrow_arrow(table, path):
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def by_duckdb(options):
    """An encoder that is an option of COPY; the table is one of DuckDB's own."""
    return lambda connection, path: connection.execute(f"COPY input TO '{path}' ({options}, USE_TMP_FILE false)")


ENCODERS = {
    ("csv", "pyarrow"): lambda table, path: pyarrow.csv.write_csv(table, path),
    ("arrow", "pyarrow"): pyarrow_arrow,
    ("parquet", "pyarrow"): lambda table, path: pyarrow.parquet.write_table(table, path, compression="snappy"),
    ("csv", "polars"): lambda frame, path: frame.write_csv(path),
    ("json", "polars"): lambda frame, path: frame.write_json(path),
    ("arrow", "polars"): lambda frame, path: frame.write_ipc_stream(path),
    ("parquet", "polars"): lambda frame, path: frame.write_parquet(path, compression="snappy"),
    ("csv", "duckdb"): by_duckdb("FORMAT csv, HEADER true"),
    ("json", "duckdb"): by_duckdb("FORMAT json, ARRAY true"),
    ("parquet", "duckdb"): by_duckdb("FORMAT parquet, COMPRESSION snappy"),
}
CANNOT = {
    ("json", "pyarrow"): "reads JSON, does not write it",
    ("arrow", "duckdb"): "hands its result to pyarrow, which writes it",
    ("geojson", "pyarrow"): "writes no GeoJSON",
    ("geojson", "polars"): "writes no GeoJSON",
    ("geojson", "duckdb"): "by an extension that has to be downloaded",
}
# They are given plain text, so that there is nothing to keep.
CANNOT |= {("arrow.dictionaries=true", who): "as `arrow`" for who in ("pyarrow", "polars", "duckdb")}


def same(expected, format_name, path):
    """Return true if a file holds the table, as polars reads it."""
    match format_name:
        case "csv":
            found = pl.read_csv(path, schema=expected.schema)
        case "json":
            found = pl.read_json(path, schema=expected.schema)
        case "arrow" | "arrow.dictionaries=true":
            found = pl.read_ipc_stream(path).cast(expected.schema)
        case "geojson":
            return same_features(expected, path)
        case _:
            found = pl.read_parquet(path).cast(expected.schema)
    if format_name == "csv":
        # Not everybody's CSV can tell a null text from an empty one.
        texts = [pl.col(name).fill_null("") for name, kind in expected.schema.items() if kind == pl.String]
        found, expected = found.with_columns(texts), expected.with_columns(texts)
    return found.equals(expected)


def same_features(expected, path):
    """Return true if a FeatureCollection holds the table: the geometries ring by ring, which may be turned, the rest as JSON."""
    text = pathlib.Path(path).read_text()
    rest, at = [], 0
    for geometry in expected["geometry_wkt"]:
        start = text.index(COORDINATES, at)
        end = text.index("}", start)
        if not same_rings(geometry, text[start + len(COORDINATES) : end]):
            return False
        rest.append(text[at:start] + "null")
        at = end + 1
    features = json.loads("".join(rest) + text[at:])["features"]
    properties = pl.DataFrame([feature["properties"] for feature in features], schema=expected.drop("geometry_wkt").schema)
    return properties.equals(expected.drop("geometry_wkt"))


def same_rings(geometry, coordinates):
    """Return true if the coordinates are those of a MULTIPOLYGON, digit by digit."""
    polygons = [polygon.split("), (") for polygon in geometry.removeprefix("MULTIPOLYGON (((").removesuffix(")))").split(")), ((")]
    found = [polygon.split("]],[[") for polygon in coordinates.removeprefix("[[[[").removesuffix("]]]]").split("]]],[[[")]
    if [len(polygon) for polygon in polygons] != [len(polygon) for polygon in found]:
        return False
    for ring, other in zip(itertools.chain(*polygons), itertools.chain(*found)):
        points = ring.replace(" ", ",").split(",,")
        if other not in ("],[".join(points), "],[".join(reversed(points))):
            return False
    return True


def main():
    """Answers line by line until standard input ends."""
    with pa.OSFile(sys.argv[1]) as file:
        plain = pa.ipc.open_stream(file).read_all()
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute("CREATE TABLE input AS SELECT * FROM plain")
    inputs = {"pyarrow": plain, "polars": pl.from_arrow(plain, rechunk=True), "duckdb": connection}
    sizes = {}
    for line in sys.stdin:
        match line.split():
            case ["check", format_name, path]:
                answer = {"same": checked(inputs, format_name, path, sizes)}
            case [format_name, who, times]:
                answer = measured(inputs, format_name, who, int(times), sizes)
            case words:
                sys.exit(f"not a question: {words}")
        print(json.dumps(answer), flush=True)


def checked(inputs, format_name, path_or_who, sizes):
    """Return true if a file, or the output of a peer, holds the table; a format that a peer lacks is not wrong."""
    if (format_name, path_or_who) in CANNOT:
        return True
    encode = ENCODERS.get((format_name, path_or_who))
    if encode is None:
        return same(inputs["polars"], format_name, path_or_who)
    encode(inputs[path_or_who], SCRATCH)
    sizes[format_name, path_or_who] = os.stat(SCRATCH).st_size
    return same(inputs["polars"], format_name, SCRATCH)


def measured(inputs, format_name, who, times, sizes):
    """Seconds of one encoding, the mean of `times` in a row, and the bytes of the one that was checked."""
    if reason := CANNOT.get((format_name, who)):
        return {"cannot": reason}
    encode, given, path = ENCODERS[format_name, who], inputs[who], SCRATCH if who == "duckdb" else os.devnull
    started = time.perf_counter()
    for _ in range(times):
        encode(given, path)
    return {"seconds": (time.perf_counter() - started) / times, "bytes": sizes[format_name, who]}


if __name__ == "__main__":
    main()
