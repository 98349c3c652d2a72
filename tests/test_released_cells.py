"""One metric, one value: every metric computed from the source, the hierarchies and the released cells alone.

Nothing here asks which recoding made the release, and nothing of the package's arithmetic is used.
"""

from collections import Counter
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pytest

from kanon_sql import anonymize

Leaves = dict[str | None, list[str | None]]  # every leaf's labels from level 0 to the top
NAMES = ("one", "two")
STRAY = "stray"
# NULL that stays NULL, leaves that stay as they are for a level, and a hierarchy of one line.
PADDED: Leaves = {
    "a": ["a", "ab", "abc", "*"],
    "b": ["b", "ab", "abc", "*"],
    "c": ["c", "c", "abc", "*"],
    "d": ["d", "d", "d", "*"],
    "e": ["e", "E", "E", "*"],
    None: [None, None, None, "*"],
}
FLAT: Leaves = {"x": ["x", "*"], "y": ["y", "*"], None: [None, "*"]}
LINE: Leaves = {"x": ["x", "*"]}
KINDS: list[dict[str, Any]] = [
    {"strategy": "exhaustive"},
    {"strategy": "exhaustive", "suppression_limit": 0.3, "metric": "average_class_size"},
    {"strategy": "exhaustive", "suppression_limit": 0.3, "metric": "precision"},
    {"strategy": "exhaustive", "suppression_limit": 0.3, "metric": "distortion"},
    {"strategy": "mondrian"},
    {"strategy": "refine", "suppression_limit": 0.3},
    {"strategy": "kaca"},
    {"strategy": "prioprivacy"},
]


def released_as(leaves: Leaves, value: str | None, cell: str | None) -> tuple[int, int]:
    """The lowest level with this cell for a value, and how many leaves the cell stands for."""
    height = len(next(iter(leaves.values()))) - 1
    if value not in leaves:
        return height, len(leaves)
    level = leaves[value].index(cell)
    return level, sum(labels[level] == cell for labels in leaves.values())


def metrics(
    rows: list[tuple[Any, ...]], released: dict[int, tuple[Any, ...]], columns: list[Leaves], k: int
) -> dict[str, float]:
    """Every metric of a release, its rows by the places of the source's."""
    losses, levels, distances, shares, penalties, least = [], [], [], [], [], 0.0
    for j, leaves in enumerate(columns):
        height, count = len(next(iter(leaves.values()))) - 1, len(leaves)
        if any(row[j] not in leaves for row in rows):
            count = max(count, 2)  # what is in no hierarchy is something else than a lone leaf
        cells = []
        for place, row in enumerate(rows):
            if place not in released:
                cells.append((height, count))
                continue
            level, under = released_as(leaves, row[j], released[place][j])
            cells.append((level, count if level == height else under))
        kept = [cell for place, cell in enumerate(cells) if place in released]
        losses.append(
            sum((m - 1) / (count - 1) if count > 1 else float(i not in released) for i, (_, m) in enumerate(cells))
            / len(rows)
        )
        levels.append(sum(level for level, _ in kept) / height / len(kept))
        distances.append(sum(level for level, _ in cells) / height / len(rows))
        shares.append(sum(m / count for _, m in cells) / len(rows))
        penalties.append(sum(m / count if m > 1 else 0.0 for _, m in cells) / len(rows))
        least += 1 / count
    sizes = Counter(released.values())
    gone, number = len(rows) - len(released), len(columns)
    return {
        "precision": sum(levels) / number,
        "loss": sum(losses) / number,
        "loss_geometric": prod(1 + x for x in losses) ** (1 / number) - 1,
        "distortion": sum(distances) / number,
        "intensity": sum(distances) / number,
        "granularity": (sum(shares) - least) / (number - least),
        "ncp": sum(penalties) / number,
        "discernibility": sum(n * n for n in sizes.values()) + gone * len(rows),
        "average_class_size": len(released) / len(sizes) / k,
    }


@pytest.mark.parametrize("options", KINDS, ids=lambda options: "-".join(map(str, options.values())))
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.sampled
def test_a_metric_is_computed_from_the_released_cells(options: dict[str, Any], seed: int, tmp_path: Path) -> None:
    draw = Random(seed)
    columns = [PADDED, LINE if seed == 1 else FLAT]
    values = [[*leaves, *([STRAY, "other"] if draw.random() < 0.6 or leaves is LINE else [])] for leaves in columns]
    rows = [tuple(draw.choice(of) for of in values) for _ in range(40)]
    for name, leaves in zip(NAMES, columns, strict=True):
        lines = [";".join(label or "" for label in labels) for labels in leaves.values()]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    people = pandas.DataFrame([(*row, place) for place, row in enumerate(rows)], columns=[*NAMES, "place"])
    release = anonymize(
        people, quasi_identifiers=NAMES, keep=["place"], hierarchies=tmp_path, unmapped="top", k=3, **options
    )
    cells = release.to_df().astype(object).where(lambda frame: frame.notna(), None)
    released = {int(row[2]): (row[0], row[1]) for row in cells[[*NAMES, "place"]].itertuples(index=False, name=None)}
    found = release.manifest["information_loss"]
    expected = metrics(rows, released, columns, k=3)
    assert {name: found[name] for name in expected} == pytest.approx(expected)
