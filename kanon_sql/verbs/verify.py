"""Verify that a table or file satisfies its privacy models, whatever tool created it."""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from kanon_sql.engines.files import files
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.measure.evidence import evidence_of
from kanon_sql.measure.fetched import fetched_cells
from kanon_sql.measure.labelled import PopulationQuery
from kanon_sql.measure.whole import Whole, opened_whole, shown, shown_columns
from kanon_sql.plan.preflight import check_roles
from kanon_sql.plan.privacy_models import check_models, models_of
from kanon_sql.plan.source import AS_IT_IS, WITHOUT_TABLES, Readable, Source, opened, settle_spec
from kanon_sql.privacy import PrivacyModels
from kanon_sql.release import anatomy, findings
from kanon_sql.report.numbers import parameters
from kanon_sql.spec import Spec, check
from kanon_sql.verbs.options import VerifyOptions, spelled_out, taken
from kanon_sql.verbs.result import DataFrame, Result, frame

ITSELF = "itself"  # what a release is compared with if its source is not available
_NOT_READ = "not read"  # the source of a spec whose target is verified: it need not name one


@dataclass(frozen=True, repr=False)
class Verification(Result, json_form="verify"):
    """The findings of a check: numbers of all classes and of unsafe classes; never their rows.

    `offending_sizes`: sizes of classes below k, with their numbers. `compared_with`: the table that models compare the
    classes with, the source or `ITSELF`; None if no model compares. `problem`: why nothing could be checked, or None.
    """

    source: str
    holds: bool
    problem: str | None = None
    quasi_identifiers: tuple[str, ...] = ()
    model: str = ""
    required: int = 0
    summary: findings.Summary | None = None
    offending_sizes: tuple[tuple[int, int], ...] = ()
    compared_with: str | None = None

    def __bool__(self) -> bool:
        return self.holds

    def to_dict(self) -> dict[str, Any]:
        """All findings as a mapping for JSON."""
        if self.summary is None:
            return {"source": self.source, "holds": self.holds, "problem": self.problem}
        return {
            "source": self.source,
            "quasi_identifiers": list(self.quasi_identifiers),
            "model": self.model,
            "required": self.required,
            "holds": self.holds,
            "compared_with": self.compared_with,
            **self.summary.to_dict(),
            "offending_sizes": [{"size": size, "classes": classes} for size, classes in self.offending_sizes],
        }

    def to_df(self) -> DataFrame:
        """The numbers of classes below k, by size."""
        return frame(self.offending_sizes, columns=["size", "classes"])

    def _lines(self) -> list[tuple[str, str]]:
        if self.summary is None:
            return [("source", self.source), ("verified", f"no: {self.problem}")]
        summary = self.summary
        unsafe = f"no: {summary.unsafe_rows:,} rows in {summary.unsafe_classes:,} classes"
        findings = []
        for finding in summary.findings:
            achieved = "unknown" if finding.achieved is None else finding.achieved
            findings.append(("model", f"{finding.model}, {parameters(finding.required)} required, {achieved} found"))
        return [
            ("source", self.source),
            *findings,
            *([("compared", f"with {self.compared_with}")] if self.compared_with else []),
            ("classes", f"{summary.classes:,} of {summary.rows:,} rows, by {', '.join(self.quasi_identifiers)}"),
            ("verified", "yes" if self.holds else unsafe),
        ]


