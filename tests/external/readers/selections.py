"""Random selections of every dataset against DuckDB over the same rows: the same rows, in the same order, and pages that add up.

DuckDB gets the table as the service sends it whole; what a condition, an order or a series means is written here a second time, in SQL.
Which rows meet a box GEOS tells."""

import http.client
import io
import json
import random
import time
import urllib.parse

import compare
import duckdb
import numpy as np
import pyarrow as pa
import shapely
from pyarrow import ipc
from tally import proof

SEED = 20261126
# The service closes a connection that rests for 75 seconds; what a script expects may take longer to calculate.
LONGEST_REST_SECONDS = 30
TYPES_OF_BOUNDS = {"string", "date", "integer", "number"}
SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
FORM_OF_PERIOD = "CASE WHEN {0} LIKE '%/%' THEN 'financial' WHEN {0} LIKE '%Q%' THEN 'quarter' WHEN {0} LIKE '%-%' THEN 'month' ELSE 'year' END"


def fold(text):
    """Simple case folding, a character at a time."""
    return "".join(folded if len(folded := character.casefold()) == 1 else character for character in text)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def literal(value):
    """A value as SQL."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int):
        return f"({value})::BIGINT"
    if isinstance(value, float):
        return f"'{value!r}'::DOUBLE"
    return "'" + value.replace("'", "''") + "'"


def text(value):
    """A value as a parameter has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return {"nan": "NaN", "inf": "INF", "-inf": "-INF"}.get(repr(value), repr(value))
    return str(value)


