"""The other notion of safety: `*` may be any value, so a released row is one of all original rows that it fits.

A row fits an original row if each of its cells is `*`, the original value, or a label that a rule makes of it. Rows
that are equal to enough others need not fit more than those. It protects less than classes of equal rows: it says
nothing of how many released rows one original row fits, nor of what sensitive values they carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.privacy import PrivacyModel
from kanon_sql.queries import Relation
from kanon_sql.recode import coding
from kanon_sql.recode.coding import LABELS, TUPLES, Coding
from kanon_sql.recode.rules import rules_of
from kanon_sql.spec import Spec

_ROWS, _READABLE = queries.scratch("kanon_wildcard_rows"), queries.scratch("kanon_wildcard_labels")
_READINGS, _PATTERNS = queries.scratch("kanon_wildcard_readings"), queries.scratch("kanon_wildcard_patterns")
_HELD, _FITS = queries.scratch("kanon_wildcard_held"), queries.scratch("kanon_wildcard_fits")
_AT_ONCE = 16  # patterns counted in one statement


@dataclass(frozen=True)
class Fits:
    """What the rows of a release are by both notions; see `sql/wildcard/summary.sql`."""

    rows: int
    classes: int
    smallest_class: int | None
    unsafe_class_rows: int
    smallest_fit: int | None
    unsafe_rows: int

    @property
    def holds(self) -> bool:
        """Whether every row is equal to enough others, or fits enough original rows."""
        return self.unsafe_rows == 0


def of_release(
    found: FrequencySet, spec: Spec, model: PrivacyModel, engine: Engine, release: Relation, columns: Sequence[str]
) -> Fits:
    """Ask a release that was written: `columns` are its quasi-identifiers, in the frequency set's order."""
    names = {f"label_{j}": column for j, column in enumerate(columns)}
    query = queries.text("wildcard/rows", engine.dialect, release=release, quasi_identifiers=names, names=list(names))
    engine.send(query, found.engine, _ROWS)
    made = coding.code(found, rules_of(spec, found.attributes))
    try:
        return of_classes(made, model, _ROWS)
    finally:
        coding.drop(found.engine)
        found.engine.run(queries.drop(_ROWS, found.engine.dialect))


def of_classes(made: Coding, model: PrivacyModel, classes: Relation) -> Fits:
    """Ask classes (class, n, label_0, label_1, …), by one GROUP BY per pattern of levels that occurs."""
    _begin(made.engine)
    _count_fits(made, model, classes)
    return _end(made.engine, model, classes)


def of_equal_rows(engine: Engine, model: PrivacyModel, classes: Relation) -> Fits:
    """Ask classes (class, n) for equal rows alone: each fits at least the rows that it was made of."""
    _begin(engine)
    return _end(engine, model, classes)


def _begin(engine: Engine) -> None:
    engine.load(_FITS, {"class": "INTEGER", "fits": "BIGINT", "safe": "BOOLEAN"}, [])


def _end(engine: Engine, model: PrivacyModel, classes: Relation) -> Fits:
    query = queries.text("wildcard/summary", engine.dialect, rows=classes, fits=_FITS, safe=model.safe)
    rows, count, smallest, small_rows, fit, unsafe = engine.rows(query)[0]
    engine.run(queries.drop(_FITS, engine.dialect))
    least, fewest = (None if value is None else int(value) for value in (smallest, fit))
    return Fits(int(rows), int(count), least, int(small_rows), fewest, int(unsafe))


def _count_fits(made: Coding, model: PrivacyModel, classes: Relation) -> None:
    engine, dialect = made.engine, made.engine.dialect
    places = range(len(made.heights))
    levels, codes = [f"level_{j}" for j in places], [f"code_{j}" for j in places]
    engine.send(queries.text("wildcard/labels", dialect, labels=LABELS), engine, _READABLE)
    engine.send(queries.readings(classes, _READABLE, len(places), dialect), engine, _READINGS)
    query = queries.text("wildcard/patterns", dialect, readings=_READINGS, levels=levels, codes=codes)
    engine.send(query, engine, _PATTERNS)
    engine.send(queries.beside_patterns(TUPLES, _PATTERNS, made.all_columns, dialect), engine, _HELD)
    per_pattern = queries.per_node("wildcard/fits", dialect, safe=model.safe)
    found = engine.rows(queries.text("wildcard/levels", dialect, patterns=_PATTERNS, levels=levels))
    texts = [per_pattern(pattern, _HELD, made.of(tuple(node))) for pattern, *node in found]
    for start in range(0, len(texts), _AT_ONCE):
        engine.run(queries.insert(_FITS, queries.union_all(texts[start : start + _AT_ONCE]), dialect))
    for relation in (_READABLE, _READINGS, _PATTERNS, _HELD):
        engine.run(queries.drop(relation, dialect))
