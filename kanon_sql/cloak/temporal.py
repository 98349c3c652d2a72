"""Temporal cloaking: the cell is fixed, and the interval is as long as k different units take to visit it."""

from __future__ import annotations

from kanon_sql import queries
from kanon_sql.cloak.grid import Axis, halved
from kanon_sql.cloak.points import Cloaking
from kanon_sql.queries import Relation

_NAMES = ("cells", "instants", "spans", "boxes")
CELLS, INSTANTS, SPANS, BOXES = (queries.scratch(f"kanon_cloak_{name}") for name in _NAMES)
VISITS, JUMPS, STARTS = (
    (queries.scratch(f"kanon_cloak_{name}_0"), queries.scratch(f"kanon_cloak_{name}_1"))
    for name in ("visits", "jumps", "starts")
)
_LEVEL = 8  # the area is cut 256 times each way


def temporal(cloaking: Cloaking) -> Relation:
    """Cloak every row by an interval in its cell: Gruteser and Grunwald 2003, section 4.2.

    The paper holds a request back until k different units have visited its cell. So here: an interval of a cell
    begins at its first row, ends with the row that brings the k-th different unit, and is that of every row in it;
    the next one begins after it. What is left at the end, too few units, joins the interval before. With
    `shared: false` every row has the shortest interval around it in which k different units visit, whoever else
    has the same. Cells that fewer than k units ever visit are suppressed.
    """
    x, y = _grid(cloaking)
    everything = Axis(cloaking.extent.t_low, max(2 * (cloaking.extent.t_high - cloaking.extent.t_low), 1.0))
    cloaking.stage("Opening the windows")
    holes = {**x.holes("x"), **y.holes("y")}
    cloaking.make(CELLS, "cloak/cells", points=cloaking.points, **holes, **everything.holes("t"))
    visits = _widest(cloaking)
    cloaking.make(INSTANTS, "cloak/instants", visits=visits)
    cloaking.drop(*VISITS)
    if cloaking.spec.cloak.shared:
        cloaking.make(SPANS, "cloak/spans", instants=INSTANTS, starts=_starts(cloaking))
    else:
        cloaking.make(SPANS, "cloak/shortest", instants=INSTANTS)
    cloaking.make(BOXES, "cloak/stays", cells=CELLS, points=cloaking.points, spans=SPANS, **holes)
    cloaking.drop(CELLS, INSTANTS, SPANS, *JUMPS, *STARTS)
    return BOXES


def inside(cloaking: Cloaking, boxes: Relation) -> int:
    """The fewest units that visit a row's cell within its interval: what the published form promises."""
    ((smallest,),) = cloaking.rows("cloak/inside_spans", boxes=boxes, points=cloaking.points)
    return int(smallest or 0)


def _grid(cloaking: Cloaking) -> tuple[Axis, Axis]:
    cloak, found = cloaking.spec.cloak, cloaking.extent
    if cloak.cell is not None:
        return Axis(0.0, cloak.cell), Axis(0.0, cloak.cell)
    level = _LEVEL if cloak.level is None else cloak.level
    return halved(found.x_low, found.x_high, level), halved(found.y_low, found.y_high, level)


def _widest(cloaking: Cloaking) -> Relation:
    """Find for every visit the widest window from it that holds fewer than k units, by halving steps."""
    visits = cloaking.make(VISITS[0], "cloak/visits", cells=CELLS, points=cloaking.points)
    ((most,),) = cloaking.rows("cloak/most_instants", visits=visits)
    for power in reversed(range(int(most).bit_length())):
        other = VISITS[1] if visits == VISITS[0] else VISITS[0]
        visits = cloaking.make(other, "cloak/windows", visits=visits, step=2**power, k=cloaking.model.k)
    return visits


def _starts(cloaking: Cloaking) -> Relation:
    """Follow the intervals of every cell from its first instant on, twice as far in every round."""
    starts = cloaking.make(STARTS[0], "cloak/first_starts", instants=INSTANTS)
    jumps = cloaking.make(JUMPS[0], "cloak/jumps", instants=INSTANTS)
    while cloaking.count(jumps):
        other_starts = STARTS[1] if starts == STARTS[0] else STARTS[0]
        starts = cloaking.make(other_starts, "cloak/starts", starts=starts, jumps=jumps)
        other_jumps = JUMPS[1] if jumps == JUMPS[0] else JUMPS[0]
        jumps = cloaking.make(other_jumps, "cloak/doubled", jumps=jumps)
    return starts
