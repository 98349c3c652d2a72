"""Given and expected rows of `sql/prioprivacy`."""

from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation
from sql_cases.case import AT_LEAST_2, COUNTED, FREQUENCY_SET, LABELS, Case, on_node, relation

_RULED = relation("ruled", "tuple n a_0 a_1 b_0", (1, 1, 0, 7, 0), (2, 1, 1, 7, 0), (3, 3, 1, 7, 1), (4, 1, 2, -3, 1))
_GROUPED = relation("members", "node class tuple", (4, 1, 1), (4, 1, 2), (5, 2, 2), (5, 2, 3), (6, 4, 4))
_RULED_AS, _MEMBERS_AS = Relation("ruled"), Relation("members")
_VALUED = relation("valued", "tuple n ill", (1, 1, 1), (1, 1, 2), (2, 1, 1), (3, 3, 1), (4, 1, 2))
_TWO_VALUES = Predicate("values >= 2", {}, {"values": "COUNT(c)"}, "ill")
_DONE = relation("done", "tuple node", (1, 4), (3, 5))
_NUMBERED = relation("numbered", "class tuple n", (0, 1, 1), (0, 2, 1), (1, 3, 3))
_COMMON = "class attribute level code n loss"
_COMMONS = relation(
    "common",
    _COMMON,
    (0, 0, 1, 7, 2, 0.5),
    (0, 0, 2, 0, 2, 1.0),
    (1, 0, 0, 1, 3, 0.25),
    (1, 0, 2, 0, 3, 1.0),
    loss="DOUBLE",
)
_MATCHED = "class tuple attribute level n rows loss"
_MATCHES = relation(
    "matches",
    _MATCHED,
    *[(0, 8, 0, 1, 2, 1, 0.5), (0, 8, 0, 2, 2, 1, 1.0), (1, 8, 0, 2, 3, 1, 1.0)],
    *[(0, 9, 0, 2, 2, 1, 1.0), (1, 9, 0, 2, 3, 1, 1.0)],
    loss="DOUBLE",
)

