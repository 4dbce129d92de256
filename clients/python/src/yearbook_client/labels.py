"""Labels in place of codes. Owns which columns have them, the text that stands for each value, and how
a table of each kind holds the texts (contract-15-clients-labels): two values never become one, and
what has labels is no longer what the service cites."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

from .credits import attach
from .errors import IntegrityError, MixedSnapshotsError, UsageError
from .models import Dataset, Values
from .pull import Pull
from .results import LABEL, ColumnType, Rows
from .results.tables import LABELLED
from .selection import Selection, flag, text, value_text
from .session import Session
from .settings import require

# Values of a column in an answer. Publishing stores no more, and what is stored is free.
MOST_VALUES = 10_000


class Words:
    """Texts of the values of a column, in the order of the values."""

    def __init__(self, column: str, texts: dict[str, str]) -> None:
        self._column = column
        self._places = {value: place for place, value in enumerate(texts)}
        self.texts = list(texts.values())

    def place(self, value: Any) -> int | None:
        """Returns the position of the text of a value; None of a null.

        Raises IntegrityError for a value that the service did not name."""
        # pandas has integers beside nulls as floats.
        key = value_text(self._column, int(value) if isinstance(value, float) else value)
        if key is None:
            return None
        if key not in self._places:
            raise IntegrityError(
                f"The service does not list all values of the column {self._column!r}."
            )
        return self._places[key]

    def text(self, value: Any) -> str | None:
        place = self.place(value)
        return None if place is None else self.texts[place]


class Labels:
    """Labels of a dataset, each column's asked for once for all tables of a pull."""

    def __init__(self, session: Session, selection: Selection, lang: str | None) -> None:
        about = Dataset.parse(session.document(f"/v1/datasets/{selection.name}"))
        # The columns whose values have labels, by the dataset's metadata.
        self._names = [one.name for one in about.columns if one.labelled or one.role == "status"]
        self._session, self._lang = session, lang
        self._words: dict[str, Words | None] = {}

    def shown(self, pull: Pull, table: Any, kind: str) -> Any:
        """Returns a table of a pull with texts for the values of the columns that have labels."""
        columns: Any = table.schema.names if kind == "arrow" else table.columns
        present = {str(one.name if kind == "rows" else one) for one in columns}
        found: dict[str, Words] = {}
        for name in self._names:
            if name in present and name not in self._words:
                self._words[name] = _words(self._session, pull, name, self._lang)
            words = self._words.get(name) if name in present else None
            if words is not None:
                found[name] = words
        return attach(_KINDS[kind](table, found), pull.credit) if found else table


def wanted_labels(
    session: Session, selection: Selection, labels: Any, lang: str | None
) -> Labels | None:
    """Returns the labels that a verb is to show; None where it shows codes.

    Raises UsageError for arguments that are none, before anything is asked."""
    if flag("labels", labels):
        return Labels(session, selection, lang)
    if text("lang", lang):
        raise UsageError("`lang` is the language of labels.", "Add labels=True.")
    return None


def _words(session: Session, pull: Pull, name: str, lang: str | None) -> Words | None:
    """Returns the texts of a column in the version of a pull; None where it keeps its values.

    Without a value, or a label of one, there are texts as well: the type of a column must not depend
    on what a release happens to hold."""
    plan = pull.plan
    query = {"columns": name, "limit": str(MOST_VALUES)}
    # A version of history is found by its time alone.
    as_of = plan.selection.as_of
    query |= {"as_of": as_of} if as_of else {"snapshot": plan.snapshot}
    if lang is not None:
        query["lang"] = lang
    document = session.document(f"/v1/datasets/{plan.selection.name}/values", query)
    values = Values.parse(document).get(name)
    if values is None:
        raise IntegrityError(f"The service does not list the values of the column {name!r}.")
    if document.get("snapshot_id") != plan.snapshot:
        raise MixedSnapshotsError("The labels are those of another version than the rows.")
    if values.next is not None:
        _warn(
            f"The column {name!r} has more than {MOST_VALUES:,} values, or long ones, "
            "so it keeps its codes."
        )
        return None
    texts = _texts(values)
    if len(set(texts.values())) < len(texts):
        _warn(f"Labels of the column {name!r} look alike with their codes too, so it keeps these.")
        return None
    return Words(name, texts)


