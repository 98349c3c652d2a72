"""Temporal cloaking: the cell is fixed, and the interval lasts until k different units have visited it."""

from __future__ import annotations

from kanon_sql.cloak.boxes import Boxes, numbered
from kanon_sql.cloak.grid import Axis, halved
from kanon_sql.cloak.points import Cloaking
from kanon_sql.queries import Relation

_LEVEL = 8  # the area is divided into 256 x 256 cells


def temporal(cloaking: Cloaking) -> Boxes:
    """Cloak every row by an interval in its cell: Gruteser and Grunwald 2003, section 4.2.

    The paper delays a request until k different units have visited its cell. Here, an interval of a cell begins at its
    first row and ends with the row of the k-th different unit, and all rows between have this interval; the next one
    begins after it. Rows of too few units at the end join the previous interval. With `shared: false`, every row has
    the shortest interval around it in which k different units visit the cell, which others need not share. Cells with
    fewer than k units in total are suppressed.
    """
    x, y = _grid(cloaking)
    whole_time = Axis(cloaking.extent.t_low, max(2 * (cloaking.extent.t_high - cloaking.extent.t_low), 1.0))
    cloaking.stage("Finding the intervals")
    holes = {**x.holes("x"), **y.holes("y")}
    tables, points = cloaking.tables, cloaking.points
    cells = tables.create("cells", "cloak_points/cells", points=points, **holes, **whole_time.holes("t"))
    visits = _widest(cloaking, cells)
    instants = tables.create("instants", "cloak_temporal/instants", visits=visits)
    tables.drop(*tables.pair("visits"))
    if cloaking.spec.cloak.shared:
        spans = tables.create("spans", "cloak_temporal/spans", instants=instants, starts=_starts(cloaking, instants))
    else:
        spans = tables.create("spans", "cloak_temporal/shortest", instants=instants)
    boxed = tables.create("given", "cloak_temporal/stays", cells=cells, points=points, spans=spans, **holes)
    tables.drop(cells, instants, spans, *tables.pair("jumps"), *tables.pair("starts"))
    return numbered(tables, boxed)


def inside(cloaking: Cloaking, boxes: Boxes) -> int:
    """The fewest units that visit a row's cell within its interval: the guarantee of the published form."""
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
    """Find for every visit the widest window after it with fewer than k units, by binary search."""
    tables, k = cloaking.tables, cloaking.model.k
    visits, other = tables.pair("visits")
    tables.create(visits, "cloak_temporal/visits", cells=cells, points=cloaking.points)
    ((most,),) = tables.rows("cloak_temporal/most_instants", visits=visits)
    for power in reversed(range(int(most).bit_length())):
        tables.create(other, "cloak_temporal/windows", visits=visits, step=2**power, k=k)
        visits, other = other, visits
    return visits


def _starts(cloaking: Cloaking, instants: Relation) -> Relation:
    """Follow the intervals of every cell from its first instant on, doubling the distance in every round."""
    tables = cloaking.tables
    (starts, other_starts), (jumps, other_jumps) = tables.pair("starts"), tables.pair("jumps")
    tables.create(starts, "cloak_temporal/first_starts", instants=instants)
    tables.create(jumps, "cloak_temporal/jumps", instants=instants)
    while tables.count(jumps):
        tables.create(other_starts, "cloak_temporal/starts", starts=starts, jumps=jumps)
        tables.create(other_jumps, "cloak_temporal/doubled", jumps=jumps)
        starts, other_starts, jumps, other_jumps = other_starts, starts, other_jumps, jumps
    return starts
