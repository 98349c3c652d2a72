"""The sentences of a report, from a manifest and figures: the first part is for a board, without technical terms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.report.numbers import counted, figure, parameters

Manifest = Mapping[str, Any]
Row = Mapping[str, Any]
_MOST_NAMED = 8  # columns
_LONG = 48  # characters of a name in a sentence
_MEANINGS = {
    "distinct l-diversity": "every group has at least so many different values of this column",
    "entropy l-diversity": "every group is as diverse in this column as one of that many equally frequent values",
    "recursive": "the most frequent value of this column is not too frequent in any group",
    "t-closeness": "in every group, the values of this column are distributed about as in the whole table",
    "anatomy": "a person could have any of at least so many different values",
    "α of": "no value has more than this share of any group",
    "likeness": "no value is much more frequent in a group than in the whole table",
    "disclosure": "no value is much more or less frequent in a group than in the whole table",
    "k-map": "every group matches at least so many people of the population",
    "presence": "it remains uncertain who of the population is in the release",
    "mean": "on average, people are not found with a higher probability",
    "risk": "no person is found with a higher probability",
    "unique": "no larger share of the population is unique",
}
_OPTIONS = re.compile(r"; (?:`\w+`(?:, | and )?)+ changes? that$")
_DATES = re.compile(r"%[A-Za-z](?:[./: -]*%[A-Za-z])+")
_READING = re.compile(r"^(columns? .+? stays? text\b).*", re.DOTALL)  # the details are for the data's owner
_UNMAPPED = re.compile(r"^[\d,]+ values(?= of .+ are in no hierarchy)", re.DOTALL)
_SINGLING = ("singling_out", "singling_out_by_one")
_OF_VALUES = ("homogeneity", "ruling_out", "posterior", "minimality", "inference")  # their share is of right guesses
DESCRIPTIVE = ("skewness", "similarity")  # they describe groups and guess nothing about anybody
_LINKING = ("linkability", "unsorted_matching", "place_within_classes", "order_within_classes")
_TRIED = {"Released columns together": _SINGLING, "Sensitive values": _OF_VALUES, "Linking": _LINKING}
_MOST_ON_BOARD = 3  # columns on the first page
ATTACKS = {
    "homogeneity": "Find a person's group, in which all rows have the same value.",
    "ruling_out": "Rule out one value of a person, in a group with two values.",
    "posterior": "Guess the most frequent value of a person's group.",
    "skewness": "Find a group in which a value is at least twice as frequent as in the release.",
    "similarity": "Find a group whose values are all close to each other.",
    "minimality": "Conclude from the algorithm which groups were unsafe before.",
    "singling_out": "Describe a single person of the source by several columns.",
    "singling_out_by_one": "Describe a single person of the source by one column.",
    "linkability": "Link two tables with half of the columns each.",
    "inference": "Guess a person's value from the rows that fit that person.",
    "unsorted_matching": "Match rows by their position in the release and in the source.",
    "place_within_classes": "Match rows by their position within their group.",
    "order_within_classes": "Read the source's order from neighbours in a group.",
}
_SHOWN = {"labels": "labels", "range": "a range", "bounds": "two bounds", "mean": "the mean", "median": "the median"}
_DECLARED = {
    "purpose": "Purpose",
    "retention": "Retention",
    "review_date": "Review on",
    "norms": "Norms",
    "sensitivity": "Sensitivity of the data",
    "accepted_risk": "Own threshold for the highest risk",
}
RISKS = {
    "smallest class": "Smallest group",
    "highest": "Highest risk of being found",
    "mean": "Mean risk of being found",
}


def waiting_sentence(deferred: Mapping[str, Any]) -> str:
    """Who waits for more changes, in words; `deferred`: the manifest's entry.

    >>> waiting_sentence({"counted": "people", "waiting": 3, "arrivals": 2, "departures": 1, "oldest": "2026-03-01"})
    '3 people wait for more changes in their classes (2 to appear, 1 to leave; the first since 2026-03-01)'
    """
    who = f"{deferred['waiting']:,} {deferred['counted']} wait for more changes in their classes"
    if deferred["waiting"] == 1:
        who = f"1 {'person' if deferred['counted'] == 'people' else 'row'} waits for more changes in the same class"
    return (
        f"{who} ({deferred['arrivals']:,} to appear, {deferred['departures']:,} to leave; the first since "
        f"{deferred['oldest'][:10]})"
    )


def listed(names: Sequence[str], most: int = _MOST_NAMED) -> str:
    """Names in a sentence, with the number of the rest if there are too many.

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
    """What class sizes count: people or rows."""
    return "people" if manifest.get("unit") or manifest.get("units") is not None else "rows"