class Table:
    """A dataset in DuckDB, with what its metadata says."""

    def __init__(self, server, package, everything):
        with server.open(f"/v1/datasets/{package.name}") as response:
            meta = json.load(response)
        self.name, self.date = package.name, meta["date_filter_column"]
        self.columns = [column for column in meta["columns"] if column["role"] != "geometry"]
        self.every_name = [column["name"] for column in meta["columns"]]
        self.types = {column["name"]: column["type"] for column in self.columns}
        roles = {column["name"]: column["role"] for column in self.columns}
        self.dimensions = [name for name, role in roles.items() if role == "dimension"]
        self.period = next((name for name, role in roles.items() if role == "period"), None)
        key = meta["primary_key"]
        is_time = [name for name in key if roles.get(name) in ("date", "period")]
        self.series = [name for name in key if name not in is_time] if is_time else [
            name for name, role in roles.items() if role == "dimension" and name not in key
        ]
        rows = everything.select(list(self.types))
        rows = rows.append_column("_row", pa.array(range(rows.num_rows), pa.int64()))
        self.rows = rows.num_rows
        self.duck = duckdb.connect(config={"threads": 1})
        self.duck.register("given", rows)
        self.duck.execute("CREATE TABLE t AS SELECT * FROM given")
        self.values = {name: self.distinct(name) for name in self.types}
        geometry = next((column["name"] for column in meta["columns"] if column["role"] == "geometry"), None)
        self.shapes = None if geometry is None else shapely.from_wkt(everything.column(geometry).to_pylist())

    def distinct(self, name):
        """Values that a condition may have: of 1,024 bytes at most."""
        found = self.duck.execute(f"SELECT DISTINCT {quoted(name)} FROM t ORDER BY 1 LIMIT 3000").fetchall()
        return [value for (value,) in found if value is not None and len(str(value).encode()) <= 1024]

    def condition(self, chance):
        """A random condition: its parameters, and the same in SQL."""
        name = chance.choice(list(self.types))
        kind, column = self.types[name], quoted(name)
        values = self.values[name]
        operators = ["", "", "", "not", "null"]
        if kind in TYPES_OF_BOUNDS:
            operators += ["ge", "gt", "le", "lt"]
        if kind == "string":
            operators += ["contains", "starts"]
        operator = chance.choice(operators)
        parameter = f"where.{name}" + (f".{operator}" if operator else "")
        if operator == "null":
            wanted = chance.random() < 0.5
            return [(parameter, text(wanted))], f"{column} IS {'' if wanted else 'NOT '}NULL"
        if not values:
            return [], "TRUE"
        if operator in SIGNS:
            value = chance.choice(values)
            if isinstance(value, float) and value != value:
                return [], "TRUE"
            sql = f"{column} {SIGNS[operator]} {literal(value)}"
            return [(parameter, text(value))], f"({sql} AND NOT isnan({column}))" if kind == "number" else f"({sql})"
        if operator in ("contains", "starts"):
            needles = []
            for _ in range(chance.randint(1, 3)):
                value = chance.choice(values)
                begin = 0 if operator == "starts" else chance.randint(0, len(value))
                needle = value[begin : begin + chance.randint(1, 6)]
                needles.append(needle.upper() if needle.isascii() and chance.random() < 0.5 else needle)
            holds = str.startswith if operator == "starts" else str.__contains__
            return [(parameter, needle) for needle in needles], self.folded(name, lambda value: any(holds(value, fold(needle)) for needle in needles))
        chosen = [chance.choice(values) for _ in range(chance.choice([1, 1, 2, 4]))]
        listed = ", ".join(literal(value) for value in chosen)
        sql = f"{column} NOT IN ({listed})" if operator == "not" else f"{column} IN ({listed})"
        return [(parameter, text(value)) for value in chosen], f"({sql})"

    def folded(self, name, holds):
        """Rows whose text, folded, has a property, in SQL."""
        column = quoted(name)
        every = self.duck.execute(f"SELECT DISTINCT {column} FROM t WHERE {column} IS NOT NULL").fetchall()
        found = ", ".join(literal(value) for (value,) in every if holds(fold(value)))
        return f"{column} IN ({found})" if found else "FALSE"

    def search(self, chance):
        """A random search of all dimensions: its parameter, and the same in SQL."""
        value = chance.choice(self.values[chance.choice(self.dimensions)] or [""])
        begin = chance.randint(0, len(value))
        needle = value[begin : begin + chance.randint(1, 4)]
        if not needle:
            return [], "TRUE"
        columns = [self.folded(name, lambda text: fold(needle) in text) for name in self.dimensions]
        return [("dimensions", needle)], f"coalesce({' OR '.join(columns)}, FALSE)"

    def box(self, chance):
        """A random box with a corner of a row's geometry: its parameter, and the same in SQL."""
        corners = [chance.choice(self.shapes) for _ in range(2)]
        if any(shapely.is_missing(shape) or shapely.is_empty(shape) for shape in corners):
            return [], "TRUE"
        (x, y), (other, far) = (chance.choice(shapely.get_coordinates(shape).tolist()) for shape in corners)
        if chance.random() < 0.5:
            other, far = x + chance.uniform(-3, 3), y + chance.uniform(-3, 3)
        west, east = sorted(max(-180.0, min(180.0, at)) for at in (x, other))
        south, north = sorted(max(-90.0, min(90.0, at)) for at in (y, far))
        if chance.random() < 0.1:
            west, east = east, west
        parts = [(west, east)] if west <= east else [(west, 180.0), (-180.0, east)]
        if south == north or any(left == right for left, right in parts):
            return [], "TRUE"
        areas = [shapely.box(left, south, right, north) for left, right in parts]
        meets = np.logical_or.reduce([shapely.intersects(self.shapes, area) for area in areas])
        near = np.logical_or.reduce([shapely.intersects(shapely.envelope(self.shapes), area) for area in areas])
        # What breaks the rules of Simple Features has no inside for GEOS.
        if (near & ~shapely.is_valid(self.shapes)).any():
            return [], "TRUE"
        rows = ", ".join(str(row) for row in np.flatnonzero(meets))
        return [("bbox", ",".join(map(repr, (west, south, east, north))))], f"_row IN ({rows})" if rows else "FALSE"

    def sort(self, chance):
        """A random order: its value, and the same in SQL."""
        names = chance.sample(list(self.types), min(len(self.types), chance.choice([1, 1, 2, 3])))
        if self.date and chance.random() < 0.3:
            names = [self.date]
        parts, terms = [], []
        for name in names:
            down, column = chance.random() < 0.5, quoted(name)
            parts.append(f"-{name}" if down else name)
            terms.append(f"({column} IS NULL)")
            if self.types[name] == "number":
                terms.append(f"coalesce(isnan({column}), FALSE)")
                column = f"({column} + 0.0)"
            terms.append(f"{column} {'DESC' if down else 'ASC'}")
        return ",".join(parts), ", ".join([*terms, "_row"])

    def selection(self, chance):
        """A random selection: its parameters, and the numbers of its rows in order."""
        pairs, conditions = [], ["TRUE"]
        for _ in range(chance.choice([0, 1, 1, 2, 3])):
            more, sql = self.condition(chance)
            if {name for name, _ in more} & {name for name, _ in pairs}:
                continue
            pairs += more
            conditions.append(sql)
        if self.dimensions and chance.random() < 0.2:
            more, sql = self.search(chance)
            pairs += more
            conditions.append(sql)
        if self.date and chance.random() < 0.3:
            first, last = sorted(chance.choice(self.values[self.date]) for _ in range(2))
            pairs += [("start", first), ("end", last)]
            conditions.append(f"{quoted(self.date)} BETWEEN {literal(first)} AND {literal(last)}")
        if self.shapes is not None and len(self.shapes) and chance.random() < 0.3:
            more, sql = self.box(chance)
            pairs += more
            conditions.append(sql)
        sql = f"SELECT * FROM t WHERE {' AND '.join(conditions)}"
        if self.date and chance.random() < 0.3:
            word, count = chance.choice(["first", "last"]), chance.choice([1, 1, 2, 5, 1000])
            pairs.append((word, str(count)))
            parts = [quoted(name) for name in self.series]
            if self.period:
                parts.append(FORM_OF_PERIOD.format(quoted(self.period)))
            partition = f"PARTITION BY {', '.join(parts)} " if parts else ""
            direction = "DESC" if word == "last" else "ASC"
            sql += f" QUALIFY row_number() OVER ({partition}ORDER BY _row {direction}) <= {count}"
        order = "_row"
        if chance.random() < 0.4:
            value, order = self.sort(chance)
            pairs.append(("sort", value))
        chance.shuffle(pairs)
        return pairs, f"SELECT _row FROM ({sql}) ORDER BY {order}"


