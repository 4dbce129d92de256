"""Equality of tables: names, order, nulls and every bit of every value."""

import numpy
import pyarrow as pa
import pyarrow.compute


class Difference(AssertionError):
    """Return the difference, in a sentence."""


def same(what, expected, found):
    if expected != found:
        raise Difference(f"{what} is {found!r}, not {expected!r}")


def same_names(packages, listed):
    """Every package is served."""
    missing = {package.name for package in packages} - set(listed)
    if missing:
        raise Difference(f"not listed: {sorted(missing)}")


def equal(expected, found, off_by_one=False):
    """Raises unless both tables hold the same rows in the same order; a float's last bit may be `off_by_one`."""
    same("the list of columns", expected.column_names, found.column_names)
    same("the number of rows", expected.num_rows, found.num_rows)
    for name in expected.column_names:
        kind = expected.schema.field(name).type
        column = plain(found.column(name), kind, name)
        unequal = differences(plain(expected.column(name), kind, name), column, off_by_one)
        if len(unequal):
            row = int(unequal[0])
            raise Difference(
                f"column {name}: {len(unequal)} of {len(column)} rows differ, first row {row + 1}: "
                f"{column[row].as_py()!r:.200}, not {expected.column(name)[row].as_py()!r:.200}"
            )


def plain(column, kind, name):
    """One array of the type that the column has on the wire, whatever text type a reader prefers."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], kind)
    text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_dictionary)
    # A column of nulls alone has no type in some readers.
    converts = array.type == kind or pa.types.is_null(array.type) or (kind == pa.string() and any(is_text(array.type) for is_text in text))
    if not converts:
        raise Difference(f"column {name} is {array.type}, not {kind}")
    return array.cast(kind)


def differences(expected, found, off_by_one=False):
    """Positions at which two arrays of one type differ; floats by their bits."""
    nulls = [numpy.asarray(array.is_null()) for array in (expected, found)]
    if pa.types.is_floating(expected.type):
        values = [numpy.asarray(array.fill_null(0.0)).view(numpy.int64) for array in (expected, found)]
        # Bits count upwards with the number, so the next float has the next bits.
        unequal = numpy.abs(values[0] - values[1]) > 1 if off_by_one else values[0] != values[1]
    else:
        unequal = ~numpy.asarray(pa.compute.equal(expected, found).fill_null(True))
    return numpy.flatnonzero(unequal | (nulls[0] != nulls[1]))
