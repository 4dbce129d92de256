"""Publishes to an S3 server, and has PyIceberg, DuckDB and an independent reader of Avro read every table and version; then kills
publications at many moments.

Run by `cargo xtask test` with a binary. The last line counts what passed and what failed."""

import argparse
import importlib.util
import io
import json
import logging
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request

import boto3
import duckdb
import fastavro
import pyarrow
import pyarrow.parquet
from moto.server import ThreadedMotoServer
from ports import HOST, free_port
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
from tally import Tally, leave, proof
from waiting import until

BUCKET, PREFIX = "shelf", "some/prefix"
ACCESS, SECRET, REGION = "test-key", "test-secret", "us-east-1"
# Publications that are killed, and the longest that one is let run, seconds. The last ones come to their end: how long a publication
# takes differs with what else the machine does.
KILLED, LONGEST, SPARED = 100, 2.0, 3


def expect(condition, why):
    assert condition, why


class Ground:
    """A bucket, a data directory and the product."""

    def __init__(self, binary, work, plugins):
        self.binary, self.work, self.plugins = binary, work, plugins
        port = free_port()
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.server = ThreadedMotoServer(ip_address=HOST, port=port, verbose=False)
        self.server.start()
        self.endpoint = f"http://{HOST}:{port}"
        self.s3 = boto3.client(
            "s3", endpoint_url=self.endpoint, region_name=REGION, aws_access_key_id=ACCESS, aws_secret_access_key=SECRET)
        self.s3.create_bucket(Bucket=BUCKET)
        self.environment = os.environ | {
            "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION, "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ALLOW_HTTP": "true", "YEARBOOK_STORAGE_URL": f"s3://{BUCKET}/{PREFIX}", "YEARBOOK_SHARE__ICEBERG": "true",
            "YEARBOOK_LIMITS__BURST_PER_SECOND": "0", "YEARBOOK_SHARE__ICEBERG_CREDENTIALS__S3__ACCESS_KEY_ID": ACCESS,
            "YEARBOOK_SHARE__ICEBERG_CREDENTIALS__S3__SECRET_ACCESS_KEY": SECRET,
            "YEARBOOK_SHARE__ICEBERG_CREDENTIALS__S3__ENDPOINT": self.endpoint,
            "YEARBOOK_SHARE__ICEBERG_CREDENTIALS__S3__REGION": REGION,
            "YEARBOOK_SHARE__ICEBERG_CREDENTIALS__S3__PATH_STYLE_ACCESS": "true",
        }

    def command(self, *arguments):
        plugins = ["--plugins-dir", self.plugins] if self.plugins else []
        return [self.binary, "--data-dir", self.work / "data", *plugins, *arguments]

    def run(self, *arguments, **settings):
        """Standard output of a command that must succeed."""
        done = subprocess.run(self.command(*arguments), env=self.environment | settings, capture_output=True, text=True)
        expect(done.returncode == 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def serve(self):
        """Starts the service and waits until it answers."""
        self.base = f"http://{HOST}:{free_port()}"
        log = open(self.work / "server.log", "w")
        self.service = subprocess.Popen(
            self.command("serve", "--listen", self.base.removeprefix("http://")), env=self.environment, stdout=log, stderr=log)
        until(self.answers, "the service answers")

    def answers(self):
        try:
            with urllib.request.urlopen(f"{self.base}/health", timeout=5) as answer:
                return answer.read()
        except OSError:
            expect(self.service.poll() is None, "the service has ended: server.log says why")
            return None

    def published(self, name):
        """Numbers of the versions of a dataset that the catalog has, whatever the service knows of them by now."""
        return [snapshot["version"] for snapshot in json.loads(self.run("datasets", "snapshots", name, "--json"))]

    def key(self, plan):
        return json.loads(self.run("keys", "create", "--plan", plan, "--json"))["key"]

    def ask(self, path, key=None, method="GET"):
        """Status and document of a request to the catalog."""
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        request = urllib.request.Request(f"{self.base}/share/iceberg{path}", headers=headers, method=method, data=b"{}" if method == "POST" else None)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                body = answer.read()
                return answer.status, json.loads(body) if body else None
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def bulk(self, namespace, name, key, snapshot=None):
        query = f"?snapshot={snapshot}" if snapshot else ""
        request = urllib.request.Request(f"{self.base}/v1/bulk/{namespace}/{name}{query}", headers={"X-API-Key": key})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return pyarrow.parquet.read_table(io.BytesIO(answer.read()))

    def object(self, address):
        expect(address.startswith(f"s3://{BUCKET}/{PREFIX}/"), address)
        return self.s3.get_object(Bucket=BUCKET, Key=address.removeprefix(f"s3://{BUCKET}/"))["Body"].read()


def same_rows(found, stored):
    """Compares two Arrow tables bit by bit, in order; NaN and the sign of zero count."""
    expect(found.column_names == stored.column_names, f"{found.column_names} in place of {stored.column_names}")
    expect(found.num_rows == stored.num_rows, f"{found.num_rows} rows in place of {stored.num_rows}")
    for name in stored.column_names:
        kind = stored[name].type
        one, other = (pyarrow.concat_arrays(column.chunks or [pyarrow.array([], kind)]) for column in (found[name].cast(kind), stored[name].cast(kind)))
        if pyarrow.types.is_floating(kind):
            one, other = one.view(pyarrow.int64()), other.view(pyarrow.int64())
        expect(one.equals(other), f"{name} differs")


def connect(ground, key):
    return load_catalog("yearbook", type="rest", uri=f"{ground.base}/share/iceberg", token=key)


def listed(ground, key, name):
    """True where the service has a dataset."""
    request = urllib.request.Request(f"{ground.base}/v1/datasets", headers={"X-API-Key": key})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return name in [entry["name"] for entry in json.loads(answer.read())]


def served(ground, catalog, name):
    """The table of a dataset once the service, which follows the catalog within seconds, has every version in it. An Iceberg id is
    the version's number and one, for it is positive."""
    newest = ground.published(name)[-1] + 1

    def followed():
        try:
            table = catalog.load_table(f"tests.{name}")
        except NoSuchTableError:
            return None
        return table if table.metadata.snapshots[-1].snapshot_id >= newest else None

    return until(followed, f"version {newest} of {name} is served")


@proof
def the_catalog_is_read_only_and_has_its_own_refusals(tally, ground, key, free):
    def check():
        status, config = ground.ask("/v1/config?warehouse=any", key)
        expect(status == 200 and config["defaults"] == {} and config["overrides"] == {}, config)
        expect(all(route.split()[0] in ("GET", "HEAD", "POST") for route in config["endpoints"]), config)
        cases = [
            (401, "NotAuthorizedException", "/v1/config", None), (403, "ForbiddenException", "/v1/config", free),
            (404, "NoSuchNamespaceException", "/v1/namespaces/absent", key),
            (404, "NoSuchNamespaceException", "/v1/namespaces/absent/tables", key),
            (404, "NoSuchTableException", "/v1/namespaces/absent/tables/absent", key), (404, "NotFoundException", "/v1/absent", key),
        ]
        for code, kind, path, token in cases:
            status, body = ground.ask(path, token)
            expect(status == code and set(body) == {"error"}, f"{path}: {status} {body}")
            expect(body["error"]["type"] == kind and body["error"]["code"] == code and body["error"]["message"], f"{path}: {body}")
        for method, path in [("POST", "/v1/namespaces"), ("DELETE", "/v1/namespaces/tests")]:
            status, body = ground.ask(path, key, method)
            expect(status == 405 and body["error"]["code"] == 405, f"{method} {path}: {status} {body}")

    tally.check("refusals have the shape of Iceberg REST", check)


def has_bulk(ground, key, namespace, name):
    try:
        return ground.bulk(namespace, name, key) is not None
    except urllib.error.HTTPError:
        return False


@proof
def lists_name_every_table(tally, ground, catalog, key):
    def check():
        listed = {name for namespace in catalog.list_namespaces() for name in catalog.list_tables(namespace)}
        datasets = json.loads(urllib.request.urlopen(urllib.request.Request(
            f"{ground.base}/v1/datasets", headers={"X-API-Key": key})).read())
        datasets = datasets if isinstance(datasets, list) else datasets["datasets"]
        shared = {pair for pair in ((entry["namespace"], entry["name"]) for entry in datasets) if has_bulk(ground, key, *pair)}
        expect(listed and listed == shared, f"{sorted(listed ^ shared)}")
        for raises, run in [(NoSuchNamespaceError, lambda: catalog.list_tables("absent")), (NoSuchTableError, lambda: catalog.load_table("absent.absent"))]:
            try:
                run()
            except raises:
                continue
            raise AssertionError(f"no {raises}")
        return sorted(listed)

    return tally.check("lists: every table once", check) or []


@proof
def every_version_is_the_stored_file(tally, ground, catalog, key, identifier):
    """PyIceberg reads each retained version."""
    namespace, name = identifier

    def check():
        table = catalog.load_table(identifier)
        shown = table.metadata.snapshots
        same_rows(table.scan().to_arrow(), ground.bulk(namespace, name, key))
        for snapshot in shown:
            stored = snapshot.summary["yearbook.snapshot-id"]
            same_rows(table.scan(snapshot_id=snapshot.snapshot_id).to_arrow(), stored_rows(ground, table, snapshot))
            expect(stored, "no snapshot id")
        expect([entry.snapshot_id for entry in table.history()] == [entry.snapshot_id for entry in shown], "history")
        expect(ground.ask(f"/v1/namespaces/{namespace}/tables/{name}/metrics", key, "POST") == (204, None), "metrics")
        return len(shown)

    return tally.check(f"PyIceberg: {name}", check) or 0


def stored_rows(ground, table, snapshot):
    """Rows of the only file of a snapshot, without PyIceberg."""
    manifests = list(fastavro.reader(io.BytesIO(ground.object(snapshot.manifest_list))))
    entries = list(fastavro.reader(io.BytesIO(ground.object(manifests[0]["manifest_path"]))))
    return pyarrow.parquet.read_table(io.BytesIO(ground.object(entries[0]["data_file"]["file_path"])))


@proof
def descriptions_say_what_the_file_holds(tally, ground, catalog, identifier):
    """Avro and metadata, read by fastavro and json alone."""
    def check():
        table = catalog.load_table(identifier)
        written = json.loads(ground.object(table.metadata_location))
        expect(written["format-version"] == 2 and written["current-snapshot-id"] == table.metadata.current_snapshot_id, written)
        mapping = {entry["names"][0]: entry["field-id"] for entry in json.loads(written["properties"]["schema.name-mapping.default"])}
        expect(sorted(mapping.values()) == list(range(1, written["last-column-id"] + 1)), mapping)
        for schema in written["schemas"]:
            for field in schema["fields"]:
                expect(mapping[field["name"]] == field["id"] and field["type"] in ("string", "long", "double", "boolean"), field)
        for snapshot in table.metadata.snapshots:
            [listed] = fastavro.reader(io.BytesIO(ground.object(snapshot.manifest_list)))
            manifest = ground.object(listed["manifest_path"])
            expect(listed["manifest_length"] == len(manifest) and listed["added_files_count"] == 1, listed)
            [entry] = fastavro.reader(io.BytesIO(manifest))
            file = entry["data_file"]
            data = ground.object(file["file_path"])
            stored = pyarrow.parquet.read_table(io.BytesIO(data))
            expect(file["file_size_in_bytes"] == len(data), file)
            expect(file["record_count"] == listed["added_rows_count"] == stored.num_rows, file)
            expect(entry["sequence_number"] == listed["sequence_number"] == snapshot.snapshot_id, entry)
            names = {number: name for name, number in mapping.items()}
            for item in file["null_value_counts"]:
                expect(item["value"] == stored[names[item["key"]]].null_count, item)
            for bounds, holds in [("lower_bounds", lambda bound, value: bound <= value), ("upper_bounds", lambda bound, value: bound >= value)]:
                for item in file[bounds]:
                    column = stored[names[item["key"]]]
                    values = [value for value in column.to_pylist() if value is not None and value == value]
                    bound = decode(item["value"], column.type)
                    compared = (value.encode() if isinstance(value, str) else value for value in values)
                    expect(all(holds(bound, value) for value in compared), f"{bounds} of {names[item['key']]}")

    tally.check(f"descriptions: {identifier[1]}", check)


def decode(data, kind):
    """A bound in Iceberg's single-value form; text stays bytes, which sort as stored."""
    if pyarrow.types.is_floating(kind):
        return struct.unpack("<d", data)[0]
    if pyarrow.types.is_integer(kind):
        return int.from_bytes(data, "little", signed=True)
    if pyarrow.types.is_boolean(kind):
        return data != b"\0"
    return data


@proof
def duckdb_reads_the_same_rows(tally, ground, key, tables):
    def attach():
        connection = duckdb_with_extensions()
        connection.execute(f"CREATE SECRET catalog (TYPE iceberg, TOKEN '{key}')")
        connection.execute(f"ATTACH 'yearbook' AS lake (TYPE iceberg, ENDPOINT '{ground.base}/share/iceberg', SECRET catalog)")
        return connection

    connection = tally.check("DuckDB attaches the catalog", attach)
    for namespace, name in tables if connection else []:
        def check(namespace=namespace, name=name):
            read = connection.execute(f'SELECT * FROM lake."{namespace}"."{name}"').to_arrow_table()
            same_rows(read, ground.bulk(namespace, name, key))

        tally.check(f"DuckDB: {name}", check)


def duckdb_with_extensions():
    connection = duckdb.connect()
    for extension in ("httpfs", "avro", "iceberg"):
        load(connection, extension)
    return connection


def load(connection, extension):
    """Loads an extension from its package."""
    folder = importlib.util.find_spec(f"duckdb_extension_{extension}").submodule_search_locations[0]
    (path,) = pathlib.Path(folder).glob(f"extensions/v{duckdb.__version__}/{extension}.duckdb_extension")
    connection.execute(f"LOAD '{path}'")


@proof
def the_recipes_of_iceberg_run_as_they_are_written(tally, ground, key, page):
    """The Python and the SQL of the page, with this service and a key in place of its own."""
    _, _, rest = page.read_text().partition("\n## Iceberg\n")
    text, _, _ = rest.partition("\n## ")
    text = text.replace("https://data.example.org", ground.base).replace("THE KEY", key)
    python, sql = (re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("python", "sql"))
    tally.check("recipes: the page has both", lambda: expect(python and sql, "no recipe"))
    for block in python:
        found = {}
        tally.check("recipe of PyIceberg", lambda: exec(block, found))
        tally.check("recipe of PyIceberg: rows", lambda: expect(found["newest"].num_rows and found["first"].num_rows, "no rows"))
    for block in sql:
        tally.check("recipe of DuckDB", lambda: expect(duckdb_with_extensions().execute(block).fetchall(), "no rows"))


def package(folder, number):
    """A package whose rows differ from those of every other number."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{row},{number * 1000 + row}\n" for row in range(200))
    (folder / "data.csv").write_text(f"id,value\n{rows}")
    fields = [{"name": "id", "type": "integer"}, {"name": "value", "type": "integer"}]
    if number % 3 == 2:
        fields[1]["type"] = "number"
    (folder / "datapackage.json").write_text(json.dumps({
        "name": "killed", "licenses": [{"name": "CC0-1.0"}], "sources": [{"title": "Nobody"}],
        "resources": [{"path": "data.csv", "schema": {"fields": fields, "primaryKey": "id"}}],
        "yearbook": {"namespace": "tests", "bulk_redistribution": True},
    }))
    return folder / "datapackage.json"


@proof
def a_killed_publication_leaves_each_version_complete_or_absent(tally, ground, key):
    random.seed(12)
    folder = ground.work / "killed"
    begun = time.monotonic()
    ground.run("publish", package(folder, 0))
    usual = min(LONGEST, time.monotonic() - begun)
    catalog = connect(ground, key)

    def whole(number):
        """The newest version and all before it can be read, and the newest is one that was published."""
        table = served(ground, catalog, "killed")
        versions = [snapshot.snapshot_id for snapshot in table.metadata.snapshots]
        expect(versions == list(range(versions[0], versions[0] + len(versions))), versions)
        for snapshot in table.metadata.snapshots[-3:]:
            rows = table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
            expect(rows.num_rows == 200, rows.num_rows)
        newest = int(table.scan().to_arrow()["value"][0].as_py()) // 1000
        expect(newest in (number, whole.newest), f"{newest} is neither {number} nor {whole.newest}")
        whole.killed += newest != number
        whole.newest = newest

    whole.newest = whole.killed = 0

    def check():
        for number in range(1, KILLED + 1):
            process = subprocess.Popen(
                ground.command("publish", package(folder, number)), env=ground.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(usual * number / KILLED if number <= KILLED - SPARED else None)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            whole(number)
        expect(0 < whole.killed < KILLED, f"{whole.killed} of {KILLED} were killed before their commit")

    tally.check(f"{KILLED} publications killed", check)


@proof
def older_versions_are_described_later(tally, ground, catalog, key):
    """Versions that were published while the setting was off are described by `migrate`, and gone snapshots are not told."""
    def check():
        folder = ground.work / "later"
        for number in (1, 2):
            path = package(folder, number)
            path.write_text(path.read_text().replace('"killed"', '"later"'))
            ground.run("publish", path, YEARBOOK_SHARE__ICEBERG="false")
        until(lambda: listed(ground, key, "later"), "the service has the dataset")
        try:
            catalog.load_table("tests.later")
        except NoSuchTableError:
            pass
        else:
            raise AssertionError("a table that is not described loads")
        ground.run("migrate")
        table = served(ground, catalog, "later")
        expect([snapshot.snapshot_id for snapshot in table.metadata.snapshots] == [1, 2], table.metadata.snapshots)
        expect(table.scan(snapshot_id=1).to_arrow()["value"][0].as_py() == 1000, "first version")

    tally.check("migrate describes older versions", check)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--binary", required=True)
    arguments.add_argument("--work", required=True, type=pathlib.Path)
    arguments.add_argument("--packages", required=True, type=pathlib.Path, help="folder of the demo's data packages")
    arguments.add_argument("--page", required=True, type=pathlib.Path, help="docs/share.md")
    arguments.add_argument("--difficult", required=True, type=pathlib.Path, help="script that writes packages of difficult values")
    arguments.add_argument("--plugins", help="folder of plugins, for a binary without its own")
    given = arguments.parse_args()
    shutil.rmtree(given.work, ignore_errors=True)
    given.work.mkdir(parents=True)
    subprocess.run([sys.executable, given.difficult, given.work / "difficult"], check=True)
    ground = Ground(given.binary, given.work, given.plugins)
    tally = Tally("iceberg")
    try:
        packages = sorted(given.packages.rglob("datapackage.json")) + sorted((given.work / "difficult").rglob("datapackage.json"))
        ground.run("publish", *packages)
        key, free = ground.key("enterprise"), ground.key("free")
        ground.serve()
        catalog = connect(ground, key)
        the_catalog_is_read_only_and_has_its_own_refusals(tally, ground, key, free)
        tables = lists_name_every_table(tally, ground, catalog, key)
        versions = 0
        for identifier in tables:
            versions += every_version_is_the_stored_file(tally, ground, catalog, key, identifier)
            descriptions_say_what_the_file_holds(tally, ground, catalog, identifier)
        tally.check("some table has two versions", lambda: expect(versions > len(tables), versions))
        duckdb_reads_the_same_rows(tally, ground, key, tables)
        the_recipes_of_iceberg_run_as_they_are_written(tally, ground, key, given.page)
        older_versions_are_described_later(tally, ground, catalog, key)
        a_killed_publication_leaves_each_version_complete_or_absent(tally, ground, key)
    finally:
        if hasattr(ground, "service"):
            ground.service.terminate()
            ground.service.wait()
        ground.server.stop()
    leave(tally.end())


if __name__ == "__main__":
    main()
