"""Has the official Delta Sharing client, and polars without it, read every table of the share and compares with the bulk file.

Run by `cargo xtask test` with a profile file. The last line counts what passed and what failed."""

import argparse
import collections
import datetime
import io
import json
import pathlib
import re
import struct
import time
import urllib.error
import urllib.request

import delta_sharing
import numpy
import polars
import pyarrow.parquet
from delta_sharing.protocol import DeltaSharingProfile
from delta_sharing.rest_client import DataSharingRestClient
from tally import Tally, leave, proof

KINDS = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}
CHANGE_COLUMNS = ["_change_type", "_commit_version", "_commit_timestamp"]


class Service:
    """The service, asked without any client of the protocol."""

    def __init__(self, profile):
        self.profile = profile
        said = json.loads(profile.read_text())
        self.endpoint, self.key = said["endpoint"], said["bearerToken"]
        self.base = self.endpoint.removesuffix("/share/delta")

    def ask(self, url, body=None, **headers):
        """Headers and bytes of an answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json"} | headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.headers, response.read()

    def lines(self, table, route, body=None, **headers):
        """Lines of an answer about a table."""
        url = f"{self.endpoint}/shares/{table.share}/schemas/{table.schema}/tables/{table.name}/{route}"
        _, text = self.ask(url, body, Authorization=f"Bearer {self.key}", **headers)
        return [json.loads(line) for line in text.decode().split("\n") if line]

    def bulk(self, table):
        """The stored file of the newest version."""
        return self.ask(f"{self.base}/v1/bulk/{table.schema}/{table.name}", X_API_Key=self.key)[1]

    def snapshots(self, table):
        """Versions as the metadata lists them."""
        return json.loads(self.ask(f"{self.base}/v1/datasets/{table.name}", X_API_Key=self.key)[1])["snapshots"]

    def address(self, table):
        """The client's name of a table."""
        return f"{self.profile}#{table.share}.{table.schema}.{table.name}"


def expect(condition, why):
    assert condition, why
    return True


def plain(value):
    """A value that compares by its bits; nulls and NaN of pandas are one."""
    if value is None or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, (float, numpy.floating)):
        return struct.pack("<d", value)
    if isinstance(value, (bool, numpy.bool_)):
        return bool(value)
    return value


def frame_rows(frame, columns):
    """Rows of a pandas frame; a column that it does not have is null. Integers go through floats, as pandas has them wherever a column has nulls."""
    def column(name):
        values = frame[name].tolist() if name in frame else [None] * len(frame)
        return [plain(float(value)) if type(value) is int else plain(value) for value in values]

    return list(zip(*(column(name) for name in columns), strict=True)) if columns else []


def table_rows(table, columns):
    """Rows of an Arrow table, exactly: NaN is no null here; a column that it does not have is null."""
    def exact(value):
        return struct.pack("<d", value) if isinstance(value, float) else value

    def column(name):
        values = table[name].to_pylist() if name in table.column_names else [None] * table.num_rows
        return [exact(value) for value in values]

    return list(zip(*(column(name) for name in columns), strict=True))


def arrow(data):
    return pyarrow.parquet.read_table(io.BytesIO(data))


