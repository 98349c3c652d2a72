"""Every file of `sql/`: its header tells the truth, and given rows become the expected ones on each engine."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
import sqlglot
from sqlglot import exp

from cloak_cases import CASES as CLOAK_CASES
from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation, Steps
from kanon_sql.resources import folder

FILES = sorted(folder("sql").glob("*/*.sql"))
VALUES = (int, float, str, type(None))
KINDS = {"relation": Relation, "predicate": Predicate, "columns": (list, dict), "value": VALUES, "steps": Steps}
HEADER = re.compile(
    r"""-- name: (?P<name>\w+/\w+)
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


QUERIES = {f"{path.parent.name}/{path.stem}": Query(path) for path in FILES}
every_query = pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)


@every_query
def test_the_header_agrees_with_the_query(query: Query) -> None:
    header, placeholders = query.header, list(query.tree.find_all(exp.Placeholder))
    assert header["name"] == f"{query.path.parent.name}/{query.path.stem}"
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


def misreadable(tree: exp.Expression) -> list[str]:
    """What an engine may take for something else: relations without an alias, columns without a relation.

    Only a last ORDER BY may name a column that the query gives. A predicate speaks of the column `n` of what it is
    asked of, so that a SELECT with a predicate must not call anything `n` that it gives.
    """
    tables = [table.sql("duckdb") for table in tree.find_all(exp.Table) if not table.alias]
    columns = [
        column.sql("duckdb")
        for column in tree.find_all(exp.Column)
        if not column.table and not isinstance(column.this, exp.Placeholder) and not _is_given(column)
    ]
    judged = [hole.find_ancestor(exp.Select) for hole in tree.find_all(exp.Placeholder) if hole.name == "safe"]
    return [*tables, *columns, *("n" for select in judged if select and "n" in select.named_selects)]


def _is_given(column: exp.Column) -> bool:
    ordered = column.parent and column.parent.parent
    if not isinstance(ordered, exp.Order) or not isinstance(ordered.parent, exp.Query):
        return False
    return column.name in ordered.parent.named_selects


@every_query
def test_no_name_can_be_misread(query: Query) -> None:
    if not query.header["engines"]:
        assert misreadable(query.tree) == []


@pytest.mark.parametrize(
    ("sql", "misread"),
    [
        ("SELECT SUM(f.n) AS size FROM $f AS f GROUP BY $levels HAVING SUM(f.n) > 1 ORDER BY size", []),
        ("SELECT SUM(n) AS n FROM $f AS f HAVING SUM(n) > 1", ["n", "n"]),
        ("SELECT SUM(f.n) AS size FROM $f AS f ORDER BY other", ["other"]),
        ("SELECT RANK() OVER (ORDER BY place) AS place FROM $f AS f", ["place"]),
        ("SELECT f.n FROM $f AS f WHERE f.n IN (SELECT g.n FROM $g)", ["$g"]),
        ("SELECT SUM(f.n) AS n FROM $f AS f HAVING COALESCE($safe, FALSE)", ["n"]),
    ],
)
def test_a_name_that_can_be_misread_is_seen(sql: str, misread: list[str]) -> None:
    assert misreadable(sqlglot.parse_one(sql, "duckdb")) == misread


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
HELD_VALUES = {
    "held": (
        {"row": "INTEGER", "value": "DECIMAL(9, 2)", "text": "VARCHAR"},
        [(0, Decimal("1.23"), "1.23"), (1, Decimal("1.23"), "1.234"), (2, Decimal(5), "5.00"), (3, None, None)],
    )
}
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
# MD5('kr') is dcf0d7d2cd120bf4…: the first eight digits make u, the next eight v.
_U, _V = (0xDCF0D7D2 + 0.5) / 2**32, (0xCD120BF4 + 0.5) / 2**32
_DRAWN = dict.fromkeys(["u", "v", "normal", "laplace", "uniform"], "DOUBLE PRECISION")


def _drawn(value_type: str, *rows: Sequence[Any]) -> Mapping[str, tuple[Mapping[str, str], Rows]]:
    """Draws as perturb_draws gives them, all chance of a row being the one number given; u and v apart."""
    full = [(row_id, value, u, v, u, u, u) for row_id, value, u, v in rows]
    return {"draws": ({"row_id": "VARCHAR", "value": value_type, **_DRAWN}, full)}


def _noise(scale: float, **bounds: str | None) -> dict[str, Any]:
    return {"scale": scale, "draw": ["laplace"], "draws": Relation("draws"), **bounds}


