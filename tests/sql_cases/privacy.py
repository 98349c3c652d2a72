"""Given and expected rows of `sql/privacy`, and of a node's test by models that compare with the whole table."""

from dataclasses import replace
from typing import Any

from kanon_sql.privacy import (
    Predicate,
    PrivacyModel,
    PrivacyModels,
    Reference,
    all_of,
    alpha,
    delta_disclosure,
    k_anonymity,
    l_diversity,
    t_closeness,
)
from kanon_sql.queries import Relation, Same, over_classes
from sql_cases.case import COUNTED, Case, Relations, on_node, relation
from sql_cases.population import OF_PRIVACY

# 6 rows of illness 1, 3 of 2, 1 of 3, among four people.
_COUNTED = relation(
    "counted", "age_0 illness person n", (0, 1, 1, 4), (0, 2, 2, 1), (1, 1, 1, 2), (1, 2, 3, 2), (1, 3, 4, 1)
)
_HOLES = {"counted": Relation("counted"), "value": ["illness"], "raw": ["illness"]}
_FIGURES = ["value", "raw", "overall_c", "overall_c_to", "overall_size", "overall_values", "place"]
_OF_ROWS = [(1, 1, 6, 6, 10, 3, 1), (2, 2, 3, 9, 10, 3, 2), (3, 3, 1, 10, 10, 3, 3)]
_REFERENCE = relation("reference", " ".join(_FIGURES), *_OF_ROWS)

# Class 0 has 4 rows of value 1 and 1 of 2; class 1 has 2, 2 and 1. In the whole table 6, 3 and 1 of 10.
_VALUES = relation("counted", "age_0 _sensitive_0 n", (0, 1, 4), (0, 2, 1), (1, 1, 2), (1, 2, 2), (1, 3, 1))


def _test(*models: PrivacyModel, at_risk: int) -> Case:
    """A node's test by models, whose classes have 5 rows each."""
    together = all_of(k_anonymity(2), *models).with_references({"_sensitive_0": Reference(Relation("reference"))})
    holes = on_node(together.safe, ["age_0"], 0)
    return Case("node_tests/node_test", holes, ["node", "rows_at_risk"], [(0, at_risk)], _VALUES | _REFERENCE)


# By two quasi-identifiers and person: class 0 has 5 rows of one person, 1 has 2 of two, 2 has 1, 3 has 3 of two.
_PERSONS = relation("counted", "age_0 _unit n", (0, 1, 5), (1, 1, 1), (1, 2, 1), (2, 3, 1), (3, 2, 2), (3, 4, 1))
_SIZES = ["size", "people", "classes", "rows", "smallest"]
_ROWS, _PEOPLE = Predicate("SUM(n)"), Predicate("SUM(n)", unit="_unit")


def _sizes_of_node(size: Predicate, least: int, rows: list[tuple[int, ...]]) -> Case:
    safe = Predicate("SUM(n) >= $k", {"k": least}, unit=size.unit)
    holes = on_node(safe, ["age_0"], 7, size=size, people=Predicate("0"))
    return Case("node_tests/node_class_sizes", holes, ["node", *_SIZES[:4]], rows, _PERSONS)


def _whole(models: PrivacyModels, unsafe: int, reached: float, relations: Relations = _VALUES | _REFERENCE) -> Case:
    """All rows as one class, judged by the one model."""
    together = models.with_references({"_sensitive_0": Reference(Relation("reference"))})
    model = together.models[0]
    achieved, of_class = over_classes(together.predicate(model, model.achieved))
    holes = {"frequency_set": COUNTED, "safe": together.safe, "achieved": achieved, "of_class": of_class}
    return Case("privacy/whole_table", holes, ["unsafe", "achieved"], [(unsafe, reached)], relations)


# Six rows of two people.
_VISITS = relation("counted", "age_0 _unit n", (0, 1, 3), (0, 2, 1), (1, 1, 2))
_SAME = {"release": Relation("release"), "value": ["ill"]}
_ILL = relation(
    "release",
    "a b ill person",
    *[(1, None, 3, 7), (1, None, 3, 8), (1, None, 3, 8), (1, 5, 3, 1), (1, 5, None, 2)],
    *[(2, 5, None, 8), (2, 5, None, 9), (3, 5, 1, 9), (3, 5, 2, 9)],
)


