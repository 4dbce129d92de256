"""Holds the files in `deploy/` against the binary: flags, settings, ports, paths of probes; manifests against the schemas of Kubernetes,
the unit against systemd where that is installed.

Run by `cargo xtask test`. Prints one line a check and, last, `deploy: N passed, N failed`.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import urllib.request

import kubernetes_validate
import yaml
from tally import Tally, proof

ROOT = pathlib.Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"

# Schemas that the manifests are held against: the oldest release with a pause before the stop by itself, and the newest known.
KUBERNETES = ["1.30", "1.37"]

# Places in the manifests that name a secret.
SECRETS = {"YEARBOOK_STORAGE_URL": "file:objects", "YEARBOOK_DATABASE_URL": "sqlite:yearbook.db"}


class Binary:
    """`yearbook` with nothing of this machine's environment."""

    def __init__(self, path, work):
        self.path, self.work = path, work

    def run(self, arguments, variables=()):
        environment = {"PATH": os.environ["PATH"], "YEARBOOK_DATA_DIR": str(self.work / "data"), **dict(variables)}
        return subprocess.run([self.path, *arguments], cwd=self.work, env=environment, capture_output=True, text=True, timeout=120)

    def takes(self, arguments):
        """Asserts that a command line means something; nothing is run."""
        said = self.run([*arguments, "--help"])
        assert said.returncode == 0, f"{arguments}: {said.stderr}"

    def knows(self, variables):
        """Asserts that these variables are settings with values that fit."""
        said = self.run(["keys", "list"], variables)
        assert said.returncode == 0, said.stderr


def directives(unit):
    found = {}
    for line in unit.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            found.setdefault(name, []).append(value)
    return found


def check_units(tally, binary):
    check_unit(tally, binary, "yearbook")
    check_unit(tally, binary, "yearbook-refresh")
    unit = directives(DEPLOY / "systemd/yearbook.service")

    def stops():
        source = (ROOT / "host/http/src/settings.rs").read_text()
        patience = int(re.search(r"shutdown_ms: ([\d_]+)", source)[1]) / 1000
        assert int(unit["TimeoutStopSec"][0]) > patience, patience

    tally.check("systemd: a stop may take as long as open responses may", stops)
    refresh_timer(tally)


@proof
def refresh_timer(tally):
    timer = directives(DEPLOY / "systemd/yearbook-refresh.timer")
    command = shlex.split(directives(DEPLOY / "systemd/yearbook-refresh.service")["ExecStart"][0])

    def schedule():
        exactly(timer["OnCalendar"], ["*:0/15"])
        exactly(timer["WantedBy"], ["timers.target"])
        assert command[1:3] == ["refresh", "--due"], command

    tally.check("systemd: the timer asks what is due more often than the shortest cadence", schedule)
    if not shutil.which("systemd-analyze"):
        return

    def understood():
        said = subprocess.run(["systemd-analyze", "calendar", "--iterations=2", timer["OnCalendar"][0]], capture_output=True, text=True, timeout=60)
        assert said.returncode == 0 and "Next elapse" in said.stdout, said.stdout + said.stderr

    tally.check("systemd: the timer's calendar means something", understood)


def check_unit(tally, binary, name):
    path = DEPLOY / f"systemd/{name}.service"
    unit = directives(path)
    command = shlex.split(unit["ExecStart"][0])
    tally.check(f"systemd: the binary takes the flags of {name}'s ExecStart", lambda: binary.takes(command[1:]))
    variables = dict(pair.split("=", 1) for pair in unit["Environment"])
    variables["YEARBOOK_DATA_DIR"] = str(binary.work / "data")
    tally.check(f"systemd: every variable of {name} is a setting", lambda: binary.knows(variables))

    def executes():
        assert "MemoryDenyWriteExecute" not in unit, "compiled plugins could not run"

    tally.check(f"systemd: {name} may compile plugins", executes)
    if not shutil.which("systemd-analyze"):
        print("NOT CHECKED: what systemd says of the unit; `cargo xtask test` counts its absence as a failure")
        return

    copy = binary.work / f"{name}.service"
    copy.write_text(path.read_text().replace(command[0], str(binary.path)))

    def verified():
        said = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, timeout=60)
        ours = [line for line in (said.stdout + said.stderr).splitlines() if "yearbook" in line]
        assert said.returncode == 0 and not ours, said.stdout + said.stderr

    tally.check(f"systemd: {name} means what systemd takes it for", verified)

    def exposed():
        said = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", copy], capture_output=True, text=True, timeout=60)
        level = float(re.search(r"Overall exposure level for .*: ([\d.]+)", said.stdout)[1])
        stated = float(re.search(r"exposure level of ([\d.]+)", (ROOT / "docs/operations.md").read_text())[1])
        assert level <= stated, f"{level}, and docs/operations.md says {stated}"

    tally.check(f"systemd: {name} is exposed no more than docs/operations.md says", exposed)


