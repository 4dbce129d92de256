"""The service as a client sees it: addresses, the key header, downloads to a file."""

import json
import shutil
import urllib.parse
import urllib.request

import patient


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
        return patient.urlopen(request, timeout=600)

    def names(self):
        """Names of all datasets."""
        with self.open("/v1/datasets") as response:
            return [dataset["name"] for dataset in json.load(response)]

    @staticmethod
    def everything(package, limit=None, **query):
        """A query for all rows in the way that the 413 guard allows: by a date where there is one, else by a limit that no demo table
        reaches."""
        bounds = {"limit": 0, "start": "0001-01-01"} if package.date and limit is None else {"limit": limit or 100_000_000}
        return urllib.parse.urlencode(bounds | query)

    def download(self, package, format_name, path, **query):
        """Writes the rows to `path`, all of them unless `limit` says otherwise; returns the headers."""
        query = self.everything(package, format=format_name, **query)
        with self.open(f"/v1/datasets/{package.name}/data?{query}") as response, open(path, "wb") as file:
            shutil.copyfileobj(response, file, 1024 * 1024)
            return response.headers
