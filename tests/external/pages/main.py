"""Opens every page of the catalogue in a browser: without JavaScript, by keyboard, in light and dark, narrow and wide.

Run by `cargo xtask test`. The last line counts what passed and what failed."""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import urllib.parse

import patient
import signup
from playwright import sync_api

from tally import Tally, proof
from waiting import until

HERE = pathlib.Path(__file__).parent
# A long table, a wide one, places across 180°, a table without dates, and words that try to leave their places.
DATASETS = ["us_unemployment_by_industry", "co2_concentration_monthly", "nz_regional_councils_2018", "us_states_crime_2009", "hostile_words"]
OTHERS = ["/", "/datasets", "/datasets?q=unemployment&shape=series", "/datasets?q=zzzzqqqq", "/calendar", "/formats", "/integrations", "/signup", "/account", "/nowhere"]
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# Bytes that a page may be, compressed.
MAX_BYTES = 12 << 10
# Pictures of the README: path, and the element that is shown; the window without one.
README = {"catalogue": ("/datasets?q=unemployment", None), "chart": (f"/datasets/{DATASETS[1]}", "figure.figure img")}
README_BYTES = 150_000


def fetch(address, **headers):
    """Status, headers and body of a page."""
    return patient.fetch(address, headers={"Accept": "text/html", **headers})


class Pages:
    """The addresses to look at: those of the list, each dataset, its versions and its citation."""

    def __init__(self, base):
        self.base = base
        wanted = [*OTHERS, *(f"/datasets/{name}" for name in DATASETS), f"/datasets/{DATASETS[0]}/versions"]
        self.paths = [path for path in wanted if path == "/nowhere" or fetch(base + path)[0] == 200]
        body = fetch(f"{base}/datasets/{DATASETS[0]}")[2].decode()
        self.paths += [link for link in [body.split('href="/cite/')[-1].split('"')[0]] if link and fetch(f"{base}/cite/{link}")[0] == 200 for link in [f"/cite/{link}"]]


@proof
def valid(pages, modules):
    """html-validate has nothing to say."""
    texts = {path: fetch(pages.base + path)[2].decode() for path in pages.paths}
    ran = subprocess.run(["node", HERE / "validate.cjs", modules.parent], input=json.dumps(texts), capture_output=True, text=True, timeout=600, check=True)
    findings = json.loads(ran.stdout)
    assert not findings, "\n    ".join(["", *findings[:40]])


@proof
def small(pages):
    """Every page fits its bound, compressed as browsers ask for it."""
    heavy = {path: len(body) for path in pages.paths for body in [fetch(pages.base + path, **{"Accept-Encoding": "gzip"})[2]] if len(body) > MAX_BYTES}
    assert not heavy, heavy


class Watch:
    """Requests and complaints of one browser page."""

    def __init__(self, page, base):
        self.host, self.others, self.said = urllib.parse.urlsplit(base).netloc, [], []
        page.on("request", self.requested)
        # A page that is an error on purpose is reported as one.
        page.on("console", lambda message: self.said.append(message.text) if message.type in ("error", "warning") and "status of 404" not in message.text else None)
        page.on("pageerror", lambda error: self.said.append(str(error)))

    def requested(self, request):
        if not request.url.startswith("data:") and urllib.parse.urlsplit(request.url).netloc != self.host:
            self.others.append(request.url)


@proof
def keeps_to_itself(browser, pages):
    """No request to another host, and no violation of the policy, with scripts on."""
    page = browser.new_page()
    watch = Watch(page, pages.base)
    for path in pages.paths:
        page.goto(pages.base + path)
    page.close()
    assert not watch.others and not watch.said, (watch.others, watch.said)


def violations(page, axe, name):
    """Sentences of axe-core about the page that is open."""
    page.evaluate(axe)
    result = page.evaluate("tags => axe.run(document, { runOnly: { type: 'tag', values: tags } })", WCAG)
    return [
        f"{name}: {violation['id']}: {node['target']}: {node['failureSummary']}" for violation in result["violations"] for node in violation["nodes"][:3]
    ]


