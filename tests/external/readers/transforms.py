"""Random transforms of every dataset against pandas over the same rows.

pandas joins, groups and pivots; steps in the calendar, whole periods, and sums by fractions are written here a second time."""

import calendar
import datetime
import functools
import json
import math
import random
import re
import urllib.parse
from fractions import Fraction

import compare
import numpy as np
import pandas as pd
import pyarrow as pa
from selections import Connection
from tally import proof

SEED = 20261127
MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12}
DAYS = {"day": 1, "week": 7}
SUMMARIES = ["sum", "mean", "first", "last", "min", "max", "count"]
# Rows that are summed at most.
ROWS = 20_000
# Rows with a window each at most.
ROLLED = 2_000
# Parts of 1 that the smallest double is one of.
FINEST = 2**1074
# Tables of which every series has a value each day.
DAILY = {"weather_daily_two_cities"}


def code(text):
    """Form and number of a period code."""
    year = int(text[:4])
    if "/" in text:
        return "financial year", year
    if "Q" in text:
        return "quarter", year * 4 + int(text[6]) - 1
    return ("month", year * 12 + int(text[5:]) - 1) if "-" in text else ("year", year)


def day(text):
    return datetime.date.fromisoformat(text).toordinal()


def day_before(ordinal, unit, count):
    """The day so many units earlier, if there is one."""
    if unit in DAYS:
        return max(ordinal - count * DAYS[unit], 0) or None
    date = datetime.date.fromordinal(ordinal)
    month = date.year * 12 + date.month - 1 - count * MONTHS[unit]
    year, month = month // 12, month % 12 + 1
    if year < 1:
        return None
    last = calendar.monthrange(year, month)[1]
    if date.day == calendar.monthrange(date.year, date.month)[1]:
        return datetime.date(year, month, last).toordinal()
    return datetime.date(year, month, date.day).toordinal() if date.day <= last else None


def period_before(form, number, unit, count):
    length = MONTHS.get(form, 12)
    months = count * (MONTHS[unit] if unit else length)
    return None if months % length else number - months // length


def axis(days):
    """Of dates that are so many days apart at least: what numbers the day, week, month, … that a day is in, if there is such a unit."""
    if days is None or not (days <= 7 or 28 <= days <= 31 or 89 <= days <= 92 or 181 <= days <= 184 or 365 <= days <= 366):
        return None
    if days < 7:
        return lambda ordinal: ordinal
    if days == 7:
        # The week of 1970-01-01, a Thursday, begins on it.
        return lambda ordinal: (ordinal - day("1970-01-01")) // 7
    length = next(length for length in (1, 3, 6, 12) if days <= 31 * length)
    return lambda ordinal: month_of(ordinal) // length


def month_of(ordinal):
    date = datetime.date.fromordinal(ordinal)
    return date.year * 12 + date.month - 1


def null_last(value):
    """A key by which values ascend, and by which pandas groups nulls, too."""
    return value is None, 0 if value is None else value