def quasi_identifiers(manifest: Manifest) -> list[str]:
    """The columns that form the classes; for cloaked data, the columns of places and times."""
    roles = manifest["roles"]
    if roles.get("quasi_identifiers") is not None:
        return list(roles["quasi_identifiers"])
    return [*roles.get("location", ()), *filter(None, [roles.get("time")])]


def promised(manifest: Manifest) -> list[str]:
    """One sentence per privacy model."""
    return [_promise(promise, manifest) for promise in manifest["privacy"]]


def _promise(finding: Row, manifest: Manifest) -> str:
    model, required = finding["model"], finding["required"]
    columns = listed(quasi_identifiers(manifest))
    counted = who(manifest)
    if model == "k-anonymity":
        return (
            f"Every row of the release looks like at least {required - 1:,} others in {columns}: every combination of "
            f"their values is shared by {required:,} {counted} or more (k-anonymity)."
        )
    if model.startswith("NOT "):
        return f"Every released row fits {required:,} rows of the source, if * stands for any value. This is {model}."
    meaning = next((text for name, text in _MEANINGS.items() if name in model), "every group satisfies the model")
    return f"{model[:1].upper()}{model[1:]} ({parameters(required)}): {meaning}."


def evidence(manifest: Manifest) -> list[str]:
    """One sentence per privacy model on what a check found."""
    sentences = []
    for finding in manifest["privacy"]:
        achieved = "nothing to check" if finding["achieved"] is None else _number(finding["achieved"])
        if finding["model"] == "k-anonymity":
            size = counted(finding["achieved"] or 0, who(manifest))
            sentences.append(f"The smallest group in the release has {size}; required: {finding['required']:,}.")
        else:
            required = parameters(finding["required"])
            sentences.append(f"{finding['model']}: {required} required, {achieved} found.")
    checked = "A separate query checked the release before it became visible."
    return [*sentences, checked if manifest.get("verified") else "The release was not verified."]


def declared(manifest: Manifest) -> list[str]:
    """What people declared about the release, one sentence each."""
    entries = manifest.get("declared") or {}
    sentences = []
    for key, heading in _DECLARED.items():
        if value := entries.get(key):
            text = listed(value, 20) if isinstance(value, list) else str(value)
            sentences.append(f"{heading}: {text.rstrip('.')}.")
    return sentences


def parameters_of(finding: Row) -> tuple[str, str]:
    """What a privacy model requires, and what was found."""
    return parameters(finding["required"]), "unknown" if finding["achieved"] is None else _number(finding["achieved"])


def _number(value: object) -> str:
    return figure(float(value)) if isinstance(value, int | float) else parameters(value)


def date_letters(code: str) -> str:
    """A format of dates in letters, if it has only common parts.

    >>> date_letters("%d.%m.%Y %H:%M"), date_letters("%b %d")
    ('dd.mm.yyyy hh:mm', '%b %d')
    """
    text = code
    for part, letters in {"%Y": "yyyy", "%y": "yy", "%m": "mm", "%d": "dd", "%H": "hh", "%M": "mm", "%S": "ss"}.items():
        text = text.replace(part, letters)
    return code if "%" in text else text


def warnings(manifest: Manifest) -> list[str]:
    """The warnings of a release for any reader: without lines of the source's file, and without small counts.

    >>> warnings({"warnings": ["column day stays text: line 19 has no date, as 5,998 of its 6,000 values are; ..."]})
    ['column day stays text']
    >>> warnings({"warnings": ["visits.csv was read with dates as %d.%m.%Y in day; `date_format` changes that"]})
    ['visits.csv was read with dates as dd.mm.yyyy in day']
    """
    texts = [_OPTIONS.sub("", _READING.sub(r"\1", warning)) for warning in manifest["warnings"]]
    texts = [_DATES.sub(lambda found: date_letters(found[0]), text) for text in texts]
    return [_UNMAPPED.sub("some values", text) for text in texts]


