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


def adaptive(cloaking: Cloaking) -> Boxes:
    """Cloak every row by a quadrant: Gruteser and Grunwald 2003, section 4.1, in slices of time.

    The area is cut into quadrants, these into quadrants, and so on. As published (`shared: false`) a row is given
    the smallest one around it in which k different units were seen in its slice. Here, unless told so, a quadrant
    serves only those whom no quadrant inside it could serve, and k of them must be there: then at least k units are
    released with exactly this box. Too few go on to the quadrant above, or, where that adds less area, the smallest
    class below is pulled up to them. Slices of fewer than k units are suppressed.
    """
    spec, depth, extent = cloaking.spec, cloaking.spec.cloak.depth, cloaking.extent
    x, y = halved(extent.x_low, extent.x_high, depth), halved(extent.y_low, extent.y_high, depth)
    t = slices(cloaking)
    if levels(t, extent.t_high) * 4**depth >= 2**_KEY_BITS:
        raise SpecError("these slices of time have too many quadrants to number; give a longer interval or less depth")
    holes = {**x.holes("x"), **y.holes("y"), **t.holes("t")}
    cloaking.stage("Finding the quadrants")
    made = cloaking.tables
    cells = made.create("cells", "cloak_points/cells", points=cloaking.points, **holes)
    keys = made.create("keys", "cloak_adaptive/keys", cells=cells, depth=depth)
    made.drop(cells)
    others = cloaking.model.k - 1
    leaves = made.create("leaves", "cloak_adaptive/leaves", keys=keys, depth=depth, others=others, coarse=depth // 2)
    groups = _climb(cloaking, spec.cloak.shared)
    owners = made.create("owners", "cloak_adaptive/owners", groups=groups, depth=depth)
    made.drop(leaves, "nodes", "pulls", *(each for stem in _TWICE for each in made.pair(stem)))
    boxes = made.create("boxes", "cloak_adaptive/quadrants", owners=owners, depth=depth, **holes)
    rows = made.create("boxed", "cloak_adaptive/in_quadrants", keys=keys, owners=owners, quadrants=boxes, depth=depth)
    made.drop(owners)
    return Boxes(rows, boxes)


def slices(cloaking: Cloaking) -> Axis:
    """The slices of time: of the length that is asked for, else one for all, from a whole day or unit to another."""
    low, high, interval = cloaking.extent.t_low, cloaking.extent.t_high, cloaking.spec.cloak.interval
    if interval is None:
        unit = {"timestamp": _DAY, "date": 1.0}.get(cloaking.time.kind, unit_of(low, high))
        return whole(low, high, max(unit, 1.0) if cloaking.whole else unit)
    ticks = interval * cloaking.ticks
    if cloaking.whole and not ticks.is_integer():
        least = "a microsecond" if cloaking.time.kind == "timestamp" else "1"
        raise SpecError(
            f"cloak.interval is {interval}, but {cloaking.time.column!r} cannot hold fractions of {least}; round it"
        )
    return sliced(low, ticks)


def inside(cloaking: Cloaking, boxes: Boxes) -> int:
    """The fewest units that were seen inside a released quadrant and slice: what the published form promises."""
    keys, depth = cloaking.tables["keys"], cloaking.spec.cloak.depth
    ((smallest,),) = cloaking.tables.rows(
        "cloak_adaptive/inside_quadrants", keys=keys, quadrants=boxes.boxes, depth=depth
    )
    return int(smallest or 0)


def _climb(cloaking: Cloaking, shared: bool) -> Relation:
    """Go from the leaves to the root; give the quadrants that took units, and what they are released as."""
    depth, made, leaves = cloaking.spec.cloak.depth, cloaking.tables, cloaking.tables["leaves"]
    pairs = {stem: list(made.pair(stem)) for stem in _TWICE}
    waiting, round_, groups = (pair[0] for pair in pairs.values())
    _empty(made, waiting, "node", "unit", "n", "rows")
    _empty(made, groups, "level", "node", "rows", "class_level", "class_node")
    made.load(round_, {"node": "BIGINT", "rows": "BIGINT", "taken": "BOOLEAN"}, [[], [], []])
    for level in reversed(range(depth + 1)):
        of_level = {"level": level, "shift": 2 * (depth - level)}
        waiting = _next(
            pairs["waiting"], made, "cloak_adaptive/pending", leaves=leaves, waiting=waiting, round=round_, **of_level
        )
        nodes = made.create("nodes", "cloak_adaptive/nodes", waiting=waiting, safe=cloaking.model.safe)
        if shared:
            pulls = made.create("pulls", "cloak_adaptive/pulls", nodes=nodes, groups=groups, level=level)
        else:
            pulls = _empty(made, "pulls", "node", "class_level", "class_node")
        round_ = _next(pairs["round"], made, "cloak_adaptive/round", nodes=nodes, pulls=pulls)
        groups = _next(
            pairs["groups"], made, "cloak_adaptive/groups", groups=groups, round=round_, pulls=pulls, level=level
        )
        if not shared:
            round_ = _next(pairs["round"], made, "cloak_adaptive/open_round", nodes=nodes)
    return groups


# What a level is made of is read while the next one is written.
_TWICE = ("waiting", "round", "groups")


def _next(pair: list[Relation], tables: Scratch, query: str, **holes: Hole) -> Relation:
    """Make the second table of a pair, which is then its first one."""
    pair.reverse()
    return tables.create(pair[0], query, **holes)


def _empty(tables: Scratch, table: str | Relation, *columns: str) -> Relation:
    return tables.load(table, dict.fromkeys(columns, "BIGINT"), [[] for _ in columns])
