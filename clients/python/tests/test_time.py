"""What was known when: versions by time, and revisions as rows and as a column for each vintage."""

import datetime
import urllib.request

import conftest
import faulty
import pytest
from faulty import Fault
from proofs import proof

import yearbook_client as yb
from yearbook_client import assistant, cli, errors
from yearbook_client.selection import Selection

UTC = datetime.timezone.utc
FIRST, SECOND, THIRD, FOURTH = ("2026-08-20T22:45:00Z", "2026-11-19T21:45:00Z", "2026-11-19T23:00:00Z", "2027-02-18T21:45:00Z")
# Revised, revised and gone; there from the beginning; gone and back; new at last.
REVISIONS = [
    ("2025-04-01", "N", 1, 1.5, False, FIRST, SECOND),
    ("2025-04-01", "N", 2, None, True, SECOND, THIRD),
    ("2025-04-01", "S", 3, 7.0, True, FIRST, None),
    ("2025-07-01", "N", 4, 2.0, True, FIRST, SECOND),
    ("2025-07-01", "N", 4, 2.5, True, THIRD, None),
    ("2025-10-01", "N", None, 9.0, False, FOURTH, None),
]
KINDS = [("rows", None), ("pandas", None), ("pandas", "pyarrow"), ("polars", None), ("arrow", None)]


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def revised(make, **how):
    service, client = make(**how)
    service.revisions = REVISIONS
    service.roles = {"date": "date", "region": "dimension", "count": "attribute", "final": "status"}
    return service, client


def read(verb, to, dtype_backend=None, **how):
    if to != "rows":
        pytest.importorskip({"arrow": "pyarrow"}.get(to, to))
    if dtype_backend:
        pytest.importorskip("pyarrow")
    return verb("table", to=to, dtype_backend=dtype_backend, **how)


def plain(table):
    """Names of the columns, and rows of Python's own values; nulls are None."""
    if isinstance(table, yb.Rows):
        return [column.name for column in table.columns], [tuple(row.values()) for row in table]
    if type(table).__module__.startswith("pandas"):
        cells = {name: [None if gone else value for gone, value in zip(table[name].isna(), table[name].tolist())] for name in table.columns}
    else:
        cells = table.to_dict(as_series=False) if hasattr(table, "to_dict") else table.to_pydict()
    day = datetime.datetime
    rows = [tuple(value.date() if isinstance(value, day) and value.tzinfo is None else value for value in row) for row in zip(*cells.values())]
    return list(cells), rows


@proof
def test_moments_are_taken_as_people_have_them_contract_21():
    """A day is its end in UTC; a moment has a time zone, and one without is refused with what to do."""
    auckland = datetime.timezone(datetime.timedelta(hours=13))
    for value, text in (
        ("2026-10-01", "2026-10-01"), (datetime.date(2026, 10, 1), "2026-10-01"), ("2026-10-01T09:00:00+13:00", "2026-10-01T09:00:00+13:00"), ("2026-10-01t09:00:00.125z", "2026-10-01t09:00:00.125z"),
        (datetime.datetime(2026, 10, 1, 9, tzinfo=auckland), "2026-09-30T20:00:00Z"), (datetime.datetime(2026, 10, 1, 9, 0, 0, 500000, tzinfo=UTC), "2026-10-01T09:00:00.500000Z"), (None, None),
    ):
        assert Selection.of("table", as_of=value).as_of == text
    wrong = [datetime.datetime(2026, 10, 1, 9), datetime.datetime(2026, 10, 1), "2026-10-01T09:00:00", "2026-10", "now", "", "2026-02-30", "2026-02-30T00:00:00Z", 2026, True, ["2026-10-01"]]
    try:
        import numpy as np
        import pandas as pd
    except ImportError:
        pass
    else:
        assert Selection.of("table", as_of=pd.Timestamp("2026-10-01 09:00", tz="Pacific/Auckland")).as_of == "2026-09-30T20:00:00Z"
        assert Selection.of("table", as_of=np.datetime64("2026-10-01")).as_of == "2026-10-01"
        wrong += [pd.Timestamp("2026-10-01"), pd.NaT, np.datetime64("2026-10-01T09:00"), np.datetime64("NaT", "D"), pd.Period("2026-10")]
    for value in wrong:
        with pytest.raises(errors.UsageError, match=r"^`as_of` is no day and no moment with a time zone: ") as caught:
            Selection.of("table", as_of=value)
        assert "tzinfo" in caught.value.advice


