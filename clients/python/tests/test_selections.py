"""Selections: what `where`, `sort`, `first`, `last` and `bbox` send, and pulls that have them."""

import copy
import csv
import datetime
import json
import logging
import math
import traceback
import urllib.request
import warnings

import conftest
import faulty
import pytest
from proofs import proof

import yearbook_client as yb
from yearbook_client import cli, errors
from yearbook_client.planning import plan_pull
from yearbook_client.selection import Selection


def query(**criteria):
    return Selection.of("table", **criteria).query()


def conditions(where):
    return {name.removeprefix("where."): value for name, value in query(where=where).items()}


@proof
def test_conditions_are_sent_as_their_values_are_contract_15():
    """A list repeats the parameter, None asks for nulls; the client knows no column and no operator."""
    assert conditions({"industry": ["Retail", "Mining"], "value.ge": 0.1, "note": None}) == {"industry": ["Retail", "Mining"], "note.null": ["true"], "value.ge": ["0.1"]}
    for value, text in (
        ("", ""), ("a,b", "a,b"), (" x ", " x "), (True, "true"), (False, "false"), (0, "0"), (2**63 - 1, "9223372036854775807"), (-0.0, "-0.0"),
        (0.1 + 0.2, "0.30000000000000004"), (1e300, "1e+300"), (2.0**60, "1152921504606846976"), (-(2.0**63), "-9223372036854775808"), (5e-324, "5e-324"), (math.nan, "NaN"), (math.inf, "INF"), (-math.inf, "-INF"),
        (datetime.date(2020, 3, 1), "2020-03-01"), (datetime.datetime(2020, 3, 1), "2020-03-01"),
    ):
        assert conditions({"column.operator": value}) == {"column.operator": [text]}
    assert conditions({"x": [None]}) == conditions({"x": None}) == {"x.null": ["true"]}
    assert conditions({"x": ("b", "a", "b")}) == {"x": ["b", "a", "b"]}
    assert conditions(None) == conditions({}) == {}
    assert Selection.of("table", where={"b": 1, "a": [2]}) == Selection.of("table", where={"a": 2, "b": [1]})
    np, pd, pa = (pytest.importorskip(name) for name in ("numpy", "pandas", "pyarrow"))
    day = pd.Timestamp("2020-03-01")
    for value, texts in (
        (np.array(["a", "b"]), ["a", "b"]), (pd.Series([1.5, 2.0]), ["1.5", "2.0"]), (pd.Index(["a"]), ["a"]), (pa.array([1, 2]), ["1", "2"]), (pa.scalar("a"), ["a"]),
        (np.float32(0.5), ["0.5"]), (np.int64(7), ["7"]), (np.bool_(True), ["true"]), (np.str_("a"), ["a"]), (np.nan, ["NaN"]),
        (day, ["2020-03-01"]), (np.datetime64("2020-03-01", "ns"), ["2020-03-01"]), (pd.DatetimeIndex([day, day]), ["2020-03-01"] * 2), (pa.scalar(day.date()), ["2020-03-01"]),
    ):
        assert conditions({"x": value}) == {"x": texts}, repr(value)
    for null in (pd.NA, pd.NaT, np.datetime64("NaT"), pa.scalar(None)):
        assert conditions({"x": null}) == {"x.null": ["true"]}, repr(null)


@proof
def test_order_rows_of_series_and_boxes_are_sent_as_they_are_contract_15():
    assert query(sort="-date", first=2) == {"first": "2", "sort": "-date"}
    assert query(sort=["-value", "region"], last=1.0) == {"last": "1", "sort": "-value,region"}
    for box in ((-80, 35.5, -75, 40), "-80, 35.5,-75,40".replace(" ", ""), [-80, 35.5, -75, 40]):
        assert query(bbox=box) == {"bbox": "-80,35.5,-75,40"}
    np = pytest.importorskip("numpy")
    assert query(bbox=np.array([-80.0, 35.5, -75.0, 1e-7])) == {"bbox": "-80.0,35.5,-75.0,1e-07"}


