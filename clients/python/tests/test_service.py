"""The running service: every value of every dataset in every result, costs, files, citations."""

import asyncio
import datetime
import io
import json
import subprocess
import sys
import urllib.error
import urllib.request

import conftest
import pytest
from proofs import proof

import yearbook_client as yb
from yearbook_client import errors
from yearbook_client.client import Client
from yearbook_client.selection import Selection

pytestmark = pytest.mark.service
RETAIL, LONG, MACRO, BOROUGHS = "synthetic_nz_retail_quarterly", "penn_world_table_9_1_long", "us_macro_quarterly", "london_boroughs"


@pytest.fixture(autouse=True)
def enterprise(monkeypatch):
    use(monkeypatch, "enterprise")


def use(monkeypatch, plan):
    monkeypatch.setenv("SERVICE_BASE_URL", conftest.SERVICE)
    monkeypatch.setenv("SERVICE_API_KEY", conftest.KEYS[plan])


def plain(path, plan="enterprise", **query):
    """An answer as the standard library gets it, with none of the client's code."""
    address = conftest.SERVICE + path + "?" + "&".join(f"{name}={value}" for name, value in query.items())
    return urllib.request.urlopen(urllib.request.Request(address, headers={"X-API-Key": conftest.KEYS[plan]}), timeout=60)


def stored(name):
    """The stored Parquet file where the licence allows it, else the rows as Parquet."""
    parquet = pytest.importorskip("pyarrow.parquet")
    namespace = plain(f"/v1/datasets/{name}/data", limit=1).headers["X-Service-Namespace"]
    try:
        answer = plain(f"/v1/bulk/{namespace}/{name}", freshness="current")
    except urllib.error.HTTPError:
        answer = plain(f"/v1/datasets/{name}/data", limit=10**7, format="parquet")
    return parquet.read_table(io.BytesIO(answer.read()))


def same(expected, found, nan_is_null=False):
    """Both tables have the same columns and values, floats bit by bit."""
    import pyarrow as pa

    assert found.schema.names == expected.schema.names
    assert found.num_rows == expected.num_rows
    for name in expected.schema.names:
        one, other = (table.column(name).combine_chunks() for table in (expected, found))
        one, other = (array.chunk(0) if isinstance(array, pa.ChunkedArray) else array for array in (one, other))
        if pa.types.is_dictionary(one.type):
            one = one.dictionary_decode()
        if pa.types.is_timestamp(other.type):
            other = other.cast(pa.date32())
        if pa.types.is_floating(one.type):
            if nan_is_null:
                one, other = (pa.compute.if_else(pa.compute.is_nan(array), None, array) for array in (one, other))
            assert one.is_null().equals(other.is_null()), name
            one, other = (array.fill_null(0.0).view(pa.int64()) for array in (one, other))
        elif pa.types.is_integer(one.type) and pa.types.is_floating(other.type):
            other = other.cast(pa.int64())
        else:
            other = other.cast(one.type)
        assert one.equals(other), name


def names():
    if not conftest.SERVICE:
        return []
    with plain("/v1/datasets") as answer:
        return [dataset["name"] for dataset in json.load(answer)]


@pytest.mark.parametrize("name", names())
@proof
def test_every_value_of_every_dataset_is_that_of_the_stored_file_contract_11(name):
    pa, polars, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("polars"), pytest.importorskip("pandas")
    expected = stored(name)
    arrow = yb.get(name, to="arrow")
    same(expected, arrow)
    rows = yb.get(name, to="rows")
    typed = pa.schema([(field.name, field.type) for field in arrow.schema])
    same(expected, pa.Table.from_pylist(list(rows), schema=typed))
    frame = yb.get(name, to="polars")
    assert isinstance(frame, polars.DataFrame)
    same(expected, frame.to_arrow())
    kept = yb.get(name, to="pandas", dtype_backend="pyarrow")
    same(expected, pa.Table.from_pandas(kept, preserve_index=False).cast(typed))
    try:
        default = yb.get(name)
    except errors.ConversionError as error:
        # Digits would be lost, and nothing is lost without a word.
        assert "2^53" in str(error)
    else:
        assert isinstance(default, pandas.DataFrame)
        same(expected, pa.Table.from_pandas(default, preserve_index=False), nan_is_null=True)
    # The reader in plain Python, by pages, whatever is installed.
    paged = [row for batch in yb.iter_batches(name, to="rows", limit=10**7) for row in batch]
    same(expected, pa.Table.from_pylist(paged, schema=typed))
    digests = {yb.digest(table) for table in (rows, arrow, frame, kept)}
    assert len(digests) == 1