@proof
def test_rows_are_those_that_were_known_then_contract_21(make, tmp_path):
    """Every page, file, link and value asks for the same time, and the citation names the snapshot."""
    service, client = make(rows=9, row_cap=4)
    old = service.current
    service.refresh(rows=5)
    service.history = [(FIRST, old), (SECOND, service.current)]
    then = client.get("table", to="rows", as_of="2026-09-01")
    assert (len(then), yb.credit(then).snapshot_id, yb.credit(then).query) == (9, old, {})
    assert len(client.get("table", to="rows", as_of=moment(SECOND))) == 5
    assert sum(len(batch) for batch in client.iter_batches("table", to="rows", as_of="2026-09-01")) == 9
    assert client.download("table", tmp_path / "then.arrows", as_of="2026-09-01").rows == 9
    client.link("table", as_of="2026-09-01")
    client.values("table", as_of="2026-09-01")
    data = [one for one in service.asked if one.path.endswith(("/data", "/link", "/values"))]
    assert {one.query["as_of"] for one in data} == {"2026-09-01", SECOND}
    assert len([one for one in data if "cursor" in one.query]) > 2
    assert not [one for one in data if "snapshot" in one.query]
    # It was kept, and the same time again costs nothing.
    before = service.charged
    assert str(list(client.get("table", to="rows", as_of="2026-09-01"))) == str(list(then))
    assert service.charged == before


def test_assistants_read_other_times_too(make):
    service, client = make(rows=9)
    service.history = [(FIRST, service.current)]
    service.refresh(rows=5)
    tools = assistant.Tools(client)
    assert [len(tools.get("table", as_of=day)["rows"]) for day in ("2026-09-01", None)] == [9, 5]


@proof
def test_labels_are_those_of_the_version_of_that_time_contract_21(make):
    service, client = make(rows=9)
    service.labels = {"region": {"Ōtautahi": "Christchurch"}}
    service.history = [(FIRST, service.current)]
    service.refresh(rows=1)
    found = client.get("table", to="rows", labels=True, as_of="2026-09-01")
    assert "Christchurch" in {row["region"] for row in found}
    (asked,) = [one.query for one in service.asked if one.path.endswith("/values")]
    assert (asked["as_of"], "snapshot" in asked) == ("2026-09-01", False)


@proof
def test_a_whole_table_as_of_now_may_be_the_bulk_file_contract_21(make):
    """Only where it is the file of the snapshot that was found."""
    from yearbook_client.planning import plan_pull

    service, client = make(rows=9, geometry=True, bulk=b"PAR1")
    service.history = [(FIRST, service.current)]
    selection = Selection.of("table", as_of="2026-09-01")
    assert plan_pull(client._session(), selection, bulk=True).bulk
    service.refresh()
    assert plan_pull(client._session(), selection, bulk=True).bulk is None


@proof
def test_times_that_cannot_be_read_are_errors_of_their_own_contract_21(make, waits):
    """The service's sentence, nothing charged; a version that is being rebuilt is waited for."""
    service, client = make(rows=3)
    service.history = [(FIRST, service.current)]
    with pytest.raises(errors.NotPublishedYetError, match="not_published_yet") as caught:
        client.get("table", to="rows", as_of="2026-08-01")
    assert isinstance(caught.value, errors.NotFoundError) and caught.value.status == 404
    for kind, status, code, error in (("head", 410, "history_gone", errors.HistoryGoneError), ("head", 413, "too_many_versions", errors.TooManyVersionsError)):
        service.fail(kind, Fault(status=status, code=code))
        service.fail("data", Fault(status=status, code=code))
        before = len(service.asked)
        with pytest.raises(error, match=code) as caught:
            client.get("table", to="rows", as_of="2026-09-01")
        assert caught.value.advice and caught.value.code == code
        # Asked once, and once more for the sentence: such a refusal starts no pull again.
        assert len([one for one in service.asked[before:] if one.path.endswith("/data")]) == 2
    assert issubclass(errors.TooManyVersionsError, errors.PullTooLargeError)
    assert (service.charged, waits) == (0, [])
    busy = Fault(status=503, code="rebuilding", headers={"Retry-After": "7"})
    service.fail("head", busy)
    service.fail("data", busy)
    assert len(client.get("table", to="rows", as_of="2026-09-01")) == 3
    assert len(waits) == 2 and all(7 <= seconds <= 8 for seconds in waits)
    service.fail("head", *[Fault(status=503, code="rebuilding", headers={"Retry-After": "600"})] * 2)
    with pytest.raises(errors.RebuildingError) as caught:
        client.get("table", to="rows", as_of="2026-09-01")
    assert isinstance(caught.value, errors.UnavailableError) and caught.value.retry_after == 600


