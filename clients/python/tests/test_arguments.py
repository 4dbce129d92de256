"""Arguments as people pass them: values of numpy, pandas and pyarrow, and those that are none."""

import datetime
import math

import faulty
import pytest
from proofs import proof

import yearbook_client as yb
from yearbook_client import errors, settings
from yearbook_client.client import Client
from yearbook_client.selection import Selection


def start(value):
    return Selection.of("table", start=value).start


def end(value):
    return Selection.of("table", end=value).end


@proof
def test_dates_are_taken_as_people_have_them_contract_11():
    """Texts, dates, moments at midnight, values of numpy, pandas and pyarrow; a period is all its days."""
    midnight = datetime.datetime(2020, 3, 1, tzinfo=datetime.timezone.utc)
    for value in ("2020-03-01", datetime.date(2020, 3, 1), datetime.datetime(2020, 3, 1), midnight):
        assert (start(value), end(value)) == ("2020-03-01", "2020-03-01")
    np, pd, pa = (pytest.importorskip(name) for name in ("numpy", "pandas", "pyarrow"))
    day = pd.Timestamp("2020-03-01")
    values = [np.datetime64("2020-03-01"), np.datetime64("2020-03-01T00:00", "ns"), day, day.tz_localize("Europe/Paris"), pd.Period("2020-03-01", "D")]
    values += [pd.Series([day])[0], pd.Series([day]).max(), pd.DatetimeIndex([day])[0], pd.DatetimeIndex([day]).values[0], pa.scalar(day.date()), np.str_("2020-03-01")]
    for value in values:
        assert (start(value), end(value)) == ("2020-03-01", "2020-03-01"), repr(value)
    for value, last in ((pd.Period("2020-02", "M"), "2020-02-29"), (pd.Period("2020Q1", "Q"), "2020-03-31"), (np.datetime64("2020-02"), "2020-02-29"), (np.datetime64("2020"), "2020-12-31")):
        assert end(value) == last, repr(value)
        assert start(value) in ("2020-01-01", "2020-02-01")


@proof
def test_lists_and_whole_numbers_are_taken_as_people_have_them_contract_11(make):
    for columns in ("date, value", ["date", "value"], ("date", "value"), {"date": 1, "value": 2}, iter(["date", "value"])):
        assert Selection.of("table", columns=columns).query() == {"columns": "date,value"}
    assert [Selection.of("table", limit=limit).limit for limit in (5, 5.0, None)] == [5, 5, None]
    np, pd, pa = (pytest.importorskip(name) for name in ("numpy", "pandas", "pyarrow"))
    names = ["date", "value"]
    for columns in (np.array(names), pd.Index(names), pd.Series(names), pd.DataFrame(columns=names), pa.array(names), pa.chunked_array([names])):
        assert Selection.of("table", columns=columns).query() == {"columns": "date,value"}, repr(columns)
    for limit in (np.int64(5), np.float64(5), np.int32(5), pa.scalar(5)):
        assert type(Selection.of("table", limit=limit).limit) is int
    service, client = make(rows=9)
    assert len(client.get("table", to="rows", limit=np.int64(5), columns=pd.Index(["date", "value"]), start=pd.Period("2000", "Y"))) == 5
    data = next(one.query for one in service.asked if one.path.endswith("/data"))
    assert (data["limit"], data["columns"], data["start"]) == ("5", "date,value", "2000-01-01")


@proof
def test_arguments_that_are_none_are_refused_with_a_sentence_contract_11():
    """Each by its name and with what to pass, and never by a TypeError from inside."""
    wrong = [{"start": value} for value in (2020, 2020.0, True, datetime.time(1), [], "2020-3-1", datetime.datetime(2020, 1, 1, 5), object())]
    wrong += [{"columns": value} for value in (5, [], ["a,b"], [1], b"ab", [None])]
    wrong += [{"limit": value} for value in (0, -1, 2.5, "5", math.nan, math.inf, [1, 2])]
    wrong += [{"dimensions": ["a"]}, {"dimensions": 5}, {"snapshot": 5}]
    try:
        import numpy as np
        import pandas as pd
    except ImportError:
        pass
    else:
        wrong += [{"end": value} for value in (pd.NaT, np.datetime64("NaT"), np.int64(2020), pd.NA, pd.Timestamp(2020, 1, 1, 5), np.datetime64("2020-01-01T05"), pd.Series(["2020-01-01"] * 2), pd.DataFrame())]
        wrong += [{"columns": pd.Index([1])}, {"columns": pd.Index([])}, {"limit": pd.NA}, {"limit": np.float64(2.5)}, {"limit": pd.Series([1, 2])}]
    for criteria in wrong:
        with pytest.raises(errors.UsageError, match=f"^`{next(iter(criteria))}` ") as caught:
            Selection.of("table", **criteria)
        assert caught.value.advice, criteria
    for name in (None, 5, ["table"]):
        with pytest.raises(errors.UsageError, match="no name of a dataset"):
            Selection.of(name)


