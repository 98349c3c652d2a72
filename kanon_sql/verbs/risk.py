"""The re-identification risks in a table, or in a source and its release. Aggregates only."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from kanon_sql.engines.files import files
from kanon_sql.errors import SpecError
from kanon_sql.measure.fetched import copied_here
from kanon_sql.measure.owners import waiting_changes
from kanon_sql.measure.risk import RiskMeasurement
from kanon_sql.measure.whole import opened_whole
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import (
    AS_IT_IS,
    WITHOUT_TABLES,
    Readable,
    opened,
    settle_spec,
    spec_of_release,
)
from kanon_sql.report.verdict import Check, SmallestGroup, threshold_checks
from kanon_sql.report.words import waiting_sentence
from kanon_sql.risk.meanings import meanings
from kanon_sql.risk.table import TableRisk
from kanon_sql.spec import RECIPIENTS, Spec
from kanon_sql.verbs.options import RiskOptions, spelled_out, taken
from kanon_sql.verbs.result import DataFrame, Result, frame


@dataclass(frozen=True, repr=False)
class Risks(Result, json_form="risk"):
    """The risks in a source and in its release, if any: counts, shares and names of columns, never a value.

    `suppressed_rows`: rows of the source that are not in the release, None without a release or if `changes_wait`.
    `notes`: limits of the figures. `declared`: the keys of the spec about the recipient.
    """

    quasi_identifiers: tuple[str, ...]
    source: TableRisk
    release: TableRisk | None = None
    notes: tuple[str, ...] = ()
    changes_wait: bool = False
    declared: Mapping[str, Any] = field(default_factory=dict)

    @property
    def last(self) -> TableRisk:
        """The table to be shared: the release, or the source without a release."""
        return self.release or self.source

    @property
    def suppressed_rows(self) -> int | None:
        if self.release is None or self.changes_wait:
            return None
        return self.source.classes.rows - self.release.classes.rows

    @property
    def tables(self) -> tuple[TableRisk, ...]:
        """The source, and the release if any."""
        return (self.source,) if self.release is None else (self.source, self.release)

    @property
    def thresholds(self) -> dict[str, tuple[Check, ...]]:
        """By recipient, that of the spec or all: the thresholds, compared with the table to be shared."""
        table = self.last
        smallest = SmallestGroup(
            table.classes.smallest, "people" if table.unit else "rows", people_unknown=table.people_unknown
        )
        recipient = self.declared.get("recipient")
        names = (recipient,) if recipient else tuple(RECIPIENTS)
        return {name: tuple(threshold_checks(smallest, self.declared, name)) for name in names}

    @property
    def meanings(self) -> dict[str, str]:
        """The meaning of every figure, by its name."""
        return meanings(self.source.unit)

    def figure(self, name: str = "highest") -> float:
        """One of `FIGURES` for the table to be shared; SpecError if it is not available."""
        if name not in FIGURES:
            raise SpecError(f"there is no figure {name!r} of risk; choose among {', '.join(FIGURES)}")
        value = FIGURES[name](self.last)
        if value is None:
            raise SpecError(f"the figure {name!r} is not available here; {_NEEDS[name]}")
        return value

    def to_dict(self) -> dict[str, Any]:
        """All figures as a mapping for JSON, with their meanings."""
        return {
            "quasi_identifiers": list(self.quasi_identifiers),
            "unit": self.source.unit,
            "source": self.source.to_dict(),
            "release": None if self.release is None else self.release.to_dict(),
            "suppressed_rows": self.suppressed_rows,
            "thresholds": {
                recipient: [
                    {name: getattr(check, name) for name in ("name", "required", "found", "met", "source")}
                    for check in checks
                ]
                for recipient, checks in self.thresholds.items()
            },
            "notes": list(self.notes),
            "meanings": self.meanings,
        }

    def to_df(self) -> DataFrame:
        """One row per table: the figures of its classes."""
        rows = [
            {
                "table": table.name,
                "rows": table.classes.rows,
                "people": table.classes.people,
                "classes": table.classes.number,
                "largest_k": table.classes.smallest,
                **{name: read(table) for name, read in FIGURES.items()},
            }
            for table in self.tables
        ]
        return frame(rows)

    def _lines(self) -> list[tuple[str, str]]:
        lines = [("by", ", ".join(self.quasi_identifiers))]
        for role, table in zip(("source", "release"), self.tables, strict=False):
            classes = table.classes
            people = "" if classes.people is None else f" of {classes.people:,} people"
            lines.append((role, f"{table.name}, {classes.rows:,} rows{people} in {classes.number:,} classes"))
            lines.append(("k", f"{classes.smallest:,} is the size of the smallest class"))
            lines.append(("risk", f"{classes.highest:.4g} the highest, {classes.mean:.4g} the mean"))
        return [*lines, *(("note", note) for note in self.notes)]


FIGURES: Mapping[str, Callable[[TableRisk], float | None]] = {
    "highest": lambda table: table.classes.highest,
    "mean": lambda table: table.classes.mean,
    "journalist": lambda table: table.journalist.get("highest"),
    "attribution": lambda table: max((sensitive.attribution for sensitive in table.sensitive), default=None),
    "uniqueness": lambda table: table.uniqueness,
}
"""The figures that can be compared with a limit: the prosecutor's highest and mean risk, and others."""

