"""Downcoding: what labels reveal in addition to their meaning, if the attacker knows how they were chosen.

Source: A. Cohen, "Attacks on deidentification's defenses", USENIX Security 2022: an attacker who knows the rules of a
release that is as exact as they allow can infer more exact labels.

The attacker knows the values that occur, and claims two things. Labels are tight: the smallest and largest value of a
range, and both values of a label with two, occur in the class. And equal rows stay together: if a class shows a single
value of every attribute, no row of another class is equal, so labels of other classes cover fewer values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from kanon_sql.attack.matching import classes_of, fitting, load_covers, people_of_sample
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.queries import Relation

_RANGE = re.compile(r"=\[.+, .+\]")  # a label's join key
_SHOW = "show `ranges` of {}, which are rounded"
# A class with one value shows that value, so a range of one step with two values implies that both occur.
_ROUND = "choose a hierarchy for {} whose first level joins three or more of its values, to which ranges are rounded"


def _downcoding(material: Material) -> Iterator[Outcome]:
    assert material.source
    classes = classes_of(material, material.release)
    yield from _tight(material, material.source, classes)
    yield _excluded(material, material.source, classes)


def _tight(material: Material, source: Copy, classes: Relation) -> Iterator[Outcome]:
    """Claim for drawn classes that both ends of a range, and both of two values, occur."""
    tables, labels = material.tables, source.plain(material.quasi_identifiers)
    holes: dict[str, Any] = {"classes": classes, "labels": labels, "seed": str(material.seed), "most": material.most}
    drawn = tables.create("drawn", "attack_linkage/drawn_classes", **holes)
    part = tables.count(drawn) / tables.count(classes)
    people = people_of_sample(material, source)
    fits = fitting(material, people, source, drawn, target="row_id")
    for name in material.quasi_identifiers:
        covers, holes = _label_tables(material, source, drawn, name)
        ((hidden,),) = tables.rows("attack_downcoding/hidden_cells", **holes)
        value = source.plain([name])
        shares = tables.rows("attack_downcoding/label_shares", covers=covers, people=source.relation, value=value)
        claims = list(_claims(shares, source.column(name).ordered))
        types = {"label": "VARCHAR", "value": "VARCHAR", "share": "DOUBLE"}
        loaded = tables.load("claims", types, list(zip(*claims, strict=True)) or [[], [], []])
        relations: dict[str, Any] = {"classes": drawn, "claims": loaded, "fits": fits, "people": people}
        ((count, correct, expected),) = tables.rows("attack_downcoding/claims_right", value=value, **relations)
        if count:
            in_ranges = any(_RANGE.fullmatch(label) for label, _, _ in claims)
            yield _ends(name, int(hidden), int(count), int(correct), float(expected), part, in_ranges)


def _claims(shares: Sequence[tuple[Any, ...]], in_order: bool) -> Iterator[tuple[str, str, float]]:
    """The ends of every label's values, or both of two values: label, value, its share."""
    for label, rows in groupby(sorted(shares, key=lambda row: row[0]), key=lambda row: row[0]):
        claimed = [row for row in rows if row[2] is not None]
        if in_order and len(claimed) > 1:
            claimed = [min(claimed, key=lambda row: row[2]), max(claimed, key=lambda row: row[2])]
        if len(claimed) == 2:
            yield from ((label, value, share) for _, value, _, share in claimed)


def _ends(name: str, hidden: int, claims: int, correct: int, expected: float, part: float, in_ranges: bool) -> Outcome:
    always = "always, so the claims are certain" if correct == claims else "but not always"
    return Outcome(
        "downcoding",
        f"Of {hidden:,} cells with a generalized {name}, {claims:,} are claimed to have their label's smallest or "
        f"largest value, or one of its two; that is right for {correct:,}, {always}.",
        attempts=hidden,
        successes=correct,
        affected=round(correct / part),
        baseline=expected / hidden,
        column=name,
        sampled=part < 1,
        figures={"claims": claims, "always": int(correct == claims)},
        avoid=f"{(_ROUND if in_ranges else _SHOW).format(name)}, or show `labels`, or search the lattice "
        "(`strategy: auto`)",
    )


def _excluded(material: Material, source: Copy, classes: Relation) -> Outcome:
    """Exclude from the labels of a class the values that similar classes, equal but for one attribute, show exactly."""
    tables, labels = material.tables, source.plain(material.quasi_identifiers)
    lines, hidden = tables.create("lines", "attack_downcoding/first_lines", classes=classes), 0
    of_labels = [_label_tables(material, source, classes, name) for name in material.quasi_identifiers]
    for number, (_, holes) in enumerate(of_labels, start=1):
        hidden += int(tables.rows("attack_downcoding/hidden_cells", **holes)[0][0])
        tables.create("next_lines", "attack_downcoding/next_lines", lines=lines, number=number, **holes)
        tables.rename("next_lines", "lines")
    exact = tables.create("exact", "attack_downcoding/exact_classes", classes=classes, lines=lines, labels=labels)
    fits = fitting(material, source.relation, source, exact, target="row_id")
    whole = tables.create("whole", "attack_downcoding/whole_classes", classes=exact, fits=fits)
    narrowed = certain = 0
    for number, (covers, holes) in enumerate(of_labels, start=1):
        holes |= {"covers": covers, "lines": lines, "whole": whole}
        ((rows, one),) = tables.rows("attack_downcoding/narrowed_labels", number=number, **holes)
        narrowed, certain = narrowed + int(rows), certain + int(one)
    return Outcome(
        "exclusion",
        f"{narrowed:,} of {hidden:,} generalized cells mean fewer values than their labels say, since other "
        f"classes show the rest exactly; {certain:,} for one value only.",
        attempts=hidden,
        successes=narrowed,
        affected=narrowed,
        baseline=0.0,
        counted="cells",
        figures={"certain": certain},
        avoid="search the lattice (`strategy: auto`), whose labels never lie within each other",
    )


def _label_tables(material: Material, source: Copy, classes: Relation, name: str) -> tuple[Relation, dict[str, Any]]:
    """The values that one attribute's labels cover, and their numbers and the classes as holes of queries."""
    (plain,) = source.plain([name])
    covers = load_covers(material, source.relation, classes, name, source, f"covers_{plain}").relation
    sizes = material.tables.create(f"sizes_{plain}", "attack_downcoding/label_sizes", covers=covers)
    return covers, {"classes": classes, "sizes": sizes, "value": [plain]}


DOWNCODING = Attack(
    "downcoding",
    "Make labels more exact, knowing that they are tight, and that equal rows stay together.",
    _downcoding,
    ("source",),
    ("downcoding", "exclusion"),
)
