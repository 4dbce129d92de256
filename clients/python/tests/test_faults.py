"""A service that fails: the right table or a typed error within the bound, never a short table, never
the key elsewhere, never a request more than needed."""

import asyncio
import importlib.util
import logging
import math
import os
import pickle
import struct
import threading
import traceback

import faulty
import pytest
from faulty import KEY, Fault
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from proofs import proof

import yearbook_client as yb
from yearbook_client import errors
from yearbook_client.client import Client


def bits(rows):
    """Rows as tuples in which every float is its bits and every date its text."""
    return [
        tuple(struct.pack("<d", v) if isinstance(v, float) else str(v) if name == "date" else v for name, v in zip(row, row.values() if isinstance(row, dict) else row))
        for row in rows
    ]


def expected(rows):
    return [tuple(struct.pack("<d", v) if isinstance(v, float) else v for v in row) for row in rows]


def pull(client, **how):
    return bits(client.get("table", to="rows", **how))


def test_pages_follow_the_cap_and_make_the_whole_table(make):
    service, client = make(rows=10, row_cap=3)
    assert pull(client) == expected(service.rows)
    assert service.charged == 4
    assert [row["date"].year for row in client.get("table", to="rows")][0] == 2000


@proof
def test_an_unchanged_table_is_a_304_and_costs_nothing_contract_11(make):
    service, client = make(rows=10, row_cap=3)
    first = pull(client)
    before = service.charged
    again = Client(service.base, KEY, progress=False)
    assert pull(again) == first
    assert service.charged == before
    assert any(one.method == "HEAD" and "If-None-Match" in one.headers for one in service.asked)
    service.refresh()
    assert pull(again) == expected(service.rows)
    assert service.charged > before


@proof
def test_without_a_cache_folder_nothing_is_kept_contract_11(make, monkeypatch, tmp_path):
    monkeypatch.setenv("SERVICE_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    service, client = make(rows=4)
    assert pull(client) == pull(client) == expected(service.rows)
    assert service.charged == 2
    assert not (tmp_path / "home").exists()


def test_a_cache_that_cannot_be_written_changes_no_result(make, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SERVICE_CACHE_DIR", str(tmp_path / "file"))
    service, client = make(rows=4)
    assert pull(client) == expected(service.rows)


def test_damaged_entries_of_the_cache_do_not_exist(make, tmp_path):
    service, client = make(rows=10, row_cap=3)
    pull(client)
    for path in (tmp_path / "cache").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-3])
    assert pull(client) == expected(service.rows)


def test_a_pull_that_broke_off_goes_on_where_it_was(make):
    service, client = make(rows=10, row_cap=3)
    service.fail("data", Fault(), Fault(), Fault(status=500))
    with pytest.raises(errors.ServiceFaultError):
        pull(client)
    assert service.charged == 2
    assert pull(client) == expected(service.rows)
    assert service.charged == 4


@proof
def test_errors_are_never_kept_contract_11(make):
    service, client = make(rows=4)
    service.fail("data", Fault(status=500), Fault(cut=40), Fault(rows_header="3"))
    with pytest.raises(errors.ServiceFaultError):
        pull(client)
    with pytest.raises(errors.ShortTableError):
        pull(client)
    assert pull(client) == expected(service.rows)


@proof
def test_processes_share_the_cache_contract_11(make):
    service, _ = make(rows=60, row_cap=7)
    found, clients = [], [Client(service.base, KEY, progress=False) for _ in range(6)]
    threads = [threading.Thread(target=lambda c=c: found.append(pull(c))) for c in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected(service.rows)] * 6
    before = service.charged
    assert pull(Client(service.base, KEY, progress=False)) == found[0]
    assert service.charged == before


