"""The transform `running_total` in Python: each value column of numbers becomes the sum of the values of its
series up to its row.

Reads and writes the buffers of the Arrow C data interface with `struct`, without an Arrow library. The
host numbers the series, so their dimensions need not come in, and columns that are only passed on stay
with it. componentize-py looks for the interface's functions and for its resource in a module of the
interface's name: this one.
"""

import json
import struct

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.transform import (
    Column,
    Description,
    Form,
    Kind,
    MadeRows,
    Need,
    Needs,
    Output,
    Priming_None_,
    Refusal_UnsupportedSchema,
    Relation,
    Source_Made,
    Source_Passed,
)
from wit_world.imports.types import Array


class Transform(exports.Transform):
    """The interface's functions. The work is done in `Transforming`."""

    def describe(self) -> Description:
        return Description(
            name="running_total",
            version="1.0.0",
            title="Running total",
            independent=False,
            parameters=[],
            docs="The sum of the values of each series from its first row in the answer on. A null stays null and adds nothing.",
        )

    def plan(self, schema, options) -> Needs:
        series = json.loads(metadata(schema).get("yearbook.series", "[]"))
        names = [field.name for field in schema.fields]
        if not summed(schema):
            raise Err(Refusal_UnsupportedSchema("no value column holds numbers; apply running_total to a table with one"))
        return Needs(
            columns=[Need(column, Form.PLAIN) for column in summed(schema)],
            groups=[names.index(name) for name in series],
            before=None,
            prime=Priming_None_(),
        )


class Transforming:
    """One response: the totals of each series so far."""

    def __init__(self, schema):
        self.schema = schema
        self.totals = [{} for _ in summed(schema)]

    @classmethod
    def open(cls, schema, codes, options):
        return cls(schema)

    def output(self):
        made = summed(self.schema)
        columns = []
        for position, field in enumerate(self.schema.fields):
            facts = metadata(field)
            source = Source_Made(Kind.NUMBER) if position in made else Source_Passed(position)
            columns.append(Column(field.name, source, facts.get("yearbook.role"), facts.get("yearbook.unit"), None))
        return Output(columns, Relation.SAME, [])

    def prime(self, rows):
        pass

    def push(self, rows):
        arrays, buffers, first = [], [], 0
        for array, totals in zip(rows.arrays, self.totals):
            validity, values = rows.buffers[first : first + array.buffers]
            first += array.buffers
            out = list(struct.unpack(f"<{array.length}d", values))
            for row, group in enumerate(rows.groups):
                if not array.null_count or validity[row >> 3] >> (row & 7) & 1:
                    out[row] = totals[group] = totals.get(group, 0.0) + out[row]
            arrays.append(array)
            buffers += [validity, struct.pack(f"<{array.length}d", *out)]
        made = [Array(array.length, array.null_count, 2, False) for array in arrays]
        return MadeRows(rows=rows.rows, take=[], groups=[], arrays=made, buffers=buffers)

    def finish(self):
        return None


def metadata(part):
    """Metadata of a schema or of a field."""
    return {pair.key: pair.value for pair in part.metadata}


def summed(schema):
    """Positions of the value columns of numbers."""
    fields = enumerate(schema.fields)
    return [position for position, field in fields if field.format == "g" and metadata(field).get("yearbook.role") == "value"]
