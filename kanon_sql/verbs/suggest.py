"""Suggest a spec for a table: the role of every column and its hierarchy, in a file that a person can edit."""

from __future__ import annotations

import csv
import io
import os
import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Unpack

from kanon_sql import queries
from kanon_sql.engine import Column
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import HierarchyError, SpecError
from kanon_sql.frequency.fitting import hierarchy_source
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.values import added_by_key, as_text, key
from kanon_sql.hints import DROPPED, IDENTIFIER, KEPT, QUASI_IDENTIFIER, SENSITIVE, name_hint
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import IN_MEMORY, Source, column_values, opened_source
from kanon_sql.queries import Relation
from kanon_sql.release.publish import check_file
from kanon_sql.risk.exact import exact
from kanon_sql.risk.people import Unit
from kanon_sql.risk.roles import UNIQUE_SHARE
from kanon_sql.risk.sets import Sample
from kanon_sql.risk.single_columns import percent
from kanon_sql.spec import EVERY, READING, check_values, kind_of_file, names_a_server, parse, session
from kanon_sql.staging import Staging, make_folder
from kanon_sql.suggestion import CoCounts, Common, Counts, Suggested, counted, merging, suggested
from kanon_sql.suggestion.columns import SuggestedColumn
from kanon_sql.suggestion.spec_file import SpecFile, text_of
from kanon_sql.verbs.options import RoleOptions, spelled_out, taken
from kanon_sql.verbs.profile import MAY_BE_KNOWN, ColumnProfile, Profile, profiled_in
from kanon_sql.verbs.result import DataFrame, Result, frame

MOST_QUASI_IDENTIFIERS = 16  # suggested at most: with more, hardly any detail is left in any of them
_ROLES = {"quasi_identifiers": QUASI_IDENTIFIER, "identifiers": IDENTIFIER, "sensitive": SENSITIVE, "keep": KEPT}
_CHOSEN = "your choice"
_PREVIEWED = 5  # values, and classes per level
_MOST_RELATED = 200  # values of another column that categories are grouped by
_MOST_PAIRS = 100_000


