"""Labels in place of codes: in every result, never two values as one, and of the version of the rows."""

import conftest
import pytest
from faulty import Fault
from proofs import proof

import yearbook_client as yb
from yearbook_client import errors

LABELS = {"region": {"Ōtautahi": "Christchurch", "a,b": "A and B"}, "final": {"true": "Final", "false": "Provisional"}, "count": {"0": "None", str(-3 * 2**40): "Few"}}
KINDS = [("rows", None), ("pandas", None), ("pandas", "pyarrow"), ("polars", None), ("arrow", None)]


def labelled(service, labels=LABELS):
    service.labels = labels


def get(client, to, dtype_backend=None, name="table", **how):
    if to != "rows":
        pytest.importorskip({"arrow": "pyarrow"}.get(to, to))
    if dtype_backend:
        pytest.importorskip("pyarrow")
    return client.get(name, to=to, dtype_backend=dtype_backend, **how)


def cells(table, name):
    """The values of a column as Python's own; a null is None."""
    if isinstance(table, yb.Rows):
        return [row[name] for row in table]
    if type(table).__module__.startswith("pandas"):
        return [None if gone else value for gone, value in zip(table[name].isna(), table[name].tolist())]
    column = table[name] if type(table).__module__.startswith("polars") else table.column(name)
    return column.to_list() if hasattr(column, "to_list") else column.to_pylist()


def shown(rows, name):
    """What the labels of this test make of a column of rows."""
    texts = {None: None} | {value: LABELS[name].get({True: "true", False: "false"}.get(value, value) if name == "final" else str(value), value if name == "region" else str(value)) for value in {row[name] for row in rows} - {None}}
    return [texts[row[name]] for row in rows]


@pytest.mark.parametrize(("to", "dtype_backend"), KINDS)
@proof
def test_labels_stand_in_place_of_codes_in_every_result_contract_15(make, to, dtype_backend):
    """Nulls stay nulls, values without a label stay themselves, and columns without labels do not change."""
    service, client = make(rows=20, row_cap=7)
    labelled(service)
    rows = client.get("table", to="rows")
    plain = get(client, to, dtype_backend)
    found = get(client, to, dtype_backend, labels=True)
    for name in ("region", "final", "count"):
        assert cells(found, name) == shown(rows, name)
        assert None in cells(found, name)
    assert {"Christchurch", "A and B", "", '"q"'} <= set(cells(found, "region"))
    # A NaN and a null look alike in pandas, with labels or without.
    assert [str(value) for name in ("date", "value") for value in cells(found, name)] == [str(value) for name in ("date", "value") for value in cells(plain, name)]
    assert yb.credit(found) == yb.credit(plain)
    service.labels = {}
    assert str(get(client, to, dtype_backend, labels=True)) == str(plain)


@proof
def test_categories_are_the_labels_in_the_order_of_the_values_contract_15(make):
    """Of all values of the version, whatever was selected."""
    service, client = make(rows=20)
    labelled(service)
    texts = ["", '"q"', "A and B", "Christchurch"]
    pandas = pytest.importorskip("pandas")
    frame = client.get("table", to="pandas", labels=True, columns=["region", "final"], limit=3)
    assert isinstance(frame["region"].dtype, pandas.CategoricalDtype)
    assert (list(frame["region"].cat.categories), frame["region"].cat.ordered) == (texts, False)
    assert list(frame["final"].cat.categories) == ["Provisional", "Final"]
    polars = pytest.importorskip("polars")
    frames = [client.get("table", to="polars", labels=True, limit=limit) for limit in (1, 20)]
    assert [frame.schema["region"] for frame in frames] == [polars.Enum(texts)] * 2
    assert polars.concat(frames).height == 21
    pyarrow = pytest.importorskip("pyarrow")
    table = client.get("table", to="arrow", labels=True)
    assert table.schema.field("region").type == pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    assert {tuple(chunk.dictionary.to_pylist()) for chunk in table.column("region").chunks} == {tuple(texts)}
    assert yb.pivot_wider(table.select(["date", "region", "value"]).slice(2, 2), names_from="region").column_names == ["date", "Christchurch", "A and B"]