def _verdict(model: PrivacyModel, at_risk: int, unavoidable: int) -> Case:
    """The same node's verdict: the rows at risk, and those of them that are at risk however its classes are divided."""
    together = all_of(k_anonymity(2), model).with_references({"_sensitive_0": Reference(Relation("reference"))})
    figures = {"monotone": together.always_monotone, "unavoidable": together.unavoidable}
    holes = on_node(together.safe, ["age_0"], 0, **figures)
    columns, rows = ["node", "rows_at_risk", "unavoidable"], [(0, at_risk, unavoidable)]
    return Case("node_tests/node_verdict", holes, columns, rows, _VALUES | _REFERENCE)


CASES = [
    *OF_PRIVACY,
    _sizes_of_node(_ROWS, 1, [(7, 1, 0, 1, 1), (7, 2, 0, 1, 2), (7, 3, 0, 1, 3), (7, 5, 0, 1, 5)]),
    _sizes_of_node(_ROWS, 3, [(7, 3, 0, 1, 3), (7, 5, 0, 1, 5)]),
    _sizes_of_node(_PEOPLE, 1, [(7, 1, 0, 2, 6), (7, 2, 0, 2, 5)]),
    _sizes_of_node(_PEOPLE, 2, [(7, 2, 0, 2, 5)]),
    Case("privacy/reference", {**_HOLES, "rows": Predicate("SUM(n)")}, _FIGURES, _OF_ROWS, _COUNTED),
    Case(
        "privacy/reference",
        {**_HOLES, "rows": Predicate("SUM(n)", unit="person")},
        _FIGURES,
        [(1, 1, 1, 1, 4, 3, 1), (2, 2, 2, 3, 4, 3, 2), (3, 3, 1, 4, 4, 3, 3)],
        _COUNTED,
    ),
    Case(
        "privacy/whole_people",
        {"counted": Relation("counted"), "people": Predicate("SUM(n)", unit="person")},
        ["overall_size"],
        [(4,)],
        _COUNTED,
    ),
    Case(
        "privacy/several_values",
        {"counted": Relation("release"), "unit": ["person"], "value": ["ill"]},
        ["people"],
        [(2,)],
        _ILL,
    ),
    Case(
        "privacy/reference_texts",
        {"reference": Relation("reference"), "figures": _FIGURES[1:]},
        _FIGURES,
        [(str(value), *row) for value, *row in _OF_ROWS],
        _REFERENCE,
    ),
    _whole(all_of(l_diversity("illness", 3)), 0, 3),
    _whole(all_of(l_diversity("illness", 4)), 1, 3),
    _whole(all_of(k_anonymity(11)), 1, 10),
    _whole(all_of(alpha("illness", 0.5)), 1, 0.6),
    _whole(all_of(l_diversity("illness", 2, "recursive", c=2)), 0, 1.5),
    _whole(all_of(t_closeness("illness", 0.01, "ordered")), 0, 0),
    _whole(all_of(k_anonymity(2), unit="person"), 0, 2, _VISITS),
    _whole(all_of(k_anonymity(3), unit="person"), 1, 2, _VISITS),
    Case(
        "privacy/written_values",
        {"source": Relation("people"), "value": ["ill"]},
        ["code", "value"],
        [(1, "flu"), (2, "gout"), (3, None)],
        {"people": ({"ill": "VARCHAR(9)"}, [("flu",), ("gout",), ("flu",), (None,)])},
    ),
    Case(
        "privacy/mixed_values",
        {"written": Relation("written")},
        ["parted", "joined", "escaped"],
        [(1, 2, 3)],
        {
            "written": (
                {"code": "INTEGER", "value": "VARCHAR(9)"},
                [
                    *((1, "Ann"), (1, "ann"), (2, "x"), (3, "x"), (4, None), (5, "y"), (6, "y"), (7, "'z")),
                    *((8, "'=z"), (9, "'-A"), (10, "''\t"), (11, "=z"), (12, "-5")),
                ],
            )
        },
    ),
    Case(
        "privacy/unknown_units",
        {"source": Relation("visits"), "unit": ["a person"]},
        ["rows"],
        [(2,)],
        {"visits": ({"a person": "INTEGER"}, [(1,), (None,), (2,), (1,), (None,)])},
    ),
    # Of the classes by a and b, (1, NULL) has one illness, and (2, 5) has unknown ones alone; person 8 is in both.
    Case(
        "privacy/homogeneous",
        {**_SAME, "quasi_identifiers": {"q_0": "a", "q_1": "b"}, "names": ["q_0", "q_1"]},
        ["classes", "rows", "frequent"],
        [(2, 5, 7)],
        _ILL,
    ),
    Case(
        "privacy/homogeneous",
        {**_SAME, "quasi_identifiers": {"q_0": "a"}, "names": ["q_0"]},
        ["classes", "rows", "frequent"],
        [(0, 0, 1)],
        relation("release", "a ill", (1, 1), (1, None)),
    ),
    Case(
        "privacy/homogeneous_people",
        {**_SAME, "quasi_identifiers": {"q_0": "a", "q_1": "b"}, "names": ["q_0", "q_1"], "unit": ["person"]},
        ["classes", "rows", "people"],
        [(3, 7, 3)],  # and person 9 of (3, 5) has both of its illnesses
        _ILL,
    ),
    Case(  # the second class is not in the release, and NULL is a label
        "privacy/released_people",
        {
            "people": Relation("people"),
            "released": Relation("released"),
            "names": ["a"],
            "same": Same(["a"], "p", "r"),
            "columns": ["a", "ill"],
            "hidden": ["person", "ward"],
        },
        ["a", "ill", "person", "ward"],
        [(1, 5, 7, 1), (1, 6, 7, 2), (None, 5, 8, 2)],
        {
            **relation("people", "a ill person ward", (1, 5, 7, 1), (1, 6, 7, 2), (2, 5, 7, 1), (None, 5, 8, 2)),
            **relation("released", "a ill", (1, 5), (None, 5)),
        },
    ),
    Case(
        "privacy/occurring_texts",
        {"reference": Relation("reference")},
        ["value"],
        [("1",), ("2",), (None,)],
        relation("reference", "raw", (1,), (2,), (None,)),
    ),
    Case(
        "privacy/class_rows",
        {"release": Relation("counted"), "columns": ["age_0", "person"]},
        ["age_0", "person", "n"],
        [(0, 1, 1), (0, 2, 1), (1, 1, 1), (1, 3, 1), (1, 4, 1)],
        _COUNTED,
    ),
    Case(
        "privacy/differing_rows",
        {"one": Relation("one"), "other": Relation("other"), "columns": ["age", "ill"], "n": ["n"], "n_other": 1},
        ["differing"],
        [(2,)],  # (2, 5) once in one and twice in the other, and (3, NULL) in one alone
        {
            **relation("one", "age ill n", (1, 5, 2), (2, 5, 1), (3, None, 1)),
            **relation(
                "other", "age ill", ("1", "5"), ("1", "5"), ("2", "5"), ("2", "5"), age="VARCHAR", ill="VARCHAR"
            ),
        },
    ),
]
COMPARED = [  # of `core`, for they test a node
    _verdict(alpha("illness", 0.5), 5, 3),  # of four and one, three go
    _verdict(t_closeness("illness", 0.1), 10, 3),  # 5 * (.2 - .1) / (1 - .6 - .1), and 5 * (.2 - .1) / (1 - .4 - .1)
    _verdict(l_diversity("illness", 2, "entropy"), 5, 3),
    _verdict(l_diversity("illness", 3), 5, 5),  # monotone: all of the class
    _verdict(l_diversity("illness", 2, "recursive", c=2), 5, 2),
    _verdict(replace(alpha("illness", 0.5), monotone="never"), 5, 0),
    _verdict(replace(alpha("illness", 0.5), unavoidable=None), 5, 1),
    # Shares of .8 and .2 where .6, .3 and .1 are expected: .2 must move; .4, .4 and .2: .2 as well.
    _test(t_closeness("illness", 0.19), at_risk=10),
    _test(t_closeness("illness", 0.2), at_risk=0),
    # Up to the values .8, 1.0 instead of .6, .9: .3 over 2 steps; .4, .8 instead of .6, .9: the same.
    _test(t_closeness("illness", 0.14, "ordered"), at_risk=10),
    _test(t_closeness("illness", 0.15, "ordered"), at_risk=0),
    _test(l_diversity("illness", 3, "recursive", c=2.5), at_risk=5),  # 4 rows of the first and none after the second
    _test(delta_disclosure("illness", 0.7), at_risk=5),  # class 0 lacks value 3; ln(.4/.6) = -.41, ln(.2/.1) = .69
    # By its order a class has every value of the table; the other model must not count those that are not there.
    _test(t_closeness("illness", 0.15, "ordered"), l_diversity("illness", 3), at_risk=5),
]


