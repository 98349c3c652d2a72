"""Given and expected rows of `sql/core`."""

from decimal import Decimal
from math import log
from typing import Any

from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation
from sql_cases.case import (
    AT_LEAST_2,
    AT_MOST_75,
    COUNTED,
    FREQUENCY_SET,
    NO_ROWS,
    PEOPLE,
    UNKNOWN_OF_3,
    VALUES_OF_ZIP,
    Case,
    counted_rows,
    on_node,
    relation,
)
from sql_cases.population import OF_CORE
from sql_cases.privacy import COMPARED

HELD_VALUES = {
    "held": (
        {"row": "INTEGER", "value": "DECIMAL(9, 2)", "text": "VARCHAR"},
        [(0, Decimal("1.23"), "1.23"), (1, Decimal("1.23"), "1.234"), (2, Decimal(5), "5.00"), (3, None, None)],
    )
}
_AT_LEAST_4 = Predicate("SUM(n) >= 4")
_PEOPLE = {"columns": {"age": "Age", "zip": 'a "zip"; n'}, "source": Relation("odd people")}


_KEPT_TEXTS = (
    *("mails", "phones", "names", "ibans", "uuids", "persons", "numbers", "networks", "nationals", "long", "once"),
)
_LONG_TEXTS = ["she has seen nobody about it", "nobody has seen her about it"]


def _summary(safe: Predicate) -> dict[str, Any]:
    achieved, of_class = Predicate("MIN(of_class)"), Predicate("SUM(n)")
    return {"kinds": Relation("kinds"), "safe": safe, "achieved": achieved, "of_class": of_class}


# Two classes of two rows, of two values; three of one row.
_KINDS = relation("kinds", "_kind value n _rows _weight", (1, 7, 1, 1, 2), (1, 8, 1, 1, 2), (-1, 7, 1, 1, 3))
_AT_RISK, _CLASSES = ("node", "rows_at_risk"), ("node", "classes", "released_rows", "smallest_class", "squares")
_SUMMARY = ("rows", "classes", "smallest_class", "unsafe_classes", "unsafe_rows", "achieved")
_MEMBERS = {"members": Relation("members"), "positions": Relation("positions")}
# Class 0: 10, 10, 20, 20 (the lower median and the first of the ties is 10); class 1: NULL three times, 30 twice.
MEMBERS = {
    "members": (
        dict.fromkeys(["class", "position", "n"], "INTEGER"),
        [(0, 1, 2), (0, 2, 2), (1, 0, 3), (1, 3, 2)],
    ),
    "positions": (
        {"position": "INTEGER", "number": "DOUBLE PRECISION", "value": "INTEGER"},
        [(0, None, None), (1, 10.0, 10), (2, 20.0, 20), (3, 30.0, 30)],
    ),
}
# Class 0: one value that is no number of a range; class 1: two values, of which one has no number.
_NOT_NUMBERS = {
    "members": (MEMBERS["members"][0], [(0, 1, 2), (1, 0, 3), (1, 1, 2)]),
    "positions": (MEMBERS["positions"][0], [(0, None, None), (1, None, 7)]),
}
_KEPT_TYPES = {"class": "INTEGER", "low": "VARCHAR", "high": "VARCHAR"}
_KEPT = {
    "assignment": (
        dict.fromkeys(["class", "a_0", "n"], "INTEGER"),
        [(class_, position + 5, n) for class_, position, n in MEMBERS["members"][1]],
    ),
    "positions": (
        {**MEMBERS["positions"][0], "starred": "BOOLEAN", "code_0": "INTEGER"},
        [(*row, False, row[0] + 5) for row in MEMBERS["positions"][1]],
    ),
}
_SHOWN_TYPES = {"class": "INTEGER", "n": "INTEGER", "label_0": "VARCHAR", "leaves_0": "INTEGER"}
_SHOWN_TYPES |= {"label_1": "VARCHAR", "leaves_1": "INTEGER", "level_1": "INTEGER"}
LOCAL = {
    "shown": (
        _SHOWN_TYPES,
        [(0, 2, "a", 1, None, 1, 0), (1, 4, "b", 1, "*", 2, 1), (2, 3, "a", 1, None, 1, 0)],
    )
}

