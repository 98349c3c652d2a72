"""What a report says in sentences, from a manifest and figures: for a board first, so without the field's terms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.report.numbers import counted, figure, parameters

Manifest = Mapping[str, Any]
Row = Mapping[str, Any]
_MOST_NAMED = 8  # columns
_LONG = 48  # letters of a name in a sentence
_MEANINGS = {
    "distinct l-diversity": "every group has at least so many different values of this column",
    "entropy l-diversity": "every group has values of this column as mixed as so many equally frequent ones",
    "recursive": "the most frequent value of this column is not too frequent in any group",
    "t-closeness": "in every group the values of this column are spread about as in the whole table",
    "anatomy": "which of at least so many different values somebody has is hidden",
    "α of": "no value has more than this share of any group",
    "likeness": "no value is much more frequent in a group than in the whole table",
    "disclosure": "no value is much more or less frequent in a group than in the whole table",
    "k-map": "every group stands for at least so many of the population",
    "presence": "it stays unsure who of the population is in the release",
    "mean": "on average nobody is found with a higher probability",
    "risk": "nobody is found with a higher probability",
    "unique": "no larger share of the population is the only one of its kind",
}
_READING = re.compile(r"^(columns? .+? stays? text\b).*", re.DOTALL)  # what its values look like is for its owner
_UNMAPPED = re.compile(r"^[\d,]+ values(?= of .+ are in no hierarchy)", re.DOTALL)
_SINGLING = ("singling_out", "singling_out_by_one")
_OF_VALUES = ("homogeneity", "ruling_out", "posterior", "minimality", "inference")  # whose share is of right guesses
_LINKING = ("linkability", "unsorted_matching", "place_within_classes", "order_within_classes")
_TRIED = {"Released columns together": _SINGLING, "Sensitive values": _OF_VALUES, "Linking": _LINKING}
_MOST_TOLD = 3  # columns on the first page
ATTACKS = {
    "homogeneity": "Find somebody's group, in which everybody has one value.",
    "ruling_out": "Know one value that somebody does not have, in a group of two.",
    "posterior": "Guess the most frequent value of somebody's group.",
    "skewness": "Find a group in which a value is at least twice as frequent as in the release.",
    "similarity": "Find a group whose values are all close to each other.",
    "minimality": "Know how the release was made, and what was therefore unsafe.",
    "singling_out": "Describe one person of the source alone, by several columns.",
    "singling_out_by_one": "Describe one person of the source alone, by one column.",
    "linkability": "Link two tables that each know half of the columns.",
    "inference": "Guess somebody's value from the rows that fit them.",
    "unsorted_matching": "Match rows by their place in the release and in the source.",
    "place_within_classes": "Match rows by their place within their group.",
    "order_within_classes": "Read the source's order from neighbours in a group.",
}
_SHOWN = {"labels": "labels", "range": "a range", "bounds": "two bounds", "mean": "the mean", "median": "the median"}
RISKS = {
    "smallest class": "Smallest group",
    "highest": "Highest risk of being found",
    "mean": "Mean risk of being found",
}


def listed(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Names as a sentence has them; how many more there are where they are too many.

    >>> listed(["age", "sex"]), listed(["a", "b", "c", "d"], 2), listed(["age"])
    ('age and sex', 'a, b and 2 more', 'age')
    """
    plain = [name if len(name) <= _LONG else f"{name[:_LONG].rstrip()}…" for name in names]
    shown = plain if len(plain) <= most else [*plain[:most], f"{len(plain) - most:,} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else "none"


def percent(share: float) -> str:
    """A share in a sentence.

    >>> percent(0.2), percent(0.0115), percent(0.00001), percent(0.9999)
    ('20%', '1.1%', 'less than 0.1%', '99.9%')
    """
    if 0 < share < 0.001:
        return "less than 0.1%"
    if 0.999 < share < 1:
        return "99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def who(manifest: Manifest) -> str:
    """Whom the classes count."""
    return "people" if manifest.get("unit") or manifest.get("units") is not None else "rows"


def quasi_identifiers(manifest: Manifest) -> list[str]:
    """The columns that make the classes; of places and times those."""
    roles = manifest["roles"]
    if roles.get("quasi_identifiers") is not None:
        return list(roles["quasi_identifiers"])
    return [*roles.get("location", ()), *filter(None, [roles.get("time")])]


def promised(manifest: Manifest) -> list[str]:
    """A sentence for each model."""
    return [_promise(promise, manifest) for promise in manifest["privacy"]]


def _promise(finding: Row, manifest: Manifest) -> str:
    model, required = finding["model"], finding["required"]
    columns, counted = listed(quasi_identifiers(manifest)), who(manifest)
    if model == "k-anonymity":
        return (
            f"Nobody can be told apart from at least {required - 1:,} others by {columns}: every combination of these "
            f"in the release is shared by {required:,} {counted} or more (k-anonymity)."
        )
    if model.startswith("NOT "):
        return (
            f"Every released row fits {required:,} rows of the source, if each * is read as any value. This is {model}."
        )
    meaning = next((said for name, said in _MEANINGS.items() if name in model), "every group must meet it")
    return f"By {model} ({parameters(required)}) {meaning}."


def holds(manifest: Manifest) -> list[str]:
    """By which figure each promise holds."""
    said = []
    for promise in manifest["privacy"]:
        found = "nothing to check" if promise["achieved"] is None else _number(promise["achieved"])
        if promise["model"] == "k-anonymity":
            found = counted(promise["achieved"] or 0, who(manifest))
            said.append(f"The smallest group in the release has {found}; {promise['required']:,} were promised.")
        else:
            said.append(f"Of {promise['model']}, {parameters(promise['required'])} is required and {found} was found.")
    checked = "An independent query checked this in what was written, before it could be seen."
    return [*said, checked if manifest.get("verified") else "This was not verified."]


def _number(value: object) -> str:
    return figure(float(value)) if isinstance(value, int | float) else parameters(value)


def warnings(manifest: Manifest) -> list[str]:
    """The warnings of a release as anybody may read them: no line of its source's file, and no count of few values.

    >>> warnings({"warnings": ["column day stays text: line 19 has no date, as 5,998 of its 6,000 values are; ..."]})
    ['column day stays text']
    """
    said = [_READING.sub(r"\1", warning) for warning in manifest["warnings"]]
    return [_UNMAPPED.sub("some values", warning) for warning in said]


def left(manifest: Manifest, figures: Mapping[str, Any] | None = None) -> list[str]:
    """What risk is left, as far as it is known."""
    said = [_finding_somebody(manifest, figures or {})]
    attacks = (figures or {}).get("attacks") or ()
    said += _homogeneous(attacks)
    said += _most_successful(attacks)
    exact = _exact(manifest)
    if exact:
        models = [promise["model"] for promise in manifest["privacy"]]
        open_ = [name for name in exact if not any(f" of {name}" in model for model in models)]
        whose = "them" if open_ == exact and len(open_) > 1 else "it" if open_ == exact else listed(open_)
        said.append(f"Released unchanged: {listed(exact)}{f'; nothing is promised of {whose}' if open_ else ''}.")
    return [sentence for sentence in said if sentence]


def _exact(manifest: Manifest) -> list[str]:
    """The columns that are released as they are."""
    sensitive = manifest["roles"].get("sensitive") or []
    changed = {*(manifest.get("perturbation") or {}).get("columns", {})}
    return [*(name for name in sensitive if name not in changed), *(manifest["roles"].get("kept") or [])]


def risk(manifest: Manifest) -> tuple[float, float] | None:
    """The prosecutor's highest and mean risk, as the release's classes tell; None where they do not."""
    if people := manifest.get("risk_of_people"):
        return (1 / people["smallest_class"], people["mean"]) if people["smallest_class"] else None
    smallest, classes, rows = (manifest.get(name) for name in ("smallest_class", "classes", "released_rows"))
    return (1 / smallest, classes / rows) if smallest and classes and rows and not manifest.get("unit") else None


def smallest_group(manifest: Manifest) -> int | None:
    """The size of the smallest group, in people where these count; None where it is not known."""
    if manifest.get("unit"):
        known = (promise["achieved"] for promise in manifest["privacy"] if promise["model"] == "k-anonymity")
        return (manifest.get("risk_of_people") or {}).get("smallest_class") or next(known, None)
    return manifest.get("smallest_class") or manifest.get("smallest_group")


def verdict(manifest: Manifest, figures: Mapping[str, Any] | None) -> dict[str, Any]:
    """The worst of all that was measured, and why; then each measure: what it is about, its worst risk, a sentence.

    `highest`: the risk of whoever is at most risk, None if nothing was measured; `unmeasured`: what is not part of it.
    """
    attacks = (figures or {}).get("attacks") or ()
    parts = [*_by_groups(manifest, figures or {}), *_by_attacks(attacks, _exact(manifest))]
    worst = max(parts, key=lambda part: part[1], default=None)
    measured = [part[0] for part in parts]
    return {
        "highest": worst[1] if worst else None,
        "reason": worst[2] if worst else "Nothing was measured.",
        "about": worst[0] if worst else "",
        "parts": parts,
        "unmeasured": [name.lower() for name in ("Quasi-identifiers", *_TRIED) if name not in measured],
    }


def _by_groups(manifest: Manifest, figures: Mapping[str, Any]) -> list[tuple[str, float, str]]:
    """The risk by the quasi-identifiers alone."""
    known = {entry["figure"]: entry["release"] for entry in figures.get("risk") or ()}
    highest = known.get("highest") or (risk(manifest) or (None,))[0]
    if not highest:
        return []
    columns = listed(quasi_identifiers(manifest), 4)
    whose = "a person's row" if who(manifest) == "people" else "a row"
    said = f"Of whoever is in the smallest group by {columns} alone, 1 guess in {1 / highest:,.4g} picks {whose}."
    return [("Quasi-identifiers", highest, said)]


def _by_attacks(attacks: Sequence[Row], exact: Sequence[str]) -> list[tuple[str, float, str]]:
    """What attacks found, of the columns together, of sensitive values, and otherwise; certainty is a risk of 100 %."""
    found: list[tuple[str, float, str]] = []
    for attack in sorted(attacks, key=lambda attack: -(attack["share"] or 0.0)):
        if attack["attack"] in _SINGLING and attack["hits"]:
            share = "Some" if attack["share"] is None else percent(attack["share"])
            by = "all released columns together" if attack["attack"] == "singling_out" else "one released column"
            among = f", exact {listed(exact, 4)} among them" if exact and attack["attack"] == "singling_out" else ""
            said = f"{share} of the {attack['counted']} are the only ones of their kind by {by}{among}."
            found.append(("Released columns together", 1.0, said))
        elif attack["attack"] == "homogeneity" and attack["hits"]:
            share = "Some" if attack["share"] is None else percent(attack["share"])
            said = f"{share} of the {attack['counted']} are in a group that has one value of {attack['column']} alone."
            found.append(("Sensitive values", 1.0, said))
        elif attack["excess"] and attack["attack"] in (*_OF_VALUES, *_LINKING):
            of = f" of {attack['column']}" if attack["column"] else ""
            said = (
                f"{named(attack['attack']).capitalize()}{of} is right for {percent(attack['share'])} of the "
                f"{attack['counted']}, above chance."
            )
            found.append(("Sensitive values" if attack["attack"] in _OF_VALUES else "Linking", attack["share"], said))
    worst: dict[str, tuple[str, float, str]] = {}
    for part in found:
        if part[0] not in worst or part[1] > worst[part[0]][1]:
            worst[part[0]] = part
    for name, these in _TRIED.items():
        if name not in worst and any(attack["attack"] in these for attack in attacks):
            worst[name] = (name, 0.0, "Nothing above chance was found.")
    return [worst[name] for name in _TRIED if name in worst]


def _finding_somebody(manifest: Manifest, figures: Mapping[str, Any]) -> str:
    known = {entry["figure"]: entry for entry in figures.get("risk") or ()}
    if known:
        highest, mean = known["highest"]["release"], known["mean"]["release"]
        before = known["mean"]["source"]
    elif chances := risk(manifest):
        (highest, mean), before = chances, None
    else:
        return ""
    beside = "" if before is None else f"; in the source it would be {percent(before)} on average"
    return (
        "Somebody who knows that a person is in the data, and what these columns say of that person, picks the "
        f"person's row with a probability of at most {percent(highest)}, and of {percent(mean)} on average{beside}."
    )


def _homogeneous(attacks: Sequence[Row]) -> list[str]:
    told = [attack for attack in attacks if attack["attack"] == "homogeneity" and attack["share"]]
    worst = sorted(told, key=lambda attack: -attack["share"])[:_MOST_TOLD]
    said = [
        f"{percent(attack['share'])} of the {attack['counted']} are in a group that has one value of "
        f"{attack['column']} alone: whoever finds the group knows it."
        for attack in worst
    ]
    more = len(told) - len(worst)
    have = "column has" if more == 1 else "columns have"
    return said + ([f"{more:,} more {have} such groups too; see Attacks."] if more else [])


def _most_successful(attacks: Sequence[Row]) -> list[str]:
    worst = max(attacks, key=lambda attack: attack["excess"] or 0.0, default=None)
    if worst is None:
        return []
    if not worst["excess"]:
        return ["None of the attacks that were tried was right more often than chance."]
    chance = max(worst["baseline"] or 0.0, worst["control"] or 0.0)
    does = ATTACKS.get(worst["attack"], named(worst["attack"])).rstrip(".")
    of = f", of {worst['column']}" if worst["column"] else ""
    return [
        f"The most successful attack that was tried: {does[:1].lower()}{does[1:]}{of}. It is right for "
        f"{percent(worst['share'])} of the {worst['counted']}; by chance it would be {percent(chance)}."
    ]


def named(attack: str) -> str:
    """An attack's name as words."""
    return attack.replace("_", " ")


def cost(manifest: Manifest) -> list[str]:
    """What the release lost."""
    rows, lost = manifest["rows"], manifest.get("suppressed_rows") or 0
    if rows is None:
        return []
    shown = " (they are shown with * in these columns)" if manifest.get("masked_rows") else ""
    said = [
        f"{lost:,} of {rows:,} rows ({percent(lost / rows)}) were left out{shown}."
        if lost
        else f"All {rows:,} rows were released."
    ]
    if people := manifest.get("suppressed_people"):
        said.append(f"{people:,} of {manifest['people']:,} people have no row in the release.")
    kept = detail(manifest)
    if kept is not None:
        worst = max(manifest["loss_per_attribute"].items(), key=lambda item: item[1])
        said.append(
            f"The columns that were generalized keep {percent(kept)} of their detail on average; most was lost in "
            f"{worst[0]}, which keeps {percent(1 - worst[1])}."
        )
    return said


def detail(manifest: Manifest) -> float | None:
    """The mean share of detail that the quasi-identifiers keep: 1 less their mean loss."""
    losses = list((manifest.get("loss_per_attribute") or {}).values())
    return 1 - sum(losses) / len(losses) if losses else None


def not_promised(manifest: Manifest) -> list[str]:
    """What nobody should read into the release."""
    said = [
        "It is not promised that nobody learns anything about anybody: what is true of a group is learned of its "
        "members, whether they are in the data or not. This is not differential privacy.",
        f"What somebody knows beyond {listed(quasi_identifiers(manifest))} may lead to a person; columns that are "
        "released as they are count among it.",
        "Further releases of the same people, or of some of them, may tell together what none tells alone; "
        "kanon attack compares them.",
    ]
    if who(manifest) == "rows":
        said.append(
            "Rows are counted. If somebody has several rows, groups hold fewer people than rows; name a unit then."
        )
    others = [*(manifest["roles"].get("sensitive") or []), *(manifest["roles"].get("kept") or [])]
    if others and not any("k-anonymity" not in promise["model"] for promise in manifest["privacy"]):
        said.append("Nothing is promised of sensitive columns: a group may have one value of them alone.")
    return [*said, "The table of norms compares figures. None of it is legal advice."]


def technique(column: str, manifest: Manifest, row: Row | None) -> str:
    """What was done to a quasi-identifier."""
    shown = (manifest.get("shown") or {}).get(column)
    level, height = ((row or {}).get(name) for name in ("level", "height"))
    if shown is not None:
        mean = "" if level is None else f", on average level {level:.1f} of {height}"
        return f"recoded class by class{mean}; shown as {_SHOWN.get(shown, shown)}"
    if level is None:
        return "generalized"
    if level == 0:
        return "as it is"
    return "suppressed: every value is *" if level == height else f"generalized to level {level} of {height}"


def perturbed(column: str, manifest: Manifest) -> str | None:
    """How the values of a column were changed; None if they were not."""
    did = (manifest.get("perturbation") or {}).get("columns", {}).get(column)
    if did is not None:
        return f"perturbed: {parameters(did)}"
    redrawn = (manifest.get("minimality") or {}).get("columns", ())
    return (
        "partly redrawn against the minimality attack" if any(entry["column"] == column for entry in redrawn) else None
    )


def risk_name(name: str, counted: str = "rows") -> str:
    """A figure of risk in words; `counted`: rows or people."""
    return (
        f"{RISKS[name]}, {counted}"
        if name == "smallest class"
        else RISKS.get(name) or f"{counted.capitalize()} with a risk {name}"
    )
