"""The release calendar: icalendar reads what a package with titles that try to leave their places plans, and JSON and Atom say the
same."""

import datetime
import json
import pathlib
import subprocess
import tempfile

import feeds
import icalendar
from tally import proof
from waiting import until

NAME = "planned_releases"
# By days from now.
TITLES = {
    -91: 'Prices, "quoted"; back\\slash \\n and \\, more',
    -1: "</script><b>]]> & <![CDATA[ END:VEVENT",
    1: "\u202efrom right to left",
    30: "💩" * 60,
    60: "Māori " * 60 + "x",
    365: "x" * 2_000,
}


def publish(yearbook):
    """Publishes a package that plans the titles; the times at which it does."""
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    plans = {now + datetime.timedelta(days=days): title for days, title in TITLES.items()}
    source = pathlib.Path(__file__).parent / "hostile/hostile_script"
    package = json.loads((source / "datapackage.json").read_text())
    package["name"] = package["resources"][0]["name"] = NAME
    package["yearbook"]["releases"] = [{"at": at.isoformat(), "title": title} for at, title in plans.items()]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "datapackage.json"
        path.write_text(json.dumps(package))
        (path.parent / "table.csv").write_text((source / "table.csv").read_text())
        subprocess.run([*yearbook, "publish", path], check=True, capture_output=True, timeout=300)
    return plans


def listed(service):
    return [one for one in json.loads(service.get("/calendar.json")[1])["releases"] if one["name"] == NAME]


@proof
def calendars_are_read_by_another_program(tally, service, yearbook):
    plans = publish(yearbook)
    until(lambda: listed(service), "the calendar lists what was published")

    def json_says_what_was_planned():
        found = {datetime.datetime.fromisoformat(one["at"]): one["title"] for one in listed(service)}
        assert found == plans, found
        states = [one["status"] for one in listed(service)]
        # The version of now came after the first two were due, and before the second plan nothing did.
        assert states == ["late", "released", "coming", "coming", "coming", "coming"], states

    def icalendar_reads_the_same():
        headers, body = service.get("/calendar.ics")
        assert headers["Content-Type"] == "text/calendar; charset=utf-8", headers["Content-Type"]
        assert all(len(line) <= 75 for line in body.split(b"\r\n")), "a line is longer than 75 bytes"
        calendar = icalendar.Calendar.from_ical(body)
        assert not calendar.errors and calendar["VERSION"] == "2.0" and calendar["PRODID"]
        releases = json.loads(service.get("/calendar.json")[1])["releases"]
        events = calendar.walk("VEVENT")
        assert len(events) == len(releases) >= len(TITLES)
        for event, release in zip(events, releases, strict=True):
            assert not event.errors, event.errors
            assert (event["UID"], event["SUMMARY"], event["SEQUENCE"]) == (release["uid"], release["title"], release["sequence"])
            assert event["DTSTART"].dt == datetime.datetime.fromisoformat(release["at"])
            assert event["DTSTAMP"].dt == datetime.datetime.fromisoformat(release["announced_at"])
            assert event.get("URL") == release["page"], event.get("URL")
            assert event["STATUS"] == ("CONFIRMED" if release["status"] == "released" else "TENTATIVE")
            assert (release["snapshot_id"] or "") in event["DESCRIPTION"]
        assert len({event["UID"] for event in events}) == len(events)

    def a_time_that_is_none_is_noticed():
        body = service.get("/calendar.ics")[1]
        spoilt = icalendar.Calendar.from_ical(body.replace(b"\r\nDTSTART:", b"\r\nDTSTART:on ", 1))
        assert any(event.errors for event in spoilt.walk("VEVENT")), "icalendar takes what RFC 5545 forbids"

    def the_feed_says_the_same():
        feed = feeds.read(service, "/calendar/feed.xml")
        of_all = {f"urn:uuid:{one['uid']}": one["title"] for one in json.loads(service.get("/calendar.json")[1])["releases"]}
        assert {entry.id for entry in feed.entries} <= of_all.keys() and len(feed.entries) == min(50, len(of_all))

    tally.check("/calendar.json lists what a package plans", json_says_what_was_planned)
    tally.check("icalendar reads /calendar.ics as /calendar.json says it", icalendar_reads_the_same)
    tally.check("icalendar notices a time that is none", a_time_that_is_none_is_noticed)
    tally.check("feedparser reads /calendar/feed.xml", the_feed_says_the_same)