@pytest.mark.parametrize("limit", [None, 25])
@proof
def test_the_bound_of_the_cache_takes_no_page_of_the_pull_contract_11(make, monkeypatch, tmp_path, limit):
    """With a limit, the last page has a name of its own."""
    monkeypatch.setenv("SERVICE_CACHE_BYTES", "500")
    service, client = make(rows=25, row_cap=10)
    for charged in (3, 3):
        assert pull(client, limit=limit) == expected(service.rows)
        assert service.charged == charged
    # What was not read again goes, and what others keep there does not.
    foreign = tmp_path / "cache" / "v1" / "thesis.body"
    foreign.write_bytes(b"x" * 9000)
    os.utime(foreign, (0, 0))
    assert pull(client, columns=["date"]) == [row[:1] for row in expected(service.rows)]
    before = service.charged
    assert pull(client, limit=limit) == expected(service.rows)
    assert service.charged == before + 3
    client.clear_cache()
    assert [path for path in (tmp_path / "cache" / "v1").rglob("*") if path.is_file()] == [foreign]


@pytest.mark.parametrize("how", [{}, {"snapshot": "a" * 32}])
@proof
def test_pages_that_another_process_deletes_are_fetched_again_contract_11(make, how, tmp_path):
    service, other = make(rows=25, row_cap=10)
    times = 1

    def clear(label, done, whole):
        nonlocal times
        if done == 20 and times > 0:
            times -= 1
            other.clear_cache()

    client = Client(service.base, KEY, progress=clear)
    assert pull(client, **how) == expected(service.rows)
    # The last page stayed.
    assert service.charged == 5
    # It is no endless race, nor one that batches can win.
    times = 9
    with pytest.raises(errors.CacheClearedError, match="SERVICE_CACHE_DIR"):
        pull(client, **how)
    batches = client.iter_batches("table", to="rows", **how)
    assert next(batches)
    with pytest.raises(errors.CacheClearedError):
        list(batches)
    if importlib.util.find_spec("pyarrow"):
        times = 1
        assert client.download("table", tmp_path / "a.parquet", **how).rows == 25


@pytest.mark.parametrize(("framing", "times"), [("chunked", 1), ("length", 9), ("none", 9)])
@proof
def test_a_body_that_is_cut_at_any_byte_never_makes_a_short_table_contract_11(make, framing, times, pytestconfig):
    step = times * pytestconfig.getoption("--cut-step")
    service, client = make(rows=2, batch_rows=1, framing=framing)
    whole = expected(service.rows)
    assert pull(client) == whole
    recognised = 0
    for cut in range(0, 5000, step):
        client.clear_cache()
        service.asked.clear()
        service.fail("data", Fault(cut=cut, framing=framing))
        assert pull(client) == whole
        recognised = cut + step if service.charged == 2 else recognised
        if service.charged == 1:
            break
    # Every cut cost a second request, and the first one that cost none cut nothing off.
    assert recognised == cut > 1000


@proof
def test_broken_bodies_bursts_and_503_are_retried_contract_11(make, waits):
    service, client = make(rows=3)
    service.fail("data", Fault(cut=50), Fault(cut=90, reset=True), Fault(status=503, code="busy", headers={"Retry-After": "7"}), Fault(status=429, code="slow_down", headers={"Retry-After": "2"}))
    assert pull(client) == expected(service.rows)
    assert len([one for one in service.asked if one.method == "GET" and one.path.endswith("/data")]) == 5
    assert 7 <= waits[2] < 8
    assert 2 <= waits[3] < 3
    assert 0 < waits[0] <= 0.5


def test_a_page_costs_five_requests_at_most(make):
    for status, kind in ((503, errors.UnavailableError), (502, errors.UnavailableError), (504, errors.UnavailableError)):
        service, client = make(rows=3)
        service.fail("data", *[Fault(status=status)] * 9)
        with pytest.raises(kind):
            pull(client)
        assert len(service.faults["data"]) == 4


def test_a_pull_waits_for_a_minute_at_most(make, waits):
    service, client = make(rows=9, row_cap=3)
    service.fail("data", Fault(), *[Fault(status=503, headers={"Retry-After": "25"})] * 9)
    with pytest.raises(errors.UnavailableError) as caught:
        pull(client)
    assert caught.value.retry_after == 25
    assert sum(waits) <= 60
    assert len(waits) == 2


