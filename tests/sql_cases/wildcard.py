"""Given and expected rows of `sql/wildcard`."""

from kanon_sql.queries import Relation
from sql_cases.case import AT_LEAST_2, LABELS, PEOPLE, UNKNOWN_OF_3, Case, on_node, relation

CASES = [
    Case(
        "wildcard/rows",
        {"quasi_identifiers": {"label_0": "Age"}, "names": ["label_0"], "release": Relation("odd people")},
        ["class", "n", "label_0"],
        [(1, 4, "40"), (2, 1, "7")],
        {"odd people": (PEOPLE["odd people"][0], [row for row in PEOPLE["odd people"][1] if row[0]])},
    ),
    Case(
        "wildcard/labels",
        {"labels": Relation("labels")},
        ["attribute", "label", "level", "code"],
        [(0, "b", 0, 1), (0, "ab", 2, 7), (0, "*", 3, 0)],
        LABELS,
    ),
    Case(
        "wildcard/patterns",
        {"readings": Relation("readings"), "levels": ["level_0"], "codes": ["code_0"]},
        ["pattern", "class", "level_0", "code_0"],
        [(0, 4, 0, 7), (1, 5, 2, 1), (1, 6, 2, 3)],
        relation("readings", "class level_0 code_0", (5, 2, 1), (4, 0, 7), (6, 2, 3)),
    ),
    Case(
        "wildcard/levels",
        {"patterns": Relation("patterns"), "levels": ["level_0"]},
        ["pattern", "level_0"],
        [(0, 0), (1, 2)],
        relation("patterns", "pattern class level_0", (1, 5, 2), (0, 4, 0), (1, 6, 2)),
    ),
    Case(
        "wildcard/fits",
        on_node(AT_LEAST_2, ["a_1"], 1, frequency_set=Relation("beside")),
        ["class", "fits", "safe"],
        [(5, 3, True), (6, 0, False), (8, 3, True)],
        relation(
            "beside",
            "pattern class n a_1",
            *[(None, None, 1, 7), (None, None, 2, 7), (None, None, 1, 4)],
            *[(1, 5, 0, 7), (1, 8, 0, 7), (1, 6, 0, 3), (2, 9, 0, 7)],
        ),
    ),
    Case(
        "wildcard/summary",
        {"rows": Relation("rows"), "fits": Relation("fits"), "safe": AT_LEAST_2},
        ["rows", "classes", "smallest_class", "unsafe_class_rows", "smallest_fit", "unsafe_rows"],
        [(6, 4, 1, 3, 0, 2)],  # 5 is safe in itself, 6 by what it fits, 7 and 8 are not
        {
            **relation("rows", "class n", (5, 3), (6, 1), (7, 1), (8, 1)),
            **relation("fits", "class fits safe", (5, 1, False), (6, 4, True), (7, 1, False), safe="BOOLEAN"),
        },
    ),
    Case(
        "wildcard/summary",
        {"rows": Relation("rows"), "fits": Relation("fits"), "safe": UNKNOWN_OF_3},
        ["rows", "classes", "smallest_class", "unsafe_class_rows", "smallest_fit", "unsafe_rows"],
        [(3, 1, 3, 3, 0, 3)],
        {**relation("rows", "class n", (5, 3)), **relation("fits", "class fits safe", safe="BOOLEAN")},
    ),
]