@proof
def test_results_are_typed_contract_11():
    rows = yb.get(RETAIL, to="rows")
    assert {column.name: column.type for column in rows.columns} == {"date": "date", "period": "string", "region": "string", "measure": "string", "value": "number", "is_provisional": "boolean"}
    assert isinstance(rows[0]["date"], datetime.date)
    assert isinstance(rows[0]["is_provisional"], bool)
    assert [row["date"] for row in yb.get(MACRO, start="2009-01-01", to="rows")] == [datetime.date(2009, month, 1) for month in (1, 4, 7)]


@proof
def test_rows_travel_as_an_arrow_stream_over_the_wire_interface_contract_11(monkeypatch):
    from yearbook_client.http import Transport

    asked = []
    send = Transport._send
    monkeypatch.setattr(Transport, "_send", lambda self, method, url, headers, key: asked.append((method, url, headers)) or send(self, method, url, headers, key))
    yb.get(MACRO, to="rows")
    routes = [(method, url.removeprefix(conftest.SERVICE).partition("?")[0]) for method, url, _ in asked]
    assert routes == [("GET", f"/v1/datasets/{MACRO}/preview"), ("GET", "/v1/me"), ("HEAD", f"/v1/datasets/{MACRO}/data"), ("GET", f"/v1/datasets/{MACRO}/data")]
    assert "format=arrow" in asked[-1][1]


@proof
def test_the_choice_of_a_result_contract_11():
    pandas = pytest.importorskip("pandas")
    assert isinstance(yb.get(MACRO), pandas.DataFrame)
    geopandas = pytest.importorskip("geopandas")
    shapes = yb.get(BOROUGHS, to="geopandas")
    assert isinstance(shapes, geopandas.GeoDataFrame)
    assert shapes.crs.to_epsg() == 4326
    wkt = yb.get(BOROUGHS, to="rows")
    import shapely

    assert all(shapely.from_wkt(row["geometry_wkt"]).equals_exact(shape, 0) for row, shape in zip(wkt, shapes.geometry))
    with pytest.raises(errors.UsageError):
        yb.get(MACRO, to="geopandas")
    with pytest.raises(errors.UsageError):
        yb.get(MACRO, to="excel")


@proof
def test_a_null_number_is_nan_in_pandas_unless_pyarrow_keeps_it_contract_11():
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    name = "world_countries_society"
    default, kept = yb.get(name, geometry=False), yb.get(name, geometry=False, dtype_backend="pyarrow")
    rows = yb.get(name, geometry=False, to="rows")
    nulls = [(number, column.name) for column in rows.columns if column.type == "number" for number, row in enumerate(rows) if row[column.name] is None]
    assert nulls
    for number, column in nulls:
        assert default[column].dtype == "float64"
        assert default[column].isna()[number]
        assert kept[column].array.__arrow_array__()[number].as_py() is None


@proof
def test_the_credit_is_attached_to_every_result_contract_11():
    pytest.importorskip("pyarrow")
    pytest.importorskip("polars")
    headers = plain(f"/v1/datasets/{BOROUGHS}/data", limit=1).headers
    wanted = headers["X-Service-Attribution"].encode("latin-1").decode()
    tables = {to: yb.get(BOROUGHS, to=to) for to in ("rows", "pandas", "polars", "arrow", "geopandas")}
    for to, table in tables.items():
        found = yb.credit(table)
        assert (found.attribution, found.snapshot_id) == (wanted, headers["X-Service-Snapshot-Id"]), to
    assert tables["pandas"].attrs["yearbook"]["attribution"] == wanted
    assert tables["arrow"].schema.metadata[b"yearbook.client.attribution"].decode() == wanted
    with pytest.raises(errors.UsageError):
        yb.credit(tables["polars"].head(1))
    for batch in yb.iter_batches(BOROUGHS, to="arrow"):
        assert yb.credit(batch).attribution == wanted
    text = yb.cite(tables["polars"])
    assert "Office for National Statistics" in text
    assert headers["X-Service-Snapshot-Id"] in text


@proof
def test_50000_rows_on_a_free_key_cost_one_request_and_again_none_contract_11(monkeypatch):
    use(monkeypatch, "free")
    before = yb.me().left
    first = yb.get(LONG, limit=50_000, to="rows")
    assert len(first) == 50_000
    assert yb.me().left == before - 1
    assert yb.get(LONG, limit=50_000, to="rows") == first
    assert yb.me().left == before - 1
    # 373,217 rows need eight requests.
    with pytest.raises(errors.PullTooExpensiveError) if before < 9 else pytest.raises(errors.UsageError):
        yb.get(LONG, to="rows" if before < 9 else "nothing")


