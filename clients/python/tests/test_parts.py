"""Parts that need no service: settings, headers, search, pivots, digests, completeness of files."""

import datetime
import io
import json
import math
import pathlib
import re
import subprocess
import sys

import arrow_writer
import pytest
from hypothesis import given
from hypothesis import strategies as st
from proofs import proof

import yearbook_client as yb
from yearbook_client import errors, settings
from yearbook_client.client import Client
from yearbook_client.completeness import checker, joiner
from yearbook_client.http.answers import Headers, refusal, retry_after_seconds
from yearbook_client.models import DatasetSummary, rank
from yearbook_client.published import check_proof
from yearbook_client.results import ColumnType, Rows
from yearbook_client.selection import Selection
from yearbook_client.verification import ResultDigest, digest_of_columns

HERE = pathlib.Path(__file__).parent
FIXTURES = HERE.parents[2] / "tests" / "fixtures"
VECTORS = FIXTURES / "result_digest.json"


@proof
def test_address_and_key_are_read_at_each_call_contract_11(monkeypatch):
    with pytest.raises(errors.UsageError, match="SERVICE_BASE_URL"):
        yb.me()
    monkeypatch.setenv("SERVICE_BASE_URL", "https://statistics.example.org/prefix/")
    found = settings.origin()
    assert (found.base, found.port) == ("https://statistics.example.org/prefix", 443)
    monkeypatch.setenv("SERVICE_BASE_URL", "http://[::1]:8080")
    assert settings.origin().base == "http://[::1]:8080"
    monkeypatch.setenv("SERVICE_API_KEY", " yb_one\n")
    assert settings.api_key(found).reveal() == "yb_one"
    monkeypatch.setenv("SERVICE_API_KEY", "yb_two")
    assert settings.api_key(found).reveal() == "yb_two"


@pytest.mark.parametrize("address", ["", "ftp://a", "a.example", "http://user:word@a", "http://a?b=c", "http://a:b"])
def test_addresses_that_are_none_are_refused_with_advice(address):
    with pytest.raises(errors.UsageError):
        Client(address, "yb_x").me()


def test_only_the_services_own_origin_gets_the_key():
    own = settings.parse_origin("https://a.example/prefix")
    assert own.owns("https://a.example/prefix/v1/me")
    assert own.owns("https://a.example:443/prefix/v1/me")
    for url in ("http://a.example/prefix/v1", "https://b.example/prefix/v1", "https://a.example:8443/prefix/v1", "https://a.example/other", "https://a.example@b.example/prefix/v1", "https://x@a.example/prefix/v1", "https://a.example:x/prefix/v1"):
        assert not own.owns(url)


def test_headers_ignore_case_and_are_utf_8():
    found = Headers.from_wire([("X-Credit", "Ōtautahi".encode().decode("latin-1")), ("Link", '<a>; rel="next"'), ("link", '</cite/x?a=b>; title="q, r"; rel="cite-as"'), ("X-N", "12")])
    assert found["x-credit"] == "Ōtautahi"
    assert (found.link("next"), found.link("cite-as"), found.link("prev")) == ("a", "/cite/x?a=b", None)
    assert (found.count("X-N"), found.count("X-Credit"), found.count("X-Missing")) == (12, None, None)


@given(st.binary(max_size=200), st.integers(100, 599))
def test_any_body_of_a_refusal_makes_an_exception(body, status):
    assert refusal(status, Headers([("Retry-After", "soon")]), body).status == status


def test_a_422_names_each_parameter():
    body = json.dumps({"detail": [{"loc": ["query", "start"], "msg": "bad", "type": "x"}, {"loc": ["query", "limit"], "msg": "worse", "type": "y"}]})
    found = refusal(422, Headers([]), body.encode())
    assert str(found) == "start: bad; limit: worse"
    assert len(found.errors) == 2


def test_retry_after_is_seconds_or_a_date():
    assert retry_after_seconds("12") == 12
    assert retry_after_seconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0
    assert retry_after_seconds("x") is retry_after_seconds(None) is None