@proof
def accessible(browser, pages, axe, scheme, width):
    """axe-core finds nothing against WCAG 2.2 AA."""
    # axe-core is put in from outside, which the policy rightly forbids to everybody else.
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    page = context.new_page()
    findings = []
    for path in pages.paths:
        page.goto(pages.base + path)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        findings += violations(page, axe, path)
    context.close()
    assert not findings, "\n    ".join(["", *findings[:20]])


@proof
def works_without_script(browser, pages):
    """From the home page by search and facet to a number and another series, without JavaScript."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{pages.base}/")
    page.get_by_label("Search the datasets").fill("unemployment industry")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="series", exact=True).first.click()
    page.wait_for_url(lambda url: "shape=series" in url and "q=unemployment" in url)
    page.locator("ol.results a").first.click()
    page.wait_for_url(f"{pages.base}/datasets/us_unemployment_by_industry")
    assert page.locator("#latest").is_visible()
    page.locator("summary", has_text="Other series").click()
    page.locator("details[open] a").first.click()
    page.wait_for_url(lambda url: "?series=" in url)
    assert page.locator("#preview table").first.is_visible()
    assert page.locator("figure.copy button").count() == 0
    context.close()


def focus(page, attribute, value):
    """Waits until the element that has the focus is the one with this attribute."""
    until(lambda: page.evaluate(f"document.activeElement.{attribute}") == value, f"the focus is on {value}", within=30)


@proof
def works_by_keyboard(browser, pages):
    """Tab reaches the skip link first, then every link and field, each with a focus to be seen; Enter searches."""
    # Where motion is reduced, what has the focus is in view at once.
    page = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page.goto(f"{pages.base}/")
    page.keyboard.press("Tab")
    focus(page, "className", "skip")
    page.keyboard.press("Enter")
    focus(page, "id", "main")
    page.keyboard.press("Tab")
    focus(page, "id", "q")
    page.keyboard.type("mauna loa")
    page.keyboard.press("Enter")
    page.wait_for_url("**/datasets?q=mauna*")
    page.goto(f"{pages.base}/datasets/{DATASETS[0]}")
    seen, hidden = 0, []
    for _ in range(200):
        page.keyboard.press("Tab")
        found = page.evaluate(
            """() => { const one = document.activeElement; if (one === document.body) return null; const box = one.getBoundingClientRect();
            const style = getComputedStyle(one);
            return { name: one.outerHTML.slice(0, 80), shown: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
                inside: box.bottom > 0 && box.top < innerHeight }; }"""
        )
        if found is None:
            break
        seen += 1
        if not (found["shown"] and found["inside"]):
            hidden.append(found)
    page.close()
    assert seen > 20 and not hidden, (seen, hidden[:5])


@proof
def fits(browser, pages):
    """No page scrolls sideways at 320 pixels, which is 1280 at 400 %."""
    page = browser.new_page(viewport={"width": 320, "height": 800})
    wide = []
    for path in pages.paths:
        page.goto(pages.base + path)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 320:
            wide.append((path, width))
    page.close()
    assert not wide, wide


@proof
def prints(browser, pages):
    """In print, nothing that only a screen can use is left, and a page of A4 holds the words of every page."""
    page = browser.new_page(viewport={"width": 794, "height": 1123})
    page.emulate_media(media="print")
    faults = []
    for path in pages.paths:
        page.goto(pages.base + path)
        shown = page.evaluate("[...document.querySelectorAll('nav, button, input, .skip')].filter(one => one.offsetParent).map(one => one.outerHTML.slice(0, 60))")
        # A table of many columns is as wide as its numbers; all else fits.
        wide = page.evaluate(
            """[...document.querySelectorAll("main *, footer *")].filter(one => one.getBoundingClientRect().right > 795 && !one.closest(".scroll") &&
            !one.closest("details:not([open])") && !one.matches(".hidden, .hidden *")).map(one => one.outerHTML.slice(0, 60))"""
        )
        faults += [(path, shown[:2], wide[:2])] if shown or wide else []
    page.close()
    assert not faults, faults[:5]


@proof
def keeps_forced_colours(browser, pages):
    """With forced colours, the current entry of the menu, the focus and the edges of buttons are still to be seen."""
    context = browser.new_context(forced_colors="active", reduced_motion="reduce")
    page = context.new_page()
    for path in ("/datasets", "/signup"):
        page.goto(pages.base + path)
        colours = page.evaluate("[...document.querySelectorAll('.masthead li a')].map(one => [one.ariaCurrent, getComputedStyle(one).borderBottomColor])")
        current = [colour for chosen, colour in colours if chosen]
        others = {colour for chosen, colour in colours if not chosen}
        # A border that is transparent is drawn there after all; one in the colour of the page is not seen.
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert len(current) == 1 and others == {paper} and current[0] != paper, (paper, colours)
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        edge = page.evaluate("getComputedStyle(document.querySelector('main button')).borderTopWidth")
        assert (outline, edge) == ("solid", "1px"), (outline, edge)
    context.close()


def signed_up(browser, pages, axe, yearbook, work):
    """axe-core finds nothing on the screens of sign-up, which leave pictures; none scrolls sideways at 320 pixels."""
    findings = []

    def seen(page, name):
        page.screenshot(path=work / f"signup_{name}.png", full_page=True)
        width = page.evaluate("document.documentElement.scrollWidth")
        findings.extend(violations(page, axe, name) + ([f"{name}: {width} pixels wide"] if width > 320 else []))

    context = browser.new_context(viewport={"width": 320, "height": 800}, reduced_motion="reduce", bypass_csp=True)
    signup.signs_up_by_keyboard(context, pages.base, yearbook, seen)
    context.close()
    assert not findings, "\n    ".join(["", *findings[:20]])


@proof
def targets_are_large(browser, pages):
    """Every link outside of a sentence, every button and field is 24 pixels high (WCAG 2.5.8)."""
    page = browser.new_page(viewport={"width": 390, "height": 800})
    small_ones = []
    for path in pages.paths:
        page.goto(pages.base + path)
        small_ones += page.evaluate(
            """path => [...document.querySelectorAll("nav a, .facet a, .columns a, .chosen a, button, input:not([type=hidden]), summary")]
            .map(one => [path, one.outerHTML.slice(0, 80), one.getBoundingClientRect().height]).filter(([, , high]) => high > 0 && high < 24)""",
            path,
        )
    page.close()
    assert not small_ones, small_ones[:10]


def copies(browser, pages):
    """The button copies the text beside it."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{pages.base}/datasets/{DATASETS[0]}")
    figure = page.locator("figure.copy", has_text="Data address")
    figure.get_by_role("button").click()
    wanted = f"{pages.base}/v1/series/{DATASETS[0]}/data"
    until(lambda: page.evaluate("navigator.clipboard.readText()") == wanted, f"{wanted} is copied", within=30)
    context.close()