class SpecToWrite(Result):
    """A suggested spec, which is written to a file together with its hierarchies."""

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the spec with comments, and hierarchies without a recipe to `hierarchies/NAME/`; return its path.

        Paths in the spec are relative to its folder. The hierarchies contain values of the data, so their mode is 0600.
        TargetError if a file exists and must not be replaced, SpecError if the name does not end like a YAML file.
        """
        target = Path(path)
        check_spec_file(target, overwrite)
        columns = self._in_files(target.stem)
        files = {target.parent / name: hierarchy_text(column.levels) for name, column in columns}
        write_suggestion(target, self.text(target), files, overwrite)
        return target

    @abstractmethod
    def text(self, path: str | PathLike[str] = "release.yml") -> str:
        """The text that `write` would write to a path."""

    @abstractmethod
    def _in_files(self, name: str) -> Iterator[tuple[str, SuggestedColumn]]:
        """The columns whose hierarchies are written to files, with their paths relative to the spec `name`."""


@dataclass(frozen=True, repr=False)
class Suggestions(SpecToWrite, SpecFile, json_form="init"):
    """A suggested spec: the role and the hierarchy of every column. `write` creates the file and its hierarchies.

    `source` and `database`: the arguments, unchanged. `notes`: hints for readers of the spec. `reading`: the options
    that were set for reading the source's files. `unit`: the column that identifies people, if they have several rows.
    """

    def to_dict(self) -> dict[str, Any]:
        """Everything except the values of hierarchies, as a mapping for JSON."""
        columns = [column.described() for column in self.columns]
        names = ("source", "database", "rows", "unit", "k", "suppression_limit")
        named = {name: getattr(self, name) for name in names}
        if self.database is not None and has_password(self.database):
            named["database"] = None
        return {**named, "columns": columns, "notes": [*self.notes]}

    def to_df(self) -> DataFrame:
        """One row per column."""
        return frame(self.to_dict()["columns"])

    def text(self, path: str | PathLike[str] = "release.yml") -> str:
        """The text that `write` would write to a path."""
        target = Path(path)
        columns = tuple(column.in_file(self._file(column, target.stem)) for column in self.columns)
        return text_of(replace(self, columns=columns), places_of(self, target.absolute().parent), target.name)

    def _in_files(self, name: str) -> Iterator[tuple[str, SuggestedColumn]]:
        return ((self._file(column, name), column) for column in self.columns if column.levels)

    def _file(self, column: SuggestedColumn, name: str) -> str:
        stems: dict[str, str] = {}
        for other in self.columns:
            stem = re.sub(r"[^\w-]", "_", other.name) or "_"
            while stem.lower() in {taken.lower() for taken in stems.values()}:
                stem += "_"
            stems[other.name] = stem
        return f"hierarchies/{name}/{stems[column.name]}.csv"

    def _lines(self) -> list[tuple[str, str]]:
        lines = [("source", f"{self.source}, {self.rows:,} rows")]
        for column in self.of_role(QUASI_IDENTIFIER):
            hierarchy = "grouped by similarity" if column.levels else str(column.recipe)
            lines.append((column.name, f"{hierarchy}; {' → '.join(f'{labels:,}' for labels in column.labels)}"))
        for role in (IDENTIFIER, SENSITIVE, KEPT):
            lines.append((role, ", ".join(column.name for column in self.of_role(role)) or "none"))
        return lines


def check_spec_file(path: Path, overwrite: bool) -> None:
    """SpecError if the name does not end like a spec's; TargetError if the file exists and must not be replaced."""
    if path.suffix.lower() not in (".yml", ".yaml"):
        raise SpecError(f"{path} is not a name for a spec; name one that ends in .yml")
    check_file(path, overwrite, ())


@spelled_out(RoleOptions)
def suggest(
    source: Any,
    *,
    connection: Any = None,
    k: int = 5,
    suppression_limit: float | str = 0.02,
    time_limit: float | None = 30.0,
    ask: Ask | None = None,
    observer: Observer | None = None,
    **options: Unpack[RoleOptions],
) -> Suggestions:
    """Suggest a spec for a table: the roles that `profile` finds, and a hierarchy per quasi-identifier.

    `source`: a file, a table of the `database` or behind the `connection`, a DataFrame or an Arrow table. The roles
    that you name are kept; with `quasi_identifiers`, no other column is one. `time_limit`: of the profile, in seconds.
    `ask`: called for every column with the suggestion, a preview and the last problem. It returns the suggestion
    unchanged, or with another role or recipe, and is then called again. Only `write` writes files. Raises KanonError.

    >>> import pandas
    >>> people = pandas.DataFrame({"id": range(90), "age": [i % 60 for i in range(90)], "site": ["x"] * 90})
    >>> suggested = suggest(people)
    >>> [(column.name, column.role, column.recipe) for column in suggested.columns]
    [('id', 'identifier', None), ('age', 'quasi-identifier', {'ranges': [5, 10, 20, 40]}), ('site', 'kept', None)]
    """
    suggestions = looked_at(
        source, taken(RoleOptions, options), connection, k, suppression_limit, time_limit, ask, observer
    )
    if not suggestions.of_role(QUASI_IDENTIFIER):
        raise SpecError(
            f"nothing in {suggestions.source} looks like a quasi-identifier; name the columns that others may know "
            "with `quasi_identifiers`"
        )
    if suggestions.rows < k:
        raise SpecError(f"{suggestions.source} has {suggestions.rows:,} rows, fewer than k = {k:,}; choose a lower `k`")
    return suggestions


