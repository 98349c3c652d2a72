"""Adaptive interval cloaking: the smallest quadrant of the area, in a slice of time, that k units share."""

from __future__ import annotations

from kanon_sql.cloak.boxes import Boxes
from kanon_sql.cloak.grid import Axis, halved, levels, sliced, unit_of, whole
from kanon_sql.cloak.points import Cloaking
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.queries import Hole, Relation

_KEY_BITS = 62
_DAY = 86_400e6  # microseconds
_ALTERNATING = ("waiting", "round", "groups")  # a level reads one table of a pair and writes the other


def adaptive(cloaking: Cloaking) -> Boxes:
    """Cloak every row by a quadrant: Gruteser and Grunwald 2003, section 4.1, in slices of time.

    The area is divided into quadrants, these into quadrants, and so on. As published (`shared: false`), a row gets the
    smallest quadrant around it in which k different units were seen in its slice. By default, a quadrant is only used
    for units that no smaller quadrant inside it can serve, and only if there are k of them: then at least k units are
    released with exactly this box. If there are too few, they continue to the quadrant above, or, if that adds less
    area, the smallest class below is pulled up to join them. Slices with fewer than k units are suppressed.
    """
    spec = cloaking.spec
    depth = cloaking.spec.cloak.depth
    extent = cloaking.extent
    x = halved(extent.x_low, extent.x_high, depth)
    y = halved(extent.y_low, extent.y_high, depth)
    t = slices(cloaking)
    if levels(t, extent.t_high) * 4**depth >= 2**_KEY_BITS:
        raise SpecError(
            "these slices of time have too many quadrants to number; choose a longer interval or less depth"
        )
    holes = {**x.holes("x"), **y.holes("y"), **t.holes("t")}
    cloaking.stage("Finding the quadrants")
    tables = cloaking.tables
    cells = tables.create("cells", "cloak_points/cells", points=cloaking.points, **holes)
    keys = tables.create("keys", "cloak_adaptive/keys", cells=cells, depth=depth)
    tables.drop(cells)
    others = cloaking.model.k - 1
    leaves = tables.create("leaves", "cloak_adaptive/leaves", keys=keys, depth=depth, others=others, coarse=depth // 2)
    groups = _climb(cloaking, spec.cloak.shared)
    owners = tables.create("owners", "cloak_adaptive/owners", groups=groups, depth=depth)
    tables.drop(leaves, "nodes", "pulls", *(table for stem in _ALTERNATING for table in tables.pair(stem)))
    boxes = tables.create("boxes", "cloak_adaptive/quadrants", owners=owners, depth=depth, **holes)
    rows = tables.create("boxed", "cloak_adaptive/in_quadrants", keys=keys, owners=owners, quadrants=boxes, depth=depth)
    tables.drop(owners)
    return Boxes(rows, boxes)


def slices(cloaking: Cloaking) -> Axis:
    """The slices of time: of the configured length, otherwise one for all, between multiples of a day or unit."""
    low = cloaking.extent.t_low
    high = cloaking.extent.t_high
    interval = cloaking.spec.cloak.interval
    if interval is None:
        unit = {"timestamp": _DAY, "date": 1.0}.get(cloaking.time.kind, unit_of(low, high))
        return whole(low, high, max(unit, 1.0) if cloaking.whole else unit)
    ticks = interval * cloaking.ticks
    if cloaking.whole and not ticks.is_integer():
        least = "a microsecond" if cloaking.time.kind == "timestamp" else "1"
        raise SpecError(
            f"cloak.interval is {interval}, but {cloaking.time.column!r} cannot contain fractions of {least}; round it"
        )
    return sliced(low, ticks)


def inside(cloaking: Cloaking, boxes: Boxes) -> int:
    """The fewest units that were seen inside a released quadrant and slice: the guarantee of the published form."""
    keys, depth = cloaking.tables["keys"], cloaking.spec.cloak.depth
    ((smallest,),) = cloaking.tables.rows(
        "cloak_adaptive/inside_quadrants", keys=keys, quadrants=boxes.boxes, depth=depth
    )
    return int(smallest or 0)


def _climb(cloaking: Cloaking, shared: bool) -> Relation:
    """Go from the leaves to the root; returns the quadrants with units, and the classes that they are released as."""
    depth = cloaking.spec.cloak.depth
    tables = cloaking.tables
    leaves = cloaking.tables["leaves"]
    pairs = {stem: list(tables.pair(stem)) for stem in _ALTERNATING}
    waiting, round_, groups = (pair[0] for pair in pairs.values())
    _empty(tables, waiting, "node", "unit", "n", "rows")
    _empty(tables, groups, "level", "node", "rows", "class_level", "class_node")
    tables.load(round_, {"node": "BIGINT", "rows": "BIGINT", "taken": "BOOLEAN"}, [[], [], []])
    for level in reversed(range(depth + 1)):
        of_level = {"level": level, "shift": 2 * (depth - level)}
        waiting = _next(
            pairs["waiting"], tables, "cloak_adaptive/pending", leaves=leaves, waiting=waiting, round=round_, **of_level
        )
        nodes = tables.create("nodes", "cloak_adaptive/nodes", waiting=waiting, safe=cloaking.model.safe)
        if shared:
            pulls = tables.create("pulls", "cloak_adaptive/pulls", nodes=nodes, groups=groups, level=level)
        else:
            pulls = _empty(tables, "pulls", "node", "class_level", "class_node")
        round_ = _next(pairs["round"], tables, "cloak_adaptive/round", nodes=nodes, pulls=pulls)
        groups = _next(
            pairs["groups"], tables, "cloak_adaptive/groups", groups=groups, round=round_, pulls=pulls, level=level
        )
        if not shared:
            round_ = _next(pairs["round"], tables, "cloak_adaptive/open_round", nodes=nodes)
    return groups


def _next(pair: list[Relation], tables: Scratch, query: str, **holes: Hole) -> Relation:
    """Create the second table of a pair, and make it the first one."""
    pair.reverse()
    return tables.create(pair[0], query, **holes)


def _empty(tables: Scratch, table: str | Relation, *columns: str) -> Relation:
    return tables.load(table, dict.fromkeys(columns, "BIGINT"), [[] for _ in columns])