def left(manifest: Manifest, figures: Mapping[str, Any] | None = None) -> list[str]:
    """The remaining risk, as far as it was measured."""
    attacks = (figures or {}).get("attacks") or ()
    sentences = [_finding_a_person(manifest, figures or {}), *_homogeneous(attacks), *_most_successful(attacks)]
    exact = exact_columns(manifest)
    if exact:
        models = [finding["model"] for finding in manifest["privacy"]]
        unprotected = [name for name in exact if not any(f" of {name}" in model for model in models)]
        note = ""
        if unprotected == exact:
            note = ", without any guarantee"
        elif unprotected:
            note = f"; without any guarantee: {listed(unprotected)}"
        sentences.append(f"Released unchanged: {listed(exact)}{note}.")
    return [sentence for sentence in sentences if sentence]


def exact_columns(manifest: Manifest) -> list[str]:
    """The columns that are released unchanged."""
    sensitive = manifest["roles"].get("sensitive") or []
    changed = {*(manifest.get("perturbation") or {}).get("columns", {})}
    return [*(name for name in sensitive if name not in changed), *(manifest["roles"].get("kept") or [])]


def risk(manifest: Manifest) -> tuple[float, float] | None:
    """The prosecutor's highest and mean risk, from the release's classes; None if these are not in the manifest."""
    if people := manifest.get("risk_of_people"):
        return (1 / people["smallest_class"], people["mean"]) if people["smallest_class"] else None
    smallest, classes, rows = (manifest.get(name) for name in ("smallest_class", "classes", "released_rows"))
    return (1 / smallest, classes / rows) if smallest and classes and rows and not manifest.get("unit") else None


def smallest_group(manifest: Manifest) -> int | None:
    """The size of the smallest group, in people if the model counts people; None if it is not in the manifest."""
    if manifest.get("unit"):
        achieved = (finding["achieved"] for finding in manifest["privacy"] if finding["model"] == "k-anonymity")
        return (manifest.get("risk_of_people") or {}).get("smallest_class") or next(achieved, None)
    return manifest.get("smallest_class") or manifest.get("smallest_group")


def measured_risk(manifest: Manifest, figures: Mapping[str, Any] | None) -> dict[str, Any]:
    """The highest risk of all measurements, with its reason, and all measurements: subject, highest risk, sentence.

    `highest`: for the person at most risk, None if nothing was measured; `unmeasured`: subjects without a measurement.
    """
    attacks = (figures or {}).get("attacks") or ()
    parts = [
        (subject, share, f"{sentence[:1].upper()}{sentence[1:]}")
        for subject, share, sentence in (
            *_by_groups(manifest, figures or {}),
            *_by_several_rows(figures or {}),
            *_by_attacks(attacks, exact_columns(manifest)),
        )
    ]
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
    measured = {entry["figure"]: entry["release"] for entry in figures.get("risk") or ()}
    highest = measured.get("highest") or (risk(manifest) or (None,))[0]
    if not highest:
        return []
    columns = listed(quasi_identifiers(manifest), 4)
    whose = "the person's row" if who(manifest) == "people" else "the right row"
    sentence = f"In the smallest group by {columns}, 1 guess in {1 / highest:,.4g} picks {whose}."
    return [("Quasi-identifiers", highest, sentence)]


def _by_several_rows(figures: Mapping[str, Any]) -> list[tuple[str, float, str]]:
    """The risk by two rows of a person, if the release shows which rows belong together."""
    several = figures.get("several_rows") or {}
    risk = next((risk for risk in several.get("known") or () if risk["highest"]), None)
    if risk is None or not several["linked_by"]:
        return []
    sentence = (
        f"{listed(several['linked_by'], 4)} links the rows of a person: by the groups of two rows, 1 guess in "
        f"{1 / risk['highest']:,.4g} finds all of them."
    )
    return [("Several rows of a person", risk["highest"], sentence)]


