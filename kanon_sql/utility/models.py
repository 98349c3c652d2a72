"""What can be learned from a release: models trained on it and on its source, tried on the same rows of the source.

Random forests of scikit-learn (L. Breiman, Machine Learning 45(1), 2001). A cell of an ordered column is a number, the
mean of the values that its label may stand for; of any other column it is its chances of being each of the values. So
a model that learned from labels can be asked of exact rows. A model of the release is trained on what the rows that a
model of the source is trained on have become, see `kanon_sql.utility.alignment`; so nobody who is asked about is among
them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_sql.utility.alignment import Drawn
from kanon_sql.utility.attribute import Attribute, Floats, Integers

FOLDS, LEAST_ROWS = 5, 20
_TREES, _LEAF = 40, 3


@dataclass(frozen=True)
class Learned:
    """How well a column can be told from all others, by a model of each table.

    `kind`: classifier or regressor. `source`, `release`, `baseline`: by the name of the figure that of the model
    trained on the source, on the release, and of the guess that is always the source's most frequent value, or its
    mean: `accuracy`, `balanced_accuracy` and, of two values, `auc`; or `r2` and `mean_absolute_error`. None where a
    figure cannot be worked out. `rows`: of the source that were drawn.
    """

    column: str
    kind: str
    rows: int
    source: Mapping[str, float | None]
    release: Mapping[str, float | None]
    baseline: Mapping[str, float | None]


def is_installed() -> bool:
    """Whether scikit-learn is there."""
    return importlib.util.find_spec("sklearn") is not None


def why_not(attributes: Sequence[Attribute], target: int, drawn: Drawn) -> str | None:
    """What keeps a column from being learned, if anything does."""
    attribute = attributes[target]
    if len(attributes) < 2:
        return "there is no other column to tell it from"
    if np.count_nonzero(np.delete(attribute.group_rows, _null(attribute))) < 2:
        return "it has one value only"
    if drawn.has_released.sum() < LEAST_ROWS:
        return f"it takes {LEAST_ROWS} rows that were released"
    return None


def learned(attributes: Sequence[Attribute], target: int, drawn: Drawn, seed: int) -> Learned:
    """Train and try models of one column on rows that were drawn."""
    tried = _Task(attributes, target, drawn, seed)
    is_number = attributes[target].is_number
    figures = tried.regressions() if is_number else tried.classifications()
    return Learned(attributes[target].name, "regressor" if is_number else "classifier", len(tried.truth), *figures)


def _null(attribute: Attribute) -> list[int]:
    return [] if attribute.null_group is None else [attribute.null_group]


class _Task:
    """One column to learn: features and answers of the rows whose exact answer is not NULL, and their folds."""

    def __init__(self, attributes: Sequence[Attribute], target: int, drawn: Drawn, seed: int) -> None:
        self.attributes, self.target, self.seed = attributes, target, seed
        random = np.random.default_rng(seed)
        known, truth = self._answered(drawn.exact, random)
        answered, said = self._answered(drawn.released, random)
        self.truth = truth[known]
        self.folds = np.arange(len(self.truth)) % FOLDS
        self.exact = self._features(drawn.exact[known])
        labelled = self._features(drawn.released[known])
        every = np.ones(len(self.truth), dtype=bool)
        self.training = {
            "source": (self.exact, self.truth, every),
            "release": (labelled, said[known], (answered & drawn.has_released)[known]),
        }

    def _answered(self, rows: Integers, random: np.random.Generator) -> tuple[NDArray[np.bool_], Floats]:
        """Which answers are known, and they: the mean number, or a value drawn among those of the label."""
        of = self.attributes[self.target]
        weights = np.delete(of.weights, _null(of), axis=1)[rows[:, self.target]]
        chances = weights.sum(axis=1, keepdims=True)
        weights = np.divide(weights, chances, out=np.zeros_like(weights), where=chances > 0)
        if of.is_number:
            return chances[:, 0] > 0, weights @ np.nan_to_num(np.delete(of.numbers, _null(of)))
        drawn = (np.cumsum(weights, axis=1) < random.random((len(weights), 1))).sum(axis=1)
        return chances[:, 0] > 0, np.minimum(drawn, weights.shape[1] - 1).astype(float)

    def _features(self, rows: Integers) -> Floats:
        others = [number for number in range(len(self.attributes)) if number != self.target]
        return np.column_stack([_feature(self.attributes[number])[rows[:, number]] for number in others])

    def _predictions(self, model: Callable[[], Any], predict: Callable[[Any, Floats], Floats]) -> dict[str, Floats]:
        """What models of each table say of the rows that were held out of their training."""
        said = {}
        for name, (features, answers, known) in self.training.items():
            parts = np.zeros((len(self.truth), *self._shape))
            for fold in range(FOLDS):
                others = known & (self.folds != fold)
                trained = model().fit(features[others], answers[others])
                parts[self.folds == fold] = predict(trained, self.exact[self.folds == fold])
            said[name] = parts
        return said

    @property
    def _shape(self) -> tuple[int, ...]:
        of = self.attributes[self.target]
        return () if of.is_number else (len(of.numbers) - of.nullable,)

    def classifications(self) -> tuple[Mapping[str, float | None], ...]:
        """The figures of classifiers trained on the source and on the release, and of the most frequent value."""
        from sklearn.ensemble import RandomForestClassifier

        def predict(trained: Any, features: Floats) -> Floats:
            chances = np.zeros((len(features), *self._shape))
            chances[:, trained.classes_.astype(int)] = trained.predict_proba(features)
            return chances

        def model() -> Any:
            return RandomForestClassifier(_TREES, min_samples_leaf=_LEAF, random_state=self.seed)

        said = self._predictions(model, predict)
        most = np.bincount(self.truth.astype(int), minlength=self._shape[0])
        guess = np.tile(most / most.sum(), (len(self.truth), 1))
        return tuple(self._classified(chances) for chances in (said["source"], said["release"], guess))

    def _classified(self, chances: Floats) -> Mapping[str, float | None]:
        from sklearn.metrics import accuracy_score, recall_score, roc_auc_score

        said, truth = chances.argmax(axis=1), self.truth.astype(int)
        values = np.unique(truth)
        recall = recall_score(truth, said, labels=values, average="macro", zero_division=0)
        figures = {"accuracy": float(accuracy_score(truth, said)), "balanced_accuracy": float(recall)}
        if self._shape[0] == 2:
            figures["auc"] = float(roc_auc_score(truth, chances[:, 1]))
        return figures

    def regressions(self) -> tuple[Mapping[str, float | None], ...]:
        """The figures of regressors trained on the source and on the release, and of the mean."""
        from sklearn.ensemble import RandomForestRegressor

        def model() -> Any:
            return RandomForestRegressor(_TREES, min_samples_leaf=_LEAF, random_state=self.seed)

        said = self._predictions(model, lambda trained, features: trained.predict(features))
        guess = np.full(len(self.truth), self.truth.mean())
        return tuple(self._regressed(numbers) for numbers in (said["source"], said["release"], guess))

    def _regressed(self, said: Floats) -> Mapping[str, float | None]:
        off = said - self.truth
        spread = float(((self.truth - self.truth.mean()) ** 2).sum())
        r2 = 1 - float((off**2).sum()) / spread if spread else None
        return {"r2": r2, "mean_absolute_error": float(np.abs(off).mean())}


def _feature(attribute: Attribute) -> Floats:
    """What a model sees of a cell, by its code: a number, and the chance that there is none; or all chances."""
    if not attribute.is_number:
        return attribute.weights
    known = np.isfinite(attribute.numbers)
    chances = attribute.weights[:, known].sum(axis=1)
    mean = attribute.group_rows[known] @ attribute.numbers[known] / attribute.group_rows[known].sum()
    numbers = np.divide(
        attribute.weights[:, known] @ attribute.numbers[known],
        chances,
        out=np.full(len(chances), mean),
        where=chances > 0,
    )
    return numbers[:, None] if known.all() else np.column_stack([numbers, 1 - chances])
