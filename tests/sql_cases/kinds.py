"""Given and expected rows of `sql/kinds`."""

from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation, Same
from sql_cases.case import Case, relation

_VALUED = relation("valued", "a ill n", (1, 3, 1), (None, 3, 2), (4, 3, 1), (4, 5, 2), (5, None, 1))
_SAME = Same(["a"], "valued", "several")
# Person 7 is in the classes NULL of three people and 2 of one, of whom nobody knows the other.
_PAIRS = relation("pairs", "a _unit n", (None, 7, 2), (None, 8, 1), (None, 9, 1), (2, 7, 2), (2, None, 1))
_CLASSES = relation("classes", "a n _rows _with_unknown", (None, 3, 4, 3), (2, 1, 3, 2), (3, 1, 3, 1))
_NAMES = {"names": ["a"]}
_CELLS = relation(
    "cells", "a ill _unit n", (1, 3, 7, 2), (1, 3, 8, 1), (1, 4, 8, 1), (2, 4, 7, 1), (2, None, None, 2), (3, 1, 9, 1)
)
_KINDS = relation(
    "kinds",
    "_kind n _rows _people _weight",
    *[(1, 2, 3, 2, 1), (1, 1, 1, 2, 1), (2, 1, 1, 1, 1), (2, 0, 2, 1, 1), (-1, 1, 1, 1, 4)],
)
_HOMOGENEOUS = ["classes", "rows", "frequent"]