def instant(millis):
    """ISO 8601 with milliseconds."""
    at = datetime.datetime.fromtimestamp(millis // 1000, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{at}.{millis % 1000:03}Z"


def refuses(status, run):
    """Checks that `run` is answered with `status`."""
    try:
        run()
    except urllib.error.HTTPError as error:
        return expect(error.code == status, f"{error.code} in place of {status}")
    raise AssertionError(f"no refusal in place of {status}")


@proof
def lists_name_every_table_once(tally, client, service):
    def check():
        tables = client.list_all_tables()
        names = [(table.schema, table.name) for table in tables]
        listed = [(table.schema, table.name) for share in client.list_shares() for schema in client.list_schemas(share)
                  for table in client.list_tables(schema)]
        expect(names and sorted(names) == sorted(listed) == sorted(set(names)), f"{names} and {listed}")
        paged, token = [], None
        rest = DataSharingRestClient(DeltaSharingProfile.read_from_file(str(service.profile)))
        while True:
            page = rest.list_all_tables(client.list_shares()[0], max_results=2, page_token=token)
            paged.extend((table.schema, table.name) for table in page.tables)
            token = page.next_page_token
            if not token:
                break
        return expect(paged == names, f"{paged} in pages of two")

    tally.check("lists: every table once, in pages too", check)


@proof
def every_version_is_that_of_the_bulk_file(tally, service, table):
    """Files of all versions, byte by byte and by two readers."""
    data = service.bulk(table)
    stored = arrow(data)
    columns = stored.column_names

    def same_file():
        address = service.lines(table, "query", {})[2]["file"]
        fetched = service.ask(address["url"])[1]
        expect(fetched == data, "the file behind the address is another")
        return expect(address["size"] == len(data), "another size")

    tally.check(f"{table.name}: the file of the newest version", same_file)
    expected = frame_rows(stored.to_pandas(date_as_object=True), columns)
    for title, options in [
        ("parquet", {"use_delta_format": False}), ("delta", {"use_delta_format": True}), ("resolved", {}),
        ("batches", {"convert_in_batches": True}), ("delta in batches", {"use_delta_format": True, "convert_in_batches": True}),
    ]:
        def same_rows(options=options):
            frame = delta_sharing.load_as_pandas(service.address(table), **options)
            expect(list(frame.columns) == columns, list(frame.columns))
            return expect(frame_rows(frame, columns) == expected, "other rows")

        tally.check(f"{table.name}: rows in pandas, {title}", same_rows)

    def polars_rows():
        url = service.lines(table, "query", {})[2]["file"]["url"]
        frame = polars.scan_parquet(url, glob=False).collect()
        return expect(table_rows(frame.to_arrow(), columns) == table_rows(stored, columns), "other rows")

    tally.check(f"{table.name}: rows in polars, by the address alone", polars_rows)

    def statistics():
        stats = json.loads(service.lines(table, "query", {})[2]["file"]["stats"])
        expect(stats["numRecords"] == stored.num_rows, stats["numRecords"])
        for name in columns:
            values = [value for value in stored[name].to_pylist() if value is not None]
            if name in stats["nullCount"]:
                expect(stats["nullCount"][name] == stored[name].null_count, f"nulls of {name}")
            numbers = [value for value in values if value == value]
            if name in stats["minValues"]:
                expect(stats["minValues"][name] == min(numbers), f"minimum of {name}")
            if name in stats["maxValues"]:
                expect(stats["maxValues"][name] == max(numbers), f"maximum of {name}")
        return True

    tally.check(f"{table.name}: statistics hold for every row", statistics)

    def limits():
        for limit in [0, 1, 7]:
            for delta in [False, True]:
                frame = delta_sharing.load_as_pandas(service.address(table), limit=limit, use_delta_format=delta)
                expect(frame_rows(frame, columns) == expected[:limit], f"{len(frame)} rows of {limit}, delta: {delta}")
        return True

    tally.check(f"{table.name}: limits", limits)


@proof
def hints_lose_no_row(tally, service, table):
    """Each predicate's rows are there, whatever the service leaves out."""
    stored = arrow(service.bulk(table))

    def check():
        for name in stored.column_names:
            values = stored[name].to_pylist()
            # A query has 256 KiB.
            values = [value for value in values if isinstance(value, str) and not set(value) & set("'\\") and len(value) < 100_000]
            for value in values[:: max(1, len(values) // 5)]:
                tree = {"op": "equal", "children": [{"op": "column", "name": name, "valueType": "string"},
                                                    {"op": "literal", "value": value, "valueType": "string"}]}
                for body in [{"predicateHints": [f"{name} = '{value}'"]}, {"jsonPredicateHints": json.dumps(tree)}]:
                    lines = service.lines(table, "query", body)
                    expect(len(lines) == 3, f"{body} lost the file")
        hints = json.dumps({"op": "isNull", "children": [{"op": "column", "name": stored.column_names[0], "valueType": "string"}]})
        frame = delta_sharing.load_as_pandas(service.address(table), jsonPredicateHints=hints, use_delta_format=False)
        left_out = stored[stored.column_names[0]].null_count == 0
        return expect(len(frame) == (0 if left_out and stored.num_rows else stored.num_rows), f"{len(frame)} rows")

    tally.check(f"{table.name}: hints", check)


@proof
def versions_and_changes_add_up(tally, service, table, versions):
    """Version n with the changes of n+1 to m is version m, by the client in both formats and by the files alone."""
    last = versions[-1]["version"]
    address = service.address(table)

    def rows_of(version):
        return arrow(service.ask(service.lines(table, "query", {"version": version})[2]["file"]["url"])[1])

    def exactly():
        for start in range(last + 1):
            state = collections.Counter()
            columns = rows_of(last).column_names
            if start:
                state = collections.Counter(table_rows(rows_of(start - 1), columns))
            for line in service.lines(table, f"changes?startingVersion={start}")[2:]:
                (kind, action), = line.items()
                part = arrow(service.ask(action["url"])[1])
                kinds = ["insert"] * part.num_rows if kind == "add" else part["_change_type"].to_pylist()
                for row, kind in zip(table_rows(part, columns), kinds, strict=True):
                    state[row] += KINDS[kind]
            state = +state
            expect(state == collections.Counter(table_rows(rows_of(last), columns)), f"changes from {start} on")
        return True

    tally.check(f"{table.name}: the law, by the files", exactly)
    for delta in [False, True]:
        def law(delta=delta):
            now = delta_sharing.load_as_pandas(address, version=last, use_delta_format=delta)
            columns = list(now.columns)
            for start in range(last + 1):
                changes = delta_sharing.load_table_changes_as_pandas(
                    address, starting_version=start, ending_version=last, use_delta_format=delta)
                expect(set(CHANGE_COLUMNS) <= set(changes.columns), list(changes.columns))
                state = collections.Counter()
                if start:
                    state.update(frame_rows(delta_sharing.load_as_pandas(address, version=start - 1, use_delta_format=delta), columns))
                for row, kind in zip(frame_rows(changes, columns), changes["_change_type"], strict=True):
                    state[row] += KINDS[kind]
                expect(+state == collections.Counter(frame_rows(now, columns)), f"changes from {start} on")
                found = set(changes["_commit_version"])
                expect(found <= set(range(start, last + 1)), f"versions {found}")
            return True

        tally.check(f"{table.name}: the law, by the client{' in Delta format' if delta else ''}", law)

    def times():
        for version in versions:
            number = version["version"]
            at = service.lines(table, "query", {"version": number})[2]["file"]["timestamp"]
            frame = delta_sharing.load_as_pandas(address, timestamp=instant(at), use_delta_format=False)
            expect(len(frame) == version["rows"], f"{len(frame)} rows of version {number}")
            first = delta_sharing.get_table_version(address, starting_timestamp=instant(at))
            expect(first == number, f"version {first} from {instant(at)} on")
            if number == last:
                url = f"{service.endpoint}/shares/{table.share}/schemas/{table.schema}/tables/{table.name}/query"
                late = {"timestamp": instant(at + 1)}
                refuses(400, lambda url=url, late=late: service.ask(url, late, Authorization=f"Bearer {service.key}"))
        return expect(delta_sharing.get_table_version(address) == last, "another newest version")

    tally.check(f"{table.name}: time travel", times)


@proof
def metadata_says_what_the_table_is(tally, service, table):
    def check():
        for delta in [False, True]:
            metadata = delta_sharing.get_table_metadata(service.address(table), use_delta_format=delta)
            schema = json.loads(metadata.schema_string)
            stored = arrow(service.bulk(table))
            expect([field["name"] for field in schema["fields"]] == stored.column_names, schema)
            for field in schema["fields"]:
                expected = {"string": "string", "int64": "long", "double": "double", "bool": "boolean"}
                expect(field["type"] == expected[str(stored.schema.field(field["name"]).type)], field)
        return True

    tally.check(f"{table.name}: metadata", check)


def new_address(service, table):
    """An address that works, and when it ends."""
    file = service.lines(table, "query", {})[2]["file"]
    expect(service.ask(file["url"], Range="bytes=0-3")[1] == b"PAR1", "no Parquet")
    return file


@proof
def addresses_end(tally, service, table, file):
    """An address that has ended is refused, to the client too, and a new query gives a new one."""
    def check():
        time.sleep(max(0, file["expirationTimestamp"] / 1000 - time.time()) + 0.1)
        refuses(403, lambda: service.ask(file["url"]))
        refuses(403, lambda: service.ask(file["url"], Range="bytes=0-3"))
        frame = delta_sharing.load_as_pandas(service.address(table))
        return expect(len(frame.columns) > 0, "no rows after a new query")

    tally.check("an address that has ended", check)


@proof
def recipes_run_as_they_are_written(tally, service, page):
    """The Python of the page as far as Iceberg, with the profile file of this service in place of its own."""
    text, _, _ = page.read_text().partition("\n## Iceberg\n")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    tally.check("recipes: the page has some", lambda: expect(len(blocks) >= 2, f"{len(blocks)} recipes"))
    for number, block in enumerate(blocks, 1):
        code = block.replace("ann.share", str(service.profile))
        tally.check(f"recipe {number}", lambda code=code: exec(code, {}) or True)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--profile", required=True, type=pathlib.Path)
    arguments.add_argument("--page", required=True, type=pathlib.Path, help="docs/share.md")
    given = arguments.parse_args()
    service = Service(given.profile)
    client = delta_sharing.SharingClient(str(given.profile))
    tally = Tally("share")
    lists_name_every_table_once(tally, client, service)
    tables = client.list_all_tables()
    # It ends while the others are read.
    file = tally.check("an address that works", lambda: new_address(service, tables[0]))
    for table in tables:
        def checks(table=table):
            metadata_says_what_the_table_is(tally, service, table)
            every_version_is_that_of_the_bulk_file(tally, service, table)
            hints_lose_no_row(tally, service, table)
            versions = service.snapshots(table)
            if len(versions) > 1:
                versions_and_changes_add_up(tally, service, table, versions)

        tally.group(table.name, checks)
    recipes_run_as_they_are_written(tally, service, given.page)
    if file:
        addresses_end(tally, service, tables[0], file)
    leave(tally.end())


if __name__ == "__main__":
    main()
