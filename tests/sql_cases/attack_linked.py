"""Given and expected rows of `sql/attack_linked`."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from kanon_sql.queries import Relation, ReleasedPlaces
from sql_cases.case import Case, Rows, relation

_TYPES = dict.fromkeys(["key", "visit", "zip", "label"], "VARCHAR")
_Row: TypeAlias = tuple[int, int, str | None]  # kind, what, visit


def _case(name: str, gives: str, expected: Rows, given: Mapping[str, tuple[str, Rows]], **holes: Any) -> Case:
    """A case whose relations, by the holes they fill, are described by their columns and rows."""
    relations: dict[str, Any] = {}
    for hole, (columns, content) in given.items():
        relations |= relation(f"given_{hole}", columns, *content, **_TYPES)
    filled = {hole: Relation(f"given_{hole}") for hole in given}
    query = f"attack_linked/{name}"
    return Case(query, {**ReleasedPlaces().holes_of(query), **filled, **holes}, gives.split(), expected, relations)


def _by_digest(items: Iterable[Any], before: str) -> list[Any]:
    """Items in the order of the digests of a text and their first column."""
    return sorted(items, key=lambda item: hashlib.md5(f"{before}{item[0]}".encode()).hexdigest())


# By combination: 1 has three people, 2 two, 3 one, and 5 four.
_SHARING = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 3), (5, 4), (5, 5), (5, 6), (5, 1)]

_EXPOSED = [
    _case(
        "fewest_sharing",
        "person fewest",
        [(1, 2), (2, 2), (3, 1), (4, 4), (5, 4), (6, 4)],
        {"sharing": ("combination person", _SHARING)},
    ),
    _case("fewest_sharing", "person fewest", [], {"sharing": ("combination person", [])}),
    # Every person counts with the fewest people: 2, 1, 4, 8, 1, 2, 16, 16; then 2, 2, 4, 4. As few as k are enough.
    *(
        _case(
            "people_at_risk",
            "people singled_out below_k highest mean",
            [found],
            {"fewest": ("person fewest", fewest)},
            k=k,
        )
        for k, found, fewest in (
            (
                4,
                (8, 2, 4, 1.0, 0.4375),
                [(7, 4), (7, 2), (8, 1), (8, 8), (3, 4), (4, 8), (4, 9), (9, 1), (5, 2), (1, 16), (2, 16), (2, 20)],
            ),
            (5, (4, 0, 4, 0.5, 0.375), [(1, 2), (2, 4), (2, 2), (3, 4), (4, 8), (4, 4)]),
            (5, (0, 0, 0, None, None), []),
        )
    ),
]

# Released keys do not begin like known ones. People without a key are not listed.
_PEOPLE = [
    *[("a", 5, 1, 4, 0), ("source:0:17", 1, 1, 4, 0), ("b", 2, 5, 0, 9), ("source:", 3, 2, 3, 3)],
    *[("source", 9, 2, 7, 1), ("my source:0:17", 4, 1, 4, 2), ("Source:0:1", 6, 3, 1, 1), (None, 7, 1, 4, 2)],
]
_OF_ROWS = "code_2_0 number what person class visit kind code_1_0"
_GIVEN_ROWS = [
    *[(None, 1, 6, 2, 8, "v", 1, 4), (None, 2, 6, 2, 8, "v", 1, 4), (5, 3, 6, 2, 8, None, 2, None)],
    *[(None, 4, 6, 3, 8, "w", 1, 4), (0, 5, 7, 4, 9, None, 2, None), (None, 6, 9, 9, 9, "v", 1, 0)],
]
_CARRIED = ["visit", "code_1_0", "code_2_0"]
_RELEASED = [
    _case(
        "released_only",
        "key person class code_0_0 code_0_1",
        [_PEOPLE[0], _PEOPLE[2], _PEOPLE[4], _PEOPLE[5], _PEOPLE[6]],
        {"people": ("key person class code_0_0 code_0_1", _PEOPLE)},
        codes=["code_0_0", "code_0_1"],
    ),
    # Tables without sensitive columns have no codes.
    _case(
        "released_only",
        "key person class",
        [("b", 3, 1)],
        {"people": ("key person class", [("source:0:1", 2, 1), ("b", 3, 1)])},
        codes=[],
    ),
    # Both relations have persons and classes. Person 1 has no rows; 3 and 9 are not released. Equal rows stay apart.
    _case(
        "rows_of_released",
        "class person kind what number visit code_1_0 code_2_0",
        [
            *[(8, 2, 1, 6, 1, "v", 4, None), (8, 2, 1, 6, 2, "v", 4, None)],
            *[(8, 2, 2, 6, 3, None, None, 5), (9, 4, 2, 7, 5, None, None, 0)],
        ],
        {"rows": (_OF_ROWS, _GIVEN_ROWS), "people": ("key person class", [("a", 1, 2), ("b", 2, 3), ("c", 4, 9)])},
        carried=_CARRIED,
    ),
]

_SOURCE_PEOPLE = [(f"source:0:{number}", 3 * number, number % 4) for number in range(1, 9)]
_OTHER_KEYS = ["a", "b", "c", "d", "source", "Source:0:1", "my source:0:1", "source0:1", None]
_OTHER_PEOPLE = [(key, person, 2) for person, key in enumerate(_OTHER_KEYS, start=50)]
_TARGETS = [(9, 2), (4, 1), (7, 1), (5, 2)]
# Person 9 has five rows, 4 two, 7 none, and 5, in the class of 9, one. Persons 1 and 2, whose numbers are those of
# classes, are not attacked.
_ROWS_TO_KNOW = [
    (number, person, class_, kind, what, visit, code)
    for number, (person, class_, kind, what, visit, code) in enumerate(
        [
            *[(9, 2, 1, 5, "v", None), (9, 2, 1, 5, "v", None), (9, 2, 2, 7, None, 0), (9, 2, 2, 8, "v", 3)],
            *[(1, 3, 1, 5, "u", None), (4, 1, 3, 9, None, 2), (9, 2, 3, 1, "w", None), (4, 1, 1, 5, "x", 1)],
            *[(2, 3, 1, 1, None, 7), (1, 3, 2, 7, None, None), (5, 2, 1, 5, "v", None)],
        ],
        start=8,
    )
]


def _known(seed: int) -> list[tuple[Any, ...]]:
    """The rows that somebody knows of the people who are attacked."""
    known = []
    for person, _class in _TARGETS:
        rows = _by_digest([row for row in _ROWS_TO_KNOW if row[1] == person], f"{seed}:")
        for place, (_number, _person, class_, kind, what, visit, code) in enumerate(rows[:3], start=1):
            known.append((person, class_, kind, what, visit, code, place))
    return known


_DRAWN = [
    *(
        _case(
            "targets",
            "person class",
            [(person, class_) for _key, person, class_ in _by_digest(_SOURCE_PEOPLE, str(seed))[:most]],
            {"people": ("key person class", [*_OTHER_PEOPLE, *_SOURCE_PEOPLE])},
            seed=seed,
            most=most,
        )
        for seed, most in ((0, 3), (17, 3), (17, 9))
    ),
    *(
        _case(
            "background_rows",
            "person class kind what visit code_1_0 place",
            _known(seed),
            {
                "targets": ("person class", _TARGETS),
                "rows": ("number person class kind what visit code_1_0", _ROWS_TO_KNOW),
            },
            seed=seed,
            carried=["visit", "code_1_0"],
        )
        for seed in (0, 17)
    ),
]

_KNOWN = "person class kind what visit place"
_ROWS = "class person kind what visit number"
_MATCHES = "target candidate number"


def _background_of(people: Mapping[int, tuple[int, Sequence[_Row]]]) -> tuple[str, Rows]:
    """The known rows of people, by their numbers: class, and rows in order."""
    rows = [
        (person, class_, *row, place)
        for person, (class_, known) in people.items()
        for place, row in enumerate(known, start=1)
    ]
    return _KNOWN, rows


def _rows_of(people: Mapping[int, tuple[int, Sequence[_Row]]]) -> tuple[str, Rows]:
    """The released rows of people, by their numbers: those of person 3 are numbered 30, 31, ...."""
    rows = [
        (class_, person, *row, 10 * person + place)
        for person, (class_, shown) in people.items()
        for place, row in enumerate(shown)
    ]
    return _ROWS, rows


# The known rows of 63 are alike; 64 has a single one. Nobody has the rows of 68.
_KNOWN_PAIRS = {
    60: (1, [(1, 5, "u"), (2, 7, "u"), (3, 9, "u")]),
    61: (1, [(1, 5, None), (2, 7, None), (1, 8, None)]),
    62: (1, [(1, 5, "v"), (2, 7, "w")]),
    63: (1, [(1, 5, None), (1, 5, None)]),
    64: (1, [(1, 5, None)]),
    65: (2, [(1, 5, "x"), (2, 7, "x")]),
    66: (1, [(2, 7, "y"), (1, 5, None)]),
    67: (1, [(1, 5, "z"), (2, 7, "y")]),
    68: (3, [(1, 5, "t"), (2, 7, "t")]),
}
# Person 1 has the two rows in one visit; 2, 3, 15 and 4 have them in none, in two, or one in a visit. 5 and 6 repeat
# the first row, 6 in one visit. 7 has only the first, and 8 the second. In 9 to 11 and 16 to 19, a row differs in its
# kind or in what it shows. 12 is of another class. 13 has two rows like the second. 14 has the first and a third.
_PAIRS = {
    1: (1, [(2, 7, "a"), (1, 5, "a")]),
    2: (1, [(1, 5, None), (2, 7, None)]),
    3: (1, [(1, 5, "c"), (2, 7, "d")]),
    15: (1, [(1, 5, "d"), (2, 7, "c")]),
    4: (1, [(1, 5, None), (2, 7, "e")]),
    5: (1, [(1, 5, None), (1, 5, None)]),
    6: (1, [(1, 5, "f"), (1, 5, "f")]),
    7: (1, [(1, 5, None)]),
    8: (1, [(2, 7, None), (3, 9, None)]),
    9: (1, [(1, 5, None), (3, 7, None)]),
    10: (1, [(2, 5, None), (2, 7, None)]),
    11: (1, [(1, 6, None), (2, 7, None)]),
    16: (1, [(0, 5, None), (2, 7, None)]),
    17: (1, [(1, 4, None), (2, 7, None)]),
    18: (1, [(1, 5, None), (1, 7, None)]),
    19: (1, [(1, 5, None), (2, 6, None)]),
    12: (2, [(1, 5, "g"), (2, 7, "g")]),
    13: (1, [(1, 5, "h"), (2, 7, "h"), (2, 7, "i")]),
    14: (1, [(1, 5, "j"), (3, 9, "j")]),
    20: (1, [(1, 5, None), (2, 8, None)]),
}
# The rows of kinds 1 and 2, of one visit or not, by the first.
_TOGETHER = [(1, 11), (13, 130)]
_APART = [(2, 20), (3, 30), (15, 150), (4, 40), (13, 130)]
_LIKE_THE_FIRST = [
    *[(1, 11), (2, 20), (3, 30), (15, 150), (4, 40), (5, 50), (5, 51), (6, 60), (6, 61), (7, 70), (9, 90), (18, 180)],
    *[(19, 190), (13, 130), (14, 140), (20, 200)],
]
_LIKE_THE_SECOND = [
    *[(1, 10), (2, 21), (3, 31), (15, 151), (4, 41), (8, 80), (10, 101), (11, 111), (16, 161), (17, 171), (13, 131)],
    (13, 132),
]
_MATCHED = [
    # Nobody is released in class 4; classes 2 and 1 are also the numbers of persons.
    _case(
        "matches_of_classes",
        _MATCHES,
        [(8, 2, -1), (8, 4, -1), (9, 1, -1), (1, 2, -1), (1, 4, -1)],
        {
            "targets": ("person class", [(8, 1), (9, 2), (1, 1), (2, 4)]),
            "people": ("key person class", [("a", 2, 1), ("b", 4, 1), ("c", 1, 2), ("d", 3, 3)]),
        },
    ),
    # Whether rows belong together does not matter yet.
    _case(
        "matches_of_singles",
        _MATCHES,
        [
            *[(target, *match) for target in (60, 61, 62, 63, 64, 67) for match in _LIKE_THE_FIRST],
            *[(65, 12, 120), *[(66, *match) for match in _LIKE_THE_SECOND]],
        ],
        {"background": _background_of(_KNOWN_PAIRS), "rows": _rows_of(_PAIRS)},
    ),
    # Rows without visits do not belong together, nor do those of different visits.
    _case(
        "matches_of_pairs",
        _MATCHES,
        [
            *[(60, *match) for match in _TOGETHER],
            *[(target, *match) for target in (61, 62, 67) for match in _APART],
            *[(63, 5, 50), (63, 5, 51), (65, 12, 120)],
            *[(66, 2, 21), (66, 3, 31), (66, 15, 151), (66, 4, 41), (66, 13, 132)],
        ],
        {"background": _background_of(_KNOWN_PAIRS), "rows": _rows_of(_PAIRS)},
    ),
    # Two other rows like the second match twice.
    _case(
        "matches_of_pairs",
        _MATCHES,
        [(60, 1, 10)],
        {
            "background": _background_of({60: (1, [(1, 5, None), (2, 7, None)])}),
            "rows": _rows_of({1: (1, [(1, 5, None), (2, 7, None), (2, 7, None)])}),
        },
    ),
]

# Visits of three rows of which none belong together, the first two, the first and last, the last two, or all.
_VISITS: list[list[tuple[str | None, str | None, str | None]]] = [
    [(None, None, None), ("a", "b", "c"), ("c", "b", "a"), ("a", None, None)],
    [("a", "a", None), ("a", "a", "b"), ("b", "b", "a")],
    [("a", None, "a"), ("a", "b", "a"), ("b", "a", "b")],
    [(None, "a", "a"), ("a", "b", "b"), ("b", "a", "a")],
    [("a", "a", "a")],
]


def _three(first: str | None, second: str | None, third: str | None) -> list[_Row]:
    """Rows of several kinds, of these visits."""
    return [(8, 5, first), (7, 6, second), (9, 7, third)]


def _unlike_in_one_respect() -> Iterator[list[_Row]]:
    """Three rows of no visits, one of which differs a little in its kind, or in what it shows."""
    for place in range(3):
        for more_kind, more_what in ((-1, 0), (1, 0), (0, -1), (0, 1)):
            rows = _three(None, None, None)
            kind, what, visit = rows[place]
            rows[place] = (kind + more_kind, what + more_what, visit)
            yield rows


_IN_VISITS = [(pattern, _three(*visits)) for pattern, choices in enumerate(_VISITS) for visits in choices]
_TWICE: list[list[_Row]] = [  # two rows are alike: the first two, the first and last, the last two
    [(8, 5, None), (8, 5, None), (9, 7, None)],
    [(8, 5, None), (7, 6, None), (8, 5, None)],
    [(8, 5, None), (7, 6, None), (7, 6, None)],
]
_TRIPLES = [
    # Rows match if the same ones belong together. Persons 50 and 100 are of another class; of 101 and 102, fewer than
    # three rows are known. 21 to 32 differ from 1 in one respect; 40 to 42 lack a row.
    _case(
        "matches_of_triples",
        _MATCHES,
        [
            *(
                (target, candidate, 10 * candidate)
                for target, (pattern, _rows) in enumerate(_IN_VISITS, start=60)
                for candidate, (other, _shown) in enumerate(_IN_VISITS, start=1)
                if pattern == other
            ),
            (100, 50, 500),
        ],
        {
            "background": _background_of(
                {
                    **{target: (1, rows) for target, (_pattern, rows) in enumerate(_IN_VISITS, start=60)},
                    100: (2, _three("d", "d", "e")),
                    101: (1, _three(None, None, None)[:2]),
                    102: (1, _three(None, None, None)[:1]),
                }
            ),
            "rows": _rows_of(
                {
                    **{candidate: (1, rows) for candidate, (_pattern, rows) in enumerate(_IN_VISITS, start=1)},
                    **{candidate: (1, rows) for candidate, rows in enumerate(_unlike_in_one_respect(), start=21)},
                    40: (1, _three(None, None, None)[:2]),
                    41: (1, _three(None, None, None)[1:]),
                    42: (1, _three(None, None, None)[::2]),
                    50: (2, _three("d", "d", None)),
                }
            ),
        },
    ),
    # A row matches one known row only. If two rows are alike, either of them is the first, or the other.
    _case(
        "matches_of_triples",
        _MATCHES,
        [(60, 1, 10), (60, 1, 11), (61, 2, 20), (61, 2, 22), (62, 3, 30)],
        {
            "background": _background_of({target: (1, rows) for target, rows in enumerate(_TWICE, start=60)}),
            "rows": _rows_of(
                {
                    **{candidate: (1, rows) for candidate, rows in enumerate(_TWICE, start=1)},
                    4: (1, [(8, 5, None), (9, 7, None)]),
                    5: (1, [(8, 5, None), (7, 6, None)]),
                }
            ),
        },
    ),
]

_FOUND = "people right blind"
# The most frequent value is 3, before 5, which is as frequent. The guesses are
# - right for 20 (5, which two people have; one has 3, in three rows), 21 (3, before 5) and 25 (0, a missing value);
# - wrong for 22 to 24 (8, 8, a large code) and 27 to 29 (5, 5, 8).
# 21, 23, 24 and 28 have the most frequent value. Nobody matches 31.
_LARGE = 2**30  # among codes of so wide a range, an engine returns the smallest only if it is ordered to
_CODES = [(1, 5), (2, 3), (3, 3), (4, 5), (5, 8), (6, 0), (7, 0), (8, _LARGE), (9, 5), (10, 3), (11, 8)]
_GUESSED = [
    *[(20, 2, 2), (20, 2, 12), (20, 2, 13), (20, 4, 4), (20, 9, 9), (21, 4, 4), (21, 10, 10), (22, 5, 5), (23, 8, 8)],
    *[(23, 5, 5), (23, 8, 8), (24, 8, 8), (25, 7, 7), (25, 6, 6), (25, 1, 1), (27, 1, 1), (28, 9, 9), (29, 11, 11)],
]
_TRUTHS = [(20, 5), (21, 3), (22, 5), (23, 3), (24, 3), (25, 0), (27, 9), (28, 3), (29, 1), (31, 3)]
# The first rows have the numbers and values of the people. The last nine are of a table without such values.
_CODES_OF_ROWS = [
    *((person, person, code) for person, code in _CODES),
    *[(12, 2, 3), (13, 2, 3), (14, 12, 5), (15, 12, 5)],
    *((number, 12, None) for number in range(16, 25)),
]
# The first known row of 26 is of that table. Only the first known rows have the values to guess.
_KNOWN_VALUES = [
    *((person, 1, code) for person, code in _TRUTHS),
    *[(26, 1, None), (20, 2, 3), (21, 2, None), (22, 2, 8), (23, 3, 8), (26, 2, 3), (28, 2, 5)],
]
_COUNTED = [
    # Candidates count once: two, one, one and four. The right guesses to expect are 1/2 + 1 + 1 + 1/4.
    *(
        _case("guessed_people", "guessed singled_out fewest expected", [found], {"matches": (_MATCHES, matches)})
        for found, matches in (
            (
                (4, 2, 1, 2.75),
                [
                    *[(1, 7, 1), (1, 7, 2), (1, 8, 3), (2, 7, 1), (2, 7, 2), (4, 2, 9)],
                    *((3, person, 1) for person in (5, 6, 7, 8)),
                ],
            ),
            ((2, 0, 2, 0.75), [(1, 7, -1), (1, 8, -1), *((3, person, -1) for person in (5, 6, 7, 8))]),
            ((0, 0, None, 0), []),
        )
    ),
    *(
        _case("people_with_rows", "people", [(people,)], {"background": ("person place", rows)}, size=size)
        for size, people, rows in (
            (1, 4, [(3, 1), (5, 1), (1, 1), (2, 1), (3, 2), (1, 2), (1, 3), (2, 2)]),
            (2, 3, [(3, 1), (5, 1), (1, 1), (2, 1), (3, 2), (1, 2), (1, 3), (2, 2)]),
            (3, 1, [(3, 1), (5, 1), (1, 1), (2, 1), (3, 2), (1, 2), (1, 3), (2, 2)]),
            (3, 0, [(3, 1), (3, 2)]),
            (1, 0, []),
        )
    ),
    *(
        _case(
            "guessed_values_of_people",
            _FOUND,
            [found],
            {
                "matches": (_MATCHES, matches),
                "people": ("person code_0_1", codes),
                "all_people": ("person code_0_1", [*codes, *_TRUTHS]),
            },
            code=["code_0_1"],
        )
        for found, matches, codes in (
            ((9, 3, 4), _GUESSED, _CODES),
            ((0, 0, 0), [], _CODES),
            ((0, 0, 0), [], []),
        )
    ),
    *(
        _case(
            "guessed_values_of_rows",
            _FOUND,
            [found],
            {
                "matches": (_MATCHES, matches),
                "rows": ("number person code_1_0", codes),
                "background": ("person place code_1_0", _KNOWN_VALUES),
            },
            code=["code_1_0"],
        )
        for found, matches, codes in (
            ((9, 3, 4), [*_GUESSED, (26, 12, 16), (26, 12, 17)], _CODES_OF_ROWS),
            ((0, 0, 0), [], _CODES_OF_ROWS),
            ((0, 0, 0), [(26, 12, 16)], _CODES_OF_ROWS[-9:]),
        )
    ),
]

_LABELS = [
    # Missing labels are on every level; labels count once. The released column can be called like that of the labels.
    *(
        _case(
            "labels_of_other_levels",
            "missing",
            [(missing,)],
            {"released": (f"n {name}", list(enumerate(released))), "labels": ("label", [(label,) for label in labels])},
            column=[name],
        )
        for missing, name, released, labels in (
            (3, "zip", ["a", "b", "a", None, "", "b", "c", "*", "c"], ["b", "d", "*"]),
            (0, "label", ["a", None, "a", "*"], ["*", "a", None, "b"]),
            (2, "zip", ["A", "a ", "a"], [None, "a"]),
            (0, "zip", [], ["a"]),
        )
    ),
]

CASES = [*_EXPOSED, *_RELEASED, *_DRAWN, *_MATCHED, *_TRIPLES, *_COUNTED, *_LABELS]