@pytest.mark.parametrize("how", [{"start": "2020-13-01"}, {"end": "2020"}, {"columns": []}, {"columns": ["a,b"]}, {"limit": 0}, {"start": datetime.datetime(2020, 1, 1, 5)}])
def test_what_the_service_would_refuse_in_any_case_is_refused_here(how):
    with pytest.raises(errors.UsageError):
        Selection.of("table", **how)


def test_dates_are_taken_as_text_or_date():
    found = Selection.of("table", start=datetime.date(2020, 1, 2), end="2020-02-01", columns="a, b")
    assert found.query() == {"columns": "a,b", "end": "2020-02-01", "start": "2020-01-02"}
    with pytest.raises(errors.UsageError):
        Selection.of("Not a name")


DATASETS = [
    DatasetSummary("nz_population_maori", "nz", "Stats NZ", "Māori population", "People by iwi"),
    DatasetSummary("us_unemployment", "us", "BLS", "Unemployment by industry", "Rates and counts"),
    DatasetSummary("us_population", "us", "Census", "Population of the states", "Unemployment is elsewhere"),
]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("maori", ["nz_population_maori"]), ("MĀORI population", ["nz_population_maori"]), ("popul", ["nz_population_maori", "us_population"]),
        ("unemployment", ["us_unemployment", "us_population"]), ("unemploiment", ["us_unemployment", "us_population"]), ("unemplyoment rates", ["us_unemployment"]), ("nothing", []),
    ],
)
def test_search_folds_case_and_marks_and_finds_beginnings_and_slips(words, names):
    assert [one.name for one in rank(DATASETS, words)] == names


@proof
def test_proofs_of_other_programs_hold_or_not_as_they_say_contract_21():
    cases = json.loads((FIXTURES / "log_proofs.json").read_text(encoding="utf-8"))["cases"]
    for case in cases:
        if case["entry"] is None:
            with pytest.raises(errors.UsageError, match="does not hold"):
                check_proof(case["proof"], case["key"])
            continue
        found = check_proof(case["proof"], f" {case['key']}\n")
        entry = json.loads(case["entry"])
        assert (found.index, found.size) == (case["index"], case["size"]), case["title"]
        assert (found.snapshot_id, found.digest, found.version) == (entry["snapshot"], entry["digest"], entry["version"])
    assert sum(case["entry"] is not None for case in cases) >= 14 and len(cases) >= 30
    for key in ("", "a+b", "a+b+c", cases[0]["key"].replace("log+", "lag+"), cases[0]["key"][:-4]):
        with pytest.raises(errors.UsageError, match="no key"):
            check_proof(cases[0]["proof"], key)


@proof
def test_digests_are_those_of_the_vectors_contract_13():
    vectors = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]
    parse = {"integer": int, "number": float, "boolean": lambda text: text == "true"}
    for case in vectors:
        columns = []
        for index, column in enumerate(case["columns"]):
            made = parse.get(column["type"], str)
            columns.append((column["name"], column["type"], [None if row[index] is None else made(row[index]) for row in case["rows"]]))
        assert digest_of_columns(columns, len(case["rows"])) == case["digest"], case["title"]
    assert len(vectors) >= 4


@given(st.lists(st.tuples(st.none() | st.text(st.characters(exclude_categories=["Cs"])), st.none() | st.floats()), max_size=30), st.integers(0, 30))
def test_a_digest_depends_on_no_batch(rows, at):
    columns = [("a", "string"), ("b", "number")]
    whole = digest_of_columns([(name, kind, [row[i] for row in rows]) for i, (name, kind) in enumerate(columns)], len(rows))
    parts = ResultDigest(columns)
    for part in (rows[:at], rows[at:]):
        parts.update([[row[i] for row in part] for i in range(2)], len(part))
    assert parts.text() == whole


def test_a_digest_sees_the_last_bit_and_the_sign_of_zero():
    def of(value):
        return digest_of_columns([("a", "number", [value])], 1)

    assert len({of(value) for value in (0.1, math.nextafter(0.1, 1) if sys.version_info >= (3, 9) else 0.2, 0.0, -0.0, None, math.nan)}) == 6