def looked_at(
    source: Any,
    options: Mapping[str, Any],
    connection: Any = None,
    k: int = 5,
    suppression_limit: float | str = 0.02,
    time_limit: float | None = 30.0,
    ask: Ask | None = None,
    observer: Observer | None = None,
) -> Suggestions:
    """The same suggestions without the final checks; `options`: as in `suggest`, except the ones named here."""
    check_values(k=k, suppression_limit=suppression_limit, time_limit=time_limit)
    role_options = {name: options.get(name) for name in _ROLES}
    place_options = {name: value for name, value in options.items() if name not in _ROLES}
    observer = observer or Observer()
    with (
        opened_source(source, session(source, **place_options), connection, warns=False) as data,
        Scratch(data.engine, "profile") as profile_tables,
    ):
        keeps_all = role_options["keep"] in ("*", ["*"], EVERY)  # then the sets decide which columns are kept
        counted = profiled_in(
            profile_tables, data.table, time_limit=time_limit, observer=observer, is_for_spec=not keeps_all
        )
        profile, sample = counted.profile, counted.sample
        with_roles, unit = _with_roles(data, profile, role_options)
        observer.stage("Suggesting hierarchies")
        columns = tuple(with_hierarchies(data, with_roles, k, unit, ask, values=counted.values, sample=sample))
        if not any(column.name == unit and column.role in (IDENTIFIER, DROPPED) for column in columns):
            unit = None
        unchanged = _countable(data, [column.name for column in columns if column.role in (SENSITIVE, KEPT)])
        with Scratch(data.engine, "exact") as tables:
            found = exact(tables, data.table.relation, unchanged, unit)
    database = options.get("database")
    return Suggestions(
        source=str(source) if isinstance(source, str | PathLike) else IN_MEMORY,
        database=None if database is None else str(database),
        rows=profile.rows,
        columns=columns,
        k=k,
        suppression_limit=suppression_limit,
        notes=(
            *([found.warning] if found.too_many else []),
            *data.notes,
            *([_sampled(sample, profile)] if sample else []),
            *([] if profile.complete else profile.notes[-1:]),
        ),
        reading={option: options[option] for option in READING if options.get(option)},
        unit=unit,
    )


def _sampled(sample: Sample, profile: Profile) -> str:
    figures = "of all people, and those with 'about' extrapolated from some of them"
    if profile.unit is None:
        figures = "of all rows, and those with 'about' extrapolated from some combinations of values"
    return (
        f"sets of columns were compared, and similar categories found, in a sample of {sample.rows:,} of the "
        f"{profile.rows:,} rows; the figures below are {figures}"
    )


def _with_roles(
    data: Source, profile: Profile, role_options: Mapping[str, Any]
) -> tuple[list[SuggestedColumn], str | None]:
    """The columns with their roles, and the unit column.

    Every column is a quasi-identifier unless there is a reason against it: it identifies people, its name says that
    it is sensitive, it has one value, or it cannot be counted.
    """
    requested = _requested_roles(profile, role_options)
    unit = profile.unit if profile.unit and requested.get(profile.unit.column) in (None, IDENTIFIER) else None
    columns = []
    for column in profile.columns:
        role, reason = role_of(column, profile, unit)
        if column.name in requested:
            role, reason = requested[column.name], _CHOSEN
        elif role_options["quasi_identifiers"] is not None and role == QUASI_IDENTIFIER:
            role, reason = DROPPED, "it is not among the quasi-identifiers that you named"
        elif role_options["keep"] is not None and role == KEPT:
            role, reason = DROPPED, "it is not among the columns that you keep"
        columns.append(SuggestedColumn(column.name, column.type, role, reason))
    unit_column = unit.column if unit else None
    with Scratch(data.engine, "exact") as tables:
        columns = _generalized_if_unique(tables, data, columns, profile, unit_column)
    return list(with_fewer_quasi_identifiers(columns, profile)), unit_column


