"""Every file of `sql/`: its header tells the truth, and given rows become the expected ones on each engine."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
import sqlglot
from sqlglot import exp

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation
from kanon_sql.resources import folder

FILES = sorted(folder("sql").glob("*.sql"))
KINDS = {"relation": Relation, "predicate": Predicate, "columns": (list, dict), "value": (int, str)}
HEADER = re.compile(
    r"""-- name: (?P<name>\w+)
-- (?P<sentence>[A-Z].*\.)
-- reads: (?P<reads>.+)
-- holes: (?P<holes>.+)
-- gives: (?P<gives>.+)
(-- engines: (?P<engines>[\w, ]+)
)?(?P<body>SELECT[\s\S]+)"""
)


@dataclass(frozen=True)
class Query:
    """A file of `sql/`, its header apart from its tree."""

    path: Path

    @property
    def header(self) -> Mapping[str, str]:
        found = HEADER.fullmatch(self.path.read_text(encoding="utf-8"))
        assert found, f"{self.path.name}: the header is name, a sentence, reads, holes, gives, engines (if not all)"
        return found.groupdict()

    @property
    def body(self) -> str:
        return self.header["body"]

    @property
    def tree(self) -> exp.Expression:
        return sqlglot.parse_one(self.body, "duckdb")

    @property
    def holes(self) -> list[tuple[str, str]]:
        return re.findall(r"\$(\w+) (\w+)", self.header["holes"])


QUERIES = {path.stem: Query(path) for path in FILES}
every_query = pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)


@every_query
def test_the_header_agrees_with_the_query(query: Query) -> None:
    header, placeholders = query.header, list(query.tree.find_all(exp.Placeholder))
    assert header["name"] == query.path.stem
    assert len(query.holes) == header["holes"].count("$")
    assert sorted(dict(query.holes)) == sorted({hole.name for hole in placeholders})
    for hole in placeholders:
        kind = dict(query.holes)[hole.name]
        assert kind in KINDS
        assert (kind == "relation") == isinstance(hole.parent, exp.Table), hole.name
        if kind == "predicate":  # what is not known to be safe is not
            unknown_is_unsafe = isinstance(hole.parent, exp.Coalesce) and hole.parent.expressions == [exp.false()]
            assert unknown_is_unsafe, f"write COALESCE(${hole.name}, FALSE)"
    for name, kind in query.holes:
        assert kind != "relation" or re.search(rf"\b{name} \(", header["reads"]), f"reads: does not tell {name}"
    for column in query.tree.selects:
        assert not column.alias or re.search(rf"\b{column.alias}\b", header["gives"]), f"gives: lacks {column.alias}"


# What is no SQL elsewhere, or means something else there; with a text that must be found.
BANNED = {
    r"\bGROUP\s+BY\s+ALL\b": "GROUP BY ALL",
    r"\bORDER\s+BY\s+ALL\b": "ORDER BY ALL",
    r"\bEXCLUDE\b": "SELECT * EXCLUDE (a)",
    r"\*\s*REPLACE\b": "SELECT * REPLACE (a AS b)",
    r"\bQUALIFY\b": "QUALIFY ROW_NUMBER() = 1",
    r"\bHASH\s*\(": "hash(a)",
    r"\bHISTOGRAM\b": "histogram(a)",
    r"\bBY\s+NAME\b": "UNION ALL BY NAME",
    r"\bCREATE\s+OR\s+REPLACE\b": "CREATE OR REPLACE TABLE t",
    r"\bANY_VALUE\b|\bFIRST\s*\(|\bARBITRARY\b": "first(a)",
    r"\b(NULLS\s+FIRST|NULLS\s+LAST)\b": "ORDER BY a NULLS LAST",
    r"\bIS\s+(NOT\s+)?DISTINCT\s+FROM\b": "a IS NOT DISTINCT FROM b",
    r"\bCOLUMNS\s*\(": "COLUMNS(*)",
    r"\b(USING\s+)?(TABLE)?SAMPLE\b": "USING SAMPLE 5",
    r"::": "a::INTEGER",
    r"\bRANDOM\s*\(": "random()",
}
STAR = r"(?<!COUNT\()\*\s*(FROM|,|$)|\.\*"


@every_query
def test_only_portable_words(query: Query) -> None:
    banned = BANNED if query.header["engines"] else {**BANNED, STAR: "SELECT * FROM t"}
    for pattern, example in banned.items():
        assert re.search(pattern, example, re.IGNORECASE)
        assert not re.search(pattern, query.body, re.IGNORECASE), f"{example} is banned"


# Given and expected rows

Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Case:
    """What a query makes of literal relations (name: types, rows) or files (name: text, or columns)."""

    query: str
    holes: Mapping[str, Any]
    columns: Sequence[str]
    expected: Rows
    relations: Mapping[str, tuple[Mapping[str, str], Rows]] = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)


AT_LEAST_2 = Predicate("SUM(n) >= $k", {"k": 2})
UNKNOWN_OF_3 = Predicate("NULLIF(SUM(n), $three) > 0", {"three": 3})  # NULL for a class of three
COUNTED = Relation("counted")
# Classes by age_0: 0 has 1 + 2 rows, 1 has 1, 2 has 4. By zip_0: 0 has 1 + 4, 1 has 2 + 1.
_FREQUENCY_TYPES = dict.fromkeys(["age_0", "age_1", "zip_0", "zip_0_loss", "n"], "INTEGER")
FREQUENCY_SET = {"counted": (_FREQUENCY_TYPES, [(0, 0, 0, 1, 1), (0, 0, 1, 0, 2), (1, 0, 1, 3, 1), (2, 1, 0, 8, 4)])}
NO_ROWS = {"counted": (_FREQUENCY_TYPES, [])}
PEOPLE = {
    "odd people": (
        {"Age": "INTEGER", 'a "zip"; n': "VARCHAR"},
        [(40, "x"), (None, "x"), (40, "x"), (40, None), (None, "x"), (40, ""), (7, "x")],
    )
}
_PEOPLE = {"columns": {"age": "Age", "zip": 'a "zip"; n'}, "source": Relation("odd people")}


def _on_node(safe: Predicate, levels: Sequence[str], node: int | None = None, **more: Any) -> dict[str, Any]:
    numbered = {} if node is None else {"node": node}
    return {"frequency_set": COUNTED, "levels": list(levels), "safe": safe, **numbered, **more}


def _summary(safe: Predicate) -> dict[str, Any]:
    plain = {"age": "Age", "zip": 'a "zip"; n'}
    return {"release": Relation("odd people"), "quasi_identifiers": plain, "names": list(plain), "safe": safe}


_AT_RISK, _CLASSES = ("node", "rows_at_risk"), ("node", "classes", "released_rows", "smallest_class", "squares")
_SUMMARY = ("rows", "classes", "smallest_class", "unsafe_classes", "unsafe_rows")
_PROFILE = (
    "distinct_values",
    "null_rows",
    "unique_rows",
    "unique_values",
    "smallest_class",
    "largest_class",
    "small_rows",
)
_NUMBERS = {"numbers": ({"size": "DOUBLE PRECISION"}, [(1.0,), (2.5,), (-0.25,), (None,), (-3.0,)])}

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
_SHOWN_TYPES = {"class": "INTEGER", "n": "INTEGER", "label_0": "VARCHAR", "leaves_0": "INTEGER"}
_SHOWN_TYPES |= {"label_1": "VARCHAR", "leaves_1": "INTEGER", "level_1": "INTEGER"}
LOCAL = {
    "shown": (
        _SHOWN_TYPES,
        [(0, 2, "a", 1, None, 1, 0), (1, 4, "b", 1, "*", 2, 1), (2, 3, "a", 1, None, 1, 0)],
    )
}

CASES = [
    Case("node_test", _on_node(AT_LEAST_2, ["age_0"], 7), _AT_RISK, [(7, 1)], FREQUENCY_SET),
    Case("node_test", _on_node(AT_LEAST_2, ["age_0", "zip_0"], 8), _AT_RISK, [(8, 2)], FREQUENCY_SET),
    Case("node_test", _on_node(UNKNOWN_OF_3, ["age_0"], 9), _AT_RISK, [(9, 3)], FREQUENCY_SET),
    Case("node_test", _on_node(AT_LEAST_2, ["age_0"], 7), _AT_RISK, [(7, 0)], NO_ROWS),
    Case("node_classes", _on_node(AT_LEAST_2, ["age_0"], 7), _CLASSES, [(7, 2, 7, 3, 25)], FREQUENCY_SET),
    Case("node_classes", _on_node(AT_LEAST_2, ["age_1"], 7), _CLASSES, [(7, 2, 8, 4, 32)], FREQUENCY_SET),
    Case("node_classes", _on_node(UNKNOWN_OF_3, ["age_0"], 7), _CLASSES, [(7, 2, 5, 1, 17)], FREQUENCY_SET),
    Case("node_classes", _on_node(AT_LEAST_2, ["age_0"], 7), _CLASSES, [(7, 0, 0, None, 0)], NO_ROWS),
    Case(
        "node_loss",
        _on_node(AT_LEAST_2, ["age_0", "zip_0"], 7, losses=["zip_0_loss", "age_1"]),
        (*_AT_RISK, "zip_0_loss", "age_1"),
        [(7, 2, 4, 0)],
        FREQUENCY_SET,
    ),
    Case(
        "node_loss",
        _on_node(UNKNOWN_OF_3, ["age_0"], 7, losses=["zip_0_loss"]),
        (*_AT_RISK, "zip_0_loss"),
        [(7, 3, 1)],
        FREQUENCY_SET,
    ),
    Case(
        "node_loss",
        _on_node(AT_LEAST_2, ["age_0"], 7, losses=["zip_0_loss"]),
        (*_AT_RISK, "zip_0_loss"),
        [(7, 0, 0)],
        NO_ROWS,
    ),
    Case("released_classes", _on_node(AT_LEAST_2, ["age_0"]), ["age_0"], [(0,), (2,)], FREQUENCY_SET),
    Case("released_classes", _on_node(UNKNOWN_OF_3, ["age_0"]), ["age_0"], [(1,), (2,)], FREQUENCY_SET),
    Case(
        "level_losses",
        {"frequency_set": COUNTED, "losses": ["zip_0_loss", "age_1"]},
        ["rows", "zip_0_loss", "age_1"],
        [(8, 12, 1)],
        FREQUENCY_SET,
    ),
    Case(
        "level_losses",
        {"frequency_set": COUNTED, "losses": ["zip_0_loss"]},
        ["rows", "zip_0_loss"],
        [(0, 0)],
        NO_ROWS,
    ),
    Case(
        "rollup",
        {"frequency_set": COUNTED, "keys": ["age_0"], "levels": ["age_1"], "sums": ["zip_0_loss", "n"]},
        ["age_0", "age_1", "zip_0_loss", "n"],
        [(0, 0, 1, 3), (1, 0, 3, 1), (2, 1, 8, 4)],
        FREQUENCY_SET,
    ),
    Case("total_rows", {"counted": COUNTED}, ["rows"], [(8,)], FREQUENCY_SET),
    Case("total_rows", {"counted": COUNTED}, ["rows"], [(0,)], NO_ROWS),
    Case("row_count", {"relation": COUNTED}, ["rows"], [(4,)], FREQUENCY_SET),
    Case(
        "column_values",
        {"column": ["zip_0"], "tuples": COUNTED},
        ["value", "n"],
        [(0, 5), (1, 3)],
        FREQUENCY_SET,
    ),
    Case(
        "tuples",
        _PEOPLE,
        ["age", "zip", "n"],
        [(40, "x", 2), (None, "x", 2), (40, None, 1), (40, "", 1), (7, "x", 1)],
        PEOPLE,
    ),
    Case(
        "class_sizes",
        {"release": Relation("odd people"), "quasi_identifiers": ["Age", 'a "zip"; n']},
        ["size", "classes"],
        [(1, 3), (2, 2)],
        PEOPLE,
    ),
    Case("class_summary", _summary(AT_LEAST_2), _SUMMARY, [(7, 5, 1, 3, 3)], PEOPLE),
    Case("class_summary", _summary(Predicate("SUM(n) >= 1")), _SUMMARY, [(7, 5, 1, 0, 0)], PEOPLE),
    Case("class_summary", _summary(Predicate("NULLIF(SUM(n), 2) > 0")), _SUMMARY, [(7, 5, 1, 2, 4)], PEOPLE),
    Case(
        "class_summary",
        _summary(AT_LEAST_2),
        _SUMMARY,
        [(0, 0, None, 0, 0)],
        {name: (types, []) for name, (types, _) in PEOPLE.items()},
    ),
    Case(
        "view_mapping",
        {"mapping": Relation("map"), "columns": {"code": "code_1", "label": "label_1"}},
        ["value", "code", "label"],
        [("a", 0, "ab"), ("b", 0, "ab"), ("c", 1, None)],
        {
            "map": (
                {"value": "VARCHAR", "code_0": "INTEGER", "code_1": "INTEGER", "label_1": "VARCHAR"},
                [("a", 0, 0, "ab"), ("b", 1, 0, "ab"), ("c", 2, 1, None)],
            )
        },
    ),
    Case(
        "distinct_sample",
        {"source": Relation("odd people"), "columns": _PEOPLE["columns"], "counted": ["age", "zip"], "most": 100},
        ["rows", "age", "zip"],
        [(7, 2, 2)],
        PEOPLE,
    ),
    Case(
        "distinct_sample",
        {"source": Relation("odd people"), "columns": {"age": "Age"}, "counted": ["age"], "most": 1},
        ["rows", "age"],
        [(1, 1)],
        {"odd people": ({"Age": "INTEGER"}, [(40,), (40,)])},
    ),
    Case(
        "profile_codes",
        {"column": ["word"], "tuples": Relation("words")},
        ["value", "code_0"],
        [("a", 1)],
        {"words": ({"word": "VARCHAR"}, [("a",), (None,), ("a",)])},
    ),
    Case(
        "profile_column",
        {"column": ["Age"], "source": Relation("odd people"), "small": 3},
        _PROFILE,
        [(3, 2, 1, 1, 1, 4, 3)],
        PEOPLE,
    ),
    Case(
        "profile_column",
        {"column": ['a "zip"; n'], "source": Relation("odd people"), "small": 1},
        _PROFILE,
        [(3, 1, 2, 1, 1, 5, 0)],
        PEOPLE,
    ),
    Case(
        "kept_rows",
        {**_on_node(AT_LEAST_2, ["age_0"]), "kept": Relation("kept"), "code": {"code": "zip_0"}},
        ["rows"],
        [(2,)],  # of age 0, the two rows of zip 1; age 1 is not released
        FREQUENCY_SET | {"kept": ({"kept_code": "INTEGER"}, [(1,)])},
    ),
    Case(
        "node_assignment",
        _on_node(AT_LEAST_2, ["age_0"], keys=["age_0", "zip_0"]),
        ["age_0", "zip_0", "n", "class"],
        [(0, 0, 1, 1), (0, 1, 2, 1), (2, 0, 4, 3)],
        FREQUENCY_SET,
    ),
    Case("class_mean", _MEMBERS, ["class", "shown"], [(0, 15.0), (1, None)], MEMBERS),
    Case("class_median", _MEMBERS, ["class", "shown"], [(0, 10), (1, None)], MEMBERS),
    Case("class_mode", _MEMBERS, ["class", "shown"], [(0, 10), (1, None)], MEMBERS),
    Case(
        "local_figures",
        {"classes": Relation("shown"), "labels": ["label_0", "label_1"], "leaves": ["leaves_0", "leaves_1"]},
        ["classes", "released_rows", "smallest_class", "squares", "leaves_0", "leaves_1"],
        [(2, 9, 4, 41, 9, 13)],  # classes 0 and 2 show the same, NULL included
        LOCAL,
    ),
    Case(
        "local_figures",
        {"classes": Relation("shown"), "labels": ["label_0"], "leaves": ["leaves_0"]},
        ["classes", "released_rows", "smallest_class", "squares", "leaves_0"],
        [(0, 0, None, 0, 0)],
        {name: (types, []) for name, (types, _) in LOCAL.items()},
    ),
    Case(
        "local_levels",
        {"classes": Relation("shown"), "level": ["level_1"]},
        ["level", "n"],
        [(0, 5), (1, 4)],
        LOCAL,
    ),
    Case("copy", _PEOPLE, ["age", "zip"], PEOPLE["odd people"][1], PEOPLE),
    Case("profile_fractions", {"column": ["size"], "source": Relation("numbers")}, ["fractions"], [(2,)], _NUMBERS),
    Case(
        "profile_set",
        {"node": 5, "frequency_set": COUNTED, "levels": ["age_0"], "small": 4},
        ["node", "combinations", "unique_rows", "small_rows"],
        [(5, 3, 1, 4)],
        FREQUENCY_SET,
    ),
    Case(
        "read_csv",
        {"path": "given*.csv"},
        ["zip", "age"],
        [("02138", 1), ("NL1", 2), (None, None)],  # an empty field is NULL, quoted or not
        files={"given1.csv": "zip,age\n02138,1\n", "given2.csv": 'age,zip\n2,NL1\n,""\n'},
    ),
    Case(
        "read_parquet",
        {"path": "given*.parquet"},
        ["zip", "age"],
        [("02138", None), (None, 2)],
        files={"given1.parquet": {"zip": ["02138"]}, "given2.parquet": {"age": [2], "zip": [None]}},
    ),
    Case(
        "read_written_csv",
        {"path": "given.csv"},
        ["zip", "age"],
        [("02138", "1"), ("", None), ('a"b,c', "1.50")],
        files={"given.csv": 'zip,age\n02138,1\n"",\n"a""b,c",1.50\n'},
    ),
]


# Local recoding by rules: four tuples of two attributes, with what levels make of them


def _relation(name: str, columns: str, *rows: Sequence[Any], **types: str) -> dict[str, tuple[Mapping[str, str], Rows]]:
    """A literal relation of integers; other types by column."""
    return {name: ({column: types.get(column, "INTEGER") for column in columns.split()}, rows)}


_RULED = _relation("ruled", "tuple n a_0 a_1 b_0", (1, 1, 0, 7, 0), (2, 1, 1, 7, 0), (3, 3, 1, 7, 1), (4, 1, 2, -3, 1))
_GROUPED = _relation("members", "node class tuple", (4, 1, 1), (4, 1, 2), (5, 2, 2), (5, 2, 3), (6, 4, 4))
_RULED_AS, _MEMBERS_AS = Relation("ruled"), Relation("members")
_DONE = _relation("done", "tuple node", (1, 4), (3, 5))
_NUMBERED = _relation("numbered", "class tuple n", (0, 1, 1), (0, 2, 1), (1, 3, 3))
_HIERARCHY = _relation("map", "value code_0 code_1", ("a", 0, 0), ("b", 1, 0), ("c", 2, 1), value="VARCHAR")
_COMMON = "class attribute level code n loss"
_COMMONS = _relation(
    "common",
    _COMMON,
    (0, 0, 1, 7, 2, 0.5),
    (0, 0, 2, 0, 2, 1.0),
    (1, 0, 0, 1, 3, 0.25),
    (1, 0, 2, 0, 3, 1.0),
    loss="DOUBLE",
)
_MATCHED = "class tuple attribute level n rows loss"
_MATCHES = _relation(
    "matches",
    _MATCHED,
    *[(0, 8, 0, 1, 2, 1, 0.5), (0, 8, 0, 2, 2, 1, 1.0), (1, 8, 0, 2, 3, 1, 1.0)],
    *[(0, 9, 0, 2, 2, 1, 1.0), (1, 9, 0, 2, 3, 1, 1.0)],
    loss="DOUBLE",
)
_LABELS = _relation(
    "labels",
    "attribute rule_level code label leaves level",
    *[(0, 0, 1, "b", 1, 0), (0, 1, 7, "ab", 2, 1), (0, 1, -2, "b", 1, 0), (0, 2, 7, "ab", 2, 1), (0, 3, 0, "*", 4, 2)],
    label="VARCHAR",
)
_BY_RULES = [
    Case(
        "rule_values",
        {"mapping": Relation("map")},
        ["code", "label"],
        [(0, "1.5"), (1, None)],
        _relation("map", "value code_0", (1.5, 0), (None, 1), value="DOUBLE"),
    ),
    Case(
        "rule_keys",
        {"columns": {"a": "age_0", "b": "zip_0"}, "frequency_set": COUNTED},
        ["a", "b", "n"],
        [(0, 0, 1), (0, 1, 5), (1, 1, 1)],
        _relation("counted", "age_0 zip_0 n", (0, 0, 1), (0, 1, 2), (0, 1, 3), (1, 1, 1)),
    ),
    Case(
        "numbered_tuples",
        {"columns": ["age_0", "zip_0"], "tuples": COUNTED},
        ["tuple", "n", "age_0", "zip_0"],
        [(1, 1, 0, 0), (2, 2, 0, 1), (3, 1, 1, 1), (4, 4, 2, 0)],
        FREQUENCY_SET,
    ),
    Case(
        "unsafe_tuples",
        {"tuples": _RULED_AS, "safe": AT_LEAST_2},
        ["tuple", "n", "a_0", "a_1", "b_0"],
        [(1, 1, 0, 7, 0), (2, 1, 1, 7, 0), (4, 1, 2, -3, 1)],
        _RULED,
    ),
    Case(
        "remaining",
        {"tuples": _RULED_AS, "recoded": Relation("done")},
        ["tuple", "n", "a_0", "a_1", "b_0"],
        [(2, 1, 1, 7, 0), (4, 1, 2, -3, 1)],
        {**_RULED, **_DONE},
    ),
    Case(
        "rule_groups",
        _on_node(AT_LEAST_2, ["a_1", "b_0"], 5, frequency_set=_RULED_AS),
        ["node", "class", "tuple"],
        [(5, 1, 1), (5, 1, 2), (5, 3, 3)],
        _RULED,
    ),
    Case(
        "group_places",
        {"members": _MEMBERS_AS, "tuples": _RULED_AS, "safe": AT_LEAST_2},
        ["node", "class", "place"],
        [(5, 2, 1), (4, 1, 2)],
        {**_RULED, **_GROUPED},
    ),
    Case(
        "best_groups",
        {"members": _MEMBERS_AS, "places": Relation("places")},
        ["node", "class"],
        [(5, 2), (6, 4)],
        {**_GROUPED, **_relation("places", "node class place", (5, 2, 1), (4, 1, 2), (6, 4, 3))},
    ),
    Case(
        "group_tuples",
        {"members": _MEMBERS_AS, "chosen": Relation("chosen")},
        ["tuple", "node"],
        [(2, 5), (3, 5)],
        {**_GROUPED, **_relation("chosen", "node class", (5, 2))},
    ),
    Case(
        "not_recoded",
        {"node": 9, "tuples": _RULED_AS, "recoded": Relation("done")},
        ["tuple", "node"],
        [(2, 9), (4, 9)],
        {**_RULED, **_DONE},
    ),
    Case("used_nodes", {"recoded": Relation("done")}, ["node"], [(4,), (5,)], _DONE),
    Case(
        "rule_cells",
        {"attribute": 0, "level": 1, "column": ["a_1"], "tuples": _RULED_AS},
        ["attribute", "level", "tuple", "code"],
        [(0, 1, 1, 7), (0, 1, 2, 7), (0, 1, 3, 7), (0, 1, 4, -3)],
        _RULED,
    ),
    Case(
        "common_cells",
        {name: Relation(name) for name in ("cells", "numbered", "recoded", "nodes", "labels", "attributes")},
        _COMMON.split(),
        [(0, 0, 1, 7, 2, 1.0), (0, 0, 3, 0, 2, 2.0), (1, 0, 3, 0, 3, 2.0)],
        {
            **_relation(
                "cells",
                "attribute level tuple code",
                *[(0, 0, 1, 0), (0, 1, 1, 7), (0, 3, 1, 0), (0, 0, 2, 1), (0, 1, 2, 7), (0, 3, 2, 0)],
                *[(0, 0, 3, 1), (0, 1, 3, 7), (0, 3, 3, 0)],
            ),
            **_NUMBERED,
            **_relation("recoded", "tuple node", (1, 0), (2, 0), (3, 1)),
            **_relation("nodes", "node attribute level", (0, 0, 0), (1, 0, 3)),
            **_LABELS,
            **_relation("attributes", "attribute weight", (0, 0.5), weight="DOUBLE"),
        },
    ),
    Case(
        "matching_cells",
        {"common": Relation("common"), "cells": Relation("cells"), "left_over": Relation("left")},
        _MATCHED.split(),
        [(0, 8, 0, 1, 2, 1, 0.5), (0, 8, 0, 2, 2, 1, 1.0), (1, 8, 0, 2, 3, 1, 1.0)],
        {
            **_COMMONS,
            **_relation("cells", "attribute level tuple code", (0, 0, 8, 5), (0, 1, 8, 7), (0, 2, 8, 0), (0, 1, 9, 7)),
            **_relation("left", "tuple n", (8, 1)),
        },
    ),
    Case(
        "cheapest_classes",
        {"matches": Relation("matches"), "common": Relation("common")},
        ["tuple", "class"],
        [(8, 0), (9, 0)],  # 8: 3 * 0.5 - 2 * 0.5 = 0.5 against 4 - 3 * 0.25; 9: 3 - 1 = 2 against 3.25
        {**_MATCHES, **_COMMONS},
    ),
    Case(
        "joint_levels",
        {"matches": Relation("matches"), "chosen": Relation("chosen")},
        ["class", "attribute", "level"],
        [(0, 0, 2)],
        {**_MATCHES, **_relation("chosen", "tuple class", (8, 0), (9, 0))},
    ),
    Case(
        "grown_classes",
        {"numbered": Relation("numbered"), "chosen": Relation("chosen"), "grown": Relation("grown")},
        ["tuple", "node"],
        [(1, 7), (2, 7), (8, 7)],
        {
            **_NUMBERED,
            **_relation("chosen", "tuple class", (8, 0)),
            **_relation("grown", "class node", (0, 7)),
        },
    ),
    Case(
        "recoded_anew",
        {"kept": Relation("done"), "moved": Relation("moved")},
        ["tuple", "node"],
        [(1, 4), (3, 5), (8, 6)],
        {**_DONE, **_relation("moved", "tuple node", (8, 6))},
    ),
    Case(
        "open_tuples",
        {"tuples": _RULED_AS, "remaining": Relation("done"), "columns": ["a_0"]},
        ["tuple", "n", "a_0", "open"],
        [(1, 1, 0, True), (2, 1, 1, False), (3, 3, 1, True), (4, 1, 2, False)],
        {**_RULED, **_DONE},
    ),
    Case(
        "suppressible",
        _on_node(AT_LEAST_2, ["b_0"], 5, frequency_set=_RULED_AS),
        ["node", "n", "others", "tuple"],
        [(5, 2, 1, 1), (5, 4, 1, 3), (5, 4, 1, 4)],
        _relation(
            "ruled",
            "tuple n b_0 open",
            *[(1, 1, 0, True), (2, 1, 0, False), (3, 3, 1, True), (4, 1, 1, True), (5, 1, 2, True)],
            open="BOOLEAN",
        ),
    ),
    Case(
        "first_suppressions",
        {"candidates": Relation("candidates"), "nodes": Relation("nodes"), "k": 2},
        ["tuple", "node"],
        [(2, 4), (3, 6), (4, 5)],  # 1: a domain of 2, which is not above k; 5: 3 - 2 others leave one value
        {
            **_relation(
                "candidates",
                "node n others tuple",
                *[(3, 2, 1, 1), (3, 2, 1, 2), (4, 9, 1, 2), (6, 9, 1, 2), (6, 4, 3, 3), (5, 2, 1, 4), (4, 9, 2, 5)],
            ),
            **_relation("nodes", "node domain", (3, 2), (4, 3), (5, 4), (6, 6)),
        },
    ),
    Case(
        "numbered_classes",
        {"labels": ["label_0"], "cells": ["label_0"], "labelled": Relation("labelled")},
        ["class", "tuple", "n", "label_0"],
        [(0, 2, 5, "x"), (0, 3, 1, "x"), (1, 1, 1, "y"), (2, 4, 1, None)],
        _relation(
            "labelled", "tuple n label_0", (1, 1, "y"), (2, 5, "x"), (3, 1, "x"), (4, 1, None), label_0="VARCHAR"
        ),
    ),
    Case(
        "own_classes",
        {"cells": ["label_0", "leaves_0"], "numbered": Relation("numbered")},
        ["class", "n", "label_0", "leaves_0"],
        [(0, 6, "x", 2), (1, 1, None, 1)],
        _relation(
            "numbered", "class n label_0 leaves_0", (0, 5, "x", 2), (0, 1, "x", 2), (1, 1, None, 1), label_0="VARCHAR"
        ),
    ),
    Case(
        "own_assignment",
        {"columns": {"age_0": "a_0"}, "tuples": _RULED_AS, "numbered": Relation("numbered")},
        ["age_0", "n", "class"],
        [(0, 1, 0), (1, 1, 0), (1, 3, 1)],
        {**_RULED, **_NUMBERED},
    ),
    Case(
        "wildcard_rows",
        {"quasi_identifiers": {"label_0": "Age"}, "names": ["label_0"], "release": Relation("odd people")},
        ["class", "n", "label_0"],
        [(1, 4, "40"), (2, 1, "7")],
        {"odd people": (PEOPLE["odd people"][0], [row for row in PEOPLE["odd people"][1] if row[0]])},
    ),
    Case(
        "readable_labels",
        {"labels": Relation("labels")},
        ["attribute", "label", "level", "code"],
        [(0, "b", 0, 1), (0, "ab", 2, 7), (0, "*", 3, 0)],
        _LABELS,
    ),
    Case(
        "wildcard_patterns",
        {"readings": Relation("readings"), "levels": ["level_0"], "codes": ["code_0"]},
        ["pattern", "class", "level_0", "code_0"],
        [(0, 4, 0, 7), (1, 5, 2, 1), (1, 6, 2, 3)],
        _relation("readings", "class level_0 code_0", (5, 2, 1), (4, 0, 7), (6, 2, 3)),
    ),
    Case(
        "pattern_levels",
        {"patterns": Relation("patterns"), "levels": ["level_0"]},
        ["pattern", "level_0"],
        [(0, 0), (1, 2)],
        _relation("patterns", "pattern class level_0", (1, 5, 2), (0, 4, 0), (1, 6, 2)),
    ),
    Case(
        "wildcard_fits",
        _on_node(AT_LEAST_2, ["a_1"], 1, frequency_set=Relation("beside")),
        ["class", "fits", "safe"],
        [(5, 3, True), (6, 0, False), (8, 3, True)],
        _relation(
            "beside",
            "pattern class n a_1",
            *[(None, None, 1, 7), (None, None, 2, 7), (None, None, 1, 4)],
            *[(1, 5, 0, 7), (1, 8, 0, 7), (1, 6, 0, 3), (2, 9, 0, 7)],
        ),
    ),
    Case(
        "wildcard_summary",
        {"rows": Relation("rows"), "fits": Relation("fits"), "safe": AT_LEAST_2},
        ["rows", "classes", "smallest_class", "unsafe_class_rows", "smallest_fit", "unsafe_rows"],
        [(6, 4, 1, 3, 0, 2)],  # 5 is safe in itself, 6 by what it fits, 7 and 8 are not
        {
            **_relation("rows", "class n", (5, 3), (6, 1), (7, 1), (8, 1)),
            **_relation("fits", "class fits safe", (5, 1, False), (6, 4, True), (7, 1, False), safe="BOOLEAN"),
        },
    ),
    Case(
        "wildcard_summary",
        {"rows": Relation("rows"), "fits": Relation("fits"), "safe": UNKNOWN_OF_3},
        ["rows", "classes", "smallest_class", "unsafe_class_rows", "smallest_fit", "unsafe_rows"],
        [(3, 1, 3, 3, 0, 3)],
        {**_relation("rows", "class n", (5, 3)), **_relation("fits", "class fits safe", safe="BOOLEAN")},
    ),
    Case(
        "quality_cells",
        {
            "value": ["a_0"],
            "label": ["label_1"],
            "assignment": Relation("assigned"),
            "classes": Relation("classes"),
        },
        ["value", "label", "n"],
        [(0, "x", 3), (1, "x", 1), (1, "*", 5), (2, None, 4)],
        {
            **_relation("assigned", "a_0 n class", (0, 1, 7), (0, 2, 7), (1, 1, 7), (1, 5, None), (2, 4, 8)),
            **_relation("classes", "class label_1", (7, "x"), (8, None), label_1="VARCHAR"),
        },
    ),
    Case(
        "quality_levels",
        {"cells": Relation("cells"), "labels": Relation("labels")},
        ["value", "level", "leaves", "n"],
        [(0, 1, 2, 5), (1, None, None, 1), (2, 0, 1, 4)],
        {
            **_relation("cells", "value label n", (0, "x", 3), (0, "y", 2), (1, "z", 1), (2, None, 4), label="VARCHAR"),
            **_relation("labels", "label level leaves", ("x", 1, 2), ("y", 1, 2), (None, 0, 1), label="VARCHAR"),
        },
    ),
    Case(
        "quality_sums",
        {"levels": Relation("levels")},
        ["level", "n", "leaves"],
        [(0, 4, 4), (1, 3, 6)],
        _relation("levels", "value level leaves n", (0, 1, 2, 2), (1, 1, 2, 1), (1, 0, 1, 4)),
    ),
    Case(
        "entropy_step",
        {
            "levels": Relation("levels"),
            "mapping": Relation("map"),
            "fine": ["code_0"],
            "coarse": ["code_1"],
            "level": 1,
        },
        ["bits"],
        [(2.0,)],  # a and b, once each, become one label; of c nothing is lost, and below level 1 nothing is counted
        {**_HIERARCHY, **_relation("levels", "value level n", (0, 1, 1), (1, 1, 1), (2, 2, 5), (0, 0, 9))},
    ),
]
CASES += _BY_RULES


def test_every_query_has_given_and_expected_rows() -> None:
    assert sorted(QUERIES) == sorted({case.query for case in CASES})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.query)
def test_given_rows_become_the_expected_ones(
    engine: Engine, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = QUERIES[case.query]
    engines = query.header["engines"]
    if engines and engine.name not in engines:
        pytest.skip(f"{query.path.name} is for {engines} only")
    monkeypatch.chdir(tmp_path)
    _write(case.files)
    for name, (types, rows) in case.relations.items():
        engine.load(Relation(name), types, list(zip(*rows, strict=True)) or [[]] * len(types))
    for name, kind in query.holes:
        assert isinstance(case.holes[name], KINDS[kind])
    sql = queries.text(case.query, engine.dialect, **case.holes)
    found = engine.rows(sql)
    assert sorted(found, key=repr) == sorted(map(tuple, case.expected), key=repr)
    if query.tree.args.get("order"):
        assert found == list(case.expected)
    result = queries.scratch("given_result")
    engine.send(sql, engine, result)
    assert [column.name for column in engine.table(result).columns] == list(case.columns)


def _write(files: Mapping[str, Any]) -> None:
    for name, content in files.items():
        if isinstance(content, str):
            Path(name).write_text(content, encoding="utf-8")
        else:
            pyarrow.parquet.write_table(pyarrow.table(content), name)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if "frequency_set" in case.holes and "levels" in case.holes and case.query != "rollup"],
    ids=lambda case: case.query,
)
def test_a_query_prepared_per_node_is_the_same_query(engine: Engine, case: Case) -> None:
    per_node = ("node", "frequency_set", "levels")
    fixed = {name: hole for name, hole in case.holes.items() if name not in per_node}
    prepared = queries.per_node(case.query, engine.dialect, **fixed)
    whole = queries.text(case.query, engine.dialect, **case.holes)
    assert prepared(case.holes.get("node", 0), case.holes["frequency_set"], case.holes["levels"]) == whole


@pytest.mark.parametrize("name", ["a b", 'a"', "a; DROP TABLE t", "é", ""])
def test_a_prepared_query_takes_plain_level_names_only(name: str) -> None:
    prepared = queries.per_node("released_classes", "duckdb", safe=AT_LEAST_2)
    with pytest.raises(ValueError, match="not a plain column name"):
        prepared(0, COUNTED, [name])


def test_a_hole_left_open_or_unknown_is_an_error() -> None:
    with pytest.raises(ValueError, match="filled with"):
        queries.text("row_count", "duckdb")
    with pytest.raises(ValueError, match="filled with"):
        queries.text("row_count", "duckdb", relation=COUNTED, other=1)
