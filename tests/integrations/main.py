"""Generates projects for data tools from a running service and uses them as their owners would: with
the tools themselves, or with the models that the tools publish.

Run by `cargo xtask test`. Keys come in YEARBOOK_KEY (unlimited) and YEARBOOK_STARTER_KEY (row cap and
burst limit small, so that paging and waiting happen). Prints one line a check and, last,
`integrations: N passed, N failed`.
"""

import argparse
import os
import pathlib
import sys

import factory
import fivetran
import meltano
import quoting
import service
from tally import Tally


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--base", required=True, help="address of the server")
    arguments.add_argument("--meltano", required=True, type=pathlib.Path, help="the program meltano")
    arguments.add_argument("--work", required=True, type=pathlib.Path, help="an empty folder")
    arguments.add_argument("publish", nargs="+", help="command that publishes the second version of us_macro_quarterly")
    given = arguments.parse_args()
    unlimited = service.Server(given.base, os.environ["YEARBOOK_KEY"])
    starter = service.Server(given.base, os.environ["YEARBOOK_STARTER_KEY"])
    tally = Tally("integrations")
    factory.check(tally, unlimited, starter)
    quoting.check(tally, unlimited, given.publish[:-1], given.work / "quoting")
    projects = given.work / "meltano", given.work / "fivetran"
    first = meltano.check_first(tally, starter, unlimited, given.meltano, projects[0])
    synced = fivetran.check_first(tally, starter, unlimited, projects[1])
    tally.check("a new version is published meanwhile", lambda: service.run(given.publish))
    if first:
        meltano.check_second(tally, starter, unlimited, given.meltano, projects[0], first)
    if synced:
        fivetran.check_second(tally, starter, unlimited, projects[1], synced)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
