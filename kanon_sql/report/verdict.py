"""The verdict on a release: whether it can be given to its recipient, by which figures, and under which conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any, Literal, TypeAlias

from kanon_sql.report import words
from kanon_sql.report.numbers import counted, figure
from kanon_sql.report.thresholds import WITHOUT_FIGURE, laxer_than, thresholds_for
from kanon_sql.spec import DECLARED, RECIPIENTS, ReleaseSpec, recipient_of

Outcome: TypeAlias = Literal["releasable", "releasable under conditions", "not releasable", "not decided"]
RELEASABLE: Outcome = "releasable"
WITH_CONDITIONS: Outcome = "releasable under conditions"
NOT_RELEASABLE: Outcome = "not releasable"
NOT_DECIDED: Outcome = "not decided"
WELL_ABOVE = 0.1  # an attack's success above chance, relative to what chance leaves, that is taken seriously
_STANDING: Mapping[str, tuple[str, ...]] = {
    "public": (),
    "contract": (
        "The contract forbids to identify people, to link the release with other data, and to pass it on.",
        "The contract sets purpose, retention, and what happens after an incident.",
    ),
    "secure": (
        "The release stays in the environment, to which only named users have access.",
        "Results are checked before they leave the environment.",
    ),
}
NAME_THE_RECIPIENT = "Name the recipient with `recipient`: public, contract or secure."
SRB = (
    "Whether the data are personal depends on the recipient's means to identify people (CJEU, EDPS v SRB, C-413/23 P, "
    "4 September 2025). This assumption is the controller's assessment; it is not measured."
)


@dataclass(frozen=True)
class Check:
    """One requirement: its name, what is required and found, and whether it is met; None if that is unknown.

    `source`: the norm's document, or what measured it. `condition`: what to do if it is not met. `decides`: whether the
    release is refused if it is not met; otherwise, it can be released under the condition.
    """

    name: str
    required: str
    found: str
    met: bool | None
    source: str
    condition: str = ""
    decides: bool = True


@dataclass(frozen=True)
class Verdict:
    """Whether a release can be given to its recipient.

    `conditions`: what has to be done or agreed for that. `why`: the checks that were not met or could not be made, in
    words. `assumed`: the assumed background knowledge of the recipient. `by_recipient`: without a recipient, one
    sentence for each.
    """

    outcome: Outcome
    recipient: str | None
    conditions: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    why: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    by_recipient: Mapping[str, str] | None = None

    @property
    def sentence(self) -> str:
        """The verdict in one line.

        >>> Verdict("not decided", None).sentence
        'not decided: name the recipient'
        """
        if self.recipient is None:
            return f"{self.outcome}: name the recipient"
        whom = recipient_in_words(self.recipient)
        reason = f": {self.why[0]}" if self.why else ""
        more = f" (and {counted(len(self.why) - 1, 'reasons')} more)" if len(self.why) > 1 else ""
        if self.outcome == WITH_CONDITIONS:
            reason, more = f": {counted(len(self.conditions), 'conditions')}", ""
        return f"{self.outcome}, for {whom}{reason}{more}"

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> Verdict:
        """The verdict of a manifest."""
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in described.items()
        }
        fields["checks"] = tuple(Check(**check) for check in described["checks"])
        fields["by_recipient"] = described["by_recipient"] or None
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """The verdict for JSON."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        checks = [asdict(check) for check in self.checks]
        return {**plain, "checks": checks, "by_recipient": dict(self.by_recipient or {})}


def recipient_in_words(recipient: str) -> str:
    """A recipient in a sentence."""
    return "the public" if recipient == "public" else f"a {RECIPIENTS[recipient]}"


