"""Given and expected rows of `sql/population`, and of the queries of `sql/core` with a population."""

from typing import Any

from kanon_sql.privacy import POPULATION_UNIT, Predicate, PrivacyModel, all_of, delta_presence, k_anonymity, k_map
from kanon_sql.queries import Relation
from sql_cases.case import COUNTED, Case, on_node, relation

# Class 0 has 3 rows of 7 in the population, class 1 has 1 of 2, class 2 none of 4.
_COUNTED = relation(
    "counted",
    "age_0 zip_0 zip_0_loss n population",
    *[(0, 0, 2, 2, 5), (0, 1, 1, 1, 2), (1, 0, 1, 1, 2), (2, 0, 0, 0, 4)],
)
_AT_RISK = ["node", "rows_at_risk"]


def _asked(*models: PrivacyModel) -> Predicate:
    return all_of(*models).with_population(unit=False).safe


def _test(models: list[PrivacyModel], at_risk: int, query: str = "node_tests/node_test") -> Case:
    return Case(query, on_node(_asked(*models), ["age_0"], 0), _AT_RISK, [(0, at_risk)], _COUNTED)


_MAP_3, _MAP_2 = _asked(k_map(3, "people")), _asked(k_map(2, "people"))
_PEOPLE = "age_0 _population_unit n"
_SHOWN = {
    **relation("released", "Age Zip", *[(1, 1)] * 3, (1, 2), (2, 2)),
    **relation("people", "age zip population", (1, 1, 5), (1, 2, 1), (2, 2, 4), (3, 3, 2)),
}
_SIZES = ["size", "people", "classes", "rows"]
_SUMMARY = ["rows", "classes", "smallest_class", "unsafe_classes", "unsafe_rows", "achieved"]


def _summary(model: PrivacyModel, every_class: bool, achieved: str, of_class: str) -> dict[str, Any]:
    plain = {"age": "Age", "zip": "Zip"}
    return {
        "release": Relation("released"),
        "quasi_identifiers": plain,
        "names": list(plain),
        "rows": Predicate("SUM(n)"),
        "population": Relation("people"),
        "every_class": every_class,
        "safe": all_of(model).safe,
        "achieved": Predicate(achieved),
        "of_class": Predicate(of_class),
    }


