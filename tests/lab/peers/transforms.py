"""The calculation of a built-in transform by a peer: a Parquet file in, an Arrow stream to nowhere out, again and again.
Run by `cargo xtask bench transforms`; prints one JSON object. Ends with an error where Yearbook's rows are others.
"""

import json
import statistics
import sys
import time

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.ipc

VALUES = ["value", "count"]
AGGREGATED = ["date", "region", "industry"]


def growth_pandas(rows):
    rows[VALUES] = rows.groupby("series_code", sort=False, observed=True)[VALUES].pct_change(fill_method=None)
    return rows


def resample_pandas(rows):
    rows["period"] = rows["date"].str[:4]
    rows["date"] = rows["period"] + "-01-01"
    return rows.groupby(["date", "period", "series_code"], observed=True)[VALUES].mean().reset_index()


def aggregate_pandas(rows):
    return rows.groupby(AGGREGATED, observed=True)[VALUES].sum().reset_index()


def aggregate_duckdb(path):
    database = duckdb.connect(config={"threads": 1})
    sums = ", ".join(f'sum("{name}"::DOUBLE) AS "{name}"' for name in VALUES)
    keys = ", ".join(AGGREGATED)
    return database.execute(f"SELECT {keys}, {sums} FROM '{path}' GROUP BY ALL ORDER BY {keys}").to_arrow_table()


def pivot_pandas(rows):
    return rows.pivot(index=["date", "period"], columns="series_code", values="value").reset_index()


def write(rows):
    """Writes rows to nowhere."""
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pandas(rows, preserve_index=False)
    with open("/dev/null", "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return table


def facts(table):
    """Number of rows, and number and sum of the sizes of the finite numbers in them."""
    kinds = [name for name in table.schema.names if pa.types.is_floating(table.schema.field(name).type)]
    numbers = [table[name].to_numpy() for name in kinds]
    finite = [np.abs(column[np.isfinite(column)]) for column in numbers]
    return [table.num_rows, sum(map(len, finite)), float(sum(column.sum() for column in finite))]


def main():
    """Calculates one case."""
    who, case, path, runs, ours = sys.argv[1:]
    calculate = globals()[f"{case}_{who.lower()}"]
    seconds, calculating = [], []
    for run in range(int(runs) + 1):
        begun = time.perf_counter()
        # DuckDB reads what it needs itself.
        rows = path if who == "DuckDB" else pd.read_parquet(path)
        started = time.perf_counter()
        rows = calculate(rows)
        calculated = time.perf_counter()
        table = write(rows)
        if run:
            seconds.append(time.perf_counter() - begun)
            calculating.append(calculated - started)
    found, expected = facts(table), facts(pa.ipc.open_stream(ours).read_all())
    if found[:2] != expected[:2] or abs(found[2] - expected[2]) > 1e-9 * expected[2]:
        sys.exit(f"{who}, {case}: {found}; Yearbook: {expected}")
    print(json.dumps({"seconds": statistics.median(seconds), "calculation_s": statistics.median(calculating)}))


if __name__ == "__main__":
    main()
