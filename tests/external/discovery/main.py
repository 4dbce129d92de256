"""Holds the documents for machines against the tools that read them, over every dataset and over hostile ones.

Run by `cargo xtask test`; takes an Enterprise key from YEARBOOK_KEY. The last line counts what passed and what failed."""

import argparse
import json
import logging
import os
import sys
import urllib.robotparser
import xml.etree.ElementTree as xml

import croissant
import dcat
import documents
import feeds
import page
import patient
import releases
from tally import Tally, proof


class Service:
    """The service under test."""

    def __init__(self, base, key):
        self.base = base
        self.key = key
        self.datasets = json.loads(self.get("/v1/datasets", key=True)[1])
        self.names = sorted(one["name"] for one in self.datasets)

    def get(self, path, key=False, headers=None, method="GET"):
        """(headers, body) of an answer with status 200."""
        status, found, body = self.ask(path, key, headers, method)
        assert status == 200, f"{path}: {status}"
        return found, body

    def ask(self, path, key=False, headers=None, method="GET"):
        url = path if path.startswith("http") else self.base + path
        return patient.fetch(url, self.key if key else None, headers, method)


def addresses(service):
    """Every document, the pages of a few datasets among them."""
    fixed = ["/catalog.jsonld", "/calendar.ics", "/calendar.json", "/feed.xml", "/opensearch.xml", "/sitemap.xml", "/robots.txt"]
    of_datasets = [f"/datasets/{name}{rest}" for name in service.names for rest in (".jsonld", "/croissant.json", "/feed.xml")]
    return fixed + of_datasets


@proof
def documents_answer_head_and_conditions(tally, service):
    def check(path):
        headers, body = service.get(path)
        tag = headers["ETag"]
        assert tag and not tag.startswith("W/"), tag
        head, nothing = service.get(path, method="HEAD")
        assert nothing == b"" and head["ETag"] == tag and head["Content-Type"] == headers["Content-Type"]
        status, again, nothing = service.ask(path, headers={"If-None-Match": tag})
        assert (status, nothing, again["ETag"]) == (304, b"", tag), (status, again["ETag"])
        assert "Set-Cookie" not in headers and headers["X-Content-Type-Options"] == "nosniff"
        return len(body)

    for path in addresses(service)[:14]:
        tally.check(f"{path}: HEAD, ETag, 304", lambda: check(path))


@proof
def sitemap_and_robots_lead_crawlers(tally, service):
    def sitemap():
        body = service.get("/sitemap.xml")[1]
        space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
        root = xml.fromstring(body)
        assert root.tag == f"{space}urlset", root.tag
        found = [url.findtext(f"{space}loc") for url in root]
        assert all(f"{service.base}/datasets/{name}" in found for name in service.names)
        assert not any("?" in url for url in found)
        changed = [url.findtext(f"{space}lastmod") for url in root if "/datasets/" in url.findtext(f"{space}loc")]
        assert all(changed), "a dataset has no lastmod"
        for url in found:
            service.get(url)

    def robots():
        parser = urllib.robotparser.RobotFileParser()
        parser.parse(service.get("/robots.txt")[1].decode().splitlines())
        assert parser.can_fetch("*", f"{service.base}/datasets/{service.names[0]}")
        assert not parser.can_fetch("*", f"{service.base}/datasets?q=rent")
        assert not parser.can_fetch("*", f"{service.base}/v1/datasets")
        assert parser.site_maps() == [f"{service.base}/sitemap.xml"], parser.site_maps()

    def open_search():
        space = "{http://a9.com/-/spec/opensearch/1.1/}"
        root = xml.fromstring(service.get("/opensearch.xml")[1])
        assert root.tag == f"{space}OpenSearchDescription", root.tag
        assert 0 < len(root.findtext(f"{space}ShortName")) <= 16
        assert 0 < len(root.findtext(f"{space}Description")) <= 1024
        template = next(url.get("template") for url in root.iter(f"{space}Url") if url.get("type") == "text/html")
        body = service.get(template.replace("{searchTerms}", "earthquakes"))[1].decode()
        assert "usgs_earthquakes_2018_02" in body

    tally.check("the sitemap lists every dataset, and each address answers", sitemap)
    tally.check("robots.txt keeps crawlers from searches", robots)
    tally.check("the OpenSearch template finds", open_search)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--base", required=True)
    arguments.add_argument("yearbook", nargs="+", help="the program with its data folder")
    given = arguments.parse_args()
    logging.disable(logging.WARNING)
    service = Service(given.base, os.environ["YEARBOOK_KEY"])
    tally = Tally("discovery")
    hostile = [name for name in service.names if name.startswith("hostile_")]
    tally.check("the demo and the hostile datasets are served", lambda: len(hostile) == 5 and len(service.names) > 30 or 1 / 0)
    tally.group("conditions", lambda: documents_answer_head_and_conditions(tally, service))
    tally.group("sitemap and robots", lambda: sitemap_and_robots_lead_crawlers(tally, service))
    tally.group("schemas", lambda: documents.documents_in_xml_fit_their_schemas(tally, service))
    tally.group("schema.org", lambda: page.pages_contain_the_schema_org_dataset(tally, service))
    tally.group("Signposting", lambda: page.pages_are_signposted(tally, service))
    tally.group("Croissant", lambda: croissant.croissant_documents_load(tally, service))
    tally.group("Atom", lambda: feeds.feeds_are_well_formed(tally, service))
    tally.group("DCAT-AP", lambda: dcat.the_catalog_conforms_to_dcat_ap(tally, service))
    # Last, since it publishes.
    tally.group("calendar", lambda: releases.calendars_are_read_by_another_program(tally, service, given.yearbook))
    sys.exit(tally.end())


if __name__ == "__main__":
    main()