def _requested_roles(profile: Profile, role_options: Mapping[str, Any]) -> dict[str, str]:
    """The roles that the user chose, by column; `keep='*'` keeps every column for which no role is suggested."""
    names = [column.name for column in profile.columns]
    roles: dict[str, str] = {}
    for option, columns in role_options.items():
        if columns is None:
            continue
        if option == "keep" and columns in ("*", ["*"], EVERY):
            unsuspicious = [column.name for column in profile.columns if not column.suggestion]
            kept = dict.fromkeys([name for name in unsuspicious if name not in profile.sensitive], KEPT)
            roles = kept | roles
            continue
        for name in columns:
            if name not in names:
                raise SpecError(f"there is no column {name!r}; there are {', '.join(names)}")
            roles[name] = _ROLES[option]
    return roles


def role_of(column: ColumnProfile, profile: Profile, unit: Unit | None) -> tuple[str, str]:
    """The suggested role of a column, and the reason."""
    if unit and column.name == unit.column:
        return IDENTIFIER, unit.in_words(profile.rows)
    if column.suggestion == IDENTIFIER:
        return IDENTIFIER, column.reason
    if column.distinct is None:
        return DROPPED, f"a {column.type} was not looked at"
    if column.distinct == 1:
        return KEPT, column.reason
    can_number = column.kind in ("text", "integer", "decimal") and not column.dates
    if unit and can_number and column.name in unit.constant and column.distinct >= UNIQUE_SHARE * unit.people:
        return IDENTIFIER, "nearly every person has a value of their own"
    if column.name in profile.sensitive:
        return SENSITIVE, column.reason
    return QUASI_IDENTIFIER, column.reason if column.suggestion else MAY_BE_KNOWN


def with_fewer_quasi_identifiers(
    columns: Sequence[SuggestedColumn],
    profile: Profile,
    most: int = MOST_QUASI_IDENTIFIERS,
    settled: Collection[str] = (),
) -> Iterator[SuggestedColumn]:
    """The columns; of more than `most` quasi-identifiers, those with the weakest reasons are dropped.

    `settled`: columns that are not dropped.
    """
    suggested = {column.name for column in profile.columns if column.suggestion == QUASI_IDENTIFIER}
    quasi = [column for column in columns if column.role == QUASI_IDENTIFIER]
    hinted = {column.name for column in quasi if name_hint(column.name) in (QUASI_IDENTIFIER, SENSITIVE)}
    chosen = {column.name for column in quasi if column.reason == _CHOSEN or column.name in settled}
    quasi.sort(key=lambda column: (column.name not in chosen, column.name not in hinted, column.name not in suggested))
    dropped = [column for column in quasi[most:] if column.name not in chosen]
    reason = f"{most} quasi-identifiers precede it, and more would leave hardly anything of any"
    for column in columns:
        yield replace(column, role=DROPPED, reason=reason) if column in dropped else column


def _generalized_if_unique(
    tables: Scratch, data: Source, columns: Sequence[SuggestedColumn], profile: Profile, unit: str | None
) -> list[SuggestedColumn]:
    """A sensitive column that would make too many people unique is generalized, or dropped if most values differ."""
    unchanged = [c.name for c in columns if c.role == KEPT or (c.role == SENSITIVE and c.reason == _CHOSEN)]
    mostly_unique = {c.name for c in profile.columns if c.kind == "text" and (c.unique_share or 0) >= UNIQUE_SHARE}
    result = []
    for column in columns:
        if column.role == SENSITIVE and column.reason != _CHOSEN:
            found = exact(tables, data.table.relation, [*_countable(data, unchanged), column.name], unit)
            if found.too_many:
                role = DROPPED if column.name in mostly_unique else QUASI_IDENTIFIER
                whom = "people" if unit else "rows"
                unique = f"{percent(found.singled_out, found.counted)} of the {whom} would be unique by it"
                column = replace(column, role=role, reason=f"sensitive by its name, but unchanged {unique}")
            else:
                unchanged.append(column.name)
        result.append(column)
    return result


