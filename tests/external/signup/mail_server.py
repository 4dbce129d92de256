"""A mail server that does what a test wants: takes mails, refuses them, is slow, or is not there."""

import asyncio
import email

from aiosmtpd.controller import Controller
from ports import HOST
from waiting import until


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

    def wait(self, address):
        """The one mail to `address`."""
        found = until(lambda: [mail for mail in self.boxes.mails if mail[1] == [address]], f"a mail to {address}")
        assert len(found) == 1, f"{len(found)} mails to {address}"
        return found[0][0], email.message_from_bytes(found[0][2]), found[0][2]

    def count(self, address):
        return sum(mail[1] == [address] for mail in self.boxes.mails)
