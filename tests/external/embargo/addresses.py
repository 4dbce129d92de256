"""Everything that is asked: each route that exists, of a dataset that everybody sees, of one that nobody may know, and of ids; and where
objects are on S3, what readers of Iceberg read in the bucket.

`{id}` is the id of a snapshot that was never, or of one that waits; `{digest}` that of a file. What else stands in braces is known once
a round begins (`Known`)."""

import dataclasses
import json

import bucket
import wire

# The dataset that everybody sees, and how the name of the other one begins, which is new in a round or was retired. Below it is
# called `secret`.
VISIBLE, HIDDEN, NAMESPACE = "orchard", "secret", "farms"
SHARE = "/share/delta/shares/yearbook"
TABLE = f"{SHARE}/schemas/{NAMESPACE}/tables"
ICEBERG = "/share/iceberg/v1"
JSON = {"Content-Type": "application/json"}
TOOL_HEADERS = {**JSON, "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}

# Asked by GET and HEAD. Those marked `=` are the same whatever is published, are of another time, or are none: no later answer has to
# tell of a release. Those marked `~` are none unless objects are on S3.
READ = """
  /v1/datasets
  /v1/datasets/orchard
  /v1/datasets/orchard/data
  /v1/datasets/orchard/data?format=csv&limit=2
  /v1/datasets/orchard/data?format=csv&limit=0&geometry=false
  /v1/datasets/orchard/data?format=parquet&sort=-date&last=1
  /v1/datasets/orchard/data?format=arrow&where.region=North
  /v1/datasets/orchard/data?format=svg&svg.x=date&svg.y=value
= /v1/datasets/orchard/data?format=svg&limit=5
= /v1/datasets/orchard/data?format=xlsx
  /v1/datasets/orchard/data?format=csv&apply=growth&growth.unit=month
  /v1/datasets/orchard/data?apply=aggregate&aggregate.by=region&aggregate.with=sum
= /v1/datasets/orchard/data?bbox=174,-37,175,-36&limit=3&end=2020-06-01
= /v1/datasets/orchard/data?snapshot={id}
= /v1/datasets/orchard/data?snapshot=none
= /v1/datasets/orchard/data?snapshot={current}
= /v1/datasets/orchard/data?cursor={cursor}&limit=2&format=csv
= /v1/datasets/orchard/data?as_of=2020-01-01
  /v1/datasets/orchard/data?as_of={today}
= /v1/datasets/orchard/data?colums=x
  /v1/series/orchard/data?last=1
  /v1/datasets/orchard/values
= /v1/datasets/orchard/values?snapshot={id}
  /v1/datasets/orchard/values?where.region=North
= /v1/datasets/orchard/changes
= /v1/datasets/orchard/changes?since={id}
  /v1/datasets/orchard/changes?since={current}
  /v1/datasets/orchard/revisions
  /v1/datasets/orchard/revisions?where.region=North&columns=date,value,_valid_from,_valid_to&format=csv
  /v1/datasets/orchard/preview
= /v1/datasets/orchard/preview?snapshot={id}
= /v1/integrations/meltano?datasets=orchard
= /v1/integrations/fivetran?datasets=orchard
= /v1/integrations/azure-data-factory?datasets=orchard
= /v1/integrations/meltano?datasets=secret
  /v1/bulk/farms/orchard?freshness=current
= /v1/bulk/farms/orchard?freshness=monthly
= /v1/bulk/farms/orchard?snapshot={id}
  /v1/bulk/farms/secret
  /v1/datasets/secret
  /v1/datasets/secret/data
= /v1/datasets/secret/data?snapshot={id}
  /v1/datasets/secret/values
  /v1/datasets/secret/preview
= /v1/datasets/secret/changes
= /v1/datasets/secret/changes?since={id}
  /v1/datasets/secret/revisions
  /v1/series/secret/data
= /l/{id}.csv
  {link}
= /openapi.json
= /docs
= /health
= /calendar
= /calendar.ics
= /calendar.json
= /calendar/feed.xml
  /
  /datasets
  /datasets?q=orchard
  /datasets?q=secret
  /datasets?agency=Nobody
  /datasets/orchard
  /datasets/orchard/versions
= /datasets/orchard/request
  /datasets/orchard/feed.xml
= /datasets/orchard/croissant.json
  /datasets/orchard.jsonld
  /datasets/orchard/chart.svg
  /datasets/secret
  /datasets/secret/versions
  /datasets/secret/feed.xml
  /datasets/secret/chart.svg
= /cite/orchard/{id}
= /cite/orchard/{id}?verify=true
= /cite/orchard/{current}
= /cite/secret/{id}
= /cite/orchard/{id}/proof
= /cite/secret/{id}/proof
  /log/checkpoint
= /log/tile/0/000.p/{size}
  /log/tile/0/000.p/{size_1}
  /log/tile/entries/000.p/{size_1}
  /log/tile/entries/000.p/{size_2}
  /catalog.jsonld
  /feed.xml
  /sitemap.xml
= /robots.txt
= /opensearch.xml
= /formats
= /integrations
= /signup
= /account
= /metrics
= /nothing/{id}
= /share/delta/shares
= /share/delta/shares/yearbook
= /share/delta/shares/yearbook/schemas
  /share/delta/shares/yearbook/schemas/farms/tables
  /share/delta/shares/yearbook/all-tables
= /share/delta/shares/yearbook/schemas/farms/tables/orchard
  /share/delta/shares/yearbook/schemas/farms/tables/orchard/version
  /share/delta/shares/yearbook/schemas/farms/tables/orchard/metadata
  /share/delta/shares/yearbook/schemas/farms/tables/orchard/changes?startingVersion=0
  /share/delta/shares/yearbook/schemas/farms/tables/orchard/changes?startingVersion={version_1}
  /share/delta/shares/yearbook/schemas/farms/tables/secret
  /share/delta/shares/yearbook/schemas/farms/tables/secret/version
  /share/delta/shares/yearbook/schemas/farms/tables/secret/metadata
  /share/delta/shares/yearbook/schemas/farms/tables/secret/changes?startingVersion=0
= /share/files/{digest}?{signature}
= {file}
= /share/iceberg/v1/config
= /share/iceberg/v1/namespaces
= /share/iceberg/v1/namespaces/farms
~ /share/iceberg/v1/namespaces/farms/tables
~ /share/iceberg/v1/namespaces/farms/tables/orchard
~ /share/iceberg/v1/namespaces/farms/tables/secret
= /api/ogc
= /api/ogc/api
  /api/ogc/collections
  /api/ogc/collections/orchard
= /api/ogc/collections/orchard/queryables
= /api/ogc/collections/orchard/items?limit=3
  /api/ogc/collections/orchard/items?region=North&limit=1000
  /api/ogc/collections/secret
  /api/ogc/collections/secret/items
  /api/ogc/collections/catalogue/items
  /api/ogc/collections/catalogue/items?q=secret
= /api/ogc/collections/orchard/tiles/WebMercatorQuad?f=tilejson
  /api/sdmx/2.1/dataflow/all/all/latest
  /api/sdmx/2.1/availableconstraint/ORCHARD
  /api/sdmx/2.1/data/ORCHARD
  /api/sdmx/3.0/structure/dataflow/*/SECRET
  /api/sdmx/3.0/data/dataflow/*/ORCHARD
  /api/sdmx/2.1/data/SECRET
= /api/mcp
"""

# Asked of the S3 server by GET and HEAD: lists of what readers of Iceberg may list, objects that the table names now, and those that
# publishing will make of what waits, should anybody know its digest. A list has 1,000 objects at most: those of some hundred rounds.
IN_BUCKET = f"""
  /{bucket.NAME}?list-type=2&prefix={bucket.PREFIX}/iceberg/
  /{bucket.NAME}?list-type=2&prefix={bucket.PREFIX}/snapshots/
= {{metadata}}
= {{manifest_list}}
= {{manifest}}
= {{data}}
= {{signed_file}}
= /{bucket.NAME}/{bucket.PREFIX}/snapshots/{{digest}}.parquet
= /{bucket.NAME}/{bucket.PREFIX}/snapshots/{{digest}}.crc32
= /{bucket.NAME}/{bucket.PREFIX}/iceberg/{{digest}}/v{{version_1}}.metadata.json
= /{bucket.NAME}/{bucket.PREFIX}/iceberg/{{digest}}/v{{version_1}}.snapshot.avro
= /{bucket.NAME}/{bucket.PREFIX}/iceberg/{{digest}}/v{{version_1}}.manifest.avro
= /{bucket.NAME}/{bucket.PREFIX}/iceberg/{{digest}}/v{{hidden_version}}.metadata.json
= /{bucket.NAME}/{bucket.PREFIX}/iceberg/{{digest}}/v{{hidden_version}}.snapshot.avro
= /{bucket.NAME}/{bucket.PREFIX}/iceberg/{{digest}}/v{{hidden_version}}.manifest.avro
= /{bucket.NAME}?list-type=2&prefix={bucket.PREFIX}/iceberg/{{digest}}/
"""


@dataclasses.dataclass(frozen=True)
class Request:
    """One request. `tells`: a later answer has to be another one. `planned`: announcements are in it, and what became of them. `s3_host`: the
    S3 server, by its address, where that is asked and not a host; what is there tells once tables are described for readers of Iceberg."""

    method: str
    path: str
    headers: tuple
    body: str | None
    tells: bool
    scrub: object
    hidden_id: bool
    s3_host: str | None = None

    @property
    def name(self):
        return f"{self.method} {self.path}" + (f" {self.body}" if self.body else "") + "".join(
            f" {name}: {value}" for name, value in self.headers if name in ("If-None-Match", "Accept-Encoding"))

    @property
    def planned(self):
        return self.path.startswith("/calendar")

    @property
    def follows(self):
        """What answers it is made from the view, some time after it."""
        return self.path.startswith("/log/") or "q=" in self.path or "search_datasets" in (self.body or "")

    @property
    def in_bucket(self):
        return self.s3_host is not None

    @property
    def asks_with_id(self):
        return "{id}" in self.path or "{digest}" in self.path or "{id}" in (self.body or "")

    def encoded(self, known):
        """The request as bytes, with what is known filled in."""
        def filled(text):
            for name, value in known.items():
                text = text.replace("{" + name + "}", value)
            return text

        body = None if self.body is None else filled(self.body).encode()
        if self.in_bucket:
            return wire.encoded(self.method, bucket.signed(self.method, filled(self.path), self.s3_host), {}, body, self.s3_host)
        return wire.encoded(self.method, filled(self.path), {name: filled(value) for name, value in self.headers}, body)


def scrub_of(path):
    """What takes out of an answer what differs between two answers to one request."""
    if path.startswith(f"{TABLE}/") and ("/changes" in path or "/query" in path):
        return wire.unsigned
    if path == "/v1/me":
        return wire.without(rb'"(used|resets_at)":("[^"]*"|\d+)')
    if "/link" in path:
        return wire.without(rb'"(url|expires_at)":"[^"]*"')
    if path in ("/signup", "/account"):
        return wire.without(rb'name="stamp" value="[^"]*"')
    return wire.unread if path == "/health/full" else None


def tool(name, **arguments):
    """A call of a tool of the Model Context Protocol."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}})


POSTED = [
    # Path, body, whether later answers differ.
    (f"{TABLE}/orchard/query", "{}", True),
    (f"{TABLE}/orchard/query", '{"version": {version_1}}', True),
    (f"{TABLE}/secret/query", "{}", True),
    ("/api/mcp", tool("search_datasets", query="orchard"), True),
    ("/api/mcp", tool("search_datasets", query="secret"), True),
    ("/api/mcp", tool("describe_dataset", dataset="orchard"), True),
    ("/api/mcp", tool("describe_dataset", dataset="secret"), True),
    ("/api/mcp", tool("get_data", dataset="orchard", last=1), True),
    ("/api/mcp", tool("get_data", dataset="secret", last=1), True),
    ("/api/mcp", tool("list_values", dataset="orchard", columns=["region"]), True),
    ("/api/mcp", tool("cite", dataset="orchard"), True),
    ("/api/mcp", tool("verify_figure", dataset="orchard", value=777.5, start="2020-01-01", where={"region": "North"}), False),
    (f"{ICEBERG}/namespaces/farms/tables/orchard/metrics", "{}", False),
    (f"{ICEBERG}/namespaces/farms/tables/secret/metrics", "{}", False),
]
# Pages of which a client says which one it has, and whose size it chooses.
CONDITIONAL = ["/v1/datasets", "/v1/datasets/orchard", "/v1/datasets/orchard/data", "/datasets/orchard", "/feed.xml", "/catalog.jsonld"]
PACKED = ["/v1/datasets/orchard/data?format=csv", "/datasets/orchard", "/v1/datasets"]
# Asked by GET alone: each HEAD would be the same text.
LOOSE = ["/health/full", "/v1/me", "/v1/datasets/orchard/link?days=7", "/v1/datasets/secret/link?days=7"]


def everything(key, s3_host=None):
    """Every request, for a key of the plan Enterprise. `s3_host`: the S3 server, where objects are on one."""
    requests = []

    def add(method, path, tells, body=None, **headers):
        bearer = path.startswith(("/share/delta", "/share/iceberg"))
        secret = {"Authorization": f"Bearer {key}"} if bearer else {"X-API-Key": key}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        path, body = (text and text.replace(HIDDEN, "{hidden}").replace(HIDDEN.upper(), "{HIDDEN}") for text in (path, body))
        kind = {} if body is None else TOOL_HEADERS if path == "/api/mcp" else JSON
        requests.append(Request(
            method, path, tuple((secret | kind | named).items()), body, tells, scrub_of(path), "{hidden}" in path))

    for line in READ.strip().split("\n"):
        tells, path = not line.startswith("=" if s3_host else ("=", "~")), line.strip("=~ ")
        add("GET", path, tells)
        # Headers tell less than bodies do, so nothing has to be in them.
        add("HEAD", path, False)
    for path, body, tells in POSTED:
        add("POST", path, tells, body)
    for path in CONDITIONAL:
        add("GET", path, True, If_None_Match="{tag of " + path + "}")
    for path in PACKED:
        add("GET", path, True, Accept_Encoding="gzip")
    for path in LOOSE:
        add("GET", path, path == "/v1/datasets/secret/link?days=7")
    for line in IN_BUCKET.strip().split("\n") if s3_host else ():
        tells, path = not line.startswith("="), line.strip("= ")
        requests.append(Request("GET", path, (), None, tells, None, True, s3_host))
        # An address is signed for one method, so that of a host would be refused.
        if path != "{signed_file}":
            requests.append(Request("HEAD", path, (), None, False, None, True, s3_host))
    return requests
