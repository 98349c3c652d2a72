"""The figures of a report: a release compared with its source, as data. No rows, and no counts of few people.

Every count of the source is rounded to a multiple of k, and is 0 or at least k; smaller counts are pooled with their
neighbours. Only the numbers of rows of the two tables are exact. Columns are shown by computed ranges or by released
labels.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from kanon_sql.attack import Outcome, interval
from kanon_sql.engines.opening import embedded
from kanon_sql.engines.scratch import Scratch, Scratches
from kanon_sql.errors import KanonError, SpecError
from kanon_sql.measure.utility import UtilityMeasurement
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import plan_search
from kanon_sql.plan.source import Source
from kanon_sql.recode import RECODERS
from kanon_sql.release.findings import class_sizes
from kanon_sql.release.publish import sha256
from kanon_sql.report.lattice_picture import MOST_NODES, can_draw_nodes, in_report
from kanon_sql.report.numbers import count
from kanon_sql.report.verdict import declared_of, verdict
from kanon_sql.report.words import exact_columns
from kanon_sql.risk.classes import Classes
from kanon_sql.risk.exact import exact
from kanon_sql.risk.known_rows import KnownRows
from kanon_sql.risk.norms import HARBOR, by_default, of_classes
from kanon_sql.risk.table import TableRisk
from kanon_sql.spec import CloakSpec, ReleaseSpec, Spec
from kanon_sql.utility import SharedColumn, distribution, pooled, rare_rows, treated
from kanon_sql.verbs.attack import attack
from kanon_sql.verbs.compare import losses_by_k
from kanon_sql.verbs.lattice import searched
from kanon_sql.verbs.result import DataFrame, Result, frame
from kanon_sql.verbs.risk import risk
from kanon_sql.verbs.search import result_of

PARTS = ("risk", "exact", "columns", "loss_by_k", "lattice", "attacks")
"""The parts that are measured; any of them can be left out."""
SIZES = (3, 5, 10, 20, 50)  # values of k whose loss is compared
SECONDS = 2.0  # time limit of the search for one k
ATTEMPTS = 500  # people attacked, if an attack samples them
TRIED = ("homogeneity", "background", "skewness", "minimality", "singling_out", "linkability", "inference", "order")
_MOST_EXACT = 20  # columns whose uniqueness is counted one by one
_MOST_PAIRED = 14  # columns whose associations are shown
_BANDS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)  # the smallest class size of each band
_LEAST = 3  # minimum number of people behind a count, even if k is smaller


@dataclass(frozen=True)
class CountRounding:
    """Rounds counts of the source to multiples of `least`, the number of rows that k people can have.

    `most`: the total, which is public.
    """

    least: int
    most: int | None = None

    def rounded(self, rows: float) -> int:
        """A count of 0, or of at least `least`, rounded to a multiple of `least` and at most the total.

        >>> [CountRounding(least=5).rounded(rows) for rows in (0, 6, 8)]
        [0, 5, 10]
        >>> CountRounding(least=5, most=28).rounded(28)
        28
        """
        if not rows:
            return 0
        nearest = max(1, int(rows / self.least + 0.5)) * self.least
        return nearest if self.most is None else min(nearest, self.most)

    def rounded_or_hidden(self, rows: float) -> int | None:
        """Any count, rounded; None if it is between 1 and `least` - 1."""
        return None if 0 < rows < self.least else self.rounded(rows)


@dataclass(frozen=True, repr=False)
class ReleaseFigures(Result):
    """The figures of a report as lists of rows, for your own plots; `to_df` returns one of them as a data frame.

    `k`: of the spec. `least`: every count of the source is a multiple of it, and 0 or at least that many rows.
    `counted`: whether class sizes and risks count "rows" or "people" (of the unit). `class_sizes`: how many are in
    classes of the sizes of a band, in `source` and `release`. `risk`: figures of both tables. `norms`: of the release.
    `several_rows`: the risk if an attacker has two or three rows of a person, None if it was not measured.
    `exact`: who is unique by columns that are released exactly. `sha256`: the checksum of the released file.
    `columns`: per quasi-identifier the rows by what happened to them. `distributions`: rows of both tables per column
    and bin. `associations`: per pair of columns, in both tables. `loss_by_k`: score and suppressed share per k;
    `refused`: the reason if there is none. `attacks`: shares of right guesses, with the chance baseline. `lattice`: its
    picture as SVG. `missing`: the parts that are missing, with the reason. `manifest`: that of the release.
    """

    manifest: Mapping[str, Any]
    k: int
    least: int
    counted: str = "rows"
    class_sizes: tuple[Mapping[str, Any], ...] = ()
    risk: tuple[Mapping[str, Any], ...] = ()
    norms: tuple[Mapping[str, Any], ...] = ()
    several_rows: Mapping[str, Any] | None = None
    exact: tuple[Mapping[str, Any], ...] = ()
    columns: tuple[Mapping[str, Any], ...] = ()
    distributions: tuple[Mapping[str, Any], ...] = ()
    associations: tuple[Mapping[str, Any], ...] = ()
    loss_by_k: tuple[Mapping[str, Any], ...] = ()
    attacks: tuple[Mapping[str, Any], ...] = ()
    lattice: str | None = None
    sha256: str | None = None
    missing: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """All figures as a mapping for JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}

    def to_df(self, name: str = "columns") -> DataFrame:
        """One of the figures as a pandas DataFrame; SpecError for an unknown name."""
        if name not in self._tables:
            raise SpecError(f"there is no figure {name!r}; choose among {', '.join(self._tables)}")
        return frame(list(self._tables[name]))

    @property
    def _tables(self) -> dict[str, tuple[Any, ...]]:
        return {name: value for name, value in vars(self).items() if isinstance(value, tuple)}

    def _lines(self) -> list[tuple[str, str]]:
        tables = [(name, f"{len(rows)} rows") for name, rows in self._tables.items()]
        return [*tables, *((f"no {name}", why) for name, why in self.missing.items())]


