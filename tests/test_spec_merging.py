"""Options override a spec: those of the command line or of Python, and those of one algorithm."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from kanon_sql.errors import SpecError
from kanon_sql.spec import AttributeSpec, Privacy, Spec, SuppressRecipe, Target, merge, parse
from support.specs import ATTRIBUTES, QI_TEXT, error, full, load, small, write

# Options of one algorithm


NESTED = "prioprivacy: {rules: my_rules, suppression_order: published, wildcard_suppression: true}"
FLAT = "{rules: my_rules, suppression_order: published, wildcard_suppression: true}"


def test_options_of_an_algorithm_can_be_top_level_or_under_its_name() -> None:
    nested, flat = small(**yaml.safe_load(NESTED)), small(**yaml.safe_load(FLAT))
    assert nested == flat
    assert (flat.rules, flat.suppression_order, flat.wildcard_suppression) == ("my_rules", "published", True)
    assert (small().rules, small().suppression_order, small().wildcard_suppression) == (None, "plain", False)
    mixed = small(rules="my_rules", prioprivacy={"suppression_order": "published", "wildcard_suppression": True})
    assert mixed == flat
    assert parse(flat.model_dump()) == flat


def test_a_strategy_can_have_its_own_evaluations() -> None:
    spec = small(kgen={"evaluations": 8}, memetic={"evaluations": 9})
    assert [spec.evaluations_of(name) for name in ("kgen", "memetic", "random", "auto")] == [8, 9, None, None]
    assert [small(evaluations=7).evaluations_of(name) for name in ("kgen", "auto")] == [7, 7]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{rules: a, prioprivacy: {rules: b}}",
            "rules is given twice, alone and as prioprivacy.rules; keep one of the two",
        ),
        (
            "{wildcard_suppression: true, prioprivacy: {wildcard_suppression: true}}",
            "wildcard_suppression is given twice, alone and as prioprivacy.wildcard_suppression; keep one of the two",
        ),
        ("prioprivacy: {rule: a}", "prioprivacy.rule is not a key of a spec; did you mean 'rules'?"),
        ("ruels: a", "ruels is not a key of a spec; did you mean 'rules'?"),
        ("{rules: a, prioprivacy: 5}", "prioprivacy: give a mapping such as {rules: my_rules}, not 5"),
        ("rules: 5", "prioprivacy.rules: give the path of a folder with <level>_<column>.txt, not 5"),
        ("prioprivacy: {suppression_order: odd}", "prioprivacy.suppression_order: give plain or published, not 'odd'"),
        ("kgen: {evaluations: 0}", "kgen.evaluations: give a whole number of at least 1, not 0"),
        ("random: 9", "random: give a mapping such as {evaluations: 5000}, not 9"),
        ("kgen: {k: 9}", "kgen.k is not a key of a spec; the keys there are evaluations"),
    ],
)
def test_wrong_options_of_an_algorithm(text: str, message: str) -> None:
    assert error(text) == message


def test_a_file_can_set_the_options_of_an_algorithm(tmp_path: Path) -> None:
    path = write(tmp_path, f"{{source: t, quasi_identifiers: [a], {NESTED}}}")
    assert load(path).rules == str(tmp_path / "my_rules")


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"rules": "new"}, {"rules": "new", "wildcard_suppression": True}),
        ({"wildcard_suppression": False}, {"rules": "old", "wildcard_suppression": False}),
        ({"prioprivacy": {"rules": "new"}}, {"rules": "new"}),
    ],
)
@pytest.mark.parametrize("nested", [True, False])
def test_an_explicit_option_of_an_algorithm_takes_precedence(
    settings: dict[str, Any], expected: dict[str, Any], nested: bool
) -> None:
    options = {"rules": "old", "wildcard_suppression": True}
    spec = small(**({"prioprivacy": options} if nested else options))
    assert merge(spec, **settings) == small(prioprivacy=expected)


def test_explicit_evaluations_override_those_of_a_spec() -> None:
    assert merge(small(kgen={"evaluations": 8}), evaluations=9).evaluations_of("kgen") == 9
    assert merge(small(evaluations=8), kgen={"evaluations": 9}).evaluations_of("kgen") == 9
    with pytest.raises(SpecError, match="given twice"):
        merge(small(), evaluations=8, kgen={"evaluations": 9})


def test_load_takes_from_the_overrides_what_the_file_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "data.csv").touch()
    path = write(tmp_path, "{source: , hierarchies: h, privacy: {k: 3}}")
    spec = load(path, source="data.csv", quasi_identifiers=["age"], k=None, hierarchies="mine")
    assert (spec.source, list(spec.quasi_identifiers)) == ("data.csv", ["age"])
    assert (spec.privacy.k, spec.hierarchies) == (3, "mine")
    with pytest.raises(SpecError, match=r"^quasi_identifiers is missing"):
        load(path, source="data.csv")


# Merging


def test_no_options_change_nothing() -> None:
    names = ("source", "database", "quasi_identifiers", "k", "output", "into", "form", "overwrite", "mask")
    assert merge(full(), **dict.fromkeys(names)) == full()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("source", "other"),
        ("database", "other.duckdb"),
        ("hierarchies", "h"),
        ("suppression_limit", 0.0),
        ("metric", "height"),
        ("strategy", "incognito"),
        ("time_limit", 1.5),
        ("evaluations", 7),
        ("seed", 0),
        ("unmapped", "error"),
        ("mask", False),
        ("shuffle", False),
        ("identifiers", ("ssn",)),
        ("sensitive", ()),
    ],
)
def test_explicit_options_take_precedence(name: str, value: object) -> None:
    spec = merge(full(), **{name: value})
    assert getattr(spec, name) == value
    assert spec == full().model_copy(update={name: value})


def test_k_alone_is_written_flat() -> None:
    assert merge(full(), k=2) == full().model_copy(update={"privacy": Privacy(k=2)})
    assert merge(small(), k=2).privacy.k == 2
    with pytest.raises(SpecError, match=r"^privacy\.k: give a whole number of at least 1, not 0$"):
        merge(full(), k=0)


def test_repeated_columns_keep_their_recipe() -> None:
    spec = merge(full(), quasi_identifiers=["weight", "zip"])
    assert dict(spec.quasi_identifiers) == {"weight": AttributeSpec(), "zip": ATTRIBUTES["zip"]}
    spec = merge(full(), quasi_identifiers={"zip": {"hierarchy": "suppress"}})
    assert dict(spec.quasi_identifiers) == {"zip": AttributeSpec(hierarchy=SuppressRecipe())}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"quasi_identifiers": ["a", "a"]}, "quasi_identifiers: 'a' is listed twice; keep one of the two"),
        ({"quasi_identifiers": "a"}, f"quasi_identifiers: give {QI_TEXT}, not 'a'"),
        (
            {"sensitive": ["zip"]},
            "'zip' is in both `quasi_identifiers` and `sensitive`; keep it in one of them",
        ),
        ({"sorce": "a"}, "sorce is not a key of a spec; did you mean 'source'?"),
        ({"output": "a", "into": "b"}, "target: both a file and a table are named; keep one of `output` and `into`"),
        ({"output": "a", "form": "view"}, "target: a view needs a name; choose it with `into`"),
    ],
)
def test_wrong_overrides(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        merge(full(), **settings)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("settings", "target"),
    [
        ({"into": "patients_anon"}, Target(table="patients_anon", form="view", overwrite=True)),
        ({"into": "other"}, Target(table="other", form="view", overwrite=False)),
        ({"into": "other", "overwrite": True}, Target(table="other", form="view", overwrite=True)),
        ({"output": Path("a.csv")}, Target(file="a.csv", overwrite=False)),
        ({"output": "a.csv", "overwrite": True}, Target(file="a.csv", overwrite=True)),
        ({"form": "table"}, Target(table="patients_anon", form="table", overwrite=True)),
        ({"overwrite": False}, Target(table="patients_anon", form="view", overwrite=False)),
    ],
)
def test_a_new_place_does_not_inherit_the_permission_to_overwrite(settings: dict[str, Any], target: Target) -> None:
    assert merge(full(), **settings).target == target


def test_a_spec_from_the_command_line_alone() -> None:
    spec = merge(Spec, source="a.csv", quasi_identifiers=["age", "zip"], k=3, output="b.csv", seed=None)
    assert spec == parse(
        {
            "source": "a.csv",
            "quasi_identifiers": ["age", "zip"],
            "privacy": {"k": 3},
            "target": {"file": "b.csv"},
        }
    )
    with pytest.raises(SpecError, match=r"^target: neither a file nor a table is named; choose one of them with"):
        merge(Spec, source="a.csv", quasi_identifiers=["age"], overwrite=True)


def test_merging_leaves_the_first_spec_unchanged() -> None:
    spec = full()
    merge(spec, k=2, quasi_identifiers=["zip"], into="other")
    assert spec == full()
