"""Given and expected rows of `sql/kaca`."""

from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation, Steps
from sql_cases.case import AT_LEAST_2, COUNTED, FREQUENCY_SET, Case, integers

# KACA: classes by codes a_0, a_1, -1 where they are generalized above; blocks by a_1 alone.
_COSTS = {"a_0": 2, "a_1": 3}
_KACA = {name: Relation(name) for name in ("classes", "seekers", "blocks", "pairs", "merges", "parts", "links", "same")}
_PAIR = {"between": Steps({"a_0": 2}, "a", "b")}
_COUNTED_PARTS = {"parts": _KACA["parts"], "counted": _KACA["parts"]}
_CLASSES_OF_3 = {
    "classes": integers(
        "class n safe distortion block place seat piece a_0 a_1",
        (0, 1, False, 0, 1, 2, 1, 0, 0, 0),
        (1, 4, True, 2, 1, 1, 1, 0, -1, 0),
        (2, 2, False, 0, 2, 3, 2, 0, 5, 1),
    )
}
_SEEKERS_OF_3 = {
    "seekers": integers("class n distortion block piece a_0 a_1", (0, 1, 0, 1, 0, 0, 0), (2, 2, 0, 2, 0, 5, 1)),
}
_PAIRS_OF_2 = {
    "pairs": integers("block other shared rise other_rise", (1, 1, 0, 0, 0), (1, 2, 3, 3, 6), (2, 1, 3, 3, 3))
}

