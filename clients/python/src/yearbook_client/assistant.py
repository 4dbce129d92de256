"""Tools for assistants over the Model Context Protocol, by its official SDK (extra `mcp`). Owns
which verbs they have and how much an answer may hold; every answer with rows has its credit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import __version__
from .client import Client
from .errors import YearbookError
from .models import as_json
from .settings import require

# What fits into an assistant's context.
MAX_ROWS = 500
MAX_DATASETS = 25
MAX_CELL = 500
MAX_CELLS = 10_000

INSTRUCTIONS = (
    "Public statistics. Search before you name a dataset; do not guess names. Percentages are "
    "proportions: 0.081 is 8.1 %. Pass the attribution on with every figure. `preview` is free; "
    "`get`, `describe` and `search` may cost a request of the user's month, so look before you read."
)


class Tools:
    """The verbs as tools: plain arguments in, JSON out."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def search(self, words: str, limit: int = 10) -> dict[str, Any]:
        """Find datasets by words; all must occur. Returns name, title and source of each."""
        found = self._client.search(words, max(1, min(limit, MAX_DATASETS)))
        return {
            "datasets": [
                {"name": one.name, "title": one.title, "source": one.source} for one in found
            ]
        }

    def describe(self, name: str) -> dict[str, Any]:
        """Describe a dataset: columns with types, roles and units, date range, licence, versions."""
        return _document(self._client.describe(name).raw)

    def preview(self, name: str) -> dict[str, Any]:
        """Show the newest rows of a dataset, at most ten, and its shape. Free."""
        found = self._client.preview(name)
        return _document(
            {
                "name": found.name,
                "snapshot_id": found.snapshot_id,
                "row_count": found.row_count,
                "columns": [
                    {"name": one.name, "type": one.type, "role": one.role} for one in found.columns
                ],
                "rows": [dict(row) for row in found.rows],
            }
        )

    def get(
        self,
        name: str,
        start: str | None = None,
        end: str | None = None,
        dimensions: str | None = None,
        columns: list[str] | None = None,
        limit: int = 100,
        as_of: str | None = None,
    ) -> dict[str, Any]:
        """Read rows of a dataset, at most 500, without geometry. Dates are YYYY-MM-DD and inclusive;
        `dimensions` is a text that any dimension contains; `as_of` is a date, and reads what was known
        then. `complete` tells whether there are more."""
        wanted = max(1, min(limit, MAX_ROWS))
        # One row more shows whether rows remain, in the same request.
        rows = self._client.get(
            name,
            start=start,
            end=end,
            dimensions=dimensions,
            columns=columns,
            geometry=False,
            limit=wanted + 1,
            as_of=as_of,
            to="rows",
        )
        room = max(1, MAX_CELLS // max(1, len(rows.columns)))
        shown = rows[: min(wanted, room)]
        return _document(
            {
                "rows": list(shown),
                "complete": len(shown) == len(rows),
                "types": {column.name: column.type for column in rows.columns},
                "attribution": rows.credit.attribution,
                "licence": rows.credit.licence,
                "snapshot_id": rows.credit.snapshot_id,
            }
        )

    def cite(self, name: str, format: str = "text") -> dict[str, Any]:  # noqa: A002
        """Cite the current version of a dataset: text, bibtex, ris, csl-json, cff, datacite-json."""
        return {"citation": self._client.cite(name, format)}  # type: ignore[arg-type]


TOOLS = ("search", "describe", "preview", "get", "cite")


def server(client: Client | None = None) -> Any:
    """Returns an MCP server with the tools. Raises MissingExtraError without the SDK."""
    sdk = require("mcp", "Serving an assistant")
    tools = Tools(client or Client(progress=False))
    try:
        made = require("mcp.server", "Serving an assistant").MCPServer(
            "yearbook", instructions=INSTRUCTIONS, version=__version__
        )
    except AttributeError:
        # The first major version of the SDK has another name for it.
        fast = require("mcp.server.fastmcp", "Serving an assistant")
        made = fast.FastMCP("yearbook", instructions=INSTRUCTIONS)
    hints = sdk.types.ToolAnnotations
    for name in TOOLS:
        read_only = hints(**{_alias(hints, "readOnlyHint", "read_only_hint"): True})
        made.tool(name=name, annotations=read_only)(_told(getattr(tools, name)))
    return made


def serve() -> None:
    """Serves over standard input and output until the input ends."""
    server().run("stdio")


def _told(verb: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Returns `verb` with its exceptions as answers that the assistant can act on."""
    import functools

    @functools.wraps(verb)
    def run(*given: Any, **named: Any) -> dict[str, Any]:
        try:
            return verb(*given, **named)
        except YearbookError as error:
            return {"error": type(error).__name__, "message": error.message, "advice": error.advice}

    return run


def _alias(model: Any, one: str, other: str) -> str:
    """Returns the name under which the SDK's version has a field."""
    return one if one in getattr(model, "model_fields", {}) else other


def _document(values: Mapping[str, Any]) -> dict[str, Any]:
    """Cuts long texts, which are geometry or prose, and writes dates as text."""
    return {name: as_json(value, MAX_CELL) for name, value in values.items()}
