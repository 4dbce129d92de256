"""The service as a client sees it: addresses, the key header, downloads to a file."""

import json
import shutil
import time
import urllib.parse
import urllib.request


class Server:
    """A running server and the key to ask it with."""

    def __init__(self, base, key):
        self.base = base
        self.key = key

    def open(self, path, **query):
        address = f"{self.base}{path}"
        if query:
            address += "?" + urllib.parse.urlencode(query)
        request = urllib.request.Request(address, headers={"X-API-Key": self.key})
        return urllib.request.urlopen(request, timeout=600)

    def names(self):
        """Names of all datasets."""
        with self.open("/v1/datasets") as response:
            return [dataset["name"] for dataset in json.load(response)]

    def download(self, package, format_name, path, limit=None):
        """Writes the rows to `path`, all of them unless `limit` says otherwise; returns the headers.

        All rows are asked for in the way that the 413 guard allows: by a date where there is one, else
        by a limit that no demo table reaches.
        """
        query = {"format": format_name, "limit": limit or 100_000_000}
        if package.date and limit is None:
            query |= {"limit": 0, "start": "0001-01-01"}
        with self.open(f"/v1/datasets/{package.name}/data", **query) as response, open(path, "wb") as file:
            shutil.copyfileobj(response, file, 1024 * 1024)
            return response.headers

    def read_slowly(self, package, format_name, seconds):
        """Asks for all rows, takes a little, waits, and goes away."""
        query = {"format": format_name, "limit": 0, "start": "0001-01-01"}
        with self.open(f"/v1/datasets/{package.name}/data", **query) as response:
            response.read(64 * 1024)
            time.sleep(seconds)
