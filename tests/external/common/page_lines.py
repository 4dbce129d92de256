"""Lines to copy, as the page of a dataset shows them. Knows where a page has them; runs nothing."""

import html.parser

import patient

# A table with a date axis, a long one, and one with geometry, whose lines ask for some rows alone.
DATASETS = ["us_macro_quarterly", "us_unemployment_by_industry", "london_boroughs"]


class _Figures(html.parser.HTMLParser):
    """Texts of the figures that a button copies, by their captions."""

    def __init__(self):
        super().__init__()
        self.found, self.caption, self.inside = {}, "", None

    def handle_starttag(self, tag, attributes):
        if tag == "figcaption":
            self.caption = ""
        if tag in ("figcaption", "code"):
            self.inside = tag

    def handle_endtag(self, tag):
        if tag == self.inside:
            self.inside = None

    def handle_data(self, data):
        if self.inside == "figcaption":
            self.caption += data
        elif self.inside == "code":
            self.found[self.caption] = self.found.get(self.caption, "") + data


def lines(base, name):
    """The lines of a dataset's page by tool: curl, Python, R, DuckDB, Excel, Spreadsheet."""
    _, _, body = patient.fetch(f"{base}/datasets/{name}", headers={"Accept": "text/html"})
    found = {}
    for figure in body.decode().split('<figure class="copy">')[1:]:
        parser = _Figures()
        parser.feed(figure.split("</figure>")[0])
        found |= parser.found
    return found


def rows(base, name, key, limit=None):
    """The number of rows that a line reads: all, or `limit` at most."""
    _, headers, _ = patient.fetch(f"{base}/v1/datasets/{name}/data?limit=1", key, method="HEAD")
    total = int(headers["X-Service-Total-Rows"])
    return min(total, limit) if limit else total