def verdict(
    manifest: Mapping[str, Any],
    figures: Mapping[str, Any] | None = None,
    spec: ReleaseSpec | Mapping[str, Any] | None = None,
    today: date | None = None,
) -> Verdict:
    """Decide about a release by its manifest, and by the `figures` of its report, if they were measured.

    `spec`: a spec, or a mapping of its keys about the decision, which override those in the manifest. All figures are
    compared unrounded; an unknown figure never counts as met.
    """
    declared = declared_of(manifest, spec)
    recipient = declared.get("recipient")
    if recipient is None:
        for_each = {name: verdict(manifest, figures, {**declared, "recipient": name}, today) for name in RECIPIENTS}
        return Verdict(
            NOT_DECIDED,
            None,
            conditions=(NAME_THE_RECIPIENT,),
            assumed=_assumed(manifest, None),
            by_recipient={name: one.sentence for name, one in for_each.items()},
        )
    checks = tuple(_checks(manifest, figures or {}, declared, recipient))
    why = [_reason(check) for check in checks if check.decides and check.met is False]
    unknown = [_reason(check) for check in checks if check.decides and check.met is None]
    conditions = [check.condition for check in checks if check.met is not True and check.condition]
    conditions += [*_STANDING[recipient], *_of_dates(declared, recipient, today or date.today())]
    decided = Verdict(
        RELEASABLE,
        recipient,
        tuple(dict.fromkeys(conditions)),
        checks,
        tuple(why or unknown),
        _assumed(manifest, recipient),
    )
    if why:
        return replace(decided, outcome=NOT_RELEASABLE)
    if unknown:
        return replace(decided, outcome=NOT_DECIDED)
    return replace(decided, outcome=WITH_CONDITIONS if decided.conditions else RELEASABLE)


