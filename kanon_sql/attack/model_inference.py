"""Attribute inference by a model: learn the sensitive value from the release, and predict a person's.

Source: S. Yeom, I. Giacomelli, M. Fredrikson, S. Jha, "Privacy risk in machine learning", CSF 2018, section 5; B.
Jayaraman, D. Evans, "Are attribute inference attacks just imputation?", CCS 2022: a model's accuracy for a person only
counts beyond that of a model trained without that person. The attacker trains a forest on the labels and values of all
records, and predicts the value of people of the source from the labels of the class that fits them. A prediction is
right if the source has that value. The control is a forest trained without the person's own record: the records of
every class and value are split into five parts, and people with a record in a part are predicted by the forest of the
other four.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from kanon_sql.attack.inference import commonest
from kanon_sql.attack.matching import Attacked, attack, classes_of, counted_values
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Control, Outcome
from kanon_sql.generalization.values import Label
from kanon_sql.queries import Relation

_PARTS = 5
_TREES = 20
_MOST_PAIRS = 20_000  # of a class and a value, for training
_MOST_VALUES = 100
_Row = tuple[Any, ...]
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def _inference(material: Material) -> Iterator[Outcome]:
    source, tables = material.source, material.tables
    assert source is not None
    columns = material.quasi_identifiers_of(source)
    attacked = attack(material, source, columns)
    control = attack(material, material.control, columns, "control_") if material.control else None
    features = None
    for column in material.sensitive:
        if column not in source.columns:
            continue
        likeliest = _likeliest(attacked, column)
        if tables.count(likeliest) and _can_learn(material, column):
            features = features or _features(material, classes_of(material, material.release))
            yield _of_column(material, source, column, features, likeliest, control)


def _likeliest(attacked: Attacked, column: str) -> Relation:
    """The class for every target's prediction, and the true value: target, class, value, place."""
    material = attacked.material
    return material.tables.create(
        f"{attacked.stem}likeliest",
        "attack_attributes/likeliest",
        fits=attacked.fits,
        truths=attacked.truths(column),
        classes=classes_of(material, material.release),
    )


def _can_learn(material: Material, column: str) -> bool:
    """Whether a column has few enough values for a model."""
    release = material.release
    values = material.tables.rows(
        "attack_attributes/value_rows", release=release.relation, value=release.plain([column])
    )
    if len(values) > _MOST_VALUES:
        material.note(f"{column} has {len(values):,} values, too many for a model to guess")
    return len(values) <= _MOST_VALUES


def _of_column(
    material: Material,
    source: Copy,
    column: str,
    features: dict[int, list[int]],
    likeliest: Relation,
    control: Attacked | None,
) -> Outcome:
    baseline = commonest(material, column)
    people = _people(material, likeliest)
    holes = {**counted_values(material, column), "classes": classes_of(material, material.release)}
    holes |= {"likeliest": likeliest, "seed": str(material.seed), "most": _MOST_PAIRS}
    pairs = material.tables.rows("attack_attributes/training", **holes)  # class, value, number of records with both
    predictions = _predictions(pairs, [int(n) for _, _, n in pairs], features, material.seed)
    right = _hits(predictions, people)
    right_without_own = _right_without_own(pairs, people, features, material.seed)
    attempts = len(people)
    everybody = material.attacked(source, attempts)
    outcome = Outcome(
        "model_inference",
        f"A model trained on the release predicts the right {column} for {right / attempts:.1%} of {attempts:,} "
        f"{source.who}; trained without their own record, for {right_without_own / attempts:.1%}. From the values' "
        f"shares alone: {baseline:.1%}.",
        attempts=attempts,
        successes=right,
        affected=round(right / attempts * everybody),
        baseline=baseline,
        control=right_without_own / attempts,
        column=column,
        counted=source.who,
        sampled=attempts < everybody,
        avoid=f"raise k, or require l-diversity or t-closeness of {column}",
    )
    return outcome.with_control(_on_control(material, control, column, predictions, baseline)) if control else outcome


def _on_control(
    material: Material, control: Attacked, column: str, predictions: dict[int, str], baseline: float
) -> Control:
    """The model's success for people without a record; people that fit no class get the most common value."""
    people = _people(material, _likeliest(control, column))
    without_class = control.attempts - len(people)
    return Control(control.attempts, round(_hits(predictions, people) + baseline * without_class))


def _people(material: Material, likeliest: Relation) -> list[_Row]:
    return material.tables.rows("frequency_sets/copy", source=likeliest, columns=["class", "value", "place"])


def _hits(predictions: dict[int, str], people: Sequence[_Row]) -> int:
    """The number of people for whom the prediction is the right value."""
    return sum(predictions.get(number) == value for number, value, _ in people)


def _right_without_own(pairs: Sequence[_Row], people: Sequence[_Row], features: dict[int, list[int]], seed: int) -> int:
    """How often the models without the person's own record are right.

    The records of a pair have places 1, 2, …; the first belongs to the first person with this class and value.
    """
    numbered = {(number, value): (row, int(n)) for row, (number, value, n) in enumerate(pairs)}

    def part_of(number: int, value: str, place: int) -> int:
        row, n = numbered.get((number, value), (0, 0))
        return (row + place) % _PARTS if place <= n else 0

    right = 0
    for part in range(_PARTS):
        rest = [int(n) - _in_part(row, int(n), part) for row, (_, _, n) in enumerate(pairs)]
        predictions = _predictions(pairs, rest, features, seed)
        right += _hits(predictions, [person for person in people if part_of(*person) == part])
    return right


def _in_part(row: int, n: int, part: int) -> int:
    """The number of places 1 to n of a row that are in a part."""
    first = (part - row - 1) % _PARTS + 1
    return len(range(first, n + 1, _PARTS))


def _predictions(
    pairs: Sequence[_Row], weights: Sequence[int], features: dict[int, list[int]], seed: int
) -> dict[int, str]:
    """Train a forest, and predict the value of every class; empty without training data."""
    from sklearn.ensemble import ExtraTreesClassifier

    training = [(features[number], value, n) for (number, value, _), n in zip(pairs, weights, strict=True) if n]
    if not training:
        return {}
    rows, values, counts = (list(column) for column in zip(*training, strict=True))
    forest = ExtraTreesClassifier(n_estimators=_TREES, random_state=seed).fit(rows, values, counts)
    return dict(zip(features, forest.predict(list(features.values())), strict=True))


def _features(material: Material, classes: Relation) -> dict[int, list[int]]:
    """The labels of every class as numbers, ordered by the first number in a label."""
    plain = material.release.plain(material.quasi_identifiers)
    rows = material.tables.rows("frequency_sets/copy", source=classes, columns=["class", *plain])
    codes: list[dict[Label, int]] = []
    for place in range(1, len(plain) + 1):
        labels = sorted({row[place] for row in rows}, key=_order)
        codes.append({label: code for code, label in enumerate(labels)})
    return {row[0]: [code[label] for code, label in zip(codes, row[1:], strict=True)] for row in rows}


def _order(label: Label) -> tuple[float, str]:
    number = _NUMBER.search(label or "")
    return float(number[0]) if number else float("inf"), label or ""


MODEL_INFERENCE = Attack(
    "model_inference",
    "Train a model on the release, and predict a person's sensitive value.",
    _inference,
    ("sensitive", "source", "models"),
)