CASES = [
    Case(
        "prioprivacy/rule_values",
        {"mapping": Relation("map")},
        ["code", "label"],
        [(0, "1.5"), (1, None)],
        relation("map", "value code_0", (1.5, 0), (None, 1), value="DOUBLE"),
    ),
    Case(
        "prioprivacy/rule_keys",
        {"columns": {"a": "age_0", "b": "zip_0"}, "frequency_set": COUNTED},
        ["a", "b", "n"],
        [(0, 0, 1), (0, 1, 5), (1, 1, 1)],
        relation("counted", "age_0 zip_0 n", (0, 0, 1), (0, 1, 2), (0, 1, 3), (1, 1, 1)),
    ),
    Case(
        "prioprivacy/numbered_tuples",
        {"columns": ["age_0", "zip_0"], "tuples": COUNTED},
        ["tuple", "n", "age_0", "zip_0"],
        [(1, 1, 0, 0), (2, 2, 0, 1), (3, 1, 1, 1), (4, 4, 2, 0)],
        FREQUENCY_SET,
    ),
    Case(
        "prioprivacy/unsafe_tuples",
        {"tuples": _RULED_AS, "counted": _RULED_AS, "safe": AT_LEAST_2},
        ["tuple", "n", "a_0", "a_1", "b_0"],
        [(1, 1, 0, 7, 0), (2, 1, 1, 7, 0), (4, 1, 2, -3, 1)],
        _RULED,
    ),
    # Of tuple 1 there are two values, of tuple 3 one.
    Case(
        "prioprivacy/unsafe_tuples",
        {"tuples": _RULED_AS, "counted": Relation("valued"), "safe": _TWO_VALUES},
        ["tuple", "n", "a_0", "a_1", "b_0"],
        [(2, 1, 1, 7, 0), (3, 3, 1, 7, 1), (4, 1, 2, -3, 1)],
        {**_RULED, **_VALUED},
    ),
    Case(
        "prioprivacy/counted_values",
        {"keys": ["age_0", "zip_0"], "values": ["ill", "home"], "frequency_set": Relation("fine")},
        ["tuple", "n", "ill", "home"],
        [(1, 2, 1, 1), (1, 1, 2, 1), (2, 4, 1, 2)],
        relation("fine", "age_0 zip_0 ill home n", (0, 1, 1, 1, 2), (2, 0, 1, 2, 4), (0, 1, 2, 1, 1)),
    ),
    Case(
        "prioprivacy/remaining",
        {"tuples": _RULED_AS, "recoded": Relation("done")},
        ["tuple", "n", "a_0", "a_1", "b_0"],
        [(2, 1, 1, 7, 0), (4, 1, 2, -3, 1)],
        {**_RULED, **_DONE},
    ),
    Case(
        "prioprivacy/rule_groups",
        on_node(AT_LEAST_2, ["a_1", "b_0"], 5, frequency_set=_RULED_AS),
        ["node", "class", "tuple"],
        [(5, 1, 1), (5, 1, 2), (5, 3, 3)],
        _RULED,
    ),
    Case(
        "prioprivacy/group_places",
        {"members": _MEMBERS_AS, "counted": _RULED_AS, "safe": AT_LEAST_2},
        ["node", "class", "place"],
        [(5, 2, 1), (4, 1, 2)],
        {**_RULED, **_GROUPED},
    ),
    # Of tuples 1 and 2 there are two values, of 2 and 3 one, of 4 one.
    Case(
        "prioprivacy/group_places",
        {"members": _MEMBERS_AS, "counted": Relation("valued"), "safe": _TWO_VALUES},
        ["node", "class", "place"],
        [(4, 1, 1)],
        {**_VALUED, **_GROUPED},
    ),
    Case(
        "prioprivacy/best_groups",
        {"members": _MEMBERS_AS, "places": Relation("places")},
        ["node", "class"],
        [(5, 2), (6, 4)],
        {**_GROUPED, **relation("places", "node class place", (5, 2, 1), (4, 1, 2), (6, 4, 3))},
    ),
    Case(
        "prioprivacy/group_tuples",
        {"members": _MEMBERS_AS, "chosen": Relation("chosen")},
        ["tuple", "node"],
        [(2, 5), (3, 5)],
        {**_GROUPED, **relation("chosen", "node class", (5, 2))},
    ),
    Case(
        "prioprivacy/not_recoded",
        {"node": 9, "tuples": _RULED_AS, "recoded": Relation("done")},
        ["tuple", "node"],
        [(2, 9), (4, 9)],
        {**_RULED, **_DONE},
    ),
    Case("prioprivacy/used_nodes", {"recoded": Relation("done")}, ["node"], [(4,), (5,)], _DONE),
    Case(
        "prioprivacy/rule_cells",
        {"attribute": 0, "level": 1, "column": ["a_1"], "tuples": _RULED_AS},
        ["attribute", "level", "tuple", "code"],
        [(0, 1, 1, 7), (0, 1, 2, 7), (0, 1, 3, 7), (0, 1, 4, -3)],
        _RULED,
    ),
    Case(
        "prioprivacy/common_cells",
        {name: Relation(name) for name in ("cells", "numbered", "recoded", "nodes", "labels", "attributes")},
        _COMMON.split(),
        [(0, 0, 1, 7, 2, 1.0), (0, 0, 3, 0, 2, 2.0), (1, 0, 3, 0, 3, 2.0)],
        {
            **relation(
                "cells",
                "attribute level tuple code",
                *[(0, 0, 1, 0), (0, 1, 1, 7), (0, 3, 1, 0), (0, 0, 2, 1), (0, 1, 2, 7), (0, 3, 2, 0)],
                *[(0, 0, 3, 1), (0, 1, 3, 7), (0, 3, 3, 0)],
            ),
            **_NUMBERED,
            **relation("recoded", "tuple node", (1, 0), (2, 0), (3, 1)),
            **relation("nodes", "node attribute level", (0, 0, 0), (1, 0, 3)),
            **LABELS,
            **relation("attributes", "attribute weight", (0, 0.5), weight="DOUBLE"),
        },
    ),
    Case(
        "prioprivacy/matching_cells",
        {"common": Relation("common"), "cells": Relation("cells"), "left_over": Relation("left")},
        _MATCHED.split(),
        [(0, 8, 0, 1, 2, 1, 0.5), (0, 8, 0, 2, 2, 1, 1.0), (1, 8, 0, 2, 3, 1, 1.0)],
        {
            **_COMMONS,
            **relation("cells", "attribute level tuple code", (0, 0, 8, 5), (0, 1, 8, 7), (0, 2, 8, 0), (0, 1, 9, 7)),
            **relation("left", "tuple n", (8, 1)),
        },
    ),
    Case(
        "prioprivacy/cheapest_classes",
        {"matches": Relation("matches"), "common": Relation("common")},
        ["tuple", "class"],
        [(8, 0), (9, 0)],  # 8: 3 * 0.5 - 2 * 0.5 = 0.5 against 4 - 3 * 0.25; 9: 3 - 1 = 2 against 3.25
        {**_MATCHES, **_COMMONS},
    ),
    Case(
        "prioprivacy/joint_levels",
        {"matches": Relation("matches"), "chosen": Relation("chosen")},
        ["class", "attribute", "level"],
        [(0, 0, 2)],
        {**_MATCHES, **relation("chosen", "tuple class", (8, 0), (9, 0))},
    ),
    Case(
        "prioprivacy/grown_classes",
        {"numbered": Relation("numbered"), "chosen": Relation("chosen"), "grown": Relation("grown")},
        ["tuple", "node"],
        [(1, 7), (2, 7), (8, 7)],
        {
            **_NUMBERED,
            **relation("chosen", "tuple class", (8, 0)),
            **relation("grown", "class node", (0, 7)),
        },
    ),
    # Tuples 1 and 2 were a class, 3 another; 4 and 5 were one, and are.
    Case(
        "prioprivacy/merged_tuples",
        {"joined": Relation("joined"), "numbered": Relation("numbered")},
        ["class", "tuple", "n"],
        [(0, 1, 1), (0, 2, 1), (0, 3, 3)],
        {
            **relation("joined", "class tuple n", (0, 1, 1), (0, 2, 1), (0, 3, 3), (7, 4, 1), (7, 5, 2)),
            **relation("numbered", "class tuple n", (0, 1, 1), (0, 2, 1), (1, 3, 3), (7, 4, 1), (7, 5, 2)),
        },
    ),
    Case(
        "prioprivacy/lowest_levels",
        {"common": Relation("common")},
        ["class", "attribute", "level"],
        [(0, 0, 1), (1, 0, 0)],
        _COMMONS,
    ),
    Case(
        "prioprivacy/class_members",
        {"columns": ["n", "ill"], "numbered": Relation("numbered"), "counted": Relation("valued")},
        ["class", "n", "ill"],
        [(0, 1, 1), (0, 1, 2), (0, 1, 1), (1, 3, 1)],
        {**_NUMBERED, **_VALUED},
    ),
    Case(
        "prioprivacy/recoded_anew",
        {"kept": Relation("done"), "moved": Relation("moved")},
        ["tuple", "node"],
        [(1, 4), (3, 5), (8, 6)],
        {**_DONE, **relation("moved", "tuple node", (8, 6))},
    ),
    Case(
        "prioprivacy/open_tuples",
        {"tuples": _RULED_AS, "remaining": Relation("done"), "columns": ["a_0"]},
        ["tuple", "n", "a_0", "open"],
        [(1, 1, 0, True), (2, 1, 1, False), (3, 3, 1, True), (4, 1, 2, False)],
        {**_RULED, **_DONE},
    ),
    Case(
        "prioprivacy/suppressible",
        on_node(AT_LEAST_2, ["b_0"], 5, frequency_set=_RULED_AS),
        ["node", "n", "others", "tuple"],
        [(5, 2, 1, 1), (5, 4, 1, 3), (5, 4, 1, 4)],
        relation(
            "ruled",
            "tuple n b_0 open",
            *[(1, 1, 0, True), (2, 1, 0, False), (3, 3, 1, True), (4, 1, 1, True), (5, 1, 2, True)],
            open="BOOLEAN",
        ),
    ),
    Case(
        "prioprivacy/first_suppressions",
        {"candidates": Relation("candidates"), "nodes": Relation("nodes"), "k": 2},
        ["tuple", "node"],
        [(2, 4), (3, 6), (4, 5)],  # 1: a domain of 2, which is not above k; 5: 3 - 2 others leave one value
        {
            **relation(
                "candidates",
                "node n others tuple",
                *[(3, 2, 1, 1), (3, 2, 1, 2), (4, 9, 1, 2), (6, 9, 1, 2), (6, 4, 3, 3), (5, 2, 1, 4), (4, 9, 2, 5)],
            ),
            **relation("nodes", "node domain", (3, 2), (4, 3), (5, 4), (6, 6)),
        },
    ),
    Case(
        "prioprivacy/numbered_classes",
        {"labels": ["label_0"], "cells": ["label_0"], "labelled": Relation("labelled")},
        ["class", "tuple", "n", "label_0"],
        [(0, 2, 5, "x"), (0, 3, 1, "x"), (1, 1, 1, "y"), (2, 4, 1, None)],
        relation("labelled", "tuple n label_0", (1, 1, "y"), (2, 5, "x"), (3, 1, "x"), (4, 1, None), label_0="VARCHAR"),
    ),
    Case(
        "prioprivacy/own_classes",
        {"cells": ["label_0", "leaves_0"], "numbered": Relation("numbered")},
        ["class", "n", "label_0", "leaves_0"],
        [(0, 6, "x", 2), (1, 1, None, 1)],
        relation(
            "numbered", "class n label_0 leaves_0", (0, 5, "x", 2), (0, 1, "x", 2), (1, 1, None, 1), label_0="VARCHAR"
        ),
    ),
    Case(
        "prioprivacy/own_assignment",
        {"columns": {"age_0": "a_0"}, "tuples": _RULED_AS, "numbered": Relation("numbered")},
        ["age_0", "n", "class"],
        [(0, 1, 0), (1, 1, 0), (1, 3, 1)],
        {**_RULED, **_NUMBERED},
    ),
]
