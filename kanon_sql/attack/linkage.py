"""Linkage with a table of people: from a person to that person's candidate records, and from a record to people.

Source: L. Sweeney, "k-anonymity", IJUFKS 10(5), 2002, section 2; K. El Emam, F. Dankar, "Protecting privacy using
k-anonymity", JAMIA 15(5), 2008: the prosecutor looks for a certain person, the journalist for anyone in a register. The
attacker has the auxiliary table, takes all records whose labels cover a person's values in it, and picks one of
them. A pick is right if it is that person's record. The expected number of right picks is counted: the sum of
1 / candidates over the people in the release.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kanon_sql.attack.matching import attack, classes_of, fitting
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Control, Outcome
from kanon_sql.queries import Hole, Relation

_AVOID = "raise k, release fewer columns that others also have, or generalize these"


@dataclass(frozen=True)
class _Linked:
    """A release and a table of people: their common columns, and whether a key identifies the people in the source."""

    material: Material
    people: Copy
    names: tuple[str, ...]
    classes: Relation

    @property
    def source(self) -> Copy | None:
        """The source, if it can identify people: by the key, or by all common columns."""
        source = self.material.source
        return source if source and (self.by_key or set(self.names) <= source.columns.keys()) else None

    @property
    def by_key(self) -> bool:
        """Whether the people and the source have the same unit column."""
        source = self.material.source
        return bool(source and source.unit and self.people.unit)

    @property
    def assumption(self) -> str:
        """How right links are determined, in words."""
        if self.by_key:
            return f"by the {self.material.unit} of people and source"
        return "if those who agree with a row of the source are in it" if self.source else "if they are in the release"


def _linkage(material: Material) -> Iterator[Outcome]:
    people = material.auxiliary
    assert people is not None
    names = material.quasi_identifiers_of(people)
    linked = _Linked(material, people, names, classes_of(material, material.release))
    if people.rows:
        yield _of_people(linked)
        yield _of_records(linked)


def _of_people(linked: _Linked) -> Outcome:
    """From every person to candidate records."""
    material, people, tables = linked.material, linked.people, linked.material.tables
    attacked = attack(material, people, linked.names)
    targets, fits, attempts = attacked.targets, attacked.fits, attacked.attempts
    candidates = tables.create("candidates", "attack_linkability/candidates", fits=fits, classes=linked.classes)
    control = material.control and _on_control(linked, material.control)
    owned = _owned(linked, targets, fits, candidates)
    (sums,) = tables.rows("attack_linkage/linked", candidates=candidates, owned=owned)
    fitted, one_record, one_class, right = int(sums[0]), int(sums[1]), int(sums[2]), float(sums[3])
    outcome = Outcome(
        "linkage",
        f"{fitted:,} of {attempts:,} {people.who} of the auxiliary table fit a record, {one_record:,} of them exactly "
        f"one: an attacker who picks a record that fits is right for {right / attempts:.1%} of them, "
        f"{linked.assumption}.",
        attempts=attempts,
        successes=round(right),
        affected=round(right / attempts * people.people),
        baseline=1 / material.release.rows,
        counted=people.who,
        sampled=attempts < people.people,
        figures={"fitting": fitted, "one_record": one_record, "one_class": one_class, "right": right},
        avoid=_AVOID,
    )
    return outcome.with_control(control) if control else outcome


def _on_control(linked: _Linked, control: Copy) -> Control:
    """The success rate for people without a record, as if one of the fitting records were theirs."""
    material, tables = linked.material, linked.material.tables
    attacked = attack(material, control, linked.names, "control_")
    holes: dict[str, Hole] = {"fits": attacked.fits, "classes": linked.classes}
    candidates = tables.create("control_candidates", "attack_linkability/candidates", **holes)
    owned = tables.create("control_owned", "attack_linkage/one_of_each", linked=candidates)
    ((*_, right),) = tables.rows("attack_linkage/linked", candidates=candidates, owned=owned)
    return Control(attacked.attempts, round(right))


def _owned(linked: _Linked, targets: Relation, fits: Relation, candidates: Relation) -> Relation:
    """The number of fitting records that are a target's own: target, records."""
    material, source, tables = linked.material, linked.source, linked.material.tables
    if source is None:
        return tables.create("owned", "attack_linkage/one_of_each", linked=candidates)
    links = _links(linked, source, targets)
    columns = material.quasi_identifiers_of(source)
    rows: dict[str, Hole] = {"source": source.relation, "columns": source.plain(columns), "links": links}
    own_rows = tables.create("own", "attack_linkage/source_rows", **rows)
    own = fitting(material, own_rows, source, linked.classes, columns, "own_fits")
    owned = tables.create("owned", "attack_linkage/owned", links=links, fits=fits, own_fits=own)
    return owned if linked.by_key else tables.create("owned_one", "attack_linkage/one_of_each", linked=owned)


def _links(linked: _Linked, source: Copy, targets: Relation) -> Relation:
    """The rows of the source that are a target's: by the key, or all that agree in the common columns."""
    people, tables = linked.people, linked.material.tables
    if linked.by_key:
        return tables.create(
            "links",
            "attack_linkage/links_by_unit",
            targets=targets,
            people=people.relation,
            source=source.relation,
            unit=source.unit,
        )
    columns: dict[str, Any] = {"columns": source.plain(linked.names)}
    keyed = tables.create("keyed_targets", "attack_linkage/keyed", people=targets, id=["target"], **columns)
    rows = tables.create("keyed_source", "attack_linkage/keyed", people=source.relation, id=["row_id"], **columns)
    return tables.create("links", "attack_linkage/links_by_key", targets=keyed, source=rows)


def _of_records(linked: _Linked) -> Outcome:
    """From every record to candidate people."""
    material, people, tables = linked.material, linked.people, linked.material.tables
    labels = material.release.plain(material.quasi_identifiers)
    seeded: dict[str, Hole] = {"labels": labels, "seed": str(material.seed), "most": material.most}
    classes = tables.create("drawn_classes", "attack_linkage/drawn_classes", classes=linked.classes, **seeded)
    people_of: dict[str, Hole] = {"people": people.relation, "columns": people.plain(linked.names)}
    query = "attack_linkage/tuples"
    if linked.by_key and material.source:
        query = "attack_linkage/tuples_in_source"
        people_of |= {"source": material.source.relation, "unit": material.source.unit}
    tuples = tables.create("tuples", query, **people_of)
    fits = fitting(material, tuples, people, classes, linked.names, "people_fits")
    (sums,) = tables.rows("attack_linkage/linked_records", classes=classes, fits=fits, tuples=tuples)
    records, fitted, one_person, right = int(sums[0]), int(sums[1]), int(sums[2]), float(sums[3])
    assumed = "by their key" if linked.by_key else "if all of them are in it"
    return Outcome(
        "linkage_of_records",
        f"{fitted:,} of {records:,} records fit a person of the auxiliary table, {one_person:,} of them exactly one: "
        f"an attacker who picks a person who fits is right for {right / records:.1%} of the records, {assumed}.",
        attempts=records,
        successes=round(right),
        affected=round(right / records * material.release.rows),
        baseline=1 / people.people,
        sampled=records < material.release.rows,
        figures={"fitting": fitted, "one_person": one_person, "right": right},
        avoid=_AVOID,
    )


LINKAGE = Attack(
    "linkage",
    "Pick one of the records whose labels fit a person's values in another table; and the reverse.",
    _linkage,
    ("auxiliary",),
    ("linkage", "linkage_of_records"),
)