def figures_of(
    manifest: Mapping[str, Any],
    spec: ReleaseSpec,
    release: Source | str,
    source: Source | str,
    observer: Observer | None = None,
    without: Collection[str] = (),
) -> ReleaseFigures:
    """Measure an open release against its open source; instead of either, a text with the reason why it cannot be read.

    `without`: the parts that are left out. Parts that cannot be measured are in `missing`, and raise no error.
    """
    for name in without:
        if name not in PARTS:
            raise SpecError(f"there is no part {name!r} to leave out; choose among {', '.join(PARTS)}")
    of_columns = spec.of_columns() if isinstance(spec, CloakSpec) else spec.model_copy(update={"target": None})
    assert isinstance(of_columns, Spec)
    measurement = _Measurement(manifest, of_columns, release, source, observer or Observer())
    figures: dict[str, Any] = {}
    for name, measure in measurement.parts.items():
        if name in without:
            measurement.missing[name] = "it was left out, as requested"
        elif isinstance(spec, CloakSpec) and name != "columns":
            measurement.missing[name] = (
                "places and times are cloaked one by one; `kanon attack` tries a table of places"
            )
        else:
            with measurement.noting(name):
                figures |= measure()
    for name, table in (("release", release), ("source", source)):
        if isinstance(table, str):
            measurement.missing[name] = table
    declared = declared_of(manifest, spec)
    manifest = {**manifest, **({"declared": declared} if declared else {})}
    if declared.get("recipient"):
        manifest = {**manifest, "verdict": verdict(manifest, figures).to_dict()}
    if isinstance(release, Source) and len(release.files) == 1:
        figures["sha256"] = sha256(release.files[0])
    return ReleaseFigures(manifest, spec.privacy.k, measurement.rounding.least, **figures, missing=measurement.missing)