@proof
def opens_in(browser, pages):
    """A dataset with geometry has lines for QGIS, GDAL and an assistant, whose addresses answer; one without has the last alone."""
    page = browser.new_page()
    found = {}
    for name in (DATASETS[1], DATASETS[2]):
        page.goto(f"{pages.base}/datasets/{name}")
        shown = page.evaluate("[...document.querySelectorAll('#open-in ~ figure.copy')].map(one => [one.querySelector('figcaption').innerText, one.querySelector('code').innerText])")
        found[name] = dict(shown)
    page.close()
    places, numbers = found[DATASETS[2]], found[DATASETS[1]]
    assert {"QGIS", "GDAL", "Assistant"} <= places.keys() and not {"QGIS", "GDAL"} & numbers.keys() and "Assistant" in numbers, found
    assert fetch(places["QGIS"], Accept="application/json")[0] == 200, places
    assert f"OAPIF:{places['QGIS']} {DATASETS[2]}" in places["GDAL"], places
    server = json.loads(numbers["Assistant"])["mcpServers"]["yearbook"]
    assert server["url"].startswith(f"{pages.base}/api/"), server


def pictures(browser, pages, work):
    """Leaves pictures for people to look at: in light and dark, as printed, with forced colours, and at 400 %."""
    looks = {
        "print": ({"viewport": {"width": 794, "height": 1123}}, "print"),
        "forced": ({"viewport": {"width": 1280, "height": 800}, "forced_colors": "active"}, "screen"),
        "zoomed": ({"viewport": {"width": 320, "height": 256}, "device_scale_factor": 4}, "screen"),
    }
    for look, (how, media) in looks.items():
        context = browser.new_context(**how)
        page = context.new_page()
        page.emulate_media(media=media)
        for name, path in (("home", "/"), ("dataset", f"/datasets/{DATASETS[0]}"), ("map", f"/datasets/{DATASETS[2]}")):
            page.goto(pages.base + path)
            page.screenshot(path=work / f"{name}_{look}.png", full_page=look == "print")
        context.close()
    for scheme in ("light", "dark"):
        for width in (320, 768, 1440):
            context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
            page = context.new_page()
            for name, path in (("home", "/"), ("search", OTHERS[1]), ("dataset", f"/datasets/{DATASETS[0]}")):
                page.goto(pages.base + path)
                page.screenshot(path=work / f"{name}_{width}_{scheme}.png", full_page=True)
            context.close()