def summary(kind, values):
    """What a summary of some values is."""
    left = [value for value in values if value is not None]
    if kind == "count":
        return len(left)
    if kind in ("first", "last"):
        return values[0 if kind == "first" else -1]
    if not left:
        return None
    if any(isinstance(value, float) and math.isnan(value) for value in left):
        return math.nan
    if kind in ("min", "max"):
        return min(left) if kind == "min" else max(left)
    if any(math.isinf(value) for value in left):
        return math.fsum(set(left)) if len({value for value in left if math.isinf(value)}) == 1 else math.nan
    # Every double is a whole number of these; as fractions they would be brought down to lowest terms at each step.
    exact = sum(FINEST // part * parts for parts, part in map(lambda value: value.as_integer_ratio(), left))
    return float(Fraction(exact, FINEST if kind == "sum" else FINEST * len(left)))


class Table:
    """A dataset in pandas, with what its metadata says. Values stay in Arrow, whose nulls are not NaN."""

    def __init__(self, server, package, everything):
        with server.open(f"/v1/datasets/{package.name}") as response:
            meta = json.load(response)
        self.name, self.date, self.series = package.name, meta["date_filter_column"], meta["series"]
        columns = [column for column in meta["columns"] if column["role"] != "geometry"]
        self.roles = {column["name"]: column["role"] for column in columns}
        self.types = {column["name"]: column["type"] for column in columns}
        self.period = next((name for name, role in self.roles.items() if role == "period"), None)
        numeric = [name for name, kind in self.types.items() if kind in ("integer", "number")]
        self.values = [name for name in numeric if self.roles[name] == "value"]
        self.rows = everything.select(list(self.types))
        self.frame = pd.DataFrame({"_row": range(self.rows.num_rows)})
        for name in self.types:
            self.frame[name] = pd.Series(self.rows.column(name).to_pylist(), dtype=object)
        self.lists = {name: list(self.frame[name]) for name in self.values}
        if self.date:
            times = self.rows.column(self.period or self.date).to_pylist()
            known = {text: code(text) if self.period else ("day", day(text)) for text in set(times) - {None}}
            self.frame["_form"] = [known[text][0] if text else None for text in times]
            self.frame["_time"] = pd.array([known[text][1] if text else None for text in times], "Int64")

    def between(self, start):
        return self.frame if start is None else self.frame[self.frame[self.date] >= start]

    def late_start(self, chance, count):
        """A date behind which there are at most so many rows."""
        dates = self.frame[self.date]
        start = chance.choice(dates.tolist())
        return max(start, dates.iloc[max(len(dates) - count, 0)])

    def typed(self, columns, types):
        """A table of lists, in the types of the wire."""
        kinds = {"string": pa.string(), "date": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_()}
        return pa.table({name: pa.array(values, kinds[types[name]]) for name, values in columns.items()})

    def ask(self, connection, start, transform, **options):
        """What the service answers."""
        bounds = {"limit": 0, "start": start or "0001-01-01"} if self.date else {"limit": 100_000_000}
        given = {f"{transform}.{name}": value for name, value in options.items()}
        query = {**bounds, "format": "arrow", "geometry": "false", "apply": transform, **given}
        path = f"/v1/datasets/{self.name}/data?" + urllib.parse.urlencode(query)
        rows, _ = connection.page(path)
        plain = [column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column for column in rows.columns]
        return pa.table(plain, names=rows.column_names)

    def declines(self, connection, word, transform, **options):
        """The service says so, and why."""
        try:
            self.ask(connection, None, transform, **options)
        except compare.Difference as difference:
            compare.same(f"the refusal, {difference}", True, str(difference).startswith("422") and word in str(difference))
            return
        raise compare.Difference(f"{self.name}: {transform} has an answer")

    def growth(self, chance, connection):
        measure = chance.choice(["ratio", "difference", "log", "index"])
        start = self.late_start(chance, len(self.frame)) if chance.random() < 0.5 else None
        keys = [*self.series, "_form"]
        newest = self.frame.drop_duplicates([*keys, "_time"], keep="last")
        rows = self.between(start)
        options = {"as": measure}
        if measure == "index":
            base = chance.choice(self.frame[self.period or self.date].dropna().tolist())
            options["base"] = base
            newest = newest[newest[self.period or self.date] == base]
            joined = rows.merge(newest[[*keys, "_row"]], how="left", on=keys, suffixes=("", "_earlier"))
        else:
            unit = chance.choice(["", "month", "quarter", "year"]) if self.period else chance.choice(["day", "week", "month", "year"])
            count = chance.choice([1, 1, 2, 3, 4, 5, 12])
            options |= {"periods": count, "unit": unit}
            times = set(zip(rows["_form"], rows["_time"]))
            before = {
                (form, time): None if form is None else day_before(time, unit, count) if form == "day" else period_before(form, time, unit, count)
                for form, time in times
            }
            rows = rows.assign(_before=pd.array([before[key] for key in zip(rows["_form"], rows["_time"])], "Int64"))
            right = newest[[*keys, "_time", "_row"]].rename(columns={"_time": "_before"})
            joined = rows.merge(right, how="left", on=[*keys, "_before"], suffixes=("", "_earlier"))
        at, earlier = joined["_row"].to_numpy(), joined["_row_earlier"]
        is_there, earlier = earlier.notna().to_numpy(), earlier.fillna(0).astype("int64").to_numpy()
        expected = self.rows.take(pa.array(at))
        for name in self.values:
            column = self.rows.column(name).combine_chunks()
            valid, number = np.asarray(column.is_valid()), np.asarray(column.fill_null(0)).astype("float64")
            x, p = number[at], number[earlier]
            valid = valid[at] & valid[earlier] & is_there
            with np.errstate(all="ignore"):
                result = {"ratio": x / p - 1, "difference": x - p, "log": np.log(x / p), "index": 100 * x / p}[measure]
                if measure != "difference":
                    valid &= p != 0
                if measure == "log":
                    valid &= (x / p > 0) | np.isnan(x) | np.isnan(p)
            result = np.where(np.isnan(result), np.nan, result)
            expected = expected.set_column(expected.column_names.index(name), name, pa.array(result, mask=~valid))
        found = self.ask(connection, start, "growth", **options)
        compare.equal(expected, found, off_by_one=measure == "log")

    def resample(self, chance, connection):
        forms = set(self.frame["_form"].dropna())
        shortest = max([MONTHS.get(form, 1) for form in forms], default=1)
        to = chance.choice([name for name in ("month", "quarter", "year") if MONTHS[name] >= shortest])
        kind = chance.choice(SUMMARIES)
        partial = chance.random() < 0.5 or (self.period is None and self.name not in DAILY)
        start = self.late_start(chance, ROWS)
        keys = [*self.series, "_form"]
        rows = self.between(start).drop_duplicates([*keys, "_time"], keep="last")
        if self.period:
            bucket = [time * MONTHS[form] // MONTHS[to] for form, time in zip(rows["_form"], rows["_time"])]
        else:
            dates = map(datetime.date.fromordinal, rows["_time"])
            bucket = [(date.year * 12 + date.month - 1) // MONTHS[to] for date in dates]
        rows = rows.assign(_bucket=bucket)
        lists = self.lists
        made = []
        for first, members in grouped(rows, [*keys, "_bucket"]):
            month = first["_bucket"] * MONTHS[to]
            date = datetime.date(month // 12, month % 12 + 1, 1)
            year = f"{date.year:04}"
            period = {"month": f"{year}-{date.month:02}", "quarter": f"{year}-Q{month % 12 // 3 + 1}", "year": year}[to]
            months = [(at // 12, at % 12 + 1) for at in range(month, month + MONTHS[to])]
            length = len(months) // MONTHS[first["_form"]] if self.period else sum(calendar.monthrange(*at)[1] for at in months)
            row = {self.date: date.isoformat(), self.period or "period": period} | {name: first[name] for name in self.series}
            for name in self.values:
                values = [lists[name][at] for at in members]
                whole = partial or sum(value is not None for value in values) == length
                row[name] = summary(kind, values) if whole else None
            made.append((date, [null_last(first[name]) for name in self.series], MONTHS.get(first["_form"], 0), row))
        made = [row for *_, row in sorted(made, key=lambda item: item[:3])]
        names = []
        for name in self.types:
            if name in (self.date, self.period, *self.series, *self.values):
                names.append(name)
            if name == self.date and not self.period:
                names.append("period")
        types = self.types | {"period": "string"} | self.summary_types(kind)
        expected = self.typed({name: [row[name] for row in made] for name in names}, types)
        found = self.ask(connection, start, "resample", to=to, **{"with": kind}, partial=str(partial).lower())
        compare.equal(expected, found)

    @functools.cached_property
    def moments(self):
        """Series and number of the time of each row; None where no unit numbers the dates."""
        number = None
        if self.period is None:
            times = self.frame.dropna(subset=["_time"]).drop_duplicates([*self.series, "_time"])
            steps = times.groupby(self.series, dropna=False)["_time"].diff() if self.series else times["_time"].diff()
            number = axis(None if steps.dropna().empty else int(steps.dropna().min()))
            if number is None:
                return None
        keys = zip(*(self.frame[name] for name in [*self.series, "_form"]))
        return list(zip(keys, [None if pd.isna(time) else number(time) if number else time for time in self.frame["_time"]]))

    def rolling(self, chance, connection):
        window, kind = chance.choice([1, 2, 3, 4, 7, 12, 40]), chance.choice(["mean", "sum", "min", "max", "count"])
        partial = chance.random() < 0.5
        start = self.late_start(chance, ROLLED) if chance.random() < 0.7 or len(self.frame) > ROLLED else None
        if self.moments is None:
            return self.declines(connection, "common distance", "rolling", window=window)
        rows = set(self.between(start)["_row"])
        newest, made = {}, {name: [] for name in self.values}
        for row, (key, now) in enumerate(self.moments):
            times = newest.setdefault(key, {})
            if now is not None:
                times[now] = row
            if row not in rows:
                continue
            within = [] if now is None else [times[at] for at in range(now - window + 1, now + 1) if at in times]
            for name, values in made.items():
                seen = [self.lists[name][at] for at in within]
                whole = now is not None and (partial or sum(value is not None for value in seen) == window)
                values.append(summary(kind, seen) if whole else None)
        expected = self.rows.take(pa.array(sorted(rows), pa.int64()))
        kinds = {"integer": pa.int64(), "number": pa.float64()}
        types = self.types | self.summary_types(kind)
        for name, values in made.items():
            expected = expected.set_column(expected.column_names.index(name), name, pa.array(values, kinds[types[name]]))
        compare.equal(expected, self.ask(connection, start, "rolling", window=window, **{"with": kind}, partial=str(partial).lower()))

    def summary_types(self, kind):
        if kind in ("sum", "mean"):
            return {name: "number" for name in self.values}
        return {name: "integer" for name in self.values} if kind == "count" else {}

    def aggregate(self, chance, connection):
        others = [name for name in self.types if name not in self.values]
        by = chance.sample(others, min(len(others), chance.choice([1, 1, 2])))
        kind = chance.choice(SUMMARIES)
        start = self.late_start(chance, ROWS) if self.date else None
        rows = self.between(start)
        lists = self.lists
        made = []
        for first, members in grouped(rows, by):
            row = {name: first[name] for name in by}
            key = [null_last(row[name]) for name in by]
            made.append((key, row | {name: summary(kind, [lists[name][at] for at in members]) for name in self.values}))
        made = [row for _, row in sorted(made, key=lambda item: item[0])]
        types = self.types | self.summary_types(kind)
        expected = self.typed({name: [row[name] for row in made] for name in [*by, *self.values]}, types)
        compare.equal(expected, self.ask(connection, start, "aggregate", by=",".join(by), **{"with": kind}))

    def pivot(self, chance, connection):
        texts = [name for name, kind in self.types.items() if kind == "string" and self.roles[name] in ("dimension", "key", "attribute")]
        few = [name for name in texts if 0 < self.frame[name].nunique() <= 60]
        if not few:
            return
        column, value = chance.choice(few), chance.choice(self.values)
        start = self.late_start(chance, ROWS) if self.date else None
        rows = self.between(start)
        times = [name for name in (self.date, self.period) if name]
        others = [name for name in self.types if name not in (column, *times, *self.values)]
        names, taken = {}, set(times) | set(others)
        for text in sorted(self.frame[column].dropna().unique()):
            name = re.sub("[^a-z0-9]+", "_", re.sub("[A-Z]", lambda letter: letter[0].lower(), text)).strip("_")
            name = (name if re.match("[a-z]", name) else "x" + name)[:64].rstrip("_")
            numbered = [name, *(f"{name[: 63 - len(str(number))]}_{number}" for number in range(2, 100))]
            names[text] = next(name for name in numbered if name not in taken)
            taken.add(names[text])
        keys = [*times, *others]
        refused = rows[column].isna().any() or rows.duplicated([*keys, column]).any()
        if refused:
            path = urllib.parse.urlencode({"apply": "pivot", "pivot.column": column, "pivot.value": value, "limit": 100, "start": start or "0001-01-01"})
            try:
                connection.page(f"/v1/datasets/{self.name}/data?format=csv&geometry=false&{path if self.date else path.rsplit('&', 1)[0]}")
            except compare.Difference as difference:
                compare.same("the refusal", True, "422" in str(difference)[:4] and ("aggregate" in str(difference) or "condition" in str(difference)))
                return
            raise compare.Difference(f"{self.name}: {column} has two rows for a cell")
        cells = self.lists[value]
        keyed = rows.assign(**{name: list(map(null_last, rows[name])) for name in keys})
        wide = keyed.pivot(index=keys, columns=column, values="_row").sort_index() if keys else keyed.assign(_one=0).pivot(index="_one", columns=column, values="_row")
        index = [key if len(keys) > 1 else (key,) for key in wide.index] if keys else [()]
        made = {name: [None if key[at][0] else key[at][1] for key in index] for at, name in enumerate(keys)}
        for text, name in names.items():
            positions = wide[text] if text in wide.columns else [math.nan] * len(index)
            made[name] = [None if math.isnan(at) else cells[int(at)] for at in positions]
        order = [name for name in self.types if name in keys] + list(names.values())
        types = self.types | {name: self.types[value] for name in names.values()}
        expected = self.typed({name: made[name] for name in order}, types)
        compare.equal(expected, self.ask(connection, start, "pivot", column=column, value=value))


def grouped(rows, keys):
    """Of each group of rows with the same `keys`: its first row by name, and the numbers of its rows. pandas says which
    rows are a group; to have it make a table of each takes a hundred times as long."""
    columns = {name: list(rows[name]) for name in rows.columns}
    groups = {}
    for position, group in enumerate(rows.groupby(keys, dropna=False, sort=False).ngroup()):
        groups.setdefault(group, []).append(position)
    for positions in groups.values():
        yield {name: column[positions[0]] for name, column in columns.items()}, [columns["_row"][at] for at in positions]


@proof
def transforms_are_those_of_pandas(tally, server, package, everything, count, seed=SEED):
    """`count` random requests for each transform of one dataset, the same ones each time."""
    table, connection = Table(server, package, everything), Connection(server)
    if not table.values or not len(table.frame):
        return
    kinds = [table.aggregate, table.pivot]
    if table.date:
        kinds += [table.growth, table.rolling]
        if "financial year" not in set(table.frame["_form"]):
            kinds.append(table.resample)
    before = tally.failed
    for kind in kinds:
        chance = random.Random(f"{seed} {package.name} {kind.__name__}")

        def all_of_them(kind=kind, chance=chance):
            for _ in range(count):
                kind(chance, connection)

        tally.check(f"{package.name}: {count} times {kind.__name__} as pandas", all_of_them)
    assert tally.failed == before, f"{package.name}: a transform differs from pandas'"
