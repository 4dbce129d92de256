"""Atom: feedparser reads every feed, and RFC 4287's required elements are there."""

import json
import xml.etree.ElementTree as xml

import feedparser
from tally import proof

ATOM = "{http://www.w3.org/2005/Atom}"


def read(service, path):
    headers, body = service.get(path)
    assert headers["Content-Type"].startswith("application/atom+xml"), headers["Content-Type"]
    root = xml.fromstring(body)
    for element in (root, *root.iter(f"{ATOM}entry")):
        for required in ("id", "title", "updated"):
            assert len(element.findall(f"{ATOM}{required}")) == 1, f"{path}: {required}"
        assert element.findtext(f"{ATOM}author/{ATOM}name")
    feed = feedparser.parse(body)
    assert not feed.bozo, feed.bozo_exception
    assert feed.version == "atom10", feed.version
    assert feed.feed.id == service.base + path
    ids = [entry.id for entry in feed.entries]
    assert ids and len(set(ids)) == len(ids)
    assert all(one.startswith("urn:uuid:") for one in ids), ids
    times = [entry.updated for entry in feed.entries]
    assert times == sorted(times, reverse=True), times
    assert feed.feed.updated == times[0]
    return feed


@proof
def feeds_are_well_formed(tally, service):
    def of_catalog():
        feed = read(service, "/feed.xml")
        assert len(feed.entries) == min(50, len(service.names))
        for entry in feed.entries:
            service.get(entry.link)

    def of_dataset(name):
        feed = read(service, f"/datasets/{name}/feed.xml")
        detail = json.loads(service.get(f"/v1/datasets/{name}", key=True)[1])
        assert len(feed.entries) == len(detail["snapshots"])

    tally.check("the feed of the catalog", of_catalog)
    for name in service.names:
        tally.check(f"the feed of {name}", lambda: of_dataset(name))