@proof
def test_conditions_that_are_none_are_refused_and_read_nothing_else_contract_15():
    """Without values a condition would be no filter."""
    wrong = [{"x": value} for value in ([], [None, "a"], ["a", None], [None, None], {"ge": 1}, b"a", object(), [["a"]], datetime.datetime(2020, 1, 1, 5))]
    for where in wrong:
        with pytest.raises(errors.UsageError, match=r"^`where\.x` ") as caught:
            query(where=where)
        assert caught.value.advice
    for where in ("x=1", ["x"], 5):
        with pytest.raises(errors.UsageError, match=r"^`where` has no conditions"):
            query(where=where)
    for name, values in {"bbox": ((1, 2, 3), "", "1,2,3", (1, 2, 3, None), 5, (1, 2, 3, 4, 5)), "sort": ("", [], ["a,b"], 5), "last": (0, 2.5, "1"), "first": (0, -1)}.items():
        for value in values:
            with pytest.raises(errors.UsageError, match=f"^`{name}` "):
                query(**{name: value})


@proof
def test_a_pull_with_a_selection_goes_page_by_page_and_takes_no_bulk_file_contract_15(make):
    """Pages have the plan's cap and end where the service says so; the selection is in each of them."""
    for criteria in ({"where": {"region": ["a,b", ""], "value": None}}, {"last": 1}, {"first": 2}, {"bbox": (0, 0, 1, 1)}, {"sort": "-date"}):
        service, client = make(rows=9, row_cap=4, geometry=True, bulk=b"PAR1")
        rows = client.get("table", to="rows", **criteria)
        assert len(rows) == 9
        data = [one for one in service.asked if one.path.endswith("/data")]
        assert [one.method for one in data] == ["HEAD", "GET", "GET", "GET"]
        assert not [one for one in service.asked if one.path.startswith("/v1/bulk")]
        own = [pair for name, value in query(**criteria).items() for pair in ([(name, one) for one in value] if isinstance(value, list) else [(name, value)])]
        for one in data:
            rest = [pair for pair in one.pairs if pair[0] != "cursor"]
            assert sorted(rest) == sorted([*own, ("format", "arrow"), ("limit", "4")])
        # Kept pages are those of this selection alone.
        before = service.charged
        assert len(client.get("table", to="rows", **criteria)) == 9
        assert service.charged == before
        client.get("table", to="rows", where={"region": "a,b"})
        assert service.charged > before
        assert plan_pull(client._session(), Selection.of("table", **criteria), bulk=True).bulk is None
    assert plan_pull(client._session(), Selection.of("table"), bulk=True).bulk


@proof
def test_sorted_rows_are_asked_for_in_pages_that_the_service_sorts_contract_15(make):
    _, client = make(rows=3)
    rows = {criteria: plan_pull(client._session(), Selection.of("table", **dict(criteria)), bulk=False).page_rows for criteria in ((("sort", "-value"),), (("sort", "-value"), ("limit", 12_000)), (("sort", "-value"), ("limit", 7)), ())}
    assert list(rows.values()) == [10_000, 10_000, 7, 100_000]


def test_the_credit_of_a_selection_has_all_of_it(make):
    _, client = make(rows=3)
    rows = client.get("table", to="rows", where={"region": ["a", "b"]})
    assert yb.credit(rows).query == {"where.region": ["a", "b"]}
    pandas = pytest.importorskip("pandas")
    frame = client.get("table", to="pandas", where={"region": ["a", "b"]})
    assert yb.credit(frame).query == yb.credit(pandas.concat([frame]).copy()).query == {"where.region": ["a", "b"]}