_NEEDS = {
    "journalist": "name a population that has all classes",
    "attribution": "name a sensitive column",
    "uniqueness": "say which part of the population the rows are with a sampling fraction",
}


@spelled_out(RiskOptions)
def risk(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    release: Any = None,
    population: Any = None,
    sampling_fraction: float | None = None,
    largest_set: int = 2,
    connection: Any = None,
    observer: Observer | None = None,
    **options: Unpack[RiskOptions],
) -> Risks:
    """Measure the re-identification risks in a table, or in a source and its release.

    `source`, `release`: a file, a table of the `database` or behind the `connection`, a DataFrame, an Arrow table, or
    what `anonymize` returned, whose quasi-identifiers are then the default. A
    release without its source can be measured as `source`. Without both, the spec's source is measured, and the spec's
    target as its release, if it exists. `population`: a table of the people that the rows were sampled from, for the
    journalist's risk; `sampling_fraction`: rows of the source / rows of the population, for the uniqueness.
    `largest_set`: the maximum number of columns in the sets that are counted. Counts and shares only, never a value;
    nothing is written. Raises KanonError.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "12", "21", "21", "22"], "ill": list("xyzzx")})
    >>> measured = risk(people, quasi_identifiers=["zip"], sensitive=["ill"])
    >>> measured.source.classes.smallest, measured.figure("mean"), measured.source.sensitive[0].homogeneous_rows
    (1, 0.6, 3)
    """
    if spec is None and "quasi_identifiers" not in options:
        spec = spec_of_release(source, release)
    settled = settle_spec(source, spec, taken(RiskOptions, options))
    if isinstance(source, Readable) and settled.unit:
        raise SpecError(
            f"a release does not have {settled.unit!r}, by which people are counted; pass its source too, as in "
            "risk(source, release=release), or pass `quasi_identifiers` to count rows"
        )
    target = settled.target if source is None and release is None else None
    # The identifiers of the spec are missing in a release, as they should be.
    settled = settled.model_copy(update={"target": None, "identifiers": (), "keep": None})
    if sampling_fraction is not None and not 0 < sampling_fraction <= 1:
        raise SpecError(
            f"the sampling fraction is {sampling_fraction}; it must be above 0 and at most 1: the rows of the data "
            "over those of the population"
        )
    if largest_set < 1:
        raise SpecError(f"largest_set is {largest_set}; it must be at least 1")
    measuring = RiskMeasurement(settled, population, sampling_fraction, largest_set, observer or Observer(), [])
    # A file that is compared with a table of a database is read without the database, as in `verify`.
    without_tables = WITHOUT_TABLES if release is not None and files(settled.source) else {}
    with contextlib.ExitStack() as stack:
        measuring.observer.stage("Reading")
        before = stack.enter_context(opened(source, settled.model_copy(update=without_tables), connection))
        written = release
        if target and target.form != "anatomy":  # the file or table that the spec's run wrote, if it exists
            place = str(target.file or target.table)
            written = place if (files(place) if target.file else before.engine.find(place)) else None
        as_it_is = settled.model_copy(update=AS_IT_IS)  # the options for reading the source do not apply to the release
        after = None if written is None else stack.enter_context(opened_whole(written, as_it_is, connection, before))
        if not before.engine.has_transactions:
            measuring.observer.stage("Copying all columns of the source to this computer")
            before = stack.enter_context(copied_here(before, "risk"))
        if after and not after.source.engine.has_transactions:
            measuring.observer.stage("Copying all columns of the release to this computer")
            after = replace(after, source=stack.enter_context(copied_here(after.source, "risk")))
        of_release: TableRisk | None = None
        if after is None or not measuring.is_release(before, after, release is None):
            of_source = measuring.of("the source", settled.source, before)
        else:
            of_source, of_release = measuring.of_both(settled.source, before, after)
        deferred = waiting_changes(after.source, settled.unit) if after and of_release else None
        if deferred:
            measuring.notes.append(
                f"{waiting_sentence(deferred)}: the release can have rows that the source does not have any more, so "
                "suppressed rows are not counted"
            )
        return Risks(
            tuple(settled.quasi_identifiers),
            of_source,
            of_release,
            tuple(measuring.notes),
            deferred is not None,
            settled.declared,
        )