_SWAPPED = [(f"r{i}", 10 * i, 0.5, v) for i, v in enumerate([0.9, 0.1, 0.2, 0.8, 0.5, 0.5, 0.3])]
_GROUPED = {
    "grouped": (
        {"group_id": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR"},
        [(2, "1*", "flu"), (1, "2*", None), (2, "1*", "flu"), (2, "1*", "acne"), (1, "2*", "flu"), (1, None, None)],
    )
}


def _halves(rows: Sequence[Any], counts: Rows, type_name: str = "INTEGER") -> dict[str, Any]:
    return {
        "halves of rows": ({"group_id": type_name}, [(group,) for group in rows]),
        "counts": ({"group_id": type_name, "count": type_name}, counts),
    }


_DIVERSITY = {"l": 2, "sensitive": Relation("counts")}
_DIVERSE = ["rows", "groups", "smallest_group", "fewest_values", "unsafe_groups", "unsafe_rows"]
_DIVERSE_COUNTS = {
    "counts": (
        {"group_id": "VARCHAR", "count": "VARCHAR"},
        [("1", "1"), ("1", "1"), ("2", "2"), ("2", "1"), ("3", "2")],
    )
}
_OFFENDERS = {"rows": Relation("halves of rows"), "sensitive": Relation("counts")}
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
# Class 0: one value that is no number of a range; class 1: two values, of which one has no number.
_NOT_NUMBERS = {
    "members": (MEMBERS["members"][0], [(0, 1, 2), (1, 0, 3), (1, 1, 2)]),
    "positions": (MEMBERS["positions"][0], [(0, None, None), (1, None, 7)]),
}
_KEPT_TYPES = {"class": "INTEGER", "low": "VARCHAR", "high": "VARCHAR"}
_KEPT = {
    "members": MEMBERS["members"],
    "positions": (
        {**MEMBERS["positions"][0], "starred": "BOOLEAN"},
        [(*row, False) for row in MEMBERS["positions"][1]],
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

# KACA: classes by codes a_0, a_1, -1 where they are generalized above; blocks by a_1 alone.
_COSTS = {"a_0": 2, "a_1": 3}
_KACA = {name: Relation(name) for name in ("classes", "seekers", "blocks", "pairs", "merges", "parts", "links", "same")}
_PAIR = {"between": Steps({"a_0": 2}, "a", "b")}


def _integers(columns: str, *rows: Sequence[Any]) -> tuple[Mapping[str, str], Rows]:
    return dict.fromkeys(columns.split(), "INTEGER"), rows


_CLASSES_OF_3 = {
    "classes": _integers(
        "class n safe distortion block place a_0 a_1",
        (0, 1, False, 0, 1, 2, 0, 0),
        (1, 4, True, 2, 1, 1, -1, 0),
        (2, 2, False, 0, 2, 3, 5, 1),
    )
}
_SEEKERS_OF_3 = {
    "seekers": _integers("class n distortion block a_0 a_1", (0, 1, 0, 1, 0, 0), (2, 2, 0, 2, 5, 1)),
}
_PAIRS_OF_2 = {
    "pairs": _integers("block other shared rise other_rise", (1, 1, 0, 0, 0), (1, 2, 3, 3, 6), (2, 1, 3, 3, 3))
}

CASES = [
    Case(
        "kaca/tuples",
        {"frequency_set": COUNTED, "values": ["age_0"], "codes": ["age_1"]},
        ["tuple", "class", "every", "age_0", "age_1", "n"],
        [(0, 0, 0, 0, 0, 3), (1, 1, 0, 1, 0, 1), (2, 2, 0, 2, 1, 4)],
        FREQUENCY_SET,
    ),
    Case(
        "kaca/tuples",
        {"frequency_set": COUNTED, "values": ["zip_0"], "codes": []},
        ["tuple", "class", "every", "zip_0", "n"],
        [(0, 0, 0, 0, 5), (1, 1, 0, 1, 3)],
        FREQUENCY_SET,
    ),
    Case(
        "kaca/same",
        {"generalized": Relation("generalized"), "codes": ["a_0", "a_1"]},
        ["class", "one"],
        [(0, 0), (1, 1), (2, 0)],
        {"generalized": _integers("class a_0 a_1", (0, -1, 1), (1, 1, 1), (2, -1, 1))},
    ),
    Case(
        "kaca/parts",
        {name: _KACA[name] for name in ("parts", "links", "same")},
        ["tuple", "class", "n"],
        [(7, 0, 2), (8, 0, 1), (8, 1, 4), (9, 1, 1)],  # three rows of class 1 go to 2, which is 0 by now
        {
            "parts": _integers("tuple class n", (8, 1, 5), (7, 1, 2), (9, 3, 1)),
            "links": _integers("class goes_to low high", (1, 2, 0, 3), (1, 1, 3, 7), (3, 1, 0, 1)),
            "same": _integers("class one", (1, 1), (2, 0)),
        },
    ),
    Case(
        "kaca/block_count",
        {"generalized": Relation("classes"), "columns": ["a_1"]},
        ["blocks"],
        [(2,)],
        _CLASSES_OF_3,
    ),
    Case(
        "kaca/classes",
        {
            "generalized": Relation("generalized"),
            "parts": Relation("parts"),
            "codes": ["a_0", "a_1"],
            "by": ["a_1"],
            "own": Steps(_COSTS, "g"),
            "safe": Predicate("NULLIF(SUM(n), 5) >= 2"),
            "salt": "1|2",
        },
        ["class", "n", "safe", "distortion", "block", "place", "a_0", "a_1"],
        # The MD5 of 1|2|0 begins with 1f, of 1|2|1 with d3, of 1|2|2 with 86.
        [(0, 3, True, 0, 3, 1, 4, 1), (1, 1, False, 2, 2, 3, -1, 0), (2, 5, False, 5, 1, 2, -1, -1)],
        {
            "generalized": _integers("class a_0 a_1", (0, 4, 1), (1, -1, 0), (2, -1, -1), (3, 0, 0)),
            "parts": _integers("tuple class n", (0, 0, 1), (1, 0, 2), (1, 1, 1), (2, 2, 5)),
        },
    ),
    Case("kaca/unsafe", {"classes": _KACA["classes"]}, ["classes", "unsafe"], [(3, 2)], _CLASSES_OF_3),
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
        {"classes": _integers("class n safe distortion block place a_0 a_1", (1, 1, False, 2, 1, 1, -1, 0))},
    ),
    Case(
        "kaca/rest",
        {"parts": _KACA["parts"], "tuples": Relation("tuples"), "values": ["a_0"], "safe": AT_LEAST_2},
        ["tuple", "a_0", "n"],
        [(1, 6, 2)],
        {
            "parts": _integers("tuple class n", (0, 7, 2), (1, 8, 1), (1, 9, 1), (2, 7, 1)),
            "tuples": _integers("tuple a_0", (0, 5), (1, 6), (2, 7)),
        },
    ),
    Case(
        "kaca/cut",
        {
            "parts": _KACA["parts"],
            "rest": Relation("rest"),
            "assignment": Relation("assignment"),
            "values": ["a_0"],
            "above": 100,
            "safe": AT_LEAST_2,
        },
        ["tuple", "class", "n"],
        [(0, 7, 2), (2, 7, 1), (1, 103, 2), (3, 104, 1)],
        {
            "parts": _integers("tuple class n", (0, 7, 2), (1, 8, 1), (1, 9, 1), (2, 7, 1), (3, 6, 1)),
            "rest": _integers("tuple a_0 n", (1, 6, 2), (3, 5, 1)),
            "assignment": _integers("a_0 class", (5, 4), (6, 3)),
        },
    ),
    Case(
        "kaca/seekers",
        {"classes": _KACA["classes"], "codes": ["a_0", "a_1"], "after": 0, "most": 9},
        ["class", "n", "distortion", "block", "a_0", "a_1"],
        [(1, 1, 2, 1, -2, 0)],
        {"classes": _integers("class n safe distortion block place a_0 a_1", (1, 1, False, 2, 1, 1, -1, 0))},
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
            "columns": ["a_1"],
            "between": Steps({"a_1": 3}, "a", "b"),
        },
        ["block", "other", "shared", "rise", "other_rise"],
        [(1, 1, 0, 0, 0), (1, 2, 3, 3, 6), (1, 3, 3, 3, 0), (2, 1, 3, 3, 3), (2, 3, 3, 3, 0)],
        {
            "blocks": _integers(
                "block classes smallest distortion a_1", (1, 2, 1, 0, 0), (2, 1, 2, 0, 1), (3, 1, 9, 3, -1)
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
        {"bounds": _integers("class bound", (0, 2), (2, 9))} | _SEEKERS_OF_3 | _PAIRS_OF_2,
    ),
    Case(
        "kaca/nearest",
        {"candidates": Relation("candidates"), "seekers": _KACA["seekers"], "classes": _KACA["classes"]} | _PAIR,
        ["class", "target", "distance"],
        [(0, 3, 4), (2, 0, 15)],  # as near as class 4, and before it by chance
        {
            "candidates": _integers("class other shared bound", (0, 1, 0, 9), (2, 2, 3, 20)),
            "classes": _integers(
                "class n distortion block place a_0 a_1",
                (0, 1, 0, 1, 9, 0, 0),
                (0, 1, 0, 2, 9, 0, 0),
                (3, 1, 0, 1, 1, 7, 0),
                (4, 1, 0, 1, 2, 8, 0),
            ),
        }
        | _SEEKERS_OF_3,
    ),
    Case(
        "kaca/turns",
        {"nearest": Relation("nearest"), "classes": _KACA["classes"], "k": 3},
        ["turn", "class", "target", "target_n", "stub"],
        [(2, 0, 1, 5, 2), (1, 2, 0, 1, 0), (3, 3, 1, 5, 0), (4, 4, 1, 5, 1)],
        {
            "nearest": _integers("class target distance", (0, 1, 7), (2, 0, 7), (3, 1, 8), (4, 1, 9)),
            # Class 3 has as many rows as k but is unsafe by another measure, so that a stub would not mend it.
            "classes": _integers("class n place", (0, 1, 5), (1, 5, 1), (2, 1, 4), (3, 3, 2), (4, 2, 3)),
        },
    ),
    Case(
        "kaca/firsts",
        {"turns": Relation("turns")},
        ["class", "turn"],
        [(0, 1), (1, 1), (2, 2)],
        {"turns": _integers("turn class target", (1, 0, 1), (2, 2, 1), (3, 1, 0))},
    ),
    Case(
        "kaca/merges",
        {"turns": Relation("turns"), "firsts": Relation("firsts"), "k": 3},
        ["class", "target", "low", "high"],
        # Of class 9's seven rows stubs of 2 and 2 leave 3; another would not. 4 waits for 3, which goes to 5.
        [(0, 9, 0, 2), (1, 9, 2, 4), (3, 5, 0, 2)],
        {
            "turns": _integers(
                "turn class target target_n stub",
                (1, 0, 9, 7, 2),
                (2, 1, 9, 7, 2),
                (3, 2, 9, 7, 1),
                (4, 3, 5, 2, 0),
                (5, 4, 3, 1, 0),
            ),
            "firsts": _integers("class turn", (0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 4), (9, 1)),
        },
    ),
    Case(
        "kaca/links",
        {"classes": _KACA["classes"], "merges": _KACA["merges"]},
        ["class", "goes_to", "low", "high"],
        [(0, 0, 0, 1), (1, 0, 0, 2), (1, 2, 2, 3), (1, 1, 3, 9), (2, 2, 0, 1), (3, 4, 0, 1), (4, 4, 0, 2)],
        {
            "classes": _integers("class n", (0, 1), (1, 9), (2, 1), (3, 1), (4, 2)),
            "merges": _integers("class target low high", (0, 1, 0, 2), (2, 1, 2, 3), (4, 3, 0, 1)),
        },
    ),
    Case(
        "kaca/generalized",
        {"classes": _KACA["classes"], "links": _KACA["links"], "codes": ["a_0", "a_1"]},
        ["class", "a_0", "a_1"],
        [(0, -1, 0), (2, 5, 1)],
        {"links": _integers("class goes_to low high", (0, 0, 0, 1), (1, 0, 0, 4), (2, 2, 0, 2))} | _CLASSES_OF_3,
    ),
    Case(
        "kaca/assignment",
        {"tuples": Relation("tuples"), "parts": _KACA["parts"], "values": ["a_0"]},
        ["a_0", "n", "class", "first", "last"],
        [(5, 2, 1, 1, 2), (5, 3, 4, 3, 5), (6, 1, 1, 1, 1)],
        {
            "tuples": _integers("tuple a_0 a_1 n", (0, 5, 0, 5), (1, 6, 0, 1)),
            "parts": _integers("tuple class n", (0, 4, 3), (0, 1, 2), (1, 1, 1)),
        },
    ),
    Case("core/node_test", _on_node(AT_LEAST_2, ["age_0"], 7), _AT_RISK, [(7, 1)], FREQUENCY_SET),
    Case("core/node_test", _on_node(AT_LEAST_2, ["age_0", "zip_0"], 8), _AT_RISK, [(8, 2)], FREQUENCY_SET),
    Case("core/node_test", _on_node(UNKNOWN_OF_3, ["age_0"], 9), _AT_RISK, [(9, 3)], FREQUENCY_SET),
    Case("core/node_test", _on_node(AT_LEAST_2, ["age_0"], 7), _AT_RISK, [(7, 0)], NO_ROWS),
    Case("core/node_classes", _on_node(AT_LEAST_2, ["age_0"], 7), _CLASSES, [(7, 2, 7, 3, 25)], FREQUENCY_SET),
    Case("core/node_classes", _on_node(AT_LEAST_2, ["age_1"], 7), _CLASSES, [(7, 2, 8, 4, 32)], FREQUENCY_SET),
    Case("core/node_classes", _on_node(UNKNOWN_OF_3, ["age_0"], 7), _CLASSES, [(7, 2, 5, 1, 17)], FREQUENCY_SET),
    Case("core/node_classes", _on_node(AT_LEAST_2, ["age_0"], 7), _CLASSES, [(7, 0, 0, None, 0)], NO_ROWS),
    Case(
        "core/node_loss",
        _on_node(AT_LEAST_2, ["age_0", "zip_0"], 7, losses=["zip_0_loss", "age_1"]),
        (*_AT_RISK, "zip_0_loss", "age_1"),
        [(7, 2, 4, 0)],
        FREQUENCY_SET,
    ),
    Case(
        "core/node_loss",
        _on_node(UNKNOWN_OF_3, ["age_0"], 7, losses=["zip_0_loss"]),
        (*_AT_RISK, "zip_0_loss"),
        [(7, 3, 1)],
        FREQUENCY_SET,
    ),
    Case(
        "core/node_loss",
        _on_node(AT_LEAST_2, ["age_0"], 7, losses=["zip_0_loss"]),
        (*_AT_RISK, "zip_0_loss"),
        [(7, 0, 0)],
        NO_ROWS,
    ),
    Case("core/released_classes", _on_node(AT_LEAST_2, ["age_0"]), ["age_0"], [(0,), (2,)], FREQUENCY_SET),
    Case("core/released_classes", _on_node(UNKNOWN_OF_3, ["age_0"]), ["age_0"], [(1,), (2,)], FREQUENCY_SET),
    Case(
        "core/level_losses",
        {"frequency_set": COUNTED, "losses": ["zip_0_loss", "age_1"]},
        ["rows", "zip_0_loss", "age_1"],
        [(8, 12, 1)],
        FREQUENCY_SET,
    ),
    Case(
        "core/level_losses",
        {"frequency_set": COUNTED, "losses": ["zip_0_loss"]},
        ["rows", "zip_0_loss"],
        [(0, 0)],
        NO_ROWS,
    ),
    Case(
        "core/rollup",
        {"frequency_set": COUNTED, "keys": ["age_0"], "levels": ["age_1"], "sums": ["zip_0_loss", "n"]},
        ["age_0", "age_1", "zip_0_loss", "n"],
        [(0, 0, 1, 3), (1, 0, 3, 1), (2, 1, 8, 4)],
        FREQUENCY_SET,
    ),
    Case("core/total_rows", {"counted": COUNTED}, ["rows"], [(8,)], FREQUENCY_SET),
    Case("core/total_rows", {"counted": COUNTED}, ["rows"], [(0,)], NO_ROWS),
    Case("core/row_count", {"relation": COUNTED}, ["rows"], [(4,)], FREQUENCY_SET),
    Case(
        "core/column_values",
        {"column": ["zip_0"], "tuples": COUNTED},
        ["value", "n"],
        [(0, 5), (1, 3)],
        FREQUENCY_SET,
    ),
    Case(
        "core/column_texts",
        {"column": ["zip_0"], "tuples": COUNTED},
        ["value", "n"],
        [("0", 5), ("1", 3)],
        FREQUENCY_SET,
    ),
    Case(
        "core/equal_values",
        {"values": Relation("held")},
        ["row", "first", "value"],
        [(0, 0, Decimal("1.23")), (1, 0, Decimal("1.23")), (2, 2, Decimal("5.00")), (3, 3, None)],
        HELD_VALUES,
    ),
    Case(
        "core/printed_values",
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
        "core/matching_values",
        {"values": Relation("held"), "column": ["price"], "tuples": Relation("counted")},
        ["row", "text"],
        [(0, "1.23"), (1, "1.23")],
        {
            **HELD_VALUES,
            "counted": ({"price": "DECIMAL(9, 2)", "n": "INTEGER"}, [(Decimal("1.23"), 4), (Decimal(9), 1), (None, 1)]),
        },
    ),
    Case(
        "core/settled_values",
        {"values": Relation("held")},
        ["held", "different", "same"],
        [(3, 2, 2)],
        HELD_VALUES,
    ),
    Case("core/doubled_values", {"mapping": Relation("held")}, ["twice"], [(1,)], HELD_VALUES),
    Case(
        "core/view_values",
        {"mapping": Relation("map"), "shown": ["label"]},
        ["value", "code", "shown"],
        [("a", 0, "ab"), ("b", 0, "ab")],  # d is there twice, and e has no code of ours
        {
            "map": (
                {"value": "VARCHAR", "code": "INTEGER", "label": "VARCHAR"},
                [("a", 0, "ab"), ("b", 0, "b alone"), ("d", 1, "d"), ("d", 2, "d"), ("e", -1, "e"), ("f", None, "f")],
            )
        },
    ),
    Case(
        "core/unrepeated",
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
        "core/apart",
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
        "core/tuples",
        _PEOPLE,
        ["age", "zip", "n"],
        [(40, "x", 2), (None, "x", 2), (40, None, 1), (40, "", 1), (7, "x", 1)],
        PEOPLE,
    ),
    Case(
        "core/class_sizes",
        {"release": Relation("odd people"), "quasi_identifiers": ["Age", 'a "zip"; n']},
        ["size", "classes"],
        [(1, 3), (2, 2)],
        PEOPLE,
    ),
    Case("core/class_summary", _summary(AT_LEAST_2), _SUMMARY, [(7, 5, 1, 3, 3)], PEOPLE),
    Case("core/class_summary", _summary(Predicate("SUM(n) >= 1")), _SUMMARY, [(7, 5, 1, 0, 0)], PEOPLE),
    Case("core/class_summary", _summary(Predicate("NULLIF(SUM(n), 2) > 0")), _SUMMARY, [(7, 5, 1, 2, 4)], PEOPLE),
    Case(
        "core/class_summary",
        _summary(AT_LEAST_2),
        _SUMMARY,
        [(0, 0, None, 0, 0)],
        {name: (types, []) for name, (types, _) in PEOPLE.items()},
    ),
    Case(
        "core/view_mapping",
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
        "core/kept_figures",
        {
            "source": Relation("odd people"),
            "natives": {"age": "Age"},
            "texts": {"word": "some word"},
            "held": ["age", "word"],
            "different": {"ages": "age", "words": "word"},
            "most": 3,
        },
        ["rows", "age", "word", "ages", "words"],
        [(3, 3, 2, 2, 1)],
        {"odd people": ({"Age": "INTEGER", "some word": "VARCHAR"}, [(40, "a"), (40, None), (41, "a"), (42, "b")])},
    ),
    Case(
        "core/kept_sample",
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
    Case(
        "core/kept_texts",
        {"number": 4, "column": ["word"], "sampled": Relation("sampled")},
        ["number", "held", "mails", "phones", "ibans", "networks", "uuids", "nationals", "characters", "words"],
        [(4, 5, 1, 1, 0, 0, 0, 0, pytest.approx(8.4), pytest.approx(1.8))],
        {
            "sampled": (
                {"word": "VARCHAR"},
                [("ann@x.org",), ("+31 6 12345678",), ("plain",), (" two words ",), ("a b",), (None,)],
            )
        },
    ),
    Case(
        "core/kept_texts",
        {"number": 4, "column": ["word"], "sampled": Relation("sampled")},
        ["number", "held", "mails", "phones", "ibans", "networks", "uuids", "nationals", "characters", "words"],
        [(4, 12, 0, 2, 1, 3, 1, 2, pytest.approx(15), pytest.approx(20 / 12))],
        {
            "sampled": (
                {"word": "VARCHAR"},
                [
                    ("(555) 123-4567",),
                    ("0612345678",),
                    ("CH93 0076 2011 6238 5295 7",),
                    ("10.0.0.1",),
                    ("fe80::1ff:fe23",),
                    ("00:1a:2b:3c:4d:5e",),
                    ("123e4567-e89b-12d3-a456-426614174000",),
                    ("123-45-6789",),
                    ("756.1234.5678.97",),
                    # What only looks a little like one.
                    ("2025-01-02",),
                    ("12:30:00",),
                    ("12 Main St",),
                ],
            )
        },
    ),
    Case(
        "core/kept_texts",
        {"number": 4, "column": ["word"], "sampled": Relation("sampled")},
        ["number", "held", "mails", "phones", "ibans", "networks", "uuids", "nationals", "characters", "words"],
        [(4, 0, 0, 0, 0, 0, 0, 0, None, None)],
        {"sampled": ({"word": "VARCHAR"}, [(None,)])},
    ),
    Case(
        "core/kept_cells",
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
        "core/kept_pairs",
        {"cells": Relation("cells"), "kept": 1, "quasi": 1},
        ["kept", "rows", "told", "most"],
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
        "core/kept_ranks",
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
    Case(
        "profile/codes",
        {"column": ["word"], "tuples": Relation("words")},
        ["value", "code_0"],
        [("a", 1)],
        {"words": ({"word": "VARCHAR"}, [("a",), (None,), ("a",)])},
    ),
    Case(
        "profile/column",
        {"column": ["Age"], "source": Relation("odd people"), "small": 3},
        _PROFILE,
        [(3, 2, 1, 1, 1, 4, 3)],
        PEOPLE,
    ),
    Case(
        "profile/column",
        {"column": ['a "zip"; n'], "source": Relation("odd people"), "small": 1},
        _PROFILE,
        [(3, 1, 2, 1, 1, 5, 0)],
        PEOPLE,
    ),
    Case(
        "core/kept_rows",
        {**_on_node(AT_LEAST_2, ["age_0"]), "kept": Relation("kept"), "code": {"code": "zip_0"}},
        ["rows"],
        [(2,)],  # of age 0, the two rows of zip 1; age 1 is not released
        FREQUENCY_SET | {"kept": ({"kept_code": "INTEGER"}, [(1,)])},
    ),
    Case(
        "core/node_assignment",
        _on_node(AT_LEAST_2, ["age_0"], keys=["age_0", "zip_0"]),
        ["age_0", "zip_0", "n", "class"],
        [(0, 0, 1, 1), (0, 1, 2, 1), (2, 0, 4, 3)],
        FREQUENCY_SET,
    ),
    Case("core/class_mean", _MEMBERS, ["class", "shown"], [(0, 15.0), (1, None)], MEMBERS),
    Case("core/class_mean", _MEMBERS, ["class", "shown"], [(0, 7.0), (1, None)], _NOT_NUMBERS),
    # Of class 0 two rows of 10 show 10, of class 1 three rows of NULL show NULL; a star is never what was there.
    *(
        Case(
            "core/local_kept",
            {
                "members": Relation("members"),
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
    Case("core/class_median", _MEMBERS, ["class", "shown"], [(0, 10), (1, None)], MEMBERS),
    Case("core/class_mode", _MEMBERS, ["class", "shown"], [(0, 10), (1, None)], MEMBERS),
    Case(
        "core/local_figures",
        {"classes": Relation("shown"), "labels": ["label_0", "label_1"], "leaves": ["leaves_0", "leaves_1"]},
        ["classes", "released_rows", "smallest_class", "squares", "leaves_0", "leaves_1"],
        [(2, 9, 4, 41, 9, 13)],  # classes 0 and 2 show the same, NULL included
        LOCAL,
    ),
    Case(
        "core/local_figures",
        {"classes": Relation("shown"), "labels": ["label_0"], "leaves": ["leaves_0"]},
        ["classes", "released_rows", "smallest_class", "squares", "leaves_0"],
        [(0, 0, None, 0, 0)],
        {name: (types, []) for name, (types, _) in LOCAL.items()},
    ),
    Case(
        "core/local_levels",
        {"classes": Relation("shown"), "level": ["level_1"]},
        ["level", "n"],
        [(0, 5), (1, 4)],
        LOCAL,
    ),
    Case("core/copy", _PEOPLE, ["age", "zip"], PEOPLE["odd people"][1], PEOPLE),
    Case("profile/fractions", {"column": ["size"], "source": Relation("numbers")}, ["fractions"], [(2,)], _NUMBERS),
    Case(
        "profile/set",
        {"node": 5, "frequency_set": COUNTED, "levels": ["age_0"], "small": 4},
        ["node", "combinations", "unique_rows", "small_rows"],
        [(5, 3, 1, 4)],
        FREQUENCY_SET,
    ),
    Case(
        "perturb/draws",
        {"column": ["x"], "rows": Relation("cells"), "key": Relation("keys")},
        ["row_id", "value", "u", "v", "normal", "laplace", "uniform"],
        [
            (
                "r",
                7,
                _U,
                _V,
                pytest.approx(math.sqrt(-2 * math.log(_U)) * math.cos(2 * math.pi * _V)),
                pytest.approx(-math.log(2 * (1 - _U))),
                pytest.approx(2 * _U - 1),
            )
        ],
        {
            "cells": ({"row_id": "VARCHAR", "x": "INTEGER"}, [("r", 7), ("s", None)]),
            "keys": ({"key": "VARCHAR", "shift": "BIGINT"}, [("k", 0)]),
        },
    ),
    Case(
        "perturb/number",
        _noise(10.0, bottom=None, top="4.5"),
        ["row_id", "value"],
        [("a", -8.5), ("b", 3.75), ("c", 4.5)],
        _drawn("DOUBLE PRECISION", ("a", 1.5, -1.0, 0), ("b", 1.25, 0.25, 0), ("c", 1.5, 1.0, 0)),
    ),
    Case(
        "perturb/number",
        _noise(10.0, bottom="-8", top=None),
        ["row_id", "value"],
        [("a", -8), ("c", 11.5)],
        _drawn("DOUBLE PRECISION", ("a", 1.5, -1.0, 0), ("c", 1.5, 1.0, 0)),
    ),
    Case(
        "perturb/whole",
        _noise(10.0, bottom="-5", top="4611686018427387910"),
        ["row_id", "value"],
        [("a", -5), ("b", 3), ("c", 4611686018427387907), ("d", 4611686018427387910)],
        _drawn("BIGINT", ("a", 1, -1.0, 0), ("b", 1, 0.21, 0), ("c", 2**62 + 1, 0.2, 0), ("d", 2**62, 1.0, 0)),
    ),
    Case(
        "perturb/date",
        _noise(3.0),
        ["row_id", "value"],
        [("a", date(2020, 2, 26)), ("b", date(2020, 3, 1))],
        _drawn("DATE", ("a", date(2020, 2, 29), -1.0, 0), ("b", date(2020, 2, 29), 0.4, 0)),
    ),
    Case(
        "perturb/timestamp",
        _noise(3.0),
        ["row_id", "value"],
        [("a", datetime(2020, 2, 26, 7)), ("b", datetime(2020, 2, 29, 7, 0, 1))],
        _drawn(
            "TIMESTAMP", ("a", datetime(2020, 2, 29, 7), -1.0, 0), ("b", datetime(2020, 2, 29, 7), 1.2 / 86400 / 3, 0)
        ),
    ),
    Case(
        "perturb/swap",
        # Ranks from 3 on in blocks of 4: {0}, {10, 20 | 30, 40}, {50 | 60}; the lower by v 10, 20, the upper 40, 30.
        {"half": 2, "draws": Relation("draws"), "key": Relation("keys")},
        ["row_id", "value"],
        [("r0", 0), ("r1", 40), ("r2", 30), ("r3", 20), ("r4", 10), ("r5", 60), ("r6", 50)],
        {**_drawn("INTEGER", *_SWAPPED), "keys": ({"key": "VARCHAR", "shift": "BIGINT"}, [("k", 3)])},
    ),
    Case(
        "perturb/swap",
        # Ranks in blocks of 6: {0, 10, 20 | 30, 40, 50}, {60}; by v 10, 20, 0 and 40, 50, 30.
        {"half": 3, "draws": Relation("draws"), "key": Relation("keys")},
        ["row_id", "value"],
        [("r0", 30), ("r1", 40), ("r2", 50), ("r3", 0), ("r4", 10), ("r5", 20), ("r6", 60)],
        {**_drawn("INTEGER", *_SWAPPED), "keys": ({"key": "VARCHAR", "shift": "BIGINT"}, [("k", 0)])},
    ),
    Case(
        "perturb/redraw",
        {"keep": 0.5, "draws": Relation("draws")},
        ["row_id", "value"],
        [("a", "x"), ("b", "x"), ("c", "z")],
        _drawn("VARCHAR", ("a", "x", 0.4, 0.9), ("b", "z", 0.5, 0.3), ("c", "x", 0.6, 0.7)),
    ),
    Case(
        "perturb/transition",
        {"draws": Relation("draws"), "matrix": Relation("matrix")},
        ["row_id", "value"],
        [("a", "1"), ("b", "2"), ("c", "2")],
        {
            **_drawn("INTEGER", ("a", 1, 0.2, 0), ("b", 1, 0.25, 0), ("c", 2, 0.9, 0), ("d", 3, 0.9, 0)),
            "matrix": (
                {"value": "VARCHAR", "target": "VARCHAR", "low": "DOUBLE PRECISION", "high": "DOUBLE PRECISION"},
                [("1", "1", 0, 0.25), ("1", "2", 0.25, 1), ("2", "2", 0, 1)],
            ),
        },
    ),
    Case("perturb/present", {"column": ["Age"], "source": Relation("odd people")}, ["present"], [(5,)], PEOPLE),
    Case(
        "anatomy/rows",
        {"columns": {"Zip": "zip"}, "sorted": ["zip"], "grouped": Relation("grouped")},
        ["group_id", "Zip"],
        [(1, "2*"), (1, "2*"), (1, None), (2, "1*"), (2, "1*"), (2, "1*")],
        _GROUPED,
    ),
    Case(
        "anatomy/sensitive",
        {"columns": {"Ill": "ill"}, "sensitive": ["ill"], "grouped": Relation("grouped")},
        ["group_id", "Ill", "count"],
        [(1, "flu", 1), (1, None, 2), (2, "acne", 1), (2, "flu", 2)],
        _GROUPED,
    ),
    Case(
        "anatomy/groups",
        {
            "columns": ["ill"],
            "sensitive": ["ill"],
            "groups": 2,
            "rows": Relation("cells"),
            "key": Relation("keys"),
        },
        ["ill", "group_id"],
        [("acne", 1), ("acne", 2), ("flu", 1), (None, 2)],
        {
            "cells": (
                {"row_id": "VARCHAR", "ill": "VARCHAR"},
                [("r0", "flu"), ("r1", None), ("r2", "acne"), ("r3", "acne")],
            ),
            "keys": ({"key": "VARCHAR", "shift": "BIGINT"}, [("k", 0)]),
        },
    ),
    Case("anatomy/diversity", _DIVERSITY, _DIVERSE, [(7, 3, 2, 1, 2, 5)], _DIVERSE_COUNTS),
    Case("anatomy/diversity", {**_DIVERSITY, "l": 1}, _DIVERSE, [(7, 3, 2, 1, 0, 0)], _DIVERSE_COUNTS),
    Case(
        "anatomy/diversity",
        _DIVERSITY,
        _DIVERSE,
        [(0, 0, None, None, 0, 0)],
        {"counts": (_DIVERSE_COUNTS["counts"][0], [])},
    ),
    Case("anatomy/offenders", _OFFENDERS, ["group_id", "surplus"], [], _halves([1, 2, 2], [(1, 1), (2, 1), (2, 1)])),
    Case(
        "anatomy/offenders",
        _OFFENDERS,
        ["group_id", "surplus"],
        [(1, 1), (2, -1), (3, 1), (4, -2), (5, 0)],
        _halves([1, 1, 2, 3], [(1, 1), (2, 2), (4, 2), (5, 0)]),
    ),
    Case(
        "anatomy/offenders", _OFFENDERS, ["group_id", "surplus"], [(None, 0)], _halves([1, None], [(1, 1), (None, 1)])
    ),
    Case(
        "anatomy/offenders",
        _OFFENDERS,
        ["group_id", "surplus"],
        [(2, 1)],
        _halves(["1", "2", "2"], [("1", "1"), ("2", "1")], "VARCHAR"),
    ),
    Case(
        "core/read_csv",
        {"path": "given*.csv"},
        ["zip", "age"],
        [("02138", 1), ("NL1", 2), (None, None)],  # an empty field is NULL, quoted or not
        files={"given1.csv": "zip,age\n02138,1\n", "given2.csv": 'age,zip\n2,NL1\n,""\n'},
    ),
    Case(
        "core/read_parquet",
        {"path": "given*.parquet"},
        ["zip", "age"],
        [("02138", None), (None, 2)],
        files={"given1.parquet": {"zip": ["02138"]}, "given2.parquet": {"age": [2], "zip": [None]}},
    ),
    Case(
        "core/read_written_csv",
        {"separator": ",", "path": "given.csv"},
        ["zip", "age"],
        [("02138", "1"), ("", None), ('a"b,c', "1.50")],
        files={"given.csv": 'zip,age\n02138,1\n"",\n"a""b,c",1.50\n'},
    ),
    Case(
        "core/read_written_csv",
        {"separator": "\t", "path": "given.tsv"},
        ["zip", "age"],
        [("02,138", "1"), ("", None)],
        files={"given.tsv": 'zip\tage\n02,138\t1\n""\t\n'},
    ),
]

# Mondrian: two partitions of one ordered attribute (0) and one with a hierarchy of three levels (1).
_BIG = dict.fromkeys
_MON_OPEN = {"open": (_BIG(["age_0", "zip_0", "n", "class"], "BIGINT"), [(0, 1, 2, 3), (2, 0, 1, 3), (2, 0, 4, 5)])}
_MON_CELL = ("class", "attribute", "code", "position", "number", "range", "most", "weight", "n")
_MON_TYPES = {**_BIG(_MON_CELL, "BIGINT"), **_BIG(["number", "range", "most", "weight"], "DOUBLE PRECISION")}
# Partition 3: ages 10 (2 rows), 11 (3), 20 (1); zip codes 0 (4 rows), 1 and 2 (1 each), of which 0 and 1 are siblings.
_MON_CELLS = {
    "cells": (
        _MON_TYPES,
        [
            (3, 0, 7, 0, 10.0, 20.0, 4.0, 1.0, 2),
            (3, 0, 8, 1, 11.0, 20.0, 4.0, 1.0, 3),
            (3, 0, 9, 3, 20.0, 20.0, 4.0, 1.0, 1),
            (3, 1, 0, 0, None, 1.0, 2.0, 0.5, 4),
            (3, 1, 1, 1, None, 1.0, 2.0, 0.5, 1),
            (3, 1, 2, 2, None, 1.0, 2.0, 0.5, 1),
        ],
    )
}
_MON_ODD = {
    "cells": (
        _MON_TYPES,
        [
            (3, 0, 7, 0, -40.0, 20.0, 4.0, 1.0, 2),
            (3, 0, 8, 1, 10.0, 20.0, 4.0, 1.0, 2),
            (3, 0, 9, 4, 30.0, 20.0, 4.0, 1.0, 2),
        ],
    )
}
_MON_NODES = {
    "nodes": (
        {
            **_BIG(["attribute", "position", "level", "node", "low", "high", "leaves"], "BIGINT"),
            "width": "DOUBLE PRECISION",
        },
        [
            *((1, x, 0, x, x, x, 1, 0.0) for x in range(3)),
            (1, 0, 1, 0, 0, 1, 2, 0.75),
            (1, 1, 1, 0, 0, 1, 2, 0.75),
            (1, 2, 1, 1, 2, 2, 1, 0.0),
            *((1, x, 2, 0, 0, 2, 3, 1.0) for x in range(3)),
        ],
    )
}
_MON_MEDIAN = ("class", "attribute", "allowed", "split", "dealt", "kept", "width", "gain")
_MON_MEDIAN_TYPES = {
    **_BIG(_MON_MEDIAN, "BIGINT"),
    "allowed": "BOOLEAN",
    "width": "DOUBLE PRECISION",
    "gain": "DOUBLE PRECISION",
}
_MON_BRANCH = ("class", "attribute", "level", "node", "n", "safe", "weight", "most", "width", "saved")
_MON_BRANCH_TYPES = {
    **_BIG(_MON_BRANCH, "BIGINT"),
    "safe": "BOOLEAN",
    **_BIG(["weight", "most", "width"], "DOUBLE PRECISION"),
}
_MON_CHOSEN = ("class", "attribute", "split", "dealt", "kept", "level", "spared")
_MON_CHOSEN_TYPES = _BIG(_MON_CHOSEN, "BIGINT")
_MON_MOVE = ("class", "attribute", "code", "part", "skip", "take", "next_class")
_MON_MOVE_TYPES = _BIG(_MON_MOVE, "BIGINT")


def _mon_medians(median: bool, at_least: int) -> dict[str, Any]:
    left, right = (Predicate(f"SUM(n) OVER {side} >= $k", {"k": at_least}) for side in ("left_side", "right_side"))
    return {"median": median, "cells": Relation("cells"), "safe_left": left, "safe_right": right}


def _mon_chosen(**more: Any) -> dict[str, Any]:
    fixed = {"medians": Relation("medians"), "branches": Relation("branches"), "safe": AT_LEAST_2}
    return {**fixed, "worth": ["gain"], "leftover": True, "merge": True, **more}


def _mon_options(medians: Rows, branches: Rows) -> dict[str, Any]:
    return {"medians": (_MON_MEDIAN_TYPES, medians), "branches": (_MON_BRANCH_TYPES, branches)}


# Children of one node, 3, 2 and 1 rows: the last one is too small, and alone it is too small for a rest.
_MON_CHILDREN = [
    (3, 1, 1, 0, 3, True, 1.0, 2.0, 1.0, 6),
    (3, 1, 1, 4, 2, True, 1.0, 2.0, 1.0, 2),
    (3, 1, 1, 5, 1, False, 1.0, 2.0, 1.0, 1),
]
_MON_FOUR = [*_MON_CHILDREN, (3, 1, 1, 6, 1, False, 1.0, 2.0, 1.0, 1)]

CASES += [
    Case("mondrian/whole", {"frequency_set": COUNTED, "safe": AT_LEAST_2}, ["safe"], [(True,)], FREQUENCY_SET),
    Case("mondrian/whole", {"frequency_set": COUNTED, "safe": AT_LEAST_2}, ["safe"], [(False,)], NO_ROWS),
    Case(
        "mondrian/start",
        {"columns": ["age_0", "zip_0"], "frequency_set": COUNTED},
        ["age_0", "zip_0", "n", "class"],
        [(0, 0, 1, 0), (0, 1, 2, 0), (1, 1, 1, 0), (2, 0, 4, 0)],
        FREQUENCY_SET,
    ),
    Case(
        "mondrian/deal_start",
        {"columns": ["age_0", "zip_0"], "order": ["zip_0", "age_0"], "frequency_set": COUNTED},
        ["age_0", "zip_0", "n", "first", "last", "place", "class"],
        [(0, 0, 1, 1, 1, 1, 0), (2, 0, 4, 1, 4, 2, 0), (0, 1, 2, 1, 2, 3, 0), (1, 1, 1, 1, 1, 4, 0)],
        FREQUENCY_SET,
    ),
    # Age 40 occurs and 30 does not; NULL lies below, a value in no hierarchy above, two ranges away.
    *(
        Case(
            "mondrian/places",
            {
                "attribute": 1,
                "weight": 1,
                "most": 3,
                "code": ["age_0"],
                "number": ["number"],
                "ordered": ordered,
                "frequency_set": COUNTED,
                "positions": Relation("positions"),
            },
            ["attribute", "code", "position", "number", "range", "most", "weight"],
            [
                (1, 0, 1, 20.0 if ordered else None, 20.0, 3.0, 1.0),
                (1, 2, 3, 40.0 if ordered else None, 20.0, 3.0, 1.0),
                (1, 3, 0, -20.0 if ordered else None, 20.0, 3.0, 1.0),
                (1, 4, 4, 80.0 if ordered else None, 20.0, 3.0, 1.0),
            ],
            {
                "positions": (
                    {
                        "position": "INTEGER",
                        "number": "DOUBLE PRECISION",
                        "value": "INTEGER",
                        "starred": "BOOLEAN",
                        "code_0": "INTEGER",
                    },
                    [
                        (0, None, None, False, 3),
                        (1, 20.0, 20, False, 0),
                        (2, 30.0, 30, False, 1),
                        (3, 40.0, 40, False, 2),
                        (4, None, None, True, 4),
                    ],
                ),
                "counted": ({"age_0": "INTEGER", "n": "INTEGER"}, [(0, 1), (0, 1), (2, 1), (3, 1), (4, 1)]),
            },
        )
        for ordered in (True, False)
    ),
    Case(
        "mondrian/nodes",
        {
            "attribute": 1,
            "level": 1,
            "count": 4,
            "code": ["code_1"],
            "leaves": ["leaves_1"],
            "positions": Relation("positions"),
        },
        ["attribute", "position", "level", "node", "low", "high", "leaves", "width"],
        [(1, 0, 1, 7, 0, 1, 2, 0.5), (1, 1, 1, 7, 0, 1, 2, 0.5), (1, 2, 1, 8, 2, 2, 1, 0.0)],
        {"positions": (_BIG(["position", "code_1", "leaves_1"], "INTEGER"), [(0, 7, 2), (1, 7, 2), (2, 8, 1)])},
    ),
    Case(
        "mondrian/cells",
        {"codes": ["age_0", "zip_0"], "count": 2, "open": Relation("open"), "places": Relation("places")},
        _MON_CELL,
        [
            (3, 0, 0, 4, 20.0, 9.0, 5.0, 1.0, 2),
            (3, 0, 2, 6, 29.0, 9.0, 5.0, 1.0, 1),
            (5, 0, 2, 6, 29.0, 9.0, 5.0, 1.0, 4),
            (3, 1, 0, 1, None, 1.0, 1.0, 0.5, 1),
            (5, 1, 0, 1, None, 1.0, 1.0, 0.5, 4),
            (3, 1, 1, 0, None, 1.0, 1.0, 0.5, 2),
        ],
        {
            **_MON_OPEN,
            "places": (
                {name: _MON_TYPES[name] for name in _MON_CELL[1:-1]},
                [
                    (0, 0, 4, 20.0, 9.0, 5.0, 1.0),
                    (0, 2, 6, 29.0, 9.0, 5.0, 1.0),
                    (1, 0, 1, None, 1.0, 1.0, 0.5),
                    (1, 1, 0, None, 1.0, 1.0, 0.5),
                ],
            ),
        },
    ),
    # With k = 2 the median cut, 2 | 4 rows or 5 | 1: half of six is three, which the second value reaches.
    Case("mondrian/medians", _mon_medians(False, 2), _MON_MEDIAN, [(3, 0, True, 0, None, None, 0.5, 2.5)], _MON_CELLS),
    Case("mondrian/medians", _mon_medians(True, 2), _MON_MEDIAN, [(3, 0, False, 0, None, None, 0.5, 2.5)], _MON_CELLS),
    Case("mondrian/medians", _mon_medians(True, 1), _MON_MEDIAN, [(3, 0, True, 1, None, None, 0.5, 3.25)], _MON_CELLS),
    Case("mondrian/medians", _mon_medians(False, 4), _MON_MEDIAN, [(3, 0, False, 0, None, None, 0.5, 2.5)], _MON_CELLS),
    # NULL is parted from the numbers first; with them it may be anything.
    Case("mondrian/medians", _mon_medians(False, 2), _MON_MEDIAN, [(3, 0, True, 0, None, None, 1.0, 3.0)], _MON_ODD),
    Case(
        "mondrian/halves",
        {"cells": Relation("cells"), "safe": AT_LEAST_2},
        _MON_MEDIAN,
        [(3, 0, True, 1, 1, 2, 0.5, 2.25)],
        _MON_CELLS,
    ),
    Case(
        "mondrian/halves",
        {"cells": Relation("cells"), "safe": UNKNOWN_OF_3},
        _MON_MEDIAN,
        [(3, 0, False, 1, 1, 2, 0.5, 2.25)],
        _MON_CELLS,
    ),
    Case(
        "mondrian/inherited",
        {"medians": Relation("medians"), "widths": Relation("widths")},
        (*_MON_MEDIAN, "own"),
        [(3, 0, True, 5, None, None, 0.75, 2.5, 0.5), (3, 1, True, 6, None, None, 0.25, 2.5, 0.25)],
        {
            **_mon_options([(3, 0, True, 5, None, None, 0.5, 2.5), (3, 1, True, 6, None, None, 0.25, 2.5)], []),
            "widths": (
                {"class": "BIGINT", "attribute": "BIGINT", "width": "DOUBLE PRECISION"},
                [(3, 0, 0.75), (4, 1, 1.0)],
            ),
        },
    ),
    # Attribute 1 was cut; 0 was tried before it, 2 was not.
    Case(
        "mondrian/widths",
        {"medians": Relation("medians"), "chosen": Relation("chosen"), "moves": Relation("moves")},
        ["class", "attribute", "width"],
        [(8, 0, 0.125), (8, 2, 0.25), (9, 0, 0.125), (9, 2, 0.25)],
        {
            "medians": (
                {"class": "BIGINT", "attribute": "BIGINT", "width": "DOUBLE PRECISION", "own": "DOUBLE PRECISION"},
                [(3, 0, 0.5, 0.125), (3, 1, 0.5, 0.5), (3, 2, 0.25, 0.0625)],
            ),
            "chosen": (_MON_CHOSEN_TYPES, [(3, 1, 4, None, None, None, None)]),
            "moves": (_MON_MOVE_TYPES, [(3, 1, 0, 0, 0, None, 8), (3, 1, 2, 0, 0, None, 8), (3, 1, 4, 1, 0, None, 9)]),
        },
    ),
    Case(
        "mondrian/branches",
        {"cells": Relation("cells"), "nodes": Relation("nodes"), "safe": AT_LEAST_2},
        _MON_BRANCH,
        [(3, 1, 1, 0, 5, True, 0.5, 2.0, 0.5, 5), (3, 1, 1, 1, 1, False, 0.5, 2.0, 0.5, 2)],
        {**_MON_CELLS, **_MON_NODES},
    ),
    # The small child takes the smallest safe one along, or the two small ones are safe together.
    Case(
        "mondrian/chosen", _mon_chosen(), _MON_CHOSEN, [(3, 1, None, None, None, 1, 4)], _mon_options([], _MON_CHILDREN)
    ),
    Case(
        "mondrian/chosen", _mon_chosen(), _MON_CHOSEN, [(3, 1, None, None, None, 1, None)], _mon_options([], _MON_FOUR)
    ),
    Case("mondrian/chosen", _mon_chosen(leftover=False), _MON_CHOSEN, [], _mon_options([], _MON_FOUR)),
    Case("mondrian/chosen", _mon_chosen(merge=False), _MON_CHOSEN, [], _mon_options([], _MON_CHILDREN)),
    Case("mondrian/chosen", _mon_chosen(), _MON_CHOSEN, [], _mon_options([], _MON_CHILDREN[2:])),
    # By gain, 3.0 against 4.0 and as much; by width; and never what is not allowed.
    *(
        Case(
            "mondrian/chosen",
            _mon_chosen(worth=[worth]),
            _MON_CHOSEN,
            [(3, *expected)],
            _mon_options([(3, 0, True, 7, 2, 1, 0.5, gain), (3, 2, False, 8, None, None, 1.0, 9.0)], _MON_FOUR),
        )
        for worth, gain, expected in (
            ("gain", 3.0, (1, None, None, None, 1, None)),
            ("gain", 4.0, (0, 7, 2, 1, None, None)),
            ("width", 9.0, (1, None, None, None, 1, None)),
        )
    ),
    Case(
        "mondrian/moves",
        {name: Relation(name) for name in ("chosen", "cells", "nodes", "branches")},
        _MON_MOVE,
        [(3, 1, 0, 0, 0, None, 5), (3, 1, 1, 0, 0, None, 5), (3, 1, 2, -1, 0, None, 4)],
        {
            **_MON_CELLS,
            **_MON_NODES,
            "chosen": (_MON_CHOSEN_TYPES, [(3, 1, None, None, None, 1, None)]),
            "branches": (
                _MON_BRANCH_TYPES,
                [(3, 1, 1, 0, 5, True, 0.5, 2.0, 0.5, 5), (3, 1, 1, 1, 1, False, 0.5, 2.0, 0.5, 2)],
            ),
        },
    ),
    *(
        Case(
            "mondrian/moves",
            {name: Relation(name) for name in ("chosen", "cells", "nodes", "branches")},
            _MON_MOVE,
            expected,
            {
                **_MON_CELLS,
                **_MON_NODES,
                "chosen": (_MON_CHOSEN_TYPES, [(3, 0, 1, dealt, kept, None, None)]),
                "branches": (_MON_BRANCH_TYPES, []),
            },
        )
        for dealt, kept, expected in (
            (None, None, [(3, 0, 7, 0, 0, None, 4), (3, 0, 8, 0, 0, None, 4), (3, 0, 9, 1, 0, None, 5)]),
            (1, 2, [(3, 0, 7, 0, 0, None, 4), (3, 0, 8, 0, 0, 1, 4), (3, 0, 8, 1, 1, 2, 5), (3, 0, 9, 1, 0, None, 5)]),
        )
    ),
    Case(
        "mondrian/next",
        {
            "columns": ["age_0", "zip_0"],
            "codes": ["age_0", "zip_0"],
            **{x: Relation(x) for x in ("open", "chosen", "moves")},
        },
        ["age_0", "zip_0", "n", "class"],
        [(0, 1, 2, 9), (2, 0, 1, 8)],
        {
            **_MON_OPEN,
            "chosen": (_MON_CHOSEN_TYPES, [(3, 1, None, None, None, 0, None)]),
            "moves": (_MON_MOVE_TYPES, [(3, 1, 0, 0, 0, None, 8), (3, 1, 1, 1, 0, None, 9)]),
        },
    ),
    Case(
        "mondrian/closed",
        {"columns": ["age_0", "n", "class"], "open": Relation("open"), "chosen": Relation("chosen")},
        ["age_0", "n", "class"],
        [(2, 4, 5)],
        {**_MON_OPEN, "chosen": (_MON_CHOSEN_TYPES, [(3, 1, None, None, None, 0, None)])},
    ),
    # Age 2 is dealt: of its five rows, the last place first, one goes left and four stay; place 1 goes left anyway.
    Case(
        "mondrian/deal",
        {"columns": ["age_0"], "codes": ["age_0"], **{x: Relation(x) for x in ("open", "chosen", "moves")}},
        ["age_0", "n", "first", "last", "place", "class"],
        [(1, 2, 1, 2, 1, 8), (2, 1, 4, 4, 2, 8), (2, 2, 1, 2, 1, 9), (2, 2, 5, 6, 2, 9)],
        {
            "open": (
                _BIG(["age_0", "n", "first", "last", "place", "class"], "BIGINT"),
                [(1, 2, 1, 2, 1, 3), (2, 2, 1, 2, 2, 3), (2, 3, 4, 6, 3, 3)],
            ),
            "chosen": (_MON_CHOSEN_TYPES, [(3, 0, 2, 1, 4, None, None)]),
            "moves": (_MON_MOVE_TYPES, [(3, 0, 1, 0, 0, None, 8), (3, 0, 2, 0, 0, 1, 8), (3, 0, 2, 1, 1, 4, 9)]),
        },
    ),
    Case(
        "mondrian/grown",
        {"moves": Relation("moves")},
        ["cut", "made"],
        [(1, 2)],
        {"moves": (_MON_MOVE_TYPES, [(3, 1, 0, 0, 0, None, 8), (3, 1, 2, 0, 0, None, 8), (3, 1, 4, 1, 0, None, 9)])},
    ),
    # Six rows of half the range, and six below the top, with partition 4's four of one value.
    Case(
        "mondrian/ncp",
        {"cells": Relation("cells"), "nodes": Relation("nodes")},
        ["penalty"],
        [(9.0,)],
        {
            "cells": (
                _MON_TYPES,
                [*_MON_CELLS["cells"][1], (4, 0, 7, 0, 10.0, 20.0, 4.0, 1.0, 4), (4, 1, 0, 0, None, 1.0, 2.0, 0.5, 4)],
            ),
            **_MON_NODES,
        },
    ),
    # An ordered attribute cut after position 1, one whose median 1 was dealt, and a tree whose first child parted.
    *(
        Case(
            "mondrian/sides",
            {"moves": Relation("moves"), "chosen": Relation("chosen"), "nodes": Relation("nodes")},
            ["class", "parent", "attribute", "low", "high"],
            expected,
            {"moves": (_MON_MOVE_TYPES, moves), "chosen": (_MON_CHOSEN_TYPES, [chosen]), **_MON_NODES},
        )
        for chosen, moves, expected in (
            (
                (3, 0, 1, None, None, None, None),
                [(3, 0, 7, 0, 0, None, 8), (3, 0, 9, 1, 0, None, 9)],
                [(8, 3, 0, None, 1), (9, 3, 0, 2, None)],
            ),
            (
                (3, 0, 1, 2, 1, None, None),
                [(3, 0, 7, 0, 0, 2, 8), (3, 0, 7, 1, 2, 1, 9)],
                [(8, 3, 0, None, 1), (9, 3, 0, 1, None)],
            ),
            (
                (3, 1, None, None, None, 1, None),
                [(3, 1, 0, 0, 0, None, 8), (3, 1, 2, -1, 0, None, 9)],
                [(8, 3, 1, 0, 1), (9, 3, 1, None, None)],
            ),
        )
    ),
    Case(
        "mondrian/regions",
        {"assignment": Relation("assignment"), "sides": Relation("sides")},
        ["class", "attribute", "low", "high"],
        [(2, 0, 2, None), (3, 0, 1, 1), (3, None, None, None), (2, None, None, None)],
        {
            "assignment": ({"class": "BIGINT"}, [(3,), (3,), (2,)]),
            "sides": (
                _BIG(["class", "parent", "attribute", "low", "high"], "BIGINT"),
                [(1, 0, 0, None, 1), (2, 0, 0, 2, None), (3, 1, 0, 1, None)],
            ),
        },
    ),
]


# What `refine` works on: tuples with an id, states that give them a class, cells that they may share.
_TUPLES = {"tuples": (dict.fromkeys(["id", "n", "age_0"], "BIGINT"), [(1, 1, 0), (2, 1, 0), (3, 2, 1)])}
_STATE = {"state": (dict.fromkeys(["id", "n", "class"], "BIGINT"), [(1, 1, 7), (2, 1, 7), (3, 2, 9)])}
_PLACED = {"placed": (dict.fromkeys(["id", "n", "class"], "BIGINT"), [(3, 2, 4), (4, 1, 4)])}
_CELLS = {
    "cells": (
        dict.fromkeys(["id", "n", "key", "cost"], "BIGINT"),
        [(1, 1, 10, 5), (1, 1, 11, 0), (2, 1, 10, 0), (3, 3, 12, 0), (3, 3, 10, 0)],
    )
}
_HALVES = {
    "one": (dict.fromkeys(["id", "n", "key", "cost"], "BIGINT"), [(1, 2, 10, 0), (1, 2, 11, 3), (2, 1, 10, 0)]),
    "other": (dict.fromkeys(["id", "n", "key", "cost"], "BIGINT"), [(1, 2, 100, 1), (1, 2, 200, 4)]),
}
_COSTS = {"costs": (dict.fromkeys(["n", "cost"], "BIGINT"), [(5, 3), (2, 0)])}
_RESTS = {
    "rests": (
        {"dirty": "BOOLEAN", **dict.fromkeys(["id", "class", "n", "cost", "own", "before"], "BIGINT")},
        # of a class of 3 rows at 4 each: the rest costs less, is too small, costs the same
        [(True, 1, 7, 2, 1, 1, 12), (True, 2, 7, 1, 0, 2, 12), (False, 3, 7, 2, 6, 1, 12)],
    ),
    "classes": (
        {"dirty": "BOOLEAN", **dict.fromkeys(["class", "tuples", "n", "cost"], "BIGINT")},
        [(True, 7, 3, 3, 4), (False, 8, 1, 2, 5), (True, 9, 1, 2, 0)],
    ),
    "state": (dict.fromkeys(["id", "n", "class"], "BIGINT"), [(1, 1, 7), (4, 2, 8), (5, 2, 9)]),
}
_GAINS = {
    "gains": (
        dict.fromkeys(["id", "own", "class", "target", "gain"], "BIGINT"),
        # the best for both their classes are 2 (from 5 to 6, which 1 wants too) and 3 (alone)
        [(1, 1, 4, 6, 3), (2, 2, 5, 6, 8), (3, 1, 7, 8, 1)],
    )
}
_OF_STATE, _GAIN_COLUMNS = ("id", "n", "class"), ("id", "own", "class", "target", "gain")

CASES += [
    Case(
        "core/mapping_codes",
        {"mapping": Relation("mapping"), "codes": ["code_0", "code_1"]},
        ("value", "code_0", "code_1"),
        [("7", 0, 1), (None, 1, 1)],
        {"mapping": (dict.fromkeys(["value", "code_0", "code_1"], "INTEGER"), [(7, 0, 1), (None, 1, 1)])},
    ),
    Case("refine/none", {"tuples": Relation("tuples")}, _OF_STATE, [], _TUPLES),
    Case(
        "refine/open",
        {"tuples": Relation("tuples"), "placed": Relation("placed"), "keys": ["age_0"]},
        ("id", "n", "age_0"),
        [(1, 1, 0), (2, 1, 0)],
        {**_TUPLES, **_PLACED},
    ),
    Case(
        "refine/node",
        {"tuples": Relation("tuples"), "columns": ["age_0"]},
        _OF_STATE,
        [(1, 1, 1), (2, 1, 1), (3, 2, 2)],
        _TUPLES,
    ),
    Case(
        "refine/cells",
        {"generalizations": Relation("cells"), "safe": AT_LEAST_2},
        ("id", "n", "key", "cost"),
        [(1, 1, 10, 5), (2, 1, 10, 0), (3, 3, 12, 0), (3, 3, 10, 0)],
        _CELLS,
    ),
    Case(
        "refine/cells",
        {"generalizations": Relation("cells"), "safe": UNKNOWN_OF_3},
        ("id", "n", "key", "cost"),
        [(1, 1, 10, 5), (1, 1, 11, 0), (2, 1, 10, 0), (3, 3, 10, 0)],
        _CELLS,
    ),
    Case(
        "refine/joined",
        {"one": Relation("one"), "other": Relation("other"), "above": 1, "most": 4},
        ("id", "n", "key", "cost"),
        [(1, 2, 210, 4), (1, 2, 111, 4)],
        _HALVES,
    ),
    Case("refine/choice", {"cells": Relation("cells")}, _OF_STATE, [(1, 1, 11), (2, 1, 10), (3, 3, 10)], _CELLS),
    Case(
        "refine/open_cells",
        {"cells": Relation("cells"), "placed": Relation("placed")},
        ("id", "n", "key", "cost"),
        [(1, 1, 10, 5), (1, 1, 11, 0), (2, 1, 10, 0)],
        {**_CELLS, **_PLACED},
    ),
    Case(
        "refine/safe",
        {"chosen": Relation("placed"), "safe": AT_LEAST_2},
        _OF_STATE,
        [(3, 2, 4), (4, 1, 4)],
        _PLACED,
    ),
    Case("refine/safe", {"chosen": Relation("placed"), "safe": UNKNOWN_OF_3}, _OF_STATE, [], _PLACED),
    Case(
        "refine/grown",
        {"state": Relation("state"), "placed": Relation("placed")},
        _OF_STATE,
        [(1, 1, 7), (2, 1, 7), (3, 2, 9), (3, 2, 4), (4, 1, 4)],
        {**_STATE, **_PLACED},
    ),
    Case(
        "refine/moved",
        {"state": Relation("state"), "moves": Relation("placed")},
        _OF_STATE,
        [(1, 1, 7), (2, 1, 7), (3, 2, 4), (4, 1, 4)],
        {**_STATE, **_PLACED},
    ),
    Case(
        "refine/cut",
        {
            **{name: Relation(name) for name in ("state", "open", "assignment")},
            "keys": ["age_0", "zip_0"],
            "above": 100,
        },
        _OF_STATE,
        [(1, 1, 7), (2, 1, 7), (3, 2, 9), (4, 1, 101), (5, 3, 100)],
        {
            **_STATE,
            "open": (dict.fromkeys(["id", "n", "age_0", "zip_0"], "BIGINT"), [(4, 1, 0, 2), (5, 3, 0, 1)]),
            "assignment": (dict.fromkeys(["age_0", "zip_0", "class"], "BIGINT"), [(0, 1, 0), (0, 2, 1)]),
        },
    ),
    Case("refine/size", {"state": Relation("state")}, ("classes", "rows"), [(2, 4)], _STATE),
    Case("refine/classes_of", {"state": Relation("state")}, ("class",), [(7,), (9,)], _STATE),
    Case("refine/cost", {"classes": Relation("costs")}, ("rows", "cost"), [(7, 15)], _COSTS),
    Case(
        "refine/assignment",
        {"tuples": Relation("tuples"), "state": Relation("state"), "keys": ["age_0"]},
        ("age_0", "n", "class"),
        [(0, 1, 1), (0, 1, 1), (1, 2, 2)],
        {**_TUPLES, **_STATE},
    ),
    Case(
        "refine/movers",
        {**{name: Relation(name) for name in _RESTS}, "near": 10, "safe": AT_LEAST_2},
        ("id", "own", "class", "dirty", "most", "place"),
        [(1, 1, 7, True, 10, 1), (4, 2, 8, False, 10, 2)],
        _RESTS,
    ),
    Case(
        "refine/outsiders",
        {"open": Relation("placed"), "most": 99},
        ("id", "own", "class", "dirty", "most", "place"),
        [(3, 2, -3, True, 99, 1), (4, 1, -4, True, 99, 2)],
        _PLACED,
    ),
    Case(
        "refine/far",
        {"movers": Relation("movers"), "near": 3},
        ("movers",),
        [(1,)],
        {"movers": (dict.fromkeys(["id", "own", "most"], "BIGINT"), [(1, 2, 7), (2, 2, 6), (3, 1, 1)])},
    ),
    Case("refine/moves", {"best": Relation("gains")}, _OF_STATE, [(2, 2, 6), (3, 1, 8)], _GAINS),
    Case(
        "refine/dirty",
        {"best": Relation("gains"), "moves": Relation("placed"), "movers": Relation("movers"), "seen": 1, "far": 3},
        ("class",),
        [(4,), (5,), (7,), (12,), (13,)],
        {
            **_GAINS,
            **_PLACED,
            "movers": (dict.fromkeys(["class", "place"], "BIGINT"), [(11, 1), (12, 2), (13, 3), (14, 4)]),
        },
    ),
]


CASES += [Case(*parts) for parts in CLOAK_CASES]


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
        "prioprivacy/rule_values",
        {"mapping": Relation("map")},
        ["code", "label"],
        [(0, "1.5"), (1, None)],
        _relation("map", "value code_0", (1.5, 0), (None, 1), value="DOUBLE"),
    ),
    Case(
        "prioprivacy/rule_keys",
        {"columns": {"a": "age_0", "b": "zip_0"}, "frequency_set": COUNTED},
        ["a", "b", "n"],
        [(0, 0, 1), (0, 1, 5), (1, 1, 1)],
        _relation("counted", "age_0 zip_0 n", (0, 0, 1), (0, 1, 2), (0, 1, 3), (1, 1, 1)),
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
        {"tuples": _RULED_AS, "safe": AT_LEAST_2},
        ["tuple", "n", "a_0", "a_1", "b_0"],
        [(1, 1, 0, 7, 0), (2, 1, 1, 7, 0), (4, 1, 2, -3, 1)],
        _RULED,
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
        _on_node(AT_LEAST_2, ["a_1", "b_0"], 5, frequency_set=_RULED_AS),
        ["node", "class", "tuple"],
        [(5, 1, 1), (5, 1, 2), (5, 3, 3)],
        _RULED,
    ),
    Case(
        "prioprivacy/group_places",
        {"members": _MEMBERS_AS, "tuples": _RULED_AS, "safe": AT_LEAST_2},
        ["node", "class", "place"],
        [(5, 2, 1), (4, 1, 2)],
        {**_RULED, **_GROUPED},
    ),
    Case(
        "prioprivacy/best_groups",
        {"members": _MEMBERS_AS, "places": Relation("places")},
        ["node", "class"],
        [(5, 2), (6, 4)],
        {**_GROUPED, **_relation("places", "node class place", (5, 2, 1), (4, 1, 2), (6, 4, 3))},
    ),
    Case(
        "prioprivacy/group_tuples",
        {"members": _MEMBERS_AS, "chosen": Relation("chosen")},
        ["tuple", "node"],
        [(2, 5), (3, 5)],
        {**_GROUPED, **_relation("chosen", "node class", (5, 2))},
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
        "prioprivacy/matching_cells",
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
        {**_MATCHES, **_relation("chosen", "tuple class", (8, 0), (9, 0))},
    ),
    Case(
        "prioprivacy/grown_classes",
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
        "prioprivacy/recoded_anew",
        {"kept": Relation("done"), "moved": Relation("moved")},
        ["tuple", "node"],
        [(1, 4), (3, 5), (8, 6)],
        {**_DONE, **_relation("moved", "tuple node", (8, 6))},
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
        "prioprivacy/first_suppressions",
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
        "prioprivacy/numbered_classes",
        {"labels": ["label_0"], "cells": ["label_0"], "labelled": Relation("labelled")},
        ["class", "tuple", "n", "label_0"],
        [(0, 2, 5, "x"), (0, 3, 1, "x"), (1, 1, 1, "y"), (2, 4, 1, None)],
        _relation(
            "labelled", "tuple n label_0", (1, 1, "y"), (2, 5, "x"), (3, 1, "x"), (4, 1, None), label_0="VARCHAR"
        ),
    ),
    Case(
        "prioprivacy/own_classes",
        {"cells": ["label_0", "leaves_0"], "numbered": Relation("numbered")},
        ["class", "n", "label_0", "leaves_0"],
        [(0, 6, "x", 2), (1, 1, None, 1)],
        _relation(
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
        _LABELS,
    ),
    Case(
        "wildcard/patterns",
        {"readings": Relation("readings"), "levels": ["level_0"], "codes": ["code_0"]},
        ["pattern", "class", "level_0", "code_0"],
        [(0, 4, 0, 7), (1, 5, 2, 1), (1, 6, 2, 3)],
        _relation("readings", "class level_0 code_0", (5, 2, 1), (4, 0, 7), (6, 2, 3)),
    ),
    Case(
        "wildcard/levels",
        {"patterns": Relation("patterns"), "levels": ["level_0"]},
        ["pattern", "level_0"],
        [(0, 0), (1, 2)],
        _relation("patterns", "pattern class level_0", (1, 5, 2), (0, 4, 0), (1, 6, 2)),
    ),
    Case(
        "wildcard/fits",
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
        "wildcard/summary",
        {"rows": Relation("rows"), "fits": Relation("fits"), "safe": AT_LEAST_2},
        ["rows", "classes", "smallest_class", "unsafe_class_rows", "smallest_fit", "unsafe_rows"],
        [(6, 4, 1, 3, 0, 2)],  # 5 is safe in itself, 6 by what it fits, 7 and 8 are not
        {
            **_relation("rows", "class n", (5, 3), (6, 1), (7, 1), (8, 1)),
            **_relation("fits", "class fits safe", (5, 1, False), (6, 4, True), (7, 1, False), safe="BOOLEAN"),
        },
    ),
    Case(
        "wildcard/summary",
        {"rows": Relation("rows"), "fits": Relation("fits"), "safe": UNKNOWN_OF_3},
        ["rows", "classes", "smallest_class", "unsafe_class_rows", "smallest_fit", "unsafe_rows"],
        [(3, 1, 3, 3, 0, 3)],
        {**_relation("rows", "class n", (5, 3)), **_relation("fits", "class fits safe", safe="BOOLEAN")},
    ),
    Case(
        "quality/cells",
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
        "quality/levels",
        {"cells": Relation("cells"), "labels": Relation("labels")},
        ["value", "level", "leaves", "n"],
        [(0, 1, 2, 5), (1, None, None, 1), (2, 0, 1, 4)],
        {
            **_relation("cells", "value label n", (0, "x", 3), (0, "y", 2), (1, "z", 1), (2, None, 4), label="VARCHAR"),
            **_relation("labels", "label level leaves", ("x", 1, 2), ("y", 1, 2), (None, 0, 1), label="VARCHAR"),
        },
    ),
    Case(
        "quality/sums",
        {"levels": Relation("levels")},
        ["level", "n", "leaves"],
        [(0, 4, 4), (1, 3, 6)],
        _relation("levels", "value level leaves n", (0, 1, 2, 2), (1, 1, 2, 1), (1, 0, 1, 4)),
    ),
    Case(
        "quality/entropy",
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
    [
        case
        for case in CASES
        if "frequency_set" in case.holes and "levels" in case.holes and case.query != "core/rollup"
    ],
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
    prepared = queries.per_node("core/released_classes", "duckdb", safe=AT_LEAST_2)
    with pytest.raises(ValueError, match="not a plain column name"):
        prepared(0, COUNTED, [name])


def test_a_hole_left_open_or_unknown_is_an_error() -> None:
    with pytest.raises(ValueError, match="filled with"):
        queries.text("core/row_count", "duckdb")
    with pytest.raises(ValueError, match="filled with"):
        queries.text("core/row_count", "duckdb", relation=COUNTED, other=1)
