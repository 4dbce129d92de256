"""Azure Data Factory: a strict walk of every resource over the models of azure-mgmt-datafactory, which
keep the names on the wire. The models themselves take anything; the walk does not: it refuses what they
do not know, what they need and is not there, and references that lead nowhere."""

import copy
import json
import re
import types
import typing

from azure.mgmt.datafactory import models

from tally import proof

NAMES = ["us_unemployment_by_industry", "london_boroughs"]
ROOTS = {
    "linkedService": models.LinkedService,
    "dataset": models.Dataset,
    "pipeline": models.PipelineResource,
    "trigger": models.Trigger,
}
REFERENCES = {
    "LinkedServiceReference": "linkedService",
    "DatasetReference": "dataset",
    "PipelineReference": "pipeline",
}


@proof
def check(tally, unlimited, starter):
    """Both kinds of source, and deliberate errors in them."""
    for source in ["parquet", "rest"]:
        for server in [unlimited, starter]:
            name = f"azure-data-factory: {source} resources pass the strict walk"
            resources = tally.check(name, lambda: resources_of(server, source))
        if resources is None:
            continue
        for error, (path, spoil) in ERRORS.items():
            tally.check(f"azure-data-factory: {source}: {error} is noticed", lambda: check_error(resources, path, spoil))


def resources_of(server, source):
    files, warnings = server.project("azure-data-factory", NAMES, **{"azure-data-factory.source": source})
    resources = {path: json.loads(text) for path, text in files.items() if path.endswith(".json")}
    assert warnings and {path.split("/")[0] for path in resources} == set(ROOTS)
    problems = walk_all(resources)
    assert not problems, "\n".join(problems)
    return resources


def check_error(resources, path, spoil):
    spoilt = copy.deepcopy(resources)
    spoil(spoilt[path]["properties"])
    assert walk_all(spoilt), "nothing was noticed"


def each(properties):
    return properties["activities"][0]["typeProperties"]


def copying(properties):
    return each(properties)["activities"][0]


PIPELINE, ROWS, SERVICE = "pipeline/CopyYearbookDatasets.json", "dataset/YearbookRows.json", "linkedService/YearbookService.json"
ERRORS = {
    "an unknown key": (SERVICE, lambda p: p["typeProperties"].update(authHeader=p["typeProperties"].pop("authHeaders"))),
    "a missing key": (SERVICE, lambda p: p["typeProperties"].pop("url")),
    "an unknown type": (SERVICE, lambda p: p.update(type="HttpService")),
    "a secret without its store": (SERVICE, lambda p: p["typeProperties"]["authHeaders"]["X-API-Key"].pop("store")),
    "a dangling vault": (SERVICE, lambda p: p["typeProperties"]["authHeaders"]["X-API-Key"]["store"].update(referenceName="Other")),
    "a dangling linked service": (ROWS, lambda p: p["linkedServiceName"].update(referenceName="Other")),
    "an undeclared parameter of a dataset": (ROWS, lambda p: p["parameters"].pop("query")),
    "an error within a list of activities": (PIPELINE, lambda p: copying(p)["typeProperties"]["source"].update(type="ParkettSource")),
    "an unknown key within lists": (PIPELINE, lambda p: copying(p)["inputs"][0].update(parameter={})),
    "a dangling dataset": (PIPELINE, lambda p: copying(p)["outputs"][0].update(referenceName="Other")),
    "a missing argument": (PIPELINE, lambda p: copying(p)["inputs"][0]["parameters"].pop("name")),
    "an undeclared parameter of the pipeline": (PIPELINE, lambda p: p["parameters"].clear()),
    "a wrong kind of value": (PIPELINE, lambda p: each(p).update(isSequential="true")),
    "a dangling pipeline": ("trigger/YearbookWeekly.json", lambda p: p["pipelines"][0]["pipelineReference"].update(referenceName="Other")),
    "an impossible weekday": (
        "trigger/YearbookWeekly.json",
        lambda p: p["typeProperties"]["recurrence"]["schedule"].update(weekDays=["Mon"]),
    ),
}


def walk_all(resources):
    """Every problem of a set of resources."""
    problems = []
    for path, resource in resources.items():
        folder, file = path.split("/")
        if set(resource) != {"name", "properties"} or f"{resource['name']}.json" != file:
            problems.append(f"{path}: a file is named after its resource and has name and properties")
        properties = resource["properties"]
        root = ROOTS[folder]
        if folder == "pipeline":
            # The model of a pipeline's properties is the one that is flattened into the resource.
            root = model_of(field_types(root)["properties"][0])
        walk(root, properties, path, problems)
        follow(properties, resources, path, problems)
        expressions(properties, properties.get("parameters", {}), folder, path, problems)
    return problems


def walk(annotation, value, path, problems):
    """One value against what a model says of it."""
    options = [option for option in alternatives(annotation) if option is not type(None)]
    if value is None or typing.Any in options:
        secrets(value, path, problems)
        return
    for option in options:
        found = []
        walk_one(option, value, path, found)
        if not found:
            return
    problems.extend(found)


