"""Given and expected rows of `sql/cloak`."""

from collections.abc import Mapping, Sequence
from typing import Any

from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation
from sql_cases.case import Case, Rows

TWO = Predicate("SUM(n) >= $k", {"k": 2})
UNKNOWN = Predicate("NULLIF(SUM(n), $two) > 0", {"two": 2})  # NULL for two units


def _names(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _whole(columns: str, *rows: Sequence[Any]) -> tuple[Mapping[str, str], Rows]:
    return dict.fromkeys(_names(columns), "BIGINT"), rows


def _real(columns: str, *rows: Sequence[Any]) -> tuple[Mapping[str, str], Rows]:
    whole = {"row", "unit", "arrival", "x_cell", "y_cell", "t_cell", "n", "units"}
    return {name: "BIGINT" if name in whole else "DOUBLE" for name in _names(columns)}, rows


def _case(name: str, gives: str, rows: Rows, **holes: Any) -> Case:
    """A case with relations in its holes."""
    given = {hole: value for hole, value in holes.items() if isinstance(value, tuple)}
    filled = {hole: Relation(f"given_{hole}") if hole in given else value for hole, value in holes.items()}
    return Case(name, filled, _names(gives), rows, {f"given_{hole}": value for hole, value in given.items()})


def _grid(**axes: tuple[float, float]) -> dict[str, str]:
    return {f"{a}_{end}": repr(v) for a, pair in axes.items() for end, v in zip(("from", "width"), pair, strict=True)}


_INF, _NAN = float("inf"), float("nan")
_BOX = "row x_min x_max y_min y_max t_min t_max"
_CELLS = "row unit x_cell y_cell t_cell"
_ROUND = {"node": "BIGINT", "rows": "BIGINT", "taken": "BOOLEAN"}
_NODES = {"node": "BIGINT", "rows": "BIGINT", "safe": "BOOLEAN"}
_UNIT_GRID = _grid(x=(0.0, 1.0), y=(0.0, 1.0), t=(0.0, 1.0))
# Two units in turns, at 1, 2, 2, 5 and 9, then one alone; two of them every time but the last.
_VISITS = _whole(
    "x_cell y_cell unit t instant width",
    (0, 0, 1, 10, 1, 0),
    (0, 0, 1, 20, 2, 0),
    (0, 0, 2, 30, 3, 0),
    (0, 0, 1, 40, 4, 0),
)
_INSTANTS = _whole(
    "x_cell y_cell instant t closing until",
    (0, 0, 1, 10, 3, 30),
    (0, 0, 2, 20, 3, 30),
    (0, 0, 3, 30, 4, 40),
    (0, 0, 4, 40, None, None),
    (1, 0, 1, 7, None, None),
)
_POINTS = _real("row unit x y t", (1, 1, 0.5, 0.5, 10.0), (2, 2, 1.5, 0.5, 20.0))
_TOLERANT = _real(
    "row unit x y t own_k dx dy dt",
    (1, 1, 0.5, 0.5, 0.5, 2, 1.5, 1.5, 1.5),
    (2, 2, 1.5, 0.5, 1.5, 2, 1.0, 1.0, 1.0),
    (3, 2, 0.75, 0.5, 0.5, 3, 0.125, 0.5, 2.0),
    (4, 1, 1.0, 0.5, 2.0, 2, 1.0, 1.0, 1.0),
)
_MESSAGES = _real(
    "arrival row t own_k deadline", (0, 1, 0.5, 2, 2.0), (1, 3, 0.5, 3, 2.5), (2, 2, 1.5, 2, 2.5), (3, 4, 2.0, 2, 3.0)
)
_CLASSES = _real(
    "x_min x_max y_min y_max since until length n units needed shares outside beyond extent delay",
    (0, 2, 0, 2, 0, 10, 10, 3, 2, 2, 1.5, 0, 0, 12, 60),
    (0, 1, 0, 1, 0, 0, 0, 1, 1, 2, 0.5, 1, 1, 2, 20),
)
_RELEASED = _real(
    "place unit x y moment t own_k dx dy dt c0",
    (1, 1, 0.5, 0.5, 1, 1, 2, 1, 4, 2, 7),
    (1, 1, 0.5, 0.5, 3, 3, 4, 1, 4, 3, 7),
    (1, 2, 0.25, 1, 0, 0, 2, 0.5, 4, 2, 8),
)
_SHOWN = _real("place t_min t_max x_min x_max y_min y_max since until", (1, 0, 2, 0, 1, 0, 1, 0, 2))
_SUMMARY = (
    "rows classes smallest unsafe_classes unsafe_rows outside beyond relative_anonymity mean_area mean_length "
    "relative_space relative_time"
)
_EXTENT = "rows no_place no_time no_unit placed units x_low x_high y_low y_high t_low t_high"
_SEEN = _real(
    "row x y t unit",
    (1, 1, 5, 9, 1),
    (2, 3, 4, 8, 2),
    (3, None, 4, 8, 3),
    (4, _NAN, 4, None, 3),
    (5, 1, _INF, 8, 3),
    (6, 3, 4, 8, None),
    (7, 2, 2, 2, 2),
)

CASES: list[Case] = [
    _case("cloak_points/extent", _EXTENT, [(7, 3, 1, 1, 3, 2, 1, 3, 2, 5, 2, 9)], points=_SEEN),
    _case("cloak_points/points", "row unit x", [(1, 1, 1.0), (2, 2, 3.0), (7, 2, 2.0)], points=_SEEN, columns=["x"]),
    _case(
        "cloak_points/own",
        "no_tolerance no_k",
        [(3, 2)],
        points=_real(
            "dx dy dt requested_k", (0, 0, 0, 1), (-1, 1, 1, 2), (1, None, 1, 2), (1, 1, _INF, 2.5), (1, 1, 1, None)
        ),
    ),
    _case(
        "cloak_points/cells",
        _CELLS,
        [(1, 1, 3, -1, 0), (2, 2, 2, 0, 1)],
        # 0.3 / 0.1 is below 3 in floating point, and 3 * 0.1 above 0.3: the cell is the one whose edges hold it
        points=_real("row unit x y t", (1, 1, 0.30000000000000004, -0.5, 10), (2, 2, 0.3, 0.0, 12.5)),
        **_grid(x=(0.0, 0.1), y=(0.0, 1.0), t=(10.0, 2.5)),
    ),
    _case(
        "cloak_adaptive/keys",
        "row unit key",
        [(1, 1, 0b100111), (2, 1, (1 << 40) + 0xAAAAAAAAAA)],
        cells=_whole(_CELLS, (1, 1, 5, 3, 0), (2, 1, 1048575, 0, 1)),
        depth=20,
    ),
    *(
        _case(
            "cloak_adaptive/leaves",
            "key unit rows entry",
            [
                (0b0000, 1, 2, 2),
                (0b0000, 2, 1, 2),
                (0b0111, 1, 1, 0),
                (0b1100, 1, 1, 1),
                (0b1111, 2, 1, 1),
                (0b10000, 1, 1, alone),
            ],
            keys=_whole("key unit", (0, 1), (0, 1), (0, 2), (0b0111, 1), (0b1100, 1), (0b1111, 2), (0b10000, 1)),
            depth=2,
            others=1,
            coarse=coarse,
        )
        for coarse, alone in ((0, -1), (1, 0))
    ),
    _case(
        "cloak_adaptive/pending",
        "node unit n rows",
        [(1, 1, 1, 8), (1, 2, 1, 3), (2, 1, 1, 9)],
        leaves=_whole("key unit rows entry", (0b0100, 1, 5, 1), (0b1000, 1, 9, 1), (0b1100, 7, 9, 0)),
        waiting=_whole("node unit n rows", (4, 1, 1, 1), (5, 1, 1, 2), (5, 2, 1, 3), (6, 3, 1, 4)),
        round=(_ROUND, [(4, 1, False), (5, 5, False), (6, 4, True)]),
        level=1,
        shift=2,
    ),
    *(
        _case(
            "cloak_adaptive/nodes",
            "node rows safe",
            expected,
            waiting=_whole("node unit n rows", (4, 1, 1, 7), (5, 1, 1, 2), (5, 2, 1, 3)),
            safe=safe,
        )
        for safe, expected in ((TWO, [(4, 7, False), (5, 5, True)]), (UNKNOWN, [(4, 7, True), (5, 5, False)]))
    ),
    *(
        _case(
            "cloak_adaptive/pulls",
            "node class_level class_node",
            expected,
            # Below node 0: classes of 4 rows one level down (adds 3 areas) and of 5 rows two down (4.6875).
            nodes=(_NODES, [(0, rows, False), (1, 1, True), (2, 9, False)]),
            groups=_whole(
                "level node rows class_level class_node",
                (2, 1, 3, 2, 1),
                (3, 4, 1, 2, 1),
                (3, 0, 5, 3, 0),
                (2, 5, 1, 2, 5),
            ),
            level=level,
        )
        for level, rows, expected in ((1, 1, [(0, 2, 1)]), (1, 0, []), (0, 0, [(0, 2, 5)]))
    ),
    _case(
        "cloak_adaptive/round",
        "node rows taken",
        [(0, 1, True), (1, 2, True), (2, 3, False)],
        nodes=(_NODES, [(0, 1, False), (1, 2, True), (2, 3, False)]),
        pulls=_whole("node class_level class_node", (0, 2, 1)),
    ),
    _case("cloak_adaptive/open_round", "node rows taken", [(1, 2, False)], nodes=(_NODES, [(1, 2, True)])),
    _case(
        "cloak_adaptive/groups",
        "level node rows class_level class_node",
        [(2, 1, 4, 1, 0), (2, 9, 4, 2, 9), (1, 0, 3, 1, 0)],
        groups=_whole("level node rows class_level class_node", (2, 1, 4, 2, 1), (2, 9, 4, 2, 9)),
        round=(_ROUND, [(0, 3, True), (3, 1, False)]),
        pulls=_whole("node class_level class_node", (0, 2, 1)),
        level=1,
    ),
    _case(
        "cloak_adaptive/owners",
        "start class_level",
        [(0, 0), (4, 2), (5, 0), (16, None)],
        groups=_whole("level node class_level", (0, 0, 0), (2, 4, 2)),
        depth=2,
    ),
    _case(
        "cloak_adaptive/quadrants",
        f"box level node {_BOX.removeprefix('row ')}",
        [(1, 1, 2, 12.0, 14.0, 20.0, 24.0, 50.0, 60.0), (2, 2, 27, 13.0, 14.0, 22.0, 24.0, 60.0, 70.0)],
        owners=_whole("start class_level", (8, 1), (10, 1), (27, 2), (32, None)),
        depth=2,
        **_grid(x=(10.0, 1.0), y=(20.0, 2.0), t=(50.0, 10.0)),
    ),
    _case(
        "cloak_adaptive/quadrants",
        f"box level node {_BOX.removeprefix('row ')}",
        # The key of cloak_adaptive/keys above.
        [(1, 20, (1 << 40) + 0xAAAAAAAAAA, 1048575.0, 1048576.0, 0.0, 1.0, 1.0, 2.0)],
        owners=_whole("start class_level", ((1 << 40) + 0xAAAAAAAAAA, 20)),
        depth=20,
        **_UNIT_GRID,
    ),
    _case(
        "cloak_adaptive/in_quadrants",
        "row box",
        [(1, 1), (2, 2), (3, 1)],
        keys=_whole("row key", (1, 8), (2, 27), (3, 11), (4, 32), (5, 2)),
        owners=_whole("start class_level", (8, 1), (10, 1), (27, 2), (28, None)),
        quadrants=_whole("box level node", (1, 1, 2), (2, 2, 27)),
        depth=2,
    ),
    _case(
        "cloak_adaptive/inside_quadrants",
        "smallest",
        [(2,)],
        # The small quadrant holds units 1 and 2; the large one units 1 to 3.
        keys=_whole("unit key", (1, 0), (2, 3), (2, 3), (3, 8), (4, 16)),
        quadrants=_whole("level node", (1, 0), (0, 0)),
        depth=2,
    ),
    _case(
        "cloak_temporal/visits",
        "x_cell y_cell unit t instant width",
        [(0, 0, 1, 5.0, 1, -1), (0, 0, 2, 5.0, 1, -1), (0, 0, 1, 7.0, 2, -1), (1, 0, 1, 9.0, 1, -1)],
        cells=_whole(_CELLS, (1, 1, 0, 0, 0), (2, 2, 0, 0, 0), (3, 1, 0, 0, 0), (4, 1, 1, 0, 0), (5, 1, 0, 0, 0)),
        points=_real("row t", (1, 5), (2, 5), (3, 7), (4, 9), (5, 5)),
    ),
    _case("cloak_temporal/most_instants", "instants", [(4,)], visits=_VISITS),
    _case(
        "cloak_temporal/windows",
        "x_cell y_cell unit t instant width",
        [(0, 0, 1, 10, 1, 1), (0, 0, 1, 20, 2, 0), (0, 0, 2, 30, 3, 0), (0, 0, 1, 40, 4, 1)],
        visits=_VISITS,
        step=1,
        k=2,
    ),
    _case(
        "cloak_temporal/instants",
        "x_cell y_cell instant t closing until",
        [(0, 0, 1, 10, 2, 20), (0, 0, 2, 20, 3, 30), (0, 0, 3, 30, 4, 40), (0, 0, 4, 40, None, None)],
        visits=_VISITS,
    ),
    _case("cloak_temporal/first_starts", "x_cell y_cell instant", [(0, 0, 1), (1, 0, 1)], instants=_INSTANTS),
    _case("cloak_temporal/jumps", "x_cell y_cell instant target", [(0, 0, 1, 4), (0, 0, 2, 4)], instants=_INSTANTS),
    _case(
        "cloak_temporal/doubled",
        "x_cell y_cell instant target",
        [(0, 0, 1, 5)],
        jumps=_whole("x_cell y_cell instant target", (0, 0, 1, 3), (0, 0, 3, 5), (1, 0, 5, 9)),
    ),
    _case(
        "cloak_temporal/starts",
        "x_cell y_cell instant",
        [(0, 0, 1), (1, 0, 1), (0, 0, 3)],
        starts=_whole("x_cell y_cell instant", (0, 0, 1), (1, 0, 1)),
        jumps=_whole("x_cell y_cell instant target", (0, 0, 1, 3), (0, 0, 2, 4)),
    ),
    _case(
        "cloak_temporal/spans",
        "x_cell y_cell t t_min t_max",
        [(0, 0, 10, 10, 40), (0, 0, 20, 10, 40), (0, 0, 30, 10, 40), (0, 0, 40, 10, 40)],
        instants=_INSTANTS,
        starts=_whole("x_cell y_cell instant", (0, 0, 1), (0, 0, 4), (1, 0, 1)),
    ),
    _case(
        "cloak_temporal/shortest",
        "x_cell y_cell t t_min t_max",
        [(0, 0, 10, 10, 30), (0, 0, 20, 20, 30), (0, 0, 30, 20, 30), (0, 0, 40, 30, 40)],
        instants=_INSTANTS,
    ),
    _case(
        "cloak_temporal/stays",
        _BOX,
        [(1, 2.0, 4.0, 1.0, 2.0, 5, 9)],
        cells=_whole(_CELLS, (1, 1, 1, 0, 0), (2, 1, 5, 5, 0)),
        points=_real("row t", (1, 7), (2, 7)),
        spans=_whole("x_cell y_cell t t_min t_max", (1, 0, 7, 5, 9)),
        **_grid(x=(0.0, 2.0), y=(1.0, 1.0)),
    ),
    _case(
        "cloak_temporal/inside_spans",
        "smallest",
        [(1,)],
        boxed=_whole("row box", (1, 1), (2, 1), (3, 2)),
        boxes=_whole("box x_min y_min t_min t_max", (1, 0, 0, 5, 7), (2, 0, 0, 8, 9)),
        points=_real("row unit t", (1, 1, 5), (2, 2, 7), (3, 3, 9)),
    ),
    _case(
        "cloak_both/reach",
        f"{_CELLS} space time",
        # Row 1 tolerates the whole (a cell of 2), row 2 a cell of 1, row 3 not even that in x.
        [(1, 1, 0, 0, 0, 0, 0), (2, 2, 1, 0, 1, 1, 1)],
        points=_TOLERANT,
        cells=_whole(_CELLS, (1, 1, 0, 0, 0), (2, 2, 1, 0, 1), (3, 2, 0, 0, 0)),
        depth=1,
        **_UNIT_GRID,
    ),
    _case("cloak_both/coarsest", "space time", [(1, 0)], waiting=_whole("space time", (1, 4), (3, 0))),
    *(
        _case(
            "cloak_both/met",
            "row space time",
            expected,
            waiting=_whole(
                f"{_CELLS} space time",
                (1, 1, 0, 0, 0, 0, 0),
                (2, 2, 1, 1, 0, 1, 0),
                (3, 2, 2, 0, 0, 0, 0),
                (4, 1, 3, 1, 0, 0, 0),
                (5, 3, 0, 0, 0, 2, 0),
            ),
            space=1,
            time=1,
            space_shift=1,
            time_shift=0,
            safe=safe,
        )
        for safe, expected in ((TWO, [(1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1)]), (UNKNOWN, []))
    ),
    _case(
        "cloak_both/unmet",
        f"{_CELLS} space time",
        [(2, 2, 1, 1, 0, 1, 0)],
        waiting=_whole(f"{_CELLS} space time", (1, 1, 0, 0, 0, 0, 0), (2, 2, 1, 1, 0, 1, 0)),
        met=_whole("row space time", (1, 0, 0)),
    ),
    _case(
        "cloak_both/blocks",
        _BOX,
        [(1, 2.0, 4.0, 0.0, 2.0, 0.0, 4.0)],
        cells=_whole(_CELLS, (1, 1, 3, 1, 2), (2, 1, 0, 0, 0)),
        met=_whole("row space time", (1, 1, 0)),
        depth=2,
        **_UNIT_GRID,
    ),
    _case(
        "cloak_clique/messages",
        "arrival row t own_k deadline",
        [(0, 1, 0.5, 2, 2.0), (1, 3, 0.5, 3, 2.5), (2, 2, 1.5, 2, 2.5), (3, 4, 2.0, 2, 3.0)],
        points=_TOLERANT,
    ),
    _case(
        "cloak_clique/arrivals",
        "own_k t deadline",
        [(2, 0.5, 2.0), (3, 0.5, 2.5), (2, 1.5, 2.5), (2, 2.0, 3.0)],
        messages=_MESSAGES,
    ),
    _case("cloak_clique/widest", "x y t", [(1.5, 1.5, 2.0)], points=_TOLERANT),
    _case(
        "cloak_clique/neighbours",
        "arrival earlier",
        # Row 3 tolerates no one; rows 2 and 3 are of one unit; rows 1 and 4 too.
        [(2, [0]), (3, [2])],
        points=_TOLERANT,
        cells=_whole(_CELLS, (1, 1, 0, 0, 0), (2, 2, 1, 0, 1), (3, 2, 0, 0, 0), (4, 1, 0, 0, 1)),
        messages=_MESSAGES,
        first=1,
        last=3,
    ),
    _case(
        "cloak_clique/cliques",
        _BOX,
        [(1, 0.5, 1.5, 0.5, 0.5, 0.5, 1.5), (2, 0.5, 1.5, 0.5, 0.5, 0.5, 1.5)],
        points=_TOLERANT,
        messages=_MESSAGES,
        members=_whole("arrival clique", (0, 2), (2, 2)),
    ),
    _case(
        "cloak_release/different",
        f"box {_BOX.removeprefix('row ')}",
        [(1, 0, 1, 0, 1, 5, 7), (2, 0, 1, 0, 1, 5, 8)],
        given=_real(_BOX, (1, 0, 1, 0, 1, 5, 7), (2, 0, 1, 0, 1, 5, 8), (3, 0, 1, 0, 1, 5, 7)),
    ),
    _case(
        "cloak_release/in_boxes",
        "row box",
        [(1, 1), (2, 2), (3, 1)],
        given=_real(_BOX, (1, 0, 1, 0, 1, 5, 7), (2, 0, 1, 0, 1, 5, 8), (3, 0, 1, 0, 1, 5, 7)),
        boxes=_real(_BOX.replace("row", "box"), (1, 0, 1, 0, 1, 5, 7), (2, 0, 1, 0, 1, 5, 8)),
    ),
    _case(
        "cloak_release/places",
        "box place t_min t_max since x_min",
        [(1, 2, 1, 2, 2, 3), (2, 1, 3, 4, 1, 4), (3, 2, 5, 6, 2, 3)],
        boxes=_whole("box t_min t_max x_min since", (1, 1, 2, 3, 2), (2, 3, 4, 4, 1), (3, 5, 6, 3, 2)),
        shown=["since", "x_min"],
    ),
    _case(
        "cloak_release/shown",
        "place x_min x_max y_min y_max t_min t_max since until",
        [(1, 0, 1, 0, 1, 5, 9, 5, 7), (2, 0, 2, 0, 1, 5, 8, 5, 8)],
        places=_whole(
            "place x_min x_max y_min y_max t_min t_max since until",
            (1, 0, 1, 0, 1, 5, 7, 5, 7),
            (1, 0, 1, 0, 1, 6, 9, 5, 7),
            (2, 0, 2, 0, 1, 5, 8, 5, 8),
        ),
    ),
    _case(
        "cloak_release/released",
        "place unit x y t moment c0",
        [(7, 1, 0.5, 0.5, 10.0, 10, 3), (7, 2, 1.5, 0.5, 20.0, 20, 4)],
        points=_real(
            "row unit x y t moment c0", (1, 1, 0.5, 0.5, 10, 10, 3), (2, 2, 1.5, 0.5, 20, 20, 4), (3, 2, 9, 9, 9, 9, 9)
        ),
        boxed=_whole("row box", (1, 1), (2, 2)),
        places=_whole("box place", (1, 7), (2, 7), (3, 8)),
        columns=["c0"],
    ),
    _case(
        "cloak_release/classes",
        "x_min x_max y_min y_max since until length n units needed shares outside beyond extent delay",
        [(0, 1, 0, 1, 0, 2, 2, 3, 2, 4, 1.25, 1, 1, 4 + 4 + 8**0.5, 14)],
        released=_RELEASED,
        shown=_SHOWN,
    ),
    _case(
        "cloak_release/summary",
        _SUMMARY,
        [(4, 2, 1, 1, 1, 1, 1, (2 * 1.5 + 0.5) / 4, 13 / 4, 30 / 4, (12 / 2 + 2) / 4, 2.0)],
        classes=_CLASSES,
    ),
    _case(
        "cloak_release/summary",
        _SUMMARY,
        [(0, 0, None, 0, 0, 0, 0, None, None, None, None, None)],
        classes=(_CLASSES[0], []),
    ),
    _case("cloak_points/medians", "area length", [(4.0, 10.0)], classes=_CLASSES),
    _case(
        "cloak_release/release",
        "lat_min speed",
        [(0.0, 7.0), (0.0, 7.0), (0.0, 8.0)],
        columns={"lat_min": "x_min", "speed": "c0"},
        released=_RELEASED,
        shown=_SHOWN,
        kept=["c0"],
        unlike=["c0"],
    ),
    _case(
        "cloak_release/shuffled",
        "lat_min speed",
        [(0.0, 8.0), (0.0, 7.0), (0.0, 7.0)],
        columns={"lat_min": "x_min", "speed": "c0"},
        released=_RELEASED,
        shown=_SHOWN,
        seed="5",
    ),
    _case(
        "cloak_release/differences",
        "differences",
        [(3,)],
        planned=_whole("a b n", (1, 2, 3), (1, 3, 4), (2, 2, 1)),
        written=(
            {"a": "VARCHAR", "b": "VARCHAR", "n": "BIGINT"},
            [("1", "2", 3), ("1", "3", 5), ("2", "2", 1), ("3", "3", 1)],
        ),
        columns=["a", "b"],
    ),
    _case("cloak_release/identifying", "rows", [(3,)], column=["c0"], released=_RELEASED),
    _case("cloak_release/identifying", "rows", [(0,)], column=["place"], released=_RELEASED),
]
