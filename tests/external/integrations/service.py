"""The service as a client sees it; and other programs."""

import io
import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request
import zipfile

import patient

# A tool that takes longer hangs: some install packages first.
SECONDS = 1800


class Server:
    """A running server and the key to ask it with."""

    def __init__(self, base, key):
        self.base = base
        self.key = key

    def open(self, path, accept="application/json", **query):
        address = f"{self.base}{path}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(address, headers={"X-API-Key": self.key, "Accept": accept})
        try:
            return patient.urlopen(request, timeout=600)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{address}: {error.code} {error.read().decode()}") from error

    def rows(self, name):
        """All rows of a dataset."""
        with self.open(f"/v1/datasets/{name}/data", limit=1_000_000) as response:
            return json.load(response)

    def dataset(self, name):
        """The description of a dataset."""
        with self.open(f"/v1/datasets/{name}") as response:
            return json.load(response)

    def project(self, tool, datasets, **options):
        """Files of an integration by path, and the warnings."""
        with self.open(f"/v1/integrations/{tool}", datasets=",".join(datasets), **options) as response:
            answer = json.load(response)
        assert answer["tool"] == tool
        text = json.dumps(answer)
        assert self.key not in text, "the key stands in a file"
        assert answer["files"].keys() == answer["media_types"].keys()
        return answer["files"], answer["warnings"]

    def unpack(self, tool, datasets, folder, **options):
        """Unpacks an integration's zip into a new folder."""
        with self.open(f"/v1/integrations/{tool}", accept="application/zip", datasets=",".join(datasets), **options) as response:
            archive = zipfile.ZipFile(io.BytesIO(response.read()))
        folder.mkdir(parents=True)
        archive.extractall(folder)


def run(command, **more):
    """Return the output of a program on both streams; raise an error unless it succeeds."""
    found = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, **more)
    assert found.returncode == 0, f"{command} ended with {found.returncode}:\n{found.stdout[-6000:]}"
    return found.stdout


def same_rows(expected, found, key):
    """Return true if two tables have the same rows, in any order."""
    assert len(expected) == len(found), f"{len(found)} rows instead of {len(expected)}"

    def order(row):
        return tuple(str(row[name]) for name in key)

    for one, other in zip(sorted(expected, key=order), sorted(found, key=order)):
        assert one == other, f"{other} instead of {one}"
