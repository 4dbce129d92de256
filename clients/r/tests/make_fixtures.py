"""Writes the Arrow streams and the Parquet file in `testthat/fixtures`, by pyarrow, and their values for R.

Run by hand when a fixture changes: `python make_fixtures.py`. The fixtures are what a service could send that this package's
own code did not write.
"""

import datetime
import json
import math
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent / "testthat" / "fixtures"
CREDIT = {
    "yearbook.dataset": "demo", "yearbook.namespace": "tests", "yearbook.licence": "CC-BY-4.0",
    "yearbook.licence_title": "Creative Commons Attribution 4.0", "yearbook.licence_url": "https://creativecommons.org/licenses/by/4.0/",
    "yearbook.source": "Stats Ōtautahi", "yearbook.attribution": "Stats Ōtautahi, CC BY 4.0",
}
ROWS = [
    ("2020-01-01", "north", 1.5, 1, True, ""), ("2020-01-01", "south", -0.0, 2, False, None), ("2020-04-01", "north", None, None, None, "NA"),
    ("2020-04-01", "south", math.nan, 2**40, True, "Māori"), ("2020-07-01", "north", math.inf, -5, False, "a\nb"),
    ("2020-07-01", "south", 0.1 + 0.2, 7, True, "日本"), ("2020-10-01", "north", 5e-324, 8, None, '"q"'), ("2020-10-01", "south", -1.0, 9, True, ""),
    ("2021-01-01", "north", 2.0, 10, True, "x"), ("2021-01-01", "south", 3.0, -(2**40), True, "y"), ("0001-01-01", "north", 4.0, 0, False, "z"),
    ("9999-12-31", "south", 1e300, 12, True, None),
]
# The next snapshot: one row revised, one gone, one new.
NEXT = [row if row[:2] != ("2020-01-01", "north") else (*row[:2], 1.75, *row[3:]) for row in ROWS if row[:2] != ("2020-10-01", "south")]
NEXT.append(("2021-04-01", "north", 6.0, 13, True, "new"))


def field(name, kind, **about):
    return pa.field(name, kind, metadata={f"yearbook.{key}": value for key, value in about.items()})


FIELDS = [
    field("date", pa.string(), role="date", type="date"), field("region", pa.string(), role="dimension"),
    field("value", pa.float64(), role="value", unit="NZD"), field("count", pa.int64(), role="value"), field("flag", pa.bool_(), role="attribute"),
    field("note", pa.string(), role="attribute"),
]


def table(rows, fields=FIELDS, snapshot="a" * 32):
    columns = [pa.array([row[i] for row in rows], column.type) for i, column in enumerate(fields)]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata=CREDIT | {"yearbook.snapshot_id": snapshot}))


def write(name, tables, **options):
    tables = tables if isinstance(tables, list) else [tables]
    with pa.ipc.new_stream(HERE / name, tables[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for one in tables:
            writer.write_table(one, max_chunksize=3)


def main():
    HERE.mkdir(exist_ok=True)
    ordered, following = sorted(ROWS), sorted(NEXT)
    for page in range(3):
        write(f"demo_{page + 1}.arrows", table(ordered[5 * page : 5 * page + 5]))
    write("demo.arrows", table(ordered))
    write("demo_next.arrows", table(following, snapshot="b" * 32))
    for page in range(3):
        write(f"demo_next_{page + 1}.arrows", table(following[5 * page : 5 * page + 5], snapshot="b" * 32))
    write("empty.arrows", table([]))
    pq.write_table(table(ordered), HERE / "demo.parquet")

    more = [field("_change_type", pa.string()), field("_snapshot_id", pa.string()), field("_committed_at", pa.string())]
    stamp = ("b" * 32, "2026-01-01T00:00:00Z")
    changes = [
        (*ROWS[0], "update_preimage", *stamp), (*NEXT[0], "update_postimage", *stamp), (*ROWS[7], "delete", *stamp),
        (*NEXT[-1], "insert", *stamp),
    ]
    write("changes_1.arrows", table(changes[:2], FIELDS + more, "b" * 32))
    write("changes_2.arrows", table(changes[2:], FIELDS + more, "b" * 32))

    # Revised, revised and gone; there from the beginning; gone and back; new at last.
    first, second, third, fourth = "2026-08-20T22:45:00Z", "2026-11-19T21:45:00Z", "2026-11-19T23:00:00Z", "2027-02-18T21:45:00Z"
    revisions = [
        ("2025-04-01", "north", 1.5, 2**53 + 1, False, "A", first, second), ("2025-04-01", "north", None, -7, True, "P", second, third),
        ("2025-04-01", "south", 7.0, 3, True, "A", first, None), ("2025-07-01", "north", 2.0, 4, True, "P", first, second),
        ("2025-07-01", "north", 2.5, 4, True, "A", third, None), ("2025-10-01", "north", 9.0, None, False, None, fourth, None),
    ]
    stood = table(revisions, [*FIELDS, *(field(name, pa.string()) for name in ("_valid_from", "_valid_to"))], "b" * 32)
    write("revisions_1.arrows", stood.slice(0, 5))
    write("revisions_2.arrows", stood.slice(5))
    for column in ("value", "count", "flag"):
        write(f"vintages_{column}.arrows", stood.select(["date", "region", column, "_valid_from", "_valid_to"]))
    write("vintages_alike.arrows", stood.select(["date", "value", "_valid_from", "_valid_to"]))
    write("vintages_none.arrows", stood.select(["date", "region", "value", "_valid_from", "_valid_to"]).slice(0, 0))
    write("revisions_wrong.arrows", stood.slice(0, 1).set_column(6, stood.schema.field(6), pa.array(["yesterday"])))

    kinds = pa.table({
        "i8": pa.array([-128, None, 127], pa.int8()), "u8": pa.array([0, 255, None], pa.uint8()), "i16": pa.array([-32768, 1, None], pa.int16()),
        "u16": pa.array([65535, None, 0], pa.uint16()), "i32": pa.array([-(2**31), 2**31 - 1, None], pa.int32()),
        "u32": pa.array([2**32 - 1, None, 0], pa.uint32()), "f32": pa.array([0.5, math.nan, None], pa.float32()),
        "large": pa.array(["ä", None, ""], pa.large_string()), "day": pa.array([datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)], pa.date32()),
        "nothing": pa.nulls(3), "coded": pa.array(["b", None, "a"]).dictionary_encode(),
    })
    write("kinds.arrows", kinds)
    # A dictionary that grows from batch to batch.
    grown = [pa.table({"coded": pa.array(values).dictionary_encode()}) for values in (["a", "b"], ["a", "b", "c", None])]
    write("grown_dictionary.arrows", grown, emit_dictionary_deltas=True)
    replaced = [pa.table({"coded": pa.array(values).dictionary_encode()}) for values in (["a", "b"], ["c", "d", None])]
    write("replaced_dictionary.arrows", replaced)
    write("compressed.arrows", table(ordered), compression="lz4")
    write("timestamps.arrows", pa.table({"at": pa.array([0], pa.timestamp("s"))}))

    wholes = [0, 1, -1, 2**31 - 1, -(2**31), 2**53, 2**53 + 1, -(2**53) - 1, 10**18 + 1, 2**63 - 1, -(2**63) + 1, -(2**63), 1000000000, None]
    write("wholes.arrows", pa.table({"whole": pa.array(wholes, pa.int64())}))
    (HERE / "wholes.json").write_text(json.dumps([None if whole is None else str(whole) for whole in wholes]) + "\n")


if __name__ == "__main__":
    main()
