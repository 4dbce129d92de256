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

import airbyte
import dbt_sources
import factory
import fivetran
import loading
import meltano
import month
import packages
import power_query
import quoting
import revisions
import scripts
import service
import unusual
from crowd import Crowd
from tally import Tally


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--base", required=True, help="address of the server")
    arguments.add_argument("--admin", required=True, help="address of its admin listener")
    arguments.add_argument("--meltano", required=True, type=pathlib.Path, help="the program meltano")
    arguments.add_argument("--loaders", required=True, type=pathlib.Path, help="a Python with dlt, dbt, frictionless and readers")
    arguments.add_argument("--airbyte", required=True, type=pathlib.Path, help="the program source-declarative-manifest")
    arguments.add_argument("--powerquery", type=pathlib.Path, help="npm's packages, with the parser of M; left out where there is no npm")
    arguments.add_argument("--r", action="store_true", help="whether there is R")
    arguments.add_argument("--work", required=True, type=pathlib.Path, help="an empty folder")
    arguments.add_argument("publish", nargs="+", help="command that publishes the second version of synthetic_nz_retail_quarterly")
    given = arguments.parse_args()
    unlimited = service.Server(given.base, os.environ["YEARBOOK_KEY"])
    starter = service.Server(given.base, os.environ["YEARBOOK_STARTER_KEY"])
    crowd = Crowd(starter, given.admin)
    tally = Tally("integrations")
    factory.check(tally, unlimited, starter)
    quoting.check(tally, unlimited, given.publish[:-1], given.work / "quoting")

    def revise(rows):
        revisions.publish(given.publish[:-1], unlimited, given.work / "revisions", rows)
        return True

    tally.check("a dataset that changes is published", lambda: revise(revisions.FIRST))
    published = given.publish[:-1], unlimited, given.loaders, given.work / "unusual"
    tally.check("a dataset with unusual names and numbers is published", lambda: unusual.publish(*published))
    packages.check(tally, unlimited, given.loaders, given.work / "frictionless")
    scripts.check(tally, starter, unlimited, given.loaders, given.r, given.work / "scripts")
    if given.powerquery:
        power_query.check(tally, starter, given.powerquery, given.work / "power-query")
    pipeline, source = given.work / "dlt", given.work / "airbyte"
    loaded = loading.check_first(tally, starter, unlimited, given.loaders, pipeline)
    if loaded:
        dbt_sources.check(tally, unlimited, given.loaders, pipeline / "yearbook.duckdb", given.work / "dbt")
    read = airbyte.check_first(tally, starter, unlimited, given.airbyte, source, crowd)
    projects = given.work / "meltano", given.work / "fivetran"
    first = meltano.check_first(tally, starter, unlimited, given.meltano, projects[0], crowd)
    synced = fivetran.check_first(tally, starter, unlimited, projects[1])
    tally.check("a new version is published meanwhile", lambda: revisions.publish_and_wait(given.publish, unlimited, fivetran.CHANGED))
    if synced:
        fivetran.check_second(tally, starter, unlimited, projects[1], synced)
    tally.check("the dataset that changes does", lambda: revise(revisions.SECOND))
    if first:
        meltano.check_second(tally, starter, unlimited, given.meltano, projects[0], first)
    if loaded:
        month.wait_for_room(service.SECONDS / 2)
        loading.check_second(tally, starter, unlimited, given.loaders, pipeline)
    if read:
        airbyte.check_second(tally, starter, unlimited, given.airbyte, source, read)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
