"""Somebody else who asks with the key of a tool, so that the service refuses the tool at least once, on a slow machine too."""

import concurrent.futures
import time
import urllib.error
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

ROWS = "/v1/datasets/{name}/data"
# Far more than a burst has here.
REQUESTS = 50


class Crowd:
    """Spends the burst of a key. `admin` is the address of the listener that counts requests."""

    def __init__(self, server, admin):
        self.server = server
        self.admin = admin

    def refuse_once(self, use, *arguments):
        """Return what `use` returns. It asks for rows with the key; once it was told 429, the crowd leaves. An error if it never was."""
        before = self._refusals()
        with concurrent.futures.ThreadPoolExecutor(1) as one:
            using = one.submit(use, *arguments)
            while not using.done() and self._refusals() == before:
                self._spend()
                time.sleep(0.02)
            found = using.result()
        assert self._refusals() > before, "no request for rows was told 429"
        return found

    def _spend(self):
        """Ask for what is no rows, until the burst is spent; not for ever, where requests take longer than the burst needs to fill."""
        request = urllib.request.Request(f"{self.server.base}/v1/datasets", headers={"X-API-Key": self.server.key})
        for _ in range(REQUESTS):
            try:
                urllib.request.urlopen(request, timeout=60).close()
            except urllib.error.HTTPError as refusal:
                refusal.close()
                assert refusal.code == 429, refusal
                return

    def _refusals(self):
        """Requests for rows that were told 429 so far."""
        with urllib.request.urlopen(f"{self.admin}/metrics", timeout=60) as response:
            families = list(text_string_to_metric_families(response.read().decode()))
        samples = [sample for family in families for sample in family.samples if sample.name == "yearbook_http_requests_total"]
        return sum(sample.value for sample in samples if (sample.labels["route"], sample.labels["status"]) == (ROWS, "429"))
