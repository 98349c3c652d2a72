"""The statement of a release, to be read before it is run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from kanon_sql.release.recoded import target_sql
from kanon_sql.spec import SearchIn, Spec
from kanon_sql.verbs.observer import Observer
from kanon_sql.verbs.options import AnonymizeOptions, spelled_out, taken
from kanon_sql.verbs.plan import check_spec, plan_release
from kanon_sql.verbs.source import opened, settle_spec


@spelled_out(AnonymizeOptions)
def anonymize_sql(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    connection: Any = None,
    observer: Observer | None = None,
    search_in: SearchIn = "embedded",
    **options: Unpack[AnonymizeOptions],
) -> str:
    """Search, and give the release's statement, which stands alone; nothing is written.

    `source`, `spec` and options are those of `anonymize`. Raises KanonError, also for a release that takes more than
    one statement: masked, perturbed, an anatomy, or with wildcards.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"]})
    >>> recipes = {"zip": {"hierarchy": {"redact": "right"}}}
    >>> "GROUP BY" in anonymize_sql(people, {"quasi_identifiers": recipes}, k=2)
    True
    """
    settled = settle_spec(source, spec, taken(AnonymizeOptions, options))
    check_spec(settled, "sql")
    written = _overwriting(settled).standing_alone()
    with opened(source, written, connection) as data, data.engine.transaction(), data.scratches:
        plan = plan_release(data, written, observer or Observer(), search_in)
        return target_sql(plan.recoding, settled.target)


def _overwriting(spec: Spec) -> Spec:
    """Where nothing is written, a target that exists is in nobody's way."""
    target = spec.target.model_copy(update={"overwrite": True}) if spec.target else None
    return spec.model_copy(update={"target": target})