@pytest.mark.parametrize(("to", "dtype_backend"), KINDS)
@proof
def test_revisions_are_rows_with_the_times_between_which_they_stood_contract_21(make, to, dtype_backend):
    """Page by page, typed as every result is, and credited; times are timestamps in UTC."""
    service, client = revised(make, row_cap=4)
    found = read(client.revisions, to, dtype_backend, where={"value.ge": 0}, sort="date")
    names, rows = plain(found)
    assert names == ["date", "region", "count", "value", "final", "_valid_from", "_valid_to"]
    assert rows == [(datetime.date.fromisoformat(day), *rest, moment(since), until and moment(until)) for day, *rest, since, until in REVISIONS]
    pages = [one for one in service.asked if one.path == "/v1/datasets/table/revisions" and one.method == "GET"]
    assert [one.query | {"cursor": ""} for one in pages] == [{"where.value.ge": "0", "sort": "date", "format": "arrow", "limit": "4", "cursor": ""}] * 2
    assert yb.credit(found).attribution == "Ōtautahi – credit"
    if to == "rows":
        assert [column.type for column in found.columns][-2:] == ["time", "time"]
    elif to == "arrow":
        pyarrow = pytest.importorskip("pyarrow")
        assert found.schema.field("_valid_to").type == pyarrow.timestamp("us", "UTC")
    elif to == "polars":
        assert found.schema["_valid_from"] == pytest.importorskip("polars").Datetime("us", "UTC")
    else:
        assert str(found["_valid_to"].dtype) == ("timestamp[us, tz=UTC][pyarrow]" if dtype_backend else "datetime64[us, UTC]")
    for verify in (yb.digest, client.verify):
        with pytest.raises(errors.UsageError, match=r"Revisions have no digest\.|null and a NaN look alike"):
            verify(found)
    before = service.charged
    client.revisions("table", to="rows", where={"value.ge": 0}, sort="date")
    assert service.charged == before
    service.revisions = []
    names, rows = plain(read(client.revisions, to, dtype_backend))
    assert (len(names), rows) == (7, [])


@pytest.mark.parametrize(("to", "dtype_backend"), KINDS)
@proof
def test_a_vintage_is_what_was_known_then_contract_21(make, to, dtype_backend):
    """Carried forward, empty before a row was known and after it went, also where nothing came at that time."""
    service, client = revised(make, row_cap=4)
    found = read(client.revisions, to, dtype_backend, shape="wide", value="value")
    names, rows = plain(found)
    assert names == ["date", "region", FIRST, SECOND, THIRD, FOURTH]
    day = datetime.date.fromisoformat
    assert rows == [
        (day("2025-04-01"), "N", 1.5, None, None, None), (day("2025-04-01"), "S", 7.0, 7.0, 7.0, 7.0),
        (day("2025-07-01"), "N", 2.0, None, 2.5, 2.5), (day("2025-10-01"), "N", None, None, None, 9.0),
    ]
    assert yb.credit(found).attribution == "Ōtautahi – credit"
    (asked,) = {one.query["columns"] for one in service.asked if one.path.endswith("/revisions")}
    assert asked == "date,region,value,_valid_from,_valid_to"
    # Integers and truths keep their types.
    for value, cells in (("count", [1, 2, None, None]), ("final", [False, True, None, None])):
        wide = read(client.revisions, to, dtype_backend, shape="wide", value=value)
        assert plain(wide)[1][0][2:] == tuple(cells)
    if to == "rows":
        assert [column.type for column in wide.columns] == ["date", "string", *["boolean"] * 4]
    service.revisions = []
    assert plain(read(client.revisions, to, dtype_backend, shape="wide", value="value")) == (["date", "region"], [])


