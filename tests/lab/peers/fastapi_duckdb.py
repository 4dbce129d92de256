"""The service that one would write in an afternoon: FastAPI in front of DuckDB, orjson for JSON, pyarrow for exports.

DuckDB holds the tables in memory, compressed, because then it searches each value of a dictionary once (ten times as fast as in
plain memory), and uses as many threads as the process has cores. Exports are streamed batch by batch. Started by `cargo xtask bench` with uvicorn; YEARBOOK_PEERS_TABLES names the folder of Parquet files.
"""

import io
import os
import pathlib

import duckdb
import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import shapely
from fastapi import FastAPI, Response
from fastapi.responses import StreamingResponse
from tables import DIMENSIONS

FOLDER = pathlib.Path(os.environ["YEARBOOK_PEERS_TABLES"])
# Rows a batch of an export: DuckDB's own vectors, joined to some megabytes of text.
BATCH = 65_536

database = duckdb.connect()
database.execute(f"SET threads = {len(os.sched_getaffinity(0))}")
database.execute("ATTACH ':memory:' AS tables (COMPRESS)")
for path in FOLDER.glob("*.parquet"):
    database.execute(f"CREATE TABLE tables.{path.stem} AS SELECT * FROM '{path}'")
database.execute("CHECKPOINT tables")
# DuckDB's own functions for geometry are an extension that no package registry has.
boundaries = {
    path.stem: shapely.STRtree(shapely.from_wkt(pq.read_table(path, columns=["geometry_wkt"])[0].to_pylist()))
    for path in FOLDER.glob("many_areas.parquet")
}
app = FastAPI()


def query(table, start, end, dimensions, limit, geometry, selection):
    """SQL and its arguments."""
    conditions, values = [], []
    for operator, bound in ((">=", start), ("<=", end)):
        if bound is not None:
            conditions.append(f"date {operator} ?")
            values.append(bound)
    if dimensions:
        conditions.append("(" + " OR ".join(f"{column} ILIKE ?" for column in DIMENSIONS[table]) + ")")
        values.extend([f"%{dimensions}%"] * len(DIMENSIONS[table]))
    if selection["series"] is not None:
        conditions.append("series_code = ?")
        values.append(selection["series"])
    if selection["bbox"] is not None:
        inside = boundaries[table].query(shapely.box(*map(float, selection["bbox"].split(","))), predicate="intersects")
        conditions.append("rowid IN (SELECT unnest(?))")
        values.append(inside.tolist())
    columns = "*" if geometry else "* EXCLUDE (geometry_wkt)"
    sql = f"SELECT {columns} FROM tables.{table}" + (f" WHERE {' AND '.join(conditions)}" if conditions else "")
    if selection["last"]:
        sql += " QUALIFY row_number() OVER (PARTITION BY series_code ORDER BY date DESC) = 1"
    if selection["newest"]:
        sql += " ORDER BY date DESC"
    return (f"{sql} LIMIT {limit}" if limit else sql), values


def json_parts(reader):
    """An array of objects, a batch at a time."""
    lead = b"["
    for batch in reader:
        yield lead + orjson.dumps(batch.to_pylist())[1:-1]
        lead = b","
    yield b"[]" if lead == b"[" else b"]"


def written(reader, writer_of):
    """Yield the output of a pyarrow writer for each batch."""
    sink = io.BytesIO()
    with writer_of(sink, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
            yield sink.getvalue()
            sink.seek(0)
            sink.truncate()
    yield sink.getvalue()


class Forward(io.RawIOBase):
    """A file that only remembers what was written since it was last emptied; Parquet's writer wants to know its position."""

    def __init__(self):
        self.parts, self.position = [], 0

    def writable(self):
        return True

    def write(self, part):
        self.parts.append(bytes(part))
        self.position += len(part)
        return len(part)

    def tell(self):
        return self.position

    def taken(self):
        """Everything since the last call."""
        parts, self.parts = b"".join(self.parts), []
        return parts


def parquet_parts(reader):
    """A Parquet file, a row group at a time."""
    sink = Forward()
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
            yield sink.taken()
    yield sink.taken()


def objects(found):
    """All rows of a query as an array of objects."""
    names = [column[0] for column in found.description]
    rows = [dict(zip(names, row)) for row in found.fetchall()]
    return Response(orjson.dumps(rows), media_type="application/json")


EXPORTS = {
    "json": ("application/json", json_parts),
    "csv": ("text/csv", lambda reader: written(reader, pyarrow.csv.CSVWriter)),
    "arrow": ("application/vnd.apache.arrow.stream", lambda reader: written(reader, pa.ipc.new_stream)),
    "parquet": ("application/vnd.apache.parquet", parquet_parts),
}


# Not `async`: FastAPI runs it on a thread, so that one query does not hold up all others.
@app.get("/data/{table}")
def data(
    table: str,
    start: str | None = None,
    end: str | None = None,
    dimensions: str | None = None,
    limit: int = 100,
    format: str = "json",
    geometry: bool = True,
    series: str | None = None,
    last: bool = False,
    newest: bool = False,
    bbox: str | None = None,
):
    """Rows of a table; `limit=0` is everything, streamed."""
    selection = {"series": series, "last": last, "newest": newest, "bbox": bbox}
    sql, values = query(table, start, end, dimensions, limit, geometry, selection)
    connection = database.cursor()
    if limit and format == "json":
        return objects(connection.execute(sql, values))
    media_type, parts = EXPORTS[format]
    # Not `execute`, whose result is copied before it becomes Arrow.
    reader = connection.sql(sql, params=values or None).to_arrow_reader(BATCH)
    return StreamingResponse(parts(reader), media_type=media_type)


@app.get("/values/{table}/{column}")
def values(table: str, column: str):
    """The distinct values of a column, with their rows and dates."""
    counts = f'"{column}" AS value, count(*) AS rows, min(date) AS first, max(date) AS last'
    return objects(database.cursor().execute(f'SELECT {counts} FROM tables.{table} GROUP BY "{column}"'))


@app.get("/datasets")
def datasets():
    """The list of all datasets, where there is one."""
    if not (FOLDER / "datasets.parquet").exists():
        return []
    return objects(database.cursor().execute("SELECT * FROM tables.datasets"))