@proof
def test_both_ways_give_the_same_rows_contract_11(monkeypatch):
    pytest.importorskip("pyarrow")
    bulk = yb.get(LONG, to="arrow")
    pages = yb.get(LONG, to="arrow", limit=10**7)
    assert bulk.cast(pages.schema).equals(pages)


@proof
def test_every_verb_answers_contract_11(tmp_path):
    assert MACRO in [one.name for one in yb.datasets()]
    assert yb.search("macro")[0].name == MACRO
    about = yb.describe(RETAIL)
    assert about.primary_key
    assert len(about.snapshots) == 2
    assert yb.preview(MACRO).row_count == 203
    assert yb.me().plan == "enterprise"
    assert len(yb.get(MACRO, to="rows", limit=7)) == 7
    old, new = (snapshot.id for snapshot in sorted(about.snapshots, key=lambda one: one.rows))
    found = yb.changes(RETAIL, old, to="rows")
    assert found.watermark == new
    assert len(yb.get(RETAIL, to="rows", snapshot=old)) + sum({"insert": 1, "delete": -1}.get(row["_change_type"], 0) for row in found.table) == 2048
    assert yb.changes(RETAIL, new, to="rows").table == []
    assert yb.download(MACRO, tmp_path / "a.csv").rows == 203
    assert "@misc" in yb.cite(MACRO, "bibtex")
    assert yb.sync(MACRO).rows == 203
    assert [table.name for table in yb.library()] == [MACRO]
    assert "meltano.yml" in yb.integration("meltano", MACRO).files
    with pytest.raises(errors.DatasetNotFoundError):
        yb.get("no_such_table", to="rows")
    with pytest.raises(errors.InvalidParametersError):
        yb.get(MACRO, columns=["nothing"], to="rows")


