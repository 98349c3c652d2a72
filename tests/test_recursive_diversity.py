"""Recursive (c, l)-diversity by hand and by brute force; pycanon measures another figure, by the rarest value."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random

import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.privacy import l_diversity
from support.models import is_recursively_diverse

# r1 < c (rl + … + rm): the rows of each value of a class, l, c, whether it holds, and r1 / (rl + … + rm).
BY_HAND: list[tuple[list[int], int, float, bool, float | None]] = [
    ([3, 2, 1, 1], 2, 1, True, 3 / 4),
    ([3, 2, 1, 1], 2, 0.75, False, 3 / 4),  # 3 < 3 does not hold
    ([3, 2, 1, 1], 3, 2, True, 3 / 2),
    ([3, 2, 1, 1], 3, 1.5, False, 3 / 2),
    ([3, 2, 1, 1], 4, 3.5, True, 3),
    ([3, 2, 1, 1], 4, 3, False, 3),
    ([3, 2, 1, 1], 5, 100, False, None),
    ([5, 5, 5], 3, 1.01, True, 1),
    ([5, 5, 5], 3, 1, False, 1),
    ([9, 1], 2, 9.5, True, 9),
    ([9, 1], 2, 9, False, 9),
    ([4], 2, 100, False, None),
]


@pytest.mark.parametrize(("counts", "l", "c", "holds", "ratio"), BY_HAND)
def test_classes_computed_by_hand(counts: list[int], l: int, c: float, holds: bool, ratio: float | None) -> None:  # noqa: E741
    values = Counter({f"v{place}": rows for place, rows in enumerate(counts)})
    assert is_recursively_diverse(values, c, l) is holds
    release = pandas.DataFrame([("12", value) for value in values.elements()], columns=["zip", "ill"])
    check = kanon_sql.verify(release, quasi_identifiers=["zip"], privacy=[l_diversity("ill", l, "recursive", c=c)])
    assert bool(check) is holds
    (finding,) = check.summary.findings
    assert finding.unsafe_rows == (0 if holds else sum(counts))
    assert finding.achieved == (None if ratio is None else pytest.approx(ratio))


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(2, 6), st.sampled_from([0.5, 1, 1.5, 2, 3, 4, 9])
)
def test_ruling_values_out_is_the_formula(counts: list[int], l: int, c: float) -> None:  # noqa: E741
    ordered = sorted(counts, reverse=True)
    assert is_recursively_diverse(Counter(dict(enumerate(counts))), c, l) is (ordered[0] < c * sum(ordered[l - 1 :]))


@pytest.mark.parametrize("strategy", ["auto", "mondrian", "refine"])
@pytest.mark.parametrize(("l", "c"), [(2, 1), (3, 2), (4, 3.5)])
@pytest.mark.sampled
def test_every_released_class_is_diverse(strategy: str, l: int, c: float) -> None:  # noqa: E741
    draw = Random(l)
    rows = [(draw.randint(20, 59), draw.choice("aaaabbbccd") if draw.random() < 0.9 else None) for _ in range(300)]
    source = pandas.DataFrame(rows, columns=["age", "ill"])
    options = {
        "quasi_identifiers": {"age": {"hierarchy": {"ranges": [2, 4, 8]}}},
        "sensitive": ["ill"],
        "strategy": strategy,
    }
    model = l_diversity("ill", l, "recursive", c=c)
    release = kanon_sql.anonymize(source, options, privacy=[model], suppression_limit=0.2)
    classes: dict[str, Counter[str]] = defaultdict(Counter)
    for age, ill in release.to_df().fillna("-").values.tolist():
        classes[age][ill] += 1
    assert len(classes) > 1
    assert all(is_recursively_diverse(values, c, l) for values in classes.values())
    worst = max(max(v.values()) / sum(sorted(v.values(), reverse=True)[l - 1 :]) for v in classes.values())
    assert release.manifest["privacy"][0]["achieved"] == pytest.approx(worst)
    assert worst < c
