"""The decision about a release: its figures, the verdict, and the fields that the verdict depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from starlette.datastructures import FormData

from kanon_sql.page.draft import Draft
from kanon_sql.page.state import PageResult
from kanon_sql.page.web import number
from kanon_sql.report import words
from kanon_sql.report.numbers import counted, figure, parameters
from kanon_sql.report.verdict import Verdict, verdict
from kanon_sql.spec import DECLARED, NormName, Sensitivity

RECIPIENTS = {
    "": ("not named", "The verdict needs a recipient: it sets the thresholds."),
    "public": ("the public", "Everybody can read the release and compare it with anything."),
    "contract": ("a partner under contract", "Named people, who are bound not to identify anybody."),
    "secure": ("a secure environment", "Named users, who cannot take the rows out, and whose results are checked."),
}
NORMS = {
    "gdpr": "GDPR",
    "ehds": "European Health Data Space",
    "ema": "EMA Policy 0070",
    "health_canada": "Health Canada",
    "ipc": "IPC Ontario",
    "pdpc": "PDPC Singapore",
    "hipaa": "HIPAA",
    "cms": "CMS",
    "statistics": "statistical offices",
}
SENSITIVITIES = ("", *get_args(Sensitivity))
_TEXTS = ("purpose", "retention", "review_date", "reason_k")
_LONGEST = 500  # characters of a text


@dataclass(frozen=True)
class DecisionFigure:
    """One figure: its name, its value, and a note; `measured`: whether it has a value."""

    name: str
    value: str
    note: str = ""
    measured: bool = True


def declared(draft: Draft) -> dict[str, Any]:
    """What the draft declares about the decision."""
    return {name: draft.keys[name] for name in DECLARED if draft.keys.get(name)}


def with_declared(draft: Draft, form: FormData) -> Draft:
    """The draft with the fields of the form about the decision; SpecError for an invalid one."""
    keys: dict[str, Any] = {}
    for name in _TEXTS:
        if name in form:
            keys[name] = " ".join(str(form[name]).split())[:_LONGEST] or None
    for name in ("recipient", "sensitivity"):
        if name in form:
            keys[name] = str(form[name]) or None
    if "accepted_risk" in form:
        text = str(form["accepted_risk"]).strip()
        keys["accepted_risk"] = float(number(form, "accepted_risk", "", 0, 1, 0)) if text else None
    if "with_norms" in form:
        chosen = {str(name) for name in form.getlist("norms")}
        keys["norms"] = [name for name in get_args(NormName) if name in chosen] or None
    edited = draft.with_keys(**keys)
    edited.spec(target=None)
    return edited


def verdict_on(result: PageResult, draft: Draft) -> Verdict:
    """The verdict on a result, by its figures as far as they were measured."""
    return verdict(result.manifest, result.figures or None, declared(draft))


def figures_of(result: PageResult) -> Iterator[DecisionFigure]:
    """All figures of the decision: privacy, risk, attacks, and lost detail."""
    manifest = result.manifest
    who = words.who(manifest)
    for finding in manifest["privacy"]:
        note = f"required: {parameters(finding['required'])}"
        achieved = finding["achieved"]
        value = "nothing was released" if achieved is None else str(achieved)
        if isinstance(achieved, int | float):
            value = figure(achieved)
        yield DecisionFigure(finding["model"], value, note)
    risk = words.risk(manifest)
    smallest = words.smallest_group(manifest)
    yield DecisionFigure("Smallest group", counted(smallest, who) if smallest else "–")
    yield DecisionFigure("Highest risk of being found", words.percent(risk[0]) if risk else "–", figure_note(risk, 0))
    yield DecisionFigure("Mean risk", words.percent(risk[1]) if risk else "–", figure_note(risk, 1))
    yield from _measured(result)
    kept = words.detail(manifest)
    yield DecisionFigure("Detail kept", "–" if kept is None else words.percent(kept))
    rows, left_out = manifest["rows"], manifest["suppressed_rows"]
    share = words.percent(left_out / rows) if rows else "–"
    yield DecisionFigure("Rows left out", f"{left_out:,} of {rows:,}", share)
    if manifest.get("people"):
        yield DecisionFigure("People left out", f"{manifest['suppressed_people']:,} of {manifest['people']:,}")


def figure_note(risk: Sequence[float] | None, place: int) -> str:
    """The unrounded risk, which is compared with thresholds."""
    return f"exactly {risk[place]:.6g}" if risk else ""


def _measured(result: PageResult) -> Iterator[DecisionFigure]:
    """The figures that are measured on demand."""
    exact, attacks, counts = (result.measures.get(name) for name in ("exact", "attacks", "counts"))
    attacks = attacks or result.figures.get("attacks")
    name = "Unique by columns released unchanged"
    if exact and exact["of"]:
        whom = "people" if exact["people"] else "rows"
        note = f"{exact['unique']:,} {whom}, by {words.listed(exact['columns'])}"
        yield DecisionFigure(name, words.percent(exact["unique"] / exact["of"]), note)
    elif exact:
        yield DecisionFigure(name, "no column is released unchanged")
    else:
        yield DecisionFigure(name, "not measured", measured=False)
    yield _attack(attacks)
    if counts:
        note = f"at most {words.percent(counts['percentile_95'])} in 95 of 100 counts"
        yield DecisionFigure("Error of counts, in the median", words.percent(counts["median"]), note)
    else:
        yield DecisionFigure("Error of counts", "not measured", measured=False)


def _attack(attacks: Sequence[Mapping[str, Any]] | None) -> DecisionFigure:
    """The attack that is furthest above chance."""
    if not attacks:
        return DecisionFigure("Attacks", "not measured", measured=False)
    worst = max(attacks, key=lambda attack: attack["excess"] or 0.0)
    if not worst["excess"]:
        return DecisionFigure("Attacks", "none above chance", f"{len(attacks)} tried")
    chance = max(worst["baseline"] or 0.0, worst["control"] or 0.0)
    of = f" of {worst['column']}" if worst["column"] else ""
    value = f"right for {words.percent(worst['share'])}"
    return DecisionFigure(
        f"Most successful attack: {words.named(worst['attack'])}{of}", value, f"by chance {words.percent(chance)}"
    )
