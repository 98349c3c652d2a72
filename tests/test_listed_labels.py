"""Labels that list values: a value whose rows are all suppressed is in no label of a release."""

import random
from pathlib import Path
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.hierarchy import from_rows
from kanon_sql.release.listing import values_listed
from support.database import create_table

TOWNS = ["Bern", "Wien", "Graz", "Thun", "Linz", "Chur"]


def spec_of(recipe: Any, **options: Any) -> dict[str, Any]:
    """Towns by a recipe, sex as it is or `*`, in pairs."""
    attributes = {"town": {"hierarchy": recipe}, "sex": {"hierarchy": "suppress"}}
    return {"quasi_identifiers": attributes, "keep": ["number"], "privacy": {"k": 2}, **options}


def test_the_label_of_the_only_resident_who_was_suppressed_is_refused(engine: Engine, tmp_path: Path) -> None:
    towns = ["Bern", "Bern", "Wien", "Wien"]
    rows = [(f"{i}", town, sex) for i, (town, sex) in enumerate(zip(towns * 2, "ffmmmmff", strict=True))]
    create_table(engine, "vips", {"number": "TEXT", "town": "TEXT", "sex": "TEXT"}, [*rows, ("9", "VIPTOWN", "x")])
    label = "Bern / Wien / VIPTOWN"
    tree = tmp_path / "towns.csv"
    tree.write_text("".join(f"{town};Bern, Wien, VIPTOWN\n" for town in ("Bern", "Wien", "VIPTOWN")))
    recipes = [{"groups": {label: ["Bern", "Wien", "VIPTOWN"]}}, {"taxonomy": str(tree), "separator": ";"}]
    recipes.append({"groups": {"Bern / VIPTOWN": ["Bern", "Wien"], "other": ["VIPTOWN"]}})  # still in the name
    for recipe in recipes:
        spec = spec_of(recipe, suppression_limit=0.2)
        spec["quasi_identifiers"] |= {"town": {"hierarchy": recipe, "min_level": 1}}
        spec["quasi_identifiers"]["sex"]["max_level"] = 0
        for form in ("table", "view") if recipe is recipes[0] and engine.has_transactions else ("table",):
            with pytest.raises(HierarchyError, match=r"column 'town': labels .* list 1 of its values") as error:
                kanon_sql.anonymize("vips", spec, connection=engine.connection, into="seen", form=form)
            assert "VIPTOWN" not in str(error.value)
            assert error.value.values == ()
            assert engine.find("seen") is None
    spec["quasi_identifiers"]["town"]["hierarchy"] = {"groups": {"cities": ["Bern", "Wien", "VIPTOWN"]}}
    released = kanon_sql.anonymize("vips", spec, connection=engine.connection)
    assert set(released.to_df()["town"]) == {"cities"}
    assert len(released.to_df()) == 8


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"show": "common"}], ids=["a node", "a local recoding"])
def test_labels_are_refused_where_a_value_in_them_has_no_released_row(options: dict[str, Any]) -> None:
    draw, ends = random.Random(6), list[bool]()
    while len(ends) < 5:
        shuffled = draw.sample(TOWNS, len(TOWNS))
        members = {"first": shuffled[:3], "second": shuffled[3:]}
        listing = {name: draw.choice([" / ", ", ", ";", "|"]).join(towns) for name, towns in members.items()}
        weights = [draw.choice([1, 1, 4, 9]) for _ in TOWNS]
        people = [(f"{i}", draw.choices(TOWNS, weights)[0], draw.choice("fmx")) for i in range(draw.randint(8, 14))]
        frame = pandas.DataFrame(people, columns=["number", "town", "sex"])
        settings = {"suppression_limit": 0.4, "strategy": "best_first", **options}
        seen = kanon_sql.anonymize(frame, spec_of({"groups": [members]}, **settings)).to_df()
        released = {people[int(i)][1] for i in seen["number"]}
        in_labels = {town for label in {*seen["town"]} & members.keys() for town in members[label]}
        reported = in_labels & {town for _, town, _ in people} - released
        spec = spec_of({"groups": [{listing[name]: towns for name, towns in members.items()}]}, **settings)
        ends.append(bool(reported))
        if reported:
            with pytest.raises(HierarchyError, match=f"list {len(reported)} of its values"):
                kanon_sql.anonymize(frame, spec)
            continue
        built = kanon_sql.anonymize(frame, spec).to_df()
        shown = {(number, listing.get(town, town)) for number, town in zip(seen["number"], seen["town"], strict=True)}
        assert {*zip(built["number"], built["town"], strict=True)} == shown
    assert {*ends} == {True, False}


def test_values_listed_in_a_label_are_parsed() -> None:
    leaves = ["a", "b", "c, d", "x / y", "", "Peru"]
    for label, expected in {
        "a / b": {"a", "b"},
        "a; b": {"a", "b"},
        "a|b|zzz": {"a", "b"},
        "a / b +": {"a", "b"},  # as `kanon init` writes the second of two equal labels
        "c, d / x / y": {"c, d", "x / y"},
        "a / 2 more": {"a"},
        "a / other": {"a"},
        "a, an article": set(),
        "[a, c)": set(),
        "a": set(),
        "x / y": set(),  # a value by itself
        "a-b": set(),
    }.items():
        rows = [[leaf, label if leaf == "Peru" else "rest"] for leaf in leaves if leaf != label or leaf == "Peru"]
        rows += [[label, "rest"]] if label in leaves else []
        built = from_rows(rows, "some.csv")
        listed = values_listed(built, range(1, built.height + 1)).get(label, set())
        assert {built.values[built.codes(0).index(code)] for code in listed} == expected, label