@proof
def test_vintages_since_a_time_begin_with_what_stood_then_contract_21(make):
    """What had ended before is left out, so no earlier vintage could be whole."""
    service, client = revised(make)
    since = datetime.datetime(2026, 11, 19, 22, 30, tzinfo=UTC)
    names, rows = plain(client.revisions("table", to="rows", shape="wide", value="value", since=since))
    assert names == ["date", "region", "2026-11-19T22:30:00Z", THIRD, FOURTH]
    assert [row[1:] for row in rows] == [("N", None, None, None), ("S", 7.0, 7.0, 7.0), ("N", None, 2.5, 2.5), ("N", None, None, 9.0)]
    assert {one.query["since"] for one in service.asked if one.path.endswith("/revisions")} == {"2026-11-19T22:30:00Z"}
    names, _ = plain(client.revisions("table", to="rows", shape="wide", value="value", since="2026-11-19"))
    assert names == ["date", "region", "2026-11-19T23:59:59Z", FOURTH]
    # Before anything was known there is no vintage.
    names, _ = plain(client.revisions("table", to="rows", shape="wide", value="value", since="2020-01-01"))
    assert names == ["date", "region", FIRST, SECOND, THIRD, FOURTH]
    assert len(client.revisions("table", to="rows", since=SECOND)) == 4


@proof
def test_a_vintage_is_of_one_column_and_of_rows_that_can_be_told_apart_contract_21(make):
    service, client = revised(make)
    names, _ = plain(client.revisions("table", to="rows", shape="wide"))
    # Statuses and attributes change with a revision, so they tell no rows apart.
    assert names[:3] == ["date", "region", FIRST]
    del service.roles["count"]
    for value, sentence in ((None, "there are several"), ("nothing", "there is no 'nothing'")):
        with pytest.raises(errors.UsageError, match=sentence) as caught:
            client.revisions("table", to="rows", shape="wide", value=value)
        assert "count, value" in caught.value.advice
    # The chosen columns are those that count.
    names, _ = plain(client.revisions("table", to="rows", shape="wide", columns=["region", "date", "value"]))
    assert names[:2] == ["region", "date"]
    with pytest.raises(errors.UsageError, match="At one time two rows had the same date=") as caught:
        client.revisions("table", to="rows", shape="wide", columns=["date", "value"])
    assert "`columns`" in caught.value.advice
    names, rows = plain(client.revisions("table", to="rows", columns=["value"]))
    assert (names, len(rows)) == (["value", "_valid_from", "_valid_to"], 6)


@proof
def test_arguments_of_revisions_that_are_none_are_refused_contract_21(make):
    service, client = revised(make)
    for how, sentence in (
        ({"snapshot": "a" * 32}, "`snapshot` is not taken here"), ({"as_of": "2026-09-01"}, "`as_of` is not taken"), ({"first": 1}, "`first`"), ({"last": 1}, "`last`"),
        ({"shape": "triangle"}, "`shape` is 'triangle'"), ({"value": "value"}, "`value` is the column of vintages"), ({"shape": "wide", "limit": 5}, "`limit` would cut vintages"),
        ({"since": datetime.datetime(2026, 1, 1)}, "^`since` is no day"), ({"shape": "wide", "value": 5}, "`value` is no text"), ({"labels": True}, "`labels` is not taken"),
    ):
        with pytest.raises(errors.UsageError, match=sentence):
            client.revisions("table", to="rows", **how)
    assert service.asked == []
    service.revisions = [(*REVISIONS[0][:5], "yesterday", None)]
    for to in ("rows", "pandas", "polars", "arrow"):
        with pytest.raises(errors.IntegrityError, match="a time that cannot be read"):
            read(client.revisions, to)


def test_moments_keep_their_time_in_pivots(make):
    _, client = revised(make)
    for to in ("rows", "arrow", "pandas", "polars"):
        table = read(client.revisions, to, columns=["date", "region", "value"])
        if to != "rows":
            pytest.importorskip("pyarrow")
        names, _ = plain(yb.pivot_wider(table, names_from="_valid_from", id_columns=["date", "region", "_valid_to"]))
        assert len(names) == 7


@proof
def test_the_command_line_reads_other_times_contract_21(make, monkeypatch, capsys):
    service, _ = revised(make, rows=3)
    service.history = [(FIRST, service.current)]
    monkeypatch.setenv("SERVICE_BASE_URL", service.base)
    monkeypatch.setenv("SERVICE_API_KEY", faulty.KEY)
    assert cli.main(["get", "table", "--as-of", "2026-09-01"]) == 0
    assert [one.query["as_of"] for one in service.asked if one.path.endswith("/data")] == ["2026-09-01"] * 2
    capsys.readouterr()
    assert cli.main(["revisions", "table", "--since", SECOND, "--columns", "region,value"]) == 0
    assert capsys.readouterr().out.splitlines() == ["region,value,_valid_from,_valid_to", f"N,,{SECOND},{THIRD}", f"S,7.0,{FIRST},", f"N,2.5,{THIRD},", f"N,9.0,{FOURTH},"]
    assert cli.main(["revisions", "table", "--shape", "wide", "--value", "value", "--json"]) == 0
    assert f'"{FOURTH}": 9.0' in capsys.readouterr().out
    assert cli.main(["get", "table", "--as-of", "2026-09-01T00:00"]) == 2
    assert "time zone" in capsys.readouterr().err


