"""Cloaking in space and time at once, inside the tolerances of every row."""

from __future__ import annotations

from kanon_sql import queries
from kanon_sql.cloak.boxes import Boxes, numbered
from kanon_sql.cloak.grid import halved
from kanon_sql.cloak.points import Cloaking
from kanon_sql.queries import Relation


def both(cloaking: Cloaking) -> Boxes:
    """Cloak every row by the smallest cell in space and time within its tolerances that k units share.

    Combines the two methods of Gruteser and Grunwald 2003, bounded by tolerances as in Gedik and Liu 2008. The grids
    are all pairs of a spatial level and a temporal one, from the smallest cells to the largest. A row accepts a cell
    within its tolerances (x ± dx, y ± dy, t ± dt). A cell that k different waiting units accept is released for them.
    A row without such a cell is suppressed.
    """
    cloak, extent = cloaking.spec.cloak, cloaking.extent
    depth = cloak.depth
    least = 1.0 if cloaking.whole else 0.0
    axes = {
        "x": halved(extent.x_low, extent.x_high, depth),
        "y": halved(extent.y_low, extent.y_high, depth),
        "t": halved(extent.t_low, extent.t_high, depth, least),
    }
    holes = {name: value for axis in axes for name, value in axes[axis].holes(axis).items()}
    cloaking.stage("Finding what each row tolerates")
    tables, safe = cloaking.tables, cloaking.model.safe
    waiting, other = tables.pair("waiting")
    cells = tables.create("cells", "cloak_points/cells", points=cloaking.points, **holes)
    tables.create(waiting, "cloak_both/reach", points=cloaking.points, cells=cells, depth=depth, **holes)
    taken = tables.load("taken", {"row": "BIGINT", "space": "BIGINT", "time": "BIGINT"}, [[], [], []])
    for space, time in _grids(cloaking, waiting, depth):
        cloaking.stage(f"Filling cells of level {space} in space and {time} in time")
        shifts = {"space_shift": depth - space, "time_shift": depth - time}
        met = tables.create("met", "cloak_both/met", waiting=waiting, safe=safe, space=space, time=time, **shifts)
        if tables.count(met):
            tables.add_as(taken, queries.select_all(met, tables.engine.dialect))
            tables.create(other, "cloak_both/unmet", waiting=waiting, met=met)
            waiting, other = other, waiting
    boxed = tables.create("given", "cloak_both/blocks", cells=cells, met=taken, depth=depth, **holes)
    tables.drop(cells, "met", taken, waiting, other)
    return numbered(tables, boxed)


def _grids(cloaking: Cloaking, waiting: Relation, depth: int) -> list[tuple[int, int]]:
    """The pairs of levels that any row accepts, the smallest cells first."""
    ((space, time),) = cloaking.tables.rows("cloak_both/coarsest", waiting=waiting)
    if space is None:
        return []
    pairs = [(s, t) for s in range(space, depth + 1) for t in range(time, depth + 1)]
    return sorted(pairs, key=lambda pair: (-(2 * pair[0] + pair[1]), -pair[0]))
