"""Data frames of pandas and geopandas. Owns the types of their columns: a null number is NaN unless
`dtype_backend="pyarrow"` (contract-11-pandas-null), and what cannot be held exactly is an
exception."""

from __future__ import annotations

from typing import Any

from ..credits import attach
from ..errors import ConversionError, UsageError
from ..optional import available, require
from ..pull import Pull
from .rows import columns_of

# Integers beyond it have neighbours that a float cannot tell apart.
EXACT = 2**53
DATE_TYPE = "datetime64[us]"


def to_pandas(pull: Pull, dtype_backend: str | None = None) -> Any:
    """Returns all rows of a pull as a `pandas.DataFrame`.

    Dates are `datetime64[us]`, booleans with nulls `boolean`, numbers and integers with nulls floats
    in which a null is NaN. Raises ConversionError where an integer would lose digits by that."""
    if dtype_backend not in (None, "pyarrow"):
        raise UsageError(f"`dtype_backend` is {dtype_backend!r}.", 'It is "pyarrow" or left away.')
    require("pandas", 'The result to="pandas"')
    if dtype_backend == "pyarrow" or available("pyarrow"):
        from .arrow import plain_table

        return attach(frame_of(plain_table(pull), dtype_backend), pull.credit)
    return attach(_without_pyarrow(pull), pull.credit)


def to_geopandas(pull: Pull) -> Any:
    """Returns a `geopandas.GeoDataFrame` in EPSG:4326, with the geometry in the column `geometry`.

    Raises UsageError where the selection has no geometry."""
    geopandas = require("geopandas", 'The result to="geopandas"')
    frame = to_pandas(pull)
    return attach(geo_frame(geopandas, frame), pull.credit)


def geo_frame(geopandas: Any, frame: Any) -> Any:
    """Turns the column of WKT into one of geometries."""
    if "geometry_wkt" not in frame.columns:
        raise UsageError(
            "The selection has no geometry.", 'Choose to="pandas", or select `geometry_wkt` too.'
        )
    shapes = geopandas.GeoSeries.from_wkt(
        frame["geometry_wkt"].astype(object).where(frame["geometry_wkt"].notna(), None), crs=4326
    )
    position = list(frame.columns).index("geometry_wkt")
    frame = frame.drop(columns="geometry_wkt")
    frame.insert(position, "geometry", shapes)
    return geopandas.GeoDataFrame(frame, geometry="geometry", crs=4326)


def frame_of(table: Any, dtype_backend: str | None = None) -> Any:
    """Turns a `pyarrow.Table` into a data frame with the types that `to_pandas` promises."""
    pandas, pa = require("pandas", "pandas"), require("pyarrow", "pandas")
    if dtype_backend == "pyarrow":
        return table.to_pandas(types_mapper=pandas.ArrowDtype)
    for index, field in enumerate(table.schema):
        column = table.column(index)
        if pa.types.is_integer(field.type) and column.null_count:
            bounds = pa.compute.min_max(column).as_py()
            _check_exact(field.name, bounds["min"] or 0, bounds["max"] or 0)
        elif pa.types.is_date(field.type):
            table = table.set_column(index, field.name, column.cast(pa.timestamp("us")))
    nullable = {
        field.name
        for index, field in enumerate(table.schema)
        if pa.types.is_boolean(field.type) and table.column(index).null_count
    }
    frame = table.to_pandas()
    for name in nullable:
        frame[name] = frame[name].astype("boolean")
    return frame


def _without_pyarrow(pull: Pull) -> Any:
    """Makes a data frame of the values that the reader in plain Python finds."""
    from ..arrow.stream import StreamReader, open_stream
    from .rows import column_values

    types = columns_of(pull.sources[0], pull.dates)
    values: list[list[Any]] = [[] for _ in types]
    for source in pull.sources:
        with open_stream(source.page.path) as buffer:
            for batch in StreamReader(buffer):
                for found, column in zip(values, column_values(batch, pull.dates)):
                    found.extend(column)
    named = {column.name: found for column, found in zip(types, values)}
    rows = len(values[0]) if values else 0
    return frame_of_values({column.name: column.type for column in types}, named, rows)


def frame_of_values(types: dict[str, str], values: dict[str, list[Any]], rows: int) -> Any:
    """Makes a data frame of Python objects, with the types that `to_pandas` promises."""
    pandas = require("pandas", 'The result to="pandas"')
    series = {name: _series(pandas, name, kind, values[name]) for name, kind in types.items()}
    return pandas.DataFrame(series, index=pandas.RangeIndex(rows))


def _series(pandas: Any, name: str, kind: str, values: list[Any]) -> Any:
    if kind == "date":
        return pandas.Series(values, dtype=object).astype(DATE_TYPE)
    if kind == "boolean":
        return pandas.Series(values, dtype="boolean" if None in values else "bool")
    if kind == "integer":
        numbers = [value for value in values if value is not None]
        if len(numbers) == len(values):
            return pandas.Series(values, dtype="int64")
        _check_exact(name, min(numbers, default=0), max(numbers, default=0))
        return pandas.Series(values, dtype="float64")
    if kind == "number":
        return pandas.Series(values, dtype="float64")
    return pandas.Series(values, dtype="str" if _has_text_type(pandas) else object)


def _has_text_type(pandas: Any) -> bool:
    return int(pandas.__version__.partition(".")[0]) >= 3


def _check_exact(name: str, lowest: int, highest: int) -> None:
    if max(-lowest, highest) > EXACT:
        raise ConversionError(
            f"The column {name!r} has nulls and integers beyond 2^53, which a float would round.",
            'Choose dtype_backend="pyarrow", or to="arrow".',
        )