def _by_attacks(attacks: Sequence[Row], exact: Sequence[str]) -> list[tuple[str, float, str]]:
    """What attacks found on columns together, on sensitive values, and by linking; certainty is a risk of 100 %."""
    found: list[tuple[str, float, str]] = []
    for attack in sorted(attacks, key=lambda attack: -(attack["share"] or 0.0)):
        if attack["attack"] in _SINGLING and attack["hits"]:
            share = "Some" if attack["share"] is None else percent(attack["share"])
            by = "all released columns together" if attack["attack"] == "singling_out" else "one released column"
            among = f", including exact {listed(exact, 4)}" if exact and attack["attack"] == "singling_out" else ""
            sentence = f"{share} of the {attack['counted']} are unique by {by}{among}."
            found.append(("Released columns together", 1.0, sentence))
        elif attack["attack"] == "homogeneity" and attack["hits"]:
            share = "Some" if attack["share"] is None else percent(attack["share"])
            sentence = f"{share} of the {attack['counted']} are in a group with a single value of {attack['column']}."
            found.append(("Sensitive values", 1.0, sentence))
        elif attack["excess"] and attack["attack"] in (*_OF_VALUES, *_LINKING):
            of = f" of {attack['column']}" if attack["column"] else ""
            sentence = (
                f"{named(attack['attack']).capitalize()}{of} is right for {percent(attack['share'])} of the "
                f"{attack['counted']}, above chance."
            )
            subject = "Sensitive values" if attack["attack"] in _OF_VALUES else "Linking"
            found.append((subject, attack["share"], sentence))
    worst: dict[str, tuple[str, float, str]] = {}
    for part in found:
        if part[0] not in worst or part[1] > worst[part[0]][1]:
            worst[part[0]] = part
    for name, tried in _TRIED.items():
        if name not in worst and any(attack["attack"] in tried for attack in attacks):
            worst[name] = (name, 0.0, "Nothing above chance was found.")
    return [worst[name] for name in _TRIED if name in worst]


def _finding_a_person(manifest: Manifest, figures: Mapping[str, Any]) -> str:
    measured = {entry["figure"]: entry for entry in figures.get("risk") or ()}
    if measured:
        highest, mean = measured["highest"]["release"], measured["mean"]["release"]
        before = measured["mean"]["source"]
    elif chances := risk(manifest):
        (highest, mean), before = chances, None
    else:
        return ""
    in_source = "" if before is None else f"; in the source, {percent(before)} on average"
    return (
        "An attacker who knows that a person is in the data, and that person's values in these columns, picks the "
        f"person's row with a probability of at most {percent(highest)}, and of {percent(mean)} on average{in_source}."
    )


def _homogeneous(attacks: Sequence[Row]) -> list[str]:
    homogeneous = [attack for attack in attacks if attack["attack"] == "homogeneity" and attack["share"]]
    worst = sorted(homogeneous, key=lambda attack: -attack["share"])[:_MOST_ON_BOARD]
    sentences = [
        f"{percent(attack['share'])} of the {attack['counted']} are in a group with a single value of "
        f"{attack['column']}: finding the group is enough to learn it."
        for attack in worst
    ]
    more = len(homogeneous) - len(worst)
    have = "column has" if more == 1 else "columns have"
    return sentences + ([f"{more:,} more {have} such groups, too; see Attacks."] if more else [])


def _most_successful(attacks: Sequence[Row]) -> list[str]:
    worst = max(attacks, key=lambda attack: attack["excess"] or 0.0, default=None)
    if worst is None:
        return []
    if not worst["excess"]:
        return ["No attack that was tried was right more often than chance."]
    chance = max(worst["baseline"] or 0.0, worst["control"] or 0.0)
    does = ATTACKS.get(worst["attack"], named(worst["attack"])).rstrip(".")
    of = f", of {worst['column']}" if worst["column"] else ""
    return [
        f"The most successful attack: {does[:1].lower()}{does[1:]}{of}. It is right for "
        f"{percent(worst['share'])} of the {worst['counted']}; by chance: {percent(chance)}."
    ]


def is_above_chance(attack: Row) -> bool:
    """Whether an attack is right more often than chance, also if its share is not shown because it is of few."""
    if attack["excess"] is None:
        return bool(attack.get("above_chance", attack["hits"]))
    return bool(attack["excess"] > 0)


def success(attack: Row) -> str:
    """The success of an attack next to that of chance, as of 100 people or rows.

    >>> success({"attack": "inference", "column": "pay", "share": 0.99, "counted": "people", "baseline": 0.37,
    ...     "control": None})
    'inference of pay is right for 99 of 100 people; by chance for 37 of 100'
    """
    chance = max(attack["baseline"] or 0.0, attack["control"] or 0.0)
    of = f" of {attack['column']}" if attack["column"] else ""
    share = "a few" if attack["share"] is None else f"{_of_hundred(attack['share'])} of 100"
    by_chance = _of_hundred(chance)
    if attack["attack"] in DESCRIPTIVE:
        group = f"all values{of} are close to each other"
        if attack["attack"] == "skewness":
            group = f"a value{of} is at least twice as frequent as in the release"
        return f"{share} {attack['counted']} are in a group in which {group}; by chance {by_chance} of 100"
    return f"{named(attack['attack'])}{of} is right for {share} {attack['counted']}; by chance for {by_chance} of 100"