def _countable(data: Source, names: Sequence[str]) -> list[str]:
    """The columns among these that can be grouped."""
    return [column.name for column in data.table.columns if column.name in names and column.kind != "other"]


def with_hierarchies(
    data: Source,
    columns: Sequence[SuggestedColumn],
    k: int,
    unit: str | None,
    ask: Ask | None = None,
    people: PeopleByValue | None = None,
    values: Mapping[str, Relation] = MappingProxyType({}),
    sample: Sample | None = None,
) -> Iterator[SuggestedColumn]:
    """The columns, with a hierarchy for every quasi-identifier, from counts of their values.

    `people`: counts the people by the values of a column, if the table has no column `unit` that identifies them. A
    quasi-identifier with a recipe already keeps it. `values`: the tables of `profile/numbered_values` that exist, by
    column. `sample`: the rows in which pairs of values are counted, if not in all.
    """
    names = [column.name for column in columns if column.role == QUASI_IDENTIFIER]
    with Scratch(data.engine, "suggest") as tables:
        counts = {name: _counted_values(tables, data, name, values.get(name)) for name in names}
        pairs = _Pairs(tables, data, counts, sample)
        for column in columns:
            described = data.table.column(column.name)
            assert described
            if column.role == QUASI_IDENTIFIER:
                related = partial(pairs.related, column.name)
                common = partial(_common, tables, data, column.name, counts[column.name], k, unit, people)
                column = _generalized(column, described, counts[column.name], related, common, data)
            yield _confirmed(column, described, counts.get(column.name, {}), data, ask) if ask else column


def _confirmed(
    column: SuggestedColumn, described: Column, counts: Mapping[Any, int], data: Source, ask: Ask
) -> SuggestedColumn:
    """A column after the user's changes: `ask` is called until it returns the suggestion unchanged."""
    problem = ""
    while (answer := ask(column, _preview(column, described, counts, data), problem)) != column:
        problem = ""
        if answer.role == QUASI_IDENTIFIER and answer.recipe is not None and answer.recipe != column.recipe:
            if not counts:
                counts = dict.fromkeys(column_values(data, column.name), 1)
            try:
                labels = _labels(Suggested(answer.recipe), described, counts, data)
            except (HierarchyError, SpecError, ValueError) as error:
                problem = str(error).splitlines()[0]
                continue
            answer = replace(answer, labels=tuple(labels), levels=(), why=_CHOSEN)
        column = answer
    return column


@dataclass(frozen=True)
class SuggestionPreview:
    """The effect of a hierarchy. `values`: a few values, with their rows and their labels on every level.

    `classes`: per level, the labels of most rows, with their rows.
    """

    values: tuple[tuple[str, int, tuple[str, ...]], ...] = ()
    classes: tuple[tuple[tuple[str, int], ...], ...] = ()


Ask = Callable[[SuggestedColumn, SuggestionPreview, str], SuggestedColumn]
PeopleByValue = Callable[[str], Sequence[tuple[Any, ...]]]


def _preview(column: SuggestedColumn, described: Column, counts: Mapping[Any, int], data: Source) -> SuggestionPreview:
    """The labels of the most frequent values, and the largest classes of each level."""
    if column.role != QUASI_IDENTIFIER or not counts:
        return SuggestionPreview()
    levels: Sequence[Mapping[Any, Any]] = column.levels
    if not levels:
        hierarchy = _built(column.recipe, described, counts, data)
        levels = [dict(zip(hierarchy.values, level, strict=True)) for level in hierarchy.levels[:-1]]
    frequent = sorted(counts, key=lambda value: -counts[value])[:_PREVIEWED]
    values = tuple(
        (_shown(value), counts[value], tuple(_shown(level.get(value)) for level in levels)) for value in frequent
    )
    classes = []
    for level in levels:
        rows: dict[str, int] = {}
        for value, n in counts.items():
            label = _shown(level.get(value))
            rows[label] = rows.get(label, 0) + n
        classes.append(tuple(sorted(rows.items(), key=lambda item: -item[1])[:_PREVIEWED]))
    return SuggestionPreview(values, tuple(classes))


