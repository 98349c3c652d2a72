"""t-closeness: N. Li, T. Li, S. Venkatasubramanian, ICDE 2007."""

from __future__ import annotations

from typing import Literal

from kanon_sql.errors import SpecError
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.privacy.model import PrivacyModel

Distance = Literal["equal", "ordered", "hierarchical"]


def t_closeness(
    column: str, t: float, distance: Distance = "equal", hierarchy: Hierarchy | None = None
) -> PrivacyModel:
    """The values of a sensitive column are distributed in every class as in the table, up to a distance of t.

    The distance is the earth mover's (section 5). Moving from a value to another costs 1 (`equal`), the difference of
    their ranks over the largest difference (`ordered`), or the level of their lowest common ancestor over the height of
    the `hierarchy` (`hierarchical`). For a balanced hierarchy, the last is the mean of the equal distances on its
    levels below the top. If people are counted, each must have one value. SpecError if t is not in (0, 1].

    >>> t_closeness("illness", 0.2).required
    0.2
    """
    if not 0 < t <= 1:
        raise SpecError(f"t of {column!r} is {t}; it must be above 0 and at most 1")
    if (hierarchy is not None) != (distance == "hierarchical"):
        raise SpecError(f"{column!r}: a hierarchical distance needs a hierarchy, and the others have none")
    moved, of, taken = _MOVED[distance] if distance != "hierarchical" else _hierarchical(hierarchy)
    return PrivacyModel(
        f"t-closeness of {column} ({distance} distance)",
        {"t": t},
        columns={"rows": "CAST(SUM(c) AS DOUBLE)", "moved": moved, "whole": of, "taken": taken},
        safe="moved <= $t * whole",
        sensitive=column,
        monotone="without suppression",
        achieved="MAX(moved / NULLIF(whole, 0))",
        hierarchy=hierarchy,
        # The distance is convex: removing a row lowers rows times distance by at most the row's own distance from the
        # table, which is 1 minus the table's share of the values that are too frequent.
        unavoidable="rows * (moved - $t * whole) / NULLIF(whole - rows * taken - $t * whole, 0)",
        one_value=True,
    )


_EXCESS = "(c{0} * overall_size - overall_c{0} * size)"
_WHOLE = "CAST(SUM(c) AS DOUBLE) * MAX(overall_size)"
_TAKEN = "CASE WHEN {0} > 0 THEN overall_c{1} ELSE 0 END"
_MOVED = {
    "equal": (f"SUM(GREATEST({_EXCESS.format('')}, 0))", _WHOLE, f"SUM({_TAKEN.format(_EXCESS.format(''), '')})"),
    "ordered": (f"SUM(ABS{_EXCESS.format('_to')})", f"{_WHOLE} * MAX(GREATEST(overall_values - 1, 1))", "0"),
}


def _hierarchical(hierarchy: Hierarchy | None) -> tuple[str, str, str]:
    """The excess rows on all levels below the top, the rows times the height, and the table's rows where excess is."""
    assert hierarchy is not None
    levels = [_EXCESS.format(f"_{level}") for level in range(1, hierarchy.height)]
    groups = [f"SUM(CASE WHEN first_{i} THEN GREATEST({of}, 0) ELSE 0 END)" for i, of in enumerate(levels, 1)]
    taken = [f"SUM({_TAKEN.format(f'first_{i} AND {of}', f'_{i}')})" for i, of in enumerate(levels, 1)]
    moved, _, of_values = _MOVED["equal"]
    return " + ".join([moved, *groups]), f"{_WHOLE} * {hierarchy.height}", " + ".join([of_values, *taken])
