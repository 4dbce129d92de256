"""A table written in a format by a peer, again and again: what is written lies in memory, in the peer's own form.
Run by `cargo xtask bench formats`; prints one JSON object. Every peer has one thread.
"""

import json
import os
import statistics
import sys
import time
from pathlib import Path

os.environ["POLARS_MAX_THREADS"] = "1"

import duckdb
import geopandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import xlsxwriter

pa.set_cpu_count(1)
pa.set_io_thread_count(1)

GEOMETRY = "geometry_wkt"

# What SDMX-CSV says in front of every row.
STRUCTURE = {"STRUCTURE": "dataflow", "STRUCTURE_ID": "AGENCY:TABLE(1.0)", "ACTION": "I"}


def areas(path, rows):
    """Rows with geometry, as shapely holds it."""
    table = pq.read_table(path).slice(0, rows).to_pandas()
    shapes = geopandas.GeoSeries.from_wkt(table[GEOMETRY])
    return geopandas.GeoDataFrame(table.drop(columns=GEOMETRY), geometry=shapes, crs="OGC:CRS84")


def geojson_gdal(path, rows):
    frame = areas(path, rows)
    return lambda to: pyogrio.write_dataframe(frame, to, driver="GeoJSON")


def geojson_geopandas(path, rows):
    frame = areas(path, rows)
    return lambda to: to.write_text(frame.to_json(drop_id=True))


def geoparquet_geopandas(path, rows):
    frame = areas(path, rows)
    return lambda to: frame.to_parquet(to, compression="zstd")


def xlsx_xlsxwriter(path, rows):
    table = pq.read_table(path).slice(0, rows).to_pydict()
    records = list(zip(*table.values()))

    def write(to):
        book = xlsxwriter.Workbook(to, {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, table)
        for number, record in enumerate(records, 1):
            sheet.write_row(number, 0, record)
        book.close()

    return write


def polars_frame(path, rows):
    return polars.read_parquet(path).slice(0, rows)


def ndjson_polars(path, rows):
    return polars_frame(path, rows).write_ndjson


def sdmx_csv_polars(path, rows):
    frame = polars_frame(path, rows)
    frame = frame.select(*[polars.lit(text).alias(name) for name, text in STRUCTURE.items()], polars.all())
    return frame.write_csv


def duckdb_table(path, rows, extra=""):
    database = duckdb.connect(config={"threads": 1})
    database.execute(f"CREATE TABLE rows AS SELECT {extra} * FROM '{path}' LIMIT {rows}")
    return database


def ndjson_duckdb(path, rows):
    database = duckdb_table(path, rows)
    return lambda to: database.execute(f"COPY rows TO '{to}' (FORMAT json)")


def sdmx_csv_duckdb(path, rows):
    extra = "".join(f"'{text}' AS {name}, " for name, text in STRUCTURE.items())
    database = duckdb_table(path, rows, extra)
    return lambda to: database.execute(f"COPY rows TO '{to}' (FORMAT csv)")


def main():
    """Writes one table in one format."""
    who, format_name, path, rows, runs, folder = sys.argv[1:]
    write = globals()[f"{format_name.replace('-', '_')}_{who.lower()}"](path, int(rows))
    to, seconds = Path(folder) / f"peer.{format_name}", []
    for run in range(int(runs) + 1):
        to.unlink(missing_ok=True)
        begun = time.perf_counter()
        write(to)
        if run:
            seconds.append(time.perf_counter() - begun)
    print(json.dumps({"seconds": statistics.median(seconds), "megabytes": to.stat().st_size / 1e6}))
    to.unlink()


if __name__ == "__main__":
    main()