_TUPLES = ("key_0 class", (5, 1), (6, 2))
_PARTS = ("value_0 first last shown_0 number", ("a", 1, 2, "x", 1), ("a", 3, 3, "y", 2), ("b", 1, 1, "y", 3))
_NUMBERED = ("number place counted_0", (1, 1, 7), (2, 2, 8), (3, 3, 8), (4, 1, 9))
_ALIKE = ("of_table number tuple", (1, 1, 1), (1, 2, 1), (1, 3, 1), (1, 4, 2), (0, 1, 1), (0, 2, 1), (0, 3, 2))
_TEXTS = {"value_0": "VARCHAR", "shown_0": "VARCHAR", "label_0": "VARCHAR", "value": "VARCHAR"}


def _evidence(name: str, gives: str, expected: list[Any], given: dict[str, Any], **holes: Any) -> Case:
    relations: dict[str, Any] = {}
    for hole, (columns, *rows) in given.items():
        relations |= relation(f"given_{hole}", columns, *rows, **_TEXTS)
    filled = {hole: Relation(f"given_{hole}") for hole in given}
    return Case(f"evidence/{name}", {**filled, **holes}, gives.split(), expected, relations)


CASES += [
    _evidence(
        "evidence_values",
        "key_0 class value_0",
        [(5, 1, "a"), (6, 2, None)],
        {"tuples": _TUPLES, "mapping": ("value code_0", ("a", 5), (None, 6), ("b", 7))},
        columns=["key_0", "class"],
        key=["key_0"],
        value={"value_0": "found"},
    ),
    _evidence(
        "evidence",
        "value_0 first last shown_0",
        [("a", 1, 2, "x"), (None, 3, 4, "y")],
        {
            "tuples": ("value_0 class first last", ("a", 1, 1, 2), (None, 2, 3, 4), ("b", None, 1, 1)),
            "classes": ("class label_0", (1, "x"), (2, "y")),
        },
        values=["value_0"],
        places=["first", "last"],
        shown={"shown_0": "label_0"},
        names=["shown_0"],
    ),
    _evidence(
        "evidence_rows",
        "value_0 counted_0 number place",
        [("a", 7, 1, 1), ("a", 8, 2, 2), ("b", 6, 3, 1)],
        {"source": ("value_0 counted_0", ("a", 8), ("b", 6), ("a", 7))},
        columns=["value_0", "counted_0"],
        values=["value_0"],
        order=["counted_0"],
    ),
    _evidence(
        "evidence_tuples",
        "of_table number tuple",
        [(1, 1, 1), (1, 2, 2), (0, 1, 2), (0, 2, 3)],
        {"rows": ("value_0 number", ("a", 1), ("b", 2)), "evidence": ("value_0 number", ("b", 1), (None, 2))},
        values=["value_0"],
    ),
    _evidence(
        "evidence_shown_parts",
        "number shown_0 counted_0",
        [(1, "x", 7), (2, "x", 8), (3, "y", 8), (4, "y", 9)],
        {"rows": _NUMBERED, "tuples": _ALIKE, "evidence": _PARTS},
        shown=["shown_0"],
        counted=["counted_0"],
    ),
    _evidence(
        "evidence_shown_whole",
        "number shown_0 counted_0",
        [(4, "y", 9), *((n, shown, c) for n, c in ((1, 7), (2, 8), (3, 8)) for shown in ("x", "y"))],
        {"rows": _NUMBERED, "tuples": _ALIKE, "evidence": _PARTS},
        shown=["shown_0"],
        counted=["counted_0"],
    ),
    _evidence(
        "evidence_numbered",
        "value_0 number",
        [("a", 1), ("b", 2)],
        {"evidence": ("value_0", ("b",), ("a",))},
        columns=["value_0"],
    ),
    _evidence("evidence_repeated", "repeated", [(1,)], {"shown": ("number", (1,), (2,), (1,))}),
    _evidence(
        "evidence_population",
        "Zip kanon_population",
        [("x", 2), ("y", 1)],
        {"shown": ("shown_0 counted_0", ("x", 7), ("x", 7), ("x", 8), ("y", 7))},
        labels=["shown_0"],
        names={"Zip": "shown_0"},
        counted=["counted_0"],
    ),
    _evidence(
        "evidence_labels",
        "value text label",
        [(5, "5", "x"), (6, "6", "x")],
        {"evidence": ("value_1 shown_0", (5, "x"), (6, "x"), (5, "x"))},
        value=["value_1"],
        label=["shown_0"],
    ),
]
