"""The other contestants of the encode benchmark: pyarrow, polars and DuckDB, one thread each. Driven by
`tests/benches/encode.rs`, a line at a time, so that all contestants take turns.

A line `FORMAT WHO TIMES` is answered with `{"seconds": …, "bytes": …}` for one encoding, or `{"cannot": "why"}`; a line
`check FORMAT PATH` or `check FORMAT WHO` with `{"same": true}` where the file, or what that peer makes, holds the table. The table comes from an Arrow stream, without dictionaries.
"""

import io
import json
import os
import pathlib
import sys
import time

os.environ["POLARS_MAX_THREADS"] = "1"

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

pa.set_cpu_count(1)
pa.set_io_thread_count(1)
# DuckDB writes to files only; these are in memory.
SCRATCH = pathlib.Path("/dev/shm/yearbook-encode")


def pyarrow_parquet(table):
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink, compression="snappy")
    return sink.getbuffer()


def pyarrow_arrow(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def pyarrow_csv(table):
    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(table, sink)
    return sink.getvalue()


def by_polars(method, **options):
    """An encoder that is a method of a data frame."""

    def encode(frame):
        sink = io.BytesIO()
        getattr(frame, method)(sink, **options)
        return sink.getbuffer()

    return encode


def by_duckdb(options):
    """An encoder that is an option of COPY; the table is one of DuckDB's own."""

    def encode(connection):
        connection.execute(f"COPY input TO '{SCRATCH}' ({options})")
        return SCRATCH

    return encode


ENCODERS = {
    ("csv", "pyarrow"): pyarrow_csv,
    ("arrow", "pyarrow"): pyarrow_arrow,
    ("parquet", "pyarrow"): pyarrow_parquet,
    ("csv", "polars"): by_polars("write_csv"),
    ("json", "polars"): by_polars("write_json"),
    ("arrow", "polars"): by_polars("write_ipc_stream"),
    ("parquet", "polars"): by_polars("write_parquet", compression="snappy"),
    ("csv", "duckdb"): by_duckdb("FORMAT csv, HEADER true"),
    ("json", "duckdb"): by_duckdb("FORMAT json, ARRAY true"),
    ("parquet", "duckdb"): by_duckdb("FORMAT parquet, COMPRESSION snappy"),
}
CANNOT = {
    ("json", "pyarrow"): "reads JSON, does not write it",
    ("arrow", "duckdb"): "hands its result to pyarrow, which writes it",
}


def size(made):
    """Bytes of a file or a buffer."""
    return made.stat().st_size if made is SCRATCH else memoryview(made).nbytes


def same(expected, format_name, made):
    """Whether a file or a buffer holds the table, as polars reads it."""
    path = made if isinstance(made, (str, pathlib.Path)) else io.BytesIO(made)
    match format_name:
        case "csv":
            found = pl.read_csv(path, schema=expected.schema)
        case "json":
            found = pl.read_json(path, schema=expected.schema)
        case "arrow":
            found = pl.read_ipc_stream(path).cast(expected.schema)
        case _:
            found = pl.read_parquet(path).cast(expected.schema)
    if format_name == "csv":
        # Not everybody's CSV can tell a null text from an empty one.
        texts = [pl.col(name).fill_null("") for name, kind in expected.schema.items() if kind == pl.String]
        found, expected = found.with_columns(texts), expected.with_columns(texts)
    return found.equals(expected)


def main():
    """Answers line by line until standard input ends."""
    with pa.OSFile(sys.argv[1]) as file:
        plain = pa.ipc.open_stream(file).read_all()
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    connection.execute("CREATE TABLE input AS SELECT * FROM plain")
    inputs = {"pyarrow": plain, "polars": pl.from_arrow(plain, rechunk=True), "duckdb": connection}
    for line in sys.stdin:
        match line.split():
            case ["check", format_name, path]:
                answer = {"same": checked(inputs, format_name, path)}
            case [format_name, who, times]:
                answer = measured(inputs, format_name, who, int(times))
            case words:
                sys.exit(f"not a question: {words}")
        print(json.dumps(answer), flush=True)


def checked(inputs, format_name, path_or_who):
    """Whether a file, or what a peer makes, holds the table; what a peer cannot make is not wrong."""
    if (format_name, path_or_who) in CANNOT:
        return True
    encode = ENCODERS.get((format_name, path_or_who))
    return same(inputs["polars"], format_name, encode(inputs[path_or_who]) if encode else path_or_who)


def measured(inputs, format_name, who, times):
    """Seconds and bytes of one encoding, the mean of `times` in a row."""
    if reason := CANNOT.get((format_name, who)):
        return {"cannot": reason}
    encode, given = ENCODERS[format_name, who], inputs[who]
    started = time.perf_counter()
    for _ in range(times):
        made = encode(given)
    return {"seconds": (time.perf_counter() - started) / times, "bytes": size(made)}


if __name__ == "__main__":
    main()
