"""Masking against the minimality attack: classes are chosen by quasi-identifiers alone, then unsafe ones are redrawn.

Source: R. Wong, A. Fu, K. Wang, J. Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007 (MASK).

In a class in which a value is too frequent, the rows get other values, so that the class looks as if it had never had
it. They must be few: among the classes without the value, except the largest, which was never redrawn, the share of
redrawn ones is at most α. See docs/decisions/0028-mask-against-minimality.md.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError, SpecError
from kanon_sql.privacy import Finding, PrivacyModel
from kanon_sql.queries import Perturbed, Relation
from kanon_sql.release import chance
from kanon_sql.release.findings import Redrawn
from kanon_sql.release.perturb import check_rows
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import Spec


@dataclass(frozen=True)
class _Counts:
    """The counts of one value in a release; see `sql/minimality.sql`."""

    unsafe_classes: int
    unsafe_rows: int
    lacking: int
    rows_lacking: int
    found: int
    others: int
    largest_unsafe: int
    largest_lacking: int


def check(spec: Spec) -> None:
    """Refuse an invalid secret, before any long work."""
    if spec.privacy.minimality:
        chance.secret_of(spec)


def mask(recoding: Recoding) -> tuple[str, tuple[Redrawn, ...]]:
    """The query of a release whose unsafe classes were redrawn, and the redrawn columns.

    It reads the recoding's tables. InfeasibleError if too few classes lack a value to hide the redrawn ones.
    """
    tables, columns, dialect = recoding.tables, recoding.columns, recoding.engine.dialect
    unmasked = tables.create_as("unmasked", recoding.select_sql())
    plain = queries.plain_names(columns)
    names = {new: old for old, new in plain.items()}
    rows = tables.create_as("numbered", queries.identified_rows(unmasked, names, columns, dialect))
    secret = chance.secret_of(recoding.spec)
    classes = [plain[name] for name in recoding.quasi_identifiers]
    masked_columns = [_mask(tables, rows, classes, plain, model, secret) for model in recoding.redrawn]
    values = {redraw.column: relation for redraw, relation in masked_columns}
    source = recoding.engine.table(unmasked).columns
    masked = queries.perturbed_rows(
        rows, [Perturbed(c.name, plain[c.name], c.type, values.get(c.name)) for c in source], dialect
    )
    masked_rows = tables.create_as("masked", masked)
    check_rows(tables, unmasked, masked_rows, "redrawing values")
    tables.drop(unmasked, rows, *values.values())
    shuffle = recoding.spec.seed if recoding.spec.shuffle else None
    sortable = {column.name: column.kind != "other" for column in source}
    query = queries.sorted_rows(masked_rows, sortable, recoding.quasi_identifiers, shuffle, dialect)
    return query, tuple(redraw for redraw, _ in masked_columns)


def found(
    engine: Engine, release: Relation, quasi_identifiers: Sequence[str], redrawn: Sequence[Redrawn]
) -> tuple[Finding, ...]:
    """Findings on a written release: of the classes without a value, how many were redrawn."""
    with Scratch(engine, "minimality") as tables:
        return tuple(_found(tables, release, quasi_identifiers, redraw) for redraw in redrawn)


def described(redrawn: Sequence[Redrawn], spec: Spec) -> dict[str, Any]:
    """The manifest's entry on masking; empty without it."""
    if not redrawn:
        return {}
    columns = [redraw.described() for redraw in redrawn]
    entry = {"columns": columns, "reproducible": spec.secret is not None}
    return {"minimality": {"method": spec.privacy.minimality, **entry}}


def warnings(redrawn: Sequence[Redrawn], spec: Spec) -> list[str]:
    """Warnings for readers of a masked release."""
    notes = [
        f"{redraw.column!r} is not exact: in {redraw.classes:,} of the {redraw.alike:,} classes without the "
        f"value to be hidden, with {redraw.rows_alike:,} rows together, that value was redrawn, so that its count is "
        "too low"
        for redraw in redrawn
        if redraw.classes
    ]
    if notes and spec.secret is None:
        notes.append(
            "the redrawn values cannot be drawn again, and a second release of these rows would show which they are; "
            "set a secret to repeat them"
        )
    return notes


