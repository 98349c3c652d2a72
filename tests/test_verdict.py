"""The verdict on a release: every reason to refuse, thresholds at their exact figures, rows and people, the unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pandas
import pytest

import kanon_sql
from kanon_sql.documents.decision import VERDICT
from kanon_sql.errors import SpecError
from kanon_sql.report.thresholds import THRESHOLDS
from kanon_sql.report.verdict import Verdict, verdict
from kanon_sql.spec import load_runs

SUPPRESS = {"hierarchy": "suppress"}
TODAY = date(2026, 11, 26)
SAFE_MODEL = {"model": "k-anonymity", "required": 20, "achieved": 20}
SAFE: dict[str, Any] = {
    "rows": 100,
    "released_rows": 100,
    "classes": 5,
    "smallest_class": 20,
    "verified": True,
    "privacy": [SAFE_MODEL],
    "roles": {
        "quasi_identifiers": ["age", "zip"],
        "sensitive": [],
        "kept": [],
        "dropped": [],
        "identifiers_dropped": [],
    },
    "source": "people.csv",
    "target": {"file": "release.csv"},
    "warnings": [],
}
UNIT = {"unit": "person", "people": 100, "risk_of_people": {"smallest_class": 20, "mean": 0.05, "above": []}}


def attack(name: str, share: float | None, excess: float | None, **more: Any) -> dict[str, Any]:
    known = {"column": None, "counted": "rows", "attempts": 100, "hits": bool(share) or share is None, "baseline": 0.0}
    return {"attack": name, "share": share, "excess": excess, "control": None, **known, **more}


MEASURED = {"attacks": [attack("linkability", 0.0, 0.0)]}


def decided(
    manifest: Mapping[str, Any] | None = None, figures: Mapping[str, Any] | None = None, **declared: Any
) -> Verdict:
    """The verdict on a safe release with some other entries."""
    measured = {**MEASURED, **(figures or {})}
    return verdict({**SAFE, **(manifest or {})}, measured, {"recipient": "public", **declared}, TODAY)


def roles(**columns: list[str]) -> dict[str, Any]:
    return {"roles": {**SAFE["roles"], **columns}}


def test_a_safe_release_is_releasable_to_the_public() -> None:
    found = decided()
    assert (found.outcome, found.conditions, found.why) == ("releasable", (), ())
    assert found.sentence == "releasable, for the public"
    assert all(check.met for check in found.checks)
    jsonschema.validate(found.to_dict(), VERDICT)
    assert Verdict.read(found.to_dict()) == found


@pytest.mark.parametrize(
    ("norms", "degree", "recipient", "least"),
    [
        (["ema"], None, "public", 12),  # 1 / 11 is 0.0909
        (["health_canada"], None, "public", 12),
        (["ipc"], "low", "public", 12),
        (["ipc"], "medium", "contract", 14),  # 1 / 13 is 0.0769
        (["ipc"], "high", "contract", 20),  # 1 / 20 is exactly 0.05
        (["ipc"], None, "secure", 20),  # the strictest, if nothing is declared
        (["pdpc"], None, "public", 5),
        (["pdpc"], None, "contract", 5),
        (["pdpc"], None, "secure", 3),
        (["cms"], None, "public", 11),
        (["statistics"], None, "public", 10),
        ([], None, "public", 12),
        ([], None, "contract", 5),
        ([], None, "secure", 3),
        (["ema"], None, "contract", 5),  # it sets no figure for partners, so the default does
        (["ema", "ipc"], "high", "public", 20),
    ],
)
@pytest.mark.parametrize("by_people", [False, True])
def test_thresholds_are_met_at_their_exact_figures(
    norms: list[str], degree: str | None, recipient: str, least: int, by_people: bool
) -> None:
    for size, is_met in [(least, True), (least - 1, False)]:
        manifest: dict[str, Any] = {"smallest_class": size}
        if by_people:  # a class has more rows than people
            manifest = {**UNIT, "smallest_class": 1000}
            manifest["risk_of_people"] = {**manifest["risk_of_people"], "smallest_class": size}
        found = decided(manifest, recipient=recipient, norms=norms, sensitivity=degree)
        assert (found.outcome != "not releasable") is is_met, (size, found)
        assert all(check.source for check in found.checks)


@pytest.mark.parametrize(("accepted", "least"), [(0.1, 10), (0.33, 4), (1 / 3, 3), (1.0, 1)])
def test_an_own_threshold_decides_and_is_justified_if_it_is_laxer_than_norms(accepted: float, least: int) -> None:
    found = decided({"smallest_class": least}, accepted_risk=accepted)
    assert found.outcome == "releasable under conditions"
    assert found.conditions[0].startswith(f"Justify an accepted risk of {accepted:g}: EMA Policy 0070")
    if least > 1:
        assert decided({"smallest_class": least - 1}, accepted_risk=accepted).outcome == "not releasable"
    assert decided({"smallest_class": least}, accepted_risk=accepted, norms=["ipc"]).outcome == "not releasable"
    assert decided(accepted_risk=0.05).outcome == "releasable"


DIVERSE_MODEL = {"model": "distinct l-diversity of ill", "required": 2, "achieved": 2}
UNMEASURED_PEOPLE = {"unit": "person", "privacy": [DIVERSE_MODEL]}
NOT_ANONYMOUS = {"privacy": [{"model": "NOT k-anonymous: rows match", "required": 5, "achieved": 5}]}
SENSITIVE = roles(sensitive=["ill"])
KEPT = roles(kept=["day"])
PROTECTED = {**SENSITIVE, "privacy": [SAFE_MODEL, DIVERSE_MODEL]}


def exact(share: float | None, of: str = "rows", **more: Any) -> dict[str, Any]:
    row = {"columns": ["day"], "with_quasi_identifiers": False, "of": of, "counted": 100}
    return {"exact": [{**row, "unique": share != 0, "share": share, **more}]}


HOMOGENEOUS = {"attacks": [attack("homogeneity", 0.2, 0.1, column="ill")]}
DIVERSE = {"attacks": [attack("homogeneity", 0.0, 0.0, column="ill"), *MEASURED["attacks"]]}
NOT, UNDER, OPEN = "not releasable", "releasable under conditions", "not decided"


@pytest.mark.parametrize(
    ("manifest", "figures", "outcomes", "word"),
    [
        ({"verified": False}, {}, (NOT, NOT, NOT), "not satisfied"),
        ({"verified": None}, {}, (OPEN, OPEN, OPEN), "not verified"),
        (NOT_ANONYMOUS, {}, (NOT, NOT, UNDER), "NOT"),
        ({"k_anonymous": False, "smallest_group": 30}, {}, (NOT, NOT, OPEN), "not k-anonymous"),
        ({"cloak": {"shared": False}}, {}, (OPEN, UNDER, UNDER), "do not share"),
        ({"smallest_class": None}, {}, (OPEN, OPEN, OPEN), "unknown"),
        ({**UNMEASURED_PEOPLE, "smallest_class": 500}, {}, (OPEN, OPEN, OPEN), "people unknown"),
        ({**UNMEASURED_PEOPLE, "smallest_class": 2}, {}, (NOT, NOT, NOT), "people unknown"),
        (SENSITIVE, {}, (OPEN, UNDER, UNDER), "no privacy model"),
        (SENSITIVE, HOMOGENEOUS, (NOT, UNDER, UNDER), "single value of ill"),
        (SENSITIVE, DIVERSE, (UNDER, UNDER, UNDER), "no group has a single value"),
        (KEPT, {}, (OPEN, UNDER, UNDER), "not measured"),
        (KEPT, exact(0.03), (NOT, NOT, UNDER), "3% of the rows are unique by day"),
        ({**KEPT, **UNIT}, exact(None, "people"), (NOT, NOT, UNDER), "some people are unique by day"),
        (KEPT, exact(0.5, with_quasi_identifiers=True), (UNDER, UNDER, UNDER), "together with the quasi-identifiers"),
        (PROTECTED, exact(0.5, columns=["ill"]), (UNDER, UNDER, UNDER), "unique by ill"),
        ({**KEPT, **UNIT}, exact(0.0), (OPEN, UNDER, UNDER), "people unknown"),
        ({}, {"attacks": [attack("inference", 0.9, 0.5)]}, (NOT, UNDER, UNDER), "right for 90 of 100"),
        ({}, {"attacks": [attack("skewness", 0.7, 0.6)]}, (UNDER, UNDER, UNDER), "70 of 100 rows are in a group"),
        ({}, {"attacks": [attack("inference", None, None)]}, (UNDER, UNDER, UNDER), "a few rows"),
        ({}, {"attacks": []}, (OPEN, UNDER, UNDER), "not measured"),
        ({"differencing": {"people": 1}}, {}, (NOT, NOT, NOT), "1 singled out"),
        ({"run": {"singled_out": {"people": 2}}}, {}, (NOT, NOT, NOT), "2 singled out"),
        ({"differencing": {"people": 0, "earlier": {"most_people": 3}}}, {}, (NOT, NOT, NOT), "3 singled out"),
        ({"target": {"table": "v", "as": "view"}}, {}, (UNDER, UNDER, UNDER), "follows its source"),
    ],
)  # fmt: skip
def test_every_reason_against_a_release_prevents_a_plain_yes(
    manifest: dict[str, Any], figures: dict[str, Any], outcomes: tuple[str, ...], word: str
) -> None:
    for recipient, outcome in zip(("public", "contract", "secure"), outcomes, strict=True):
        found = decided(manifest, figures, recipient=recipient)
        assert found.outcome == outcome, (recipient, found)
        assert any(word in check.found for check in found.checks if check.met is not True)
        if outcome != UNDER:
            assert found.why
        assert all(check.condition for check in found.checks if check.met is not True and not check.decides)


@pytest.mark.parametrize(
    ("manifest", "figures"),
    [
        (KEPT, exact(0.0)),
        ({**KEPT, **UNIT}, exact(0.0, "people")),
        (PROTECTED, exact(0.0, columns=["ill"])),
        ({"released_rows": 0, "classes": 0, "smallest_class": None}, {}),
        ({"differencing": {"people": 0}}, {}),
    ],
)  # fmt: skip
def test_what_was_measured_and_met_needs_no_condition(manifest: dict[str, Any], figures: dict[str, Any]) -> None:
    found = decided(manifest, figures)
    assert (found.outcome, found.why) == ("releasable", ()), found


def test_a_figure_that_is_measured_later_can_only_lower_the_smallest_group() -> None:
    measured = {"risk": [{"figure": "smallest class", "source": 1, "release": 2}], "counted": "rows"}
    assert decided(figures=measured).outcome == "not releasable"
    assert decided({"smallest_class": 2}, {**measured, "risk": []}).outcome == "not releasable"


def test_without_a_recipient_nothing_is_decided_and_every_recipient_has_a_line() -> None:
    found = verdict({**SAFE, "smallest_class": 6}, MEASURED, None, TODAY)
    assert found.sentence == "not decided: name the recipient"
    assert found.by_recipient is not None
    assert [*found.by_recipient] == ["public", "contract", "secure"]
    assert found.by_recipient["public"].startswith(
        "not releasable, for the public: EMA Policy 0070: a highest risk of 0.1667"
    )
    assert found.by_recipient["contract"].startswith("releasable under conditions, for a partner under contract")
    jsonschema.validate(found.to_dict(), VERDICT)


def test_norms_without_a_figure_are_conditions_and_safe_harbor_is_checked_line_by_line() -> None:
    assert "Complete the assessment that GDPR requires" in decided(norms=["gdpr"]).conditions[0]
    assert decided(norms=["hipaa"]).outcome == "not decided"
    norm = {"name": "HIPAA Safe Harbor", "rule": "C: dates", "asked": "years alone", "found": "in day"}
    assert decided(figures={"norms": [{**norm, "met": False}]}, norms=["hipaa"]).outcome == "not releasable"
    assert decided(figures={"norms": [{**norm, "met": None}]}, norms=["hipaa"]).outcome == UNDER
    assert decided(figures={"norms": [{**norm, "met": False}]}).outcome == "releasable"  # not chosen


def test_declarations_are_conditions_and_a_review_date_can_be_overdue() -> None:
    partner = decided(recipient="partner under contract")
    assert partner.recipient == "contract"
    assert "Declare what the spec does not: purpose, retention and review date." in partner.conditions
    complete = {"purpose": "A study.", "retention": "2 years", "review_date": "2026-11-26"}
    assert not any("Declare" in condition for condition in decided(recipient="contract", **complete).conditions)
    overdue = decided(review_date="2026-11-25")
    assert overdue.outcome == UNDER
    assert overdue.conditions == ("Review the decision now: its review date was 2026-11-25.",)
    of_manifest = verdict({**SAFE, "declared": {"recipient": "secure"}}, MEASURED, {"recipient": "public"}, TODAY)
    assert of_manifest.recipient == "public"


def test_the_assumed_knowledge_names_columns_and_the_judgment() -> None:
    assumed = " ".join(decided({**KEPT, "population": {"source": "voters.parquet"}}).assumed)
    for words in ("values of age and zip", "voters.parquet", "and not day", "C-413/23 P", "Every row is one person"):
        assert words in assumed


def test_every_threshold_has_one_figure_and_a_source() -> None:
    for threshold in THRESHOLDS:
        assert (threshold.risk is None) != (threshold.size is None)
        assert threshold.source


def test_a_pipeline_does_not_release_again_because_a_reason_or_the_recipient_has_changed(tmp_path: Path) -> None:
    digests = set()
    for declared in ("", "recipient: secure environment\nreview_date: 2027-01-31\n", "reasons: {age: Known.}\n"):
        path = tmp_path / "release.yml"
        path.write_text(f"source: people.csv\nquasi_identifiers: [age]\ntarget: {{file: out.csv}}\n{declared}")
        (scheduled,) = load_runs(path)
        digests.add(scheduled.sha256)
    assert scheduled.spec.reasons == {"age": "Known."}
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("declared", "error"),
    [
        ({"recipient": "friends"}, "recipient: give one of public, contract, secure"),
        ({"review_date": "soon"}, "review_date: give a date such as 2027-01-31, not 'soon'"),
        ({"norms": ["gdpr", "ccpa"]}, "norms: give a list of gdpr, ema"),
        ({"norms": ["ema", "ema"]}, "'ema' is listed twice"),
        ({"accepted_risk": 1.5}, "accepted_risk: give a number above 0, at most 1"),
        ({"sensitivity": "extreme"}, "sensitivity: give one of low, medium, high"),
        ({"reasons": ["age"]}, "reasons: give a mapping"),
        ({"reasons": {"aeg": "Known."}}, "`reasons` has 'aeg', which is not a column; there are age"),
    ],
)
def test_a_wrong_declaration_is_an_error_before_anything_is_counted(declared: dict[str, Any], error: str) -> None:
    with pytest.raises(SpecError, match=re.escape(error)):
        kanon_sql.anonymize(pandas.DataFrame({"age": [1, 1]}), {"quasi_identifiers": {"age": SUPPRESS}, **declared})
