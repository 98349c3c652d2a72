"""The information loss of a release, by every metric and column, against plain Python on its rows."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import product as product_of
from math import log2, prod
from pathlib import Path
from typing import Any

import pandas
import pytest

from kanon_sql import Release, anonymize

Rows = list[tuple[Any, ...]]
NAMES = ("zip", "age", "sex")
WEIGHTS = {"zip": 1.0, "age": 0.5, "sex": 0.25}


LADDERS: dict[str, dict[Any, list[Any]]] = {
    "zip": {f"{a}{b}": [f"{a}{b}", f"{a}-", "*"] for a in "123" for b in "12"} | {None: [None, None, "*"]},
    "age": {str(age): [str(age), f"{age // 4 * 4}+", "*"] for age in range(20, 32)},
    "sex": {sex: [sex, "*"] for sex in "fm"},
}


def table(seed: int) -> pandas.DataFrame:
    """Rows with NULL and with a value that no hierarchy holds, told apart by a column that is kept."""
    draw = random.Random(seed)
    zips = [*LADDERS["zip"], "stray"] if seed else [*LADDERS["zip"]]
    rows = [(draw.choice(zips), draw.choice(range(20, 32)), draw.choice("ffm"), number) for number in range(60)]
    return pandas.DataFrame(rows, columns=[*NAMES, "number"])


def released(seed: int, folder: Any, **options: Any) -> tuple[Release, Rows, Rows]:
    """A release, the source's rows, and what each of them shows, None where it is suppressed."""
    for name, ladder in LADDERS.items():
        (folder / f"{name}.csv").write_text(
            "".join(";".join(label or "" for label in row) + "\n" for row in ladder.values())
        )
    frame = table(seed)
    columns = {name: {"hierarchy": {"file": str(folder / f"{name}.csv")}, "weight": WEIGHTS[name]} for name in NAMES}
    release = anonymize(frame, {"quasi_identifiers": columns}, keep=["number"], unmapped="top", **options)
    shown = {row[-1]: tuple(map(_text, row[:-1])) for row in release.to_df().itertuples(index=False, name=None)}
    rows = [tuple(map(_text, row[:-1])) for row in frame.itertuples(index=False, name=None)]
    return release, rows, [shown.get(number) for number in range(len(rows))]


def _text(value: Any) -> str | None:
    return None if value is None or value != value else str(value)


class Column:
    """One column by the definitions: of each row its value, its level and how many leaves its cell may stand for."""

    def __init__(self, name: str, values: Sequence[Any], cells: Sequence[Any]) -> None:
        self.ladder, self.values = LADDERS[name], values
        self.leaves, self.height = len(self.ladder), len(next(iter(self.ladder.values()))) - 1
        self.levels = [
            self.height if cell is ... else self._level(value, cell) for value, cell in zip(values, cells, strict=True)
        ]
        self.under = [self._under(value, level) for value, level in zip(values, self.levels, strict=True)]
        self.gone, self.shown = [cell is ... for cell in cells], cells

    def label(self, value: Any, level: int) -> Any:
        return self.ladder[value][level] if value in self.ladder else "*"

    def _level(self, value: Any, cell: Any) -> int:
        if value not in self.ladder:
            return self.height
        return self.ladder[value].index(cell)

    def _under(self, value: Any, level: int) -> int:
        if value not in self.ladder:
            return self.leaves
        return sum(labels[level] == self.ladder[value][level] for labels in self.ladder.values())

    @property
    def loss(self) -> float:
        return sum(1 if gone else (m - 1) / (self.leaves - 1) for m, gone in self._cells) / len(self.values)

    @property
    def penalty(self) -> float:
        return sum(1 if gone else m / self.leaves * (m > 1) for m, gone in self._cells) / len(self.values)

    @property
    def _cells(self) -> list[tuple[int, bool]]:
        return list(zip(self.under, self.gone, strict=True))

    @property
    def intensity(self) -> float:
        return sum(level / self.height for level in self.levels) / len(self.values)

    def bits(self) -> tuple[float, float]:
        """Bits lost, level after level among the rows that reach it, and bits there were."""
        total, before = 0.0, 0
        for level in sorted({*self.levels} - {0}):
            reached = [value for value, x in zip(self.values, self.levels, strict=True) if x >= level]
            total += _lost([self.label(v, before) for v in reached], [self.label(v, level) for v in reached])
            before = level
        return total, _lost([self.label(v, 0) for v in self.values], ["*"] * len(self.values))