_SIZED = {"release": Relation("released"), "population": Relation("people"), "size": Predicate("SUM(n)")}
CASES = [
    _test([delta_presence(0.1, 0.5, "people")], 1, "population/node_test"),  # class 2, of nobody
    _test([delta_presence(0.1, 0.45, "people")], 2, "population/node_test"),
    Case(
        "population/unmatched",
        {"frequency_set": COUNTED, "keys": ["age_0", "zip_0"], "more": Predicate("SUM(n) > SUM(population)")},
        ["tuples"],
        [(0,)],
        _COUNTED,
    ),
    Case(
        "population/unmatched",
        {"frequency_set": COUNTED, "keys": ["age_0", "zip_0"], "more": Predicate("3 * SUM(n) > SUM(population)")},
        ["tuples"],
        [(3,)],
        _COUNTED,
    ),
    # Two rows of one tuple, by sensitive values: the population's rows stand by one of them.
    Case(
        "population/sampled",
        {"frequency_set": COUNTED, "keys": ["age_0"], "columns": ["age_0", "ill"]},
        ["age_0", "ill", "n", "population"],
        [(0, 1, 3, 9), (0, 2, 1, 0), (1, 1, 1, 1)],
        relation(
            "counted",
            "age_0 ill n population",
            *[(0, 1, 3, 0), (0, 2, 1, 0), (0, None, 0, 9), (1, 1, 1, 0), (1, None, 0, 1), (2, None, 0, 4)],
        ),
    ),
    Case(
        "population/people_once",
        {
            "tuples": Relation("tuples"),
            "columns": ["age_0", POPULATION_UNIT],
            "unit": [POPULATION_UNIT],
            "keys": ["age_0"],
        },
        ["age_0", POPULATION_UNIT, "n"],
        [(0, 1, 1), (1, 1, 0), (1, 2, 1)],
        relation("tuples", _PEOPLE, (0, 1, 5), (1, 1, 2), (1, 2, 1)),
    ),
    Case(
        "population/shown",
        {
            "assigned": Relation("assigned"),
            "classes": Relation("classes"),
            "keys": ["age_0"],
            "labels": ["label_0"],
            "shown": {"Age": "label_0"},
        },
        ["Age", "kanon_population"],
        [(7, 5), (8, 4)],  # tuple 0 is in two classes that show 7, and in one that shows 8
        {
            **relation("assigned", "class age_0 population", (1, 0, 3), (2, 0, 3), (2, 1, 2), (3, 0, 3), (3, 2, 1)),
            **relation("classes", "class label_0", (1, 7), (2, 7), (3, 8)),
        },
    ),
    Case(
        "population/counts",
        {"written": Relation("written"), "columns": ["Zip"]},
        ["Zip", "kanon_population"],
        [(7, 5), (1, 2)],
        relation("written", "Zip kanon_population", (7, "5"), (1, "2")),
    ),
    Case("population/totals", {"frequency_set": COUNTED}, ["rows", "population"], [(4, 13)], _COUNTED),
    Case(
        "population/labels",
        {"release": Relation("released"), "column": ["Zip"]},
        ["label"],
        [("1",), ("2",)],
        _SHOWN,
    ),
    # 3 rows of 5, 1 of 1, 1 of 4; nobody of the last 2.
    Case(
        "population/release_class_sizes",
        {**_SIZED, "quasi_identifiers": {"age": "Age", "zip": "Zip"}, "names": ["age", "zip"]},
        [*_SIZES, "smallest"],
        [(1, 1, 1, 1, 1), (1, 4, 1, 1, 1), (3, 5, 1, 3, 3)],
        _SHOWN,
    ),
    Case(
        "population/release_class_sizes",
        {
            **_SIZED,
            "size": Predicate("SUM(n)", unit="_unit"),
            "quasi_identifiers": {"age": "Age", "_unit": "Zip"},
            "names": ["age"],
        },
        [*_SIZES, "smallest"],
        [(1, 4, 1, 1, 1), (2, 6, 1, 4, 4)],  # of age 1, four rows of two people, by their zip
        _SHOWN,
    ),
    Case(
        "population/class_summary",
        _summary(k_map(4, "people"), False, "MIN(of_class)", "SUM(population)"),
        _SUMMARY,
        [(5, 3, 1, 1, 1, 1)],
        _SHOWN,
    ),
    Case(
        "population/class_summary",
        _summary(delta_presence(0.25, 0.6, "people"), True, "MIN(of_class)", "SUM(population)"),
        _SUMMARY,
        [(5, 3, 1, 2, 1, 1)],
        _SHOWN,
    ),
]
OF_PRIVACY = [
    # Class 0 has 3 rows of 7 in the population, class 1 has 1 of 2; class 2, of nobody, is none.
    Case(
        "node_tests/node_class_sizes",
        on_node(_MAP_2, ["age_0"], 7, size=Predicate("SUM(n)"), people=Predicate("SUM(population)")),
        ["node", *_SIZES],
        [(7, 1, 2, 1, 1), (7, 3, 7, 1, 3)],
        _COUNTED,
    ),
    Case(
        "node_tests/node_class_sizes",
        on_node(_MAP_2, ["age_0", "zip_0"], 7, size=Predicate("SUM(n)"), people=Predicate("SUM(population)")),
        ["node", *_SIZES],
        [(7, 1, 2, 2, 2), (7, 2, 5, 1, 2)],
        _COUNTED,
    ),
    # what the queries of `core` make of such a frequency set
]
OF_CORE = [
    _test([k_map(7, "people")], 1),
    _test([k_map(8, "people")], 4),
    _test([k_map(2, "people")], 0),
    _test([delta_presence(0, 0.45, "people")], 1),  # 3 of 7 are .43
    _test([delta_presence(0, 0.5, "people")], 0),
    _test([k_map(2, "people"), k_anonymity(2)], 1),
    # What a class of nobody is, no query of released classes counts.
    Case(
        "node_tests/node_classes",
        on_node(_MAP_2, ["age_0"], 5),
        ["node", "classes", "released_rows", "smallest_class", "squares"],
        [(5, 2, 4, 1, 10)],
        _COUNTED,
    ),
    Case("node_tests/released_classes", on_node(_MAP_3, ["age_0"]), ["age_0"], [(0,)], _COUNTED),
    Case(
        "node_tests/node_assignment",
        on_node(_MAP_2, ["zip_0"], keys=["age_0", "zip_0"], sensitive=["population"]),
        ["age_0", "zip_0", "n", "class"],
        [(0, 0, 2, 1), (0, 1, 1, 2), (1, 0, 1, 1)],
        _COUNTED,
    ),
    Case(
        "frequency_sets/rollup",
        {"frequency_set": COUNTED, "keys": ["zip_0"], "levels": [], "sums": ["n", "population"]},
        ["zip_0", "n", "population"],
        [(0, 3, 11), (1, 1, 2)],
        _COUNTED,
    ),
    Case(
        "release/as_texts",
        {"relation": Relation("people"), "texts": {"a": "age"}, "columns": ["zip"]},
        ["a", "zip"],
        [("1", 1), ("1", 2), ("2", 2), ("3", 3)],
        _SHOWN,
    ),
]
