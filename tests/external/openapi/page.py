"""/docs as a person has it: opened in a browser, read, filled in and sent.

The browser is Debian's Chromium; Playwright steers it and downloads none of its own.
"""

import json
import os
import shutil
import subprocess
import urllib.parse

from playwright import sync_api

from tally import proof

DATASET = "us_macro_quarterly"


def check(tally, base, key, document, work):
    """Opens the page once; one check after the other looks at it and uses it. Leaves pictures in `work`."""
    with sync_api.sync_playwright() as playwright:
        # Tests may run as root, where Chromium's own sandbox does not; the page is ours.
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}") if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{base}/docs")
        page.wait_for_selector("#state", state="detached")
        page.screenshot(path=work / "docs.png")

        tally.check("/docs shows every route of the document", lambda: every_route(page, document))
        tally.check("/docs names every field that is filled in", lambda: every_label(page))
        tally.check("/docs sends a request and shows the answer", lambda: sends(page, base, key))
        tally.check("/docs shows the same request for curl, without the key", lambda: same_in_curl(page, key))
        tally.check("/docs keeps the key nowhere", lambda: keeps_nothing(page, key))
        page.screenshot(path=work / "docs_sent.png")
        tally.check("/docs asks this service alone and the browser has no complaint", lambda: quiet(base, asked, said))
        tally.check("/docs shows a refusal as one", lambda: refused(page))
        page.set_viewport_size({"width": 360, "height": 800})
        page.screenshot(path=work / "docs_narrow.png")
        tally.check("/docs fits a narrow window", lambda: fits(page))
        browser.close()


def every_route(page, document):
    # HEAD is described for programs; the page shows what GET does.
    wanted = {item["get"]["operationId"] for item in document["paths"].values()}
    sections = page.locator("section.route").evaluate_all("found => found.map(section => section.id)")
    linked = page.locator("#index a").evaluate_all("found => found.map(link => link.hash.slice(1))")
    assert wanted == set(sections) == set(linked), (wanted, sections, linked)
    assert len(sections) == len(linked) == len(wanted), "a route stands there twice"
    text = page.locator("#routes").inner_text()
    for path in document["paths"]:
        assert path in text, f"{path} is not shown"


def every_label(page):
    nameless = page.locator("input, select, button").evaluate_all(
        "found => found.filter(one => !one.labels?.length && !one.textContent).map(one => one.outerHTML)"
    )
    assert not nameless, nameless


def route(page):
    """The form for rows."""
    return page.locator("section.route").filter(has=page.locator("p.address code", has_text="/v1/datasets/{name}/data")).locator("form")


def fill(page):
    form = route(page)
    form.locator("[name=name]").fill(DATASET)
    form.locator("[name=limit]").fill("2")
    form.locator("[name=columns]").fill("period,unemp")
    return form


@proof
def sends(page, base, key):
    page.locator("#key").fill(key)
    form = fill(page)
    with page.expect_response(lambda response: "/data" in response.url) as asked:
        form.locator("button[type=submit]").click()
    assert asked.value.url == f"{base}/v1/datasets/{DATASET}/data?limit=2&columns=period%2Cunemp", asked.value.url
    form.locator(".answer .good").wait_for()
    assert form.locator(".answer .good").inner_text().startswith("200")
    assert json.loads(shown(form)) == [{"period": "1959-Q1", "unemp": 0.058}, {"period": "1959-Q2", "unemp": 0.051}], shown(form)


def shown(form):
    return form.locator(".answer > pre").inner_text()


def same_in_curl(page, key):
    form = route(page)
    command = form.locator("> pre").inner_text()
    assert key not in command and '"X-API-Key: $KEY"' in command, command
    ran = subprocess.run(["bash", "-c", command], env={**os.environ, "KEY": key}, capture_output=True, text=True, timeout=300, check=True)
    assert json.loads(ran.stdout) == json.loads(shown(form)), ran.stdout


def keeps_nothing(page, key):
    kept = page.evaluate("() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href])")
    assert key not in kept and json.loads(kept)[:3] == ["", {}, {}], kept


@proof
def quiet(base, asked, said):
    host = urllib.parse.urlsplit(base).netloc
    others = [address for address in asked if not address.startswith("data:") and urllib.parse.urlsplit(address).netloc != host]
    assert len(asked) >= 5 and not others, others
    assert not said, said


def refused(page):
    page.locator("#key").fill("")
    form = fill(page)
    form.locator("button[type=submit]").click()
    form.locator(".answer .bad").wait_for()
    assert form.locator(".answer .bad").inner_text().startswith("401")
    assert json.loads(shown(form))["detail"]


def fits(page):
    width, window = page.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
    assert width <= window, f"{width} pixels in a window of {window}"