def test_arguments_of_other_verbs_are_checked_alike(make):
    service, client = make()
    client.datasets = lambda: [yb.DatasetSummary("a_table", "n", "s", "A table", "")]
    assert [one.name for one in client.search("table", 2.0)] == ["a_table"]
    for how in (["table"],), ("table", 2.5):
        with pytest.raises(errors.UsageError):
            client.search(*how)
    with pytest.raises(errors.UsageError, match="`since`"):
        client.changes("table", 5)
    with pytest.raises(errors.UsageError, match="no name of a tool"):
        client.integration(["meltano"], "table")
    assert service.asked == []


def test_a_timeout_that_is_no_number_of_seconds_is_refused_when_the_client_is_made(make):
    service, _ = make()
    assert Client(service.base, faulty.KEY, timeout="5").me().plan == "free"
    for timeout in (None, "soon", datetime.timedelta(seconds=5)):
        with pytest.raises((TypeError, ValueError), match="float"):
            Client(timeout=timeout)


def test_columns_to_pivot_are_any_list():
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    wide = pa.table({"region": ["N"], "a": [1.0], "b": [2.0]})
    for columns in (pd.Series(["a", "b"], index=["region", "x"]), pd.Index(["a", "b"]), (name for name in "ab")):
        assert yb.pivot_longer(wide, columns).to_pylist() == [{"region": "N", "name": "a", "value": 1.0}, {"region": "N", "name": "b", "value": 2.0}]
    long = yb.pivot_longer(wide, ["a", "b"])
    assert yb.pivot_wider(long, names_from=pd.Index(["name"]), id_columns="region").to_pylist() == wide.to_pylist()
    assert yb.pivot_longer(wide.drop_columns("b"), "a").to_pylist() == [{"region": "N", "name": "a", "value": 1.0}]


@proof
def test_a_base_address_may_end_in_v1_contract_11(make, monkeypatch):
    """The address in a browser often has it; every request adds its own."""
    bases = {address: settings.parse_origin(address).base for address in ("https://a.example/v1", "https://a.example/v1/", "https://a.example/x/v1//", "https://a.example/v10", "https://a.example/v1/x")}
    assert list(bases.values()) == ["https://a.example", "https://a.example", "https://a.example/x", "https://a.example/v10", "https://a.example/v1/x"]
    service, _ = make(rows=3)
    monkeypatch.setenv("SERVICE_BASE_URL", service.base + "/v1/")
    monkeypatch.setenv("SERVICE_API_KEY", faulty.KEY)
    assert len(Client(progress=False).get("table", to="rows")) == 3


@proof
def test_a_path_that_is_no_file_is_refused_before_anything_is_charged_contract_11(make, tmp_path):
    """A folder cannot be replaced, and a device, such as /dev/full, must not be."""
    service, client = make(rows=3)
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(errors.UsageError, match=r"a\.csv is there and no file"):
        client.download("table", tmp_path / "a.csv")
    assert service.charged == 0


@proof
def test_integers_with_nulls_that_a_float_would_round_are_refused_contract_11():
    pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    from yearbook_client.results.tables import table_of

    for value, known in ((2**53, True), (-(2**53), True), (2**53 + 1, False), (-(2**53) - 1, False)):
        table = pa.table({"count": pa.array([value, None], pa.int64())})
        assert table_of(table, "pandas", "pyarrow")["count"][0] == value
        if known:
            assert table_of(table, "pandas")["count"][0] == value
            continue
        with pytest.raises(errors.ConversionError, match=r"count.*2\^53.*dtype_backend"):
            table_of(table, "pandas")
