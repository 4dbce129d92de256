"""Writes what a release is made of as a CycloneDX document: every crate that the binary or a plugin links, with version,
licence, checksum and what it uses. Takes what `cargo metadata` prints, Cargo.lock, and the time and name of the commit;
never looks at a registry. A document that the schema refuses is not written.
"""

import argparse
import datetime
import json
import pathlib
import tomllib
import uuid

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

PROGRAM = "yearbook-cli"


def linked(metadata):
    """Packages that the program and the guests link, each with those it uses, by id."""
    packages = {package["id"]: package for package in metadata["packages"]}
    uses = {
        node["id"]: [dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
        for node in metadata["resolve"]["nodes"]
    }
    guests = [
        package["id"]
        for package in metadata["packages"]
        if package["source"] is None and any("cdylib" in target["crate_types"] for target in package["targets"])
    ]
    (program,) = (package["id"] for package in metadata["packages"] if package["name"] == PROGRAM)
    found, waiting = {}, [program, *guests]
    while waiting:
        if (package := waiting.pop()) not in found:
            found[package] = uses[package]
            waiting += uses[package]
    return program, {package: (packages[package], used) for package, used in found.items()}


def component(package, checksums, licences):
    """A package as the document has it."""
    name, version = package["name"], package["version"]
    checksum = checksums.get((name, version))
    return Component(
        bom_ref=f"{name}@{version}",
        type=ComponentType.APPLICATION if name == PROGRAM else ComponentType.LIBRARY,
        name=name,
        version=version,
        purl=PackageURL("cargo", name=name, version=version) if package["source"] else None,
        licenses=[licences.make_from_string(package["license"].replace("/", " OR "))] if package["license"] else [],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=checksum)] if checksum else [],
    )


def main():
    """Writes the document of one release."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--metadata", type=pathlib.Path, required=True)
    parser.add_argument("--lock", type=pathlib.Path, required=True)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    given = parser.parse_args()

    locked = tomllib.loads(given.lock.read_text())["package"]
    checksums = {(package["name"], package["version"]): package.get("checksum") for package in locked}
    program, packages = linked(json.loads(given.metadata.read_text()))
    licences = LicenseFactory()
    parts = {package: component(about, checksums, licences) for package, (about, _) in packages.items()}

    # The same commit has the same document.
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, given.commit))
    bom.metadata.timestamp = datetime.datetime.fromtimestamp(given.seconds, datetime.UTC)
    bom.metadata.component = parts[program]
    for package, (_, used) in packages.items():
        if package != program:
            bom.components.add(parts[package])
        bom.register_dependency(parts[package], [parts[other] for other in used])
    text = JsonV1Dot6(bom).output_as_string(indent=1)
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    assert fault is None, f"the document is not valid: {fault}"
    given.out.write_text(text)
    print(f"{len(parts)} crates")


main()