@spelled_out(VerifyOptions)
def verify(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    against: Any = None,
    connection: Any = None,
    **options: Unpack[VerifyOptions],
) -> Verification:
    """Check a table, file or DataFrame: does every class have at least k rows, and satisfy the other privacy models?

    With a spec and no source, its target is checked: what `anonymize` wrote by that spec. `against`: the source of the
    release, a file, a table, a DataFrame or an Arrow table, for models that compare a class with the whole table
    (t-closeness, β-likeness, δ-disclosure); without it they use the checked table, where suppressed rows are missing.
    A population (k-map, δ-presence), and the people of a `unit` in the source (`against`, or the spec's), are counted
    by the labels of the release, with the spec's hierarchies. Nothing is written. Raises KanonError if the data cannot
    be read; a failed check is a result that is false. A release that `anonymize` returned is checked by its own spec,
    unless another one or options are passed.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "12", "21"], "ill": list("xyx")})
    >>> print(verify(people, quasi_identifiers=["zip"], k=2))
    source    in memory
    model     k-anonymity, 2 required, 1 found
    classes   2 of 3 rows, by zip
    verified  no: 1 rows in 1 classes
    """
    overrides = taken(VerifyOptions, options)
    if isinstance(source, Readable) and spec is None and not overrides and against is None:
        verification: Verification = source.verify()
        return verification
    if spec is not None and source is None:
        settled = of_target(settle_spec(_NOT_READ, spec, overrides))
    else:
        settled = settle_spec(source, spec, overrides)
    # Columns with these roles are not checked: in a release, the identifiers are missing, as they should be.
    settled = settled.model_copy(update={"target": None, "identifiers": (), "sensitive": (), "keep": None})
    problem = anatomy.file_problem(Path(settled.source))
    if problem:
        return Verification(settled.source, False, problem)
    with contextlib.ExitStack() as stack:
        # A file is read without the database of its source: a server could not read the file.
        changes = WITHOUT_TABLES if against is not None and files(settled.source) else {}
        # The options for reading a source do not apply to its release.
        changes = changes | (AS_IT_IS if spec is not None or against is not None else {})
        data = stack.enter_context(opened(source, settled.model_copy(update=changes), connection))
        whole = None if against is None else stack.enter_context(opened_whole(against, settled, connection, data))
        if whole is None and settled.hidden and source is None:
            whole = _whole_of_spec(stack, spec, overrides, connection, data)
        return _checked(data, settled, whole)


def _whole_of_spec(
    stack: contextlib.ExitStack, spec: Any, options: dict[str, Any], connection: Any, data: Source
) -> Whole | None:
    """The source of the spec, to count people in; None if it cannot be read."""
    try:
        settled = settle_spec(None, spec, options)
        return stack.enter_context(opened_whole(settled.source, settled, connection, data))
    except KanonError:
        return None


def of_target(spec: Spec) -> Spec:
    """The spec of a release with its target as the source."""
    check(spec, "verify")
    assert spec.target
    without_tables = WITHOUT_TABLES if spec.target.file else {}
    return spec.model_copy(update={"source": spec.target.file or spec.target.table, **without_tables, **AS_IT_IS})


def _checked(source: Source, spec: Spec, whole: Whole | None = None) -> Verification:
    names = shown_columns(spec, source.table)
    check_roles(spec.model_copy(update={"quasi_identifiers": dict.fromkeys(names), "unit": None}), source.table)
    model = models_of(spec, whole.source if whole else source)
    with (
        evidence_of(source, spec, names, model) as evidence,
        shown(source, names, spec, model, whole, source.written_as, evidence=evidence) as (release, population),
    ):
        return checked(release, spec.source, tuple(names), model, whole, population)


def checked(
    source: Source,
    name: str,
    quasi_identifiers: tuple[str, ...],
    model: PrivacyModels,
    whole: Whole | None = None,
    population: PopulationQuery | None = None,
) -> Verification:
    """Check whether the classes of an open source satisfy the models; SourceError if it has no rows.

    `population`: the population by the labels of the source, as a query, and the engine to run it in.
    """
    check_models(model, source.table)
    for column in (model.sensitive[compared_by] for compared_by in model.compared):
        if whole and whole.source.table.column(column) is None:
            raise SpecError(
                f"{whole.name} has no column {column!r}, to compare the classes by; use `against` "
                "the source of the release"
            )
    compared = (whole.source.engine, whole.source.table.relation) if whole else None
    with fetched_cells(source, quasi_identifiers, model, whole.source.table if whole else None) as near:
        engine, table = near.engine, near.table
        once = engine.is_embedded and table.form == "view"
        summary = findings.summarize(engine, table.relation, quasi_identifiers, model, compared, population, once=once)
    if summary.rows == 0:
        raise SourceError(f"{name} has no rows; there is nothing to verify")
    offending: Counter[int] = Counter()
    for size, _, classes in summary.sizes:
        offending[size] += classes if size < model.k else 0
    compared_with = None
    if model.compared:
        compared_with = whole.name if whole else ITSELF
    return Verification(
        source=name,
        holds=summary.holds,
        quasi_identifiers=quasi_identifiers,
        model=model.name,
        required=model.k,
        summary=summary,
        offending_sizes=tuple(sorted((+offending).items())),
        compared_with=compared_with,
    )
