"""The original Anatomy: exact quasi-identifiers, with sensitive values per group of rows.

Xiao and Tao 2006, "Anatomy: simple and effective privacy preservation" (VLDB), sections 3 to 5. The release is NOT
k-anonymous: the quasi-identifiers are unchanged, so anyone who knows them finds the row. The release hides
which of at least l sensitive values belongs to the row. This is a separate verb, so that it is not mistaken for
k-anonymity.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from kanon_sql.errors import SpecError
from kanon_sql.plan.observer import Phases
from kanon_sql.plan.preflight import check_reasons, check_roles, settle_roles
from kanon_sql.plan.source import Source, check_engine, settle_spec
from kanon_sql.release import anatomy, exact_anatomy
from kanon_sql.release.findings import Summary
from kanon_sql.release.publish import Published, check_target
from kanon_sql.resources import package_version
from kanon_sql.spec import Spec, check
from kanon_sql.verbs import manifest as manifests
from kanon_sql.verbs.anonymize import releasing
from kanon_sql.verbs.options import AnatomizeOptions, spelled_out, taken
from kanon_sql.verbs.released import Release, released, warned


@spelled_out(AnatomizeOptions)
def anatomize(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    l: int,  # noqa: E741 (the field's own letter)
    connection: Any = None,
    **options: Unpack[AnatomizeOptions],
) -> Release:
    """Release exact rows and, separately, the sensitive values of groups of at least `l` rows, all different.

    Arguments: as in `anonymize`; the spec names a target and one sensitive column. Anyone who knows a
    person's quasi-identifiers learns that the person is in the table, and that the person has each of the group's
    values with a probability of at most 1 / l. Not k-anonymous, as the manifest states. Raises KanonError; then nothing
    was written.

    The assignment of rows to groups: `kanon_sql.release.exact_anatomy`.

    >>> import pandas, tempfile
    >>> people = pandas.DataFrame({"age": [31, 34, 47, 52], "ill": ["flu", "acne", "flu", "gout"]})
    >>> spec = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = anatomize(people, spec, l=2, output=f"{folder}/anatomy.csv")
    >>> release.manifest["groups"], release.manifest["k_anonymous"]
    (2, False)
    """
    phases = Phases()
    if l < 2:
        raise SpecError(f"l is {l}; it must be at least 2, or nothing is hidden")
    settled = settle_spec(source, spec, {**taken(AnatomizeOptions, options), "form": "anatomy"}, releases=True)
    check(settled, "anatomize")
    with releasing(source, settled, connection) as (data, staging):
        check_engine(data.engine, "anatomize")
        check_roles(settled, data.table)
        check_reasons(settled, data.table)
        check_target(settled, data.engine, data.table, data.files)
        anatomy.check(data.engine, data.table, settled)
        data = settle_roles(data, settled)
        phases.begin("release")
        published = exact_anatomy.deal(data.scratches[data.engine], data.table, settled, l).release(staging)
        described = _described(data, settled, l, published, phases)
    return warned(released(data, settled, described, published))


def _described(source: Source, spec: Spec, l: int, published: Published[Summary], phases: Phases) -> dict[str, Any]:  # noqa: E741
    summary = published.checked
    phases.move(published.verify_seconds, "verify")
    phases.begin("describe")
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
            **source.roles.described(),
        },
        "source": spec.source,
        "target": manifests.target_of(spec, published, source.engine.dialect),
        **anatomy.described(spec, published, source.engine.dialect),
        "engine": source.engine.name,
        "sql": {"release": published.sql},
        "seconds": phases.described(),
        "warnings": [
            "the quasi-identifiers are released unchanged: anyone who knows them finds the person's row, and learns "
            "that the person is in the table",
            *anatomy.warnings(spec, source.table),
            *source.warnings,
        ],
        "version": package_version(),
    }
