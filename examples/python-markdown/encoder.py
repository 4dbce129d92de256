"""The output format `markdown` in Python: a table as GitHub Flavoured Markdown writes it (spec-4.1-format).

Reads the buffers of the Arrow C data interface with `struct`, without an Arrow library. Each part
depends on nothing but its rows, so parts are promised to be independent. Long geometries never come in:
they stay with the host, and a splice says where each belongs. componentize-py looks for the interface's
functions and for its resource in a module of the interface's name: this one.
"""

import struct
from datetime import date

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.encoder import (
    Buffer_Held,
    Crossing_Offsets,
    Crossing_Whole,
    Description,
    HeldText,
    Piece,
    Splice,
    Traits,
    View,
)
from wit_world.imports.types import Error_UnsupportedSchema, Parameter, ParameterKind

# Shortest mean length of geometries that stay with the host, bytes. Shorter ones cost less to copy.
HELD_BYTES = 256

EPOCH = date(1970, 1, 1).toordinal()
# Days in 400 years.
CYCLE = 146_097

# What would end a cell or begin markup. A backslash comes first: it escapes the others.
SPECIAL = str.maketrans(
    {**{sign: "\\" + sign for sign in "\\|`*_[]<>#~&!"}, "\n": "<br>", "\r": "", "\t": " "}
)


class Encoder(exports.Encoder):
    """The interface's functions. The work is done in `Encoding`."""

    def describe(self) -> Description:
        return Description(
            format="markdown",
            version="1.0.0",
            media_type="text/markdown; charset=utf-8; variant=GFM",
            extension="md",
            separator=b"",
            part_rows=None,
            dictionaries=False,
            compressible=True,
            parameters=[
                Parameter(
                    "null",
                    ParameterKind.TEXT,
                    "",
                    [],
                    "What stands in a cell without a value.",
                )
            ],
            docs="A table in GitHub Flavoured Markdown: a line for each row, numbers to the right. Line breaks become `<br>`; "
            "what Markdown would read as markup is escaped. For tables that people read: use a limit.",
        )


class Encoding:
    """One response."""

    def __init__(self, fields, null):
        self.fields = fields
        self.null = null

    @classmethod
    def open(cls, schema, options):
        for field in schema.fields:
            if field.format not in READERS:
                raise Err(
                    Error_UnsupportedSchema(
                        f"markdown cannot write the column '{field.name}': its type is none of text, integer, number, "
                        "boolean and date; leave it out with `columns` or ask for another format"
                    )
                )
        return cls(schema.fields, escape(options[0].value.value))

    def views(self):
        """Geometry is text in WKT, which has nothing to escape, so its offsets suffice."""
        held = Crossing_Offsets(HeldText(HELD_BYTES, Traits(0), Traits(0)))
        return [View(False, held if is_geometry(field) else Crossing_Whole()) for field in self.fields]

    def head(self):
        names = [escape(field.name) for field in self.fields]
        rules = ["--:" if field.format in "lg" else "---" for field in self.fields]
        return (line(names) + line(rules)).encode()

    def part(self, rows):
        columns, first = [], 0
        for field, array in zip(self.fields, rows.arrays):
            buffers = rows.buffers[first : first + array.buffers]
            if isinstance(buffers[-1], Buffer_Held):
                cells = ranges(first + 2, array.length, buffers[1].value)
            else:
                cells = READERS[field.format](array.length, *(buffer.value for buffer in buffers[1:]))
            first += array.buffers
            columns.append(present(cells, buffers[0].value, self.null) if array.null_count else cells)
        out, splices = bytearray(), []
        for cells in zip(*columns):
            for cell in cells:
                out += b"| "
                if isinstance(cell, str):
                    out += cell.encode()
                elif cell[2]:
                    splices.append(Splice(len(out), *cell))
                out += b" "
            out += b"|\n"
        return Piece(bytes(out), splices, b"")

    def tail(self, notes):
        return b""


def line(cells):
    return "| " + " | ".join(cells) + " |\n"


def is_geometry(field):
    return any(pair.key == "yearbook.role" and pair.value == "geometry" for pair in field.metadata)


def ranges(buffer, rows, offsets):
    """Of each row: buffer, offset and length of a text that stays with the host."""
    ends = struct.unpack(f"<{rows + 1}i", offsets)
    return [(buffer, start, end - start) for start, end in zip(ends, ends[1:])]


def escape(text):
    return text.translate(SPECIAL)


def present(cells, validity, null):
    """Cells, with `null` where the bitmap (least significant bit first) has a zero."""
    return [cell if validity[row >> 3] >> (row & 7) & 1 else null for row, cell in enumerate(cells)]


def text(rows, offsets, values):
    ends = struct.unpack(f"<{rows + 1}i", offsets)
    return [escape(str(values[start:end], "utf-8")) for start, end in zip(ends, ends[1:])]


def integers(rows, values):
    return list(map(str, struct.unpack(f"<{rows}q", values)))


def numbers(rows, values):
    # The shortest text that reads back the same, as everywhere in the service.
    return list(map(repr, struct.unpack(f"<{rows}d", values)))


def booleans(rows, values):
    return ["true" if values[row >> 3] >> (row & 7) & 1 else "false" for row in range(rows)]


def dates(rows, values):
    return list(map(day, struct.unpack(f"<{rows}i", values)))


def day(days):
    """ISO 8601 in any year, with a sign and six digits outside 0 to 9999 as in the other formats. Python's
    calendar has only 1 to 9999, but repeats itself every 400 years."""
    cycles, rest = divmod(EPOCH + days - 1, CYCLE)
    inside = date.fromordinal(rest + 1)
    year = inside.year + 400 * cycles
    return (f"{year:04}" if 0 <= year <= 9999 else f"{year:+07}") + f"-{inside.month:02}-{inside.day:02}"


# By the C data interface's format strings.
READERS = {"u": text, "l": integers, "g": numbers, "b": booleans, "tdD": dates}