class Connection:
    """One connection that stays open, but for rests that are longer than the service keeps it."""

    def __init__(self, server):
        host = urllib.parse.urlsplit(server.base).netloc
        self.key, self.connection = server.key, http.client.HTTPConnection(host, timeout=120)
        self.rests_since = time.monotonic()

    def page(self, path):
        """Rows of a page, and the cursor of the next."""
        if time.monotonic() - self.rests_since > LONGEST_REST_SECONDS:
            self.connection.close()
        self.connection.request("GET", path, headers={"X-API-Key": self.key})
        answer = self.connection.getresponse()
        body = answer.read()
        self.rests_since = time.monotonic()
        if answer.status != 200:
            raise compare.Difference(f"{answer.status} for {path}: {body[:300]!r}")
        rows = ipc.open_stream(io.BytesIO(body)).read_all()
        told = answer.headers.get("X-Service-Rows")
        if told is not None and int(told) != rows.num_rows:
            raise compare.Difference(f"{path} tells {told} rows and has {rows.num_rows}")
        return rows, answer.headers.get("X-Next-Page")


def check_one(table, connection, chance, everything):
    """One selection, read whole or in pages."""
    pairs, sql = table.selection(chance)
    # All of it in pages of some rows; or the first rows alone.
    wanted = table.duck.execute(sql).fetchnumpy()["_row"]
    limit = chance.choice([1, 7, 50, 1000])
    pages = chance.choice([1, 1, 3])
    names = chance.sample(table.every_name, chance.randint(1, min(4, len(table.every_name)))) if chance.random() < 0.5 else list(table.types)
    query = [*pairs, ("columns", ",".join(names)), ("format", "arrow"), ("limit", str(limit))]
    parts, cursor = [], None
    for _ in range(pages):
        path = f"/v1/datasets/{table.name}/data?" + urllib.parse.urlencode(query + ([("cursor", cursor)] if cursor else []))
        rows, cursor = connection.page(path)
        parts.append(rows)
        if cursor is None:
            break
    found = pa.concat_tables(parts)
    expected = wanted[: limit * pages]
    if found.num_rows != len(expected) or (cursor is None) != (len(wanted) <= limit * len(parts)):
        raise compare.Difference(f"{path}: {found.num_rows} rows of {len(expected)}, {len(wanted)} in all, cursor {cursor}")
    plain = [column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in found.columns]
    found = pa.table(plain, names=found.column_names)
    compare.equal(everything.select(names).take(pa.array(expected)), found)


@proof
def selections_are_those_of_duckdb(tally, server, package, everything, count, seed=SEED):
    """`count` random selections of one dataset, the same ones each time."""
    table, connection = Table(server, package, everything), Connection(server)
    chance = random.Random(f"{seed} {package.name}")
    before = tally.failed

    def all_of_them():
        for _ in range(count):
            check_one(table, connection, chance, everything)

    tally.check(f"{package.name}: {count} selections as DuckDB", all_of_them)
    assert tally.failed == before, f"{package.name}: a selection differs from DuckDB's"