def readme_pictures(browser, pages, folder):
    """Makes the pictures of the README, a little finer than they are shown."""
    context = browser.new_context(viewport={"width": 960, "height": 560}, device_scale_factor=1.25, reduced_motion="reduce")
    page = context.new_page()
    for name, (path, element) in README.items():
        page.goto(pages.base + path, wait_until="networkidle")
        (page.locator(element).first if element else page).screenshot(path=folder / f"{name}.png")
    context.close()


def readme_shows(folder):
    """The README's pictures are there, and small enough to be loaded with it."""
    text = (folder.parents[1] / "README.md").read_text()
    for name in README:
        assert f"](docs/pictures/{name}.png)" in text, f"README.md does not show {name}.png"
        size = (folder / f"{name}.png").stat().st_size
        assert size < README_BYTES, f"{name}.png has {size} bytes"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--base", required=True)
    arguments.add_argument("--modules", required=True, type=pathlib.Path, help="the folder node_modules with axe-core and html-validate")
    arguments.add_argument("--work", required=True, type=pathlib.Path, help="a folder for pictures")
    arguments.add_argument("--pictures", action="store_true", help="leave pictures of pages too, for people to look at")
    arguments.add_argument("--readme", required=True, type=pathlib.Path, help="the folder of the README's pictures, made again with --pictures")
    arguments.add_argument("yearbook", nargs="+", help="the program that prints mails that wait, with its first arguments")
    given = arguments.parse_args()
    pages = Pages(given.base)
    axe = (given.modules / "axe-core" / "axe.min.js").read_text()
    tally = Tally("pages")
    tally.check("every page answers", lambda: len(pages.paths) > 12 or pages.paths)
    tally.check("html-validate has no complaint", lambda: valid(pages, given.modules))
    tally.check("pages are small", lambda: small(pages))
    with sync_api.sync_playwright() as playwright:
        # Tests may run as root, where Chromium's own sandbox does not; the pages are ours.
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tally.check("pages load nothing from another host and keep their policy", lambda: keeps_to_itself(browser, pages))
        tally.check("pages work without JavaScript", lambda: works_without_script(browser, pages))
        tally.check("pages work by keyboard", lambda: works_by_keyboard(browser, pages))
        tally.check("pages fit 320 pixels", lambda: fits(browser, pages))
        tally.check("pages print", lambda: prints(browser, pages))
        tally.check("pages keep to forced colours", lambda: keeps_forced_colours(browser, pages))
        tally.check("sign-up works by keyboard, and axe-core finds nothing", lambda: signed_up(browser, pages, axe, given.yearbook, given.work))
        tally.check("targets are large enough", lambda: targets_are_large(browser, pages))
        tally.check("texts can be copied", lambda: copies(browser, pages))
        tally.check("datasets open in other programs", lambda: opens_in(browser, pages))
        for scheme, width in (("light", 1280), ("dark", 1280), ("light", 320)):
            tally.check(f"axe-core finds nothing, {scheme}, {width} pixels", lambda: accessible(browser, pages, axe, scheme, width))
        if given.pictures:
            pictures(browser, pages, given.work)
            readme_pictures(browser, pages, given.readme)
        browser.close()
    tally.check("the README's pictures are there and small", lambda: readme_shows(given.readme))
    sys.exit(tally.end())


if __name__ == "__main__":
    main()
