"""Which labels of two releases may stand for the same value, where only the releases are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from kanon_sql.attack.labels import covered, ends
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.values import Label

_STEPS = {"decimal": Decimal(1), "date": timedelta(days=1), "timestamp": timedelta(days=1)}


def overlapping(
    labels: Sequence[Label], others: Sequence[Label], kind: str, values: Sequence[Any], hierarchy: Hierarchy | None
) -> tuple[list[tuple[Label, Label]], list[str]]:
    """The pairs of labels, of one release and another, that may stand for the same value; and those nobody can read.

    `values`: what the labels are tried on; see `examples`. The leaves of the hierarchy are tried too.

    >>> kind, values = examples(["[20, 40)", "[30, 50)", "[40, 50)"])
    >>> overlapping(["[20, 40)"], ["[30, 50)", "[40, 50)"], kind, values, None)
    ([('[20, 40)', '[30, 50)')], [])
    """
    tried = [*values, *(hierarchy.values if hierarchy else ())]
    found, unread = covered(dict.fromkeys([*labels, *others]), tried, kind, hierarchy)
    among: dict[int, list[Label]] = {}
    for other in others:
        for place in found[other]:
            among.setdefault(place, []).append(other)
    pairs = {(label, other): None for label in labels for place in found[label] for other in among.get(place, ())}
    return list(pairs), unread


def examples(labels: Iterable[Label]) -> tuple[str, list[Any]]:
    """The kind of values that labels stand for, and values such that labels which overlap have one of them in common.

    >>> examples(["1", "[2, 3)"])
    ('decimal', [Decimal('0'), Decimal('1'), Decimal('1.5'), Decimal('2'), Decimal('2.5'), Decimal('3'), Decimal('4')])
    >>> examples(["021**", "02139", None])
    ('text', [None, '02100', '02139'])
    """
    shown = dict.fromkeys(labels)
    texts = [label for label in shown if label not in (None, STAR)]
    kind = next((kind for kind in _STEPS if texts and all(ends(text, kind) for text in texts)), "text")
    found = dict.fromkeys(end for text in texts for end in ends(text, kind))
    null = [None] if None in shown else []
    return kind, [*null, *(found or [STAR] if kind == "text" else _with_gaps(sorted(found), kind))]


def _with_gaps(values: Sequence[Any], kind: str) -> list[Any]:
    """The values, what lies between two of them, before the first and after the last."""
    step = _STEPS[kind]
    middles = [low + (high - low) / 2 for low, high in pairwise(values)]
    return sorted({values[0] - step, *values, *middles, values[-1] + step})