def _lost(fine: Sequence[Any], coarse: Sequence[Any]) -> float:
    finer, coarser = Counter(fine), Counter(coarse)
    return sum(log2(coarser[b] / finer[a]) for a, b in zip(fine, coarse, strict=True))


KINDS: list[dict[str, Any]] = [
    {"strategy": "auto", "suppression_limit": 0.2},
    {"strategy": "mondrian", "show": "common"},
    {"strategy": "kaca"},
    {"strategy": "refine", "show": "common", "suppression_limit": 0.2, "time_limit": 1},
]


@pytest.mark.parametrize(("options", "seed"), [*((kind, 0) for kind in KINDS), (KINDS[0], 1), (KINDS[1], 1)])
@pytest.mark.sampled
def test_the_loss_matches_the_released_rows(tmp_path: Any, options: dict[str, Any], seed: int) -> None:
    built, rows, shown = released(seed, tmp_path, k=4, **options)
    manifest, columns = built.manifest, []
    for j, name in enumerate(NAMES):
        cells = [... if labels is None else labels[j] for labels in shown]
        columns.append(Column(name, [row[j] for row in rows], cells))
    damage = {damage_["column"]: damage_ for damage_ in manifest["damage"]}
    bits = [column.bits() for column in columns]
    for name, column, (lost, most) in zip(NAMES, columns, bits, strict=True):
        measured, gone = damage[name], sum(column.gone)
        cells = zip(column.values, column.shown, strict=True)
        kept = sum(value == cell and value in column.ladder for value, cell in cells)
        assert (measured["unchanged"], measured["suppressed"]) == (kept, gone)
        assert measured["generalized"] == len(rows) - kept - gone
        assert measured["loss"] == pytest.approx(column.loss)
        assert measured["weight"] == WEIGHTS[name]
        if not seed:  # values that no hierarchy holds are one value in a node's entropy
            assert measured["entropy_kept"] == pytest.approx(1 - lost / most)
        assert measured["intensity"] == pytest.approx(column.intensity)
    weights = list(WEIGHTS.values())
    shares = [weight * (1 - 1 / column.leaves) for weight, column in zip(weights, columns, strict=True)]
    score = manifest["information_loss"]
    assert score["granularity"] == pytest.approx(_mean([c.loss for c in columns], shares))
    assert score["ncp"] == pytest.approx(_mean([c.penalty for c in columns], weights))
    if not seed:
        assert score["intensity"] == pytest.approx(_mean([c.intensity for c in columns], weights))
        assert score["entropy"] == pytest.approx(
            _dot([x for x, _ in bits], weights) / _dot([x for _, x in bits], weights)
        )
    far = dict(zip(NAMES, (damage_["squared_error"] for damage_ in manifest["damage"]), strict=True))
    assert (far["zip"], far["sex"]) == (None, None)
    assert far["age"] == pytest.approx(squared_error(columns[1], [str(row[1]) for row in rows], shown))
    if not seed:
        powers = [weight * len(weights) / sum(weights) for weight in weights]
        raised = [prod(map(pow, leaves, powers)) for leaves in stands_for(columns)]
        assert score["ambiguity"] == pytest.approx(sum(raised) / len(rows))
        assert score["divergence"] == pytest.approx(divergence(columns, rows, shown))
    assert built.damage_to_df().to_dict("records")[0]["column"] == "zip"


def test_ambiguity_by_weights_with_a_mean_of_1() -> None:
    """Three ZIP codes under each label, the sexes as they are; with equal weights it is the same to the last digit."""
    people = pandas.DataFrame({"zip": [f"{i % 4}{i % 3}" for i in range(40)], "sex": ["f", "m"] * 20})
    recipes = {"zip": {"redact": "right"}, "sex": "suppress"}

    def ambiguity(zips: float, sexes: float) -> Any:
        weights = {"zip": zips, "sex": sexes}
        columns = {name: {"hierarchy": recipes[name], "weight": weights[name]} for name in recipes}
        manifest = anonymize(people, {"quasi_identifiers": columns}, k=4, strategy="exhaustive").manifest
        assert manifest["node"] == {"zip": 1, "sex": 0}
        return manifest["information_loss"]["ambiguity"]

    assert ambiguity(1, 1) == ambiguity(0.3, 0.3) == pytest.approx(3)
    assert ambiguity(0.5, 1) == pytest.approx(3 ** (2 / 3))