LONG = Rows(
    [{"date": datetime.date(2020, m, 1), "region": r, "value": v} for m in (1, 2) for r, v in (("N", 1.5), ("S", None))],
    (ColumnType("date", "date"), ColumnType("region", "string"), ColumnType("value", "number")),
    yb.Credit("table"),
)


def test_pivots_lose_nothing_and_refuse_doubles():
    wide = yb.pivot_wider(LONG, names_from="region")
    assert list(wide) == [{"date": datetime.date(2020, m, 1), "N": 1.5, "S": None} for m in (1, 2)]
    back = yb.pivot_longer(wide, ["N", "S"], names_to="region")
    assert list(back) == list(LONG)
    assert yb.credit(back) == LONG.credit
    assert [column.type for column in back.columns] == ["date", "string", "number"]
    with pytest.raises(errors.UsageError, match="Two rows claim"):
        yb.pivot_wider(LONG, names_from="region", id_columns=[])
    with pytest.raises(errors.UsageError, match="no column"):
        yb.pivot_wider(LONG, names_from="place")
    with pytest.raises(errors.UsageError):
        yb.pivot_longer(wide, ["date", "N"])


@pytest.mark.parametrize("series", [(("a_b", "c"), ("a", "b_c")), ((None, "c"), ("", "c"))])
def test_series_that_get_one_name_are_refused(series):
    """In different rows they claim no cell of one another, and would be one column all the same."""
    columns = tuple(ColumnType(name, kind) for name, kind in (("id", "integer"), ("x", "string"), ("y", "string"), ("value", "number")))
    rows = Rows([{"id": number, "x": x, "y": y, "value": 1.5} for number, (x, y) in enumerate(series)], columns, yb.Credit("table"))
    with pytest.raises(errors.UsageError, match="Two series get the same name '"):
        yb.pivot_wider(rows, names_from=["x", "y"])


def test_pivots_keep_the_kind_of_the_table():
    pa = pytest.importorskip("pyarrow")
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = pa.Table.from_pylist(list(LONG), schema=pa.schema([("date", pa.date32()), ("region", pa.string()), ("value", pa.float64())]))
    assert yb.pivot_wider(table, names_from="region").to_pylist()[0] == {"date": datetime.date(2020, 1, 1), "N": 1.5, "S": None}
    frame = polars.from_arrow(table)
    assert isinstance(yb.pivot_wider(frame, names_from="region"), polars.DataFrame)
    from yearbook_client.results.tables import table_of

    wide = yb.pivot_wider(table_of(table, "pandas"), names_from="region")
    assert isinstance(wide, pandas.DataFrame)
    assert str(wide["date"].dtype) == "datetime64[us]"


CSV = b'a,b\n1,"x\ny"\n2,"a ""q"""\n3,\n'


def _check(kind, body, framed=True, step=7):
    found = checker(kind)
    file = io.BytesIO(body)
    for at in range(0, len(body), step):
        found.update(body[at : at + step])
    return found.finish(framed=framed, file=file, start=0)


@given(st.integers(1, 40))
def test_rows_of_csv_are_counted_whatever_the_chunks(step):
    assert _check("csv", CSV, step=step) == 3
    assert _check("ndjson", b'{"a":"\\"x"}\n{}\n', step=step) == 2


def test_cut_files_of_each_format_are_recognised():
    for end in range(len(CSV)):
        try:
            assert _check("csv", CSV[:end], framed=False) < 3
        except errors.CutBodyError:
            pass
    for body in (b"[", b'[{"a":1},', b"", b'[{"a":"]'):
        with pytest.raises(errors.CutBodyError):
            _check("json", body, framed=False)
    with pytest.raises(errors.CutBodyError):
        _check("parquet", b"PAR1xxxxxxxxPAR")
    with pytest.raises(errors.CutBodyError):
        _check("xlsx", b"PK", framed=False)


def test_joined_pages_are_one_file(tmp_path):
    def joined(kind, parts):
        join = joiner(kind)
        with (tmp_path / kind).open("w+b") as file:
            for number, part in enumerate(parts):
                file.seek(join.begin(file))
                file.write(part)
                file.flush()
                join.end(file, last=number == len(parts) - 1)
                file.flush()
        return (tmp_path / kind).read_bytes()

    assert joined("csv", [b"a\n1\n", b"a\n2\n", b"a\n3\n"]) == b"a\n1\n2\n3\n"
    assert joined("ndjson", [b"{}\n", b"[]\n"]) == b"{}\n[]\n"
    columns = [("a", "integer")]
    pages = [arrow_writer.stream(columns, [(n,)]) for n in range(3)]
    assert joined("arrow", pages) == arrow_writer.stream(columns, [(0,), (1,), (2,)], 1)