def declared_of(manifest: Mapping[str, Any], spec: ReleaseSpec | Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What people declared about the release: the manifest's, overridden by the spec's."""
    given = spec.declared if isinstance(spec, ReleaseSpec) else dict(spec or {})
    declared = {**(manifest.get("declared") or {}), **{name: given[name] for name in DECLARED if given.get(name)}}
    if declared.get("recipient"):
        declared["recipient"] = recipient_of(declared["recipient"])
    return declared


def _reason(check: Check) -> str:
    found = f"{check.name}: {check.found}"
    return f"{found}; required: {check.required}" if check.required else found


def _checks(
    manifest: Mapping[str, Any], figures: Mapping[str, Any], declared: Mapping[str, Any], recipient: str
) -> Iterator[Check]:
    yield _verified(manifest)
    yield from _recoding(manifest, recipient)
    yield from _thresholds(manifest, figures, declared, recipient)
    yield from _safe_harbor(figures, declared)
    yield from _sensitive(manifest, figures, recipient)
    yield from _exact(manifest, figures, recipient)
    yield _attacks(figures, recipient)
    yield from _differencing(manifest)
    yield from _stays_a_query(manifest)


def _verified(manifest: Mapping[str, Any]) -> Check:
    found = {True: "satisfied", False: "not satisfied", None: "not verified"}[manifest.get("verified")]
    return Check(
        "Privacy models, checked by a separate query",
        "satisfied",
        found,
        manifest.get("verified"),
        "kanon_sql, the written release",
        "" if manifest.get("verified") else "Verify the release with `kanon verify`.",
    )


def _recoding(manifest: Mapping[str, Any], recipient: str) -> Iterator[Check]:
    """Releases without groups: rows that only match others by wildcards, and anatomies of exact rows."""
    matching = [finding["model"] for finding in manifest["privacy"] if finding["model"].startswith("NOT ")]
    exact = manifest.get("k_anonymous") is False
    if matching or exact:
        yield Check(
            "Groups of equal rows",
            "k-anonymous",
            matching[0] if matching else "an anatomy of exact rows, which is not k-anonymous",
            False,
            "kanon_sql, the form of the release",
            "Justify why a release that is not k-anonymous is safe in this environment."
            if recipient == "secure"
            else "Release a k-anonymous table instead, with `kanon anonymize`.",
            decides=recipient != "secure",
        )
    if (manifest.get("cloak") or {}).get("shared") is False:
        yield Check(
            "Groups of equal rows",
            "every box shared by k people",
            "boxes that k people fit, but do not share",
            None,
            "kanon_sql, the form of the release",
            "Justify why boxes that are not shared are safe, or release with `shared: true`.",
            decides=recipient == "public",
        )


@dataclass(frozen=True)
class SmallestGroup:
    """The smallest group. `size`: None if it is unknown; `people_unknown`: if the size is in rows instead of people."""

    size: int | None
    counted: str
    people_unknown: bool = False
    is_empty: bool = False


def _smallest(manifest: Mapping[str, Any], figures: Mapping[str, Any]) -> SmallestGroup:
    """The smallest group that the manifest or the figures report."""
    who = words.who(manifest)
    if manifest["released_rows"] == 0:
        return SmallestGroup(None, who, is_empty=True)
    if manifest.get("k_anonymous") is False:  # the groups of an anatomy have exact quasi-identifiers
        return SmallestGroup(None, who)
    size = words.smallest_group(manifest)
    measured = next((row["release"] for row in figures.get("risk") or () if row["figure"] == "smallest class"), None)
    same_unit = figures.get("counted", "rows") == who
    if measured and same_unit:
        size = min(size or measured, measured)
    if size is None and who == "people":
        rows = manifest.get("smallest_class") or (measured if not same_unit else None)
        return SmallestGroup(rows, "rows", people_unknown=True)
    return SmallestGroup(size, who)


def threshold_checks(smallest: SmallestGroup, declared: Mapping[str, Any], recipient: str) -> Iterator[Check]:
    """The thresholds for a recipient, compared with the smallest group of a table."""
    norms = declared.get("norms") or ()
    for threshold in thresholds_for(recipient, norms, declared.get("sensitivity"), declared.get("accepted_risk")):
        met: bool | None = None
        if smallest.is_empty:
            met, found = True, "no rows are released"
        elif smallest.size is None:
            found = "the smallest group is unknown"
        else:
            met = threshold.met(smallest.size)
            found = f"a highest risk of {figure(1 / smallest.size)}, groups of at least "
            found += counted(smallest.size, smallest.counted)
            if smallest.people_unknown:
                met = None if met else False
                found += ", people unknown"
        condition = ""
        if met is None:
            condition = "Measure the smallest group of people, with `kanon report --manifest`; required: "
            condition += f"{threshold.required}."
        elif not met:
            condition = f"Release again with a larger k: {threshold.required} is required."
        yield Check(threshold.name, threshold.required, found, met, threshold.source, condition)


def _thresholds(
    manifest: Mapping[str, Any], figures: Mapping[str, Any], declared: Mapping[str, Any], recipient: str
) -> Iterator[Check]:
    accepted = declared.get("accepted_risk")
    norms = declared.get("norms") or ()
    yield from threshold_checks(_smallest(manifest, figures), declared, recipient)
    stricter = accepted and laxer_than(recipient, accepted)
    if stricter:
        yield Check(
            "Your own threshold, compared with norms",
            f"{stricter.required} ({stricter.name})",
            f"an accepted risk of {accepted:g}",
            False,
            stricter.source,
            f"Justify an accepted risk of {accepted:g}: {stricter.name} requires {stricter.required} here.",
            decides=False,
        )
    for name in norms:
        if name in ("gdpr", "ehds"):
            yield Check(
                WITHOUT_FIGURE[name],
                "an assessment; no figure is set",
                "kanon_sql measures the other rows of this table",
                None,
                "the controller",
                f"Complete the assessment that {name.upper()} requires; no figure replaces it.",
                decides=False,
            )


def _safe_harbor(figures: Mapping[str, Any], declared: Mapping[str, Any]) -> Iterator[Check]:
    """HIPAA's list of identifiers, if the spec names HIPAA."""
    if "hipaa" not in (declared.get("norms") or ()):
        return
    found = [norm for norm in figures.get("norms") or () if norm["name"] == "HIPAA Safe Harbor"]
    source = WITHOUT_FIGURE["hipaa"]
    if not found:
        how = "Measure it with `kanon report`."
        yield Check("HIPAA Safe Harbor", "none of the identifiers", "not measured", None, source, how)
    for norm in found:
        condition = f"Confirm by hand, for HIPAA Safe Harbor {norm['rule']}: {norm['asked']}."
        yield Check(
            f"HIPAA Safe Harbor, {norm['rule']}",
            norm["asked"],
            norm["found"],
            norm["met"],
            source,
            "" if norm["met"] else condition,
            decides=norm["met"] is False,
        )


def _sensitive(manifest: Mapping[str, Any], figures: Mapping[str, Any], recipient: str) -> Iterator[Check]:
    """Sensitive columns without a privacy model: whether a group reveals their values."""
    models = [finding["model"] for finding in manifest["privacy"]]
    is_anatomy = any("anatomy" in model for model in models)
    changed = (manifest.get("perturbation") or {}).get("columns", {})
    columns = [
        name
        for name in manifest["roles"].get("sensitive") or ()
        if name not in changed and not is_anatomy and not any(model.endswith(f" of {name}") for model in models)
    ]
    if not columns:
        return
    attacks = [attack for attack in figures.get("attacks") or () if attack["attack"] == "homogeneity"]
    tried = [attack for attack in attacks if attack["column"] in columns]
    revealed = [attack["column"] for attack in tried if attack["hits"]]
    listed = words.listed(revealed or columns)
    found = f"{listed}: no privacy model"
    if revealed:
        found = f"groups with a single value of {listed}"
    elif tried:
        found += "; no group has a single value"
    yield Check(
        "Sensitive values",
        "a privacy model for every sensitive column",
        found,
        False if revealed else None,
        "the attack homogeneity" if tried else "kanon_sql, the privacy models",
        f"Add a privacy model for {listed}, such as `l_diversity`, or justify that its groups can reveal values.",
        decides=recipient == "public" and not (tried and not revealed),
    )


def _exact(manifest: Mapping[str, Any], figures: Mapping[str, Any], recipient: str) -> Iterator[Check]:
    """Columns that are released exactly: whether they make people unique, alone or with the quasi-identifiers.

    Only columns without a role decide: others are not supposed to know the values of sensitive columns.
    """
    perturbed = (manifest.get("perturbation") or {}).get("columns", {})
    kept = [name for name in manifest["roles"].get("kept") or () if name not in perturbed]
    columns = words.exact_columns(manifest)
    if not columns:
        return
    rows = list(figures.get("exact") or ())
    unique = [row for row in rows if row["unique"]]
    by_kept = [row for row in unique if set(row["columns"]) <= set(kept) and not row["with_quasi_identifiers"]]
    unknown = words.who(manifest) == "people" and any(row["of"] == "rows" for row in rows)
    listed = words.listed(columns)
    met: bool | None = None
    found = f"{listed}: uniqueness not measured"
    condition = f"Measure how many people are unique by {listed}, with `kanon report`."
    if unique:
        worst = max(by_kept or unique, key=lambda row: row["share"] or 0.0)
        share = "some" if worst["share"] is None else f"{words.percent(worst['share'])} of the"
        met = False
        together = " together with the quasi-identifiers" if worst["with_quasi_identifiers"] else ""
        found = f"{share} {worst['of']} are unique by {words.listed(worst['columns'])}{together}"
        condition = f"Generalize or drop {listed}, or justify that the recipient cannot know these values."
    elif rows:
        met = None if unknown else True
        found = f"nobody is unique by {listed}" if met else f"no row is unique by {listed}; people unknown"
    decides = bool(kept) and recipient == "public" if met is None else bool(by_kept) and recipient != "secure"
    source = "kanon_sql, uniqueness"
    yield Check(
        "Columns released exactly", "nobody is unique by them", found, met, source, "" if met else condition, decides
    )


def _attacks(figures: Mapping[str, Any], recipient: str) -> Check:
    """Attacks other than those on homogeneous groups, which the sensitive columns are checked for."""
    tried = [attack for attack in figures.get("attacks") or () if attack["attack"] != "homogeneity"]
    strong = [attack for attack in tried if (attack["excess"] or 0.0) >= WELL_ABOVE]
    guesses = [attack for attack in strong if attack["attack"] not in words.DESCRIPTIVE]
    few = [attack for attack in tried if attack["excess"] is None and words.is_above_chance(attack)]
    met: bool | None = None
    found = "not measured"
    condition = "Try attacks on the release: measure it with `kanon report` or `kanon attack`."
    if strong:
        met = False
        found = words.success(max(guesses or strong, key=lambda attack: attack["excess"]))
        condition = f"Prevent or justify the attack: {found}."
    elif few:
        found = f"{words.named(few[0]['attack'])} succeeds for a few {few[0]['counted']}"
        condition = f"Justify: {found}."
    elif tried:
        met = True
        found = f"{counted(len(tried), 'attacks')} tried, none well above chance"
        condition = ""
    return Check(
        "Attacks",
        "less than 10% above chance",
        found,
        met,
        "kanon_sql, attacks on the release",
        condition,
        decides=recipient == "public" and (not tried or bool(guesses)),
    )


def _differencing(manifest: Mapping[str, Any]) -> Iterator[Check]:
    compared = manifest.get("differencing") or (manifest.get("run") or {}).get("singled_out")
    if compared:
        people = max(compared["people"], (compared.get("earlier") or {}).get("most_people") or 0)
        yield Check(
            "Comparison with earlier releases",
            "nobody is singled out by two releases together",
            f"{people:,} singled out",
            people == 0,
            "kanon_sql, differencing",
            "" if people == 0 else "Release with `differencing_limit: 0`, or do not release to those with the old one.",
        )
        for column, values in (compared.get("values") or {}).items():
            yield Check(
                f"Values of {column} after intersecting the releases",
                f"at least {values['required']:,} remain possible for everyone",
                f"{values['remaining']:,} remain",
                values["remaining"] >= values["required"],
                "kanon_sql, differencing_values",
            )


def _stays_a_query(manifest: Mapping[str, Any]) -> Iterator[Check]:
    form = manifest["target"].get("as")
    if form in ("view", "materialized"):
        yield Check(
            "Changes of the source",
            "a release that is verified when it changes",
            f"a {'view' if form == 'view' else 'materialized view'}, which follows its source",
            None,
            "kanon_sql, the form of the release",
            "Verify the view with `kanon verify` whenever its source has changed.",
            decides=False,
        )


def _of_dates(declared: Mapping[str, Any], recipient: str, today: date) -> list[str]:
    """Conditions about the purpose, the retention and the review."""
    found = []
    review = declared.get("review_date")
    if review and str(review) < today.isoformat():
        found.append(f"Review the decision now: its review date was {review}.")
    if recipient != "public":
        missing = [name for name in ("purpose", "retention", "review_date") if not declared.get(name)]
        if missing:
            found.append(
                f"Declare what the spec does not: {words.listed([name.replace('_', ' ') for name in missing])}."
            )
    return found


def _assumed(manifest: Mapping[str, Any], recipient: str | None) -> tuple[str, ...]:
    """The background knowledge that the figures assume."""
    columns = words.listed(words.quasi_identifiers(manifest), 12)
    whom = "An attacker" if recipient == "public" else "The recipient"
    knows = f"{whom} is assumed to know who is in the data, and every person's values of {columns}"
    if population := manifest.get("population"):
        knows = (
            f"{whom} is assumed to know every person's values of {columns}, and for the models with a population also "
            f"who is in {population['source']}"
        )
    others = [*(manifest["roles"].get("sensitive") or ()), *(manifest["roles"].get("kept") or ())]
    not_known = f", and not {words.listed(others)}" if others else ""
    sentences = [f"{knows}{not_known}."]
    if words.who(manifest) == "rows":
        sentences.append("Every row is one person: the spec names no `unit`.")
    return (*sentences, SRB)
