"""Temporal cloaking: the cell is fixed, and the interval is as long as k different units take to visit it."""

from __future__ import annotations

from kanon_sql.cloak.boxes import Boxes, numbered
from kanon_sql.cloak.grid import Axis, halved
from kanon_sql.cloak.points import Cloaking
from kanon_sql.queries import Relation

_LEVEL = 8  # the area is cut 256 times each way


def temporal(cloaking: Cloaking) -> Boxes:
    """Cloak every row by an interval in its cell: Gruteser and Grunwald 2003, section 4.2.

    The paper holds a request back until k different units have visited its cell. So here: an interval of a cell
    begins at its first row, ends with the row that brings the k-th different unit, and is that of every row in it;
    the next one begins after it. What is left at the end, too few units, joins the interval before. With
    `shared: false` every row has the shortest interval around it in which k different units visit, whoever else
    has the same. Cells that fewer than k units ever visit are suppressed.
    """
    x, y = _grid(cloaking)
    everything = Axis(cloaking.extent.t_low, max(2 * (cloaking.extent.t_high - cloaking.extent.t_low), 1.0))
    cloaking.stage("Finding the intervals")
    holes = {**x.holes("x"), **y.holes("y")}
    made, points = cloaking.tables, cloaking.points
    cells = made.create("cells", "cloak_points/cells", points=points, **holes, **everything.holes("t"))
    visits = _widest(cloaking, cells)
    instants = made.create("instants", "cloak_temporal/instants", visits=visits)
    made.drop(*made.pair("visits"))
    if cloaking.spec.cloak.shared:
        spans = made.create("spans", "cloak_temporal/spans", instants=instants, starts=_starts(cloaking, instants))
    else:
        spans = made.create("spans", "cloak_temporal/shortest", instants=instants)
    given = made.create("given", "cloak_temporal/stays", cells=cells, points=points, spans=spans, **holes)
    made.drop(cells, instants, spans, *made.pair("jumps"), *made.pair("starts"))
    return numbered(made, given)


def inside(cloaking: Cloaking, boxes: Boxes) -> int:
    """The fewest units that visit a row's cell within its interval: what the published form promises."""
    holes = {"boxed": boxes.rows, "boxes": boxes.boxes, "points": cloaking.points}
    ((smallest,),) = cloaking.tables.rows("cloak_temporal/inside_spans", **holes)
    return int(smallest or 0)


def _grid(cloaking: Cloaking) -> tuple[Axis, Axis]:
    cloak, extent = cloaking.spec.cloak, cloaking.extent
    if cloak.cell is not None:
        return Axis(0.0, cloak.cell), Axis(0.0, cloak.cell)
    level = _LEVEL if cloak.level is None else cloak.level
    return halved(extent.x_low, extent.x_high, level), halved(extent.y_low, extent.y_high, level)


def _widest(cloaking: Cloaking, cells: Relation) -> Relation:
    """Find for every visit the widest window from it that holds fewer than k units, by halving steps."""
    made, k = cloaking.tables, cloaking.model.k
    visits, other = made.pair("visits")
    made.create(visits, "cloak_temporal/visits", cells=cells, points=cloaking.points)
    ((most,),) = made.rows("cloak_temporal/most_instants", visits=visits)
    for power in reversed(range(int(most).bit_length())):
        made.create(other, "cloak_temporal/windows", visits=visits, step=2**power, k=k)
        visits, other = other, visits
    return visits


def _starts(cloaking: Cloaking, instants: Relation) -> Relation:
    """Follow the intervals of every cell from its first instant on, twice as far in every round."""
    made = cloaking.tables
    (starts, other_starts), (jumps, other_jumps) = made.pair("starts"), made.pair("jumps")
    made.create(starts, "cloak_temporal/first_starts", instants=instants)
    made.create(jumps, "cloak_temporal/jumps", instants=instants)
    while made.count(jumps):
        made.create(other_starts, "cloak_temporal/starts", starts=starts, jumps=jumps)
        made.create(other_jumps, "cloak_temporal/doubled", jumps=jumps)
        starts, other_starts, jumps, other_jumps = other_starts, starts, other_jumps, jumps
    return starts