@pytest.mark.parametrize(("to", "dtype_backend"), KINDS)
@proof
def test_two_values_never_get_one_text_contract_15(make, to, dtype_backend):
    service, client = make(rows=10)
    labelled(service, {"region": {"Ōtautahi": "South", "a,b": "South", "": '"q"'}})
    found = get(client, to, dtype_backend, labels=True, columns=["region"])
    assert sorted(set(cells(found, "region")) - {None}) == ['"q" ("q")', '"q" ()', "South (a,b)", "South (Ōtautahi)"]
    # Labels that were written to look like others.
    labelled(service, {"region": {"Ōtautahi": "South", "a,b": "South", "": "South (a,b)"}})
    with pytest.warns(UserWarning, match=r"'region' look alike"):
        found = get(client, to, dtype_backend, labels=True, columns=["region"])
    assert set(cells(found, "region")) == {None, "", "Ōtautahi", "a,b", '"q"'}


@proof
def test_labels_are_of_the_version_of_the_rows_and_in_the_language_that_is_wanted_contract_15(make):
    service, client = make(rows=10)
    labelled(service)
    old = service.current
    service.refresh(rows=5)
    client.get("table", to="rows", labels=True, snapshot=old)
    # A refresh between the plan and the first page.
    service.fail("data", Fault(mixed=True))
    found = client.get("table", to="rows", labels=True, lang="mi", where={"value.ge": 1})
    asked = [one.query for one in service.asked if one.path == "/v1/datasets/table/values"]
    assert [(one["columns"], one["snapshot"], one.get("lang")) for one in asked] == [(name, snapshot, lang) for snapshot, lang in ((old, None), (service.current, "mi")) for name in ("region", "count", "final")]
    # Without a selection they are free.
    assert all(one.keys() <= {"columns", "snapshot", "limit", "lang"} for one in asked)
    assert "mi Christchurch" in cells(found, "region")
    assert client.values("table", columns="region", lang="mi")["region"]["Ōtautahi"]["label"] == "mi Christchurch"
    service.values_snapshot = old
    with pytest.raises(errors.MixedSnapshotsError):
        client.get("table", to="rows", labels=True)


@proof
def test_labels_cost_the_metadata_and_what_is_kept_has_none_contract_15(make):
    service, client = make(rows=10)
    labelled(service)
    client.get("table", to="rows", labels=True)
    assert service.charged == 2
    plain = client.get("table", to="rows")
    assert cells(plain, "region") == [row[1] for row in service.rows]
    assert client.get("table", to="rows", labels=True) != plain
    assert service.charged == 2
    # Of columns that were not selected nothing is asked.
    service.asked.clear()
    client.get("table", to="rows", labels=True, columns=["value", "final"])
    assert [one.query["columns"] for one in service.asked if one.path.endswith("/values")] == ["final"]


@proof
def test_a_column_of_too_many_values_keeps_them_with_a_warning_contract_15(make):
    service, client = make(rows=10)
    labelled(service)
    service.endless = ("region",)
    with pytest.warns(UserWarning, match=r"'region' has more than 10,000 values") as warned:
        found = client.get("table", to="rows", labels=True)
    assert warned[0].filename == __file__
    assert cells(found, "region") == [row[1] for row in service.rows]
    assert "Final" in cells(found, "final")
    assert [column.type for column in found.columns] == ["date", "string", "label", "number", "label"]


@pytest.mark.parametrize(("to", "dtype_backend"), KINDS)
@proof
def test_a_table_with_labels_is_cited_and_not_verified_contract_15(make, to, dtype_backend):
    service, client = make(rows=10)
    labelled(service)
    service.citation = "Nobody (2026). Table."
    columns = ["date", "region"]
    plain, found = (get(client, to, dtype_backend, columns=columns, labels=labels) for labels in (False, True))
    assert client.cite(found) == client.cite(plain)
    for verify in (yb.digest, client.verify, lambda table: client.verify(table, yb.digest(plain))):
        with pytest.raises(errors.UsageError, match=r"'region' has labels in place of its values") as caught:
            verify(found)
        assert "without `labels`" in caught.value.advice
    assert client.verify(plain, yb.digest(plain))


