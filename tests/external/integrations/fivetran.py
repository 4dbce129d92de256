"""Fivetran: the OpenAPI document against the specification and against live rows, and the Connector
SDK project driven over gRPC as Fivetran drives it."""

import datetime
import json
import subprocess
import sys

import grpc
import openapi_spec_validator
import service
import yaml
from fivetran_connector_sdk.protos import common_pb2, connector_sdk_pb2, connector_sdk_pb2_grpc
from openapi_schema_validator import OAS30Validator, oas30_format_checker
from ports import HOST, free_port

from tally import proof

# With a second version to come.
CHANGED = "synthetic_nz_retail_quarterly"
# A project that takes longer to start, or to answer, hangs.
SECONDS = 300
# Long, in pages; wide; without a primary key; spatial.
NAMES = ["us_unemployment_by_industry", "us_macro_quarterly", "us_wildlife_strikes", "london_boroughs", CHANGED]


def check_first(tally, starter, unlimited, folder):
    """The document, and a first sync. The state after it."""
    if tally.check("fivetran: the project unpacks", lambda: starter.unpack("fivetran", NAMES, folder) or True) is None:
        return None
    tally.check("fivetran: connector.yaml is a valid OpenAPI document", lambda: check_document(folder))
    for name in NAMES:
        tally.check(f"fivetran: rows of {name} are as connector.yaml says", lambda: check_rows(folder, unlimited, name))
    synced = tally.check("fivetran: a first sync runs", lambda: sync(folder, starter, {}))
    if synced is None:
        return None
    for name in NAMES:
        tally.check(f"fivetran: {name} arrives whole", lambda: check_table(unlimited, synced, name))
    tally.check("fivetran: tables are typed and have their keys", lambda: check_schema(unlimited, synced))
    tally.check("fivetran: the state names every snapshot", lambda: check_state(unlimited, synced))
    unchanged = tally.check("fivetran: a second sync runs", lambda: sync(folder, starter, synced.state))
    if unchanged is not None:
        tally.check("fivetran: unchanged snapshots are skipped", lambda: equal(unchanged.operations, {}))
    return synced


@proof
def check_second(tally, starter, unlimited, folder, first):
    """A sync after a new version of one dataset."""
    synced = tally.check("fivetran: a sync after a new version runs", lambda: sync(folder, starter, first.state))
    if synced is None:
        return
    tally.check("fivetran: only the changed dataset is loaded", lambda: equal(list(synced.operations), [CHANGED]))
    tally.check("fivetran: it is emptied first and arrives whole", lambda: check_table(unlimited, synced, CHANGED))

    def resumed():
        # As a sync leaves it that was stopped after its first page.
        name = NAMES[0]
        with starter.open(f"/v1/datasets/{name}/data", limit=1000) as response:
            page, cursor, snapshot = json.load(response), response.headers["X-Next-Page"], response.headers["X-Service-Snapshot-Id"]
        rest = sync(folder, starter, synced.state | {name: {"snapshot": snapshot, "cursor": cursor}})
        equal([kind for kind, _ in rest.operations[name][:1]], ["upsert"])
        found = page + [row for _, row in rest.operations[name]]
        service.same_rows(unlimited.rows(name), found, unlimited.dataset(name)["primary_key"])

    tally.check("fivetran: a sync that was stopped goes on at its page", resumed)


class Synced:
    """Result of a sync."""

    def __init__(self, tables):
        self.tables = tables
        self.operations = {}
        self.state = None