class _UnmeasuredError(KanonError):
    """A part cannot be measured."""


class _Measurement:
    """Measures the parts of a report; collects the reasons for missing ones."""

    def __init__(
        self, manifest: Mapping[str, Any], spec: Spec, release: Source | str, source: Source | str, observer: Observer
    ) -> None:
        self.manifest = manifest
        self.spec = spec
        self.observer = observer
        self._release, self._source = release, source
        self.missing: dict[str, str] = {}
        self.rounding = CountRounding(max(spec.privacy.k, _LEAST))
        self.rounding = CountRounding(self.rounding.least * self._most_rows_of_a_person(), manifest["rows"])
        self.parts: Mapping[str, Callable[[], dict[str, Any]]] = {
            "risk": self._risk,
            "exact": self._exact,
            "columns": self._columns,
            "loss_by_k": self._loss_by_k,
            "lattice": self._lattice,
            "attacks": self._attacks,
        }

    @contextlib.contextmanager
    def noting(self, name: str) -> Iterator[None]:
        """Turn an error into the reason why a part is missing."""
        try:
            yield
        except KanonError as error:
            self.missing[name] = str(error)

    @property
    def release(self) -> Source:
        return self._open(self._release)

    @property
    def source(self) -> Source:
        return self._open(self._source)

    def _open(self, source: Source | str) -> Source:
        """An open table with new scratch tables; _UnmeasuredError with the reason if it could not be opened."""
        if isinstance(source, str):
            raise _UnmeasuredError(source)
        return replace(source, scratches=Scratches())

    def _most_rows_of_a_person(self) -> int:
        """The largest number of rows of one person, 1 without a unit; k people have at most k times as many."""
        if self.spec.unit is None or isinstance(self._source, str):
            return 1
        with self.noting("unit"):
            engine, relation = self._source.engine, self._source.table.relation
            return class_sizes(engine, relation, [self.spec.unit])[-1][0]
        return 1

    def _risk(self) -> dict[str, Any]:
        """Class sizes, risks and norms: of both tables, or of the release alone."""
        options: dict[str, Any] = {"observer": self.observer, "largest_set": 1}
        if isinstance(self._source, str):
            alone = risk(self.release, self.spec.model_copy(update={"unit": None}), **options).source
            return self._of_people(None, alone) if self.spec.unit else self._of_rows(None, alone)
        both = risk(self.source, self.spec, release=self.release, **options)
        assert both.release is not None
        if self.spec.unit and both.release.unit is None:
            return self._of_people(risk(self.source, self.spec, **options).source, both.release)
        return self._of_rows(both.source, both.release)

    def _of_rows(self, before: TableRisk | None, after: TableRisk) -> dict[str, Any]:
        """The risk as counted in the tables: rows, or people if the release has the unit column."""
        of_source = _risk_figures(before, self.rounding.rounded_or_hidden) if before else {}
        of_release = _risk_figures(after, lambda rows: rows)
        several = after.several_rows
        known_rows: dict[str, Any] | None = None
        if several is not None:
            known = [self._risk_of_rows(risk) for risk in several.known]
            known_rows = {"linked_by": list(several.linked_by), "known": known}
        return {
            "counted": "people" if after.unit else "rows",
            "class_sizes": self._class_sizes(before.classes if before else None, after.classes),
            "risk": _side_by_side(of_source, of_release),
            "norms": tuple(dict(vars(norm)) for norm in after.norms),
            "several_rows": known_rows,
        }

    def _risk_of_rows(self, risk: KnownRows) -> dict[str, Any]:
        """The risk if an attacker has several rows, without counts of few people."""
        few = 0 < risk.singled_out < self.rounding.least
        return {
            "rows": risk.rows,
            "people": self.rounding.rounded_or_hidden(risk.people),
            "measured": risk.measured if risk.is_sample else None,
            "complete": risk.partly == 0,
            "unique": risk.singled_out > 0,
            "share": None if few else risk.share,
            "interval": None if few or risk.interval is None else list(risk.interval),
            "highest": risk.highest,
            "mean": risk.mean,
        }

    def _of_people(self, before: TableRisk | None, after: TableRisk) -> dict[str, Any]:
        """The risk of people, as the run counted it: the release has no unit column to count them by."""
        counted = self.manifest.get("risk_of_people")
        if not counted or not counted["smallest_class"]:
            raise _UnmeasuredError(
                "the release has no column to count people by; write the report together with the release, with "
                "`kanon anonymize --report`, or name the manifest of that run"
            )
        self.missing["class_sizes"] = "the release has no column to count people by"
        smallest, people = counted["smallest_class"], self.manifest["released_people"]
        above = {f"above {row['risk']:g}": row["people"] / people for row in counted["above"]}
        of_release = {"smallest class": smallest, "highest": 1 / smallest, "mean": counted["mean"], **above}
        of_source = _risk_figures(before, self.rounding.rounded_or_hidden) if before else {}
        harbor = [norm for norm in after.norms if norm.name == HARBOR]
        names = self.spec.norms or by_default(bool(harbor))
        return {
            "counted": "people",
            "risk": _side_by_side(of_source, of_release),
            "norms": tuple(dict(vars(norm)) for norm in (*of_classes(smallest, "people", names=names), *harbor)),
        }

    def _exact(self) -> dict[str, Any]:
        """Who is unique by the columns that are released exactly: by each, by all, and with the quasi-identifiers.

        People are counted in the source, which alone has the unit; otherwise rows in the release.
        """
        by_people = self.spec.unit is not None and isinstance(self._source, Source)
        table = self.source if by_people else self.release
        uncounted = ("other", *table.engine.kinds_kept_only)
        able = {column.name for column in table.table.columns if column.kind not in uncounted}
        names = [name for name in exact_columns(self.manifest) if name in able and self.release.table.column(name)]
        kept = [name for name in names if name in (self.manifest["roles"].get("kept") or ())]
        quasi = [name for name in self.spec.quasi_identifiers if self.release.table.column(name)]
        if not names:
            return {}
        self.observer.stage("Counting who is unique by columns that are released exactly")
        sets: list[tuple[str, ...]] = [(name,) for name in names[:_MOST_EXACT]]
        sets += [tuple(together) for together in (kept, names) if len(together) > 1]
        rows = [
            self._unique(table, list(columns), self.spec.unit if by_people else None) for columns in dict.fromkeys(sets)
        ]
        together = self._unique(self.release, [*quasi, *names], None)
        return {"exact": (*rows, {**together, "columns": names, "with_quasi_identifiers": True})}

    def _unique(self, table: Source, columns: list[str], unit: str | None) -> dict[str, Any]:
        """The share of people or rows that are unique by some columns; None if they are few people of the source."""
        with Scratch(table.engine, "report") as tables:
            found = exact(tables, table.table.relation, columns, unit)
        shown = self.rounding.rounded_or_hidden(found.singled_out) if unit else found.singled_out
        return {
            "columns": columns,
            "with_quasi_identifiers": False,
            "of": "people" if unit else "rows",
            "counted": found.counted,
            "unique": found.singled_out > 0,
            "share": None if shown is None else _share(shown, found.counted or 1),
        }

    def _class_sizes(self, before: Classes | None, after: Classes) -> tuple[dict[str, Any], ...]:
        """The rows by the size of their class, in bands; a band with too few rows is pooled with its neighbours."""
        starts = sorted({*_BANDS, self.spec.privacy.k})
        of_source = None if before is None else _in_bands(before, starts)
        of_release = _in_bands(after, starts)
        guard = replace(self.rounding, most=before.counted) if before else self.rounding
        bands = []
        for first, last in pooled(of_source or of_release, self.rounding.least):
            bands.append(
                {
                    "least": starts[first],
                    "most": starts[last + 1] - 1 if last + 1 < len(starts) else None,
                    "source": None if of_source is None else guard.rounded(sum(of_source[first : last + 1])),
                    "release": sum(of_release[first : last + 1]),
                }
            )
        while bands and not bands[-1]["source"] and not bands[-1]["release"]:
            bands.pop()
        return tuple(bands)

    def _columns(self) -> dict[str, Any]:
        """What happened to each column, its distribution, and its associations with the others."""
        both = {"source": self.source, "release": self.release}
        with contextlib.closing(embedded(self.spec.session.limits)) as here, Scratch(here, "report") as tables:
            names = {"source": "the source", "release": "the release"}
            measuring = UtilityMeasurement(tables, self.spec, both, names, (), self.observer)
            sides = measuring.sides()
            roles = [*self.spec.quasi_identifiers, *self.spec.sensitive]
            shown = [number for number, attribute in enumerate(sides.attributes) if attribute.name in roles]
            shown.sort(key=lambda number: roles.index(sides.attributes[number].name))
            self.observer.stage("Comparing pairs of columns")
            pairs = sides.associations(list(combinations(shown[:_MOST_PAIRED], 2)))
        attributes = [sides.attributes[number] for number in shown]
        suppressed = measuring.rows["source"] - measuring.rows["release"]
        distributions = []
        for attribute in attributes:
            for bar in distribution(attribute, self.rounding.least):
                rows = {"source": self.rounding.rounded(bar.source), "release": round(bar.release, 1)}
                distributions.append({"column": attribute.name, "label": bar.label, **rows})
        return {
            "columns": tuple(
                self._column(attribute, suppressed)
                for attribute in attributes
                if attribute.name in self.spec.quasi_identifiers
            ),
            "distributions": tuple(distributions),
            "associations": tuple(
                {"columns": list(p.columns), "measure": p.measure, "source": p.source, "release": p.release}
                for p in pairs
            ),
        }

    def _column(self, attribute: SharedColumn, suppressed: int) -> dict[str, Any]:
        """Rows at risk by this column alone, rows by their treatment, and the manifest's figures of the column."""
        rows = {row["column"]: row for row in self.manifest.get("damage") or ()}
        damage = rows.get(attribute.name, {})
        return {
            "column": attribute.name,
            "level": damage.get("level"),
            "height": damage.get("height"),
            "loss": damage.get("loss"),
            "at_risk": self.rounding.rounded_or_hidden(rare_rows(attribute, self.rounding.least)),
            "rows": int(attribute.rows.sum()),
            **vars(treated(attribute)),
            "suppressed": suppressed,
        }

    def _loss_by_k(self) -> dict[str, Any]:
        """The loss by k: the optimum at several k, from one frequency set.

        Only a proven optimum is comparable; a heuristic's loss depends on its time limit.
        """
        if not self.manifest.get("proven_optimal"):
            raise _UnmeasuredError(
                "this release is not proven to lose least, so its loss depends on the time of its search and cannot be "
                "compared with that of another k; `kanon compare --k` gives every k the same time"
            )
        own, score = self.spec.privacy.k, self.manifest.get("score")
        sizes = [k for k in sorted({*SIZES, own}) if k <= self.manifest["rows"] and (k != own or score is None)]
        limit = SECONDS if self.spec.time_limit is None else min(SECONDS, self.spec.time_limit)
        spec = self.spec.model_copy(update={"time_limit": limit})
        losses: list[dict[str, Any]] = []
        for found in losses_by_k(self.source, spec, sizes, self.observer):
            suppressed = None
            if found.suppressed_rows is not None:
                suppressed = _share(self.rounding.rounded_or_hidden(found.suppressed_rows), self.manifest["rows"])
            losses.append(
                {
                    "k": found.k,
                    "score": found.score,
                    "suppressed": suppressed,
                    "released": False,
                    "refused": found.refused,
                }
            )
        if score is not None:  # the release is proven optimal like the others
            share = _share(self.manifest["suppressed_rows"], self.manifest["rows"])
            losses.append({"k": own, "score": score, "suppressed": share, "released": True, "refused": None})
        return {"loss_by_k": tuple(sorted(losses, key=lambda loss: loss["k"]))}

    def _lattice(self) -> dict[str, Any]:
        """The picture of a small lattice, if the search finds the released node again."""
        node = self.manifest.get("node")
        size = self.manifest.get("lattice_size")
        if self.spec.strategy in RECODERS:
            raise _UnmeasuredError(
                "a local recoding has no lattice; the widths of its labels are shown with each column"
            )
        if node is None or size is None or self.spec.reuses_earlier:
            raise _UnmeasuredError("no lattice was searched")
        if size > MOST_NODES:
            raise _UnmeasuredError(
                f"it has {count(size)} nodes, too many to draw each of them; `kanon lattice` draws its levels"
            )
        data = self.source
        with data.engine.snapshot(), data.scratches:
            plan = plan_search(data, self.spec, self.observer)
            if not can_draw_nodes(plan.problem.lattice):
                raise _UnmeasuredError(f"it has {size:,} nodes, too many on one level to draw each of them")
            if result_of(plan).node != node:
                raise _UnmeasuredError("a search of the current source finds another node")
            return {"lattice": in_report(searched(plan))}

    def _attacks(self) -> dict[str, Any]:
        """The success rates of attacks on the release, compared with guessing by the shares of all values."""
        attacks = attack(
            self.release,
            source=self.source,
            spec=self.spec,
            only=TRIED,
            attempts=ATTEMPTS,
            observer=self.observer,
        )
        return {"attacks": tuple(self._outcome(outcome) for outcome in attacks.outcomes)}

    def _outcome(self, outcome: Outcome) -> dict[str, Any]:
        """The figures of one attack; shares of too few people are None."""
        few = 0 < outcome.successes < self.rounding.least
        control = outcome.beyond
        few_by_control = control is not None and 0 < round(control * outcome.attempts) < self.rounding.least
        return {
            "attack": outcome.name,
            "column": outcome.column,
            "counted": outcome.counted,
            "attempts": outcome.attempts,
            "hits": outcome.successes > 0,
            "above_chance": outcome.excess > 0,
            "share": None if few else outcome.share,
            "baseline": outcome.baseline,
            "control": None if few_by_control else control,
            "excess": None if few else outcome.excess,
            "interval": None if few else list(interval(outcome.successes, outcome.attempts)),
        }


def _risk_figures(table: TableRisk, rounded: Callable[[float], float | None]) -> dict[str, float | None]:
    """The risk figures of one table; `rounded`: a count as it can be shown."""
    classes = table.classes
    above = {}
    for over in classes.above:
        count = over.rows if over.people is None else over.people
        above[f"above {over.risk:g}"] = _share(rounded(count), classes.counted)
    return {"smallest class": classes.smallest, "highest": classes.highest, "mean": classes.mean, **above}


def _side_by_side(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    return tuple({"figure": name, "source": before.get(name), "release": value} for name, value in after.items())


def _share(rows: float | None, of: int) -> float | None:
    return None if rows is None else min(1.0, rows / of)


def _in_bands(classes: Classes, starts: Sequence[int]) -> list[int]:
    """Rows per band of class sizes; with a unit, the people whose smallest class is in the band."""
    counts = []
    for start, following in zip(starts, (*starts[1:], None), strict=True):
        if classes.of_people:
            count = classes.of_people.between(start, None if following is None else following - 1)
        else:
            count = sum(
                group.rows
                for group in classes.by_size
                if group.size >= start and (following is None or group.size < following)
            )
        counts.append(count)
    return counts
