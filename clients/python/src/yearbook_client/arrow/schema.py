"""The schema of an Arrow stream: names, types and the credit in its metadata. Owns which types of
Arrow this reader knows."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import StreamError
from .flatbuffer import FlatTable

# Members of the union `Type` in Arrow's Schema.fbs.
_NULL, _INT, _FLOAT, _UTF8, _BOOL, _DATE, _LARGE_UTF8 = 1, 2, 3, 5, 6, 8, 20
_INT_CODES = {
    (8, True): "b",
    (16, True): "h",
    (32, True): "i",
    (64, True): "q",
    (8, False): "B",
    (16, False): "H",
    (32, False): "I",
    (64, False): "Q",
}


@dataclass(frozen=True)
class ArrowField:
    """A column. `kind` is string, integer, number, boolean, date or null; `code` the item's code in
    Python's `struct`, that of the offsets for texts."""

    name: str
    kind: str
    code: str
    nullable: bool = True
    metadata: dict[str, str] = field(default_factory=dict[str, str], compare=False)


@dataclass(frozen=True)
class ArrowSchema:
    """Columns in their order, and the stream's metadata."""

    fields: tuple[ArrowField, ...]
    metadata: dict[str, str] = field(default_factory=dict[str, str])


def declared_dates(fields: tuple[ArrowField, ...]) -> frozenset[str] | None:
    """Returns the names of columns that the stream declares as dates, whatever Arrow type they have.

    None where the stream declares nothing of any column."""
    if not any(key.startswith("yearbook.") for one in fields for key in one.metadata):
        return None
    return frozenset(one.name for one in fields if one.metadata.get("yearbook.type") == "date")


def parse_schema(header: FlatTable) -> ArrowSchema:
    """Parses the header of a schema message.

    Raises StreamError for a type that the service does not send."""
    if header.int16(0) != 0:
        raise StreamError("The Arrow stream is big-endian, which this reader does not know.")
    metadata = {pair.text(0): pair.text(1) for pair in header.tables(2)}
    return ArrowSchema(tuple(_field(one) for one in header.tables(1)), metadata)


def _field(table: FlatTable) -> ArrowField:
    name = table.text(0)
    kind, code = _kind(name, table)
    metadata = {pair.text(0): pair.text(1) for pair in table.tables(6)}
    return ArrowField(name, kind, code, bool(table.byte(1)), metadata)


def _kind(name: str, table: FlatTable) -> tuple[str, str]:
    union, details = table.byte(2), table.table(3)
    if table.table(4) is None and details is not None:
        if union == _UTF8:
            return "string", "i"
        if union == _LARGE_UTF8:
            return "string", "q"
        if union == _INT:
            code = _INT_CODES.get((details.int32(0), bool(details.byte(1))))
            if code:
                return "integer", code
        if union == _FLOAT and details.int16(0) in (1, 2):
            return "number", "f" if details.int16(0) == 1 else "d"
        if union == _BOOL:
            return "boolean", "?"
        # Days are 0 and written down; milliseconds are the default and may be left out.
        if union == _DATE and details.present(0) and details.int16(0) == 0:
            return "date", "i"
        if union == _NULL:
            return "null", ""
    raise StreamError(
        f"The column {name!r} has a type that the reader in plain Python does not know.",
        'Install pyarrow and choose to="arrow".',
    )
