"""The client: every verb as a method. Owns what lives longer than a call:
connections, refused bulk files and explicit settings; all else is read at each call
(contract-11-verbs). A verb imports its modules when it is called: a script waits for no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsInt, overload

from .errors import UsageError
from .http import Transport
from .selection import (
    Criteria,
    Moment,
    Selection,
    flag,
    selecting,
    selecting_revisions,
    text,
    value_text,
    whole,
)
from .settings import ApiKey, PathLike, api_key, cache_bytes, cache_dir, library_dir, origin

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .change_feed import Changes, LocalTable, Sync
    from .credits import CitationFormat, Credit
    from .downloads import Download
    from .models import Account, Dataset, DatasetSummary, Integration, Link, Preview, Values
    from .published import Published
    from .results import Rows, To
    from .session import Progress, Session
    from .verification import Verification


class Client:
    """A client of one service. Without arguments, address, key and folders come from the
    environment at each call. Threads may share a client.

    `timeout` is in seconds and bounds each silence of the service, not a whole download.
    `progress` is True, False, None for "on a terminal", or a function that is told a label, what is
    done, and the whole or None."""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        cache: PathLike | None = None,
        timeout: float = 60.0,
        progress: bool | Progress | None = None,
    ) -> None:
        self._base_url = base_url
        self._key = ApiKey(api_key) if api_key is not None else None
        self._cache = cache
        self._progress = progress
        self._transport = Transport(timeout)
        self._no_bulk: set[str] = set()

    def __repr__(self) -> str:
        return f"Client(base_url={self._base_url!r})"

    def _session(self) -> Session:
        from .session import Session, progress_of
        from .store import Store

        service = origin(self._base_url)
        folder = cache_dir(self._cache)
        return Session(
            service,
            api_key(service, self._key),
            self._transport,
            folder,
            Store(folder, cache_bytes()) if folder is not None else None,
            progress_of(self._progress),
            self._no_bulk,
        )

    def datasets(self) -> list[DatasetSummary]:
        """Returns all datasets, by name. An unchanged list costs no request."""
        from .models import DatasetSummary

        return [DatasetSummary.parse(one) for one in self._session().document("/v1/datasets")]

    def search(self, words: str, limit: SupportsInt | None = 20) -> list[DatasetSummary]:
        """Returns the datasets that have all words, best first. It costs what `datasets` costs."""
        from .models import rank

        return rank(self.datasets(), text("words", words, empty=True) or "", whole("limit", limit))

    def describe(self, name: str) -> Dataset:
        """Returns a dataset's columns, versions and provenance."""
        from .models import Dataset

        path = f"/v1/datasets/{Selection.of(name).name}"
        return Dataset.parse(self._session().document(path))

    def preview(self, name: str) -> Preview:
        """Returns the newest rows, at most ten: free, and without a key."""
        return self._session().preview(Selection.of(name).name)

    @selecting
    def values(
        self,
        name: str,
        *,
        after: Any = None,
        lang: str | None = None,
        **criteria: Unpack[Criteria],
    ) -> dict[str, Values]:
        """Returns the values of columns, by default of the dimensions, with how many of the selected
        rows have each, and their labels in the language `lang`. `limit` bounds the values of a column,
        which begin behind `after`."""
        from .models import Values

        selection = Selection.of(name, **criteria)
        query = selection.query()
        if after is not None:
            query["after"] = value_text("after", after)
        if lang is not None:
            query["lang"] = text("lang", lang)
        if selection.limit is not None:
            query["limit"] = str(selection.limit)
        path = f"/v1/datasets/{selection.name}/values"
        return Values.parse(self._session().document(path, query))

    @selecting
    def link(
        self,
        name: str,
        *,
        format: str | None = None,  # noqa: A002, the service's own word
        days: SupportsInt | None = 30,
        **criteria: Unpack[Criteria],
    ) -> Link:
        """Returns an address that gives these rows to whoever has it, without a key, for `days` days:
        free. What it reads counts for the key that made it, and it is as secret; `url` has it."""
        from .models import Link

        selection = Selection.of(name, **criteria)
        own = {"format": text("format", format), "days": whole("days", days)}
        # The service's own default is a hundred rows.
        query = {**selection.query(), "limit": str(selection.limit or 0)}
        query |= {name: str(value) for name, value in own.items() if value is not None}
        path = f"/v1/datasets/{selection.name}/link"
        return Link.parse(self._session().document(path, query, keep=False))

    def me(self) -> Account:
        """Returns the plan and what is left of the month: free."""
        return self._session().account()

    @overload
    def get(
        self,
        name: str,
        *,
        to: Literal["rows"],
        dtype_backend: None = ...,
        labels: bool = ...,
        lang: str | None = ...,
        **criteria: Unpack[Criteria],
    ) -> Rows: ...
    @overload
    def get(
        self,
        name: str,
        *,
        to: To | None = ...,
        dtype_backend: Literal["pyarrow"] | None = ...,
        labels: bool = ...,
        lang: str | None = ...,
        **criteria: Unpack[Criteria],
    ) -> Any: ...
    @selecting
    def get(
        self,
        name: str,
        *,
        to: To | None = None,
        dtype_backend: Literal["pyarrow"] | None = None,
        labels: bool = False,
        lang: str | None = None,
        **criteria: Unpack[Criteria],
    ) -> Any:
        """Returns every selected row as one table: `rows`, `pandas`, `polars`, `arrow` or
        `geopandas`; without `to`, pandas where it is installed.

        `start` and `end` are inclusive dates, `dimensions` a text that any dimension contains,
        `snapshot` a version to read; `as_of` is a day or a moment, and reads what was current then.
        `where` has conditions by column, {"region": ["Otago", "Nelson"],
        "value.ge": 0.1}: a list is any of its values, None a null. `sort` names columns, "-value" the
        largest first; `last` and `first` are rows of each series; `bbox` is west, south, east, north
        in degrees. Raises an exception rather than return a short table.

        `labels` puts labels in place of codes, as categories in the order of the values, in the
        language `lang` where the dataset has it. A value without a label stays; values that share one
        have their code behind it. Such a table cannot be verified."""
        from .labels import wanted_labels
        from .pull import pull
        from .results import choose, convert, reads_parquet

        kind = choose(to)
        selection = Selection.of(name, **criteria)
        with self._session() as session:
            wanted = wanted_labels(session, selection, labels, lang)
            bulk = reads_parquet(kind)
            pulled, table = pull(
                session, selection, lambda one: convert(one, kind, dtype_backend), bulk=bulk
            )
            return wanted.shown(pulled, table, kind) if wanted else table

    @selecting
    def iter_batches(
        self,
        name: str,
        *,
        to: To | None = None,
        dtype_backend: Literal["pyarrow"] | None = None,
        labels: bool = False,
        lang: str | None = None,
        **criteria: Unpack[Criteria],
    ) -> Iterator[Any]:
        """Yields the rows that `get` returns in tables of bounded size, so that a table may be larger
        than the memory. All are of one snapshot, and with `labels` have the same categories."""
        from .labels import wanted_labels
        from .pull import reading, stream
        from .results import choose, convert_batches, reads_parquet

        kind = choose(to)
        selection = Selection.of(name, **criteria)
        with self._session() as session, reading():
            wanted = wanted_labels(session, selection, labels, lang)
            for pulled, source in stream(session, selection, bulk=reads_parquet(kind)):
                for table in convert_batches(pulled, source, kind, dtype_backend):
                    yield wanted.shown(pulled, table, kind) if wanted else table

    @selecting_revisions
    def revisions(
        self,
        name: str,
        *,
        since: Moment | None = None,
        shape: Literal["long", "wide"] = "long",
        value: str | None = None,
        to: To | None = None,
        dtype_backend: Literal["pyarrow"] | None = None,
        **criteria: Unpack[Criteria],
    ) -> Any:
        """Returns the selected rows as often as they were published differently, as a table that `to`
        chooses. `since` leaves out what had ended before.

        Long, each row has `_valid_from` and `_valid_to`, between which it was what the service said;
        null is until now. Wide, there is a column for each time at which rows changed, with the values
        of the column `value` as they were known then, and a row for each date and series."""
        from .results import choose
        from .vintages import Request, revisions

        kind = choose(to)
        request = Request.of(name, criteria, since, shape, value, kind)
        with self._session() as session:
            return revisions(session, request, dtype_backend)

    def changes(
        self,
        name: str,
        since: str | None = None,
        *,
        geometry: bool = True,
        to: To | None = None,
        dtype_backend: Literal["pyarrow"] | None = None,
    ) -> Changes:
        """Returns the rows that came, went and were revised since a watermark or a snapshot id; None
        is the oldest version that is kept. Each answer of the service costs a request."""
        from .change_feed import ChangeRequest, changes
        from .results import choose

        kind = choose(to)
        request = ChangeRequest(
            Selection.of(name).name, text("since", since), flag("geometry", geometry)
        )
        with self._session() as session:
            return changes(session, request, kind, dtype_backend)

    @selecting
    def download(
        self,
        name: str,
        path: PathLike,
        *,
        format: str | None = None,  # noqa: A002, the service's own word
        **criteria: Unpack[Criteria],
    ) -> Download:
        """Writes every selected row to a file, in `format` or the one of the file's suffix. The file
        appears when it is whole; a bulk file that broke off is resumed by the next call."""
        from .downloads import download, format_of

        place = _file(path)
        selection = Selection.of(name, **criteria)
        with self._session() as session:
            return download(session, selection, place, format_of(place, format))

    def sync(self, name: str, path: PathLike | None = None) -> LocalTable:
        """Brings a local Parquet file up to the current snapshot, by default in the library. An
        unchanged table costs no request."""
        return self.sync_report(name, path).table

    def sync_report(self, name: str, path: PathLike | None = None) -> Sync:
        """Does what `sync` does and says in which way."""
        from .change_feed import sync

        if path is None:
            path = library_dir() / f"{Selection.of(name).name}.parquet"
        place = _file(path)
        with self._session() as session:
            return sync(session, name, place)

    def library(self, folder: PathLike | None = None) -> list[LocalTable]:
        """Returns the tables that `sync` keeps in a folder, without asking the service."""
        from .change_feed import library

        return library(library_dir(folder))

    def cite(
        self,
        result: Any,
        format: CitationFormat = "text",  # noqa: A002, the service's own word
    ) -> str:
        """Returns the citation of a result, of a `Credit`, or of a dataset's current snapshot: free,
        unless the dataset is given by name, which costs nothing either but a HEAD."""
        from .credits import cite

        with self._session() as session:
            return cite(session, self._credit(session, result), format)

    def verify(
        self, table: Any, expected: str | None = None, *, recompute: bool = False
    ) -> Verification:
        """Compares the digest of a table in memory with `expected`, a digest or a citation that has
        one, else with the service's. `recompute` has the service read the rows again, which costs a
        request; without it only a whole snapshot can be compared."""
        from .credits import credit, known_digest, service_digest
        from .verification import Verification, digest

        again = flag("recompute", recompute)
        own = digest(table)
        if expected is not None:
            wanted = known_digest(expected)
        else:
            with self._session() as session:
                wanted = service_digest(session, credit(table), recompute=again)
        return Verification(own == wanted, own, wanted)

    def prove(self, result: Any, log_key: str) -> Published:
        """Returns the entry of a result's snapshot in the service's log, with its proof, checked with
        the log's key, which reached you another way: free, and true without the service."""
        from .published import prove

        with self._session() as session:
            return prove(session, self._credit(session, result), log_key)

    def integration(self, tool: str, datasets: str | Sequence[str]) -> Integration:
        """Returns the files of a project for a data tool, such as meltano."""
        from .models import Integration

        names = [datasets] if isinstance(datasets, str) else list(datasets)
        if not str(tool).replace("-", "").isalnum():
            raise UsageError(f"{tool!r} is no name of a tool.")
        query = {"datasets": ",".join(Selection.of(name).name for name in names)}
        return Integration.parse(self._session().document(f"/v1/integrations/{tool}", query))

    def clear_cache(self) -> None:
        """Deletes every page of the cache; the next pulls are charged again."""
        store = self._session().cache
        if store is not None:
            store.clear()

    def close(self) -> None:
        """Closes idle connections."""
        self._transport.close()

    def _credit(self, session: Session, result: Any) -> Credit:
        from .credits import Credit, credit

        if isinstance(result, Credit):
            return result
        if not isinstance(result, str):
            return credit(result)
        selection = Selection.of(result)
        _, headers = session.head(selection.path, {"limit": "1"})
        return Credit.from_headers(selection.name, session.origin.base, {}, headers)


def _file(path: PathLike) -> Path:
    place = Path(path)
    if not place.name:
        raise UsageError(f"{str(path)!r} is no name of a file.")
    return place
