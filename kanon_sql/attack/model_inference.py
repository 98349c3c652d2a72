"""Attribute inference by a model: learn the sensitive value from the release, and ask for somebody's.

Source: S. Yeom, I. Giacomelli, M. Fredrikson, S. Jha, "Privacy risk in machine learning", CSF 2018, section 5; B.
Jayaraman, D. Evans, "Are attribute inference attacks just imputation?", CCS 2022: what a model tells of somebody counts
only beyond what one tells that was trained without them. The attacker trains a forest on the labels and the values of
all records, and asks it for the value of people of the source, by the labels of the class that they fit. A guess is
right if the source has that value. The control is a forest that was trained without the person's own record: the
records are parted in five, and whoever has one in a part is asked of the forest of the other four.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from kanon_sql.attack.inference import commonest
from kanon_sql.attack.matching import classes_of, drawn, fitting
from kanon_sql.attack.material import Attack, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.generalization.values import Label
from kanon_sql.queries import Relation

_FOLDS = 5
_TREES = 20
_MOST_RECORDS = 10_000
_MOST_VALUES = 100
_Row = tuple[Any, ...]


def _inference(material: Material) -> Iterator[Outcome]:
    source, tables = material.source, material.tables
    assert source is not None
    known = tuple(name for name in material.quasi_identifiers if name in source.columns)
    classes, targets = classes_of(material, material.release), drawn(material, source, known)
    fits = fitting(material, targets, source, classes, known)
    features = _features(material, classes)
    for column in material.sensitive:
        if column not in source.columns:
            continue
        value = source.plain([column])
        truths = tables.make("truths", "attack/truths", targets=targets, people=source.relation, value=value)
        asked = tables.make("likeliest", "attack/likeliest", fits=fits, classes=classes, truths=truths)
        if tables.count(asked) and _can_learn(material, column):
            yield _of_column(material, column, features, asked)


def _can_learn(material: Material, column: str) -> bool:
    """Whether a column has so few values that a model can tell them apart."""
    release = material.release
    values = material.tables.rows("attack/value_rows", release=release.relation, value=release.plain([column]))
    if len(values) > _MOST_VALUES:
        material.note(f"{column} has {len(values):,} values, too many for a model to guess")
    return len(values) <= _MOST_VALUES


def _of_column(material: Material, column: str, features: dict[int, list[int]], asked: Relation) -> Outcome:
    release, baseline = material.release, commonest(material, column)
    people = material.tables.rows("core/copy", source=asked, columns=["target", "class", "value"])
    right, others = _right(_records(material, column, asked), people, features, material.seed)
    attempts = len(people)
    return Outcome(
        "model_inference",
        f"A model trained on the release gives the right {column} of {right / attempts:.1%} of {attempts:,} people; "
        f"trained without their own record, of {others / attempts:.1%}. By the values' shares alone it would be "
        f"{baseline:.1%}.",
        attempts=attempts,
        successes=right,
        people=round(right / attempts * release.people),
        baseline=baseline,
        control=others / attempts,
        column=column,
        sampled=attempts < release.people,
        avoid=f"raise k, or ask for l-diversity or t-closeness of {column}",
    )


def _records(material: Material, column: str, asked: Relation) -> list[_Row]:
    """The records to learn from: class, value, whose own it is (None: nobody's)."""
    release = material.release
    labels, value = release.plain(material.quasi_identifiers), release.plain([column])
    return material.tables.rows(
        "attack/training",
        release=release.relation,
        labels=labels,
        value=value,
        likeliest=asked,
        seed=str(material.seed),
        most=_MOST_RECORDS,
    )


def _right(
    records: Sequence[_Row], people: Sequence[_Row], features: dict[int, list[int]], seed: int
) -> tuple[int, int]:
    """How often the model of all records is right, and how often those without the person's own record are."""
    fold_of = {target: number % _FOLDS for number, (_, _, target) in enumerate(records) if target is not None}
    whole = _learnt(records, features, seed)
    right = sum(whole[number] == value for _, number, value in people)
    others = 0
    for fold in range(_FOLDS):
        rest = [record for number, record in enumerate(records) if number % _FOLDS != fold]
        model = _learnt(rest, features, seed) if rest else {}
        asked = [person for person in people if fold_of.get(person[0], 0) == fold]
        others += sum(model.get(number) == value for _, number, value in asked)
    return right, others


def _learnt(records: Sequence[_Row], features: dict[int, list[int]], seed: int) -> dict[int, str]:
    """What a forest guesses for each class."""
    from sklearn.ensemble import ExtraTreesClassifier

    forest = ExtraTreesClassifier(n_estimators=_TREES, random_state=seed)
    forest.fit([features[number] for number, _, _ in records], [value for _, value, _ in records])
    return dict(zip(features, forest.predict(list(features.values())), strict=True))


def _features(material: Material, classes: Relation) -> dict[int, list[int]]:
    """The labels of each class as numbers, in order by the first number that a label shows."""
    plain = material.release.plain(material.quasi_identifiers)
    rows = material.tables.rows("core/copy", source=classes, columns=["class", *plain])
    codes = [_codes({row[place] for row in rows}) for place in range(1, len(plain) + 1)]
    return {row[0]: [code[label] for code, label in zip(codes, row[1:], strict=True)] for row in rows}


def _codes(labels: set[Label]) -> dict[Label, int]:
    return {label: code for code, label in enumerate(sorted(labels, key=_order))}


def _order(label: Label) -> tuple[float, str]:
    number = _NUMBER.search(label or "")
    return float(number[0]) if number else float("inf"), label or ""


_NUMBER = re.compile(r"-?\d+(\.\d+)?")

MODEL_INFERENCE = Attack(
    "model_inference",
    "Train a model on the release, and ask it for somebody's sensitive value.",
    _inference,
    ("sensitive", "source", "models"),
)
