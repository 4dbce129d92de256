"""Signs people up by a real mail server that is slow, refuses, is gone, and comes back; kills the service in the middle of a mail.

Run by `cargo xtask test`. Prints one line a check and, last, `signup: N passed, N failed`.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from mail_server import MailServer
from ports import HOST, free_port
from tally import Tally
from waiting import until

SENDER = "keys@data.example.org"
# A mail server that takes its time takes so many seconds for a mail; a page that waits for none is there sooner on every machine.
SLOW_SECONDS, PAGE_SECONDS = 12, 8


class Service:
    """`yearbook serve` with nothing of this machine's environment."""

    def __init__(self, binary, work, mail_port):
        self.binary, self.work, self.port = binary, work, free_port()
        self.base = f"http://{HOST}:{self.port}"
        self.log = work / "log"
        self.environment = {
            "PATH": os.environ["PATH"],
            "YEARBOOK_DATA_DIR": str(work / "data"),
            "YEARBOOK_SERVER__LISTEN": f"{HOST}:{self.port}",
            "YEARBOOK_SERVER__PUBLIC_URL": self.base,
            "YEARBOOK_SIGNUP__MODE": "smtp",
            "YEARBOOK_SIGNUP__SMTP_URL": f"smtp://{HOST}:{mail_port}",
            "YEARBOOK_SIGNUP__MAIL_FROM": SENDER,
            "YEARBOOK_SIGNUP__MAILS_A_DAY_PER_NETWORK": "1000",
            "YEARBOOK_LOG__LEVEL": "debug",
            # How fast a test asks is the machine's to say.
            "YEARBOOK_LIMITS__BURST_PER_SECOND": "0",
        }
        self.start()
        self.stamp = re.search(r'name="stamp" value="([^"]+)"', self.get("/signup"))[1]
        # A form that is younger is a robot's.
        time.sleep(2.1)

    def start(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([self.binary, "serve"], cwd=self.work, env=self.environment, stdout=log, stderr=log)
        until(self.answers, "the service answers")

    def answers(self):
        try:
            return self.get("/health")
        except OSError:
            assert self.process.poll() is None, self.log.read_text()
            return None

    def end(self, how):
        self.process.send_signal(how)
        self.process.wait(120)

    def said(self, words):
        """The number of times that the log has these words."""
        return self.log.read_text(errors="replace").count(words)

    def get(self, path, key=None):
        request = urllib.request.Request(self.base + path, headers={"X-API-Key": key} if key else {})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.read().decode()

    def post(self, path, **fields):
        body = urllib.parse.urlencode(fields).encode()
        request = urllib.request.Request(self.base + path, body, {"Origin": self.base})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.read().decode()

    def sign_up(self, address):
        """Sends the form; returns the seconds that the answer took."""
        begun = time.monotonic()
        self.post("/signup", email=address, website="", stamp=self.stamp)
        return time.monotonic() - begun

    def confirm(self, link):
        """Opens the link as scanners and people do, presses the button; returns the key."""
        path = link.removeprefix(self.base)
        for _ in range(3):
            assert "Display my key" in self.get(path)
        page = self.post("/signup/confirm", token=path.split("token=")[1])
        return re.search(r"yb_[0-9A-Za-z]+", page)[0]


def link_in(message):
    links = [line for line in message.get_payload().splitlines() if "://" in line]
    assert len(links) == 1, links
    return links[0]


def flow(tally, service, server, secrets):
    def arrives():
        service.sign_up("Ann.Lee@example.org")
        sender, message, raw = server.wait("Ann.Lee@example.org")
        assert sender == SENDER and message["From"] == SENDER and message["To"] == "Ann.Lee@example.org"
        assert raw.isascii() and message.get_content_type() == "text/plain" and not message.is_multipart()
        assert message["Auto-Submitted"] == "auto-generated" and message["Message-ID"] and message["Date"]
        return link_in(message)

    link = tally.check("a mail arrives with one link, in plain ASCII", arrives)
    key = tally.check("the button gives a key", lambda: service.confirm(link))
    tally.check("the first request with it is answered", lambda: service.get("/v1/me", key))

    def used():
        try:
            service.post("/signup/confirm", token=link.split("token=")[1])
        except urllib.error.HTTPError as refused:
            assert refused.code == 410, refused.code
            return
        raise AssertionError("the link worked twice")

    tally.check("the link works once", used)
    secrets += ["ann.lee", link.split("token=")[1], key]

    def account():
        service.sign_up("ann.lee@EXAMPLE.org")
        message = server.wait("ann.lee@example.org")[1]
        assert "/account?token=" in link_in(message), message.get_payload()

    tally.check("a known address gets the link to its account", account)


def trouble(tally, service, server):
    boxes = server.boxes

    def once_after(address, answers):
        """The seconds until a mail arrives whose first attempts get these answers."""
        boxes.answers[:] = answers
        begun = time.monotonic()
        service.sign_up(address)
        server.wait(address)
        return time.monotonic() - begun

    def temporary():
        took = once_after("greylisted@example.org", ["451 4.7.1 come back later"])
        assert took > 9, f"{took:.1f} s: the first retry is after 10 s"

    tally.check("a mail that is refused for now is sent after 10 s", temporary)
    tally.check(
        "a refusal for good that may be a wrong setting is tried again",
        lambda: once_after("policy@example.org", ["550 5.7.1 relaying denied"]),
    )

    def no_mailbox():
        boxes.answers[:] = ["550 5.1.1 <nobody@example.org> does not exist"]
        service.sign_up("nobody@example.org")
        until(lambda: not boxes.answers, "an attempt")
        # A second attempt would come after 10 s.
        time.sleep(13)
        assert server.count("nobody@example.org") == 0

    tally.check("a mailbox that does not exist is tried once", no_mailbox)

    def slow():
        boxes.delay = SLOW_SECONDS
        took = service.sign_up("slow@example.org")
        assert took < PAGE_SECONDS, f"the page took {took:.1f} s"
        server.wait("slow@example.org")
        boxes.delay = 0

    tally.check("a slow mail server slows no page", slow)

    def gone():
        server.stop()
        failed = service.said("mail not sent")
        took = service.sign_up("patient@example.org")
        assert took < PAGE_SECONDS, f"the page took {took:.1f} s"
        until(lambda: service.said("mail not sent") > failed, "an attempt without a mail server")
        server.start()
        server.wait("patient@example.org")

    tally.check("a mail outlives a mail server that is gone", gone)

    def killed():
        boxes.delay, before = 3600, boxes.begun
        service.sign_up("killed@example.org")
        until(lambda: boxes.begun > before, "the beginning of the mail")
        service.end(signal.SIGKILL)
        boxes.delay = 0
        service.start()
        # After a minute, the mail is nobody's again.
        server.wait("killed@example.org")

    tally.check("a service that is killed in the middle of a mail sends it when it is back", killed)


def traces(tally, service, secrets):
    def nothing_left():
        service.end(signal.SIGTERM)
        files = [path for path in service.work.rglob("*") if path.is_file()]
        assert any(path.name == "yearbook.db" for path in files), files
        for path in files:
            held = path.read_bytes().lower()
            for secret in [*secrets, "nobody@", "patient@", "killed@"]:
                assert secret.lower().encode() not in held, f"{secret} is in {path}"

    tally.check("no address, link or key is in the database, its log, or the log of the service", nothing_left)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--binary", required=True)
    arguments.add_argument("--work", type=pathlib.Path, required=True)
    given = arguments.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    tally, secrets = Tally("signup"), []
    server = MailServer(free_port())
    service = Service(given.binary, given.work, server.port)
    try:
        tally.group("from the form to the key", lambda: flow(tally, service, server, secrets))
        tally.group("mail servers in trouble", lambda: trouble(tally, service, server))
        tally.group("what is left behind", lambda: traces(tally, service, secrets))
    finally:
        if service.process.poll() is None:
            service.process.kill()
        server.stop()
    return tally.end()


sys.exit(main())
