"""Documents in XML against the schemas of their specifications, by lxml. Each schema is shown a spoilt copy too, so that one that
takes everything is noticed."""

import pathlib

from lxml import etree
from tally import proof

SCHEMAS = pathlib.Path(__file__).parent / "schemas"
# A part of a document, and one in its place that its specification forbids.
SPOILT = {
    "atom": (b"<updated>", b"<updated>on "),
    "sitemap": (b"<loc>", b"<loc>mailto:"),
    "opensearch": (b"{searchTerms}", b"{words}"),
}


class Schema:
    """A schema by the name of its file."""

    def __init__(self, name):
        self.name = name
        self.grammar = etree.RelaxNG(etree.parse(SCHEMAS / f"{name}.rng"))

    def faults(self, body):
        # Nothing outside of the document is read.
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        return [] if self.grammar.validate(etree.fromstring(body, parser)) else [str(one) for one in self.grammar.error_log]

    def judge(self, body):
        assert not (faults := self.faults(body)), faults[:5]
        part, other = SPOILT[self.name]
        assert part in body and self.faults(body.replace(part, other, 1)), "the schema takes what its specification forbids"


@proof
def documents_in_xml_fit_their_schemas(tally, service):
    kinds = {
        "atom": ["/feed.xml", "/calendar/feed.xml", *(f"/datasets/{name}/feed.xml" for name in service.names)],
        "sitemap": ["/sitemap.xml", "/sitemap.xml?part=1"],
        "opensearch": ["/opensearch.xml"],
    }
    for kind, paths in kinds.items():
        schema = Schema(kind)
        for path in paths:
            tally.check(f"{path} fits the schema {kind}", lambda: schema.judge(service.get(path)[1]))