@proof
def test_a_used_up_month_is_raised_at_once_with_its_end_contract_11(make, waits):
    service, client = make(rows=3)
    service.fail("data", Fault(status=429, code="quota_used_up", headers={"Retry-After": "99", "X-RateLimit-Reset": "1893456000"}))
    with pytest.raises(errors.MonthUsedUpError, match="2030-01-01") as caught:
        pull(client)
    assert caught.value.resets_at.year == 2030
    # A proxy may drop the code; a wait of weeks is no burst.
    service.fail("data", Fault(status=429, headers={"Retry-After": "900000"}))
    with pytest.raises(errors.MonthUsedUpError):
        pull(client)
    assert waits == []


@proof
def test_what_the_month_cannot_finish_is_refused_before_it_begins_contract_11(make):
    service, client = make(rows=10, row_cap=3, limit=3)
    with pytest.raises(errors.PullTooExpensiveError) as caught:
        pull(client)
    assert (caught.value.needed, caught.value.left, service.charged) == (4, 3, 0)
    assert pull(client, limit=5) == expected(service.rows[:5])
    assert service.charged == 2
    with pytest.raises(errors.PullTooExpensiveError):
        pull(client)
    service.used = 3
    with pytest.raises(errors.MonthUsedUpError):
        pull(client)
    assert pull(client, limit=5) == expected(service.rows[:5])


@proof
def test_changes_that_the_month_cannot_finish_are_refused_before_they_begin_contract_11(make):
    service, client = make(rows=10, row_cap=3, limit=3)
    with pytest.raises(errors.PullTooExpensiveError, match="at least 4 requests and the month has 3 left") as caught:
        client.changes("table", to="rows")
    assert (caught.value.needed, caught.value.left, service.charged) == (4, 3, 0)
    # As many as are left, from a later version on; the watermark leads on.
    found = client.changes("table", "w1", to="rows")
    assert ([row["_change_type"] for row in found.table], found.watermark, service.charged) == (["insert"] * 9, "w10", 3)
    with pytest.raises(errors.MonthUsedUpError):
        client.changes("table", found.watermark, to="rows")
    assert service.charged == 3
    # Where nothing is counted, nothing is asked beforehand.
    service, client = make(rows=10, row_cap=3)
    assert len(client.changes("table", to="rows").table) == 10
    assert [one.method for one in service.asked if one.path.endswith("/changes")] == ["GET"] * 4


@proof
def test_a_pull_is_planned_by_what_is_free_contract_11(make):
    service, client = make(rows=10, row_cap=50)
    pull(client)
    assert [(one.method, one.path.rsplit("/", 1)[1]) for one in service.asked] == [("GET", "preview"), ("GET", "me"), ("HEAD", "data"), ("GET", "data")]
    assert "X-API-Key" not in service.asked[0].headers
    assert service.charged == 1


@proof
def test_pages_have_the_cap_or_100000_rows_and_never_limit_0_contract_11(make):
    for cap, limit in ((7, "7"), (None, "100000"), (50_000, "50000")):
        service, client = make(rows=5, row_cap=cap)
        pull(client)
        assert {one.query["limit"] for one in service.asked if one.path.endswith("/data")} == {limit}


@proof
def test_pages_of_a_pull_have_one_snapshot_contract_11(make):
    service, client = make(rows=10, row_cap=3)
    old = service.rows
    service.fail("data", Fault(), Fault(refresh=True))
    assert pull(client) == expected(old)
    # The snapshot goes away between two pages: once again from the start, with the new one.
    service, client = make(rows=10, row_cap=3)

    def forget(name="a" * 32):
        service.refresh()
        del service.snapshots[name]

    service.fail("data", Fault(), Fault(status=410, code="snapshot_gone"))
    assert pull(client) == expected(service.rows)
    service.fail("data", Fault(), Fault(status=410), Fault(), Fault(status=410))
    client.clear_cache()
    with pytest.raises(errors.SnapshotGoneError):
        pull(client)


def test_pages_that_claim_another_snapshot_are_never_joined(make):
    service, client = make(rows=10, row_cap=3)
    service.refresh()
    service.fail("data", Fault(), Fault(mixed=True), Fault(), Fault(mixed=True))
    del service.snapshots["a" * 32]
    service.current = "b" * 32
    other = faulty.table(10, seed=7)
    service.snapshots["c" * 32] = other
    assert pull(client) == expected(service.rows)


def test_a_refresh_between_head_and_get_starts_again(make):
    service, client = make(rows=10, row_cap=3)
    service.fail("data", Fault(refresh=True))
    assert pull(client) == expected(service.rows)


