"""The screens of sign-up, from the form to an account, by keyboard alone. Needs a service whose mails wait for the operator."""

import json
import re
import subprocess
import uuid

from tally import proof

# The form of sign-up wants to be this old, in milliseconds.
FORM_AGE = 2_300
TABS = 40


def press(page, text):
    """Tabs on to the element whose text begins with `text`, or whose name it is."""
    for _ in range(TABS):
        page.keyboard.press("Tab")
        if page.evaluate("text => { const one = document.activeElement; return one.innerText?.startsWith(text) || one.name === text }", text):
            return
    raise AssertionError(f"no Tab reaches {text!r} on {page.url}")


def submit(page, text):
    press(page, text)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def mailed_link(yearbook, address):
    """The link of the last mail to `address`, which the operator passes on."""
    printed = subprocess.run([*yearbook, "signup", "outbox", "--json"], capture_output=True, text=True, timeout=60, check=True).stdout
    mail = [mail for mail in json.loads(printed) if mail["to"] == address][-1]
    return re.search(r"https?://\S+", mail["text"])[0]


def ask_for_link(page, base, path, address):
    page.goto(base + path)
    page.wait_for_timeout(FORM_AGE)
    press(page, "email")
    page.keyboard.type(address)
    with page.expect_navigation():
        page.keyboard.press("Enter")


@proof
def signs_up_by_keyboard(context, base, yearbook, seen):
    """`seen` takes the page at each screen, under a name for it."""
    page = context.new_page()
    address = f"{uuid.uuid4().hex}@example.org"
    ask_for_link(page, base, "/signup", "no address")
    assert page.title().startswith("Error: "), page.title()
    assert page.locator("input[aria-invalid=true]").get_attribute("aria-describedby"), "the fault is not tied to its field"
    seen(page, "wrong")
    ask_for_link(page, base, "/signup", address)
    seen(page, "sent")
    link = mailed_link(yearbook, address)
    page.goto(link)
    seen(page, "confirm")
    submit(page, "Display my key")
    assert page.locator("code", has_text=re.compile("^yb_")).is_visible()
    seen(page, "key")
    page.goto(link)
    assert page.get_by_role("heading", level=1).inner_text() == "This link does not work"
    seen(page, "used")
    ask_for_link(page, base, "/account", address)
    page.goto(mailed_link(yearbook, address))
    seen(page, "account")
    # A group of choices is one stop, and the arrows choose in it.
    press(page, "old_key")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.value") == "now"
    submit(page, "Display a new key")
    assert page.get_by_text("The key before it has ended.").is_visible()
    page.close()
