"""Airbyte: the generated manifest is run with the declarative source of Airbyte's CDK."""

import json

import quoting
import revisions
import service
import unusual
from tally import proof

# With a second version to come.
CHANGED = "synthetic_nz_retail_quarterly"
LONG, WIDE, KEYLESS = "us_unemployment_by_industry", "us_macro_quarterly", "us_wildlife_strikes"
NAMES = [LONG, WIDE, CHANGED, KEYLESS, "london_boroughs", revisions.NAME, quoting.NAME, unusual.NAME]
# Streams that can be read on, where that is chosen.
DATED = [LONG, WIDE, CHANGED, KEYLESS, revisions.NAME]


@proof
def check_first(tally, starter, unlimited, program, folder, crowd):
    """Check, discover, read. What a second read needs: the catalog's file and the states."""
    if tally.check("airbyte: the project unpacks", lambda: starter.unpack("airbyte", NAMES, folder) or True) is None:
        return None
    (folder / "config.json").write_text(json.dumps({"api_key": starter.key}))
    tally.check("airbyte: the connection is checked", lambda: check_connection(program, folder))
    streams = tally.check("airbyte: streams are discovered", lambda: discover(program, folder))
    if streams is None:
        return None
    for name in NAMES:
        tally.check(f"airbyte: {name} is described", lambda: check_stream(unlimited, name, streams[name]))
    tally.check("airbyte: free text survives", lambda: check_text(streams[quoting.NAME]))
    reading = program, folder, "read", "--catalog", "catalog.json"
    said = tally.check("airbyte: everything is read, a 429 meanwhile", lambda: crowd.refuse_once(run, *reading))
    if said is None:
        return None
    for name in NAMES:
        columns = list(streams[name]["json_schema"]["properties"])
        # Airbyte leaves null out of its messages.
        found = [dict.fromkeys(columns) | row for row in records(said, name)]
        key = unlimited.dataset(name)["primary_key"] or columns
        tally.check(f"airbyte: {name} arrives whole", lambda: service.same_rows(unlimited.rows(name), found, key))
    return said


@proof
def check_second(tally, starter, unlimited, program, folder, first):
    """A read with the states of the first, after rows were added to one dataset and old rows of another were revised."""
    states = {message["state"]["stream"]["stream_descriptor"]["name"]: message["state"] for message in first if message["type"] == "STATE"}
    (folder / "state.json").write_text(json.dumps(list(states.values())))
    said = tally.check("airbyte: reads again", lambda: run(program, folder, "read", "--catalog", "catalog.json", "--state", "state.json"))
    if said is None:
        return

    def check_whole(name):
        rows = unlimited.rows(name)
        found = [dict.fromkeys(rows[0]) | row for row in records(said, name)]
        service.same_rows(rows, found, unlimited.dataset(name)["primary_key"])
        return True

    def check_revision():
        def value(messages):
            return next(row["value"] for row in records(messages, revisions.NAME) if row["date"] == "2024-01-01" and row["region"] == "NA")

        equal((value(first), value(said)), (1.5, 1.75))
        return True

    for name in [CHANGED, revisions.NAME]:
        tally.check(f"airbyte: {name} arrives whole again", lambda: check_whole(name))
    tally.check("airbyte: a revision of an old row arrives", check_revision)
    tally.check("airbyte: a stream is read on where that is chosen", lambda: check_incremental(starter, unlimited, program, folder))


def check_incremental(starter, unlimited, program, folder):
    """The manifest that offers to read on: twice, the second time from the state of the first."""
    made, _ = starter.project("airbyte", DATED, **{"airbyte.incremental": "true"})
    chosen = folder / "incremental"
    chosen.mkdir()
    (chosen / "manifest.yaml").write_text(made["manifest.yaml"])
    (chosen / "config.json").write_text((folder / "config.json").read_text())
    streams = discover(program, chosen)
    assert all("incremental" in stream["supported_sync_modes"] for stream in streams.values()), streams
    once = run(program, chosen, "read", "--catalog", "catalog.json")
    states = {message["state"]["stream"]["stream_descriptor"]["name"]: message["state"] for message in once if message["type"] == "STATE"}
    (chosen / "state.json").write_text(json.dumps(list(states.values())))
    again = run(program, chosen, "read", "--catalog", "catalog.json", "--state", "state.json")
    # `start` is inclusive, so the last date comes again.
    last = max(row["date"] for row in records(once, WIDE))
    service.same_rows([row for row in unlimited.rows(WIDE) if row["date"] >= last], records(again, WIDE), ["date"])
    return True


def run(program, folder, command, *arguments):
    """Return the messages of the source."""
    files = ["--manifest-path", "manifest.yaml", "--config", "config.json"]
    said = service.run([program, command, *files, *arguments], cwd=folder)
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def check_connection(program, folder):
    statuses = [message["connectionStatus"]["status"] for message in run(program, folder, "check") if message["type"] == "CONNECTION_STATUS"]
    equal(statuses, ["SUCCEEDED"])
    # A wrong key would be noticed.
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(json.dumps({"api_key": "yb_wrong"}))
    statuses = [message["connectionStatus"]["status"] for message in run(program, folder, "check") if message["type"] == "CONNECTION_STATUS"]
    (folder / "config.json").write_text(config)
    equal(statuses, ["FAILED"])
    return True


def discover(program, folder):
    found = [message["catalog"]["streams"] for message in run(program, folder, "discover") if message["type"] == "CATALOG"]
    streams = {stream["name"]: stream for stream in found[0]}
    configured = [
        {"stream": stream, "sync_mode": stream["supported_sync_modes"][-1], "destination_sync_mode": "append"} for stream in streams.values()
    ]
    (folder / "catalog.json").write_text(json.dumps({"streams": configured}))
    return streams


def check_stream(server, name, stream):
    described = server.dataset(name)
    equal([path[0] for path in stream.get("source_defined_primary_key", [])], described["primary_key"] or [])
    equal(stream["supported_sync_modes"], ["full_refresh"])
    properties = stream["json_schema"]["properties"]
    equal(list(properties), [column["name"] for column in described["columns"]])
    for column in described["columns"]:
        kind = {"date": "string"}.get(column["type"], column["type"])
        # A number that is not finite is null in JSON.
        nullable = column["nullable"] or kind == "number"
        equal(properties[column["name"]]["type"], [kind, "null"] if nullable else [kind])


def check_text(stream):
    # A blank keeps a text from being taken for a reference.
    expected = [f" {text}" if text.startswith("#/") else text for text in quoting.columns()]
    equal([column["description"] for column in stream["json_schema"]["properties"].values()], expected)


def records(said, name):
    return [message["record"]["data"] for message in said if message["type"] == "RECORD" and message["record"]["stream"] == name]


def equal(found, expected):
    assert found == expected, f"{found} instead of {expected}"
