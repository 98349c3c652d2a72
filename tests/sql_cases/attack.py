"""Given and expected rows of `sql/attack`."""

from kanon_sql.queries import Relation, Same
from sql_cases.case import AT_MOST_75, Case, relation

_RELEASE, _CLASSES, _TARGETS = Relation("release"), Relation("classes"), Relation("targets")
_TEXT = {"c0": "VARCHAR", "c1": "VARCHAR", "label": "VARCHAR", "value": "VARCHAR"}
_RELEASED = relation(
    "release",
    "row_id c0 c1 c2 c3",
    *[(1, "1*", "m", 7, 1), (2, "1*", "m", 7, 2), (3, "1*", "f", 7, 3), (4, None, "f", None, 3), (5, None, "f", 8, 4)],
    **_TEXT,
)
_OF_CLASSES = relation("classes", "class c0 n", (1, "1*", 2), (2, "2*", 1), (3, None, 4), (4, "1*", 1), **_TEXT)
_OF_TARGETS = relation("targets", "target c0", (7, 11), (8, None), (9, 11))
_OF_PLACES = relation("places", "class place", (1, 1), (2, 1), (3, 1), (4, 2))
_COVERED = {"places": Relation("places"), "covers": Relation("covers"), "value": ["c0"]}
_OF_COVERED = {
    **relation(
        "places",
        "class before label place",
        *[(3, 1, "", 1), (1, 1, "=1*", 2), (5, 1, "=1*", 2), (2, 1, "=2*", 3), (4, 2, "=1*", 4)],
        **_TEXT,
    ),
    **relation("covers", "label value", ("=1*", "=11"), ("=2*", "=21"), ("", ""), **_TEXT),
}
_FITTING = relation("fitting", "target place", (7, 1), (8, 1), (9, 2))
_PEOPLE = relation("people", "row_id c0 c3", *[(i, 10 + i, i // 2) for i in range(1, 6)])
# By MD5 of the row's number and "0": 3, 2, 5, 1, 4.
_DRAWN = {"people": Relation("people"), "columns": ["c0"], "seed": "0"}

_FITS = relation("fits", "target class", (7, 1), (7, 2), (8, 2), (9, 4))
_CANDIDATES = relation("candidates", "target classes records", (7, 2, 4), (8, 1, 1), (9, 1, 5))
_OWNED = relation("owned", "target records", (7, 1), (9, 5))
_LINKS = relation("links", "target row_id", (7, 1), (7, 2), (8, 3), (9, 5))
_PEOPLE_HOLES = {"people": Relation("people"), "columns": ["c0"]}
_KNOWN = relation("people", "row_id c0 c3", (1, 30, 1), (2, 30, 2), (3, None, 2), (4, 40, None))
_SOURCE = relation("source", "row_id c0 c3", (1, 30, 2), (2, 40, 2), (3, 30, 5), (4, None, None))
_COUNTED = relation("tuples", "target c0 people in_source", (7, 30, 3, 1), (8, 40, 1, 1), (9, None, 1, 0))

_OF_RANGES = relation(
    "ranges",
    "class c0 c1 n low high",
    *[(1, "1*", "m", 2, 7, 7), (2, "1*", "f", 1, 7, 7), (3, None, "f", 2, 7, 8)],
    c0="VARCHAR",
    c1="VARCHAR",
)
_ATTRIBUTES = [
    Case(
        "attack_attributes/class_sizes",
        {"classes": _CLASSES},
        ["size", "classes"],
        [(1, 2), (2, 1), (4, 1)],
        _OF_CLASSES,
    ),
    Case(  # class 1 fits the rows of one person, 2 of an unknown person, 3 of nobody, and 4 of two people
        "attack_attributes/people_who_fit",
        {
            "classes": _CLASSES,
            "fits": Relation("fits"),
            "source": Relation("source"),
            "unit": ["c3"],
            "k": 2,
        },
        ["rows", "few_rows", "fewest"],
        [(8, 2, 1)],
        {**_OF_CLASSES, **_SOURCE, **relation("fits", "target class", (1, 1), (2, 1), (4, 2), (2, 4), (3, 4))},
    ),
    Case(
        "attack_attributes/ranges_of_classes",
        {"classes": _CLASSES, "labels": ["c0"], "values": Relation("values")},
        ["class", "c0", "n", "low", "high"],
        [(1, "1*", 2, 3, 5), (2, "2*", 1, 4, 4)],
        {**_OF_CLASSES, **relation("values", "class value n", (1, 5, 1), (1, 3, 1), (2, 4, 1))},
    ),
    Case("attack_attributes/one_value", {"classes": Relation("ranges")}, ["rows", "classes"], [(3, 2)], _OF_RANGES),
]
_OF_ONE = relation("one", "target classes records", (7, 1, 4), (8, 1, 1), (9, 3, 9))
_CLASSED = {
    **relation("values", "class value n", (1, 1, 2), (2, 1, 1), (2, 2, 2), (4, 3, 3)),
    **relation("overall", "value key", (1, "=a"), (2, "=b"), (3, ""), key="VARCHAR"),
}
_OF_VALUES = {"values": Relation("values"), "overall": Relation("overall")}
_TRUTHS = relation("truths", "target value", (7, "=b"), (8, "=b"), (9, "=c"), value="VARCHAR")
# 7: three a, own two b; 8: one a, own two b; 9: three of NULL; 5: own and another are as common; 6: no other but own
_GUESSES = relation(
    "guesses",
    "target records own",
    *[(7, 3, 0), (7, 2, 1), (8, 1, 0), (8, 2, 1), (9, 3, 0), (5, 2, 1), (5, 2, 0), (6, 1, 1)],
)
_GUESSED = ["targets", "right", "unknown"]
_GUIDANCE = [
    Case(
        "attack_matching/truths",
        {"targets": _TARGETS, "people": Relation("people"), "value": ["c3"]},
        ["target", "value"],
        [(3, "=2"), (4, "")],
        {**_KNOWN, **relation("targets", "target c0", (3, 0), (4, 0), (7, 0))},
    ),
    Case(
        "attack_attributes/guesses",
        {"fits": Relation("fits"), **_OF_VALUES, "truths": Relation("truths")},
        ["target", "records", "own"],
        [(7, 3, 0), (7, 2, 1), (8, 1, 0), (8, 2, 1), (9, 3, 0)],
        {**_FITS, **_CLASSED, **_TRUTHS},
    ),
    Case(
        "attack_attributes/right_guesses",
        {"guesses": Relation("guesses"), "left_out": 0},
        _GUESSED,
        [(5, 2.5, 0)],
        _GUESSES,
    ),
    Case(
        "attack_attributes/right_guesses",
        {"guesses": Relation("guesses"), "left_out": 1},
        _GUESSED,
        [(5, 0.5, 1)],
        _GUESSES,
    ),
    Case(
        "attack_linkability/halves",
        {"both": Relation("both"), "one": Relation("one"), "other": Relation("other")},
        ["targets", "same", "others"],
        [(2, 2 / 4 / 5 + 1 / 1 / 2, 1 / 3 / 4)],
        {
            **relation("both", "target classes records", (7, 1, 2), (8, 1, 1)),
            **_OF_ONE,
            **relation("other", "target classes records", (7, 1, 5), (8, 2, 2), (9, 1, 9)),
        },
    ),
]
_LIKELIEST = relation(
    "likeliest", "target class value place", (7, 2, "=7", 1), (8, 2, "=7", 2), (9, 1, "=5", 1), value="VARCHAR"
)
_MODEL = [
    Case(
        "attack_attributes/likeliest",
        {"fits": Relation("fits"), "classes": _CLASSES, "truths": Relation("truths")},
        ["target", "class", "value", "place"],
        [(7, 1, "=b", 2), (8, 2, "=b", 1), (9, 4, "=c", 1), (5, 1, "=b", 1)],
        {
            **_OF_CLASSES,
            **relation("fits", "target class", (7, 1), (7, 2), (8, 2), (9, 4), (5, 1)),
            **relation(
                "truths", "target value", (7, "=b"), (8, "=b"), (9, "=c"), (5, "=b"), (4, "=b"), value="VARCHAR"
            ),
        },
    ),
    Case(  # by MD5 of the class and "0": 2, 1 of those that somebody fits, and then 4
        "attack_attributes/training",
        {"classes": _CLASSES, **_OF_VALUES, "likeliest": Relation("likeliest"), "seed": "0", "most": 3},
        ["class", "value", "n"],
        [(2, "=a", 1), (2, "=b", 2), (1, "=a", 2)],
        {**_OF_CLASSES, **_CLASSED, **_LIKELIEST},
    ),
]
_LINKAGE = [
    Case(
        "attack_linkability/candidates",
        {"fits": Relation("fits"), "classes": _CLASSES},
        ["target", "classes", "records"],
        [(7, 2, 3), (8, 1, 1), (9, 1, 1)],
        {**_FITS, **_OF_CLASSES},
    ),
    Case(
        "attack_linkage/linked",
        {"candidates": Relation("candidates"), "owned": Relation("owned")},
        ["fitting", "one_record", "one_class", "right"],
        [(3, 1, 2, 1.25)],
        {**_CANDIDATES, **_OWNED},
    ),
    Case(
        "attack_linkage/one_of_each",
        {"linked": Relation("owned")},
        ["target", "records"],
        [(7, 1), (9, 1)],
        _OWNED,
    ),
    Case(
        "attack_linkage/owned",
        {"links": Relation("links"), "fits": Relation("fits"), "own_fits": Relation("own_fits")},
        ["target", "records"],
        [(7, 2), (8, 1)],
        {**_LINKS, **_FITS, **relation("own_fits", "target class", (1, 1), (1, 2), (2, 2), (3, 2), (5, 3))},
    ),
    Case(
        "attack_linkage/links_by_unit",
        {"targets": _TARGETS, "people": Relation("people"), "source": Relation("source"), "unit": ["c3"]},
        ["target", "row_id"],
        [(2, 1), (2, 2), (3, 1), (3, 2)],
        {**_KNOWN, **_SOURCE, **relation("targets", "target c0", (1, 30), (2, 30), (3, None), (4, 40))},
    ),
    Case(
        "attack_linkage/source_rows",
        {"source": Relation("source"), "columns": ["c0"], "links": Relation("links")},
        ["target", "c0"],
        [(1, 30), (2, 40), (3, 30)],
        {**_SOURCE, **_LINKS},
    ),
    Case(
        "attack_linkage/keyed",
        {**_PEOPLE_HOLES, "id": ["row_id"], "columns": ["c0", "c3"]},
        ["id", "key"],
        [(1, ["=30", "=1"]), (2, ["=30", "=2"]), (3, ["", "=2"]), (4, ["=40", ""])],
        _KNOWN,
    ),
    Case(
        "attack_linkage/shared_rows",
        {"control": Relation("one"), "people": Relation("two")},
        ["rows"],
        [(2,)],
        {
            **relation("one", "id key", (7, "a"), (8, "c"), (9, "a"), key="VARCHAR"),
            **relation("two", "id key", (1, "a"), (2, "b"), (3, "a"), key="VARCHAR"),
        },
    ),
    Case(
        "attack_linkage/links_by_key",
        {"targets": Relation("one"), "source": Relation("two")},
        ["target", "row_id"],
        [(7, 1), (7, 3)],
        {
            **relation("one", "id key", (7, "a"), (8, "c"), key="VARCHAR"),
            **relation("two", "id key", (1, "a"), (2, "b"), (3, "a"), key="VARCHAR"),
        },
    ),
    Case(
        "attack_linkage/drawn_classes",
        {"classes": _CLASSES, "labels": ["c0"], "seed": "0", "most": 3},
        ["class", "c0", "n"],
        [(3, None, 4), (2, "2*", 1), (1, "1*", 2)],
        _OF_CLASSES,
    ),
    Case(
        "attack_linkage/tuples",
        {**_PEOPLE_HOLES},
        ["target", "c0", "people", "in_source"],
        [(1, 30, 2, 2), (2, 40, 1, 1), (3, None, 1, 1)],
        _KNOWN,
    ),
    Case(
        "attack_linkage/tuples_in_source",
        {**_PEOPLE_HOLES, "source": Relation("source"), "unit": ["c3"]},
        ["target", "c0", "people", "in_source"],
        [(1, 30, 2, 1), (2, 40, 1, 0), (3, None, 1, 1)],
        {**_KNOWN, **_SOURCE},
    ),
    Case(  # class 1: 2 records, 3 people; 2: 1 record, 4 people; 3: nobody; 4: 1 record, 1 person, unknown
        "attack_linkage/linked_records",
        {"classes": _CLASSES, "fits": Relation("fits"), "tuples": Relation("tuples")},
        ["records", "fitting", "one_person", "right"],
        [(8, 4, 1, 1 / 3 + 1 / 4)],
        {**_FITS, **_OF_CLASSES, **_COUNTED},
    ),
]

_PLACES = relation(
    "places",
    "class value place turn person",
    *[(1, 1, 1, 2, 8), (1, 2, 2, 0, 9), (2, 2, 3, 4, 8), (2, 2, 4, 1, 9), (2, 3, 5, 3, 9)],
)
_DEALT = {"places": Relation("places"), "turns": Relation("places")}
# Class 1: values 1 and 2; class 2: 2 twice and 3.
_COUNTED_PLACES = relation("counted", "class value n", (1, 1, 1), (1, 2, 1), (2, 2, 2), (2, 3, 1))
_OVERALL = relation(
    "overall",
    "value raw key n up_to",
    *[(1, 10, "=10", 1, 1), (2, 20, "=20", 3, 4), (3, None, "", 1, 5)],
    key="VARCHAR",
)
_PLACED = {
    "same": Same(["raw"], "o", "r"),
    "release": Relation("release"),
    "classes": Relation("drawn"),
    "value": ["c3"],
    "overall": Relation("overall"),
    "seed": "0",
}
_OF_PLACED = {
    **_OVERALL,
    **relation("drawn", "class", (2,)),
    **relation("release", "row_id class c3 person", *[(1, 1, 10, 8), (3, 2, 10, 8), (4, 2, 20, 9), (5, 2, None, 9)]),
}
_OF_COUNTED = {"counted": Relation("counted"), "overall": Relation("overall")}
_HELD = relation("held", "class value person", (1, 1, 8), (1, 2, 8), (1, 2, 9), (2, 3, 7))
_NEAR = {"held": Relation("held"), "overall": Relation("overall")}
_VALUES_OF_CLASSES = [
    Case(
        "attack_dealing/values_in_order",
        {"release": _RELEASE, "value": ["c2"]},
        ["value", "raw", "key", "n", "up_to"],
        [(1, 7, "=7", 3, 3), (2, 8, "=8", 1, 4), (3, None, "", 1, 5)],
        _RELEASED,
    ),
    Case(
        "attack_dealing/values_of_classes",
        {
            "release": Relation("release"),
            "value": ["c3"],
            "overall": Relation("overall"),
            "same": Same(["raw"], "o", "c"),
        },
        ["class", "value", "n"],
        [(1, 1, 2), (1, 3, 1), (2, 2, 1)],
        {**_OVERALL, **relation("release", "class c3", (1, 10), (1, 10), (1, None), (2, 20))},
    ),
    Case(
        "attack_dealing/held_values",
        {"release": Relation("release"), "value": ["c3"], "unit": ["p"]},
        ["row_id", "class", "c3", "person"],
        [(1, 1, 8, 5), (3, 1, 9, 5), (4, 1, 8, 6)],
        relation(
            "release", "row_id class c3 p", (1, 1, 8, 5), (2, 1, 8, 5), (3, 1, 9, 5), (4, 1, 8, 6), (5, 1, 8, None)
        ),
    ),
    Case(
        "attack_dealing/values_of_people",
        {"held": Relation("held"), "value": ["c3"], "overall": Relation("overall"), "same": Same(["raw"], "o", "h")},
        ["class", "value", "person"],
        [(1, 1, 5), (1, 3, 5), (2, 2, 6)],
        {**_OVERALL, **relation("held", "row_id class c3 person", (1, 1, 10, 5), (3, 1, None, 5), (4, 2, 20, 6))},
    ),
    Case(
        "attack_dealing/shares_of_people", {"held": Relation("held")}, ["value", "n"], [(1, 1), (2, 2), (3, 1)], _HELD
    ),
    Case("attack_dealing/class_count", {"counted": Relation("held")}, ["classes"], [(2,)], _HELD),
    *(
        Case(  # by MD5 of the class and "0": 3, 2, 1, 4
            "attack_dealing/drawn_classes",
            {"classes": _CLASSES, "labels": ["c0"], "seed": "0", "rows": wanted, "number": number},
            ["class", "c0", "n"],
            rows,
            _OF_CLASSES,
        )
        for wanted, number, rows in (
            (4, 0, [(3, None, 4)]),
            (4, 2, [(3, None, 4), (2, "2*", 1)]),
            (5, 1, [(3, None, 4), (2, "2*", 1)]),
        )
    ),
    # The rows of class 2 are 3, 4 and 5, which have the turns 0, 2 and 1.
    Case(
        "attack_dealing/places",
        {**_PLACED, "person": []},
        ["class", "value", "place", "turn"],
        [(2, 1, 1, 0), (2, 2, 2, 2), (2, 3, 3, 1)],
        _OF_PLACED,
    ),
    Case(
        "attack_dealing/places",
        {**_PLACED, "person": ["person"]},
        ["class", "value", "place", "turn", "person"],
        [(2, 1, 1, 0, 8), (2, 2, 2, 2, 9), (2, 3, 3, 1, 9)],
        _OF_PLACED,
    ),
    # Two turns of five rows: the values of the rows 1 and 3, of which the second comes first by MD5 and "1".
    Case(
        "attack_dealing/turns",
        {"overall": Relation("overall"), "places": 2, "total": 5, "seed": "0"},
        ["value", "turn"],
        [(1, 0), (2, 1)],
        _OVERALL,
    ),
    Case(
        "attack_dealing/dealt_to",
        {"places": Relation("places"), "person": ["person"]},
        ["rows", "people"],
        [(5, 2)],
        _PLACES,
    ),
    Case(
        "attack_dealing/dealt_people",
        {**_DEALT, "stride": 2, "shift": 1, "rows": 5},
        ["class", "value", "person"],
        [(1, 3, 8), (1, 2, 9), (2, 1, 8), (2, 2, 9), (2, 2, 9)],
        _PLACES,
    ),
    # Class 1: 8 has both values, 9 the second; class 2: 7 has the third, and so has nobody else.
    Case(
        "attack_attributes/skewed_people",
        {"held": Relation("held"), "overall": Relation("overall"), "total": 3, "times": 2, "points": 0.1},
        ["people", "classes", "largest"],
        [(1, 1, 3.0)],
        {**_HELD, **relation("overall", "value n", (1, 1), (2, 2), (3, 1))},
    ),
    Case("attack_attributes/near_people", {**_NEAR, "most": 4}, ["people", "classes"], [(2, 1)], {**_HELD, **_OVERALL}),
    Case("attack_attributes/near_people", {**_NEAR, "most": 3}, ["people", "classes"], [(0, 0)], {**_HELD, **_OVERALL}),
    Case(
        "attack_attributes/kindred_people",
        {"held": Relation("held"), "groups": Relation("groups")},
        ["people", "classes"],
        [(2, 1)],
        {**_HELD, **relation("groups", "value kin", (1, 7), (2, 7), (3, None))},
    ),
    Case(
        "attack_attributes/value_people",
        {"release": Relation("release"), "value": ["c3"], "unit": ["p"]},
        ["n"],
        [(1,), (2,)],
        relation("release", "c3 p", (8, 5), (8, 5), (None, 5), (None, 6)),
    ),
    # Places 1 to 5 take the turns 3, 0, 2, 4, 1.
    Case(
        "attack_dealing/dealt_values",
        {**_DEALT, "stride": 2, "shift": 1, "rows": 5},
        ["class", "value", "n"],
        [(1, 3, 1), (1, 2, 1), (2, 1, 1), (2, 2, 2)],
        _PLACES,
    ),
    Case(
        "attack_attributes/ruling_out",
        {"counted": Relation("counted")},
        ["after_1", "after_2", "after_3", "classes", "worst", "mean"],
        [(2, 8, 8, 1, 1.0, 0.625)],
        relation("counted", "class value n", (1, 1, 1), (1, 2, 1), (2, 1, 2), (2, 2, 2), (2, 3, 2)),
    ),
    Case(
        "attack_attributes/posteriors",
        {**_OF_COUNTED, "rows": 4, "certain": 0.75, "gain": 0.25},
        ["guessed", "certain", "gained", "worst", "mean"],
        [(4, 3, 4, 0.5, 0.4375)],
        {
            **relation("counted", "class value n", (1, 1, 3), (2, 2, 1)),
            **relation("overall", "value n", (1, 2), (2, 3)),
        },
    ),
    Case(
        "attack_attributes/skewed",
        {**_OF_COUNTED, "total": 8, "times": 2, "points": 0.25},
        ["rows", "classes", "largest"],
        [(2, 1, 4.0)],
        {
            **relation("counted", "class value n", (1, 1, 1), (1, 2, 1), (2, 2, 3), (2, 3, 1)),
            **relation("overall", "value n", (1, 1), (2, 4), (3, 1)),
        },
    ),
    Case(
        "attack_attributes/near_values",
        {**_OF_COUNTED, "most": 4},
        ["rows", "classes"],
        [(2, 1)],
        {**_COUNTED_PLACES, **_OVERALL},
    ),
    Case(
        "attack_attributes/near_values",
        {**_OF_COUNTED, "most": 3},
        ["rows", "classes"],
        [(0, 0)],
        {**_COUNTED_PLACES, **_OVERALL},
    ),
    Case(
        "attack_attributes/kindred_values",
        {"counted": Relation("counted"), "groups": Relation("groups")},
        ["rows", "classes"],
        [(3, 1)],
        {**_COUNTED_PLACES, **relation("groups", "value kin", (1, 8), (2, 7), (3, 7))},
    ),
    Case(
        "attack_attributes/kindred_values",
        {"counted": Relation("counted"), "groups": Relation("groups")},
        ["rows", "classes"],
        [(2, 1)],
        {**_COUNTED_PLACES, **relation("groups", "value kin", (1, 7), (2, 7), (3, None))},
    ),
]

_PLACED = relation("placed", "row_id home", (1, ",0"), (2, ",0"), (3, ",0"), (4, ",1"), home="VARCHAR")
_MAPPING = relation("mapping", "value own below", ("=1*", 0, 5), ("", 1, 6), value="VARCHAR")
_PARTS = relation("parts", "row_id home part", (1, "a", 1), (2, "a", 1), (3, "a", 2), (4, "b", 1), home="VARCHAR")
_MAPPED = {"placed": Relation("placed"), "mapping": Relation("mapping"), "copied": _RELEASE, "value": ["c0"]}
_SEATS = relation("seats", "world row_id slot", (7, 1, 1), (7, 2, 3), (7, 3, 2), (7, 4, 1))
_SLOTS = relation("slots", "home slot ill", ("a", 1, 8), ("a", 2, 8), ("a", 3, 9), ("b", 1, 8), home="VARCHAR")
_COUNTED_PARTS = relation(
    "counted", "world home part zip_0 n", (1, "a", 1, 8, 2), (1, "a", 2, 8, 1), (1, "a", 2, 9, 1), home="VARCHAR"
)
_UNSAFE = relation("unsafe", "world home part", (1, "a", 1), (1, "a", 2), (2, "a", 1), (2, "b", 1), home="VARCHAR")
_MINIMALITY = [
    Case(
        "attack_matching/unplaced", {"copied": _RELEASE}, ["row_id", "home"], [(i, "") for i in range(1, 6)], _RELEASED
    ),
    Case(
        "attack_matching/placed",
        _MAPPED,
        ["row_id", "home"],
        [(1, ",0,0"), (2, ",0,0"), (3, ",0,0"), (4, ",1,1")],
        {**_PLACED, **_MAPPING, **_RELEASED},
    ),
    Case(
        "attack_minimality/parts",
        _MAPPED,
        ["row_id", "home", "part"],
        [(1, ",0", 5), (2, ",0", 5), (3, ",0", 5), (4, ",1", 6)],
        {**_PLACED, **_MAPPING, **_RELEASED},
    ),
    Case(
        "attack_minimality/other_places",
        {"placed": Relation("placed"), "others": Relation("others")},
        ["places"],
        [(2,)],
        {**_PLACED, **relation("others", "row_id home", (1, ",0"), (2, ",0"), (3, ",0"), (4, ",2"), home="VARCHAR")},
    ),
    Case("attack_minimality/smallest_part", {"parts": Relation("parts")}, ["size"], [(1,)], _PARTS),
    Case(
        "attack_minimality/sensitive_slots",
        {"placed": Relation("placed"), "copied": _RELEASE, "columns": {"ill": "c3"}},
        ["home", "slot", "ill"],
        [(",0", 1, 1), (",0", 2, 2), (",0", 3, 3), (",1", 1, 3)],
        {**_PLACED, **_RELEASED},
    ),
    # By MD5 of "row,world0": 4 is alone, and 1, 3, 2 is the order of the others.
    Case(
        "attack_minimality/seats",
        {"placed": Relation("placed"), "worlds": Relation("worlds"), "seed": "0"},
        ["world", "row_id", "slot"],
        [(1, 1, 1), (1, 2, 3), (1, 3, 2), (1, 4, 1)],
        {**_PLACED, **relation("worlds", "world", (1,))},
    ),
    Case(
        "attack_minimality/world_values",
        {"parts": Relation("parts"), "seats": Relation("seats"), "slots": Relation("slots"), "columns": ["ill"]},
        ["world", "home", "part", "ill", "n"],
        [(7, "a", 1, 8, 1), (7, "a", 1, 9, 1), (7, "a", 2, 8, 1), (7, "b", 1, 8, 1)],
        {**_PARTS, **_SEATS, **_SLOTS},
    ),
    Case(
        "attack_minimality/true_values",
        {"parts": Relation("parts"), "copied": _RELEASE, "names": ["c2"], "columns": {"ill": "c2"}},
        ["world", "home", "part", "ill", "n"],
        [(0, "a", 1, 7, 2), (0, "a", 2, 7, 1), (0, "b", 1, None, 1)],
        {**_PARTS, **_RELEASED},
    ),
    Case(
        "attack_minimality/unsafe_parts",
        {"counted": Relation("counted"), "safe": AT_MOST_75},
        ["world", "home", "part"],
        [(1, "a", 1)],
        _COUNTED_PARTS,
    ),
    Case(
        "attack_minimality/unsafe_worlds",
        {"unsafe": Relation("unsafe")},
        ["home", "worlds"],
        [("a", 2), ("b", 1)],
        _UNSAFE,
    ),
    # In one of two worlds some part is unsafe, and there the value 8 is certain in part 1.
    Case(
        "attack_minimality/told_people",
        {
            "truth": Relation("truth"),
            "counted": Relation("counted"),
            "unsafe": Relation("unsafe"),
            "chances": Relation("chances"),
            "value": ["zip_0"],
            "worlds": 2,
            "none": 0.5,
            "margin": 0.0625,
            "bound": 0.5,
        },
        ["people", "certain", "worst"],
        [(2, 2, 0.25)],
        {
            **_COUNTED_PARTS,
            **relation("truth", "home part zip_0 n", ("a", 1, 8, 2), ("a", 2, 8, 1), ("a", 2, 9, 1), home="VARCHAR"),
            **relation("unsafe", "world home part", (1, "a", 1), home="VARCHAR"),
            **relation("chances", "home others", ("a", 1.0), home="VARCHAR", others="REAL"),
        },
    ),
]

_KEYS = {"label": "VARCHAR", "value": "VARCHAR", "line": "VARCHAR", "share": "REAL"}
_COVERS = relation("covers", "label value", ("=1*", "=11"), ("=1*", "=12"), ("=2*", "=21"), ("", ""), **_KEYS)
_SIZES = relation("sizes", "label value size", ("=1*", "=11", 2), ("=2*", "=21", 1), ("", "", 1), **_KEYS)
_OF_LINES = relation(
    "lines", "class line hole several", (1, "#", 1, 1), (2, "#", 1, 0), (2, ",=21", 0, 0), (3, "x#", 1, 0), **_KEYS
)
_LABELLED = {"classes": _CLASSES, "sizes": Relation("sizes"), "value": ["c0"]}
_DOWNCODING = [
    Case(
        "attack_downcoding/label_shares",
        {"covers": Relation("covers"), "people": _TARGETS, "value": ["c0"]},
        ["label", "value", "raw", "share"],
        [("=1*", "=11", 11, 1.0), ("", "", None, 1.0)],
        {**_COVERS, **_OF_TARGETS},
    ),
    # Of class 1 the people 7 and 9 have 11, of class 3 the one person has no value, though 12 is claimed.
    Case(
        "attack_downcoding/claims_right",
        {
            "classes": _CLASSES,
            "claims": Relation("claims"),
            "fits": Relation("fits"),
            "people": Relation("people"),
            "value": ["c0"],
        },
        ["claims", "correct", "expected"],
        [(3, 1, 0.75 + 0.4375 + 0.25)],
        {
            **_OF_CLASSES,
            **relation("people", "row_id c0", (7, 11), (8, None), (9, 11)),
            **relation(
                "claims", "label value share", ("=1*", "=11", 0.5), ("=1*", "=12", 0.25), ("", "=12", 0.25), **_KEYS
            ),
            **relation("fits", "target class", (7, 1), (9, 1), (8, 3)),
        },
    ),
    Case(
        "attack_downcoding/label_sizes",
        {"covers": Relation("covers")},
        ["label", "value", "size"],
        [("=1*", "=11", 2), ("=2*", "=21", 1), ("", "", 1)],
        _COVERS,
    ),
    Case("attack_downcoding/hidden_cells", _LABELLED, ["rows"], [(3,)], {**_OF_CLASSES, **_SIZES}),
    Case(
        "attack_downcoding/first_lines",
        {"classes": _CLASSES},
        ["class", "line", "hole", "several"],
        [(i, "", 0, 0) for i in range(1, 5)],
        _OF_CLASSES,
    ),
    Case(
        "attack_downcoding/next_lines",
        {**_LABELLED, "lines": Relation("lines"), "number": 2},
        ["class", "line", "hole", "several"],
        [(2, "#,=21", 1, 0), (2, ",=21,=21", 0, 0), (3, "x#,", 1, 0), (2, ",=21#", 2, 0)],
        {**_OF_CLASSES, **_SIZES, **_OF_LINES},
    ),
    Case(
        "attack_downcoding/exact_classes",
        {"classes": _CLASSES, "lines": Relation("lines"), "labels": ["c0"]},
        ["class", "c0", "n"],
        [(2, "2*", 1)],
        {**_OF_CLASSES, **_OF_LINES},
    ),
    Case(
        "attack_downcoding/whole_classes",
        {"classes": _CLASSES, "fits": Relation("fits")},
        ["class"],
        [(1,), (4,)],
        {**_OF_CLASSES, **relation("fits", "target class", (7, 1), (9, 1), (8, 3), (9, 4), (7, 2), (8, 2))},
    ),
    # Class 1 may stand for 11 and 12, of which class 2 has all of 12.
    Case(
        "attack_downcoding/narrowed_labels",
        {
            **_LABELLED,
            "lines": Relation("lines"),
            "whole": Relation("whole"),
            "covers": Relation("covers"),
            "number": 1,
        },
        ["rows", "certain"],
        [(2, 2)],
        {
            **_OF_CLASSES,
            **_OF_LINES,
            **relation("whole", "class", (2,), (3,)),
            **relation("covers", "label value", ("=1*", "=11"), ("=1*", "=12"), ("=2*", "=12"), **_KEYS),
            **relation("sizes", "label value size", ("=1*", "=11", 2), ("=2*", "=12", 1), **_KEYS),
        },
    ),
]

CASES = [
    Case(
        "attack_attributes/value_rows",
        {"release": _RELEASE, "value": ["c2"]},
        ["n"],
        [(3,), (1,), (1,)],
        _RELEASED,
    ),
    Case(
        "attack_linkage/copied",
        {"source": Relation("People"), "texts": {"c0": "Age"}, "natives": {"c1": 'a "zip"'}},
        ["row_id", "c0", "c1"],
        [(1, "40", "x"), (2, None, None)],
        {"People": ({"Age": "INTEGER", 'a "zip"': "VARCHAR"}, [(40, "x"), (None, None)])},
    ),
    Case(
        "attack_linkage/read_columns",
        {"source": Relation("People"), "texts": {"c0": "Age"}, "natives": {"c1": 'a "zip"'}},
        ["c0", "c1"],
        [("40", "x"), (None, None)],
        {"People": ({"Age": "INTEGER", 'a "zip"': "VARCHAR"}, [(40, "x"), (None, None)])},
    ),
    Case(
        "attack_linkage/ranged",
        {"copied": _RELEASE, "low": {"c2": "c0"}, "high": {"c2": "c1"}},
        ["row_id", "c0", "c1", "c2"],
        [(1, "2", "5", "[2, 5]"), (2, "2", None, "*")],
        relation("release", "row_id c0 c1", (1, "2", "5"), (2, "2", None), **_TEXT),
    ),
    Case(
        "attack_matching/classes",
        {"release": _RELEASE, "labels": ["c1"]},
        ["class", "c1", "n"],
        [(1, "f", 3), (2, "m", 2)],
        _RELEASED,
    ),
    Case(
        "attack_matching/labels",
        {"classes": _CLASSES, "label": ["c0"]},
        ["label"],
        [("1*",), ("2*",), (None,)],
        _OF_CLASSES,
    ),
    Case(
        "attack_matching/values",
        {"targets": _TARGETS, "value": ["c0"]},
        ["value", "text"],
        [(11, "11"), (None, None)],
        _OF_TARGETS,
    ),
    Case(
        "attack_matching/codes",
        {"people": _TARGETS, "value": ["c0"]},
        ["value", "code_0"],
        [(11, 0), (None, 1)],
        _OF_TARGETS,
    ),
    Case(
        "attack_matching/code_count",
        {"codes": Relation("codes")},
        ["size", "null_code"],
        [(2, 1)],
        relation("codes", "value code_0", (None, 1), (11, 0)),
    ),
    Case(
        "attack_matching/texts_of_codes",
        {"codes": Relation("codes"), "drawn": Relation("drawn")},
        ["code_0", "text"],
        [(0, "11"), (2, None)],
        {**relation("codes", "value code_0", (11, 0), (12, 1), (None, 2)), **relation("drawn", "code", (0,), (2,))},
    ),
    Case(
        "attack_matching/codes_of_texts",
        {"codes": Relation("codes"), "drawn": Relation("drawn")},
        ["text", "code_0"],
        [("11", 0), (None, 2)],
        {
            **relation("codes", "value code_0", (11, 0), (12, 1), (None, 2)),
            **relation("drawn", "text_key", ("=11",), ("",), ("=9",), text_key="VARCHAR"),
        },
    ),
    Case(
        "attack_matching/coded_values",
        {"codes": Relation("codes")},
        ["value", "text"],
        [(11, "11"), (None, None)],
        relation("codes", "value code_0", (None, 1), (11, 0)),
    ),
    Case(
        "attack_matching/coarser_classes",
        {"classes": _CLASSES, "labels": ["c0"]},
        ["class", "c0", "n"],
        [(1, "1*", 3), (2, "2*", 1), (3, None, 4)],
        _OF_CLASSES,
    ),
    Case(
        "attack_matching/targets",
        {**_DRAWN, "most": 3, "part": 1.0},
        ["target", "c0"],
        [(3, 13), (2, 12), (5, 15)],
        _PEOPLE,
    ),
    # By the faster hash: 1 is .62, 2 is .24, 3 is .85, 4 is .47, 5 is .09 of the largest.
    Case(
        "attack_matching/targets",
        {**_DRAWN, "most": 3, "part": 0.5},
        ["target", "c0"],
        [(2, 12), (5, 15), (4, 14)],
        _PEOPLE,
    ),
    Case(
        "attack_matching/targets_of_people",
        {**_DRAWN, "unit": ["c3"], "most": 9},
        ["target", "c0"],
        [(3, 13), (5, 15), (1, 11)],
        _PEOPLE,
    ),
    Case(
        "attack_matching/targets_of_people",
        {**_DRAWN, "unit": ["c3"], "most": 2},
        ["target", "c0"],
        [(3, 13), (5, 15)],
        _PEOPLE,
    ),
    Case(
        "attack_matching/first_places",
        {"classes": _CLASSES},
        ["class", "place"],
        [(1, 1), (2, 1), (3, 1), (4, 1)],
        _OF_CLASSES,
    ),
    Case(
        "attack_matching/labels_of_values",
        {"targets": _TARGETS, "value": ["c0"], "covers": Relation("covers")},
        ["value", "label"],
        [(None, ""), (11, "=1*")],
        {**_OF_COVERED, **relation("targets", "target c0 c3", (7, 11, 5), (8, None, 6), (9, 11, 5), (10, 99, 5))},
    ),
    Case(
        "attack_matching/first_fitting",
        {**_COVERED, "targets": _TARGETS, "id": ["target"], "others": ["c3"], "same": Same(["value"], "covering", "t")},
        ["target", "place", "c3"],
        [(7, 2, 5), (7, 4, 5), (8, 1, 6), (9, 2, 5), (9, 4, 5)],
        {**_OF_COVERED, **relation("targets", "target c0 c3", (7, 11, 5), (8, None, 6), (9, 11, 5))},
    ),
    Case(
        "attack_matching/next_places",
        {"places": Relation("places"), "classes": _CLASSES, "label": ["c0"]},
        ["class", "before", "label", "place"],
        [(3, 1, "", 1), (1, 1, "=1*", 2), (2, 1, "=2*", 3), (4, 2, "=1*", 4)],
        {**_OF_PLACES, **_OF_CLASSES},
    ),
    Case(
        "attack_matching/next_fitting",
        {**_COVERED, "fitting": Relation("fitting"), "others": ["c3"]},
        ["target", "place", "c3"],
        [(7, 2, 5), (8, 1, 6), (9, 4, 5)],
        {**_OF_COVERED, **relation("fitting", "target place c0 c3", (7, 1, 11, 5), (8, 1, None, 6), (9, 2, 11, 5))},
    ),
    Case(
        "attack_matching/fits",
        {"fitting": Relation("fitting"), "places": Relation("places")},
        ["target", "class"],
        [(7, 1), (7, 2), (7, 3), (8, 1), (8, 2), (8, 3), (9, 4)],
        {**_FITTING, **_OF_PLACES},
    ),
    *_LINKAGE,
    *_ATTRIBUTES,
    *_GUIDANCE,
    *_MODEL,
    *_VALUES_OF_CLASSES,
    *_MINIMALITY,
    *_DOWNCODING,
]
