"""Models trained on a release and on its source, tested on the same rows of the source.

Random forests of scikit-learn (L. Breiman, Machine Learning 45(1), 2001). A cell of an ordered column is a number, the
mean of the values that its label covers; a cell of another column is the probabilities of all values. So a model
trained on labels can be applied to exact rows. The model of the release is trained on the released versions of the rows
on which the model of the source is trained, see `kanon_sql.utility.alignment`; so no test row is among them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_sql.utility.alignment import Drawn
from kanon_sql.utility.attribute import Floats, Int64s, SharedColumn

FOLDS, LEAST_ROWS = 5, 20
_TREES, _LEAF = 40, 3
_MANY_ROWS = 1_000  # from which a tree is trained on half of them: measured, as good in two thirds of the time


@dataclass(frozen=True)
class Learned:
    """How well a column can be predicted from all others, by models of both tables.

    `kind`: classifier or regressor. `source`, `release`, `baseline`: the figures by name of the model trained on the
    source, of the model trained on the release, and of always guessing the source's most frequent value or mean:
    `accuracy`, `balanced_accuracy` and, for two values, `auc`; or `r2` and `mean_absolute_error`. None if a figure
    cannot be computed. `rows`: the number of drawn rows of the source.
    """

    column: str
    kind: str
    rows: int
    source: Mapping[str, float | None]
    release: Mapping[str, float | None]
    baseline: Mapping[str, float | None]


def is_installed() -> bool:
    """Whether scikit-learn is installed."""
    return importlib.util.find_spec("sklearn") is not None


def why_not(attributes: Sequence[SharedColumn], target: int, drawn: Drawn) -> str | None:
    """Why a column cannot be learned, if so."""
    attribute = attributes[target]
    if len(attributes) < 2:
        return "there is no other column to predict it from"
    if np.count_nonzero(np.delete(attribute.group_rows, _null(attribute))) < 2:
        return "it has one value only"
    if drawn.has_released.sum() < LEAST_ROWS:
        return f"it takes {LEAST_ROWS} rows that were released"
    return None


def learned(attributes: Sequence[SharedColumn], target: int, drawn: Drawn, seed: int) -> Learned:
    """Train and test models of one column on drawn rows."""
    task = _Task(attributes, target, drawn, seed)
    is_number = attributes[target].is_number
    figures = task.regressions() if is_number else task.classifications()
    return Learned(attributes[target].name, "regressor" if is_number else "classifier", len(task.truth), *figures)


def _null(attribute: SharedColumn) -> list[int]:
    return [] if attribute.null_group is None else [attribute.null_group]


class _Task:
    """One column to learn: features and answers of the rows whose exact answer is not NULL, and their folds."""

    def __init__(self, attributes: Sequence[SharedColumn], target: int, drawn: Drawn, seed: int) -> None:
        self.attributes = attributes
        self.target = target
        self.seed = seed
        random = np.random.default_rng(seed)
        answered, truth = self._answers(drawn.exact, random)
        released, labelled_truth = self._answers(drawn.released, random)
        self.truth = truth[answered]
        self.folds = np.arange(len(self.truth)) % FOLDS
        self.exact = self._features(drawn.exact[answered])
        labelled = self._features(drawn.released[answered])
        every = np.ones(len(self.truth), dtype=bool)
        self.training = {
            "source": (self.exact, self.truth, every),
            "release": (labelled, labelled_truth[answered], (released & drawn.has_released)[answered]),
        }

    def _answers(self, rows: Int64s, random: np.random.Generator) -> tuple[NDArray[np.bool_], Floats]:
        """Which answers are not NULL, and the answers: the mean number, or a value drawn from the label."""
        target = self.attributes[self.target]
        weights = np.delete(target.weights, _null(target), axis=1)[rows[:, self.target]]
        chances = weights.sum(axis=1, keepdims=True)
        weights = np.divide(weights, chances, out=np.zeros_like(weights), where=chances > 0)
        if target.is_number:
            return chances[:, 0] > 0, weights @ np.nan_to_num(np.delete(target.numbers, _null(target)))
        drawn = (np.cumsum(weights, axis=1) < random.random((len(weights), 1))).sum(axis=1)
        return chances[:, 0] > 0, np.minimum(drawn, weights.shape[1] - 1).astype(float)

    def _features(self, rows: Int64s) -> Floats:
        others = [number for number in range(len(self.attributes)) if number != self.target]
        return np.column_stack([_feature(self.attributes[number])[rows[:, number]] for number in others])

    def _predictions(self, model: Callable[[], Any], predict: Callable[[Any, Floats], Floats]) -> dict[str, Floats]:
        """The predictions of the models of both tables for the rows that were excluded from training."""
        predictions = {}
        for name, (features, answers, usable) in self.training.items():
            parts = np.zeros((len(self.truth), *self._shape))
            for fold in range(FOLDS):
                training = usable & (self.folds != fold)
                trained = model().fit(features[training], answers[training])
                parts[self.folds == fold] = predict(trained, self.exact[self.folds == fold])
            predictions[name] = parts
        return predictions

    @property
    def _parameters(self) -> dict[str, Any]:
        """The parameters of a forest."""
        part = 0.5 if len(self.truth) >= _MANY_ROWS else None
        return {"n_estimators": _TREES, "min_samples_leaf": _LEAF, "max_samples": part, "random_state": self.seed}

    @property
    def _shape(self) -> tuple[int, ...]:
        target = self.attributes[self.target]
        return () if target.is_number else (len(target.numbers) - target.nullable,)

    def classifications(self) -> tuple[Mapping[str, float | None], ...]:
        """The figures of classifiers trained on the source and on the release, and of the most frequent value."""
        from sklearn.ensemble import RandomForestClassifier

        def predict(trained: Any, features: Floats) -> Floats:
            chances = np.zeros((len(features), *self._shape))
            chances[:, trained.classes_.astype(int)] = trained.predict_proba(features)
            return chances

        def model() -> Any:
            return RandomForestClassifier(**self._parameters)

        predictions = self._predictions(model, predict)
        most = np.bincount(self.truth.astype(int), minlength=self._shape[0])
        guess = np.tile(most / most.sum(), (len(self.truth), 1))
        return tuple(self._classified(chances) for chances in (predictions["source"], predictions["release"], guess))

    def _classified(self, chances: Floats) -> Mapping[str, float | None]:
        from sklearn.metrics import accuracy_score, recall_score, roc_auc_score

        predicted = chances.argmax(axis=1)
        truth = self.truth.astype(int)
        values = np.unique(truth)
        recall = recall_score(truth, predicted, labels=values, average="macro", zero_division=0)
        figures = {"accuracy": float(accuracy_score(truth, predicted)), "balanced_accuracy": float(recall)}
        if self._shape[0] == 2:
            figures["auc"] = float(roc_auc_score(truth, chances[:, 1]))
        return figures

    def regressions(self) -> tuple[Mapping[str, float | None], ...]:
        """The figures of regressors trained on the source and on the release, and of the mean."""
        from sklearn.ensemble import RandomForestRegressor

        def model() -> Any:
            return RandomForestRegressor(**self._parameters)

        predictions = self._predictions(model, lambda trained, features: trained.predict(features))
        guess = np.full(len(self.truth), self.truth.mean())
        return tuple(self._regressed(numbers) for numbers in (predictions["source"], predictions["release"], guess))

    def _regressed(self, predicted: Floats) -> Mapping[str, float | None]:
        off = predicted - self.truth
        spread = float(((self.truth - self.truth.mean()) ** 2).sum())
        r2 = 1 - float((off**2).sum()) / spread if spread else None
        return {"r2": r2, "mean_absolute_error": float(np.abs(off).mean())}


def _feature(attribute: SharedColumn) -> Floats:
    """The features of a cell by its code: a number and the probability of none; or the probabilities of all values."""
    if not attribute.is_number:
        return attribute.weights
    finite = np.isfinite(attribute.numbers)
    chances = attribute.weights[:, finite].sum(axis=1)
    mean = attribute.group_rows[finite] @ attribute.numbers[finite] / attribute.group_rows[finite].sum()
    numbers = np.divide(
        attribute.weights[:, finite] @ attribute.numbers[finite],
        chances,
        out=np.full(len(chances), mean),
        where=chances > 0,
    )
    return numbers[:, None] if finite.all() else np.column_stack([numbers, 1 - chances])