def sync(folder, server, state):
    """Runs the project in a process of its own and asks it, as Fivetran does, for schema and update."""
    configuration = json.loads((folder / "configuration.json").read_text())
    equal(configuration, {"base_url": server.base, "api_key": "<YOUR_API_KEY>"})
    configuration["api_key"] = server.key
    port = free_port()
    program = f"import connector; connector.connector.run(port={port})"
    # A pipe that nobody reads would fill, and the project would wait for its reader.
    with open(folder / "connector.log", "a") as log:
        process = subprocess.Popen([sys.executable, "-c", program], cwd=folder, stdout=log, stderr=log)
    try:
        channel = grpc.insecure_channel(f"{HOST}:{port}", options=[("grpc.max_receive_message_length", -1)])
        grpc.channel_ready_future(channel).result(timeout=SECONDS)
        stub = connector_sdk_pb2_grpc.SourceConnectorStub(channel)
        tables = stub.Schema(connector_sdk_pb2.SchemaRequest(configuration=configuration), timeout=SECONDS).without_schema.tables
        synced = Synced({table.name: table for table in tables})
        request = connector_sdk_pb2.UpdateRequest(configuration=configuration, state_json=json.dumps(state))
        for response in stub.Update(request, timeout=service.SECONDS):
            note(synced, response)
        if synced.state is None:
            synced.state = state
        return synced
    finally:
        process.terminate()
        process.wait(SECONDS)


def note(synced, response):
    kind = response.WhichOneof("operation")
    if kind == "structured_record":
        add(synced, response.structured_record)
    elif kind == "structured_records":
        for record in response.structured_records.structured_records:
            add(synced, record)
    elif kind == "truncate":
        synced.operations.setdefault(response.truncate.table_name, []).append(("truncate", {}))
    elif kind == "checkpoint":
        synced.state = json.loads(response.checkpoint.state_json)
    else:
        raise AssertionError(f"an operation that was not expected: {kind}")


def add(synced, record):
    kind = common_pb2.RecordType.Name(record.type).lower()
    row = {name: value(found) for name, found in record.data.items()}
    synced.operations.setdefault(record.table_name, []).append((kind, row))


def value(found):
    kind = found.WhichOneof("inner")
    if kind == "null":
        return None
    inner = getattr(found, kind)
    if kind == "naive_date":
        return datetime.datetime.fromtimestamp(inner.seconds, datetime.timezone.utc).date().isoformat()
    return inner


def check_table(server, synced, name):
    operations = synced.operations[name]
    equal(operations[0][0], "truncate")
    found = [row for kind, row in operations if kind == "upsert"]
    equal(len(found), len(operations) - 1)
    expected = server.rows(name)
    service.same_rows(expected, found, server.dataset(name)["primary_key"] or list(expected[0]))


def check_schema(server, synced):
    for name in NAMES:
        dataset, table = server.dataset(name), synced.tables[name]
        equal({column.name for column in table.columns if column.primary_key}, set(dataset["primary_key"]))
        names = {column.name: common_pb2.DataType.Name(column.type) for column in table.columns}
        expected = {"string": "STRING", "integer": "LONG", "number": "DOUBLE", "boolean": "BOOLEAN", "date": "NAIVE_DATE"}
        equal(names, {column["name"]: expected[column["type"]] for column in dataset["columns"]})


def check_state(server, synced):
    equal(synced.state, {name: {"snapshot": server.dataset(name)["current_snapshot_id"]} for name in NAMES})


def check_document(folder):
    document = yaml.safe_load((folder / "connector.yaml").read_text())
    openapi_spec_validator.validate(document, cls=openapi_spec_validator.OpenAPIV30SpecValidator)
    # The check would notice.
    del document["paths"][f"/v1/datasets/{NAMES[0]}/data"]["get"]["responses"]
    errors = list(openapi_spec_validator.OpenAPIV30SpecValidator(document).iter_errors())
    assert errors, "a missing key went unnoticed"


def check_rows(folder, server, name):
    document = yaml.safe_load((folder / "connector.yaml").read_text())
    operation = document["paths"][f"/v1/datasets/{name}/data"]["get"]
    schema = document["components"]["schemas"][f"{name}_row"]
    validator = OAS30Validator(schema, format_checker=oas30_format_checker)
    rows = server.rows(name)
    for row in rows[:2000]:
        validator.validate(row)
    assert not validator.is_valid(rows[0] | {"more": 1}), "a column too many went unnoticed"
    equal(operation["operationId"], f"read_{name}")


def equal(found, expected):
    assert found == expected, f"{found} instead of {expected}"