def check_image(tally, binary):
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line.split(None, 1) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    last = max(index for index, (word, _) in enumerate(lines) if word == "FROM")
    final = {}
    for word, rest in lines[last:]:
        final.setdefault(word, []).append(rest)

    def pinned():
        channel = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
        image = re.search(r"rust:([\d.]+)-", lines[0][1])[1]
        assert channel.startswith(image), f"{image}, and rust-toolchain.toml says {channel}"

    tally.check("image: it is built by the toolchain of the tree", pinned)

    def built():
        run = next(rest for word, rest in lines if word == "RUN")
        package = re.search(r"cargo build --release --package (\S+)", run)
        manifest = tomllib.loads((ROOT / "host/cli/Cargo.toml").read_text())
        assert manifest["package"]["name"] == package[1], package[0]
        # Every release build carries the plugins, for which the target has to be there.
        target = re.search(r"rustup target add (\S+)", run)
        assert target[1] in tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["targets"], target[0]
        assert (ROOT / "host/cli/build.rs").is_file()

    tally.check("image: what it builds is there", built)
    tally.check("image: nobody is root", lambda: exactly(final["USER"], ["65532:65532"]))

    def started():
        program = json.loads(final["ENTRYPOINT"][0])
        exactly(program, ["/usr/local/bin/yearbook"])
        assert f"/target/release/yearbook {program[0]}" in final["COPY"][0], final["COPY"]
        binary.takes(json.loads(final["CMD"][0]))
        health = json.loads(re.search(r"CMD (\[.*\])", final["HEALTHCHECK"][0])[1])
        exactly(health[0], program[0])
        binary.takes(health[1:])

    tally.check("image: the binary takes its commands", started)
    variables = dict(pair.split("=", 1) for pair in shlex.split(final["ENV"][0]))

    def variables_fit():
        exactly(variables["YEARBOOK_DATA_DIR"], final["VOLUME"][0])
        exactly(variables["YEARBOOK_SERVER__LISTEN"].rsplit(":", 1)[1], final["EXPOSE"][0])
        binary.knows({**variables, "YEARBOOK_DATA_DIR": str(binary.work / "data")})

    tally.check("image: every variable is a setting, and the port is the one that is exposed", variables_fit)


def exactly(found, wanted):
    assert found == wanted, f"{found} instead of {wanted}"