CASES = [
    Case(
        "kaca/tuples",
        {"frequency_set": COUNTED, "values": ["age_0"], "codes": ["age_1"]},
        ["tuple", "class", "piece", "age_0", "age_1", "n"],
        [(0, 0, 0, 0, 0, 3), (1, 1, 0, 1, 0, 1), (2, 2, 0, 2, 1, 4)],
        FREQUENCY_SET,
    ),
    Case(
        "kaca/tuples",
        {"frequency_set": COUNTED, "values": ["zip_0"], "codes": []},
        ["tuple", "class", "piece", "zip_0", "n"],
        [(0, 0, 0, 0, 5), (1, 1, 0, 1, 3)],
        FREQUENCY_SET,
    ),
    Case(
        "kaca/piece_sizes",
        {"tuples": Relation("tuples")},
        ["piece", "tuples"],
        [(0, 2), (3, 1)],
        {"tuples": integers("tuple piece", (0, 0), (1, 3), (2, 0))},
    ),
    Case(
        "kaca/group",
        {"columns": ["tuple", "piece"], "tuples": Relation("tuples"), "after": 0, "last": 3},
        ["tuple", "piece"],
        [(1, 3), (3, 1)],
        {"tuples": integers("tuple piece", (0, 0), (1, 3), (2, 4), (3, 1))},
    ),
    Case(
        "kaca/in_pieces",
        {name: Relation(name) for name in ("tuples", "unsafe", "whole")} | {"values": ["a_0"], "above": 4},
        ["tuple", "a_0", "n", "class"],
        [(0, 5, 1, 4), (1, 6, 4, 7), (3, 8, 9, 7)],
        {
            "tuples": integers("tuple piece a_0 n", (0, 0, 5, 1), (1, 3, 6, 4), (2, 0, 7, 8), (3, 3, 8, 9)),
            "unsafe": integers("class", (0,), (1,)),
            "whole": integers("class", (7,)),
        },
    ),
    Case(
        "kaca/cut_members",
        {"tuples": Relation("tuples"), "members": Relation("members")},
        ["class", "goes_to"],
        [(0, 9), (1, 1)],
        {"tuples": integers("tuple", (0,), (1,)), "members": integers("class goes_to", (0, 9))},
    ),
    Case(
        "kaca/cut_rows",
        {"parts": Relation("parts"), "above": 4},
        ["rows"],
        [(6,)],
        {"parts": integers("class n", (3, 9), (4, 1), (7, 5))},
    ),
    Case(
        "kaca/in_classes",
        {"tuples": Relation("tuples"), "members": Relation("members")},
        ["tuple", "class", "n"],
        [(1, 8, 4)],
        {"tuples": integers("tuple n", (1, 4)), "members": integers("class goes_to", (0, 9), (1, 8))},
    ),
    Case(
        "kaca/same",
        {"generalized": Relation("generalized"), "codes": ["a_0", "a_1"]},
        ["class", "one"],
        [(0, 0), (1, 1), (2, 0)],
        {"generalized": integers("class a_0 a_1", (0, -1, 1), (1, 1, 1), (2, -1, 1))},
    ),
    Case(
        "kaca/parts",
        {name: _KACA[name] for name in ("parts", "links", "same")},
        ["tuple", "class", "n"],
        [(7, 0, 2), (8, 0, 1), (8, 1, 4), (9, 1, 1)],  # three rows of class 1 go to 2, which is 0 by now
        {
            "parts": integers("tuple class n", (8, 1, 5), (7, 1, 2), (9, 3, 1)),
            "links": integers("class goes_to low high", (1, 2, 0, 3), (1, 1, 3, 7), (3, 1, 0, 1)),
            "same": integers("class one", (1, 1), (2, 0)),
        },
    ),
    Case(
        "kaca/block_count",
        {"generalized": Relation("generalized"), "columns": ["piece", "a_1"]},
        ["blocks"],
        [(2,)],
        {"generalized": integers("piece a_1", (0, 1), (0, 1), (0, None), (1, 1), (2, 2))},
    ),
    Case(
        "kaca/classes",
        {
            "generalized": Relation("generalized"),
            "counted": Relation("parts"),
            "codes": ["piece", "a_0", "a_1"],
            "by": ["a_1"],
            "own": Steps(_COSTS, "g"),
            "safe": Predicate("NULLIF(SUM(n), 5) >= 2"),
            "salt": "1|2",
        },
        ["class", "n", "safe", "distortion", "block", "place", "seat", "piece", "a_0", "a_1"],
        # The MD5 of 1|2|0 begins with 1f, of 1|2|1 with d3, of 1|2|2 with 86.
        [(0, 3, True, 0, 3, 1, 1, 0, 4, 1), (1, 1, False, 2, 2, 3, 1, 0, -1, 0), (2, 5, False, 5, 1, 2, 2, 1, -1, -1)],
        {
            "generalized": integers("class piece a_0 a_1", (0, 0, 4, 1), (1, 0, -1, 0), (2, 1, -1, -1), (3, 0, 0, 0)),
            "parts": integers("tuple class n", (0, 0, 1), (1, 0, 2), (1, 1, 1), (2, 2, 5)),
        },
    ),
    Case(
        "kaca/unsafe",
        {"classes": _KACA["classes"]},
        ["classes", "unsafe", "alone"],
        [(5, 3, 1)],
        {"classes": integers("safe piece", (False, 0), (False, 0), (True, 0), (False, 1), (True, 2))},
    ),
    Case("kaca/unsafe", {"classes": _KACA["classes"]}, ["classes", "unsafe", "alone"], [(3, 2, 0)], _CLASSES_OF_3),
    Case(
        "kaca/once",
        {"tuples": Relation("tuples"), "values": ["a_0"]},
        ["a_0", "n"],
        [(5, 1), (6, 1)],
        {"tuples": integers("tuple a_0 n", (0, 5, 9), (1, 6, 1))},
    ),
    Case(
        "kaca/pieces",
        {"tuples": Relation("tuples"), "members": Relation("members"), "columns": ["a_0", "a_1"]},
        ["tuple", "class", "piece", "a_0", "a_1", "n"],
        [(0, 0, 7, 5, 1, 9), (1, 1, 8, 6, None, 2)],
        {
            "tuples": integers("tuple class piece a_0 a_1 n", (0, 0, 0, 5, 1, 9), (1, 1, 0, 6, None, 2)),
            "members": integers("class goes_to", (0, 7), (1, 8)),
        },
    ),
    Case(
        "kaca/opened",
        {"generalized": Relation("generalized"), "codes": ["a_0"]},
        ["class", "piece", "a_0"],
        [(3, 0, 5), (4, 0, -1)],
        {"generalized": integers("class piece a_0", (3, 1, 5), (4, 2, -1), (6, 2, 5))},
    ),
    Case(
        "kaca/fused",
        {"parts": _KACA["parts"], "same": _KACA["same"]},
        ["tuple", "class", "n"],
        [(7, 1, 5), (8, 1, 1), (8, 3, 4)],
        {
            "parts": integers("tuple class n", (7, 1, 2), (7, 2, 3), (8, 2, 1), (8, 3, 4)),
            "same": integers("class one", (1, 1), (2, 1), (3, 3)),
        },
    ),
    Case(
        "kaca/near",
        {"classes": _KACA["classes"], "seekers": _KACA["seekers"], "codes": ["piece", "a_0"]},
        ["class", "n", "distortion", "block", "place", "piece", "a_0"],
        [(0, 1, 0, 1, 2, 0, 5), (2, 2, 0, 2, 3, 0, 6)],
        {
            "classes": integers(
                "class n distortion block place piece a_0",
                (0, 1, 0, 1, 2, 0, 5),
                (1, 4, 2, 1, 1, 1, 5),
                (2, 2, 0, 2, 3, 0, 6),
            ),
            "seekers": integers("class piece", (0, 0), (7, 0)),
        },
    ),
    Case(
        "kaca/seekers",
        {"classes": _KACA["classes"], "codes": ["a_0", "a_1"], "after": 0, "most": 1},
        ["class", "n", "distortion", "block", "a_0", "a_1"],
        [(0, 1, 0, 1, 0, 0)],
        _CLASSES_OF_3,
    ),
    Case(
        "kaca/seekers",
        {"classes": _KACA["classes"], "codes": ["a_0", "a_1"], "after": 1, "most": 9},
        ["class", "n", "distortion", "block", "a_0", "a_1"],
        [],
        {"classes": integers("class n safe distortion block seat a_0 a_1", (1, 1, False, 2, 1, 1, -1, 0))},
    ),
    Case(
        "kaca/rest",
        _COUNTED_PARTS | {"tuples": Relation("tuples"), "values": ["a_0"], "safe": AT_LEAST_2},
        ["tuple", "a_0", "n"],
        [(1, 6, 2)],
        {
            "parts": integers("tuple class n", (0, 7, 2), (1, 8, 1), (1, 9, 1), (2, 7, 1)),
            "tuples": integers("tuple a_0", (0, 5), (1, 6), (2, 7)),
        },
    ),
    Case(
        "kaca/cut",
        {
            **_COUNTED_PARTS,
            "rest": Relation("rest"),
            "assignment": Relation("assignment"),
            "values": ["a_0"],
            "above": 100,
            "safe": AT_LEAST_2,
        },
        ["tuple", "class", "n"],
        [(0, 7, 2), (2, 7, 1), (1, 103, 2), (3, 104, 1)],
        {
            "parts": integers("tuple class n", (0, 7, 2), (1, 8, 1), (1, 9, 1), (2, 7, 1), (3, 6, 1)),
            "rest": integers("tuple a_0 n", (1, 6, 2), (3, 5, 1)),
            "assignment": integers("a_0 class", (5, 4), (6, 3)),
        },
    ),
    Case(
        "kaca/seekers",
        {"classes": _KACA["classes"], "codes": ["a_0", "a_1"], "after": 0, "most": 9},
        ["class", "n", "distortion", "block", "a_0", "a_1"],
        [(1, 1, 2, 1, -2, 0)],
        {"classes": integers("class n safe distortion block seat a_0 a_1", (1, 1, False, 2, 1, 1, -1, 0))},
    ),
    Case(
        "kaca/blocks",
        {"classes": _KACA["classes"], "columns": ["a_1"], "own": Steps({"a_1": 3}, "c")},
        ["block", "classes", "smallest", "distortion", "a_1"],
        [(1, 2, 1, 0, 0), (2, 1, 2, 0, 1)],
        _CLASSES_OF_3,
    ),
    Case(
        "kaca/block_pairs",
        {
            "blocks": _KACA["blocks"],
            "seekers": _KACA["seekers"],
            "columns": ["piece", "a_1"],
            "between": Steps({"a_1": 3}, "a", "b"),
        },
        ["block", "other", "shared", "rise", "other_rise"],
        [(1, 1, 0, 0, 0), (1, 2, 3, 3, 6), (1, 3, 3, 3, 0), (2, 1, 3, 3, 3), (2, 3, 3, 3, 0)],
        {
            "blocks": integers(
                "block classes smallest distortion piece a_1",
                (1, 2, 1, 0, 0, 0),
                (2, 1, 2, 0, 0, 1),
                (3, 1, 9, 3, 0, -1),
                (4, 5, 1, 0, 1, 0),
            )
        }
        | _SEEKERS_OF_3,
    ),
    Case(
        "kaca/bounds",
        {name: _KACA[name] for name in ("seekers", "classes", "pairs")} | _PAIR,
        ["class", "bound"],
        # Class 0 joins 1 (generalized already) for 2; class 2 finds 0 for 2 * 5 + 5 and 1 for 2 * 5 + 4 * 3.
        [(0, 2), (2, 15)],
        _CLASSES_OF_3 | _SEEKERS_OF_3 | _PAIRS_OF_2,
    ),
    Case(
        "kaca/candidates",
        {"seekers": _KACA["seekers"], "bounds": Relation("bounds"), "pairs": _KACA["pairs"]},
        ["class", "other", "shared", "bound"],
        [(0, 1, 0, 2), (2, 1, 3, 9)],  # block 2 is 9 away from class 0 at least, block 1 from class 2 just as near
        {"bounds": integers("class bound", (0, 2), (2, 9))} | _SEEKERS_OF_3 | _PAIRS_OF_2,
    ),
    Case(
        "kaca/distances",
        {"candidates": Relation("candidates"), "seekers": _KACA["seekers"], "classes": _KACA["classes"]} | _PAIR,
        ["class", "target", "distance", "place"],
        [(0, 3, 2, 8), (0, 4, 4, 2), (0, 5, 4, 3), (2, 0, 15, 9)],  # none of itself; 6 is beyond the bound
        {
            "candidates": integers("class other shared bound", (0, 1, 0, 9), (2, 2, 3, 20)),
            "classes": integers(
                "class n distortion block place a_0 a_1",
                (0, 1, 0, 1, 9, 0, 0),
                (0, 1, 0, 2, 9, 0, 0),
                (3, 4, 2, 1, 8, -1, 0),
                (4, 1, 0, 1, 2, 8, 0),
                (5, 1, 0, 1, 3, 9, 0),
                (6, 9, 0, 1, 1, 9, 0),
            ),
        }
        | _SEEKERS_OF_3,
    ),
    Case(
        "kaca/nearest",
        {"distances": Relation("distances")},
        ["class", "target", "distance"],
        [(0, 3, 4), (2, 0, 15)],  # as near as class 4, and before it by chance
        {"distances": integers("class target distance place", (0, 4, 4, 2), (0, 3, 4, 1), (0, 5, 6, 0), (2, 0, 15, 9))},
    ),
    Case(
        "kaca/pairs",
        {"distances": Relation("distances"), "most": 2},
        ["pair", "class", "target", "distance", "place"],
        # Class 5 is as near to class 0 as 4, but after it by chance, and one too many.
        [(1, 0, 3, 2, 1), (2, 0, 4, 4, 2), (3, 2, 0, 15, 1)],
        {"distances": integers("class target distance place", (0, 5, 4, 3), (0, 4, 4, 2), (0, 3, 2, 8), (2, 0, 15, 9))},
    ),
    Case(
        "kaca/chosen",
        {"pairs": _KACA["pairs"], "unsafe": Relation("unsafe")},
        ["class", "target", "distance"],
        [(0, 4, 5), (2, 7, 6), (3, 8, 1)],
        {
            "pairs": integers(
                "pair class target distance place",
                (1, 0, 3, 4, 1),
                (2, 0, 4, 5, 2),
                (3, 0, 5, 6, 3),
                (4, 2, 7, 6, 1),
                (5, 2, 8, 9, 2),
                (6, 3, 8, 1, 1),
            ),
            "unsafe": integers("class", (1,), (4,), (5,)),
        },
    ),
    Case(
        "kaca/members",
        {"tuples": Relation("tuples"), "assignment": Relation("assignment"), "values": ["a_0"]},
        ["class", "goes_to"],
        [(0, 4), (1, 4), (2, 3)],
        {
            "tuples": integers("tuple a_0", (0, 5), (1, 6), (2, None)),
            "assignment": integers("a_0 class", (6, 4), (None, 3), (5, 4)),
        },
    ),
    Case(
        "kaca/distortion",
        {"generalized": Relation("generalized"), "assignment": Relation("assignment"), "own": Steps(_COSTS, "g")},
        ["distortion"],
        [(3 * 2 + 2 * 5,)],
        {
            "generalized": integers("class a_0 a_1", (0, -1, 0), (1, -1, -1), (2, 5, 1)),
            "assignment": integers("class n", (0, 1), (0, 2), (1, 2), (2, 7)),
        },
    ),
    Case(
        "kaca/numbered",
        {"tuples": Relation("tuples"), "columns": ["a_0"]},
        ["id", "a_0"],
        [(1, 5), (2, 6)],
        {"tuples": integers("tuple a_0 n", (0, 5, 2), (1, 6, 1))},
    ),
    Case(
        "kaca/turns",
        {"nearest": Relation("nearest"), "classes": _KACA["classes"], "k": 3},
        ["turn", "class", "target", "target_n", "stub"],
        [(2, 0, 1, 5, 2), (1, 2, 0, 1, 0), (3, 3, 1, 5, 0), (4, 4, 1, 5, 1)],
        {
            "nearest": integers("class target distance", (0, 1, 7), (2, 0, 7), (3, 1, 8), (4, 1, 9)),
            # Class 3 has as many rows as k but is unsafe by another measure, so that a stub would not mend it.
            "classes": integers("class n place", (0, 1, 5), (1, 5, 1), (2, 1, 4), (3, 3, 2), (4, 2, 3)),
        },
    ),
    Case(
        "kaca/firsts",
        {"turns": Relation("turns")},
        ["class", "turn"],
        [(0, 1), (1, 1), (2, 2)],
        {"turns": integers("turn class target", (1, 0, 1), (2, 2, 1), (3, 1, 0))},
    ),
    Case(
        "kaca/merges",
        {"turns": Relation("turns"), "firsts": Relation("firsts"), "k": 3},
        ["class", "target", "low", "high"],
        # Of class 9's seven rows stubs of 2 and 2 leave 3; another would not. 4 waits for 3, which goes to 5.
        [(0, 9, 0, 2), (1, 9, 2, 4), (3, 5, 0, 2)],
        {
            "turns": integers(
                "turn class target target_n stub",
                (1, 0, 9, 7, 2),
                (2, 1, 9, 7, 2),
                (3, 2, 9, 7, 1),
                (4, 3, 5, 2, 0),
                (5, 4, 3, 1, 0),
            ),
            "firsts": integers("class turn", (0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 4), (9, 1)),
        },
    ),
    Case(
        "kaca/links",
        {"classes": _KACA["classes"], "merges": _KACA["merges"]},
        ["class", "goes_to", "low", "high"],
        [(0, 0, 0, 1), (1, 0, 0, 2), (1, 2, 2, 3), (1, 1, 3, 9), (2, 2, 0, 1), (3, 4, 0, 1), (4, 4, 0, 2)],
        {
            "classes": integers("class n", (0, 1), (1, 9), (2, 1), (3, 1), (4, 2)),
            "merges": integers("class target low high", (0, 1, 0, 2), (2, 1, 2, 3), (4, 3, 0, 1)),
        },
    ),
    Case(
        "kaca/generalized",
        {"classes": _KACA["classes"], "links": _KACA["links"], "codes": ["a_0", "a_1"]},
        ["class", "a_0", "a_1"],
        [(0, -1, 0), (2, 5, 1)],
        {"links": integers("class goes_to low high", (0, 0, 0, 1), (1, 0, 0, 4), (2, 2, 0, 2))} | _CLASSES_OF_3,
    ),
    Case(
        "kaca/assignment",
        {"tuples": Relation("tuples"), "parts": _KACA["parts"], "values": ["a_0"]},
        ["a_0", "n", "class", "first", "last"],
        [(5, 2, 1, 1, 2), (5, 3, 4, 3, 5), (6, 1, 1, 1, 1)],
        {
            "tuples": integers("tuple a_0 a_1 n", (0, 5, 0, 5), (1, 6, 0, 1)),
            "parts": integers("tuple class n", (0, 4, 3), (0, 1, 2), (1, 1, 1)),
        },
    ),
]