def test_a_410_on_a_snapshot_that_was_asked_for_is_raised(make):
    service, client = make(rows=10, row_cap=3)
    with pytest.raises(errors.SnapshotGoneError):
        pull(client, snapshot="f" * 32)


def test_batches_never_mix_snapshots(make):
    service, client = make(rows=10, row_cap=3)
    service.fail("data", Fault(), Fault(status=410, code="snapshot_gone"))
    batches = client.iter_batches("table", to="rows")
    assert len(next(batches)) == 3
    with pytest.raises(errors.SnapshotGoneError):
        list(batches)


def test_a_task_that_reads_batches_can_be_cancelled(make):
    """The thread that reads a batch has the generator until its request has ended."""
    service, client = make(rows=10, row_cap=3)

    async def read():
        return [batch async for batch in yb.AsyncClient(client).iter_batches("table", to="rows")]

    async def run():
        service.fail("data", Fault(silence=1))
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(read(), 0.3)
        service.fail("data", Fault(), Fault(silence=1))
        task = asyncio.create_task(read())
        await asyncio.sleep(0.3)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), await read()

    cancelled, batches = asyncio.run(run())
    assert cancelled
    assert bits(row for batch in batches for row in batch) == expected(service.rows)


def test_rows_that_do_not_add_up_are_an_error(make):
    service, client = make(rows=10, row_cap=5)
    service.fail("data", Fault(rows_header="4"))
    with pytest.raises(errors.ShortTableError):
        pull(client)
    service.fail("head", Fault(headers={}))
    service.snapshots[service.current] = service.rows[:7]
    client.clear_cache()
    service.fail("data", Fault(rows_header="5"), Fault(rows_header="3"))
    with pytest.raises(errors.ShortTableError):
        pull(client)


def test_a_slow_drip_is_an_error_within_the_bound(make):
    service, client = make(rows=3, timeout=0.3)
    patient = Client(service.base, KEY, progress=False)
    service.fail("data", *[Fault(drip=0.05)] * 5)
    with pytest.raises(errors.StalledError):
        pull(client)
    service.faults.clear()
    service.fail("data", *[Fault(silence=0.6)] * 5)
    with pytest.raises(errors.StalledError):
        pull(client)
    service.faults.clear()
    # A busy machine may be slower than the bound of the first client.
    assert pull(patient) == expected(service.rows)


@proof
def test_the_key_goes_to_no_other_origin_contract_11(make, tmp_path):
    service, client = make(rows=3, bulk=b"x" * 1000, geometry=True)
    other, _ = make(rows=3)
    for kind in ("me", "head", "data"):
        service.fail(kind, Fault(location=f"{other.base}/v1/datasets/table/data?limit=3"))
        with pytest.raises(errors.RedirectRefusedError):
            pull(client, columns=["date"])
        service.faults.clear()
        client.clear_cache()
    assert other.asked == []
    # Only the bulk file may come from elsewhere, without the key, and its digest vouches for it.
    other.bulk, other.keyless = service.bulk, True
    service.fail("bulk", Fault(location=f"{other.base}/v1/bulk/tests/table"))
    assert client.download("table", tmp_path / "a.parquet").path.read_bytes() == service.bulk
    other.bulk = b"y" * 1000
    service.fail("bulk", *[Fault(location=f"{other.base}/v1/bulk/tests/table")] * 2)
    with pytest.raises(errors.DigestMismatchError):
        client.download("table", tmp_path / "a.parquet")
    assert len(other.asked) == 3
    assert all("X-API-Key" not in one.headers for one in other.asked)


def test_a_redirect_to_the_same_origin_keeps_the_key(make):
    service, client = make(rows=3)
    service.fail("data", Fault(location="/v1/datasets/table/data?limit=100000&format=arrow"))
    assert pull(client) == expected(service.rows)