def _shown(value: Any) -> str:
    return "NULL" if value is None else as_text(value)


def _counted_values(tables: Scratch, data: Source, column: str, values: Relation | None) -> dict[Any, int]:
    """The values of a column with their rows; `values`: the table of `profile/numbered_values`, if it exists."""
    if values is None:
        by_name = {"value": column}
        return added_by_key(tables.rows("frequency_sets/tuples", columns=by_name, source=data.table.relation))
    rows = tables.rows_as(queries.select_all(values, tables.engine.dialect))
    return added_by_key((value, n) for value, n, _ in rows)


class _Pairs:
    """The pairs of values of the quasi-identifiers: in a sample, or by one count of the distinct combinations."""

    def __init__(
        self, tables: Scratch, data: Source, counts: Mapping[str, Mapping[Any, int]], sample: Sample | None
    ) -> None:
        self._tables, self._data, self._counts = tables, data, counts
        self._sample = sample if sample and {*counts} <= {*sample.columns} else None
        self._stems = queries.plain_names([*counts])

    @cached_property
    def _tuples(self) -> Relation:
        by_stem = {stem: name for name, stem in self._stems.items()}
        source = self._data.table.relation
        return self._tables.create("tuples", "frequency_sets/tuples", columns=by_stem, source=source)

    def _counted(self, column: str, other: str) -> list[tuple[Any, ...]]:
        if self._sample:
            pair = {"value": column, "other": other}
            return self._tables.rows("frequency_sets/tuples", columns=pair, source=self._sample.relation)
        stems = {"column": [self._stems[column]], "other": [self._stems[other]]}
        return self._tables.rows("profile/value_pairs", **stems, tuples=self._tuples)

    def related(self, column: str) -> list[tuple[Sequence[Any], Counts]]:
        """How the rows of a column's categories are distributed over the other quasi-identifiers with few values."""
        values: Sequence[Any] = list(self._counts[column])
        contingencies = []
        for other, of_other in self._counts.items():
            is_small = 1 < len(of_other) <= _MOST_RELATED and len(values) * len(of_other) <= _MOST_PAIRS
            if other == column or not is_small:
                continue
            pairs = ((key(value), key(related), int(n)) for value, related, n in self._counted(column, other))
            contingencies.append((values, counted(pairs, values, list(of_other))))
        return contingencies


def _common(
    tables: Scratch,
    data: Source,
    column: str,
    counts: Mapping[Any, int],
    k: int,
    unit: str | None,
    people: PeopleByValue | None,
) -> set[Any]:
    """The values of a column that at least k people have; without a unit, at least k rows."""
    if people:
        counts = added_by_key(people(column))
    elif unit is not None:
        source = data.table.relation
        counts = added_by_key(tables.rows("profile/people", column=[column], unit=[unit], source=source))
    return {value for value, n in counts.items() if n >= k}


def _generalized(
    column: SuggestedColumn,
    described: Column,
    counts: Mapping[Any, int],
    related: CoCounts,
    common: Common,
    data: Source,
) -> SuggestedColumn:
    """A quasi-identifier with the suggested hierarchy, without the levels that merge nothing."""
    if column.recipe or column.levels:
        suggestion = Suggested(column.recipe or "suppress", column.levels, column.why)
    else:
        suggestion = suggested(described, counts, related, common)
    if suggestion.levels and "" in counts:
        suggestion = Suggested(why="it contains the empty text, which is NULL in a file: shown, or not")
    suggestion, labels = _shortened(suggestion, described, counts, data)
    recipe = None if suggestion.levels else suggestion.recipe
    return replace(column, recipe=recipe, why=suggestion.why, labels=labels, levels=suggestion.levels)