def imported(package):
    """Processor time of the best of seven imports of a package, in seconds, and the packages that come with it."""
    program = (
        "import json, sys, time\n"
        "before = set(sys.modules); began = time.process_time()\n"
        f"import {package}\n"
        "spent = time.process_time() - began\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        f"print(json.dumps([spent, sorted(new - set(sys.stdlib_module_names) - {{{package!r}}})]))"
    )
    runs = [json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout) for _ in range(7)]
    return min(seconds for seconds, _ in runs), runs[0][1]


@proof
def test_the_core_needs_urllib3_alone_and_is_imported_at_once_contract_11():
    """Nothing but urllib3 and the standard library is imported; processor time of the best of seven imports. A machine on which
    urllib3 alone takes as long is too slow for the bound of 60 ms."""
    ours, others = imported("yearbook_client")
    assert others in ([], ["urllib3"])
    assert ours < 0.06 or ours < imported("urllib3")[0]
    text = (HERE.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(r'^dependencies = \["urllib3[^",]*(,<3)?"\]$', text, re.M)
    for extra in ("pandas", "polars", "pyarrow", "geo"):
        assert re.search(rf"^{extra} = \[", text, re.M)


def test_public_names_are_found_before_their_modules_are_imported():
    program = (
        "import sys, yearbook_client as yb\n"
        "assert set(yb.__all__) <= set(dir(yb)), set(yb.__all__) - set(dir(yb))\n"
        "assert 'yearbook_client.credits' not in sys.modules\n"
        "assert all(getattr(yb, name) is not None for name in yb.__all__)\n"
        "print(yb.credit.__module__, yb.Rows.__name__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["yearbook_client.credits", "Rows"], done.stderr
    with pytest.raises(AttributeError, match="nothing"):
        _ = yb.nothing


@proof
def test_names_are_those_of_the_contract_contract_11():
    text = (HERE.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert 'name = "yearbook_client"' in text
    assert 'requires-python = ">=3.10"' in text
    assert yb.__name__ == "yearbook_client"


@proof
def test_long_pulls_show_a_bar_contract_11(make, monkeypatch, capsys):
    service, _ = make(rows=10, row_cap=3)
    told = []
    client = Client(service.base, "yb_secretsecretsecret", progress=lambda *step: told.append(step))
    client.get("table", to="rows")
    assert told == [("table", n, 10) for n in (3, 6, 9, 10)]
    Client(service.base, "yb_secretsecretsecret", cache="", progress=True).get("table", to="rows")
    assert "100 %  10 of 10" in capsys.readouterr().err
    Client(service.base, "yb_secretsecretsecret", cache="").get("table", to="rows")
    assert capsys.readouterr().err == ""


def test_a_bulk_file_is_read_a_row_group_at_a_time(tmp_path):
    """All of it would be 16 MB; beyond one group of 1 MB and its batch, nothing is held."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from yearbook_client.pull import Source
    from yearbook_client.results.tables import record_batches
    from yearbook_client.store import Page

    rows, group = 1 << 20, 1 << 16
    table = pa.table({"value": pa.array(range(rows), pa.int64()), "other": pa.array(map(float, range(rows)), pa.float64())})
    path = tmp_path / "whole.parquet"
    parquet.write_table(table, path, row_group_size=group, compression="none", use_dictionary=False)
    source = Source(Page(path, Headers(()), rows, path.stat().st_size), True)
    del table
    before, peak, seen = pa.total_allocated_bytes(), 0, 0
    for batch in record_batches(source, frozenset()):
        assert batch.column("value")[0].as_py() == seen
        seen += len(batch)
        peak = max(peak, pa.total_allocated_bytes() - before)
    assert seen == rows
    assert peak < 5 << 20