@proof
def test_parameters_that_the_service_ignores_are_a_warning_contract_15(make):
    service, client = make(rows=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        client.get("table", to="rows")
    service.ignored = "last,where.region"
    with pytest.warns(UserWarning, match=r"ignored.*last,where\.region"):
        client.get("table", to="rows", last=1)


@proof
def test_values_are_read_with_a_selection_contract_15(make):
    service, client = make()
    found = client.values("table", columns="region", where={"value.ge": 1}, bbox=(0, 0, 1, 1), limit=1, after="Nelson")
    (asked,) = [one for one in service.asked if one.path == "/v1/datasets/table/values"]
    assert asked.query == {"columns": "region", "where.value.ge": "1", "bbox": "0,0,1,1", "limit": "1", "after": "Nelson"}
    region = found["region"]
    assert (region.role, region.distinct, region.nulls, region.next) == ("dimension", 2, 1, "Otago")
    assert [(one["value"], one["rows"]) for one in region.values] == [("Otago", 3)]


@proof
def test_a_link_has_the_selection_and_all_its_rows_contract_15(make):
    """Nothing of it is kept, and without a limit it has every row, as a pull has."""
    service, client = make()
    link = client.link("table", where={"region": ["a", "b"], "value": None}, last=1, format="csv", days=7)
    assert (link.url, link.expires_at) == (f"{service.base}/l/{faulty.TOKEN}.csv", "2026-12-03T09:00:00Z")
    assert (link.format, link.selection) == ("csv", "last=1")
    client.link("table", limit=5, days=None)
    first, second = [one for one in service.asked if one.path == "/v1/datasets/table/link"]
    assert sorted(first.pairs) == sorted([("where.region", "a"), ("where.region", "b"), ("where.value.null", "true"), ("last", "1"), ("limit", "0"), ("format", "csv"), ("days", "7")])
    assert second.query == {"limit": "5"}
    for wrong in ({"days": 0}, {"days": "7"}, {"format": ""}, {"format": 5}):
        with pytest.raises(errors.UsageError, match=f"^`{next(iter(wrong))}` "):
            client.link("table", **wrong)
    # No request came of those.
    assert len(service.asked) == 2


@proof
def test_a_link_is_in_no_repr_log_cache_or_exception_contract_15(make, caplog, tmp_path):
    caplog.set_level(logging.DEBUG)
    service, client = make()
    link = client.link("table")
    assert faulty.TOKEN in link.url
    for shown in (repr(link), str(link), f"{link}", repr([link]), repr(copy.copy(link)), repr(client), caplog.text):
        assert faulty.TOKEN not in shown
    # A field that is missing, and an answer that ends in the middle of the address.
    for days, fault in ((366, {}), (1, {"cut": 60, "framing": "none"})):
        service.fail("link", faulty.Fault(**fault))
        with pytest.raises(errors.IntegrityError) as caught:
            client.link("table", days=days)
        shown = "".join(traceback.format_exception(caught.value))
        assert faulty.TOKEN not in f"{shown}{caught.value!r}{caught.value.advice}"
    assert faulty.TOKEN not in caplog.text
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in kept if faulty.TOKEN.encode() in path.read_bytes()]


@proof
def test_notebooks_complete_columns_and_values_contract_15(make, monkeypatch, tmp_path):
    """Asked of IPython's own completer; what it completes can be sent."""
    columns = [{"name": name, "type": "string", "role": "dimension"} for name in ("industry", "indicator", "Hawke's Bay")]
    dataset = yb.models.Dataset.parse({"name": "table", "namespace": "tests", "source": "Nobody", "current_snapshot_id": "a", "row_count_at_last_refresh": 1, "columns": columns, "snapshots": []})
    found = make()[1].values("table")
    industry = dataset["industry"]
    assert industry.role == "dimension" and found["region"]["Otago"]["rows"] == 3
    with pytest.raises(KeyError):
        dataset["industy"]
    assert conditions({industry: "Retail", f"{industry}.not": "Mining"}) == {"industry": ["Retail"], "industry.not": ["Mining"]}
    assert query(columns=[industry, "value"], sort=[f"-{industry}"]) == {"columns": "industry,value", "sort": "-industry"}
    completer = pytest.importorskip("IPython.core.completer")
    shells = pytest.importorskip("IPython.core.interactiveshell")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = shells.InteractiveShell(user_ns={"dataset": dataset, "found": found})

    def completed(line):
        with completer.provisionalcompleter():
            return [line[: one.start] + one.text for one in shell.Completer.completions(line, len(line))]

    assert completed('dataset["ind') == ['dataset["indicator', 'dataset["industry']
    assert completed('yb.get("table", columns=[dataset["Haw') == ['yb.get("table", columns=[dataset["Hawke\\\'s Bay']
    assert completed('found["') == ['found["region']
    assert completed('found["region"]["O') == ['found["region"]["Otago']