CASES = [
    Case(
        "kinds/cells",
        {"columns": {"class": "a", "unit": "_unit"}, "relation": Relation("cells")},
        ["class", "unit", "n"],
        [(1, 7, 1), (1, 8, 2), (2, 7, 1), (2, None, 1), (3, 9, 1)],
        _CELLS,
    ),
    Case("kinds/rows", {"relation": Relation("cells")}, ["rows"], [(6,)], _CELLS),
    Case(
        "kinds/first_cells",
        {"columns": ["a", "_unit"], "relation": Relation("cells"), "most": 10},
        ["different", "rows"],
        [(5, 6)],
        _CELLS,
    ),
    Case(
        "kinds/first_cells",
        {"columns": ["a", "_unit"], "relation": Relation("cells"), "most": 0},
        ["different", "rows"],
        [(0, 0)],
        _CELLS,
    ),
    Case(
        "kinds/numbered_cells",
        {"names": ["a"], "columns": {"unit": "_unit"}, "relation": Relation("cells")},
        ["_class", "unit", "n"],
        [(1, 7, 1), (1, 8, 2), (2, 7, 1), (2, None, 1), (3, 9, 1)],
        _CELLS,
    ),
    Case(
        "kinds/class_sizes",
        {"classes": Relation("classes")},
        ["size", "rows", "classes"],
        [(1, 1, 2), (3, 3, 1)],
        _CLASSES,
    ),
    Case(
        "kinds/class_sizes_of_people",
        {"classes": Relation("classes")},
        ["size", "rows", "classes"],
        [(1, 3, 2), (3, 4, 1)],
        _CLASSES,
    ),
    Case(
        "kinds/people_of_classes",
        {"pairs": Relation("pairs"), **_NAMES},
        ["a", "n", "_rows", "_with_unknown"],
        [(2, 1, 3, 2), (None, 3, 4, 3)],
        _PAIRS,
    ),
    Case(
        "kinds/people_by_class",
        {
            "pairs": Relation("pairs"),
            "classes": Relation("classes"),
            "same": Same(["a"], "pairs", "larger"),
            **_NAMES,
        },
        ["size", "people"],
        [(2, 2), (3, 2)],
        _PAIRS | _CLASSES,
    ),
    Case(
        "kinds/people_of_values",
        {"cells": Relation("cells"), "value": ["ill"], **_NAMES},
        ["a", "ill", "n", "_rows"],
        [(1, 3, 2, 3), (1, 4, 1, 1), (2, 4, 1, 1), (2, None, 0, 2), (3, 1, 1, 1)],
        _CELLS,
    ),
    Case(
        "kinds/counted_classes",
        {"cells": Relation("valued"), **_NAMES},
        ["a", "n", "_cells"],
        [(1, 1, 1), (None, 2, 1), (4, 3, 2), (5, 1, 1)],
        _VALUED,
    ),
    Case(
        "kinds/several_cells",
        {"classes": Relation("classes"), **_NAMES},
        ["a", "_kind", "_size"],
        [(4, 1, 3)],
        relation("classes", "a n _cells", (1, 1, 1), (None, 2, 1), (4, 3, 2), (5, 1, 1)),
    ),
    Case("kinds/several", {"valued": Relation("valued"), **_NAMES}, ["a", "_kind", "_size"], [(4, 1, 3)], _VALUED),
    *(
        Case(
            "kinds/of_rows",
            {"valued": Relation("valued"), "several": Relation("several"), "value": ["ill"], "same": _SAME},
            ["_kind", "ill", "n", "_rows", "_size", "_weight"],
            kinds,
            {**relation("valued", "a ill n", *valued), **relation("several", "a _kind _size", (None, 1, 3))},
        )
        for valued, kinds in (
            ([(1, 3, 2), (2, 3, 2), (3, 3, 2)], [(-1, 3, 2, 2, 2, 3)]),
            ([(None, 3, 2), (None, None, 1)], [(1, 3, 2, 2, 3, 1), (1, None, 1, 1, 3, 1)]),
        )
    ),
    *(
        Case(
            "kinds/of_people",
            {
                "valued": Relation("valued"),
                "several": Relation("several"),
                "people": Relation("people"),
                "value": ["ill"],
                "same": _SAME,
            },
            ["_kind", "ill", "n", "_rows", "_size", "_people", "_weight"],
            kinds,
            {
                **relation("valued", "a ill n _rows", *valued),
                **relation("several", "a _kind _size", (None, 1, 2)),
                **relation("people", "_kind _people", (1, 2)),
            },
        )
        for valued, kinds in (
            ([(1, 3, 2, 3), (2, 3, 2, 3)], [(-1, 3, 2, 3, 2, 2, 2)]),
            ([(None, 4, 1, 1), (None, None, 1, 4)], [(1, 4, 1, 1, 2, 2, 1), (1, None, 1, 4, 2, 2, 1)]),
        )
    ),
    Case(
        "kinds/people_of_several",
        {
            "cells": Relation("cells"),
            "several": Relation("several"),
            "same": Same(["a"], "cells", "several"),
        },
        ["_kind", "_people"],
        [(1, 2), (2, 1)],
        {**_CELLS, **relation("several", "a _kind", (1, 1), (2, 2))},
    ),
    # By people, all of a class of kind 1 have one value, and so has the only known person of a class of kind 2.
    Case(
        "kinds/homogeneous",
        {"kinds": Relation("kinds"), "members": Predicate("MAX(_people)")},
        _HOMOGENEOUS,
        [(6, 11, 9)],
        _KINDS,
    ),
    Case(
        "kinds/homogeneous",
        {"kinds": Relation("kinds"), "members": Predicate("SUM(n)")},
        _HOMOGENEOUS,
        [(5, 7, 9)],
        _KINDS,
    ),
    # Class 1 has one value in three rows, class 2 two values, and class 3 only NULL.
    Case(
        "kinds/homogeneous_classes",
        {"cells": Relation("cells"), **_NAMES},
        _HOMOGENEOUS,
        [(2, 4, 9)],
        relation("cells", "a s n", (1, 7, 3), (2, 7, 2), (2, 8, 5), (3, None, 1)),
    ),
    Case(
        "kinds/homogeneous_people",
        {
            "cells": Relation("cells"),
            "several": Relation("several"),
            "kinds": Relation("kinds"),
            "same": Same(["a"], "cells", "mixed"),
            **_NAMES,
        },
        ["people"],
        [(2,)],  # 7 and 9, without 8 in class 1 alone
        {
            **_CELLS,
            **relation("several", "a _kind", (1, 1), (2, 2)),
            **relation("kinds", "_kind n _people", (1, 1, 2), (1, 1, 2), (2, 1, 1), (2, 0, 1)),
        },
    ),
    Case(
        "kinds/complete",
        {"coded": Relation("cells"), "columns": ["a", "ill", "_unit"]},
        ["cells", "rows", "a", "ill", "_unit"],
        [(6, 8, 6, 5, 5)],
        _CELLS,
    ),
    Case(
        "kinds/coded_reference",
        {"reference": Relation("reference"), "codes": Relation("codes"), "figures": ["raw", "place"]},
        ["value", "raw", "place"],
        [(0, None, 4), (7, 1, 1), (8, 3, 3), (-2, 2, 2)],
        {
            **relation("reference", "value raw place", (1, 1, 1), (2, 2, 2), (3, 3, 3), (None, None, 4)),
            **relation("codes", "value code_0", (1, 7), (3, 8)),
        },
    ),
]