def test_values_missing_from_hierarchies_can_outnumber_the_combinations_of_leaves(tmp_path: Any) -> None:
    """Two leaves and a value without one: each is a third of the source, and a half of what the release stands for."""
    (tmp_path / "zip.csv").write_text("a;*\nb;*\n")
    recipe = {"file": str(tmp_path / "zip.csv")}
    frame = pandas.DataFrame({"zip": ["a", "b", "stray"] * 5})
    recipes = {"zip": {"hierarchy": recipe, "min_level": 1}}
    release = anonymize(frame, {"quasi_identifiers": recipes}, k=5, unmapped="top")
    assert release.manifest["information_loss"]["divergence"] == pytest.approx(log2(2 / 3))


def stands_for(columns: Sequence[Column]) -> list[tuple[int, ...]]:
    """For how many leaves each cell stands, row by row; a suppressed one for all."""
    cells = [[c.leaves if gone else m for m, gone in c._cells] for c in columns]
    return list(zip(*cells, strict=True))


def squared_error(column: Column, ages: Sequence[str], shown: Rows) -> float:
    """The error of the middle of what a label stands for, and of the mean for all, over that of the mean alone."""
    numbers = [int(age) for age in ages]
    mean = sum(numbers) / len(numbers)
    messages = []
    for labels, number, level in zip(shown, numbers, column.levels, strict=True):
        under = [int(age) for age, row in column.ladder.items() if row[level] == column.ladder[str(number)][level]]
        whole = labels is None or len(under) == column.leaves
        messages.append(mean if whole else (min(under) + max(under)) / 2)
    wrong = sum((number - item) ** 2 for number, item in zip(numbers, messages, strict=True))
    return wrong / sum((number - mean) ** 2 for number in numbers)


def divergence(columns: Sequence[Column], rows: Rows, shown: Rows) -> float:
    """Bits from the source's distribution to the release's, each released row spread over all that it may stand for."""
    spread: Counter[Any] = Counter()
    for i, labels in enumerate(shown):
        covers = [
            [
                leaf
                for leaf in c.ladder
                if labels is None or c.label(leaf, c.levels[i]) == c.label(c.values[i], c.levels[i])
            ]
            for c in columns
        ]
        for item in product_of(*covers):
            spread[item] += 1 / (prod(map(len, covers)) * len(rows))
    own = Counter(rows)
    return sum(n / len(rows) * log2(n / len(rows) / spread[row]) for row, n in own.items())


def _dot(values: Sequence[float], weights: Sequence[float]) -> float:
    return sum(value * weight for value, weight in zip(values, weights, strict=True))


def _mean(values: Sequence[float], weights: Sequence[float]) -> float:
    return _dot(values, weights) / sum(weights)


@pytest.mark.parametrize("strategy", ["auto", "mondrian"])
def test_numbers_whose_squares_are_too_large_have_no_squared_error(strategy: str) -> None:
    numbers = pandas.DataFrame({"n": [0.5, 1e300, -1e300, 2.0] * 2, "m": [1.0, 2.0] * 4})
    spec = {"quasi_identifiers": {name: {"hierarchy": "suppress"} for name in numbers}}
    listed = anonymize(numbers, spec, k=2, strategy=strategy).manifest["damage"]
    damage = {item["column"]: item for item in listed}
    assert damage["n"]["squared_error"] is None
    assert damage["m"]["squared_error"] is not None


def test_a_star_below_the_top_shows_the_mean_where_values_have_no_leaf(tmp_path: Path) -> None:
    """It may then stand for any value, as the loss says of it."""
    ladder = {x: "*" if x < 10 else f"{x // 10}x" for x in range(40)}
    (tmp_path / "x.csv").write_text("".join(f"{x};{label};*\n" for x, label in ladder.items()))
    frame = pandas.DataFrame({"x": [x for x in range(44) for _ in range(3)]})
    hierarchy = {"hierarchy": {"file": str(tmp_path / "x.csv")}, "min_level": 1}
    with pytest.warns(match="4 values of 'x'"):
        release = anonymize(frame, {"quasi_identifiers": {"x": hierarchy}}, k=3, unmapped="top")
    assert release.manifest["node"] == {"x": 1}
    mean = sum(ladder) / len(ladder)
    shown = {x: mean if x < 10 else x // 10 * 10 + 4.5 for x in ladder}
    expected = sum((x - shown[x]) ** 2 for x in ladder) / sum((x - mean) ** 2 for x in ladder)
    assert release.manifest["damage"][0]["squared_error"] == pytest.approx(expected)
