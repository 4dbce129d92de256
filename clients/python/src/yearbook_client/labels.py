"""Labels in place of codes. Owns which columns have them, the text that stands for each value, and how
a table of each kind holds the texts (contract-15-clients-labels): two values never become one, and
what has labels is no longer what the service cites."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from .credits import attach
from .errors import IntegrityError, MixedSnapshotsError
from .models import Dataset, Values
from .pull import Pull
from .results import LABEL, ColumnType, Rows
from .results.tables import LABELLED
from .selection import Selection, value_text
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


def labelled_columns(session: Session, selection: Selection) -> list[str]:
    """Returns the columns whose values have labels, by the dataset's metadata."""
    about = Dataset.parse(session.document(f"/v1/datasets/{selection.name}"))
    return [one.name for one in about.columns if one.labelled or one.role == "status"]


def with_labels(
    session: Session, pull: Pull, table: Any, kind: str, names: Iterable[str], lang: str | None
) -> Any:
    """Returns the table of a pull with texts for the values of the columns in `names`."""
    columns: Any = table.column_names if kind == "arrow" else table.columns
    present = {str(one.name if kind == "rows" else one) for one in columns}
    found: dict[str, Words] = {}
    for name in names:
        words = _words(session, pull, name, lang) if name in present else None
        if words is not None:
            found[name] = words
    return attach(_KINDS[kind](table, found), pull.credit) if found else table


def _words(session: Session, pull: Pull, name: str, lang: str | None) -> Words | None:
    """Returns the texts of a column in the version of a pull; None where it keeps its values.

    Without a value, or a label of one, there are texts as well: the type of a column must not depend
    on what a release happens to hold."""
    plan = pull.plan
    query = {"columns": name, "limit": str(MOST_VALUES), "snapshot": plan.snapshot}
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
    """Warns, in the line that called `get`."""
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
    return table


_KINDS: dict[str, Callable[[Any, dict[str, Words]], Any]] = {
    "rows": _rows,
    "pandas": _pandas,
    "geopandas": _pandas,
    "polars": _polars,
    "arrow": _arrow,
}
