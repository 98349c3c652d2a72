"""Adaptive interval cloaking: the smallest quadrant of the area, in a slice of time, that k units share."""

from __future__ import annotations

from kanon_sql import queries
from kanon_sql.cloak.grid import Axis, halved, levels, sliced, unit_of, whole
from kanon_sql.cloak.points import Cloaking
from kanon_sql.errors import SpecError
from kanon_sql.queries import Relation

_NAMES = ("cells", "keys", "leaves", "nodes", "pulls", "owners", "boxes")
CELLS, KEYS, LEAVES, NODES, PULLS, OWNERS, BOXES = (queries.scratch(f"kanon_cloak_{name}") for name in _NAMES)
# What a level is made of is read while the next one is written.
WAITING, ROUND, GROUPS = (
    (queries.scratch(f"kanon_cloak_{name}_0"), queries.scratch(f"kanon_cloak_{name}_1"))
    for name in ("waiting", "round", "groups")
)
_KEY_BITS = 62
_DAY = 86_400e6  # microseconds


def adaptive(cloaking: Cloaking) -> Relation:
    """Cloak every row by a quadrant: Gruteser and Grunwald 2003, section 4.1, in slices of time.

    The area is cut into quadrants, these into quadrants, and so on. As published (`shared: false`) a row is given
    the smallest one around it in which k different units were seen in its slice. Here, unless told so, a quadrant
    serves only those whom no quadrant inside it could serve, and k of them must be there: then at least k units are
    released with exactly this box. Too few go on to the quadrant above, or, where that adds less area, the smallest
    class below is pulled up to them. Slices of fewer than k units are suppressed.
    """
    spec, depth, found = cloaking.spec, cloaking.spec.cloak.depth, cloaking.extent
    x, y = halved(found.x_low, found.x_high, depth), halved(found.y_low, found.y_high, depth)
    t = slices(cloaking)
    if levels(t, found.t_high) * 4**depth >= 2**_KEY_BITS:
        raise SpecError("so many slices of so deep a quadtree cannot be numbered; give a longer interval or less depth")
    holes = {**x.holes("x"), **y.holes("y"), **t.holes("t")}
    cloaking.stage("Finding the quadrants")
    cloaking.make(CELLS, "cloak/cells", points=cloaking.points, **holes)
    cloaking.make(KEYS, "cloak/keys", cells=CELLS, depth=depth)
    cloaking.make(LEAVES, "cloak/leaves", keys=KEYS, depth=depth, others=cloaking.model.k - 1)
    cloaking.drop(CELLS)
    groups = _climb(cloaking, spec.cloak.shared)
    cloaking.make(OWNERS, "cloak/owners", groups=groups, depth=depth)
    cloaking.make(BOXES, "cloak/quadrants", keys=KEYS, owners=OWNERS, depth=depth, **holes)
    cloaking.drop(LEAVES, NODES, PULLS, OWNERS, *WAITING, *ROUND, *GROUPS)
    return BOXES


def slices(cloaking: Cloaking) -> Axis:
    """The slices of time: of the length that is asked for, else one for all, from a whole day or unit to another."""
    low, high, interval = cloaking.extent.t_low, cloaking.extent.t_high, cloaking.spec.cloak.interval
    if interval is None:
        unit = {"timestamp": _DAY, "date": 1.0}.get(cloaking.time.kind, unit_of(low, high))
        return whole(low, high, max(unit, 1.0) if cloaking.whole else unit)
    ticks = interval * cloaking.ticks
    if cloaking.whole and not ticks.is_integer():
        least = "a microsecond" if cloaking.time.kind == "timestamp" else "1"
        raise SpecError(f"cloak.interval is {interval}, but {cloaking.time.column!r} cannot show parts of {least}")
    return sliced(low, ticks)


def inside(cloaking: Cloaking, boxes: Relation) -> int:
    """The fewest units that were seen inside a released quadrant and slice: what the published form promises."""
    width = cloaking.spec.cloak.depth
    axis = halved(cloaking.extent.x_low, cloaking.extent.x_high, width)
    ((smallest,),) = cloaking.rows("cloak/inside_quadrants", keys=KEYS, boxes=boxes, x_width=axis.holes("x")["x_width"])
    return int(smallest or 0)


def _climb(cloaking: Cloaking, shared: bool) -> Relation:
    """Go from the leaves to the root; give the quadrants that took units, and what they are released as."""
    depth = cloaking.spec.cloak.depth
    waiting, round_, groups = WAITING[0], ROUND[0], GROUPS[0]
    _empty(cloaking, waiting, "node", "unit", "n", "rows")
    _empty(cloaking, groups, "level", "node", "rows", "class_level", "class_node")
    cloaking.engine.load(round_, {"node": "BIGINT", "rows": "BIGINT", "taken": "BOOLEAN"}, [[], [], []])
    for level in reversed(range(depth + 1)):
        waiting = cloaking.make(
            _other(WAITING, waiting),
            "cloak/pending",
            leaves=LEAVES,
            waiting=waiting,
            round=round_,
            level=level,
            shift=2 * (depth - level),
        )
        cloaking.make(NODES, "cloak/nodes", waiting=waiting, safe=cloaking.model.safe)
        if shared:
            cloaking.make(PULLS, "cloak/pulls", nodes=NODES, groups=groups, level=level)
        else:
            _empty(cloaking, PULLS, "node", "class_level", "class_node")
        round_ = cloaking.make(_other(ROUND, round_), "cloak/round", nodes=NODES, pulls=PULLS)
        groups = cloaking.make(
            _other(GROUPS, groups), "cloak/groups", groups=groups, round=round_, pulls=PULLS, level=level
        )
        if not shared:
            round_ = cloaking.make(_other(ROUND, round_), "cloak/open_round", nodes=NODES)
    return groups


def _other(pair: tuple[Relation, Relation], one: Relation) -> Relation:
    return pair[1] if one == pair[0] else pair[0]


def _empty(cloaking: Cloaking, relation: Relation, *columns: str) -> None:
    cloaking.engine.load(relation, dict.fromkeys(columns, "BIGINT"), [[] for _ in columns])