def _of_hundred(share: float) -> str:
    if 0 < share < 0.01:
        return "fewer than 1"
    return "more than 99" if 0.99 < share < 1 else f"{100 * share:.0f}"


def named(attack: str) -> str:
    """An attack's name as words."""
    return attack.replace("_", " ").replace("within classes", "within groups")


def losses(manifest: Manifest) -> list[str]:
    """The loss of rows and detail."""
    rows = manifest["rows"]
    lost = manifest.get("suppressed_rows") or 0
    if rows is None:
        return []
    masked = " (they are shown with * in these columns)" if manifest.get("masked_rows") else ""
    deferred = manifest.get("deferred")
    sentences = [] if deferred else [f"All {rows:,} rows were released."]
    if lost:
        sentences = [f"{lost:,} of {rows:,} rows ({percent(lost / rows)}) were suppressed{masked}."]
    if people := manifest.get("suppressed_people"):
        sentences.append(f"{people:,} of {manifest['people']:,} people have no row in the release.")
    if deferred:
        sentences.append(
            f"{waiting_sentence(deferred)}. Those who wait to leave are still in the release, though not in the source."
        )
    kept = detail(manifest)
    if kept is not None:
        worst = max(manifest["loss_per_attribute"].items(), key=lambda item: item[1])
        sentences.append(
            f"The generalized columns keep {percent(kept)} of their detail on average; most was lost in "
            f"{worst[0]}, which keeps {percent(1 - worst[1])}."
        )
    return sentences


def detail(manifest: Manifest) -> float | None:
    """The mean share of detail that the quasi-identifiers keep: 1 less their mean loss."""
    losses = list((manifest.get("loss_per_attribute") or {}).values())
    return 1 - sum(losses) / len(losses) if losses else None


def not_promised(manifest: Manifest) -> list[str]:
    """The limits of the guarantees."""
    sentences = [
        "The release does not prevent learning about people in general: what is true for a group is learned about its "
        "members, whether they are in the data or not. This is not differential privacy.",
        f"Background knowledge beyond {listed(quasi_identifiers(manifest))} can identify people; this includes the "
        "columns that are released unchanged.",
        "Several releases of the same people, or of some of them, can reveal together what no single one reveals; "
        "kanon attack compares them.",
    ]
    if who(manifest) == "rows":
        sentences.append("Rows are counted. If a person can have several rows, groups have fewer people; name a unit.")
    others = [*(manifest["roles"].get("sensitive") or []), *(manifest["roles"].get("kept") or [])]
    if others and not any("k-anonymity" not in finding["model"] for finding in manifest["privacy"]):
        sentences.append("Sensitive columns are not protected: a group can have a single value of such a column.")
    return [*sentences, "The table of norms compares figures. It is not legal advice."]


def technique(column: str, manifest: Manifest, row: Row | None) -> str:
    """How a quasi-identifier was changed."""
    shown = (manifest.get("shown") or {}).get(column)
    level, height = ((row or {}).get(name) for name in ("level", "height"))
    if shown is not None:
        mean = "" if level is None else f", on average level {level:.1f} of {height}"
        return f"recoded class by class{mean}; shown as {_SHOWN.get(shown, shown)}"
    if level is None:
        return "generalized"
    if level == 0:
        return "unchanged"
    return "suppressed: every value is *" if level == height else f"generalized to level {level} of {height}"


def perturbed(column: str, manifest: Manifest) -> str | None:
    """How the values of a column were changed; None if they were not."""
    parameters_of_column = (manifest.get("perturbation") or {}).get("columns", {}).get(column)
    if parameters_of_column is not None:
        return f"perturbed: {parameters(parameters_of_column)}"
    redrawn = (manifest.get("minimality") or {}).get("columns", ())
    if any(entry["column"] == column for entry in redrawn):
        return "partly redrawn against the minimality attack"
    return None


def risk_name(name: str, counted: str = "rows") -> str:
    """A risk figure in words; `counted`: rows or people."""
    if name == "smallest class":
        return f"{RISKS[name]}, {counted}"
    return RISKS.get(name) or f"{counted.capitalize()} with a risk {name}"