@proof
def test_the_key_is_in_no_repr_log_or_exception_contract_11(make, caplog, capsys):
    caplog.set_level(logging.DEBUG)
    service, client = make(rows=3)
    texts = [repr(client), str(vars(client))]
    dead = Client("http://127.0.0.1:9", KEY, progress=False)
    bad = Client(service.base, KEY + "x", progress=False)
    service.fail("data", Fault(status=503), Fault(cut=9), Fault(status=500))
    for one in (client, dead, bad):
        with pytest.raises(errors.YearbookError) as caught:
            one.get("table", to="rows")
        error = caught.value
        texts += [str(error), repr(error), str(vars(error))]
        texts += traceback.TracebackException.from_exception(error, capture_locals=True).format()
    with pytest.raises(errors.UsageError) as caught:
        Client(service.base, f"{KEY}\r\nX-Evil: 1")
    texts += [str(caught.value)]
    with pytest.raises(TypeError):
        pickle.dumps(client._key)
    texts += [caplog.text, *capsys.readouterr()]
    assert "KeyRefusedError" in "".join(texts)
    assert KEY not in "".join(texts)


@proof
def test_bulk_files_are_resumed_by_range_and_their_digest_is_checked_contract_11(make, tmp_path):
    body = bytes(range(256)) * 4000
    service, client = make(rows=3, geometry=True, bulk=body)
    service.fail("bulk", Fault(cut=300_000), Fault(cut=200_000, reset=True))
    found = client.download("table", tmp_path / "a.parquet")
    assert found.path.read_bytes() == body
    ranges = [one.headers.get("Range") for one in service.asked if one.method == "GET" and "bulk" in one.path]
    assert ranges[0] is None
    assert all(one is not None for one in ranges[1:])
    assert ranges[1] == "bytes=300000-"
    service.fail("bulk_head", Fault(wrong_digest=True))
    with pytest.raises(errors.DigestMismatchError):
        client.download("table", tmp_path / "b.parquet")
    assert not (tmp_path / "b.parquet").exists()


def test_a_download_that_broke_off_is_resumed_by_the_next(make, tmp_path):
    body = bytes(range(256)) * 4000
    service, client = make(rows=3, geometry=True, bulk=body)
    service.fail("bulk", Fault(cut=500_000), *[Fault(status=503)] * 4)
    with pytest.raises(errors.UnavailableError):
        client.download("table", tmp_path / "a.parquet")
    assert not (tmp_path / "a.parquet").exists()
    assert client.download("table", tmp_path / "a.parquet").path.read_bytes() == body
    assert service.asked[-1].headers["Range"] == "bytes=500000-"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["a.parquet"]


@pytest.mark.parametrize("status", [402, 403])
@proof
def test_402_and_403_fall_back_to_pages_once_and_are_remembered_contract_11(make, status):
    pytest.importorskip("pyarrow")
    service, client = make(rows=3, geometry=True, bulk=b"x")
    service.bulk_refusal = status
    assert pull(client) == expected(service.rows)
    client.clear_cache()
    assert pull(client) == expected(service.rows)
    assert len([one for one in service.asked if "bulk" in one.path]) == 1


@proof
def test_bulk_is_for_large_or_spatial_tables_of_the_current_snapshot_contract_11(make, tmp_path):
    def asked(how, **given):
        service, client = make(**given)
        client.download("table", tmp_path / "x.parquet", **how) if "format" in how else pull(client, **how)
        return [one.method for one in service.asked if "bulk" in one.path]

    pytest.importorskip("pyarrow")
    body = b"x" * 99
    whole = {"format": "parquet"}
    assert asked(whole, rows=3, geometry=True, bulk=body) == ["HEAD", "GET"]
    assert asked({}, rows=3, bulk=body) == []
    for filtered in ({"start": "2000-01-01"}, {"geometry": False}, {"columns": ["date"]}, {"limit": 2}):
        assert asked(filtered, rows=3, geometry=True, bulk=body) == []
    # A plan's monthly file may be of an older snapshot.
    service, client = make(rows=3, geometry=True, bulk=body)
    service.bulk_snapshot = "e" * 32
    assert pull(client) == expected(service.rows)
    assert [one.method for one in service.asked if "bulk" in one.path] == ["HEAD"]


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, "key_missing", errors.KeyRefusedError), (404, "no_such_dataset", errors.DatasetNotFoundError),
        (404, "no_such_snapshot", errors.SnapshotNotFoundError), (404, "no_such_route", errors.NotFoundError),
        (406, "not_acceptable", errors.FormatRefusedError), (410, "snapshot_gone", errors.SnapshotGoneError),
        (412, "precondition_failed", errors.ChangedError), (413, "unbounded_pull", errors.PullTooLargeError),
        (422, "invalid_parameters", errors.InvalidParametersError), (500, "internal", errors.ServiceFaultError),
        (418, "", errors.RefusedError),
    ],
)
def test_each_refusal_has_an_exception_with_the_services_sentence(make, status, code, kind):
    service, client = make(rows=3)
    service.fail("me", Fault(status=status, code=code))
    with pytest.raises(kind, match=f"refused: {code or status}") as caught:
        client.me()
    assert (caught.value.status, caught.value.code, caught.value.request_id) == (status, code, "r-1")