@proof
def test_the_command_line_has_the_same_words_contract_15(make, monkeypatch, capsys):
    service, _ = make(rows=3)
    monkeypatch.setenv("SERVICE_BASE_URL", service.base)
    monkeypatch.setenv("SERVICE_API_KEY", faulty.KEY)
    words = ["--where", "region=a=b", "--where", "region=", "--where", "value.ge=2", "--sort=-value", "--last", "1", "--bbox=-1,0,1,1"]
    assert cli.main(["get", "table", *words]) == 0
    asked = [one for one in service.asked if one.path.endswith("/data")][-1]
    assert sorted(asked.pairs) == sorted([("where.region", "a=b"), ("where.region", ""), ("where.value.ge", "2"), ("sort", "-value"), ("last", "1"), ("bbox", "-1,0,1,1"), ("format", "arrow"), ("limit", "10000")])
    assert cli.main(["values", "table", "--where", "value.ge=2"]) == 0
    assert "Otago" in capsys.readouterr().out
    assert cli.main(["link", "table", "--where", "value.ge=2", "--format", "csv", "--days", "7"]) == 0
    assert sorted(service.asked[-1].pairs) == sorted([("where.value.ge", "2"), ("limit", "0"), ("format", "csv"), ("days", "7")])
    printed = capsys.readouterr()
    assert printed.out == f"{service.base}/l/{faulty.TOKEN}.csv\n"
    assert "2026-12-03" in printed.err and faulty.TOKEN not in printed.err
    assert cli.main(["link", "table", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["url"].endswith(".csv")
    for wrong in (["--where", "region"], ["--where", "=a"], ["--where", ""]):
        with pytest.raises(SystemExit) as end:
            cli.main(["get", "table", *wrong])
        assert end.value.code == 2


@pytest.mark.service
@proof
def test_a_link_reads_what_its_key_would_contract_15(monkeypatch):
    """More rows than the service's default, without a key, counted as reading them by the key."""
    monkeypatch.setenv("SERVICE_BASE_URL", conftest.SERVICE)
    monkeypatch.setenv("SERVICE_API_KEY", conftest.KEYS["starter"])
    used = yb.me().used
    link = yb.link("us_unemployment_by_industry", where={"measure": "rate"}, start="2009-01-01", columns=["period", "industry"], format="csv", days=2)
    assert yb.me().used == used
    with urllib.request.urlopen(link.url) as answer:
        _, *read = map(tuple, csv.reader(answer.read().decode().splitlines()))
    assert yb.me().used == used + 1
    assert read == [tuple(row.values()) for row in yb.get("us_unemployment_by_industry", where={"measure": "rate"}, start="2009-01-01", columns=["period", "industry"], to="rows")]
    assert len(read) > 100
    ends = datetime.datetime.fromisoformat(link.expires_at.replace("Z", "+00:00")) - datetime.datetime.now(datetime.timezone.utc)
    assert datetime.timedelta(days=1) < ends <= datetime.timedelta(days=2)
    with pytest.raises(errors.InvalidParametersError, match="days"):
        yb.link("us_unemployment_by_industry", days=367)
    with pytest.raises(errors.PullTooLargeError):
        yb.link("london_boroughs")


@pytest.mark.service
@proof
def test_a_selection_reads_the_rows_that_the_contract_says_contract_15(monkeypatch):
    monkeypatch.setenv("SERVICE_BASE_URL", conftest.SERVICE)
    monkeypatch.setenv("SERVICE_API_KEY", conftest.KEYS["free"])
    name = "us_unemployment_by_industry"
    rows = yb.get(name, where={"industry": ["Construction", "Agriculture"], "measure": "rate", "value.ge": 0.2}, start="2009-12-01", columns=["period", "industry", "value"], to="rows")
    assert [tuple(row.values()) for row in rows] == [("2009-12", "Construction", 0.227), ("2010-01", "Agriculture", 0.213), ("2010-01", "Construction", 0.247), ("2010-02", "Construction", 0.271)]
    newest = yb.get(name, where={"measure": "rate"}, last=1, sort="-value", limit=2, to="rows")
    assert [(row["industry"], row["value"]) for row in newest] == [("Construction", 0.271), ("Agriculture", 0.188)]
    cities = yb.get("us_state_capitals", bbox=(-80, 35, -75, 40), geometry=False, columns="city", to="rows")
    assert [row["city"] for row in cities] == ["Dover", "Annapolis", "Raleigh", "Richmond"]
    # A citation and a digest are those of the selection, all of it.
    assert yb.verify(rows, recompute=True)
    (industry,) = yb.values(name, columns="industry", limit=1, start="2010-01-01")["industry"].values
    assert (industry["value"], industry["rows"]) == ("Agriculture", 4)
    with pytest.raises(errors.InvalidParametersError, match=r"where\.industy: .*nearest is 'industry'"):
        yb.get(name, where={"industy": "Mining"}, to="rows")