def check_manifests(tally, binary):
    folder = DEPLOY / "kubernetes"
    manifests = {}
    for path in sorted(folder.glob("*.yaml")):
        manifest = yaml.safe_load(path.read_text())
        manifests[manifest["kind"]] = manifest
        # Kinds of Kubernetes itself; the others have no schema here.
        if "kustomize" in manifest["apiVersion"] or "coreos" in manifest["apiVersion"]:
            continue
        for version in KUBERNETES:
            tally.check(f"kubernetes: {path.name} is as {version} has it", lambda: kubernetes_validate.validate(manifest, version, strict=True))

    listed = set(manifests["Kustomization"]["resources"])
    others = {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml", "servicemonitor.yaml"}
    tally.check("kubernetes: every file but the optional one is listed", lambda: exactly(listed, others))

    pod = manifests["Deployment"]["spec"]["template"]
    [container] = pod["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    settings = tomllib.loads(manifests["ConfigMap"]["data"]["yearbook.toml"])

    def ports_fit():
        for name, setting in [("http", "listen"), ("admin", "admin_listen")]:
            exactly(settings["server"][setting], f"0.0.0.0:{ports[name]}")
        exactly({port["targetPort"] for port in manifests["Service"]["spec"]["ports"]}, set(ports))
        named = {port["port"] for rule in manifests["NetworkPolicy"]["spec"]["ingress"] for port in rule["ports"]}
        exactly(named, set(ports))
        served = {port["name"] for port in manifests["Service"]["spec"]["ports"]}
        assert all(endpoint["port"] in served for endpoint in manifests["ServiceMonitor"]["spec"]["endpoints"])

    tally.check("kubernetes: ports are those that the settings listen at", ports_fit)

    def selected():
        labels = pod["metadata"]["labels"]
        exactly(manifests["Service"]["spec"]["selector"], labels)
        for kind in ["Deployment", "PodDisruptionBudget", "ServiceMonitor"]:
            exactly(manifests[kind]["spec"]["selector"]["matchLabels"], labels)
        exactly(manifests["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"], labels)
        exactly(manifests["Service"]["metadata"]["labels"], labels)

    tally.check("kubernetes: selectors mean the pods", selected)

    def confined():
        exactly(container["securityContext"]["readOnlyRootFilesystem"], True)
        exactly(container["securityContext"]["allowPrivilegeEscalation"], False)
        exactly(pod["spec"]["securityContext"]["runAsNonRoot"], True)
        mounts = {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
        data = next(entry["value"] for entry in container["env"] if entry["name"] == "YEARBOOK_DATA_DIR")
        exactly(mounts, {data, "/tmp"})
        exactly({mount["name"] for mount in container["volumeMounts"]}, {volume["name"] for volume in pod["spec"]["volumes"]})

    tally.check("kubernetes: pods write their data directory and /tmp alone, and are not root", confined)

    arguments = container["args"]
    tally.check("kubernetes: the binary takes its arguments", lambda: binary.takes(arguments))
    variables = {entry["name"]: entry.get("value", SECRETS.get(entry["name"])) for entry in container["env"]}

    def known():
        ours = {name: value for name, value in variables.items() if name.startswith("YEARBOOK_")}
        assert all(ours.values()), ours
        binary.knows({**ours, "YEARBOOK_DATA_DIR": str(binary.work / "data")})
        others = [name for name in variables if not name.startswith("YEARBOOK_")]
        documented = (ROOT / "docs/s3.md").read_text()
        assert all(f"`{name}`" in documented for name in others), others

    tally.check("kubernetes: every variable is a setting, or one that docs/s3.md names", known)

    toml = binary.work / "yearbook.toml"
    toml.write_text(manifests["ConfigMap"]["data"]["yearbook.toml"])
    serve = [binary.path, *arguments, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--json"]
    serve = [str(toml) if argument == "/etc/yearbook/yearbook.toml" else argument for argument in serve]
    environment = {"PATH": os.environ["PATH"], "YEARBOOK_DATA_DIR": str(binary.work / "data")}
    with open(binary.work / "log", "w") as log, subprocess.Popen(serve, env=environment, stdout=subprocess.PIPE, stderr=log, text=True) as server:
        try:
            bases = json.loads(server.stdout.readline())
            bases = {"http": bases["listening"], "admin": bases["admin"]}
            for kind in ["startupProbe", "livenessProbe", "readinessProbe"]:
                probe = container[kind]["httpGet"]
                tally.check(f"kubernetes: the {kind} is answered", lambda: answered(bases[probe["port"]] + probe["path"]))
            path = manifests["ServiceMonitor"]["spec"]["endpoints"][0]["path"]
            tally.check("kubernetes: metrics are where they are scraped", lambda: answered(bases["admin"] + path))

            def health():
                said = binary.run(["health", "--url", bases["admin"]])
                exactly((said.returncode, said.stdout.strip()), (0, "ok"))

            tally.check("image: the binary finds a server healthy", health)
        finally:
            server.terminate()
            server.wait(60)

    def unhealthy():
        said = binary.run(["health", "--url", bases["admin"]])
        assert said.returncode == 1 and "nobody listens there" in said.stderr, said

    tally.check("image: the binary finds a server that is gone unhealthy", unhealthy)


@proof
def refresh_job(tally, binary):
    job = yaml.safe_load((DEPLOY / "kubernetes/cronjob.yaml").read_text())["spec"]
    pod = job["jobTemplate"]["spec"]["template"]
    deployment = yaml.safe_load((DEPLOY / "kubernetes/deployment.yaml").read_text())["spec"]["template"]
    [container], [server] = pod["spec"]["containers"], deployment["spec"]["containers"]

    def schedule():
        exactly((job["schedule"], job["concurrencyPolicy"]), ("*/15 * * * *", "Forbid"))
        exactly(container["args"][:2], ["refresh", "--due"])
        exactly(container["image"], server["image"])

    tally.check("kubernetes: the job asks what is due, one run at a time, with the servers' image", schedule)
    tally.check("kubernetes: the binary takes the job's arguments", lambda: binary.takes(container["args"]))

    def apart():
        service = yaml.safe_load((DEPLOY / "kubernetes/service.yaml").read_text())["spec"]["selector"]
        assert not service.items() <= pod["metadata"]["labels"].items(), "the service would send clients to the job"

    tally.check("kubernetes: no client is sent to the job", apart)

    def confined():
        exactly(container["securityContext"], server["securityContext"])
        exactly(pod["spec"]["securityContext"], deployment["spec"]["securityContext"])
        mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
        data = next(entry["value"] for entry in container["env"] if entry["name"] == "YEARBOOK_DATA_DIR")
        exactly({path for path, mount in mounts.items() if not mount.get("readOnly")}, {data, "/tmp"})
        packages = next(entry["value"] for entry in container["env"] if entry["name"] == "YEARBOOK_REFRESH__PACKAGES")
        assert packages in mounts, packages
        exactly({mount["name"] for mount in mounts.values()}, {volume["name"] for volume in pod["spec"]["volumes"]})

    tally.check("kubernetes: the job is as confined as the servers, and its packages are mounted", confined)

    def known():
        ours = {entry["name"]: entry.get("value", SECRETS.get(entry["name"])) for entry in container["env"]}
        ours = {name: value for name, value in ours.items() if name.startswith("YEARBOOK_")}
        assert all(ours.values()), ours
        binary.knows({**ours, "YEARBOOK_DATA_DIR": str(binary.work / "data")})

    tally.check("kubernetes: every variable of the job is a setting", known)

    def refreshed():
        # As the kubelet mounts a config map: links to a hidden folder.
        mounted = binary.work / "packages"
        (mounted / "..2026").mkdir(parents=True)
        (mounted / "..data").symlink_to("..2026")
        fields = [{"name": "id", "type": "integer"}]
        descriptor = {
            "name": "mounted",
            "licenses": [{"name": "CC-BY-4.0"}],
            "sources": [{"title": "Test agency"}],
            "resources": [{"path": "http://127.0.0.1:9/rows.csv", "schema": {"fields": fields, "primaryKey": ["id"]}}],
            "yearbook": {"namespace": "tests", "refresh_cadence": "daily"},
        }
        (mounted / "..2026/mounted.datapackage.json").write_text(json.dumps(descriptor))
        (mounted / "mounted.datapackage.json").symlink_to("..data/mounted.datapackage.json")
        said = binary.run(["refresh", "--due", "--json"], {"YEARBOOK_REFRESH__PACKAGES": str(mounted)})
        [report] = [json.loads(line) for line in said.stdout.splitlines()]
        exactly((said.returncode, report["name"], report["outcome"]), (1, "mounted", "failed"))
        assert "not on the public Internet" in report["reason"], report

    tally.check("kubernetes: packages are found where a config map is mounted", refreshed)


def answered(address):
    with urllib.request.urlopen(address, timeout=60) as response:
        exactly(response.status, 200)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    binary = Binary(arguments.binary, arguments.work)
    tally = Tally("deploy")
    for check in [check_units, check_image, check_manifests, refresh_job]:
        tally.group(check.__name__, lambda: check(tally, binary))
    return tally.end()


sys.exit(main())