def _mask(
    tables: Scratch,
    rows: Relation,
    classes: Sequence[str],
    plain: dict[str, str],
    model: PrivacyModel,
    secret: bytes,
) -> tuple[Redrawn, Relation]:
    """The values of one sensitive column by row_id, in a separate relation."""
    value = plain[str(model.sensitive)]
    counts = _counted(tables, rows, dict(zip(classes, classes, strict=True)), value, model)
    _check(model, counts)
    unsafe = counts.unsafe_classes
    marked = tables.create("marked", "minimality/marked", rows=rows, names=list(classes), **_holes(model, value))
    purpose = json.dumps(["minimality", model.sensitive, model.parameters], sort_keys=True)
    key = chance.make_key(tables, secret, purpose)
    draws = tables.create("draws", "perturb/draws", column=["unsafe"], rows=marked, key=key)
    holes: dict[str, Any] = {"marked": marked, "draws": draws, "others": counts.others}
    values = tables.create(f"redrawn_{value}", "minimality/redrawn", **holes)
    tables.drop(key, draws, marked)
    return Redrawn(model, unsafe, unsafe + counts.lacking, counts.unsafe_rows + counts.rows_lacking), values


def _holes(model: PrivacyModel, column: str) -> dict[str, Any]:
    """The column of a value, the value, and the maximum share that it can have."""
    return {"value": [column], "asked": model.parameters["value"], "alpha": model.parameters["alpha"]}


def _counted(
    tables: Scratch, release: Relation, quasi_identifiers: dict[str, str], column: str, model: PrivacyModel
) -> _Counts:
    """`quasi_identifiers`: by plain names."""
    holes: dict[str, Any] = {"quasi_identifiers": quasi_identifiers, "names": list(quasi_identifiers)}
    (counts,) = tables.rows("minimality/counts", release=release, **holes, **_holes(model, column))
    return _Counts(*map(int, counts))


def _check(model: PrivacyModel, counts: _Counts) -> None:
    """Refuse a value that does not occur, and one that too few classes lack."""
    if not counts.found:
        raise SpecError(
            f"{model.name} names a value that no released row has, so there is nothing to hide; correct it, or leave "
            "out the model"
        )
    unsafe = counts.unsafe_classes
    if unsafe and counts.largest_unsafe > counts.largest_lacking:
        raise InfeasibleError(
            f"{unsafe:,} classes do not meet {model.name}, and one of them has more rows than any class without the "
            "value, so that it would be conspicuous without; lower k or raise alpha, or leave out `minimality`"
        )
    if not _hidden(unsafe, unsafe + counts.lacking, model):
        raise InfeasibleError(
            f"{unsafe:,} classes do not meet {model.name}, and {counts.lacking:,} have none of the value: too few to "
            "hide the others among them; raise k or alpha, or leave out `minimality`"
        )


def _hidden(unsafe: int, lacking: int, model: PrivacyModel) -> bool:
    """Whether the redrawn classes are at most the share α of the classes without the value.

    The largest class is not counted, since everyone knows that it was not redrawn.
    """
    return unsafe <= Fraction(str(model.parameters["alpha"])) * max(lacking - 1, 0)


def _found(tables: Scratch, release: Relation, quasi_identifiers: Sequence[str], redraw: Redrawn) -> Finding:
    plain = {name: column for column, name in queries.plain_names(quasi_identifiers).items()}
    counts = _counted(tables, release, plain, redraw.column, redraw.model)
    share = redraw.classes / (counts.lacking - 1) if redraw.classes and counts.lacking > 1 else 0.0
    unsafe = (0, 0) if _hidden(redraw.classes, counts.lacking, redraw.model) else (counts.lacking, counts.rows_lacking)
    name = f"redrawn of {redraw.model.name.partition(' of ')[2]}"
    return Finding(name, redraw.model.parameters["alpha"], share, *unsafe)
