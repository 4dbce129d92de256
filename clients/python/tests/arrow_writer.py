"""A writer of Arrow streams in plain Python, for tests where pyarrow is not installed. Owns a layout of
FlatBuffers that is not the one of any library: parents first, so that readers may not rely on order."""

from __future__ import annotations

import struct

END = struct.pack("<II", 0xFFFFFFFF, 0)
SIZES = {"B": 1, "h": 2, "i": 4, "q": 8}


class Table:
    """A FlatBuffers table: fields by number, each a kind and a value."""

    def __init__(self, **fields):
        self.fields = {int(name[1:]): value for name, value in fields.items() if value is not None}


def _pad(out, alignment, plus=0):
    while (len(out) + plus) % alignment:
        out.append(0)


def _write_table(out, table):
    last = max(table.fields, default=-1)
    vtable_bytes = 4 + 2 * (last + 1)
    _pad(out, 8, vtable_bytes + 4)
    place = len(out)
    entries, layout = [0] * (last + 1), bytearray(4)
    children = []
    for number, (kind, value) in sorted(table.fields.items(), key=lambda item: -SIZES.get(item[1][0], 4)):
        size = SIZES.get(kind, 4)
        # The table begins at 4 modulo 8.
        while (len(layout) + 4) % size:
            layout.append(0)
        entries[number] = len(layout)
        if kind in SIZES:
            layout += struct.pack("<" + kind, value)
        else:
            children.append((len(layout), kind, value))
            layout += bytes(4)
    start = place + vtable_bytes
    out += struct.pack(f"<HH{last + 1}H", vtable_bytes, len(layout), *entries)
    struct.pack_into("<i", layout, 0, start - place)
    out += layout
    for offset, kind, value in children:
        target = _write_child(out, kind, value)
        struct.pack_into("<I", out, start + offset, target - (start + offset))
    return start


def _write_child(out, kind, value):
    if kind == "table":
        return _write_table(out, value)
    if kind == "text":
        raw = value.encode()
        _pad(out, 4)
        place = len(out)
        out += struct.pack("<I", len(raw)) + raw + b"\0"
        return place
    if kind == "pairs":
        _pad(out, 8, 4)
        place = len(out)
        out += struct.pack("<I", len(value))
        for pair in value:
            out += struct.pack("<qq", *pair)
        return place
    _pad(out, 4)
    place = len(out)
    out += struct.pack("<I", len(value)) + bytes(4 * len(value))
    for index, one in enumerate(value):
        target = _write_table(out, one)
        at = place + 4 + 4 * index
        struct.pack_into("<I", out, at, target - at)
    return place


def _message(kind, header, body):
    out = bytearray(4)
    root = _write_table(out, Table(_0=("h", 4), _1=("B", kind), _2=("table", header), _3=("q", len(body))))
    struct.pack_into("<I", out, 0, root)
    _pad(out, 8)
    return struct.pack("<II", 0xFFFFFFFF, len(out)) + bytes(out) + body


def _pairs(metadata):
    return ("tables", [Table(_0=("text", key), _1=("text", value)) for key, value in metadata.items()]) if metadata else None


def _type(kind):
    if kind == "integer":
        return 2, Table(_0=("i", 64), _1=("B", 1))
    if kind == "number":
        return 3, Table(_0=("h", 2))
    return {"boolean": 6}.get(kind, 5), Table()


def schema_message(columns, metadata=None):
    """The schema; `columns` has name and kind of each."""
    fields = []
    for name, kind in columns:
        union, details = _type(kind)
        about = {"yearbook.role": "value"} | ({"yearbook.type": "date"} if kind == "date" else {})
        fields.append(
            Table(_0=("text", name), _1=("B", 1), _2=("B", union), _3=("table", details), _6=_pairs(about))
        )
    return _message(1, Table(_1=("tables", fields), _2=_pairs(metadata)), b"")


def _bits(flags):
    out = bytearray((len(flags) + 7) // 8)
    for index, flag in enumerate(flags):
        out[index // 8] |= bool(flag) << (index % 8)
    return bytes(out)


def _buffers(kind, values):
    validity = b"" if None not in values else _bits([value is not None for value in values])
    if kind == "boolean":
        return [validity, _bits([bool(value) for value in values])]
    if kind in ("integer", "number"):
        code = "q" if kind == "integer" else "d"
        return [validity, struct.pack(f"<{len(values)}{code}", *[0 if value is None else value for value in values])]
    raws = [b"" if value is None else str(value).encode() for value in values]
    offsets = [0]
    for raw in raws:
        offsets.append(offsets[-1] + len(raw))
    return [validity, struct.pack(f"<{len(offsets)}i", *offsets), b"".join(raws)]


def batch_message(columns, rows):
    """A batch of rows, each a tuple."""
    body, places, nodes = bytearray(), [], []
    for index, (_, kind) in enumerate(columns):
        values = [row[index] for row in rows]
        nodes.append((len(values), sum(value is None for value in values)))
        for buffer in _buffers(kind, values):
            places.append((len(body), len(buffer)))
            body += buffer
            _pad(body, 8)
    return _message(3, Table(_0=("q", len(rows)), _1=("pairs", nodes), _2=("pairs", places)), bytes(body))


def stream(columns, rows, batch_rows=1000, metadata=None):
    """A whole stream."""
    parts = [schema_message(columns, metadata)]
    parts += [batch_message(columns, rows[at : at + batch_rows]) for at in range(0, len(rows), batch_rows)]
    return b"".join([*parts, END])