FAULTS = st.one_of(
    st.builds(Fault, cut=st.integers(0, 1500), reset=st.booleans(), framing=st.sampled_from(["chunked", "length", "none"])),
    st.builds(Fault, status=st.sampled_from([429, 500, 502, 503, 504, 410, 404]), headers=st.sampled_from([{}, {"Retry-After": "1"}, {"Retry-After": "100000"}])),
    st.builds(Fault, refresh=st.just(True)),
    st.builds(Fault, mixed=st.just(True)),
    st.builds(Fault, rows_header=st.sampled_from(["0", "2", "99"])),
    st.builds(Fault, damage=st.integers(0, 64)),
    st.just(Fault()),
)


@given(st.lists(FAULTS, max_size=7), st.lists(FAULTS.filter(lambda f: f.damage is None and f.cut is None), max_size=3), st.integers(1, 12), st.sampled_from([None, 3, 5]))
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_faults_give_the_whole_table_or_a_typed_error(make, data, head, rows, cap):
    service, client = make(rows=rows, row_cap=cap)
    service.refresh = lambda: faulty.Service.refresh(service, rows) if len(service.snapshots) < 5 else None
    client.clear_cache()
    service.fail("data", *data)
    service.fail("head", *head)
    try:
        found = pull(client)
    except errors.YearbookError:
        found = None
    damaged = any(fault.damage is not None for fault in data)
    if found is not None and not damaged:
        assert found in [expected(table) for table in service.snapshots.values()]
    if found is not None:
        assert len(found) == rows
    service.close()


def test_nan_is_no_null_and_text_is_no_null(make):
    service, client = make(rows=12)
    rows = client.get("table", to="rows")
    assert math.isnan(rows[2]["value"])
    assert rows[3]["value"] is None
    assert rows[0]["region"] is None
    assert rows[1]["region"] == ""
    assert yb.credit(rows).attribution == "Ōtautahi – credit"


@proof
def test_a_table_is_compared_with_the_services_digest_contract_13(make):
    service, client = make(rows=12)
    rows = client.get("table", to="rows")
    service.citation = f"Nobody (2026). Table. Digest: {yb.digest(rows)}."
    before = service.charged
    assert client.cite(rows) == service.citation
    assert client.verify(rows)
    assert service.charged == before
    part = client.get("table", to="rows", columns=["date", "value"])
    with pytest.raises(errors.UsageError, match="names no digest"):
        client.verify(part)
    service.citation = f"Nobody (2026). Table. Digest: {yb.digest(part)}."
    before = service.charged
    assert client.verify(part, recompute=True)
    assert service.charged == before + 1
    assert service.asked[-1].query == {"format": "text", "verify": "true", "columns": "date,value"}
    part[0]["value"] = 0.30000000000000004
    assert not client.verify(part, recompute=True)
    assert all("X-API-Key" not in one.headers for one in service.asked if one.path.startswith("/cite") and "verify" not in one.query)
    # A page is no citation of a pull of several.
    service.row_cap = 5
    whole = client.get("table", to="rows")
    assert yb.credit(whole).cite_as == f"{service.base}/cite/table/{service.current}"
    cut = client.get("table", to="rows", limit=7, columns=["value", "date"])
    assert yb.credit(cut).cite_as.endswith("?columns=value%2Cdate&limit=7")
    service.citation = None
    assert "Nobody (2026). table" in client.cite(rows)
