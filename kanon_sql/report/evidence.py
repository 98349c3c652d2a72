"""The sections of evidence that a board asks for; with the measurements, or how to take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.report import words
from kanon_sql.report.numbers import counted

Manifest = Mapping[str, Any]
Figures = Mapping[str, Any]
_NUMBERS = {2: "two", 3: "three"}


@dataclass(frozen=True)
class Section:
    """One question with its answer in sentences. `measured`: False if nothing was measured; then they say how."""

    title: str
    sentences: tuple[str, ...]
    measured: bool = True


def sections(manifest: Manifest, figures: Figures) -> list[Section]:
    """All sections, in the order of a page."""
    return [
        _why_k(manifest),
        _exact(manifest, figures),
        _several_rows(manifest, figures),
        _model(
            manifest,
            "Membership: whether a person is in the data at all",
            ("presence",),
            "Name the population with the privacy model `delta_presence`.",
        ),
        _model(
            manifest,
            "Risk in the population (journalist)",
            ("k-map", "journalist", "population"),
            "The figures assume that the attacker knows who is in the data. `kanon risk --population FILE` measures "
            "the risk of an attacker who does not.",
        ),
        _attacks(figures),
    ]


def reason_of(column: str, manifest: Manifest) -> str:
    """Why a column has its role, as the spec declares it."""
    found = ((manifest.get("declared") or {}).get("reasons") or {}).get(column)
    return str(found) if found else ""


def _not_measured(title: str, how: str) -> Section:
    return Section(title, (f"Not measured. {how}",), measured=False)


def _why_k(manifest: Manifest) -> Section:
    declared = manifest.get("declared") or {}
    k = next((finding["required"] for finding in manifest["privacy"] if finding["model"] == "k-anonymity"), None)
    title = "Why this minimum group size" if k is None else f"Why a minimum group size of {k}"
    if declared.get("reason_k"):
        return Section(title, (str(declared["reason_k"]),))
    return Section(title, ("No reason was declared. Add `reason_k` to the spec.",), measured=False)


def _exact(manifest: Manifest, figures: Figures) -> Section:
    """The columns that are released exactly: how many rows or people are unique by each of them, and by all."""
    title = "Columns released exactly"
    rows: Sequence[Mapping[str, Any]] = figures.get("exact") or ()
    if not words.exact_columns(manifest):
        return Section(title, ("No column is released exactly.",))
    if not rows:
        return _not_measured(title, "`kanon report` counts who is unique by them, if the release can be read.")
    sentences = []
    for row in rows:
        together = " together with the quasi-identifiers" if row["with_quasi_identifiers"] else ""
        columns = words.listed(row["columns"], 6)
        if not row["unique"]:
            sentences.append(f"{columns}{together}: nobody is unique among {counted(row['counted'], row['of'])}.")
        elif row["share"] is None:
            sentences.append(f"{columns}{together}: some {row['of']} are unique, too few to count here.")
        else:
            sentences.append(f"{columns}{together}: {words.percent(row['share'])} of the {row['of']} are unique.")
    return Section(title, tuple(sentences))


def _several_rows(manifest: Manifest, figures: Figures) -> Section:
    """An attacker who has two or three rows of a person: how many people have rows in all of their groups."""
    title = "Several rows of one person"
    unit = manifest.get("unit")
    if not unit:
        return _not_measured(
            title,
            "Every row counts as one person. If a person can have several rows, name the column of people as `unit`.",
        )
    people, rows = manifest.get("released_people"), manifest["released_rows"]
    if not people:
        return _not_measured(title, "Write the report together with the release, with `kanon anonymize --report`.")
    if people == rows:
        return Section(title, ("Every person in the release has one row.",))
    mean = (
        f"The {people:,} people in the release have {rows / people:.2g} rows each on average. Group sizes count "
        "people, and a person's risk is that of their smallest group."
    )
    found = figures.get("several_rows")
    if not found or not found["known"]:
        return Section(
            title,
            (
                mean,
                "Not measured: an attacker who has several rows of a person, and so can combine groups. `kanon risk` "
                "with `--release` measures it if the source is the one that was released.",
            ),
            measured=False,
        )
    return Section(title, (mean, *map(_known_rows, found["known"]), _linked(found["linked_by"])))


def _known_rows(risk: Mapping[str, Any]) -> str:
    """The risk if an attacker has a number of rows: the worst ones of every person."""
    number = _NUMBERS[risk["rows"]]
    start = f"An attacker who has {number} rows of a person, by the groups that they are in:"
    if risk["mean"] is None:
        return f"{start} not measured, because the groups are too large to compare all of their people."
    whom = f"people with {number} rows or more"
    if not risk["unique"]:
        alone = f"none of the {whom} is the only one with rows in all of these groups"
    elif risk["share"] is None:
        alone = f"some of the {whom}, too few to count here, are the only ones with rows in all of these groups"
    else:
        share = words.percent(risk["share"])
        alone = f"{share} of the {whom} are the only ones with rows in all of these groups"
    if risk["measured"]:
        ends = risk["interval"]
        between = f", 95% interval {words.percent(ends[0])} to {words.percent(ends[1])}" if ends else ""
        alone += f" (a random sample of {risk['measured']:,} people{between})"
    figures = f"At worst the risk is {words.percent(risk['highest'])}, on average {words.percent(risk['mean'])}."
    partly = "" if risk["complete"] else " For people with many rows, only those in the smallest groups were combined."
    return f"{start} {alone}. {figures}{partly}"


def _linked(columns: Sequence[str]) -> str:
    """Whether the release shows which rows belong to one person."""
    if columns:
        return (
            f"The release shows which rows belong to one person, by {words.listed(columns, 4)}: whoever is found this "
            "way is found with all rows. Drop the column, or give every row a different key."
        )
    return (
        "No column of the release shows which rows belong to one person. An attacker needs this from elsewhere, "
        "so that these figures are upper limits."
    )


def _model(manifest: Manifest, title: str, names: Sequence[str], how: str) -> Section:
    """The finding of a privacy model of one of these names; `how` to measure it if it was not required."""
    for finding in manifest["privacy"]:
        if any(name in finding["model"] for name in names):
            required, achieved = words.parameters_of(finding)
            return Section(title, (f"{_capital(finding['model'])}: {required} required, {achieved} found.",))
    return _not_measured(title, how)


def _attacks(figures: Figures) -> Section:
    attacks = figures.get("attacks") or ()
    if not attacks:
        return _not_measured("Attacks", "`kanon report` tries them, if the release and its source can be read.")
    worst = sorted(attacks, key=lambda attack: -(attack["excess"] or 0.0))[:3]
    sentences = [f"{_capital(words.success(attack))}{_interval(attack)}." for attack in worst if attack["excess"]]
    few = [attack for attack in attacks if attack["excess"] is None and words.is_above_chance(attack)]
    if few:
        names = words.listed(list(dict.fromkeys(words.named(attack["attack"]) for attack in few)))
        sentences.append(f"Right for a few, too few to count here: {names}.")
    tried = f"{counted(len(attacks), 'attacks')} were tried"
    return Section("Attacks", (*sentences, f"{tried}; all are below." if sentences else f"{tried}, none above chance."))


def _interval(attack: Mapping[str, Any]) -> str:
    ends = attack.get("interval")
    if not ends or ends[0] == ends[1]:
        return ""
    return f" (95% interval of the success: {words.percent(ends[0])} to {words.percent(ends[1])})"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"