def _shortened(
    suggestion: Suggested, column: Column, counts: Mapping[Any, int], data: Source
) -> tuple[Suggested, tuple[int, ...]]:
    """A suggestion without the levels that merge nothing, and the number of labels on every level."""
    try:
        labels = _labels(suggestion, column, counts, data)
    except HierarchyError:  # the recipe refuses a value of the column
        suggestion = Suggested(why="a value in it fits no recipe: shown, or not")
        labels = _labels(suggestion, column, counts, data)
    kept = merging(labels)
    if len(kept) < len(labels) - 2:  # all but the values and the top
        suggestion = suggestion.shortened(kept)
    return suggestion, (labels[0], *(labels[level] for level in kept), 1)


def _labels(suggestion: Suggested, column: Column, counts: Mapping[Any, int], data: Source) -> list[int]:
    """The number of labels on every level, values first."""
    if suggestion.levels:
        return [len(counts), *(len(set(level.values())) for level in suggestion.levels), 1]
    hierarchy = _built(suggestion.recipe, column, counts, data)
    nulls = int(None in counts and None not in hierarchy.values)
    return [*(len(hierarchy.distinct_labels(level)) + nulls for level in range(hierarchy.height)), 1]


def _built(recipe: Any, column: Column, counts: Mapping[Any, int], data: Source) -> Hierarchy:
    spec = parse({"source": "x", "quasi_identifiers": {column.name: {"hierarchy": recipe}}})
    return hierarchy_source(spec.quasi_identifiers[column.name], column, spec, data.engine).build(list(counts))


def hierarchy_text(levels: Sequence[Mapping[Any, str]]) -> str:
    texts = {value: "" if value is None else as_text(value) for value in levels[0]}
    rows = ([text, *(level[value] for level in levels), "*"] for value, text in texts.items())
    file = io.StringIO()
    csv.writer(file, delimiter=";", lineterminator="\n").writerows(rows)
    return file.getvalue()


def write_suggestion(spec: Path, text: str, hierarchies: Mapping[Path, str], overwrite: bool) -> None:
    """Write a suggested spec and its hierarchies in one step; TargetError if a file exists and must not be replaced."""
    for file in hierarchies:
        if file.parent.is_dir():
            check_file(file, overwrite, ())
    with Staging() as staging:
        staging.write(spec, text, overwrite)
        for file, content in hierarchies.items():
            make_folder(file.parent, mode=0o700)
            staging.write(file, content, overwrite, private=True)
        staging.place()


def places_of(suggestions: Suggestions, folder: Path) -> dict[str, Any]:
    """Source, database and target for a spec in a folder; empty for a source in memory."""
    if suggestions.source == IN_MEMORY:
        return {}
    if suggestions.database is not None:
        database = suggestions.database
        where = {} if has_password(database) else {"database": relative_place(folder, database)}
        return {"source": suggestions.source, **where, "target": {"table": f"{suggestions.source}_anon"}}
    source = Path(suggestions.source)
    if not os.path.isfile(source):  # a glob of several files
        name = "release.parquet"
    else:
        suffix = ".parquet" if kind_of_file(source.name) == "Excel" else source.suffix
        name = f"{source.stem}_anon{suffix}"
    return {"source": relative_place(folder, suggestions.source), **suggestions.reading, "target": {"file": name}}


def relative_place(folder: Path, path: str) -> str:
    """A path relative to a folder; an address or a path on another drive unchanged."""
    if names_a_server(path) or path == ":memory:" or "://" in path:
        return path
    try:
        return Path(os.path.relpath(os.path.abspath(path), folder)).as_posix()
    except ValueError:  # on another drive
        return os.path.abspath(path)


def has_password(database: str) -> bool:
    """Whether the address of a database contains a password, which must not be written to a spec."""
    return bool(re.search(r"password\s*=|://[^/@\s]*:[^/@\s]*@", database))