_CROSSED = relation(
    "crossed",
    "node k n zip_0_loss",
    *[(1, 0, 2, 4), (1, 0, 1, 2), (1, 8, 1, 1), (2, 0, 1, 3), (2, 1, 1, 2), (2, 8, 2, 5), (3, 0, 3, 4), (3, 0, 1, 1)],
)
CASES = [
    Case(
        "frequency_sets/people",
        {"relation": Relation("visits"), "unit": ["person"]},
        ["people"],
        [(2,)],
        relation("visits", "person", (7,), (7,), (None,), (8,)),
    ),
    *COMPARED,
    *OF_CORE,
    Case("node_tests/node_test", on_node(AT_LEAST_2, ["age_0"], 7), _AT_RISK, [(7, 1)], FREQUENCY_SET),
    Case("node_tests/node_test", on_node(AT_LEAST_2, ["age_0", "zip_0"], 8), _AT_RISK, [(8, 2)], FREQUENCY_SET),
    Case("node_tests/node_test", on_node(UNKNOWN_OF_3, ["age_0"], 9), _AT_RISK, [(9, 3)], FREQUENCY_SET),
    Case("node_tests/node_test", on_node(AT_LEAST_2, ["age_0"], 7), _AT_RISK, [(7, 0)], NO_ROWS),
    # Class 1 has one person in three rows, class 2 two people, and the codes of those in class 3 set the same bit.
    Case(
        "node_tests/node_test_of_people",
        {"frequency_set": Relation("people"), "levels": ["a"], "node": 4, "least": 2},
        _AT_RISK,
        [(4, 5)],
        relation(
            "people", "a _unit n", (1, 7, 1), (1, 7, 2), (2, 7, 1), (2, 8, 1), (3, 1, 1), (3, 64, 1), (4, None, 2)
        ),
    ),
    # Node 1 has classes of 3 and 1 rows; node 2 of 1, 1 and 2; node 3 one of all 4.
    *(
        Case(
            "node_tests/node_tests",
            {"frequency_set": Relation("crossed"), "levels": ["k"], "safe": safe},
            _AT_RISK,
            *rows,
        )
        for safe, *rows in [
            (AT_LEAST_2, [(1, 1), (2, 2)], _CROSSED),
            (UNKNOWN_OF_3, [(1, 3)], _CROSSED),
            (AT_LEAST_2, [], relation("crossed", "node k n")),
        ]
    ),
    Case(
        "node_tests/node_losses",
        {"frequency_set": Relation("crossed"), "levels": ["k"], "losses": ["zip_0_loss"], "safe": AT_LEAST_2},
        (*_AT_RISK, "zip_0_loss"),
        [(1, 1, 1), (2, 2, 5)],
        _CROSSED,
    ),
    Case("node_tests/node_classes", on_node(AT_LEAST_2, ["age_0"], 7), _CLASSES, [(7, 2, 7, 3, 25)], FREQUENCY_SET),
    Case("node_tests/node_classes", on_node(AT_LEAST_2, ["age_1"], 7), _CLASSES, [(7, 2, 8, 4, 32)], FREQUENCY_SET),
    Case("node_tests/node_classes", on_node(UNKNOWN_OF_3, ["age_0"], 7), _CLASSES, [(7, 2, 5, 1, 17)], FREQUENCY_SET),
    Case("node_tests/node_classes", on_node(AT_LEAST_2, ["age_0"], 7), _CLASSES, [(7, 0, 0, None, 0)], NO_ROWS),
    Case(
        "node_tests/node_loss",
        on_node(AT_LEAST_2, ["age_0", "zip_0"], 7, losses=["zip_0_loss", "age_1"]),
        (*_AT_RISK, "zip_0_loss", "age_1"),
        [(7, 2, 4, 0)],
        FREQUENCY_SET,
    ),
    Case(
        "node_tests/node_loss",
        on_node(UNKNOWN_OF_3, ["age_0"], 7, losses=["zip_0_loss"]),
        (*_AT_RISK, "zip_0_loss"),
        [(7, 3, 1)],
        FREQUENCY_SET,
    ),
    Case(
        "node_tests/node_loss",
        on_node(AT_LEAST_2, ["age_0"], 7, losses=["zip_0_loss"]),
        (*_AT_RISK, "zip_0_loss"),
        [(7, 0, 0)],
        NO_ROWS,
    ),
    Case("node_tests/released_classes", on_node(AT_LEAST_2, ["age_0"]), ["age_0"], [(0,), (2,)], FREQUENCY_SET),
    Case("node_tests/released_classes", on_node(UNKNOWN_OF_3, ["age_0"]), ["age_0"], [(1,), (2,)], FREQUENCY_SET),
    Case(
        "node_tests/level_losses",
        {"frequency_set": COUNTED, "losses": ["zip_0_loss", "age_1"]},
        ["rows", "zip_0_loss", "age_1"],
        [(8, 12, 1)],
        FREQUENCY_SET,
    ),
    Case(
        "node_tests/level_losses",
        {"frequency_set": COUNTED, "losses": ["zip_0_loss"]},
        ["rows", "zip_0_loss"],
        [(0, 0)],
        NO_ROWS,
    ),
    Case(  # n ln n of zip_0: 5 and 3 rows; of age_1: 4 and 4
        "node_tests/level_bits",
        {"frequency_set": COUNTED, "labels": ["zip_0", "age_1"]},
        ["zip_0", "age_1"],
        [(5 * log(5) + 3 * log(3), 8 * log(4))],
        FREQUENCY_SET,
    ),
    Case("node_tests/level_bits", {"frequency_set": COUNTED, "labels": ["zip_0"]}, ["zip_0"], [(0,)], NO_ROWS),
    Case(  # two tuples of 2 and 1 rows are alone in their classes: with zip_0 = 1, and age_0 0 and 1
        "node_tests/node_bits",
        {"frequency_set": COUNTED, "labels": ["age_0", "zip_0"], "safe": _AT_LEAST_4},
        ["rows_at_risk", "age_0", "zip_0"],
        [(4, 3 * log(3), 3 * log(3))],
        FREQUENCY_SET,
    ),
    Case(
        "node_tests/node_bits",
        {"frequency_set": COUNTED, "labels": ["age_0"], "safe": AT_LEAST_2},
        ["rows_at_risk", "age_0"],
        [(0, 0)],
        NO_ROWS,
    ),
    Case(
        "node_tests/level_generalized",
        {"frequency_set": COUNTED, "losses": ["zip_0_loss", "age_1"]},
        ["rows", "zip_0_loss", "age_1"],
        [(8, 6, 4)],
        FREQUENCY_SET,
    ),
    Case(
        "node_tests/level_generalized",
        {"frequency_set": COUNTED, "losses": ["zip_0_loss"]},
        ["rows", "zip_0_loss"],
        [(0, 0)],
        NO_ROWS,
    ),
    Case(
        "node_tests/node_generalized",
        on_node(_AT_LEAST_4, ["age_0", "zip_0"], 7, losses=["zip_0_loss"]),
        (*_AT_RISK, "zip_0_loss"),
        [(7, 4, 2)],
        FREQUENCY_SET,
    ),
    Case(
        "node_tests/node_generalized",
        on_node(AT_LEAST_2, ["age_0"], 7, losses=["zip_0_loss"]),
        (*_AT_RISK, "zip_0_loss"),
        [(7, 0, 0)],
        NO_ROWS,
    ),
    Case(  # age_0 = 1 has one row, too few; of the others 5 and 2 rows have a weight
        "node_tests/released_sum",
        {
            **on_node(AT_LEAST_2, ["age_0"]),
            "weights": Relation("weights"),
            "code": {"code": "zip_0"},
            "sensitive": [],
        },
        ["total"],
        [(5 * 0.5 + 2 * -2,)],
        {**FREQUENCY_SET, "weights": ({"weighed_code": "INTEGER", "weight": "FLOAT8"}, [(0, 0.5), (1, -2.0)])},
    ),
    Case(
        "frequency_sets/rollup",
        {"frequency_set": COUNTED, "keys": ["age_0"], "levels": ["age_1"], "sums": ["zip_0_loss", "n"]},
        ["age_0", "age_1", "zip_0_loss", "n"],
        [(0, 0, 1, 3), (1, 0, 3, 1), (2, 1, 8, 4)],
        FREQUENCY_SET,
    ),
    Case("frequency_sets/total_rows", {"counted": COUNTED}, ["rows"], [(8,)], FREQUENCY_SET),
    Case("frequency_sets/total_rows", {"counted": COUNTED}, ["rows"], [(0,)], NO_ROWS),
    Case("frequency_sets/total_and_most_rows", {"counted": COUNTED}, ["rows", "most"], [(8, 4)], FREQUENCY_SET),
    Case("frequency_sets/total_and_most_rows", {"counted": COUNTED}, ["rows", "most"], [(0, 0)], NO_ROWS),
    Case("frequency_sets/row_count", {"relation": COUNTED}, ["rows"], [(4,)], FREQUENCY_SET),
    Case(
        "mappings/column_values",
        {"column": ["zip_0"], "tuples": COUNTED},
        ["value", "n"],
        [(0, 5), (1, 3)],
        FREQUENCY_SET,
    ),
    Case(
        "mappings/values_in_order",
        {"column": ["pay"], "tuples": Relation("tuples")},
        ["value", "code_0"],
        [(-5, 0), (3, 1), (20, 2)],
        {"tuples": ({"pay": "INTEGER", "n": "INTEGER"}, [(3, 1), (None, 2), (-5, 1), (20, 4), (3, 7)])},
    ),
    Case(
        "mappings/level_labels",
        {"label": ["label_1"], "labelled": Relation("labelled")},
        ["label", "code", "leaves"],
        [("[0, 10)", 1, 1), ("< 0", 0, 2)],
        {"labelled": ({"code_0": "INTEGER", "label_1": "VARCHAR(9)"}, [(2, "[0, 10)"), (1, "< 0"), (0, "< 0")])},
    ),
    Case(
        "mappings/first_positions",
        {"code": ["code_1"], "position": ["code_0"], "mapping": Relation("mapping")},
        ["code", "first"],
        [(0, 0), (1, 2)],
        {"mapping": ({"code_0": "INTEGER", "code_1": "INTEGER"}, [(2, 1), (1, 0), (0, 0), (3, 1)])},
    ),
    Case(
        "mappings/every_so_many",
        {"columns": ["value", "label_1"], "mapping": Relation("mapping"), "step": 2, "last": 3},
        ["value", "label_1"],
        [(1, "a"), (8, "b"), (9, "c")],
        {
            "mapping": (
                {"value": "INTEGER", "code_0": "INTEGER", "label_1": "VARCHAR(9)"},
                [(1, 0, "a"), (4, 1, "b"), (8, 2, "b"), (9, 3, "c")],
            )
        },
    ),
    Case(
        "mappings/column_texts",
        {"column": ["zip_0"], "tuples": COUNTED},
        ["value", "n"],
        [("0", 5), ("1", 3)],
        FREQUENCY_SET,
    ),
    Case(
        "mappings/in_one_writing",
        {"relation": Relation("sent"), "writings": Relation("writings"), "column": ["pay"], "columns": ["n"]},
        ["pay", "n"],
        [("1.5", 1), ("1.5", 2), ("NaN", 3), (None, 4)],
        {
            "sent": ({"n": "INTEGER", "pay": "VARCHAR(9)"}, [(1, "1.5"), (2, "1.50"), (3, "NaN"), (4, None)]),
            "writings": ({"_text": "VARCHAR(9)", "_first": "VARCHAR(9)"}, [("1.5", "1.5"), ("1.50", "1.5")]),
        },
    ),
    Case(
        "mappings/equal_values",
        {"values": Relation("held")},
        ["row", "first", "value"],
        [(0, 0, Decimal("1.23")), (1, 0, Decimal("1.23")), (2, 2, Decimal("5.00")), (3, 3, None)],
        HELD_VALUES,
    ),
    Case(
        "mappings/printed_values",
        {"values": Relation("equal")},
        ["row", "first", "text"],
        [(0, 0, "1.23"), (1, 0, "1.23"), (2, 2, None)],
        {
            "equal": (
                {"row": "INTEGER", "first": "INTEGER", "value": "DECIMAL(9, 2)"},
                [(0, 0, Decimal("1.23")), (1, 0, Decimal("1.23")), (2, 2, None)],
            )
        },
    ),
    Case(
        "mappings/matching_values",
        {"values": Relation("held"), "column": ["price"], "tuples": Relation("counted")},
        ["row", "text"],
        [(0, "1.23"), (1, "1.23")],
        {
            **HELD_VALUES,
            "counted": ({"price": "DECIMAL(9, 2)", "n": "INTEGER"}, [(Decimal("1.23"), 4), (Decimal(9), 1), (None, 1)]),
        },
    ),
    Case(
        "mappings/settled_values",
        {"values": Relation("held")},
        ["held", "different", "same"],
        [(3, 2, 2)],
        HELD_VALUES,
    ),
    Case("mappings/doubled_values", {"mapping": Relation("held")}, ["twice"], [(1,)], HELD_VALUES),
    Case(
        "files/apart_texts",
        {"source": Relation("people"), "column": ["name"]},
        ["different"],
        [(6,)],  # the rows do not matter
        {"people": ({"name": "VARCHAR"}, [("a",), ("b",)])},
    ),
    Case(
        "mappings/view_labels",
        {"mapping": Relation("map"), "shown": ["label"]},
        ["code", "shown"],
        [(0, "ab"), (1, "d"), (2, "d"), (-1, "e"), (None, "f")],
        {
            "map": (
                {"value": "VARCHAR", "code": "INTEGER", "label": "VARCHAR"},
                [("a", 0, "ab"), ("b", 0, "b alone"), ("d", 1, "d"), ("d", 2, "d"), ("e", -1, "e"), ("f", None, "f")],
            )
        },
    ),
    Case(
        "local_release/unrepeated",
        {"kept": Relation("assigned"), "keys": ["age_0", "zip_0"], "columns": ["class"]},
        ["age_0", "zip_0", "class"],
        [(0, 0, 7), (0, 1, 7)],
        {
            "assigned": (
                {"age_0": "INTEGER", "zip_0": "INTEGER", "class": "INTEGER"},
                [(0, 0, 7), (0, 1, 7), (1, 1, 7), (1, 1, 8)],
            )
        },
    ),
    Case(
        "local_release/apart",
        {"assignment": Relation("assigned"), "keys": ["age_0"]},
        ["age_0", "first", "last", "class"],
        [(0, 1, 3, 7), (0, 4, 6, 8), (1, 1, 2, 7)],
        {
            "assigned": (
                {"age_0": "INTEGER", "first": "INTEGER", "last": "INTEGER", "class": "INTEGER"},
                [(0, 1, 3, 7), (0, 4, 6, 8), (0, 6, 9, 9), (1, 1, 2, 7), (1, 1, 2, 7), (1, 2, 2, 8)],
            )
        },
    ),
    Case(
        "frequency_sets/tuples",
        _PEOPLE,
        ["age", "zip", "n"],
        [(40, "x", 2), (None, "x", 2), (40, None, 1), (40, "", 1), (7, "x", 1)],
        PEOPLE,
    ),
    Case(
        "frequency_sets/counted_tuples",
        {"columns": ["age"], "rows": ["how many"], "source": Relation("counted")},
        ["age", "n"],
        [(40, 5), (None, 1)],
        {"counted": ({"age": "INTEGER", "how many": "INTEGER"}, [(40, 2), (40, 3), (None, 1)])},
    ),
    Case(
        "release/miscounted",
        {"rows": ["how many"], "source": Relation("counted")},
        ["tuples"],
        [(2,)],
        {"counted": ({"how many": "INTEGER"}, [(2,), (0,), (None,)])},
    ),
    Case(
        "release/class_sizes",
        {"release": Relation("odd people"), "quasi_identifiers": ["Age", 'a "zip"; n']},
        ["size", "classes"],
        [(1, 3), (2, 2)],
        PEOPLE,
    ),
    Case("release/class_summary", _summary(AT_LEAST_2), _SUMMARY, [(7, 5, 1, 3, 3, 1)], _KINDS),
    Case("release/class_summary", _summary(Predicate("SUM(n) >= 1")), _SUMMARY, [(7, 5, 1, 0, 0, 1)], _KINDS),
    Case("release/class_summary", _summary(Predicate("NULLIF(SUM(n), 2) > 0")), _SUMMARY, [(7, 5, 1, 2, 4, 1)], _KINDS),
    Case(
        "release/class_summary",
        _summary(AT_LEAST_2),
        _SUMMARY,
        [(0, 0, None, 0, 0, None)],
        {name: (types, []) for name, (types, _) in _KINDS.items()},
    ),
    Case(
        "mappings/view_mapping",
        {"mapping": Relation("map"), "columns": {"code": "code_1", "label": "label_1"}},
        ["value", "code", "label"],
        [("a", 0, "ab"), ("b", 0, "ab"), ("c", 1, None)],
        {
            "map": (
                {"value": "VARCHAR", "code_0": "INTEGER", "code_1": "INTEGER", "label_1": "VARCHAR"},
                [("a", 0, 0, "ab"), ("b", 1, 0, "ab"), ("c", 2, 1, None), (None, 3, 1, None)],
            )
        },
    ),
    Case(
        "kept_columns/kept_figures",
        {"number": 3, "column": ["Age"], "source": Relation("odd people")},
        ["number", "held", "different"],
        [(3, 4, 2)],
        {"odd people": ({"Age": "INTEGER"}, [(40,), (40,), (None,), (41,), (40,)])},
    ),
    Case(
        "kept_columns/kept_figures",
        {"number": 3, "column": ["Age"], "source": Relation("odd people")},
        ["number", "held", "different"],
        [(3, 0, 0)],
        {"odd people": ({"Age": "INTEGER"}, [(None,)])},
    ),
    Case(
        "kept_columns/kept_sample",
        {
            "source": Relation("odd people"),
            "columns": {"age": "Age", "code": "Code"},
            "natives": ["age"],
            "texts": ["code"],
            "most": 5,
            "stride": 2,
        },
        ["row_id", "age", "code"],
        [(2, 40, "7"), (4, 40, "7")],
        {"odd people": ({"Age": "INTEGER", "Code": "INTEGER"}, [(40, 7)] * 6)},
    ),
    # What is inside a text, what the whole text is, and what only looks a little like it.
    *(
        Case(
            "kept_columns/kept_texts",
            {"number": 4, "column": ["word"], "source": Relation("odd people"), "characters": 20, "words": 4},
            ["number", "held", "different", *_KEPT_TEXTS],
            [(4, held, different, *(counts.get(name, 0) for name in _KEPT_TEXTS))],
            {"odd people": ({"word": "VARCHAR"}, [(text,) for text in texts])},
        )
        for held, different, counts, texts in (
            (3, 2, {"mails": 3}, ["ann@x.org", "ann@x.org", "Mail: zoë@x.co.uk, please", None]),
            (4, 4, {"phones": 4, "numbers": 1}, ["+31 6 12345678", "(555) 123-4567", "078 977 26 10", "030/123456"]),
            (2, 2, {"numbers": 2, "phones": 1}, ["0612345678", "0612 345678"]),
            (3, 3, {"names": 3}, ["Frau Öztürk", "Dr. med. Vögeli", "ask Mr. Smith"]),
            (2, 2, {"ibans": 2, "long": 1, "once": 1}, ["CH93 0076 2011 6238 5295 7", "to NL91ABNA4171643009 only"]),
            (3, 3, {"networks": 3}, ["10.0.0.1", "fe80::1ff:fe23", "00:1a:2b:3c:4d:5e"]),
            (1, 1, {"uuids": 1}, ["123e4567-e89b-12d3-a456-426614174000"]),
            (2, 2, {"persons": 2}, ["123-45-6789", "AHV 756.1234.5678.97"]),
            (1, 1, {"nationals": 1}, ["AB 12 34 56 C"]),
            (6, 4, {"long": 6, "once": 2}, [*["a label of some length", "and another one of them"] * 2, *_LONG_TEXTS]),
            (6, 6, {}, ["2025-01-02", "12:30:00", "12 Main St", "Frau", "a@b", "12.5.2025 078"]),
            (0, 0, {}, [None]),
        )
    ),
    Case(
        "kept_columns/kept_cells",
        {"number": 7, "column": ["age"], "sampled": Relation("sampled")},
        ["number", "row_id", "code", "place"],
        [(7, 1, 2, 2.5), (7, 2, 1, 1.5), (7, 3, 3, 4.0), (7, 4, 3, 4.0), (7, 5, 4, None)],
        {
            "sampled": (
                {"row_id": "INTEGER", "age": "INTEGER"},
                [(1, 20), (2, 10), (3, 30), (4, 30), (5, None)],
            )
        },
    ),
    # Column 0 is kept, 1 the quasi-identifier. The value 5 is alone; 1 tells 1 in two rows of three, 2 in two of two.
    Case(
        "kept_columns/kept_pairs",
        {"cells": Relation("cells"), "kept": 1, "quasi": 1},
        ["kept", "rows", "guessed", "most"],
        [(0, 5, 4, 3)],
        {
            "cells": (
                {"number": "INTEGER", "row_id": "INTEGER", "code": "INTEGER"},
                [
                    *((0, row, code) for row, code in enumerate([1, 1, 1, 2, 2, 5])),
                    *((1, row, code) for row, code in enumerate([1, 1, 2, 2, 2, 2])),
                    *((2, row, 0) for row in range(6)),
                ],
            )
        },
    ),
    Case(
        "kept_columns/kept_ranks",
        {"cells": Relation("cells"), "kept": 1},
        ["kept", "quasi", "rows", "correlation"],
        [(0, 1, 3, -1.0)],
        {
            "cells": (
                {"number": "INTEGER", "row_id": "INTEGER", "place": "DOUBLE PRECISION"},
                [(0, 1, 1.5), (0, 2, 2.5), (0, 3, 3.5), (0, 4, None), (1, 1, 9.5), (1, 2, 8.5), (1, 3, 7.5), (1, 4, 1)],
            )
        },
    ),
    *(
        Case(
            "node_tests/like_values",
            {"mapping": Relation("mapping"), "label": ["label_1"], "float": as_numbers},
            ["value", "label", "code_0"],
            [("7", "7", 0), (None, None, 3), *([("8.50", "8.5", 1)] if as_numbers else [])],
            relation(
                "mapping",
                "value label_1 code_0",
                ("7", "7", 0),
                ("8.50", "8.5", 1),
                ("9", "*", 2),
                (None, None, 3),
                value="VARCHAR",
                label_1="VARCHAR",
            ),
        )
        for as_numbers in (False, True)
    ),
    Case(
        "node_tests/same_labels",
        {"mapping": Relation("mapping"), "lower": ["label_1"], "label": ["label_2"]},
        ["code_0"],
        [(0,), (1,)],  # the label of 2 and 3 is for more values on the higher level
        relation(
            "mapping",
            "code_0 label_1 label_2",
            (0, "a", "a"),
            (1, "a", "a"),
            (2, "b", "b"),
            (3, "c", "b"),
            (4, None, None),
            label_1="VARCHAR",
            label_2="VARCHAR",
        ),
    ),
    Case(
        "node_tests/kept_rows",
        {**on_node(AT_LEAST_2, ["age_0"], sensitive=[]), "kept": Relation("kept"), "code": {"code": "zip_0"}},
        ["rows"],
        [(2,)],  # of age 0, the two rows of zip 1; age 1 is not released
        FREQUENCY_SET | {"kept": ({"kept_code": "INTEGER"}, [(1,)])},
    ),
    Case(
        "node_tests/class_sums",
        on_node(AT_LEAST_2, ["age_0"], losses=["zip_0_loss"]),
        ["age_0", "n", "zip_0_loss", "_safe"],
        [(0, 3, 1, True), (1, 1, 3, False), (2, 4, 8, True)],
        FREQUENCY_SET,
    ),
    Case(
        "node_tests/released_leaves",
        on_node(AT_LEAST_2, ["age_0"], losses=["zip_0_loss"]),
        ["n", "class", "zip_0_loss"],
        [(3, 1, 1), (4, 2, 8)],
        FREQUENCY_SET,
    ),
    Case(
        "node_tests/node_assignment",
        on_node(AT_LEAST_2, ["age_0"], keys=["age_0", "zip_0"], sensitive=[]),
        ["age_0", "zip_0", "n", "class"],
        [(0, 0, 1, 1), (0, 1, 2, 1), (2, 0, 4, 3)],
        FREQUENCY_SET,
    ),
    Case(
        "release/released_values",
        {"frequency_set": COUNTED, "assignment": Relation("assigned"), "key": ["age_0"]},
        ["code", "released"],
        [(0, 1), (1, 0), (2, 0)],  # age 2 has no class
        FREQUENCY_SET
        | {
            "assigned": ({"age_0": "INTEGER", "n": "INTEGER", "class": "INTEGER"}, [(0, 3, 1), (0, 1, 2), (2, 4, None)])
        },
    ),
    # The classes of age 0 and 1 are at risk, three rows of one zip each; of two zips they are safe together.
    *(
        Case(
            "node_tests/masked_class",
            on_node(AT_MOST_75, ["age_0"], sensitive=["zip_0"], size=Predicate("SUM(n)")),
            ["safe", "size"],
            [(zip_of_1 == 0, 6)],
            counted_rows((0, 0, 1, 1, 3), (1, 0, zip_of_1, 0, 3), (2, 1, 0, 8, 2), (2, 1, 1, 8, 2)),
        )
        for zip_of_1 in (0, 1)
    ),
    Case(
        "release/digest",
        {"contents": Relation("contents")},
        ["rows", "sum_1", "sum_2", "sum_3", "sum_4"],
        [(2, 3_295_977, 2_553_491, 3_297_224, 2_483_174)],  # of MD5, 0cc175b9c0f1… and 92eb5ffee6ae…
        {"contents": ({"content": "VARCHAR"}, [("a",), ("b",)])},
    ),
    Case(
        "frequency_sets/distinct_count",
        {"columns": ["age_0"], "relation": COUNTED},
        ["rows"],
        [(3,)],
        FREQUENCY_SET,
    ),
    # Of age 0 three rows of zip 1 and one of 0, of age 1 one of each, of age 2 four of one.
    *(
        Case(query, on_node(AT_MOST_75, ["age_0"], node, **more), columns, expected, VALUES_OF_ZIP)
        for query, node, more, columns, expected in (
            ("node_tests/node_test", 7, {}, ["node", "rows_at_risk"], [(7, 4)]),
            ("node_tests/node_classes", 7, {}, _CLASSES, [(7, 2, 6, 2, 20)]),
            (
                "node_tests/node_loss",
                7,
                {"losses": ["zip_0_loss"]},
                ["node", "rows_at_risk", "zip_0_loss"],
                [(7, 4, 8)],
            ),
            ("node_tests/released_classes", None, {}, ["age_0"], [(0,), (1,)]),
        )
    ),
    Case("local_release/class_mean", _MEMBERS, ["class", "shown"], [(0, 15.0), (1, None)], MEMBERS),
    Case("local_release/class_mean", _MEMBERS, ["class", "shown"], [(0, 7.0), (1, None)], _NOT_NUMBERS),
    # Of class 0 two rows of 10 show 10, of class 1 three rows of NULL show NULL; a star is never what was there.
    *(
        Case(
            "local_release/local_kept",
            {
                "assignment": Relation("assignment"),
                "value": ["a_0"],
                "positions": Relation("positions"),
                "classes": Relation("shown"),
                "ends": {"lower": "low", "upper": "high"},
            },
            ["n"],
            [(kept,)],
            _KEPT | {"shown": (_KEPT_TYPES, shown)},
        )
        for shown, kept in [
            ([(0, "10", "10"), (1, None, None)], 5),
            ([(0, "10.0", "10.0"), (1, "*", "*")], 2),
            ([(0, "10", "20"), (1, "*", "*")], 0),
        ]
    ),
    Case("local_release/class_median", _MEMBERS, ["class", "shown"], [(0, 10), (1, None)], MEMBERS),
    Case("local_release/class_mode", _MEMBERS, ["class", "shown"], [(0, 10), (1, None)], MEMBERS),
    Case(
        "local_release/local_figures",
        {"classes": Relation("shown"), "labels": ["label_0", "label_1"], "leaves": ["leaves_0", "leaves_1"]},
        ["classes", "released_rows", "smallest_class", "squares", "leaves_0", "leaves_1"],
        [(2, 9, 4, 41, 9, 13)],  # classes 0 and 2 show the same, NULL included
        LOCAL,
    ),
    Case(
        "local_release/local_figures",
        {"classes": Relation("shown"), "labels": ["label_0"], "leaves": ["leaves_0"]},
        ["classes", "released_rows", "smallest_class", "squares", "leaves_0"],
        [(0, 0, None, 0, 0)],
        {name: (types, []) for name, (types, _) in LOCAL.items()},
    ),
    Case(
        "local_release/local_levels",
        {"classes": Relation("shown"), "level": ["level_1"]},
        ["level", "n"],
        [(0, 5), (1, 4)],
        LOCAL,
    ),
    Case(
        "local_release/levels_together",
        {"attributes": 2, "classes": Relation("shown"), "levels": ["level_0", "level_1"]},
        ["attribute", "level", "n"],
        [(0, 0, 5), (1, 0, 2), (1, 2, 3)],
        {"shown": (dict.fromkeys(["class", "n", "level_0", "level_1"], "BIGINT"), [(7, 2, 0, 0), (8, 3, 0, 2)])},
    ),
    Case("frequency_sets/copy", _PEOPLE, ["age", "zip"], PEOPLE["odd people"][1], PEOPLE),
    Case(
        "files/read_csv",
        {"path": "given*.csv"},
        ["zip", "age"],
        [("02138", 1), ("NL1", 2), (None, None)],  # an empty field is NULL, quoted or not
        files={"given1.csv": "zip,age\n02138,1\n", "given2.csv": 'age,zip\n2,NL1\n,""\n'},
    ),
    Case(
        "files/read_csv",
        {"path": "given.csv"},
        ["zip", "age"],
        [("1", 2), ("#3", 4), ("5", 6)],
        files={"given.csv": "zip,age\n1,2\n#3,4\n5,6\n"},
    ),
    Case(
        "files/read_parquet",
        {"path": "given*.parquet"},
        ["zip", "age"],
        [("02138", None), (None, 2)],
        files={"given1.parquet": {"zip": ["02138"]}, "given2.parquet": {"age": [2], "zip": [None]}},
    ),
    Case(
        "files/read_written_csv",
        {"separator": ",", "path": "given.csv"},
        ["zip", "age"],
        [("02138", "1"), ("", None), ('a"b,c', "1.50")],
        files={"given.csv": 'zip,age\n02138,1\n"",\n"a""b,c",1.50\n'},
    ),
    Case(
        "files/read_written_csv",
        {"separator": ",", "path": "given.csv"},
        ["zip", "age"],
        [("1", "2"), ("#3", "4"), ("5", "6")],
        files={"given.csv": "zip,age\n1,2\n#3,4\n5,6\n"},
    ),
    Case(
        "files/read_written_csv",
        {"separator": "\t", "path": "given.tsv"},
        ["zip", "age"],
        [("02,138", "1"), ("", None)],
        files={"given.tsv": 'zip\tage\n02,138\t1\n""\t\n'},
    ),
    Case(
        "mappings/mapping_codes",
        {"mapping": Relation("mapping"), "codes": ["code_0", "code_1"]},
        ("value", "code_0", "code_1"),
        [("7", 0, 1), (None, 1, 1)],
        {"mapping": (dict.fromkeys(["value", "code_0", "code_1"], "INTEGER"), [(7, 0, 1), (None, 1, 1)])},
    ),
]
