"""R as a reader: httr2, jsonlite and read.csv fetch and read, `readback.R` hands over what they have."""

import os
import pathlib
import subprocess

import numpy
import pyarrow as pa

import compare
import losses

# Losses of each of readback.R's readers. Empty texts, and line ends inside of a text, are lost by R's connections and `na.strings`.
READERS = {
    "json": [losses.only_finite],
    "csv": [losses.empty_is_null, losses.line_ends_are_line_feeds],
    "csv_exact": [losses.empty_is_null, losses.line_ends_are_line_feeds],
}
NAMES = {pa.string(): "string", pa.int64(): "integer", pa.float64(): "number", pa.bool_(): "boolean"}
WORDS = {b"TRUE": True, b"FALSE": False}


def check(tally, server, package, expected, folder, readers=tuple(READERS)):
    """Every reader of one dataset."""
    ran = run(server, package, package.fields, folder, readers)
    for reader in readers:

        def equal():
            found = table(folder / reader, package.fields, ran)
            compare.equal(losses.left_of(expected, READERS[reader]), found, off_by_one=reader == "csv")

        tally.check(f"{package.name} {reader.split('_')[0]} r {reader}", equal)


def run(server, package, fields, folder, readers):
    """One R for all of them; what it said."""
    columns = ",".join(f"{name}:{NAMES[kind]}" for name, kind in fields.items())
    address = f"{server.base}/v1/datasets/{package.name}/data?{server.everything(package)}"
    command = ["Rscript", "--vanilla", pathlib.Path(__file__).with_name("readback.R"), address, columns, folder, *readers]
    # Outside of a UTF-8 locale R cannot print all that it has.
    environment = {**os.environ, "YEARBOOK_KEY": server.key, "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800, check=False)


def table(path, fields, ran):
    """Return the table that readback.R wrote, and remove its file."""
    if not path.exists():
        raise compare.Difference(f"Rscript ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
    body, columns = path.read_bytes(), []
    path.unlink()
    rows, at = int.from_bytes(body[:4], "little"), 4
    for kind in fields.values():
        nulls, at = numpy.frombuffer(body, bool, rows, at), at + rows
        if kind == pa.float64():
            values, at = numpy.frombuffer(body, "<f8", rows, at), at + 8 * rows
        else:
            *texts, rest = body[at:].split(b"\0", rows)
            at = len(body) - len(rest)
            make = {pa.int64(): int, pa.bool_(): WORDS.get, pa.string(): bytes.decode}[kind]
            values = [None if null else make(text) for text, null in zip(texts, nulls)]
        columns.append(pa.array(values, kind, mask=nulls))
    compare.same("the number of bytes", len(body), at)
    return pa.table(columns, schema=pa.schema(list(fields.items())))