def walk_one(option, value, path, problems):
    origin = typing.get_origin(option)
    if origin is list:
        if not isinstance(value, list):
            problems.append(f"{path}: must be a list")
            return
        for index, item in enumerate(value):
            walk(typing.get_args(option)[0], item, f"{path}[{index}]", problems)
    elif origin is dict:
        if not isinstance(value, dict):
            problems.append(f"{path}: must be an object")
            return
        for name, item in value.items():
            walk(typing.get_args(option)[1], item, f"{path}.{name}", problems)
    elif origin is typing.Literal:
        if value not in typing.get_args(option):
            problems.append(f"{path}: must be one of {typing.get_args(option)}")
    elif isinstance(option, type) and hasattr(option, "_deserialize") and hasattr(option, "_is_model"):
        walk_model(option, value, path, problems)
    elif isinstance(option, type) and issubclass(option, str) and option is not str:
        if value not in [member.value for member in option]:
            problems.append(f"{path}: {value!r} is no {option.__name__}")
    elif isinstance(option, type) and option in (bool, int, float, str):
        if type(value) is not option and not (option is float and type(value) is int):
            problems.append(f"{path}: {value!r} is no {option.__name__}")
    elif not isinstance(value, str):
        # Dates and durations are text on the wire.
        problems.append(f"{path}: {value!r} is not text")


def walk_model(model, value, path, problems):
    if not isinstance(value, dict):
        problems.append(f"{path}: must be an object")
        return
    mapping = getattr(model, "__mapping__", None)
    if mapping and "type" in value:
        concrete = resolve(model, value["type"])
        if concrete is None:
            # A leaf's own mapping is its parent's.
            problems.append(f"{path}: unknown type {value['type']!r}")
            return
        model = concrete
    fields = field_types(model)
    for name in value:
        if name not in fields:
            problems.append(f"{path}: {model.__name__} knows no {name!r}")
    for name, (annotation, required) in fields.items():
        if name in value:
            walk(annotation, value[name], f"{path}.{name}", problems)
        elif required:
            problems.append(f"{path}: {model.__name__} needs {name!r}")


def resolve(model, tag):
    """The model for a type's name among a model's descendants."""
    if tag in model.__mapping__ and not is_family(tag):
        return model.__mapping__[tag]
    for child in model.__mapping__.values():
        mapping = getattr(child, "__mapping__", {})
        if mapping is not model.__mapping__ and tag in mapping and not is_family(tag):
            return mapping[tag]
    return None


def is_family(tag):
    return tag in ("Container", "Execution", "MultiplePipelineTrigger", "TabularSource")


def field_types(model):
    """Return the field of a model under each name on the wire, and whether it is required."""
    hints = typing.get_type_hints(model, {"_models": models, **vars(typing)})
    fields = {}
    for parent in reversed(model.__mro__):
        for attribute, field in vars(parent).items():
            if type(field).__name__ == "_RestField":
                annotation = hints[attribute]
                fields[field._rest_name_input or attribute] = (annotation, type(None) not in alternatives(annotation))
    return fields


def alternatives(annotation):
    union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    found = list(typing.get_args(annotation)) if union else [annotation]
    # A name or text that is not in the list: the list decides.
    enums = [option for option in found if isinstance(option, type) and issubclass(option, str) and option is not str]
    return [option for option in found if not (enums and option is str)]


def model_of(annotation):
    return next(option for option in alternatives(annotation) if option is not type(None))


def secrets(value, path, problems):
    """Check a value where a model takes anything: secrets and expressions in it are still of known shape."""
    if isinstance(value, dict):
        if value.get("type") in models.SecretBase.__mapping__:
            walk(models.SecretBase, value, path, problems)
            return
        if value.get("type") == "Expression":
            walk(models.Expression, value, path, problems)
            return
        for name, item in value.items():
            secrets(item, f"{path}.{name}", problems)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            secrets(item, f"{path}[{index}]", problems)


def follow(value, resources, path, problems):
    """Every reference leads somewhere and passes exactly what is declared there."""
    if isinstance(value, dict):
        folder = REFERENCES.get(value.get("type"))
        if folder and "referenceName" in value:
            target = resources.get(f"{folder}/{value['referenceName']}.json")
            if target is None:
                problems.append(f"{path}: no {folder} {value['referenceName']!r}")
            elif folder == "dataset":
                declared, passed = set(target["properties"].get("parameters", {})), set(value.get("parameters", {}))
                if declared != passed:
                    problems.append(f"{path}: {value['referenceName']} takes {declared}, not {passed}")
        for name, item in value.items():
            follow(item, resources, f"{path}.{name}", problems)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            follow(item, resources, f"{path}[{index}]", problems)


def expressions(value, declared, folder, path, problems):
    """Expressions name declared parameters alone."""
    if isinstance(value, dict):
        if value.get("type") == "Expression":
            text = value["value"]
            pattern = r"pipeline\(\)\.parameters\.(\w+)" if folder == "pipeline" else r"dataset\(\)\.(\w+)"
            for name in re.findall(pattern, text):
                if name not in declared:
                    problems.append(f"{path}: {text} names an undeclared parameter")
            if not text.startswith("@"):
                problems.append(f"{path}: {text} is no expression")
        for name, item in value.items():
            expressions(item, declared, folder, f"{path}.{name}", problems)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            expressions(item, declared, folder, f"{path}[{index}]", problems)
