"""Object storage over S3: the program s3s-fs of crates.io with a bucket in a folder, addresses in it that are signed, and the objects
that a table of Iceberg names."""

import datetime
import hashlib
import hmac
import subprocess
import urllib.parse

import wire
from ports import HOST, free_port
from waiting import until

NAME, PREFIX = "shelf", "some/prefix"
ACCESS, SECRET, REGION = "test-key", "test-secret", "us-east-1"
# The server knows one identity. Readers of Iceberg are handed another one, which it refuses altogether, as it has to refuse
# `waiting/`: what they may read is asked for with the one that it knows.
READER = "reader-key", "reader-secret"
# The longest that an address works: longer than a round.
SIGNED_SECONDS = 604_800


class Bucket:
    """The server and its bucket."""

    def __init__(self, program, work):
        self.port = free_port()
        self.folder = work / "s3"
        (self.folder / NAME).mkdir(parents=True)
        self.log = open(work / "s3.log", "w")
        self.process = subprocess.Popen(
            [program, "--host", HOST, "--port", str(self.port), "--access-key", ACCESS, "--secret-key", SECRET, self.folder],
            stdout=self.log, stderr=self.log, start_new_session=True)
        until(self.answers, "the S3 server answers (s3.log says why not)", within=30)

    @property
    def address(self):
        return HOST, self.port

    @property
    def host(self):
        return f"{HOST}:{self.port}"

    @property
    def objects(self):
        """The folder of the part of the bucket that is the service's."""
        return self.folder / NAME / PREFIX

    @property
    def settings(self):
        """What the service is told of it: files are read at signed addresses, and tables are described for readers of Iceberg."""
        endpoint = f"http://{self.host}"
        reader = {
            "ACCESS_KEY_ID": READER[0], "SECRET_ACCESS_KEY": READER[1], "ENDPOINT": endpoint, "REGION": REGION,
            "PATH_STYLE_ACCESS": "true"}
        return {
            "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": REGION, "AWS_ENDPOINT_URL": endpoint,
            "AWS_ALLOW_HTTP": "true", "YEARBOOK_STORAGE_URL": f"s3://{NAME}/{PREFIX}", "YEARBOOK_STORAGE__BULK": "redirect",
            "YEARBOOK_SHARE__REDIRECT": "true", "YEARBOOK_SHARE__ICEBERG": "true",
        } | {f"YEARBOOK_SHARE__ICEBERG_CREDENTIALS__S3__{name}": value for name, value in reader.items()}

    def answers(self):
        assert self.process.poll() is None, "the S3 server has ended: s3.log says why"
        try:
            return self.get(f"/{NAME}?list-type=2").status == 200
        except (OSError, wire.Broken):
            return False

    def get(self, path):
        """The object at a path, which begins with the bucket."""
        return wire.ask(self.address, "GET", signed("GET", path, self.host), {}, host=self.host)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


def signed(method, path, host):
    """The address of an object, or of a list, with a signature of version 4 as a part of it. One that is signed stays as it is."""
    path, _, query = path.partition("?")
    if "X-Amz-Signature=" in query:
        return f"{path}?{query}"
    now = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    scope = f"{now[:8]}/{REGION}/s3/aws4_request"
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True) + [
        ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"), ("X-Amz-Credential", f"{ACCESS}/{scope}"), ("X-Amz-Date", now),
        ("X-Amz-Expires", str(SIGNED_SECONDS)), ("X-Amz-SignedHeaders", "host")]
    query = urllib.parse.urlencode(sorted(pairs), quote_via=urllib.parse.quote, safe="")
    request = f"{method}\n{path}\n{query}\nhost:{host}\n\nhost\nUNSIGNED-PAYLOAD"
    text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    key = f"AWS4{SECRET}".encode()
    for part in (*scope.split("/"), text):
        key = hmac.digest(key, part.encode(), "sha256")
    return f"{path}?{query}&X-Amz-Signature={key.hex()}"


def path_of(address):
    """Where the object of an address lies that readers of Iceberg are told (`s3://bucket/key`)."""
    scheme, _, path = address.partition("://")
    assert scheme == "s3" and path.startswith(f"{NAME}/{PREFIX}/"), address
    return f"/{path}"


def named_by(table):
    """Paths of what the answer of `loadTable` names: its description, and manifest list, manifest and data of its newest version."""
    newest = max(table["metadata"]["snapshots"], key=lambda snapshot: snapshot["snapshot-id"])
    manifest_list = path_of(newest["manifest-list"])
    digest = manifest_list.split("/")[-2]
    return {
        "metadata": path_of(table["metadata-location"]), "manifest_list": manifest_list,
        "manifest": manifest_list.replace(".snapshot.avro", ".manifest.avro"), "data": f"/{NAME}/{PREFIX}/snapshots/{digest}.parquet",
    }


def describes(table, snapshot):
    """Whether an answer of `loadTable` has a version of the service in it."""
    return any(one["summary"]["yearbook.snapshot-id"] == snapshot for one in table["metadata"]["snapshots"])
