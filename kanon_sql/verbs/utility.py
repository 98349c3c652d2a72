"""What a release is still good for, measured beside its source."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from kanon_sql.engines.opening import embedded
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.measure.measuring import Measuring
from kanon_sql.measure.tables import name_of, opened_beside
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import settle_spec
from kanon_sql.spec import Spec
from kanon_sql.utility import Association, Counts, Learned, Marginal
from kanon_sql.verbs.options import UtilityOptions, spelled_out, taken
from kanon_sql.verbs.result import Result
from kanon_sql.verbs.verify import of_target

if TYPE_CHECKING:
    import pandas

_WORST = 10  # pairs, where all of them would be too long a list


@dataclass(frozen=True, repr=False)
class Utility(Result):
    """How far a release is from its source: aggregates only.

    `rows`, `released_rows`: of the two tables; all shares of the release are of its own rows. `marginals`: per column.
    `associations`: of every two columns, the largest error first. `counts`: of count queries, None where there was
    nothing to ask. `learned`: per column that models were trained for. `skipped`: what was not measured, and why.
    `notes`: what limits the figures.
    """

    source: str
    release: str
    rows: int
    released_rows: int
    marginals: tuple[Marginal, ...]
    associations: tuple[Association, ...]
    counts: Counts | None
    learned: tuple[Learned, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def suppressed(self) -> float:
        """The share of the source's rows that the release does not have."""
        return (self.rows - self.released_rows) / self.rows

    @property
    def marginal_error(self) -> float:
        """The mean total variation distance over the columns."""
        return _mean([each.total_variation for each in self.marginals])

    @property
    def association_error(self) -> float | None:
        """The mean absolute difference over the pairs of columns; None without any."""
        return _mean([each.error for each in self.associations]) if self.associations else None

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON; of the pairs the worst ten."""
        return {
            "source": self.source,
            "release": self.release,
            "rows": self.rows,
            "released_rows": self.released_rows,
            "suppressed": self.suppressed,
            "marginals": {
                "mean": self.marginal_error,
                "largest": max(each.total_variation for each in self.marginals),
                "columns": [vars(each) for each in self.marginals],
            },
            "associations": {
                "mean": self.association_error,
                "largest": self.associations[0].error if self.associations else None,
                "pairs": len(self.associations),
                "worst": [_association(each) for each in self.associations[:_WORST]],
            },
            "counts": self.counts and vars(self.counts),
            "models": [_learned(each) for each in self.learned],
            "skipped": [{"name": name, "why": why} for name, why in self.skipped],
            "notes": list(self.notes),
        }

    def to_df(self) -> pandas.DataFrame:
        """One row per figure: what it measures, of which column or columns, in the source and in the release."""
        import pandas

        named = ("measure", "column", "other", "source", "release", "error")
        return pandas.DataFrame([[row.get(name) for name in named] for row in self._figures()], columns=named)

    def _figures(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for each in self.marginals:
            rows.append({"measure": "total_variation", "column": each.column, "error": each.total_variation})
            if each.earth_mover is not None:
                rows.append({"measure": "earth_mover", "column": each.column, "error": each.earth_mover})
        for pair in self.associations:
            said = _association(pair)
            rows.append({**said, "column": pair.columns[0], "other": pair.columns[1]})
        for name in ("median", "percentile_95") if self.counts else ():
            rows.append({"measure": f"count_{name}", "error": getattr(self.counts, name)})
        for model in self.learned:
            for name, figure in model.source.items():
                of_release = model.release[name]
                both = figure is not None and of_release is not None
                error = abs(figure - of_release) if both else None  # type: ignore[operator]
                figures = {"source": figure, "release": of_release, "error": error}
                rows.append({"measure": name, "column": model.column, **figures})
        return rows

    def _lines(self) -> list[tuple[str, str]]:
        return [
            ("release", f"{self.release} of {self.source}: {self.released_rows:,} of {self.rows:,} rows"),
            ("marginals", f"off by {self.marginal_error:.4f} on average (total variation)"),
            *self._association_lines(),
            *self._count_lines(),
            *(("model", model_line(each)) for each in self.learned),
            *(("skipped", f"{name}: {why}") for name, why in self.skipped),
            *(("note", note) for note in self.notes),
        ]

    def _association_lines(self) -> list[tuple[str, str]]:
        if not self.associations:
            return []
        worst = self.associations[0]
        pair = " and ".join(worst.columns)
        return [("pairs", f"off by {self.association_error:.4f} on average, at most {worst.error:.4f} ({pair})")]

    def _count_lines(self) -> list[tuple[str, str]]:
        return [("counts", counts_line(self.counts))] if self.counts else []


def counts_line(counts: Counts) -> str:
    """What came of the count queries, in a sentence."""
    return (
        f"{counts.queries:,} count queries: relative error {counts.median:.1%} in the median, at most "
        f"{counts.percentile_95:.1%} in 95 of 100; a median query counts {counts.selectivity:.1%} of the rows"
    )


def model_line(model: Learned) -> str:
    """How well a column is told from the others, in a sentence."""
    name = next(iter(model.source))
    source, release, baseline = (_figure(each[name]) for each in (model.source, model.release, model.baseline))
    said = name.replace("_", " ")
    return f"{model.column}: {said} {release} trained on the release, {source} on the source, {baseline} by a guess"


def _figure(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.4f}"


def _mean(errors: Sequence[float]) -> float:
    return sum(errors) / len(errors)


def _association(pair: Association) -> dict[str, Any]:
    named = {"columns": list(pair.columns), "measure": pair.measure, "source": pair.source, "release": pair.release}
    return {**named, "error": pair.error}


def _learned(model: Learned) -> dict[str, Any]:
    return {name: dict(figure) if isinstance(figure, Mapping) else figure for name, figure in vars(model).items()}


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
    """Measure what a release is still good for: marginals, associations, count queries and models beside the source's.

    `source`, `release`: each a file, a table, a DataFrame or an Arrow table; left out, the source and the target of the
    spec. All columns that both have are measured. `predict`: the columns that models are trained to tell from all
    others, by default each sensitive one; this takes scikit-learn. `queries`: how many count queries are asked. `rows`:
    how many rows models are trained on at most. Nothing is written; raises KanonError.

    >>> import pandas
    >>> people = pandas.DataFrame({"age": [21, 22, 38, 39], "ill": list("xxyz")})
    >>> release = pandas.DataFrame({"age": ["[20, 30)", "[20, 30)", "*", "*"], "ill": list("xxyz")})
    >>> measured = utility(people, release, quasi_identifiers=["age"])
    >>> [(each.column, each.total_variation) for each in measured.marginals]
    [('age', 0.25), ('ill', 0.0)]
    """
    observer = observer or Observer()
    _check_numbers(queries=queries, rows=rows)
    settled = settle_spec(source, spec, taken(UtilityOptions, options))
    given = {"source": settled.source if source is None else source, "release": release}
    if release is None:
        given["release"] = _target(settled)
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(contextlib.closing(embedded(settled.session.limits)))
        tables = stack.enter_context(Scratch(here, "utility"))
        observer.stage("Reading")
        both = {
            side: stack.enter_context(opened_beside(each, settled, connection, is_source=side == "source"))
            for side, each in given.items()
        }
        names = {side: name_of(each) for side, each in given.items()}
        targets = [predict] if isinstance(predict, str) else list(settled.sensitive if predict is None else predict)
        measuring = Measuring(tables, settled, both, names, targets, observer)
        measured = measuring.measured(queries, rows)
        return Utility(
            names["source"],
            names["release"],
            measuring.rows["source"],
            measuring.rows["release"],
            *measured,
            tuple(measuring.skipped),
            tuple(measuring.notes),
        )


def _check_numbers(**given: int) -> None:
    for name, number in given.items():
        if number < 1:
            raise SpecError(f"{name} is {number}; give a number of {name}, 1 or more")


def _target(spec: Spec) -> str:
    """What the spec's run wrote."""
    if spec.target is None:
        raise SpecError("there is no release to measure; name one after its source, or a spec with a target")
    return str(of_target(spec).source)
