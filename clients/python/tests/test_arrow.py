"""The reader of Arrow streams: every value, every cut, every damage."""

import datetime
import math
import struct

import arrow_writer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proofs import proof

from yearbook_client.arrow import StreamReader
from yearbook_client.arrow.messages import count_rows
from yearbook_client.errors import CutBodyError, StreamError

COLUMNS = [("t", "string"), ("i", "integer"), ("n", "number"), ("b", "boolean"), ("d", "date")]
ROW = st.tuples(
    st.none() | st.text(st.characters(exclude_categories=["Cs"])),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.floats(),
    st.none() | st.booleans(),
    st.none() | st.dates().map(datetime.date.isoformat),
)


def values(body):
    reader = StreamReader(body)
    columns = [[] for _ in reader.fields]
    for batch in reader:
        for found, column in zip(columns, batch.columns):
            found.extend(column.to_list())
    return list(zip(*columns))


def bits(row):
    return tuple(struct.pack("<d", value) if isinstance(value, float) else value for value in row)


@given(st.lists(ROW, max_size=40), st.integers(1, 17))
@settings(max_examples=150, deadline=None)
def test_every_value_of_every_type_is_read_bit_by_bit(rows, batch_rows):
    body = arrow_writer.stream(COLUMNS, rows, batch_rows)
    assert count_rows(memoryview(body)) == len(rows)
    assert [bits(row) for row in values(body)] == [bits(row) for row in rows]


@proof
def test_a_stream_that_is_cut_at_any_byte_is_an_error_contract_11():
    body = arrow_writer.stream(COLUMNS, [("a", 1, 0.5, True, "2020-01-01"), (None,) * 5, ("é", 2, math.nan, False, None)], 1)
    for end in range(len(body)):
        with pytest.raises((CutBodyError, StreamError)):
            count_rows(memoryview(body[:end]))
        with pytest.raises((CutBodyError, StreamError)):
            values(body[:end])
    with pytest.raises(StreamError):
        count_rows(memoryview(body + b"\0"))
    assert count_rows(memoryview(body)) == 3


@given(st.lists(ROW, min_size=1, max_size=5), st.data())
@settings(max_examples=300, deadline=None)
def test_damaged_streams_are_errors_or_values_and_never_anything_else(rows, data):
    body = bytearray(arrow_writer.stream(COLUMNS, rows, 2))
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    try:
        values(bytes(body))
    except (CutBodyError, StreamError):
        pass


def test_what_pyarrow_writes_is_read_and_what_we_write_pyarrow_reads():
    pa = pytest.importorskip("pyarrow")
    rows = [("a", 1, -0.0, True, "2020-01-01"), (None,) * 5, ("", -(2**63), 5e-324, False, "0001-01-01")]
    ours = pa.ipc.open_stream(arrow_writer.stream(COLUMNS, rows, 2, {"k": "v"})).read_all()
    assert [tuple(row.values()) for row in ours.to_pylist()] == rows
    assert ours.schema.metadata == {b"k": b"v"}
    assert ours.schema.field("d").metadata[b"yearbook.type"] == b"date"
    table = pa.table(
        {
            "large": pa.array(["x", None, "yz"], pa.large_string()), "small": pa.array([1, None, -3], pa.int8()), "unsigned": pa.array([2**64 - 1, 0, None], pa.uint64()),
            "half": pa.array([0.5, None, 1.5], pa.float32()), "day": pa.array([datetime.date(1600, 2, 29), None, datetime.date(9999, 12, 31)]), "none": pa.nulls(3),
        }
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.slice(1), max_chunksize=1)
        writer.write_table(table)
    assert values(sink.getvalue().to_pybytes()) == [tuple(row.values()) for row in table.slice(1).to_pylist() + table.to_pylist()]


def test_types_that_are_not_known_are_named():
    pa = pytest.importorskip("pyarrow")
    for array in (pa.array([[1]]), pa.array([b"x"]), pa.array(["a"]).dictionary_encode(), pa.array([datetime.datetime.now()])):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, pa.schema([("odd", array.type)])) as writer:
            writer.write_table(pa.table({"odd": array}))
        with pytest.raises(StreamError, match="odd"):
            values(sink.getvalue().to_pybytes())
