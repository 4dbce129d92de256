"""A mail server that does what a test wants: takes mails, refuses them, is slow, or is not there."""

import asyncio
import email
import time

from aiosmtpd.controller import Controller

HOST = "127.0.0.1"


class Mailboxes:
    """Mails that arrived, and the answers to the next ones."""

    def __init__(self):
        self.mails, self.answers, self.delay, self.begun = [], [], 0.0, 0

    async def handle_DATA(self, server, session, envelope):
        self.begun += 1
        await asyncio.sleep(self.delay)
        if self.answers:
            return self.answers.pop(0)
        self.mails.append((envelope.mail_from, list(envelope.rcpt_tos), envelope.content))
        return "250 taken"


class MailServer:
    def __init__(self, port):
        self.port, self.boxes, self.controller = port, Mailboxes(), None
        self.start()

    def start(self):
        self.controller = Controller(self.boxes, hostname=HOST, port=self.port, data_size_limit=1 << 20)
        self.controller.start()

    def stop(self):
        self.controller.stop()

    def wait(self, address, within=5.0):
        """The one mail to `address`, within so many seconds."""
        ends = time.monotonic() + within
        while time.monotonic() < ends:
            found = [mail for mail in self.boxes.mails if mail[1] == [address]]
            if found:
                assert len(found) == 1, f"{len(found)} mails to {address}"
                return found[0][0], email.message_from_bytes(found[0][2]), found[0][2]
            time.sleep(0.05)
        raise AssertionError(f"no mail to {address} within {within} s")

    def count(self, address):
        return sum(mail[1] == [address] for mail in self.boxes.mails)