def test_files_of_a_capped_plan_are_joined_and_equal_those_of_one_without(monkeypatch, tmp_path):
    """The starter plan of this service has a cap of 500 rows; the table has 2,048."""
    parquet = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    for suffix in ("csv", "arrow", "parquet"):
        use(monkeypatch, "enterprise")
        yb.download(RETAIL, tmp_path / f"whole.{suffix}")
        use(monkeypatch, "starter")
        assert yb.me().row_cap == 500
        assert yb.download(RETAIL, tmp_path / f"joined.{suffix}").rows == 2048
        if suffix == "csv":
            assert (tmp_path / "joined.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    for read in (parquet.read_table, lambda path: pa.ipc.open_stream(path.read_bytes()).read_all()):
        suffix = "parquet" if read is parquet.read_table else "arrow"
        assert read(tmp_path / f"joined.{suffix}").equals(read(tmp_path / f"whole.{suffix}"))
    before = yb.me().left
    with pytest.raises(errors.UsageError, match="not joined"):
        yb.download(RETAIL, tmp_path / "a.json")
    assert yb.me().left == before


@proof
def test_a_local_copy_is_brought_up_to_date_by_the_cheapest_way_contract_11(monkeypatch, tmp_path):
    pytest.importorskip("pyarrow")
    from yearbook_client.change_feed import described, record

    use(monkeypatch, "starter")
    path = tmp_path / "retail.parquet"
    old = sorted(yb.describe(RETAIL).snapshots, key=lambda one: one.rows)[0].id
    use(monkeypatch, "enterprise")
    first = yb.download(RETAIL, path, snapshot=old)
    record(described(RETAIL, path, first.rows, first.credit))
    wanted = stored(RETAIL)
    use(monkeypatch, "starter")
    client = Client(progress=False)
    before = client.me().left
    found = client.sync_report(RETAIL, path)
    # The whole table would cost five requests.
    assert found.way == "changes"
    assert before - client.me().left <= 2
    import pyarrow.parquet

    same(wanted, pyarrow.parquet.read_table(path))
    before = client.me().left
    assert client.sync_report(RETAIL, path).way == "unchanged"
    assert client.me().left == before
    path.write_bytes(b"damaged")
    assert client.sync_report(RETAIL, path).way == "whole"
    same(wanted, pyarrow.parquet.read_table(path))


@proof
def test_the_digest_of_a_result_is_compared_with_a_citation_contract_13():
    table = yb.get(RETAIL, to="rows")
    own = yb.digest(table)
    assert yb.verify(table, f"Somebody (2026). Retail. Digest: {own}. CC0.")
    assert not yb.verify(table, "yb1:" + "0" * 64)
    table[5]["value"] = 1e-9 + table[5]["value"]
    assert not yb.verify(table, own)
    with pytest.raises(errors.UsageError):
        yb.verify(table, "no digest")
    pytest.importorskip("pandas")
    frame = yb.get("world_countries_society", geometry=False)
    with pytest.raises(errors.UsageError, match="look alike"):
        yb.digest(frame)


@proof
def test_a_snapshot_is_proved_by_the_services_log_contract_21():
    table = yb.get(RETAIL, to="rows")
    known = yb.credit(table)
    # In earnest the key comes another way.
    with plain(f"/cite/{RETAIL}/{known.snapshot_id}/proof") as answer:
        key = json.load(answer)["key"]
    found = yb.prove(table, key)
    assert (found.dataset, found.snapshot_id) == (RETAIL, known.snapshot_id)
    assert 0 <= found.index < found.size and yb.verify(table, found.digest)
    assert yb.check_proof(found.proof, key) == found, "without the service"
    with pytest.raises(errors.UsageError, match="does not hold"):
        yb.check_proof(found.proof.replace(f"index {found.index}", f"index {found.index + 1}"), key)


def test_asyncio_gives_the_same():
    from yearbook_client.async_client import AsyncClient

    async def run():
        client = AsyncClient(progress=False)
        rows, account = await asyncio.gather(client.get(MACRO, to="rows"), client.me())
        batches = [batch async for batch in client.iter_batches(MACRO, to="rows")]
        await client.aclose()
        return rows, account, [row for batch in batches for row in batch]

    rows, account, batches = asyncio.run(run())
    assert rows == yb.get(MACRO, to="rows") == batches
    assert account.plan == "enterprise"


def test_an_assistant_is_served_by_a_real_client():
    mcp = pytest.importorskip("mcp")
    from mcp.client.stdio import stdio_client

    environment = {"SERVICE_BASE_URL": conftest.SERVICE, "SERVICE_API_KEY": conftest.KEYS["enterprise"], "PYTHONPATH": ":".join(sys.path)}
    parameters = mcp.StdioServerParameters(command=sys.executable, args=["-m", "yearbook_client", "mcp"], env=environment)

    async def run():
        async with stdio_client(parameters) as (read, write), mcp.ClientSession(read, write) as session:
            await session.initialize()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            asked = [
                ("search", {"words": "macro"}), ("preview", {"name": MACRO}), ("describe", {"name": BOROUGHS}), ("cite", {"name": MACRO}),
                ("get", {"name": MACRO, "start": "2009-01-01", "columns": ["date", "unemp"], "limit": 2}), ("get", {"name": "no_such_table"}),
            ]
            return tools, [json.loads((await session.call_tool(name, arguments)).content[0].text) for name, arguments in asked]

    tools, (found, preview, about, cited, rows, refused) = asyncio.run(asyncio.wait_for(run(), 600))
    assert tools == {"search", "describe", "preview", "get", "cite"}
    assert found["datasets"][0]["name"] == MACRO
    assert preview["row_count"] == 203
    assert about["has_geometry"] is True
    assert yb.describe(MACRO).snapshots[-1].created_at[:4] in cited["citation"]
    assert rows["rows"] == [{"date": "2009-01-01", "unemp": 0.081}, {"date": "2009-04-01", "unemp": 0.092}]
    assert rows["complete"] is False
    assert rows["attribution"]
    assert refused["error"] == "DatasetNotFoundError"
    assert conftest.KEYS["enterprise"] not in json.dumps([found, preview, about, cited, rows, refused])


def command(*arguments, plan="enterprise", **environment):
    import os

    known = {name: value for name, value in os.environ.items() if name != "SERVICE_API_KEY"}
    known |= {"SERVICE_BASE_URL": conftest.SERVICE, "SERVICE_API_KEY": conftest.KEYS.get(plan, plan), "PYTHONPATH": ":".join(sys.path)} | environment
    return subprocess.run([sys.executable, "-m", "yearbook_client", *arguments], capture_output=True, encoding="utf-8", env=known, timeout=600)


@proof
def test_the_command_line_ends_with_the_code_of_its_outcome_contract_11(tmp_path):
    done = command("get", MACRO, "--start", "2009-01-01", "--columns", "date,unemp")
    assert (done.returncode, done.stdout) == (0, "date,unemp\n2009-01-01,0.081\n2009-04-01,0.092\n2009-07-01,0.096\n")
    assert command("get", MACRO, "-o", str(tmp_path / "a.parquet")).returncode == 0
    assert command("me", SERVICE_BASE_URL="http://127.0.0.1:9").returncode == 1
    assert command("get", MACRO, "--start", "soon").returncode == 2
    assert command("fetch").returncode == 2
    refused = command("get", "no_such_table", "--json")
    assert refused.returncode == 3
    assert json.loads(refused.stderr)["code"] == "no_such_dataset"
    assert command("me", plan="yb_wrong").returncode == 3
    for _ in range(12):
        try:
            plain("/v1/datasets", "spent").close()
        except urllib.error.HTTPError as error:
            assert error.code == 429
            break
    assert command("get", MACRO, plan="spent").returncode == 4
    assert command("datasets", plan="spent").returncode == 4


def test_the_command_line_prints_for_people_and_machines(tmp_path):
    rows = json.loads(command("get", "world_countries_society", "--no-geometry", "--json").stdout)
    with plain("/v1/datasets/world_countries_society/data", geometry="false", limit=1000) as answer:
        assert rows == json.load(answer)
    with plain("/v1/datasets/world_countries_society/data", geometry="false", limit=1000, format="csv") as answer:
        theirs = answer.read().decode().splitlines()
    ours = command("get", "world_countries_society", "--no-geometry").stdout.splitlines()
    assert ours[0] == theirs[0]
    assert len(ours) == len(theirs)
    assert json.loads(command("me", "--json").stdout)["plan"] == "enterprise"
    for verb in (["datasets"], ["search", "macro"], ["describe", MACRO], ["preview", MACRO], ["changes", RETAIL], ["library"], ["cite", MACRO], ["cache"], ["sync", MACRO, "-o", str(tmp_path / "m.parquet")]):
        for flags in ([], ["--json"]):
            done = command(*verb, *flags)
            assert (done.returncode, bool(done.stdout) or verb == ["library"]) == (0, True), (verb, done.stderr)
    for shell in ("bash", "zsh", "fish"):
        assert "describe" in command("completion", shell).stdout
    assert MACRO in command("completion", "names").stdout.split()
    assert subprocess.run(["bash", "-n"], input=command("completion", "bash").stdout, text=True).returncode == 0
    assert command("integration", "meltano", MACRO, "-o", str(tmp_path)).returncode == 0
    assert (tmp_path / "meltano.yml").exists()


def test_a_key_is_kept_in_the_keyring(tmp_path):
    pytest.importorskip("keyring")
    (tmp_path / "memory_ring.py").write_text(
        "import json, pathlib, keyring.backend\nFILE = pathlib.Path(__file__).with_name('ring.json')\n"
        "class Ring(keyring.backend.KeyringBackend):\n    priority = 1\n"
        "    def get_password(self, service, name):\n        return json.loads(FILE.read_text()).get(name) if FILE.exists() else None\n"
        "    def set_password(self, service, name, word):\n        FILE.write_text(json.dumps({name: word}))\n"
        "    def delete_password(self, service, name):\n        FILE.unlink()\n"
    )
    ring = {"PYTHON_KEYRING_BACKEND": "memory_ring.Ring", "PYTHONPATH": ":".join([*sys.path, str(tmp_path)])}
    import os

    known = {name: value for name, value in os.environ.items() if name != "SERVICE_API_KEY"} | ring | {"SERVICE_BASE_URL": conftest.SERVICE}

    def run(*arguments, text=""):
        return subprocess.run([sys.executable, "-m", "yearbook_client", *arguments], input=text, capture_output=True, encoding="utf-8", env=known, timeout=600)

    assert run("me").returncode == 3
    done = run("login", "--key-from-stdin", text=conftest.KEYS["enterprise"] + "\n")
    assert done.returncode == 0
    assert conftest.KEYS["enterprise"] not in done.stdout + done.stderr
    assert run("me").stdout.startswith("plan enterprise")
    assert run("login", "--key-from-stdin", text="yb_wrong\n").returncode == 3
    assert run("logout").returncode == 0
    assert run("me").returncode == 3


def test_a_selection_with_a_prefix_in_its_address(monkeypatch):
    assert Selection.of(MACRO).path == f"/v1/datasets/{MACRO}/data"
    monkeypatch.setenv("SERVICE_BASE_URL", conftest.SERVICE + "/")
    assert yb.me().plan == "enterprise"
