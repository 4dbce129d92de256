"""A Parquet file made of pages, for plans whose answers hold less than the table. Owns the writing;
values and types stay those of the pages, dates are text as in the service's own files."""

from __future__ import annotations

import os
from typing import Any, BinaryIO

from .errors import StreamError
from .optional import require
from .pages import pages
from .planning import PullPlan
from .session import Session
from .store import Page

PURPOSE = "Joining the pages of a capped plan to one Parquet file"


def write_pages(session: Session, plan: PullPlan, file: BinaryIO) -> tuple[Page, int]:
    """Writes all rows of a plan to `file`, a page at a time in memory; the first page and the rows.

    Raises MissingExtraError without pyarrow, before anything is charged."""
    pa, parquet = require("pyarrow", PURPOSE), require("pyarrow.parquet", PURPOSE)
    writer: Any = None
    first: Page | None = None
    rows = 0
    try:
        for page in pages(session, plan):
            first = first or page
            table = pa.ipc.open_stream(pa.memory_map(os.fspath(page.path))).read_all()
            if writer is None:
                writer = parquet.ParquetWriter(file, table.schema, compression="snappy")
            if table.schema != writer.schema:
                raise StreamError("Pages of one pull have different columns.")
            writer.write_table(table)
            rows += page.rows
    finally:
        if writer is not None:
            writer.close()
    if first is None:
        raise StreamError("The pull has no page.")
    return first, rows
