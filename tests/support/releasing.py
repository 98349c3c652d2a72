"""A problem as a table of people, its release, and the release in plain Python."""

import csv
from collections import Counter
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from kanon_sql import anonymize, queries
from kanon_sql.engine import Engine
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import plan_search
from kanon_sql.plan.source import opened, settle_spec
from kanon_sql.queries import Relation
from kanon_sql.release import recoded
from kanon_sql.verbs.released import Release
from support.database import create_table
from support.examples import examples
from support.oracle import Column, Node, Problem

ODD = (
    'x"; DROP TABLE victim; --',
    "it's",
    "select",
    "n",
    "value",
    "size",
    "o0",
    "c1",
    "label",
    "kanon scratch",
    "Straße 東京",
    "s",
    "k",
    "m0",
    "a b",
)
FEW = examples(10)
_numbers = count()
Row = tuple[Any, ...]


# A problem as a table: an identifier first, then the quasi-identifiers, then two columns that stay as they are


class People:
    """A problem's table in an engine under odd names, and the spec of its release."""

    def __init__(self, engine: Engine, problem: Problem, folder: Path, names: Sequence[str] = ODD) -> None:
        self.engine, self.problem = engine, problem
        self.name = f"{names[-1]} {next(_numbers)}"
        self.id, self.ill, self.other, *rest = names
        self.names = rest[: len(problem.columns)]
        self.texts = [isinstance(column.levels[0][0], str) for column in problem.columns]
        self.types = ["VARCHAR" if text else "BIGINT" for text in self.texts]
        self.details = [(f"ill {i % 3}", i * i % 5) for i in range(len(problem.rows))]
        rows = [(i, *row, *kept) for i, (row, kept) in enumerate(zip(problem.rows, self.details, strict=True))]
        self.fill(rows)
        attributes = {
            name: {"hierarchy": {"file": str(_file(folder / f"{i}.csv", column)), "separator": ";"}}
            for i, (name, column) in enumerate(zip(self.names, problem.columns, strict=True))
        }
        for j, attribute in enumerate(attributes.values()):
            attribute |= {"min_level": problem.bottom[j] if problem.bottom else 0}
            attribute |= {"max_level": problem.top[j]} if problem.top else {}
        self.spec = {
            "identifiers": [self.id],
            "quasi_identifiers": attributes,
            "sensitive": [self.ill],
            "keep": [self.other],
            "privacy": {"k": problem.k},
            "suppression_limit": problem.limit,
            "unmapped": "top",
        }

    def fill(self, rows: Sequence[Row]) -> None:
        table = self.engine.find(self.name)
        if table:
            self.engine.run(queries.drop(table.relation, self.engine.dialect))
        columns = [self.id, *self.names, self.ill, self.other]
        types = dict(zip(columns, ["INTEGER", *self.types, "VARCHAR", "INTEGER"], strict=True))
        create_table(self.engine, self.name, types, rows)

    def release(self, **options: Any) -> Release:
        return anonymize(self.name, self.spec, connection=self.engine.connection, **options)

    def recoded(self, node: Node, masked: bool = False) -> Counter[Row]:
        """The rows that a release at a node must have, by plain Python."""
        kept, at_risk = self.problem.released(node), self.problem.rows_at_risk(node)
        counts: Counter[Row] = Counter()
        for row, details in zip(self.problem.rows, self.details, strict=True):
            labels = self.problem.labels(row, node)
            if labels in kept:
                shown = [self._shown(label, j, node, row[j]) for j, label in enumerate(labels)]
            elif masked and at_risk >= self.problem.k:
                shown = [self._masked(j, node) for j in range(len(node))]
            else:
                continue
            counts[(*shown, *details)] += 1
        return counts

    def _shown(self, label: Any, j: int, node: Node, value: Any) -> Any:
        """Only text and labels can show a star: a number without a leaf is NULL on level 0."""
        stray = value not in self.problem.columns[j].leaves
        return None if stray and node[j] == 0 and not self.texts[j] else label

    def _masked(self, j: int, node: Node) -> Any:
        column = self.problem.columns[j]
        if node[j] == column.height:
            return column.label(None, node[j])
        return None if node[j] == 0 and not self.texts[j] else "*"


def _file(path: Path, column: Column) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerows(["" if cell is None else cell for cell in labels] for labels in column.leaves.values())
    return path


def node_of(release: Release) -> Node:
    return tuple(release.manifest["node"].values())


def table_rows(engine: Engine, name: str) -> list[Row]:
    table = engine.find(name)
    assert table is not None
    return engine.rows(queries.select_all(table.relation, engine.dialect))


def file_rows(path: Path, names: Sequence[str] | None = None) -> list[Row]:
    """A file's rows; its columns must be those named."""
    if path.suffix == ".parquet":
        table = pyarrow.parquet.read_table(path)
        header, *rows = table.column_names, *(tuple(row.values()) for row in table.to_pylist())
    else:
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = (tuple(row) for row in csv.reader(file))
    assert names is None or list(header) == list(names)
    return rows


def as_text(rows: Counter[Row]) -> Counter[Row]:
    """As a CSV file shows them."""
    counts: Counter[Row] = Counter()
    for row, times in rows.items():
        counts[tuple("" if cell is None else str(cell) for cell in row)] += times
    return counts


def two_levels(leaves: str) -> Column:
    return Column({leaf: (leaf, "*") for leaf in leaves})


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture
def people(engine: Engine, tmp_path: Path) -> People:
    """Twelve rows of four letters, k = 3: two classes hold, and three rows are suppressed."""
    rows = [("a",)] * 5 + [("b",)] * 4 + [("c",)] * 2 + [("d",)]
    return People(engine, Problem(rows, [two_levels("abcd")], 3, 0.25), tmp_path)


def everything(engine: Engine) -> list[Row]:
    """All tables and views that there are, temporary ones too."""
    if engine.dialect == "spark":
        return sorted((None, table.name, table.tableType) for table in engine.connection.catalog.listTables())
    listed = "SELECT table_schema, table_name, table_type FROM information_schema.tables ORDER BY 1, 2, 3"
    return engine.rows(listed)


def standalone(people: People, **target: Any) -> tuple[Node, str]:
    """The statement of a release that was not made, on a session that has nothing of ours."""
    spec = settle_spec(people.name, people.spec, target)
    with opened(people.name, spec, people.engine.connection) as source, source.engine.transaction():
        plan = plan_search(source, spec, Observer())
        sql = recoded.target_sql(plan.recoding, spec.target)
    for schema, name, *_ in everything(people.engine):
        if name.startswith("kanon_"):
            people.engine.run(queries.drop(Relation(schema, name), people.engine.dialect))
    return plan.outcome.node, sql
