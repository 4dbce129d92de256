"""DCAT-AP 3: the catalog holds to the shapes of SEMIC."""

import pathlib

import pyshacl
import rdflib
from tally import proof

SHAPES = pathlib.Path(__file__).parent / "dcat-ap"
DCAT = rdflib.Namespace("http://www.w3.org/ns/dcat#")
DCT = rdflib.Namespace("http://purl.org/dc/terms/")


def read(service):
    """The whole catalog, page after page."""
    graph, address, pages = rdflib.Graph(), f"{service.base}/catalog.jsonld", 0
    while address:
        headers, body = service.get(address)
        assert headers["Content-Type"].startswith("application/ld+json"), headers["Content-Type"]
        graph.parse(data=body, format="json-ld", publicID=address)
        address = None
        for link in headers.get_all("Link") or []:
            if 'rel="next"' in link:
                address = link[1 : link.index(">")]
        pages += 1
    return graph, pages


@proof
def the_catalog_conforms_to_dcat_ap(tally, service):
    graph, _ = read(service)

    def complete():
        found = {str(name) for dataset in graph.subjects(rdflib.RDF.type, DCAT.Dataset) for name in graph.objects(dataset, DCT.identifier)}
        assert found == set(service.names), found ^ set(service.names)

    def conforms(shapes):
        valid, _, report = pyshacl.validate(graph, shacl_graph=str(SHAPES / shapes), shacl_graph_format="turtle")
        assert valid, report[:3000]

    tally.check("the catalog has every dataset", complete)
    tally.check("the constraints of DCAT-AP hold", lambda: conforms("shapes.ttl"))
    tally.check("the ranges of DCAT-AP hold", lambda: conforms("range.ttl"))
