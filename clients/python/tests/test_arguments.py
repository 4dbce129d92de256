"""Arguments as people pass them: values of numpy, pandas and pyarrow, and those that are none."""

import datetime
import math
import os

import faulty
import pytest
from proofs import proof

import yearbook_client as yb
from yearbook_client import cli, errors, settings
from yearbook_client.client import Client
from yearbook_client.results import Rows
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
    wrong += [{"geometry": value} for value in ("no", "false", 0, 1, None)]
    wrong += [{name: ""} for name in ("start", "end", "columns", "snapshot", "limit")] + [{"columns": "date,"}, {"columns": [""]}]
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


@proof
def test_empty_arguments_are_refused_and_read_nothing_else_contract_11(make, tmp_path):
    """An unset variable of a shell must not read more, or another table, than was meant; no dimensions are no filter."""
    service, client = make(rows=3)
    for wrong, name in (
        (lambda: client.get("table", snapshot="", to="rows"), "`snapshot`"),
        (lambda: client.download("table", tmp_path / "a.csv", snapshot=""), "`snapshot`"),
        (lambda: client.download("table", tmp_path / "a.csv", format=""), "`format`"),
        (lambda: client.changes("table", ""), "`since`"),
        (lambda: client.get("table", to=""), "`to`"),
        (lambda: client.verify(Rows([], (), None), ""), "no digest in it"),
        (lambda: client.integration("", "table"), "tool"),
        (lambda: client.integration("meltano", ""), "dataset"),
        (lambda: Client(service.base, ""), "API key"),
        (lambda: Client("").me(), "No service"),
    ):
        with pytest.raises(errors.UsageError, match=name):
            wrong()
    for path in ("", ".", os.sep):
        for verb in (lambda: client.download("table", path, format="csv"), lambda: client.sync("table", path)):
            with pytest.raises(errors.UsageError, match="no name of a file"):
                verb()
    assert service.asked == []
    assert Selection.of("table", dimensions="") == Selection.of("table")
    client.datasets = lambda: [yb.DatasetSummary("a_table", "n", "s", "A table", "")]
    assert [one.name for one in client.search("")] == ["a_table"]


@pytest.mark.parametrize("arguments", [
    *(f"{verb} {option}" for verb in ("get table", "download table a.csv", "verify table") for option in ("--snapshot", "--columns", "--start", "--end", "--limit")),
    "changes table --since", "get table --format", "get table -o", "download table a.csv --format", "download table --format csv", "verify table --expected", "sync table -o", "sync table table -o",
    "integration meltano table -o", "cite table --format", "describe", "sync",
])
@proof
def test_an_empty_argument_of_a_command_is_a_wrong_one_contract_11(make, monkeypatch, tmp_path, capsys, arguments):
    service, _ = make(rows=3)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SERVICE_BASE_URL", service.base)
    monkeypatch.setenv("SERVICE_API_KEY", faulty.KEY)
    try:
        code = cli.main([*arguments.split(), ""])
    except SystemExit as end:
        code = end.code
    written = capsys.readouterr()
    assert (code, "table-" in written.out) == (2, False), written
    assert "error: " in written.err or "failed" in written.out
    assert service.charged == 0
    assert not list(tmp_path.glob("*.csv"))


@proof
def test_settings_that_are_none_are_refused_with_a_sentence_contract_11(make):
    service, _ = make()
    assert Client(service.base, faulty.KEY, timeout="5").me().plan == "free"
    for timeout in (0.001, 86400):
        Client(timeout=timeout)
    for timeout in (None, "soon", "", datetime.timedelta(seconds=5), math.inf, math.nan, 1e300, 10**400, 0, -1, (1, 2), [1]):
        with pytest.raises(errors.UsageError, match=r"^`timeout` is no number of seconds up to 86400: "):
            Client(timeout=timeout)
    for key in (5, b"yb_secretword", ["yb_secretword"], "yb_secret word"):
        with pytest.raises(errors.UsageError, match="API key") as caught:
            Client(service.base, key)
        assert "secret" not in str(caught.value)
    for base in (5, b"http://127.0.0.1", ["http://127.0.0.1"]):
        with pytest.raises(errors.UsageError, match="not an http or https address"):
            Client(base, faulty.KEY).me()
    assert len(service.asked) == 1


def test_a_host_that_no_network_has_cannot_be_reached(waits):
    for host in ("a..b", "a" * 64):
        with pytest.raises(errors.UnreachableError, match="cannot be reached"):
            Client(f"http://{host}", faulty.KEY).me()


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