@pytest.mark.service
@proof
def test_versions_of_the_service_are_those_of_their_times_contract_21(monkeypatch, tmp_path):
    """Rows, batches, files, links, values and citations are those of the snapshot that was current."""
    monkeypatch.setenv("SERVICE_BASE_URL", conftest.SERVICE)
    monkeypatch.setenv("SERVICE_API_KEY", conftest.KEYS["enterprise"])
    name = "synthetic_nz_retail_quarterly"
    old, new = sorted(yb.describe(name).snapshots, key=lambda one: one.created_at)[-2:]
    then = moment(old.created_at)
    assert (old.rows, new.rows) == (2016, 2048)
    for version, at in ((old, then), (old, moment(new.created_at) - datetime.timedelta(microseconds=1)), (new, new.created_at), (new, datetime.datetime.now(UTC).date())):
        rows = yb.get(name, as_of=at, to="rows")
        assert (len(rows), yb.credit(rows).snapshot_id) == (version.rows, version.id)
        assert yb.digest(rows) == yb.digest(yb.get(name, snapshot=version.id, to="rows"))
        assert yb.verify(rows) and version.id in yb.cite(rows)
    assert sum(len(batch) for batch in yb.iter_batches(name, as_of=then, to="rows")) == 2016
    assert yb.download(name, tmp_path / "then.parquet", as_of=then).rows == 2016
    with urllib.request.urlopen(yb.link(name, as_of=then, format="csv", days=1).url) as answer:
        assert len(answer.read().splitlines()) == 2017
    assert [yb.values(name, columns="period", as_of=at)["period"].distinct for at in (then, None)] == [63, 64]
    for at in (then - datetime.timedelta(days=3650), "1999-12-31"):
        with pytest.raises(errors.NotPublishedYetError, match="first published at"):
            yb.get(name, as_of=at, to="rows")
    with pytest.raises(errors.InvalidParametersError, match=r"as_of"):
        yb.get(name, as_of="2999-01-01", to="rows")


@pytest.mark.service
@proof
def test_revisions_of_the_service_make_what_was_known_then_contract_21(monkeypatch):
    """The law: rows that stood at a time are those of that time; so are the columns of vintages."""
    monkeypatch.setenv("SERVICE_BASE_URL", conftest.SERVICE)
    monkeypatch.setenv("SERVICE_API_KEY", conftest.KEYS["enterprise"])
    name = "synthetic_nz_retail_quarterly"
    versions = sorted(yb.describe(name).snapshots, key=lambda one: one.created_at)
    rows = yb.revisions(name, to="rows")
    assert len(rows) > versions[-1].rows
    wide = yb.revisions(name, shape="wide", to="rows")
    assert [column.name for column in wide.columns][-2:] == [one.created_at for one in versions[-2:]]
    for version in versions[-2:]:
        at = moment(version.created_at)
        stood = [{key: one for key, one in row.items() if key not in ("_valid_from", "_valid_to")} for row in rows if row["_valid_from"] <= at and (row["_valid_to"] is None or row["_valid_to"] > at)]
        known = yb.get(name, as_of=at, to="rows")
        assert stood == known
        keys = ("date", "period", "region", "measure")
        column = {tuple(row[key] for key in keys): row[version.created_at] for row in wide if row[version.created_at] is not None}
        assert column == {tuple(row[key] for key in keys): row["value"] for row in known}
    # What had ended before is left out, and a selection judges each version.
    since = yb.revisions(name, since=versions[-1].created_at, where={"region": "Gisborne", "measure": "sales"}, start="2025-04-01", columns=["period", "value"], to="rows")
    assert [(row["period"], row["value"]) for row in since if row["_valid_to"] is None] == [("2025-Q2", 217.3), ("2025-Q3", 203.3), ("2025-Q4", 211.5)]
    assert {row["_valid_to"] for row in since} <= {None, moment(versions[-1].created_at)}
    assert name in yb.cite(rows)
    for to in ("pandas", "polars", "arrow"):
        assert len(read(lambda _, **how: yb.revisions(name, **how), to)) == len(rows)
    with pytest.raises(errors.InvalidParametersError, match="since"):
        yb.revisions(name, since="2999-01-01", to="rows")
