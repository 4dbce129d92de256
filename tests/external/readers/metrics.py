"""Metrics of the admin listener, read by Prometheus's own Python client in both formats, and by promtool where it is installed."""

import shutil
import subprocess
import urllib.request

import waiting
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_families
from prometheus_client.parser import text_string_to_metric_families as classic_families


def scrape(admin, accept):
    """The text of /metrics, and its content type."""
    request = urllib.request.Request(f"{admin}/metrics", headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=60) as response:
        return response.read().decode(), response.headers["Content-Type"]


def samples(families):
    """Values by name and labels, those that move between two readings left out."""
    found = {}
    for family in families:
        assert family.documentation, f"{family.name} has no help"
        assert family.type in ("counter", "gauge", "histogram"), f"{family.name} is {family.type}"
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found, f"{key} is there twice"
            found[key] = sample.value
    moving = ("process_", "yearbook_catalog_", "yearbook_catalogue_", "yearbook_connections_", "yearbook_database_clock_", "yearbook_workers_")
    return {key: value for key, value in found.items() if not key[0].startswith(moving)}


def check_formats(admin):
    """Both formats are valid and say the same, once nothing happens between two readings."""

    def same():
        text, content_type = scrape(admin, "application/openmetrics-text")
        assert content_type.startswith("application/openmetrics-text; version=1.0.0"), content_type
        strict = samples(open_families(text))
        text, content_type = scrape(admin, "text/plain")
        assert content_type.startswith("text/plain; version=0.0.4"), content_type
        return strict if samples(classic_families(text)) == strict else None

    return waiting.until(same, "both formats say the same", within=30, every=1)


def check_counts(admin, formats):
    """Check that the bytes read are the bytes counted."""
    found = check_formats(admin)
    for name in formats:
        served = sum(value for (metric, labels), value in found.items() if metric == "yearbook_http_requests_total" and ("format", name) in labels)
        rows = sum(value for (metric, labels), value in found.items() if metric == "yearbook_plugin_rows_total" and ("name", name) in labels)
        assert served > 0 and rows > 0, f"{name}: {served} requests, {rows} rows"


def check_promtool(admin):
    """promtool finds nothing to say about names and help."""
    text, _ = scrape(admin, "text/plain")
    found = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def check(tally, admin, formats):
    """Every check."""
    tally.check("metrics in both formats", lambda: check_formats(admin))
    tally.check("metrics of what was read", lambda: check_counts(admin, formats))
    if shutil.which("promtool"):
        tally.check("metrics promtool", lambda: check_promtool(admin))
    else:
        # Debian has it in the package of a daemon, which nobody wants started on a machine for tests.
        print("NOT CHECKED: what promtool says of the metrics; Prometheus's own client reads them above", flush=True)
