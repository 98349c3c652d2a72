"""How a user asks for privacy models, in a spec, in flags and in Python, and what is said of them."""

from random import Random
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql.privacy import (
    PrivacyModel,
    ReleaseModel,
    alpha,
    beta_likeness,
    delta_disclosure,
    k_anonymity,
    l_diversity,
    marketer_risk,
    population_uniqueness,
    prosecutor_risk,
    t_closeness,
)

RECIPES = {"age": {"hierarchy": {"ranges": [10, 20]}}, "zip": {"hierarchy": {"redact": "right"}}}


def people(rows: int = 200) -> pandas.DataFrame:
    random = Random(1)
    return pandas.DataFrame(
        {
            "age": [random.randint(20, 59) for _ in range(rows)],
            "zip": [random.choice(["12", "13", "21"]) for _ in range(rows)],
            "disease": [random.choice(["HIV", "flu", "cold", "acne"]) for _ in range(rows)],
            "income": [1000 * random.randint(1, 9) for _ in range(rows)],
        }
    )


SIZES: list[tuple[dict[str, Any], list[PrivacyModel | ReleaseModel]]] = [
    ({"risk": {"highest": 0.125, "mean": 0.05}}, [*prosecutor_risk(highest=0.125, mean=0.05)]),
    ({"risk": {"above": {"threshold": 0.2, "share": 0.05}}}, [*prosecutor_risk(above=0.2, share=0.05)]),
    ({"risk": {"model": "marketer", "mean": 0.05}}, [marketer_risk(0.05)]),
    ({"uniqueness": {"share": 0.01, "sampling_fraction": 0.05}}, [population_uniqueness(0.01, 0.05)]),
]
ASKED: list[tuple[dict[str, Any], list[PrivacyModel]]] = [
    ({"l_diversity": {"disease": 3}}, [l_diversity("disease", 3)]),
    ({"l_diversity": {"disease": {"l": 2.5, "kind": "entropy"}}}, [l_diversity("disease", 2.5, "entropy")]),
    (
        {"l_diversity": {"disease": {"l": 2, "kind": "recursive", "c": 3}}},
        [l_diversity("disease", 2, "recursive", c=3)],
    ),
    ({"t_closeness": {"income": 0.3}}, [t_closeness("income", 0.3)]),
    ({"t_closeness": {"income": {"t": 0.3, "distance": "ordered"}}}, [t_closeness("income", 0.3, "ordered")]),
    ({"alpha_k": {"disease": 0.6}}, [alpha("disease", 0.6)]),
    ({"alpha_k": {"disease": {"alpha": 0.5, "value": "HIV"}}}, [alpha("disease", 0.5, "HIV")]),
    ({"beta_likeness": {"disease": 2}}, [beta_likeness("disease", 2)]),
    ({"beta_likeness": {"disease": {"beta": 2, "kind": "basic"}}}, [beta_likeness("disease", 2, "basic")]),
    ({"delta_disclosure": {"disease": 1.5}}, [delta_disclosure("disease", 1.5)]),
]


@pytest.mark.parametrize(("said", "models"), ASKED, ids=[str(said) for said, _ in ASKED])
@pytest.mark.parametrize("strategy", ["auto", "mondrian"])
def test_a_spec_asks_what_python_asks(said: dict[str, Any], models: list[PrivacyModel], strategy: str) -> None:
    spec = {"quasi_identifiers": RECIPES, "strategy": strategy}
    by_spec = kanon_sql.anonymize(people(), {**spec, "privacy": {"k": 4, **said}})
    by_flag = kanon_sql.anonymize(people(), spec, k=4, **said)
    by_python = kanon_sql.anonymize(people(), spec, privacy=[k_anonymity(4), *models])
    assert by_spec.manifest["privacy"] == by_flag.manifest["privacy"] == by_python.manifest["privacy"]
    assert [(each["model"], each["required"]) for each in by_spec.manifest["privacy"]] == [
        (each.name, each.required) for each in (k_anonymity(4), *models)
    ]
    assert by_spec.to_df().equals(by_python.to_df())
    assert by_spec.manifest["roles"]["sensitive"] == [models[0].sensitive]


@pytest.mark.parametrize(("said", "models"), SIZES, ids=[str(said) for said, _ in SIZES])
@pytest.mark.parametrize("k", [None, 3])
def test_a_risk_is_asked_for_without_k_unless_that_is_said(
    said: dict[str, Any], models: list[PrivacyModel | ReleaseModel], k: int | None
) -> None:
    spec = {"quasi_identifiers": RECIPES}
    by_spec = kanon_sql.anonymize(people(), {**spec, "privacy": said | ({"k": k} if k else {})})
    by_flag = kanon_sql.anonymize(people(), spec, k=k, **said)
    by_python = kanon_sql.anonymize(people(), spec, privacy=[*([k_anonymity(k)] if k else []), *models])
    assert by_spec.manifest["privacy"] == by_flag.manifest["privacy"] == by_python.manifest["privacy"]
    names = [each["model"] for each in by_spec.manifest["privacy"] if each["model"] != "class size"]
    assert names == [*(["k-anonymity"] if k else []), *(each.name for each in models)]


def test_models_of_a_spec_and_of_python_hold_together() -> None:
    spec = {"quasi_identifiers": RECIPES, "privacy": {"k": 4, "l_diversity": {"disease": 3}}}
    names = lambda release: [(each["model"], each["required"]) for each in release.manifest["privacy"]]  # noqa: E731
    diverse, close = ("distinct l-diversity of disease", 3), ("t-closeness of income (equal distance)", 0.4)
    mixed = kanon_sql.anonymize(people(), spec, privacy=[t_closeness("income", 0.4)])
    assert names(mixed) == [("k-anonymity", 4), diverse, close]
    mixed = kanon_sql.anonymize(people(), spec, privacy=[t_closeness("income", 0.4), k_anonymity(2)])
    assert names(mixed) == [diverse, close, ("k-anonymity", 2)]


def test_a_hierarchy_of_a_sensitive_column_comes_from_a_recipe_or_the_folder(tmp_path: Any) -> None:
    (tmp_path / "disease.csv").write_text("HIV;virus;*\nflu;virus;*\ncold;virus;*\nacne;skin;*\n")
    said = {"disease": {"t": 0.3, "distance": "hierarchical"}}
    spec = {"quasi_identifiers": RECIPES, "privacy": {"k": 4, "t_closeness": said}}
    by_folder = kanon_sql.anonymize(people(), spec, hierarchies=tmp_path)
    said["disease"]["hierarchy"] = str(tmp_path / "disease.csv")
    by_file = kanon_sql.anonymize(people(), spec)
    (asked,) = by_file.manifest["privacy"][1:]
    assert (asked["model"], asked["required"]) == ("t-closeness of disease (hierarchical distance)", 0.3)
    assert 0 < asked["achieved"] <= 0.3
    assert by_folder.manifest["privacy"] == by_file.manifest["privacy"]
    assert kanon_sql.anonymize(people(), spec | {"privacy": {"t_closeness": {"disease": 0.3}}}).to_df().shape
