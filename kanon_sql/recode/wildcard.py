"""The other notion of safety: `*` matches any value, so a released row could be any original row that it fits.

A row fits an original row if all its cells are `*`, the original value, or the label of a rule for it. Rows that are
equal to enough others are not tested further. This protects less than classes of equal rows: the number of released
rows that one original row fits, and their sensitive values, are not limited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.privacy import Finding, PrivacyModels
from kanon_sql.queries import Relation
from kanon_sql.recode import rule_codes
from kanon_sql.recode.rule_codes import Coding
from kanon_sql.recode.rules import rules_of
from kanon_sql.spec import Spec

_AT_ONCE = 16  # patterns counted in one statement


@dataclass(frozen=True)
class Fits:
    """The rows of a release under both notions of safety; see `sql/wildcard.sql`."""

    rows: int
    classes: int
    smallest_class: int | None
    unsafe_class_rows: int
    smallest_fit: int | None
    unsafe_rows: int

    @property
    def satisfied(self) -> bool:
        """Whether every row is equal to enough others, or fits enough original rows."""
        return self.unsafe_rows == 0

    def finding(self, model: PrivacyModels) -> Finding:
        """The finding of a check, which never has the model's own name."""
        name = f"NOT {model.name}: every row fits that many source rows, * as a wildcard"
        return Finding(name, model.k, self.smallest_fit, None, self.unsafe_rows)


def of_release(
    frequency_set: FrequencySet,
    spec: Spec,
    model: PrivacyModels,
    engine: Engine,
    release: Relation,
    columns: Sequence[str],
) -> Fits:
    """Check a written release: `columns` are its quasi-identifiers, in the frequency set's order."""
    names = {f"label_{j}": column for j, column in enumerate(columns)}
    query = queries.text("wildcard/rows", engine.dialect, release=release, quasi_identifiers=names, names=list(names))
    with Scratch(frequency_set.engine, "wildcard") as tables:
        rows = tables.receive("rows", engine, query)
        return of_classes(rule_codes.code(frequency_set, rules_of(spec, frequency_set.attributes), tables), model, rows)


def of_classes(coded: Coding, model: PrivacyModels, classes: Relation) -> Fits:
    """Check classes (class, n, label_0, label_1, …), by one GROUP BY per pattern of levels that occurs."""
    with Scratch(coded.engine, "fits") as tables:
        fits = _load_fits(tables)
        _count_fits(tables, coded, model, classes)
        return _summary(tables, model, classes, fits)


def of_equal_rows(engine: Engine, model: PrivacyModels, classes: Relation) -> Fits:
    """Check classes (class, n) for equal rows alone: a row fits at least the rows of its class."""
    with Scratch(engine, "fits") as tables:
        return _summary(tables, model, classes, _load_fits(tables))


def _load_fits(tables: Scratch) -> Relation:
    return tables.load("fits", {"class": "INTEGER", "fits": "BIGINT", "safe": "BOOLEAN"}, [])


def _summary(tables: Scratch, model: PrivacyModels, classes: Relation, fits: Relation) -> Fits:
    (summary,) = tables.rows("wildcard/summary", rows=classes, fits=fits, safe=model.safe)
    rows, count, smallest, small_rows, fit, unsafe = summary
    least, fewest = (None if value is None else int(value) for value in (smallest, fit))
    return Fits(int(rows), int(count), least, int(small_rows), fewest, int(unsafe))


def _count_fits(tables: Scratch, coded: Coding, model: PrivacyModels, classes: Relation) -> None:
    dialect, places = tables.engine.dialect, range(len(coded.heights))
    levels, codes = [f"level_{j}" for j in places], [f"code_{j}" for j in places]
    readable = tables.create("labels", "wildcard/labels", labels=coded.labels)
    readings = tables.create_as("readings", queries.readings(classes, readable, len(places), dialect))
    patterns = tables.create("patterns", "wildcard/patterns", readings=readings, levels=levels, codes=codes)
    held = tables.create_as("held", queries.beside_patterns(coded.tuples, patterns, coded.all_columns, dialect))
    per_pattern = queries.per_node("wildcard/fits", dialect, safe=model.safe)
    nodes = tables.rows("wildcard/levels", patterns=patterns, levels=levels)
    texts = [per_pattern(pattern, held, coded.of(tuple(node))) for pattern, *node in nodes]
    for start in range(0, len(texts), _AT_ONCE):
        tables.add_as("fits", queries.union_all(texts[start : start + _AT_ONCE]))