@proof
def test_answers_that_are_no_labels_are_errors_contract_15(make):
    service, client = make(rows=10)
    for lang in ("mi", ""):
        with pytest.raises(errors.UsageError, match="`lang`"):
            client.get("table", to="rows", lang=lang)
    for labels in ("no", "", 0, 1, None):
        with pytest.raises(errors.UsageError, match="`labels` is no bool") as caught:
            client.get("table", to="rows", labels=labels)
        assert caught.value.advice == "Give True or False."
    with pytest.raises(errors.UsageError, match="`lang` is the language of labels"):
        next(client.iter_batches("table", to="rows", lang="mi"))
    for verb in (lambda **how: client.link("table", **how), lambda **how: client.download("table", "table.csv", **how)):
        for how in ({"labels": True}, {"lang": "mi"}):
            with pytest.raises(errors.UsageError, match=f"`{next(iter(how))}` is not taken here") as caught:
                verb(**how)
            assert "`get`" in caught.value.advice
    assert service.asked == []
    labelled(service, {"region": {"Ōtautahi": ["South"]}})
    with pytest.raises(errors.IntegrityError, match="'region' cannot be read"):
        client.get("table", to="rows", labels=True)
    # Rows with a value that the service does not list.
    labelled(service)
    service.snapshots["f" * 32] = [(day, "nowhere", *rest) for day, _, *rest in service.rows]
    page = client.get("table", to="rows", columns=["region"], snapshot="f" * 32)
    assert page[0]["region"] == "nowhere"
    service.snapshots["f" * 32] = service.rows
    with pytest.raises(errors.IntegrityError, match="all values of the column 'region'"):
        client.get("table", to="rows", columns=["region"], snapshot="f" * 32, labels=True)


def is_labelled(table, name):
    """Whether a column has the type of one with labels."""
    if isinstance(table, yb.Rows):
        return {one.name: one.type for one in table.columns}[name] == "label"
    if type(table).__module__.startswith("pandas"):
        return table[name].dtype.name == "category"
    if type(table).__module__.startswith("polars"):
        return type(table.schema[name]).__name__ == "Enum"
    return str(table.schema.field(name).type).startswith("dictionary<values=string, indices=int32")


@pytest.mark.parametrize(("to", "dtype_backend"), KINDS)
@proof
def test_columns_without_a_value_have_labels_too_contract_15(make, to, dtype_backend):
    """The type depends on what the metadata says, and on nothing that a version happens to hold."""
    service, client = make(rows=0)
    labelled(service)
    service.snapshots["e" * 32] = [("2020-01-01", "nowhere", 7, 1.5, True)]
    service.snapshots["f" * 32] = [("2020-01-01", None, None, None, None)] * 3
    for snapshot, rows in (("a" * 32, []), ("f" * 32, [None] * 3)):
        found = get(client, to, dtype_backend, labels=True, snapshot=snapshot)
        for name in ("region", "count", "final"):
            assert cells(found, name) == rows
            assert is_labelled(found, name)
        assert not is_labelled(found, "value")
        if to == "pandas":
            assert list(found["region"].cat.categories) == []
    # Values, none of which has a label.
    labelled(service, {"region": {}, "count": {}})
    found = get(client, to, dtype_backend, labels=True, snapshot="e" * 32)
    assert (cells(found, "region"), cells(found, "count"), cells(found, "final")) == (["nowhere"], ["7"], [True])
    assert is_labelled(found, "region") and is_labelled(found, "count") and not is_labelled(found, "final")


