"""The original Anatomy: exact quasi-identifiers, and sensitive values that only a group of rows has.

Xiao and Tao 2006, "Anatomy: simple and effective privacy preservation" (VLDB), sections 3 to 5. What is released is
NOT k-anonymous: every quasi-identifier is there as it is, so that who knows them finds the row. What is hidden is
which of l or more sensitive values belongs to it. A verb of its own, so that nobody gets this for k-anonymity.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.errors import InfeasibleError, SourceError, SpecError, VerificationError
from kanon_sql.queries import Relation
from kanon_sql.release import anatomy, chance
from kanon_sql.release import publish as releases
from kanon_sql.release.publish import Summary
from kanon_sql.resources import package_version
from kanon_sql.spec import Spec
from kanon_sql.staging import Staging
from kanon_sql.verbs import manifest as manifests
from kanon_sql.verbs.anonymize import Release, releasing
from kanon_sql.verbs.options import AnatomizeOptions, spelled_out, taken
from kanon_sql.verbs.problem import check_roles, settle_roles
from kanon_sql.verbs.source import Source, settle_spec

_ROWS, _KEY = queries.scratch("kanon_anatomize_rows"), queries.scratch("kanon_anatomize_key")


@spelled_out(AnatomizeOptions)
def anatomize(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    l: int,  # noqa: E741 (the field's own letter)
    connection: Any = None,
    **options: Unpack[AnatomizeOptions],
) -> Release:
    """Release exact rows and, apart from them, the sensitive values of groups of `l` rows or more, all different.

    Arguments as of `anonymize`; the spec names a target and one sensitive column. Who knows a person's
    quasi-identifiers learns that the person is in the table, and each of the group's values with a chance of at
    most 1 / l. Not k-anonymous, and the manifest says so. Raises KanonError; then nothing was written.

    Rows are dealt to floor(n / l) groups in the order of their sensitive value. A value in at most that many rows
    is in no group twice: the same promise as that of the paper's algorithm, which empties the l largest buckets in
    turn, under the same condition, in one statement.

    >>> import pandas, tempfile
    >>> people = pandas.DataFrame({"age": [31, 34, 47, 52], "ill": ["flu", "acne", "flu", "gout"]})
    >>> spec = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = anatomize(people, spec, l=2, output=f"{folder}/anatomy.csv")
    >>> release.manifest["groups"], release.manifest["k_anonymous"]
    (2, False)
    """
    started = time.monotonic()
    settled = _settled(settle_spec(source, spec, {**taken(AnatomizeOptions, options), "form": "anatomy"}), l)
    with releasing(source, settled, connection) as (found, staging):
        _check(found, settled)
        found = settle_roles(found, settled)
        groups = _count_groups(found, settled, l)
        written = _write(found, settled, l, groups, staging)
        described = _described(found, settled, l, written, started)
    return Release(described, written.sql, (), written, found.engine)


def _settled(spec: Spec, l: int) -> Spec:  # noqa: E741
    if l < 2:
        raise SpecError(f"l is {l}; it must be at least 2, or nothing is hidden")
    if spec.target is None:
        raise SpecError("there is no target; give --output FILE.parquet or --into TABLE")
    if len(spec.sensitive) != 1:
        raise SpecError(f"Anatomy is of one sensitive column, and {len(spec.sensitive)} are named; name one")
    if "privacy" in spec.model_fields_set:
        raise SpecError("what anatomize releases is not k-anonymous; leave out k, or use anonymize --as anatomy")
    if spec.perturb:
        raise SpecError("anatomize releases the rows as they are; leave out perturb, or use anonymize --as anatomy")
    return spec


def _check(found: Source, spec: Spec) -> None:
    check_roles(spec, found.table)
    releases.check_target(spec.target, found.engine, found.table, found.files)
    anatomy.check(found.engine, found.table, spec)


def _count_groups(found: Source, spec: Spec, l: int) -> int:  # noqa: E741
    """How many groups there will be, if the rows can be put in groups at all (the eligibility condition)."""
    engine, table, (sensitive,) = found.engine, found.table, spec.sensitive
    sizes = releases.class_sizes(engine, table.relation, [sensitive])
    rows = sum(size * values for size, values in sizes)
    if rows == 0:
        raise SourceError(f"{spec.source} has no rows; there is nothing to release")
    if sizes[-1][0] * l > rows:
        raise InfeasibleError(
            f"one value of {sensitive!r} is in {sizes[-1][0]:,} of {rows:,} rows, more than 1 / {l}: no groups can "
            "hide it so; lower l"
        )
    return rows // l


def _write(found: Source, spec: Spec, l: int, groups: int, staging: Staging) -> anatomy.WrittenAnatomy:  # noqa: E741
    engine, table, target = found.engine, found.table, spec.target
    assert target
    started = time.monotonic()
    kept = [column.name for column in table.columns if column.name not in spec.identifiers]
    plain, every = queries.plain_names(kept), [column.name for column in table.columns]
    types = {column.name: column.open_type for column in table.columns}
    renamed = {own: name for name, own in plain.items()}
    rows = queries.identified_rows(table.relation, renamed, every, engine.dialect, types)
    engine.send(rows, engine, _ROWS)
    chance.load_key(engine, _KEY, chance.secret_of(spec), f"anatomize {l}")
    sensitive = [plain[name] for name in spec.sensitive]
    dealt = queries.text(
        "anatomy/groups",
        engine.dialect,
        columns=list(plain.values()),
        sensitive=sensitive,
        groups=groups,
        rows=_ROWS,
        key=_KEY,
    )
    engine.send(dealt, engine, anatomy.GROUPED)
    ((planned,),) = engine.rows(queries.text("core/row_count", engine.dialect, relation=_ROWS))
    for relation in (_ROWS, _KEY):
        engine.run(queries.drop(relation, engine.dialect))
    halves = anatomy.halves_of(anatomy.GROUPED, plain, spec.sensitive)

    def verify(reader: Engine, _: Relation, counts: Relation) -> Summary:
        return _verified(reader, counts, l, (int(planned), groups))

    made = anatomy.separate(engine, target, halves, verify, dealt, {"l": l}, staging)
    return replace(made, write_seconds=time.monotonic() - started - made.verify_seconds)


def _verified(engine: Engine, counts: Relation, l: int, planned: Sequence[int]) -> Summary:  # noqa: E741
    """Check what was written: no value has more than 1 / l of its group, and no row is missing."""
    found = engine.rows(queries.text("anatomy/diversity", engine.dialect, l=l, sensitive=counts))
    ((rows, groups, smallest, fewest, unsafe_groups, unsafe_rows),) = found
    if unsafe_groups or int(fewest) < l or (int(rows), int(groups)) != tuple(planned):
        raise VerificationError(
            f"the written anatomy has {rows:,} rows in {groups:,} groups, {unsafe_groups:,} of them not {l}-diverse, "
            "which was not planned; nothing was released, run again and report this if it stays"
        )
    return Summary(int(rows), int(groups), int(smallest), int(unsafe_groups), int(unsafe_rows))


def _described(found: Source, spec: Spec, l: int, written: anatomy.WrittenAnatomy, started: float) -> dict[str, Any]:  # noqa: E741
    summary = written.summary
    return {
        "release": f"Anatomy: {l}-diverse groups of exact rows, NOT k-anonymous",
        "k_anonymous": False,
        "privacy": [{"model": "anatomy-l-diversity", "required": l, "achieved": summary.smallest_class}],
        "rows": summary.rows,
        "released_rows": summary.rows,
        "groups": summary.classes,
        "smallest_group": summary.smallest_class,
        "verified": summary.holds,
        "reproducible": spec.secret is not None,
        "roles": {
            "identifiers_dropped": list(spec.identifiers),
            "quasi_identifiers": list(spec.quasi_identifiers),
            "sensitive": list(spec.sensitive),
            **found.roles.described(),
        },
        "source": spec.source,
        "target": manifests.target_of(spec, written, found.engine),
        **anatomy.described(spec, written),
        "engine": found.engine.name,
        "sql": {"release": written.sql},
        "seconds": {"total": round(time.monotonic() - started, 4), "verify": round(written.verify_seconds, 4)},
        "warnings": [
            "the quasi-identifiers are released as they are: who knows them finds the person's row, and learns that "
            "the person is in the table",
            *anatomy.warnings(spec, found.table),
            *found.roles.warnings,
        ],
        "version": package_version(),
    }
