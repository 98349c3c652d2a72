"""Sensitive columns of several tables, and the rows that reveal their values.

An attacker with some of a person's rows also learns what the people who share them have in common. So the people of
every combination must satisfy every privacy model of a sensitive column, for instance by the share of them with a value
anywhere in their rows. Distinct l-diversity must also hold for the values of the attacker's rows themselves: the rows
that show the same, of all people who share the combination, have l values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.linked.copies import TableCopy
from kanon_sql.linked.links import Link
from kanon_sql.plan.privacy_models import check_occurring, check_order, model_of, uses_hierarchy
from kanon_sql.plan.source import Source
from kanon_sql.privacy import PEOPLE, Predicate, PrivacyModel, PrivacyModels, Reference
from kanon_sql.queries import NumberedPlaces, Relation
from kanon_sql.spec import LDiversity, LinkedSpec, SensitiveModel

Victims: TypeAlias = Callable[[int, Relation], Relation]  # the rows of unsafe combinations of a size
UNIT_ID = "unit_id"
_LEAST_VALUES = 2  # in the same combination of two releases, so that they do not disclose a value together
_NO_MODELS = PrivacyModels((), UNIT_ID)
COUNTED = "_sensitive_0"  # our name for the only sensitive column of a set of models


@dataclass(frozen=True)
class SensitiveColumn:
    """A sensitive column with models: its table, the table's number, and the models, which count people.

    `distinct`: the l of distinct l-diversity, which is not among the models; 0 without it. `whole`: the values in the
    source for models that compare with it, and their engine.
    """

    table: str
    number: int
    column: str
    models: PrivacyModels = _NO_MODELS
    distinct: int = 0
    whole: tuple[Engine, Relation] | None = None

    @property
    def name(self) -> str:
        """The column with its table."""
        return f"{self.table}.{self.column}"

    def with_reference(self, relation: Relation) -> SensitiveColumn:
        """The same, comparing with the whole table in a relation of codes."""
        return replace(self, models=self.models.with_references({COUNTED: Reference(relation)}))

    def predicate(self, model: PrivacyModel) -> Predicate:
        """The condition of a model on people who are counted already."""
        return replace(self.models.predicate(model), unit=PEOPLE)


@dataclass(frozen=True)
class Valued:
    """The coded values of a sensitive column, by row, in the engine that tests nodes; `place`: among such columns."""

    column: SensitiveColumn
    values: Relation
    place: int


def check_models(spec: LinkedSpec) -> None:
    """SpecError if the parameters of a model contradict each other; hierarchies are not read."""
    needs_source(spec)


def needs_source(spec: LinkedSpec) -> bool:
    """Whether a model compares with the values of the source."""
    every = [uses_hierarchy(settings) or settings.model(column).compares for _, column, settings in spec.requirements]
    return any(every)


def sensitive_columns(
    engine: Engine, spec: LinkedSpec, links: Sequence[Link], copies: Mapping[str, TableCopy]
) -> list[SensitiveColumn]:
    """The sensitive columns that privacy models limit. `copies`: of the source; not used if no model needs it."""
    models: dict[str, list[PrivacyModel]] = {}
    for table, column, settings in spec.requirements:
        others = models.setdefault(f"{table}.{column}", [])
        if uses_hierarchy(settings):
            copy = copies[table]
            others.append(model_of(copy.spec, Source(engine, copy.source), column, settings))
        elif not _is_distinct(settings):
            others.append(settings.model(column))
    limited = _limited_columns(spec, links)
    return [replace(column, models=PrivacyModels(tuple(models[column.name]), UNIT_ID)) for column in limited]


def compared_columns(spec: LinkedSpec, links: Sequence[Link]) -> list[tuple[SensitiveColumn, int]]:
    """The sensitive columns whose values are compared between releases, with how many must remain possible.

    SpecError for columns without distinct l-diversity: a release could have too few values already.
    """
    columns = _limited_columns(spec, links)
    if without := next((column for column in columns if not column.distinct), None):
        raise SpecError(
            f"{without.name}: values in several releases are compared by their number; add `l_diversity: "
            f'{{{without.name}: 2}}` to `privacy`, or use `differencing_limit="unlimited"` if no one has earlier '
            "releases"
        )
    return [(column, spec.differencing_values.get(column.name, _LEAST_VALUES)) for column in columns]


def _limited_columns(spec: LinkedSpec, links: Sequence[Link]) -> list[SensitiveColumn]:
    """The sensitive columns that privacy models limit, without models other than distinct l-diversity."""
    numbers = {link.name: link.number for link in links}
    columns = dict.fromkeys((table, column) for table, column, _ in spec.requirements)
    limited = []
    for table, column in columns:
        diversity = spec.privacy.l_diversity.get(f"{table}.{column}")
        distinct = int(diversity.l) if diversity and _is_distinct(diversity) else 0
        limited.append(SensitiveColumn(table, numbers[table], column, distinct=distinct))
    return limited


def _is_distinct(settings: SensitiveModel) -> bool:
    return isinstance(settings, LDiversity) and settings.kind == "distinct"


def valued(
    engine: Engine, here: Scratch, copy: TableCopy, sensitive: SensitiveColumn, people: Relation, place: int
) -> Valued:
    """Code the values of a sensitive column in the engine of a scratch; SpecError if a model needs one per person."""
    scan = queries.linked_rows(copy.relation, {"raw": copy.columns[sensitive.column]}, engine.dialect)
    raw = here.receive(f"raw_value_{place}", engine, scan)
    values = here.create(f"value_{place}", "linked/coded_values", rows=raw)
    here.drop(raw)
    for model in sensitive.models.models:
        check_order(model, copy.source)
    single = [model.name for model in sensitive.models.models if model.one_value]
    if single:
        ((odd,),) = here.rows("linked/not_one_value", values=values, people=people)
        if odd:
            raise SpecError(
                f"{sensitive.name}: {odd:,} people have several values or none, for which {single[0]} is not defined; "
                "use alpha_k, beta_likeness, delta_disclosure, or l_diversity of distinct values"
            )
    if sensitive.models.compared:
        reference = _reference(here, values, "value", "raw", sensitive, people, place)
        check_occurring(sensitive.models, here, {COUNTED: reference})
        sensitive = sensitive.with_reference(reference)
    return Valued(sensitive, values, place)


def compared_with_source(
    scratch: Scratch, copies: Mapping[str, TableCopy], columns: Sequence[SensitiveColumn]
) -> list[SensitiveColumn]:
    """The columns with their values in the source where models compare with it, for the check of a release."""
    found = []
    for place, column in enumerate(columns):
        if column.models.compared:
            main = next(iter(copies.values())).relation
            copy = copies[column.table]
            name = copy.columns[column.column]
            whole = _reference(scratch, copy.relation, name, name, column, main, place)
            column = replace(column, whole=(scratch.engine, whole))
        found.append(column)
    return found


def _reference(
    here: Scratch, values: Relation, value: str, raw: str, column: SensitiveColumn, people: Relation, place: int
) -> Relation:
    """The people of every value in a table, and of its groups in a hierarchy, of all people of the database."""
    groups = column.models.groups.get(COUNTED, ())
    text = queries.reference(values, value, raw, Predicate("SUM(n)", unit=UNIT_ID), here.engine.dialect, groups)
    counted = here.create_as(f"counted_{place}", text)
    figures = [figure.name for figure in here.engine.table(counted).columns if figure.name != "overall_size"]
    holes: dict[str, Any] = {"figures": figures, "reference": counted, "people": people}
    return here.create(f"reference_{place}", "linked/reference_of_people", **holes)


class KeptValues:
    """The sensitive values in the rows that are kept, and the people who have them; every table is created once.

    `values`: creates those of a column, by row. `safe`: the columns of the people's table whose values are safe in all
    classes, which rows that are left out do not change.
    """

    def __init__(self, people: Relation, values: Callable[[Valued], Relation], create: Callable[..., Relation]) -> None:
        self.people = people
        self.safe: set[int] = set()
        self._find = values
        self._create = create
        self._sharing: Relation | None = None
        self._values: dict[int, Relation] = {}
        self._holders: dict[int, Relation] = {}
        self._holders_of_people: dict[int, Relation] = {}  # of columns of the people's table

    def after(self, values: Callable[[Valued], Relation]) -> KeptValues:
        """The same after rows of the same people were left out."""
        after = KeptValues(self.people, values, self._create)
        after.safe, after._sharing, after._holders_of_people = self.safe, self._sharing, self._holders_of_people
        return after

    def values(self, column: Valued) -> Relation:
        """The values of a column, by row."""
        if column.place not in self._values:
            self._values[column.place] = self._find(column)
        return self._values[column.place]

    def holders(self, column: Valued) -> Relation:
        """The people by their values of a column."""
        known = self._holders if column.column.number else self._holders_of_people
        if column.place not in known:
            holes = {"values": self.values(column), "people": self.people}
            known[column.place] = self._create(f"holders_{column.place}", "linked/holders", **holes)
        return known[column.place]

    def sharing(self) -> Relation:
        """The people of every class."""
        if self._sharing is None:
            self._sharing = self._create("sharing_classes", "linked/sharing_a_class", people=self.people)
        return self._sharing


class Revealing:
    """Finds the people and rows that reveal sensitive values, among the rows that a node keeps.

    `here`: a scratch in the engine that tests nodes. `tables`: how many there are.
    """

    def __init__(
        self, here: Scratch, valued: Sequence[Valued], tables: int, m: int | str, places: NumberedPlaces
    ) -> None:
        self.here = here
        self.valued = valued
        self.tables = tables
        self.m = m
        self.places = places
        self.queries = 0

    def kept(self, people: Relation, values: Callable[[Valued], Relation]) -> KeptValues:
        """The values of people in the rows that are kept. `values`: creates those of a column, by row."""
        return KeptValues(people, values, self._create)

    def classes(self, kept: KeptValues) -> Relation | None:
        """The classes whose people's values are unsafe; None if there is none."""
        for column in self.valued:
            if column.place in kept.safe:
                continue
            unsafe = self._unsafe(column.column, kept.sharing(), kept.holders(column))
            if unsafe:
                return unsafe
            if column.column.number == 0:
                kept.safe.add(column.place)
        return None

    def wholes(self, kept: KeptValues) -> Relation | None:
        """The same for an attacker with all rows of a person: people with equal rows, numbered like classes."""
        if unsafe := self.classes(kept):
            return unsafe
        for column in self.valued:
            if column.column.distinct and column.column.number:
                matched = self._create("matched", "linked/matched_rows", values=kept.values(column))
                revealing = self._create("revealing", "linked/revealing", matched=matched, l=column.column.distinct)
                if self.here.written(revealing):
                    return revealing
        return None

    def rows(self, events: Relation, parts: int, kept: KeptValues, victims: Victims) -> Relation | None:
        """The rows to leave out because of the smallest combinations that are unsafe; None if none is."""
        for size in range(1, int(self.m) + 1):
            undivided = [] if size > 1 and parts > 1 else list(self._sharing(size, events, parts))
            for column in self.valued:
                for sharing in undivided or self._sharing(size, events, parts):
                    if unsafe := self._unsafe(column.column, sharing, kept.holders(column)):
                        return victims(size, unsafe)
                if column.column.distinct and column.column.number:
                    for matched in self._matched(size, events, column, kept.values(column), parts):
                        revealing = self._create(
                            "revealing", "linked/revealing", matched=matched, l=column.column.distinct
                        )
                        if self.here.written(revealing):
                            return self._create(
                                "victims", "linked/revealing_left_out", events=events, revealing=revealing
                            )
        return None

    def _sharing(self, size: int, events: Relation, parts: int) -> Iterator[Relation]:
        """The people of every combination of a size, in parts."""
        query = {1: "linked/sharing_a_row", 2: "linked/sharing_a_pair", 3: "linked/sharing_a_triple"}[size]
        for part in range(parts if size > 1 else 1):
            divided = {"parts": parts, "part": part} if size > 1 else {}
            yield self._create("sharing", query, events=events, **divided)

    def _matched(self, size: int, events: Relation, column: Valued, values: Relation, parts: int) -> Iterator[Relation]:
        """The values of rows with `size` - 1 other rows of the same person, in parts."""
        if size == 1:
            yield self._create("matched", "linked/matched_rows", values=values)
            return
        numbers = {"table": column.column.number, "tables": self.tables}
        known = self._create("known", "linked/known_rows", events=events, values=values, **numbers)
        query = "linked/matched_pairs" if size == 2 else "linked/matched_triples"
        for part in range(parts):
            yield self._create("matched", query, values=values, known=known, parts=parts, part=part)

    def _unsafe(self, column: SensitiveColumn, sharing: Relation, holders: Relation) -> Relation | None:
        shared = self._create("shared", "linked/values_of_sharing", sharing=sharing, holders=holders)
        if column.distinct:
            unsafe = self._create("unsafe", "linked/too_uniform", shared=shared, l=column.distinct)
            if self.here.written(unsafe):
                return unsafe
        for model in column.models.models:
            unsafe = self._create("unsafe", "linked/unsafe_combinations", shared=shared, safe=column.predicate(model))
            if self.here.written(unsafe):
                return unsafe
        return None

    def _create(self, stem: str, query: str, **holes: Any) -> Relation:
        self.queries += 1
        return self.here.create(stem, query, **holes, **self.places.holes_of(query))