@pytest.mark.parametrize(("to", "dtype_backend"), KINDS)
@proof
def test_batches_have_the_labels_of_the_whole_table_contract_15(make, to, dtype_backend):
    """Every batch of every page, with one set of categories that is asked for once."""
    service, client = make(rows=20, row_cap=7)
    labelled(service)
    whole = get(client, to, dtype_backend, labels=True)
    batches = list(get_batches(client, to, dtype_backend, labels=True, lang="mi"))
    assert len(batches) == 8
    for name in ("region", "final", "count"):
        found = [value for batch in batches for value in cells(batch, name)]
        assert found == [LABELS[name] and (f"mi {value}" if value in LABELS[name].values() else value) for value in cells(whole, name)]
        assert all(is_labelled(batch, name) for batch in batches)
    asked = [one.query["columns"] for one in service.asked if one.path.endswith("/values") and one.query.get("lang")]
    assert asked == ["region", "count", "final"]
    assert {type(batch) for batch in batches} == {type(batch) for batch in get_batches(client, to, dtype_backend)}
    if to == "polars":
        assert pytest.importorskip("polars").concat(batches).height == 20
    for one in batches:
        assert yb.credit(one).attribution == yb.credit(whole).attribution
        with pytest.raises(errors.UsageError, match=r"has labels in place of its values\.|null and a NaN look alike"):
            yb.digest(one)


def get_batches(client, to, dtype_backend, **how):
    return client.iter_batches("table", to=to, dtype_backend=dtype_backend, **how)


@pytest.mark.parametrize(("to", "dtype_backend"), KINDS)
@proof
def test_large_integers_have_their_labels_contract_15(make, to, dtype_backend):
    """Of 64 bits, each with every digit."""
    service, client = make(rows=0)
    codes = [-(2**63), -(2**53) - 1, 10**15, 2**53 + 1, 2**63 - 1]
    service.snapshots["f" * 32] = [("2020-01-01", "x", code, 1.5, True) for code in codes]
    labelled(service, {"count": {str(code): "One" for code in codes[1:]}})
    found = get(client, to, dtype_backend, labels=True, snapshot="f" * 32)
    assert cells(found, "count") == ["-9223372036854775808", *(f"One ({code})" for code in codes[1:])]


@pytest.mark.service
@pytest.mark.parametrize(("to", "dtype_backend"), KINDS)
@proof
def test_labels_of_the_service_stand_beside_its_values_contract_15(monkeypatch, to, dtype_backend):
    """A code in text and one in numbers, a list of statuses, and another language."""
    monkeypatch.setenv("SERVICE_BASE_URL", conftest.SERVICE)
    monkeypatch.setenv("SERVICE_API_KEY", conftest.KEYS["enterprise"])
    english, maori = (get(yb, to, dtype_backend, name="labelled_rents", labels=True, lang=lang) for lang in (None, "mi-NZ"))
    assert cells(english, "region") == ["Auckland", "Auckland", "Wellington", "Wellington", "99"]
    assert cells(maori, "region") == ["Tāmaki Makaurau", "Tāmaki Makaurau", "Te Whanganui-a-Tara", "Te Whanganui-a-Tara", "99"]
    for found in (english, maori):
        assert cells(found, "dwelling") == ["Flat", "House (2)", "Flat", "House (3)", "4"]
        assert cells(found, "rent_status") == ["Normal value", "Normal value", "Provisional value", "Missing value; data cannot exist", None]
        assert "labelled_rents" in yb.cite(found)
    used = yb.me().used
    plain = get(yb, to, dtype_backend, name="labelled_rents")
    assert cells(plain, "region") == ["02", "02", "09", "09", "99"]
    assert yb.me().used == used
    if dtype_backend or to != "pandas":
        assert yb.verify(plain)
    # Statuses are a column as any other.
    final = yb.get("labelled_rents", where={"rent_status": "A"}, labels=True, to="rows")
    assert cells(final, "rent") == [540.5, 610.0]
    assert yb.describe("labelled_rents")["region"].labelled and not yb.describe("labelled_rents")["rent"].labelled
