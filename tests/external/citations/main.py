"""Has the tools of citation formats read the citations of every dataset, and computes digests of what the server sends.

Run by `cargo xtask test`; takes the key from YEARBOOK_KEY. The last line counts what passed and what failed."""

import argparse
import contextlib
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import patient
from cffconvert.cli.create_citation import create_citation
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from datacite import schema45
from pybtex import PybtexEngine, database
from published_log import another_implementation_makes_the_same_log
from pybtex.richtext import Text
from tally import Tally, proof

TYPES = {"string": 0, "integer": 1, "number": 2, "boolean": 3, "date": 4}


def ask(base, path, key=None):
    """Headers and text of an answer with status 200."""
    status, headers, body = patient.fetch(f"{base}{path}", key)
    assert status == 200, f"{path}: {status}"
    return headers, body.decode()


def vector_digest(columns, rows):
    """The digest of a table of texts, by nothing but the description in docs/spec/citations.md."""
    result = hashlib.sha256(b"yearbook-result-1" + struct.pack("<Q", len(rows)))
    for index, column in enumerate(columns):
        values = hashlib.sha256()
        for row in rows:
            text = row[index]
            if text is None:
                values.update(b"\0")
                continue
            kind = column["type"]
            if kind == "integer":
                value = struct.pack("<q", int(text))
            elif kind == "number":
                number = float(text)
                value = struct.pack("<Q", 0x7FF8 << 48) if number != number else struct.pack("<d", number)
            elif kind == "boolean":
                value = bytes([text == "true"])
            else:
                value = struct.pack("<I", len(text.encode())) + text.encode()
            values.update(b"\1" + value)
        name = column["name"].encode()
        result.update(struct.pack("<I", len(name)) + name + bytes([TYPES[column["type"]]]) + values.digest())
    return f"yb1:{result.hexdigest()}"


@proof
def vectors_are_those_of_the_description(tally, path):
    for case in json.loads(path.read_text())["cases"]:
        same = vector_digest(case["columns"], case["rows"]) == case["digest"]
        tally.check(f"vector: {case['title']}", lambda same=same: expect(same, "another digest"))


def expect(condition, why):
    assert condition, why
    return True


@proof
def formats_are_read_by_their_tools(tally, base, path, title, work):
    """`title`: of the dataset, on one line."""

    def cff():
        file = work / "CITATION.cff"
        file.write_text(ask(base, f"{path}format=cff")[1])
        citation = create_citation(str(file), None)
        with contextlib.redirect_stdout(io.StringIO()):
            citation.validate()
        return expect(citation.cffobj["title"] == title, citation.cffobj["title"])

    def datacite():
        record = json.loads(ask(base, f"{path}format=datacite-json")[1])
        schema45.validator.validate(record)
        return expect(record["titles"][0]["title"] == title, record["titles"])

    def csl():
        items = json.loads(ask(base, f"{path}format=csl-json")[1])
        style = CitationStylesStyle("harvard-cite-them-right", validate=False)
        bibliography = CitationStylesBibliography(style, CiteProcJSON(items), formatter.plain)
        bibliography.register(Citation([CitationItem(items[0]["id"])]))
        text = str(bibliography.bibliography()[0])
        words = [word for word in re.findall(r"\w+", title) if len(word) > 3]
        return expect(all(word.lower() in text.lower() for word in words), text)

    def ris():
        text = ask(base, f"{path}format=ris")[1]
        lines = text.split("\r\n")
        tags = [line[:6] for line in lines if line]
        good = all(re.fullmatch(r"[A-Z][A-Z0-9]  - ", tag) for tag in tags)
        return expect(good and tags[0] == "TY  - " and tags.count("ER  - ") == 1 and f"TI  - {title}" in lines, text)

    def bibtex():
        text = ask(base, f"{path}format=bibtex")[1]
        ((key, entry),) = database.parse_string(text, "bibtex").entries.items()
        expect(entry.type == "misc" and "Licence: " in entry.fields["note"], text)
        # Without TeX's braces and escapes, the title is the dataset's own; the agency is one name.
        expect(Text.from_latex(entry.fields["title"]).render_as("text") == title, entry.fields["title"])
        expect(len(entry.persons["author"]) == 1 and entry.persons["author"][0].last_names, text)
        listed = PybtexEngine().format_from_string(text, style="plain", citations=[key], output_backend="plaintext")
        return expect(title.rstrip(".") in " ".join(listed.split()), listed)

    def classic_bibtex():
        (work / "cited.bib").write_text(ask(base, f"{path}format=bibtex")[1])
        (work / "cited.aux").write_text("\\citation{*}\n\\bibdata{cited}\n\\bibstyle{plain}\n")
        done = subprocess.run(["bibtex", "cited"], cwd=work, capture_output=True, text=True, timeout=300, check=False)
        return expect(done.returncode == 0, done.stdout)

    checks = {"cff": cff, "datacite-json": datacite, "csl-json": csl, "ris": ris, "bibtex": bibtex}
    if shutil.which("bibtex"):
        checks["bibtex by TeX's own program"] = classic_bibtex
    for name, check in checks.items():
        tally.check(f"{path}{name}", check)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--base", required=True)
    arguments.add_argument("--vectors", required=True, type=pathlib.Path, help="tests/fixtures/result_digest.json")
    arguments.add_argument("--work", required=True, type=pathlib.Path, help="a folder for files of citations")
    given = arguments.parse_args()
    key = os.environ["YEARBOOK_KEY"]
    tally = Tally("citations")
    vectors_are_those_of_the_description(tally, given.vectors)
    cited_paths = []
    for listed in json.loads(ask(given.base, "/v1/datasets", key)[1]):
        name = listed["name"]
        title = " ".join((listed["title"] or name).split())
        headers, _ = ask(given.base, f"/v1/datasets/{name}/data?limit=1", key)
        cited = re.search(r'<([^>]*)>; rel="cite-as"', ", ".join(headers.get_all("link") or []))
        path = cited.group(1).removeprefix(given.base)
        cited_paths.append(path.partition("?")[0])
        tally.group(path, lambda path=path, title=title: formats_are_read_by_their_tools(
            tally, given.base, f"{path}{'&' if '?' in path else '?'}", title, given.work))
    tally.group("the log", lambda: another_implementation_makes_the_same_log(tally, given.base, cited_paths))
    sys.exit(tally.end())


if __name__ == "__main__":
    main()
