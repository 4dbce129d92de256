"""Losses of formats and readers: each function makes of a table what is left of it, so that a loss is asserted to the value.

docs/api.md names each in words.
"""

import pyarrow as pa
import pyarrow.compute as pc


def _each(table, concerns, change):
    """The table with `change` made to every column of a type."""
    for at, field in enumerate(table.schema):
        if concerns(field.type):
            table = table.set_column(at, field, change(table.column(at)))
    return table


def empty_is_null(table):
    """An empty text cannot be told from a null."""
    return _each(table, pa.types.is_string, lambda column: pc.if_else(pc.equal(column, ""), None, column))


def nan_is_null(table):
    """NaN cannot be told from a null; infinities can."""
    return _each(table, pa.types.is_floating, lambda column: pc.if_else(pc.is_nan(column), None, column))


def only_finite(table):
    """JSON has neither NaN nor infinities: null stands for them."""
    return _each(table, pa.types.is_floating, lambda column: pc.if_else(pc.is_finite(column), column, None))


def line_ends_are_line_feeds(table):
    """Inside of a text, a carriage return becomes a line feed, and so does one together with a line feed."""

    def change(column):
        return pc.replace_substring(pc.replace_substring(column, "\r\n", "\n"), "\r", "\n")

    return _each(table, pa.types.is_string, change)


def left_of(table, losses):
    """The table after all of them."""
    for loss in losses:
        table = loss(table)
    return table
