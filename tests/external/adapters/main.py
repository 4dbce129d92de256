"""Clients of other APIs, unmodified, against the adapters that speak theirs.

Run by `cargo xtask test`. The key comes in YEARBOOK_KEY. Prints one line a check and, last, `adapters: N passed, N failed`.
"""

import argparse
import contextlib
import csv
import io
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import time
import urllib.parse

import assistants
import boxes
import described
import fredapi
import in_opensdmx
import in_sdmx
import inspector
import ogc
import patient
import pygeoapi_peer
import sdmx_ml
import tiles
from tally import Tally, proof

ADAPTER = "time-series"
SEED = 20261127
# Series of each dataset that are read.
SERIES = 12
# Rows of the largest table that is read.
LARGEST = 100_000


class Service:
    """A running service and a key."""

    def __init__(self, base, key):
        self.base, self.key = base, key

    def get(self, path, **query):
        status, _, body = patient.fetch(f"{self.base}{path}?{urllib.parse.urlencode(query)}", self.key)
        assert status == 200, f"{path} {query}: {status} {body[:200]}"
        return body

    def json(self, path, **query):
        return json.loads(self.get(path, **query))

    def rows(self, name, **query):
        """Rows as dictionaries of text."""
        text = self.get(f"/v1/datasets/{name}/data", format="csv", limit=0, geometry="false", **query).decode()
        return list(csv.DictReader(io.StringIO(text)))


def segment(value):
    """A value as part of an id."""
    if value == "":
        return "~"
    plain = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
    return "".join(chr(byte) if byte in plain else f"~{byte:02X}" for byte in value.encode())


class Dataset:
    """What the ids of a dataset's series are made of."""

    def __init__(self, service, name):
        meta = service.json(f"/v1/datasets/{name}")
        columns = [column for column in meta["columns"] if column["role"] != "geometry"]
        self.name, self.date = name, next(iter(column["name"] for column in columns if column["role"] == "date"), None)
        key = meta["primary_key"]
        times = ("date", "period")
        of_key = [column["name"] for column in columns if column["name"] in key and column["role"] not in times]
        self.series = of_key if key else [column["name"] for column in columns if column["role"] == "dimension"]
        self.values = [column["name"] for column in columns if column["role"] == "value"]
        # Larger ones are not sent at once.
        self.rows = service.rows(name) if self.date and self.values and meta["row_count_at_last_refresh"] <= LARGEST else []

    def id(self, combination, column):
        return ".".join([self.name, *map(segment, combination), *([column] if len(self.values) > 1 else [])])

    def all_series(self):
        """Dates and values of each series, as `/data` has them."""
        found = {}
        for row in self.rows:
            found.setdefault(tuple(row[name] for name in self.series), []).append(row)
        return found


def same_series(expected, found):
    """Equality of a list of dates and texts with what the client made of them: of several rows of a date, the last."""
    wanted = {date: math.nan if text == "" else float(text) for date, text in expected}
    got = {date.strftime("%Y-%m-%d"): value for date, value in found.items()}
    assert list(wanted) == list(got), f"{list(got)[:5]}, not {list(wanted)[:5]}"
    for date, value in wanted.items():
        assert got[date] == value or (math.isnan(value) and math.isnan(got[date])), f"{date}: {got[date]!r}, not {value!r}"


