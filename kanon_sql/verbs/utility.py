"""The utility of a release, measured by comparison with its source."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from kanon_sql.engines.opening import embedded
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.measure.tables import opened_for_comparison
from kanon_sql.measure.utility import UtilityMeasurement
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import name_of, settle_spec, spec_of_release
from kanon_sql.spec import Spec
from kanon_sql.utility import Association, Learned, Marginal, QueryErrors
from kanon_sql.verbs.options import UtilityOptions, spelled_out, taken
from kanon_sql.verbs.result import DataFrame, Result, frame
from kanon_sql.verbs.verify import of_target

_WORST = 10  # pairs of columns listed in the JSON


@dataclass(frozen=True, repr=False)
class Utility(Result, json_form="utility"):
    """How far a release differs from its source: aggregates only.

    `rows`, `released_rows`: of the two tables; shares of the release refer to its own rows. `marginals`: per column.
    `associations`: per pair of columns, the largest error first. `counts`: the errors of count queries, None if there
    are no columns to query. `learned`: per column that models were trained to predict. `skipped`: what was not
    measured, and why. `notes`: limits of the figures.
    """

    source: str
    release: str
    rows: int
    released_rows: int
    marginals: tuple[Marginal, ...]
    associations: tuple[Association, ...]
    counts: QueryErrors | None
    learned: tuple[Learned, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def suppressed(self) -> float:
        """The share of the source's rows that are not in the release."""
        return (self.rows - self.released_rows) / self.rows

    @property
    def marginal_error(self) -> float:
        """The mean total variation distance over the columns."""
        return _mean([marginal.total_variation for marginal in self.marginals])

    @property
    def association_error(self) -> float | None:
        """The mean absolute difference over the pairs of columns; None without pairs."""
        return _mean([pair.error for pair in self.associations]) if self.associations else None

    def to_dict(self) -> dict[str, Any]:
        """All figures as a mapping for JSON; only the worst ten pairs."""
        return {
            "source": self.source,
            "release": self.release,
            "rows": self.rows,
            "released_rows": self.released_rows,
            "suppressed": self.suppressed,
            "marginals": {
                "mean": self.marginal_error,
                "largest": max(marginal.total_variation for marginal in self.marginals),
                "columns": [vars(marginal) for marginal in self.marginals],
            },
            "associations": {
                "mean": self.association_error,
                "largest": self.associations[0].error if self.associations else None,
                "pairs": len(self.associations),
                "worst": [_association(pair) for pair in self.associations[:_WORST]],
            },
            "counts": self.counts and vars(self.counts),
            "models": [
                {name: dict(figure) if isinstance(figure, Mapping) else figure for name, figure in vars(model).items()}
                for model in self.learned
            ],
            "skipped": [{"name": name, "why": why} for name, why in self.skipped],
            "notes": list(self.notes),
        }

    def to_df(self) -> DataFrame:
        """One row per figure: the measure, its column or columns, and its values in the source and in the release."""
        names = ("measure", "column", "other", "source", "release", "error")
        return frame([[row.get(name) for name in names] for row in self._figures()], columns=names)

    def _figures(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for marginal in self.marginals:
            rows.append({"measure": "total_variation", "column": marginal.column, "error": marginal.total_variation})
            if marginal.earth_mover is not None:
                rows.append({"measure": "earth_mover", "column": marginal.column, "error": marginal.earth_mover})
        for pair in self.associations:
            rows.append({**_association(pair), "column": pair.columns[0], "other": pair.columns[1]})
        for name in ("median", "percentile_95") if self.counts else ():
            rows.append({"measure": f"count_{name}", "error": getattr(self.counts, name)})
        for model in self.learned:
            for name, of_source in model.source.items():
                of_release = model.release[name]
                error = None if of_source is None or of_release is None else abs(of_source - of_release)
                figures = {"source": of_source, "release": of_release, "error": error}
                rows.append({"measure": name, "column": model.column, **figures})
        return rows

    def _lines(self) -> list[tuple[str, str]]:
        return [
            ("source", f"{self.source}, {self.rows:,} rows"),
            ("release", f"{self.release}, {self.released_rows:,} rows"),
            ("marginals", f"off by {self.marginal_error:.4f} on average (total variation)"),
            *self._association_lines(),
            *([("counts", counts_line(self.counts))] if self.counts else []),
            *(("model", model_line(model)) for model in self.learned),
            *(("skipped", f"{name}: {why}") for name, why in self.skipped),
            *(("note", note) for note in self.notes),
        ]

    def _association_lines(self) -> list[tuple[str, str]]:
        if not self.associations:
            return []
        worst = self.associations[0]
        pair = " and ".join(worst.columns)
        return [("pairs", f"off by {self.association_error:.4f} on average, at most {worst.error:.4f} ({pair})")]


def counts_line(counts: QueryErrors) -> str:
    """The errors of the count queries, in a sentence."""
    return (
        f"{counts.queries:,} count queries: relative error {counts.median:.1%} in the median, at most "
        f"{counts.percentile_95:.1%} in 95 of 100; a median query counts {counts.selectivity:.1%} of the rows"
    )


def model_line(model: Learned) -> str:
    """How well models predict a column, in a sentence."""
    name = next(iter(model.source))
    source, release, baseline = (_figure(scores[name]) for scores in (model.source, model.release, model.baseline))
    measure = name.replace("_", " ")
    return f"{model.column}: {measure} {release} trained on the release, {source} on the source, {baseline} by a guess"


def _figure(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.4f}"


def _mean(errors: Sequence[float]) -> float:
    return sum(errors) / len(errors)


def _association(pair: Association) -> dict[str, Any]:
    return {**vars(pair), "columns": list(pair.columns), "error": pair.error}


@spelled_out(UtilityOptions)
def utility(
    source: Any = None,
    release: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    predict: str | Sequence[str] | None = None,
    queries: int = 1000,
    rows: int = 10_000,
    connection: Any = None,
    observer: Observer | None = None,
    **options: Unpack[UtilityOptions],
) -> Utility:
    """Compare marginals, associations, count queries and trained models between a release and its source.

    `source`, `release`: a file, a table, a DataFrame, an Arrow table or a `Release`, which has its spec; by default the
    source and the target of the spec. All common columns are measured. `predict`: the columns that models are trained
    to predict from all others (default: the sensitive columns); this needs scikit-learn. `queries`: the number of count
    queries. `rows`: the maximum number of rows that models are trained on. Nothing is written; raises KanonError.

    >>> import pandas
    >>> people = pandas.DataFrame({"age": [21, 22, 38, 39], "ill": list("xxyz")})
    >>> release = pandas.DataFrame({"age": ["[20, 30)", "[20, 30)", "*", "*"], "ill": list("xxyz")})
    >>> measured = utility(people, release, quasi_identifiers=["age"])
    >>> [(marginal.column, marginal.total_variation) for marginal in measured.marginals]
    [('age', 0.25), ('ill', 0.0)]
    """
    observer = observer or Observer()
    for name, number in (("queries", queries), ("rows", rows)):
        if number < 1:
            raise SpecError(f"{name} is {number}; choose a number of {name}, 1 or more")
    if spec is None and "quasi_identifiers" not in options:
        spec = spec_of_release(release)
    settled = settle_spec(source, spec, taken(UtilityOptions, options))
    is_target = release is None
    if is_target:
        if settled.target is None:
            raise SpecError("there is no release to measure; name one after its source, or a spec with a target")
        release = str(of_target(settled).source)
    data = {
        "source": settled.source if source is None else source,
        "release": release,
    }
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(contextlib.closing(embedded(settled.session.limits)))
        tables = stack.enter_context(Scratch(here, "utility"))
        observer.stage("Reading")
        both = {
            "source": stack.enter_context(opened_for_comparison(data["source"], settled, connection, is_source=True))
        }
        try:
            both["release"] = stack.enter_context(opened_for_comparison(release, settled, connection))
        except SourceError as error:
            if not is_target:
                raise
            raise SourceError(f"{error}; it is the target of the spec: name another release after its source") from None
        names = {side: name_of(table) for side, table in data.items()}
        predict = settled.sensitive if predict is None else predict
        targets = [predict] if isinstance(predict, str) else list(predict)
        measuring = UtilityMeasurement(tables, settled, both, names, targets, observer)
        marginals, associations, counts, learned = measuring.measured(queries, rows)
        return Utility(
            source=names["source"],
            release=names["release"],
            rows=measuring.rows["source"],
            released_rows=measuring.rows["release"],
            marginals=marginals,
            associations=associations,
            counts=counts,
            learned=learned,
            skipped=tuple(measuring.skipped),
            notes=tuple(measuring.notes),
        )
