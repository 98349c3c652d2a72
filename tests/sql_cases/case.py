"""The definition of a case, and the parts that cases of several folders share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.privacy import Predicate
from kanon_sql.queries import Relation

Rows = Sequence[Sequence[Any]]
Relations = Mapping[str, tuple[Mapping[str, str], Rows]]


@dataclass(frozen=True)
class Case:
    """What a query makes of literal relations (name: types, rows) or files (name: text, or columns)."""

    query: str
    holes: Mapping[str, Any]
    columns: Sequence[str]
    expected: Rows
    relations: Relations = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)


AT_LEAST_2 = Predicate("SUM(n) >= $k", {"k": 2})
UNKNOWN_OF_3 = Predicate("NULLIF(SUM(n), $three) > 0", {"three": 3})  # NULL for a class of three
AT_MOST_75 = Predicate("4 * MAX(c) <= 3 * rows", {}, {"rows": "SUM(n)"}, counted="zip_0")
COUNTED = Relation("counted")
# Classes by age_0: 0 has 1 + 2 rows, 1 has 1, 2 has 4. By zip_0: 0 has 1 + 4, 1 has 2 + 1.
_FREQUENCY_TYPES = dict.fromkeys(["age_0", "age_1", "zip_0", "zip_0_loss", "n"], "INTEGER")
FREQUENCY_SET = {"counted": (_FREQUENCY_TYPES, [(0, 0, 0, 1, 1), (0, 0, 1, 0, 2), (1, 0, 1, 3, 1), (2, 1, 0, 8, 4)])}
NO_ROWS = {"counted": (_FREQUENCY_TYPES, [])}
VALUES_OF_ZIP = {
    "counted": (_FREQUENCY_TYPES, [(0, 0, 0, 1, 1), (0, 0, 1, 0, 3), (1, 0, 0, 0, 1), (1, 0, 1, 0, 1), (2, 1, 0, 8, 4)])
}
PEOPLE = {
    "odd people": (
        {"Age": "INTEGER", 'a "zip"; n': "VARCHAR"},
        [(40, "x"), (None, "x"), (40, "x"), (40, None), (None, "x"), (40, ""), (7, "x")],
    )
}


def counted_rows(*rows: Sequence[int]) -> dict[str, Any]:
    """A frequency set of these rows: age_0, age_1, zip_0, zip_0_loss, n."""
    return {"counted": (_FREQUENCY_TYPES, rows)}


def on_node(safe: Predicate, levels: Sequence[str], node: int | None = None, **more: Any) -> dict[str, Any]:
    """The holes of a query that asks something of a lattice node."""
    numbered = {} if node is None else {"node": node}
    return {"frequency_set": COUNTED, "levels": list(levels), "safe": safe, **numbered, **more}


def integers(columns: str, *rows: Sequence[Any]) -> tuple[Mapping[str, str], Rows]:
    """The types and rows of a literal relation of integers."""
    return dict.fromkeys(columns.split(), "INTEGER"), rows


def relation(name: str, columns: str, *rows: Sequence[Any], **types: str) -> dict[str, tuple[Mapping[str, str], Rows]]:
    """A literal relation of integers; other types by column."""
    return {name: ({column: types.get(column, "INTEGER") for column in columns.split()}, rows)}


LABELS = relation(
    "labels",
    "attribute rule_level code label leaves level",
    *[(0, 0, 1, "b", 1, 0), (0, 1, 7, "ab", 2, 1), (0, 1, -2, "b", 1, 0), (0, 2, 7, "ab", 2, 1), (0, 3, 0, "*", 4, 2)],
    label="VARCHAR",
)