@proof
def series_are_those_of_data_contract_17(tally, client, dataset):
    """A few series of a dataset, each of its value columns, with all and with some dates."""
    chance = random.Random(f"{SEED} {dataset.name}")
    every = dataset.all_series()
    for combination in chance.sample(sorted(every), min(SERIES, len(every))):
        column = chance.choice(dataset.values)
        rows = [(row[dataset.date], row[column]) for row in every[combination]]
        series_id = dataset.id(combination, column)

        def check(series_id=series_id, rows=rows):
            same_series(rows, client.get_series(series_id))
            start, end = rows[len(rows) // 3][0], rows[-1 - len(rows) // 4][0]
            some = [(date, text) for date, text in rows if start <= date <= end]
            same_series(some, client.get_series(series_id, observation_start=start, observation_end=end))
            same_series(rows[1:3], client.get_series(series_id, limit=2, offset=1))
            # Of several rows of a date the client keeps the last, in whichever order they come.
            if len({date for date, _ in rows}) == len(rows):
                same_series(rows[:-3:-1], client.get_series(series_id, limit=2, sort_order="desc"))
            info = client.get_series_info(series_id)
            assert (info["id"], info["observation_start"], info["observation_end"]) == (series_id, rows[0][0], rows[-1][0]), dict(info)
            assert client.get_series_vintage_dates(series_id), "no day of publication"
            return True

        tally.check(f"{series_id} as /data", check)


@proof
def units_and_frequencies_are_transforms_contract_17(tally, service, client):
    name = "us_macro_quarterly"
    for units, options, factor in [
        ("lin", {}, 1),
        ("chg", {"apply": "growth", "growth.as": "difference"}, 1),
        ("ch1", {"apply": "growth", "growth.as": "difference", "growth.unit": "year"}, 1),
        ("pch", {"apply": "growth"}, 100),
        ("pc1", {"apply": "growth", "growth.unit": "year"}, 100),
        ("cch", {"apply": "growth", "growth.as": "log"}, 100),
    ]:
        def check(units=units, options=options, factor=factor):
            rows = service.rows(name, start="1990-01-01", **options)
            expected = [(row["date"], row["realgdp"] and repr(float(row["realgdp"]) * factor)) for row in rows]
            same_series(expected, client.get_series(f"{name}.realgdp", observation_start="1990-01-01", units=units))
            return True

        tally.check(f"units={units}", check)

    def yearly():
        rows = service.rows(name, apply="resample,growth", **{"resample.to": "year", "resample.with": "mean"})
        expected = [(row["date"], row["realgdp"] and repr(float(row["realgdp"]) * 100)) for row in rows]
        same_series(expected, client.get_series(f"{name}.realgdp", frequency="a", units="pch"))
        return True

    tally.check("frequency=a, units=pch", yearly)


@proof
def a_search_finds_series_that_can_be_read_contract_17(tally, client):
    def check():
        found = client.search("unemployment industry")
        assert len(found) > 5, found
        for series_id in list(found.index)[:3]:
            assert len(client.get_series(series_id)), series_id
            assert client.get_series_info(series_id)["title"] == found.loc[series_id, "title"]
        assert client.search("zzzqqqxxx") is None
        assert len(client.search("unemployment industry", limit=2)) == 2
        return True

    tally.check("search", check)


def refused(run):
    try:
        run()
    except ValueError as error:
        return str(error)
    raise AssertionError("nothing is refused")


@proof
def refusals_reach_the_client_in_its_own_form_contract_17(tally, service, client):
    """The client shows the sentence of `<error message=…>`, whichever of both wrote it."""

    def check():
        assert refused(lambda: client.get_series("nothing.at_all")).startswith("Bad Request."), "a dataset that is not there"
        assert "does not exist" in refused(lambda: client.get_series("us_macro_quarterly.nothing"))
        assert "units" in refused(lambda: client.get_series("us_macro_quarterly.realgdp", units="nothing"))
        assert "limit" in refused(lambda: client.get_series("us_macro_quarterly.realgdp", limit="many"))
        wrong = refused(lambda: fredapi.Fred(api_key="yb_wrong").get_series("us_macro_quarterly.realgdp"))
        assert "key" in wrong.lower(), wrong
        return True

    tally.check("refusals", check)


@contextlib.contextmanager
def address(base):
    """The client with another address: the only thing that is changed."""
    before, fredapi.Fred.root_url = fredapi.Fred.root_url, f"{base}/api/{ADAPTER}"
    try:
        yield
    finally:
        fredapi.Fred.root_url = before


def wait_until_served(service):
    """Running hosts follow what is installed within seconds, and compile what is new to them."""
    for _ in range(240):
        status, _, _ = patient.fetch(f"{service.base}/api/{ADAPTER}/categories", service.key)
        body = patient.fetch(f"{service.base}/api/{ADAPTER}/categories", service.key)[2]
        if status == 404 and b"<error" in body:
            return
        time.sleep(0.5)
    raise AssertionError("the adapter is not served")


def read_by_rsdmx(service):
    """A fault is what R says last."""
    script = pathlib.Path(__file__).with_name("in_rsdmx.R")
    done = subprocess.run(
        ["Rscript", "--vanilla", str(script), service.base],
        env={**os.environ, "YEARBOOK_KEY": service.key},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return True


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--base", required=True, help="address of the server")
    arguments.add_argument("--modules", help="node_modules with the suite and the inspector of a protocol")
    arguments.add_argument("--tile-modules", help="node_modules with a reader of tiles")
    arguments.add_argument("--selections", type=int, default=20, help="random keys of each dataflow of SDMX")
    arguments.add_argument("--work", required=True, type=pathlib.Path, help="folder that is kept from run to run")
    given = arguments.parse_args()
    service = Service(given.base, os.environ["YEARBOOK_KEY"])
    wait_until_served(service)
    tally = Tally("adapters")
    with address(given.base):
        client = fredapi.Fred(api_key=service.key)
        for listed in service.json("/v1/datasets"):
            dataset = Dataset(service, listed["name"])
            if dataset.rows:
                series_are_those_of_data_contract_17(tally, client, dataset)
        units_and_frequencies_are_transforms_contract_17(tally, service, client)
        a_search_finds_series_that_can_be_read_contract_17(tally, client)
        refusals_reach_the_client_in_its_own_form_contract_17(tally, service, client)
    ogc.check_all(tally, service)
    in_sdmx.check_all(tally, service, given.selections)
    tally.check("LABELLED_RENTS by opensdmx", lambda: in_opensdmx.read_by_opensdmx(service.base, given.work, service.key))
    tally.check("LABELLED_RENTS by rsdmx", lambda: read_by_rsdmx(service))
    boxes.boxes_over_coasts_and_poles_are_those_of_shapely_contract_18(tally, service.base, service.key)
    pygeoapi_peer.boxes_and_dates_are_those_of_pygeoapi_contract_18(tally, service)
    described.the_service_answers_as_its_definition_says_contract_18(tally, service.base, service.key)
    tiles.check_all(tally, service, given.tile_modules)
    sdmx_ml.check_all(tally, service)
    assistants.check_all(tally, service, given.modules)
    if given.modules:
        inspector.the_inspector_lists_and_calls_tools_contract_20(tally, service, given.modules)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