def _texts(values: Values) -> dict[str, str]:
    """Returns the label of each value, the value itself where it has none, and both where two values
    would have one text."""
    shown: dict[str, str] = {}
    for one in values.values:
        value, label = one.get("value"), one.get("label")
        if not isinstance(value, (str, int)) or not isinstance(label, str | None):
            raise IntegrityError(f"The values of the column {values.name!r} cannot be read.")
        own = value_text(values.name, value) or ""
        shown[own] = own if label is None else label
    shared = Counter(shown.values())
    return {own: text if shared[text] == 1 else f"{text} ({own})" for own, text in shown.items()}


def _warn(sentence: str) -> None:
    """Warns, in the line that called the verb."""
    warnings.warn(sentence, stacklevel=5)


def _rows(table: Rows, found: dict[str, Words]) -> Rows:
    for name, words in found.items():
        texts = {value: words.text(value) for value in {row[name] for row in table}}
        for row in table:
            row[name] = texts[row[name]]
    table.columns = tuple(
        ColumnType(one.name, LABEL) if one.name in found else one for one in table.columns
    )
    return table


def _pandas(frame: Any, found: dict[str, Words]) -> Any:
    pandas = require("pandas", 'The result to="pandas"')
    for name, words in found.items():
        codes, distinct = pandas.factorize(frame[name])
        # The code of a null is -1, and so is its place.
        places = pandas.Series([*map(words.place, distinct), -1]).to_numpy()[codes]
        # With a text behind them, no categories have the type of some.
        categories = pandas.Index([*words.texts, ""])[:-1]
        frame[name] = pandas.Categorical.from_codes(places, categories)
    frame.attrs[LABELLED] = list(found)
    return frame


def _polars(frame: Any, found: dict[str, Words]) -> Any:
    pl = require("polars", 'The result to="polars"')
    made: list[Any] = []
    for name, words in found.items():
        kind, distinct = pl.Enum(words.texts), frame[name].unique().drop_nulls()
        texts = pl.Series([words.text(value) for value in distinct], dtype=kind)
        column = frame[name].replace_strict(distinct, texts, return_dtype=kind)
        # Where nothing is to be replaced, the column keeps its type.
        made.append(column if len(distinct) else pl.Series(name, [None] * frame.height, dtype=kind))
    return frame.with_columns(made)


def _arrow(table: Any, found: dict[str, Words]) -> Any:
    pa = require("pyarrow", 'The result to="arrow"')
    batch = isinstance(table, pa.RecordBatch)
    if batch:
        table = pa.Table.from_batches([table])
    kind = pa.dictionary(pa.int32(), pa.string())
    for name, words in found.items():
        index, texts = table.column_names.index(name), pa.array(words.texts, pa.string())
        chunks: list[Any] = []
        for chunk in table.column(index).chunks:
            coded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
            places = pa.array(map(words.place, coded.dictionary.to_pylist()), pa.int32())
            chunks.append(pa.DictionaryArray.from_arrays(places.take(coded.indices), texts))
        field = table.schema.field(index)
        metadata: dict[Any, Any] = {**(field.metadata or {}), LABELLED: "true"}
        field = pa.field(name, kind, field.nullable, metadata)
        table = table.set_column(index, field, pa.chunked_array(chunks, kind))
    # A batch is a table of one chunk.
    return table.to_batches()[0] if batch and table.num_rows else table


_KINDS: dict[str, Callable[[Any, dict[str, Words]], Any]] = {
    "rows": _rows,
    "pandas": _pandas,
    "geopandas": _pandas,
    "polars": _polars,
    "arrow": _arrow,
}
