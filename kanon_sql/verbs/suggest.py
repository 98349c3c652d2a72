"""From a table to a spec: what each column is, and how to generalize it, as a file that a person can edit."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from kanon_sql import queries
from kanon_sql.engine import Column
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import HierarchyError, SpecError, TargetError
from kanon_sql.frequency.fitting import hierarchy_source
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.values import as_text, key
from kanon_sql.hints import IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE, name_hint
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import IN_MEMORY, Source, column_values, opened_source
from kanon_sql.release.publish import check_file
from kanon_sql.risk.columns import listed, percent
from kanon_sql.risk.exact import exact
from kanon_sql.risk.people import Unit
from kanon_sql.risk.roles import UNIQUE_SHARE
from kanon_sql.spec import EVERY, READING, check_values, kind_of_file, names_a_server, parse, session
from kanon_sql.staging import Staging
from kanon_sql.suggestion import Counts, Suggested, counted, merging, suggested
from kanon_sql.suggestion.written import Draft, Generalized, text_of
from kanon_sql.verbs.options import RoleOptions, spelled_out, taken
from kanon_sql.verbs.profile import ColumnProfile, Profile, profiled
from kanon_sql.verbs.result import Result

if TYPE_CHECKING:
    import pandas

KEPT, DROPPED = "kept", "dropped"


@dataclass(frozen=True)
class SuggestedColumn:
    """A column: its role (identifier, quasi-identifier, sensitive, kept, dropped) and why.

    Of a quasi-identifier: `recipe`, as a spec writes it, None where `levels` say the label of each value; `why` it is
    generalized so; `labels`, how many there are on each level, the values first.
    """

    name: str
    type: str
    role: str
    reason: str
    recipe: Any = None
    why: str = ""
    labels: tuple[int, ...] = ()
    levels: tuple[Mapping[Any, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, repr=False)
class Suggestions(Result):
    """A suggested spec: what every column is and how it is generalized. `write` makes the file and its hierarchies.

    `source` and `database` are as they were given; `notes`: what a reader of the spec should know. `reading`: how the
    files of the source are read, as far as it was said. `unit`: the column that tells people apart, where people have
    several rows.
    """

    source: str
    database: str | None
    rows: int
    columns: tuple[SuggestedColumn, ...]
    k: int
    suppression_limit: float | str
    notes: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)
    unit: str | None = None

    def of_role(self, role: str) -> tuple[SuggestedColumn, ...]:
        """The columns of a role, in the table's order."""
        return tuple(column for column in self.columns if column.role == role)

    def to_dict(self) -> dict[str, Any]:
        """All of it but the values of hierarchies, ready for JSON."""
        columns = [
            {name: value for name, value in vars(column).items() if name != "levels"} | {"labels": [*column.labels]}
            for column in self.columns
        ]
        said = {name: getattr(self, name) for name in ("source", "database", "rows", "unit", "k", "suppression_limit")}
        return {**said, "columns": columns, "notes": [*self.notes]}

    def to_df(self) -> pandas.DataFrame:
        """One row per column."""
        import pandas

        return pandas.DataFrame(self.to_dict()["columns"])

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the spec, with comments, and beside it, in `hierarchies/NAME/`, what no recipe can say; give the path.

        Paths in it are relative to its folder. The hierarchies hold values of the data and are written with mode 0600.
        TargetError if a file exists and may not be replaced, SpecError for an ending that is not of YAML.
        """
        target = Path(path)
        check_spec_file(target, overwrite)
        files = {target.parent / name: text for name, text in self._files(target.stem).items()}
        for file in files:
            if file.parent.is_dir():
                check_file(file, overwrite, ())
        with Staging() as staging:
            _write(staging, target, self.text(target), overwrite)
            for file, text in files.items():
                _make_folder(file.parent)
                _write(staging, file, text, overwrite, private=True)
            staging.place()
        return target

    def text(self, path: str | PathLike[str] = "release.yml") -> str:
        """The text of the spec, as `write` writes it to a path."""
        target = Path(path)
        return text_of(self._draft(target), target.name)

    def _files(self, name: str) -> dict[str, str]:
        """The hierarchies that are files: the text of each, by its path beside the spec of this name."""
        return {self._file(column, name): _csv(column.levels) for column in self.columns if column.levels}

    def _file(self, column: SuggestedColumn, name: str) -> str:
        stems: dict[str, str] = {}
        for each in self.columns:
            stem = re.sub(r"[^\w-]", "_", each.name) or "_"
            while stem.lower() in {taken.lower() for taken in stems.values()}:
                stem += "_"
            stems[each.name] = stem
        return f"hierarchies/{name}/{stems[column.name]}.csv"

    def _draft(self, path: Path) -> Draft:
        generalized = [
            Generalized(
                column.name,
                column.reason,
                {"file": self._file(column, path.stem)} if column.levels else column.recipe,
                column.why,
                column.labels,
            )
            for column in self.of_role(QUASI_IDENTIFIER)
        ]
        told = {
            role: [(c.name, c.reason) for c in self.of_role(role)] for role in (IDENTIFIER, SENSITIVE, KEPT, DROPPED)
        }
        return Draft(
            self.rows,
            places_of(self, path.absolute().parent),
            told[IDENTIFIER],
            generalized,
            told[SENSITIVE],
            told[KEPT],
            told[DROPPED],
            self.k,
            self.suppression_limit,
            self.notes,
            self.unit,
        )

    def _lines(self) -> list[tuple[str, str]]:
        ways = [
            (column.name, f"{_said(column)}; {' → '.join(f'{labels:,}' for labels in column.labels)}")
            for column in self.of_role(QUASI_IDENTIFIER)
        ]
        roles = [
            (role, ", ".join(c.name for c in self.of_role(role)) or "none") for role in (IDENTIFIER, SENSITIVE, KEPT)
        ]
        return [("source", f"{self.source}, {self.rows:,} rows"), *ways, *roles]


def check_spec_file(path: Path, overwrite: bool) -> None:
    """Refuse a name that is not of a spec, and a file that may not be replaced."""
    if path.suffix.lower() not in (".yml", ".yaml"):
        raise SpecError(f"{path} is no name of a spec; name one that ends in .yml")
    check_file(path, overwrite, ())


def _said(column: SuggestedColumn) -> str:
    return "put together by what looks alike" if column.levels else str(column.recipe)


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
    """Suggest a spec for a table: what each column is, as `profile` sees it, and a hierarchy per quasi-identifier.

    `source`: a file, a table of the `database` or behind the `connection`, a DataFrame or an Arrow table. Columns whose
    role is given have it; with `quasi_identifiers` no other column is one. `time_limit`: of the profile, in seconds.
    `ask`: called for every column with what is suggested, a preview and the last problem; it gives it back as it is, or
    with another role or recipe, and is then called again. Nothing is written before `write`. Raises KanonError.

    >>> import pandas
    >>> people = pandas.DataFrame({"id": range(90), "age": [i % 60 for i in range(90)], "site": ["x"] * 90})
    >>> suggested = suggest(people)
    >>> [(column.name, column.role, column.recipe) for column in suggested.columns]
    [('id', 'identifier', None), ('age', 'quasi-identifier', {'ranges': [5, 10, 20, 40]}), ('site', 'kept', None)]
    """
    made = looked_at(source, taken(RoleOptions, options), connection, k, suppression_limit, time_limit, ask, observer)
    _check(made)
    return made


def looked_at(
    source: Any,
    given: dict[str, Any],
    connection: Any = None,
    k: int = 5,
    suppression_limit: float | str = 0.02,
    time_limit: float | None = 30.0,
    ask: Ask | None = None,
    observer: Observer | None = None,
) -> Suggestions:
    """What `suggest` gives, `given` the options that it takes, though nothing may be a quasi-identifier."""
    check_values(k=k, suppression_limit=suppression_limit, time_limit=time_limit)
    given = dict(given)
    roles = {name: given.pop(name, None) for name in ("quasi_identifiers", "identifiers", "sensitive", "keep")}
    observer = observer or Observer()
    database = given.get("database")
    with opened_source(source, session(source, **given), connection, said=True) as data:
        observer.stage("Looking at the columns")
        seen = profiled(data.engine, data.table, time_limit=time_limit)
        settled, unit = _settled(data, seen, roles)
        observer.stage("Suggesting hierarchies")
        columns = tuple(_with_hierarchies(data, settled, k, unit, ask))
        unit = unit if any(c.name == unit and c.role in (IDENTIFIER, DROPPED) for c in columns) else None
        unchanged = _countable(data, [column.name for column in columns if column.role in (SENSITIVE, KEPT)])
        with Scratch(data.engine, "exact") as tables:
            found = exact(tables, data.table.relation, unchanged, unit)
    name = str(source) if isinstance(source, str | PathLike) else IN_MEMORY
    notes = (*([found.warning] if found.too_many else []), *data.notes, *([] if seen.complete else seen.notes[-1:]))
    reading = {option: given[option] for option in READING if given.get(option)}
    asked = name, None if database is None else str(database)
    return Suggestions(*asked, seen.rows, columns, k, suppression_limit, notes, reading, unit)


def _check(made: Suggestions) -> None:
    if not made.of_role(QUASI_IDENTIFIER):
        raise SpecError(
            f"nothing in {made.source} looks like a quasi-identifier; name the columns that others may know with "
            "`quasi_identifiers`"
        )
    if made.rows < made.k:
        raise SpecError(f"{made.source} has {made.rows:,} rows, fewer than k = {made.k:,}; give a lower `k`")


def _settled(data: Source, seen: Profile, given: Mapping[str, Any]) -> tuple[list[SuggestedColumn], str | None]:
    """The columns with their roles, and the column of the people.

    Every column is a quasi-identifier unless there is a reason against it: it tells who somebody is, its name says that
    it is sensitive, it has one value, or it cannot be counted.
    """
    asked = _asked_roles(seen, given)
    unit = seen.unit if seen.unit and asked.get(seen.unit.column) in (None, IDENTIFIER) else None
    columns = []
    for column in seen.columns:
        role, reason = _role(column, seen, unit)
        if column.name in asked:
            role, reason = asked[column.name], _ASKED
        elif given["quasi_identifiers"] is not None and role == QUASI_IDENTIFIER:
            role, reason = DROPPED, "it is not among the quasi-identifiers that you named"
        elif given["keep"] is not None and role == KEPT:
            role, reason = DROPPED, "it is not among the columns that you keep"
        columns.append(SuggestedColumn(column.name, column.type, role, reason))
    people = unit.column if unit else None
    with Scratch(data.engine, "exact") as tables:
        columns = _generalized_if_unique(tables, data, columns, seen, people)
    return list(_without_the_many(columns, seen)), people


_ASKED = "as you said"
MOST_QUASI_IDENTIFIERS = 16  # that are suggested: of more, hardly anything is left of any


def _asked_roles(seen: Profile, given: Mapping[str, Any]) -> dict[str, str]:
    """The roles that were given, by column; with `keep='*'` whatever nothing is found of is kept."""
    roles = {"quasi_identifiers": QUASI_IDENTIFIER, "identifiers": IDENTIFIER, "sensitive": SENSITIVE, "keep": KEPT}
    every = given["keep"] in ("*", ["*"], EVERY)
    lists = {option: names for option, names in given.items() if names is not None and not (every and option == "keep")}
    asked = {name: roles[option] for option, names in lists.items() for name in names}
    known = [column.name for column in seen.columns]
    for name in asked:
        if name not in known:
            raise SpecError(f"there is no column {name!r}; there are {', '.join(known)}")
    kept = [column.name for column in seen.columns if not column.suggestion and column.name not in seen.sensitive]
    return {**(dict.fromkeys(kept, KEPT) if every else {}), **asked}


def _role(column: ColumnProfile, seen: Profile, unit: Unit | None) -> tuple[str, str]:
    """What a column is, unless somebody says otherwise, and why."""
    if unit and column.name == unit.column:
        constant = [name for name in unit.constant if name != column.name][:3]
        how = f"; {listed(constant)} do not vary within its values" if len(constant) > 1 else ""
        return IDENTIFIER, f"it tells people apart: {unit.people:,} of them in {seen.rows:,} rows{how}"
    if column.suggestion == IDENTIFIER:
        return IDENTIFIER, column.reason
    if column.distinct is None:
        return DROPPED, f"a {column.type} was not looked at"
    if column.distinct == 1:
        return KEPT, column.reason
    if unit and _is_of_one_person(column, unit):
        return IDENTIFIER, "nearly every person has a value of their own"
    if column.name in seen.sensitive:
        return SENSITIVE, column.reason
    return QUASI_IDENTIFIER, column.reason if column.suggestion else "others may know it; keep it if they cannot"


def _is_of_one_person(column: ColumnProfile, unit: Unit) -> bool:
    """Whether a column numbers people as their own does."""
    able = column.kind in ("text", "integer", "decimal") and not column.dates
    return able and column.name in unit.constant and (column.distinct or 0) >= UNIQUE_SHARE * unit.people


def _without_the_many(columns: Sequence[SuggestedColumn], seen: Profile) -> Iterator[SuggestedColumn]:
    """The columns; of more quasi-identifiers than are of use, those that nothing speaks for are dropped."""
    suggested = {column.name for column in seen.columns if column.suggestion == QUASI_IDENTIFIER}
    quasi = [column for column in columns if column.role == QUASI_IDENTIFIER]
    hinted = {column.name for column in quasi if name_hint(column.name) in (QUASI_IDENTIFIER, SENSITIVE)}
    quasi.sort(key=lambda each: (each.reason != _ASKED, each.name not in hinted, each.name not in suggested))
    many = [column for column in quasi[MOST_QUASI_IDENTIFIERS:] if column.reason != _ASKED]
    reason = f"{MOST_QUASI_IDENTIFIERS} quasi-identifiers precede it, and more would leave hardly anything of any"
    for column in columns:
        yield replace(column, role=DROPPED, reason=reason) if column in many else column


def _generalized_if_unique(
    tables: Scratch, data: Source, columns: Sequence[SuggestedColumn], seen: Profile, unit: str | None
) -> list[SuggestedColumn]:
    """A sensitive one by which too many would be unique is generalized, or dropped if most values differ."""
    shown = [c.name for c in columns if c.role in (SENSITIVE, KEPT) and (c.role == KEPT or c.reason == _ASKED)]
    lost = {c.name for c in seen.columns if c.kind == "text" and (c.unique_share or 0) >= UNIQUE_SHARE}
    settled = []
    for column in columns:
        if column.role == SENSITIVE and column.reason != _ASKED:
            found = exact(tables, data.table.relation, [*_countable(data, shown), column.name], unit)
            if found.too_many:
                role = DROPPED if column.name in lost else QUASI_IDENTIFIER
                whom = "people" if unit else "rows"
                unique = f"{percent(found.singled_out, found.counted)} of the {whom} would be unique by it"
                column = replace(column, role=role, reason=f"sensitive by its name, but unchanged {unique}")
            else:
                shown.append(column.name)
        settled.append(column)
    return settled


def _countable(data: Source, names: Sequence[str]) -> list[str]:
    """The columns among these that can be grouped."""
    return [column.name for column in data.table.columns if column.name in names and column.kind != "other"]


def _with_hierarchies(
    data: Source, columns: Sequence[SuggestedColumn], k: int, unit: str | None, ask: Ask | None
) -> Iterator[SuggestedColumn]:
    """The columns, each quasi-identifier with its hierarchy: made of their distinct combinations, counted once."""
    names = [column.name for column in columns if column.role == QUASI_IDENTIFIER]
    stems = queries.plain_names(names)
    with Scratch(data.engine, "suggest") as tables:
        if names:
            of = {stem: name for name, stem in stems.items()}
            tables.make("tuples", "frequency_sets/tuples", columns=of, source=data.table.relation)
        counts = {name: _counts(tables, stem) for name, stem in stems.items()}
        for column in columns:
            described = data.table.column(column.name)
            assert described
            if column.role == QUASI_IDENTIFIER:
                looks = _Beside(tables, stems, counts, column.name)
                common = _Common(tables, data, column.name, counts[column.name], k, unit)
                column = _generalized(column, described, counts[column.name], looks, common, data)
            yield _asked(column, described, counts.get(column.name, {}), data, ask) if ask else column


def _asked(
    column: SuggestedColumn, described: Column, counts: Mapping[Any, int], data: Source, ask: Ask
) -> SuggestedColumn:
    """What somebody makes of a suggestion, asked until they leave it as it is."""
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
            answer = replace(answer, labels=tuple(labels), levels=(), why=_ASKED)
        column = answer
    return column


@dataclass(frozen=True)
class Preview:
    """What becomes of a few values: of each its rows, and its label on every level; and of each level the classes.

    `classes`: by level, the labels that most rows have, each with its rows.
    """

    values: tuple[tuple[str, int, tuple[str, ...]], ...] = ()
    classes: tuple[tuple[tuple[str, int], ...], ...] = ()


Ask = Callable[[SuggestedColumn, Preview, str], SuggestedColumn]
_PREVIEWED = 5


def _preview(column: SuggestedColumn, described: Column, counts: Mapping[Any, int], data: Source) -> Preview:
    """The labels of the most frequent values, and the largest classes of each level."""
    if column.role != QUASI_IDENTIFIER or not counts:
        return Preview()
    levels = column.levels or _labelled(column.recipe, described, counts, data)
    frequent = sorted(counts, key=lambda value: -counts[value])[:_PREVIEWED]
    values = tuple(
        (_shown(value), counts[value], tuple(_shown(each.get(value)) for each in levels)) for value in frequent
    )
    classes = []
    for level in levels:
        rows: dict[str, int] = {}
        for value, n in counts.items():
            label = _shown(level.get(value))
            rows[label] = rows.get(label, 0) + n
        classes.append(tuple(sorted(rows.items(), key=lambda each: -each[1])[:_PREVIEWED]))
    return Preview(values, tuple(classes))


def _shown(value: Any) -> str:
    return "NULL" if value is None else as_text(value)


def _counts(tables: Scratch, stem: str) -> dict[Any, int]:
    rows = tables.rows("mappings/column_values", column=[stem], tuples=tables["tuples"])
    counts: dict[Any, int] = {}
    for value, n in rows:
        counts[key(value)] = counts.get(key(value), 0) + int(n)
    return counts


@dataclass(frozen=True)
class _Beside:
    """How the rows of a column's categories are spread over the other quasi-identifiers with few values."""

    tables: Scratch
    stems: Mapping[str, str]
    counts: Mapping[str, Mapping[Any, int]]
    column: str

    def __call__(self) -> list[tuple[Sequence[Any], Counts]]:
        own = self.counts[self.column]
        others = [name for name, counts in self.counts.items() if name != self.column]
        able = [name for name in others if 1 < len(self.counts[name]) <= _MOST_BESIDE]
        return [self._pairs(list(own), name) for name in able if len(own) * len(self.counts[name]) <= _MOST_PAIRS]

    def _pairs(self, own: list[Any], other: str) -> tuple[Sequence[Any], Counts]:
        column, beside = [self.stems[self.column]], [self.stems[other]]
        tuples = self.tables["tuples"]
        rows = self.tables.rows("profile/beside", column=column, other=beside, tuples=tuples)
        pairs = ((key(value), key(at), int(n)) for value, at, n in rows)
        return own, counted(pairs, own, list(self.counts[other]))


_MOST_BESIDE, _MOST_PAIRS = 200, 100_000


@dataclass(frozen=True)
class _Common:
    """The values of a column that k people or more have; rows where nobody tells people apart."""

    tables: Scratch
    data: Source
    column: str
    counts: Mapping[Any, int]
    k: int
    unit: str | None

    def __call__(self) -> set[Any]:
        if self.unit is None:
            return {value for value, rows in self.counts.items() if rows >= self.k}
        people: dict[Any, int] = {}
        for value, n in self.tables.rows(
            "profile/people", column=[self.column], unit=[self.unit], source=self.data.table.relation
        ):
            people[key(value)] = people.get(key(value), 0) + int(n)
        return {value for value, n in people.items() if n >= self.k}


def _generalized(
    column: SuggestedColumn,
    described: Column,
    counts: Mapping[Any, int],
    beside: _Beside,
    common: _Common,
    data: Source,
) -> SuggestedColumn:
    """A quasi-identifier with the hierarchy that is suggested, without the levels that merge nothing."""
    made = suggested(described, counts, beside, common)
    if made.levels and "" in counts:
        made = Suggested(why="it holds the empty text, which is NULL in a file: shown, or not")
    made, labels = _shortened(made, described, counts, data)
    recipe = None if made.levels else made.recipe
    return replace(column, recipe=recipe, why=made.why, labels=labels, levels=made.levels)


def _shortened(
    made: Suggested, column: Column, counts: Mapping[Any, int], data: Source
) -> tuple[Suggested, tuple[int, ...]]:
    """A suggestion without the levels that merge nothing, and how many labels each level has."""
    try:
        labels = _labels(made, column, counts, data)
    except HierarchyError:  # what a recipe refuses, a value of the column is
        made = Suggested(why="a value in it fits no recipe: shown, or not")
        labels = _labels(made, column, counts, data)
    kept = merging(labels)
    short = made if len(kept) == len(labels) - 2 else made.shortened(kept)
    return short, (labels[0], *(labels[level] for level in kept), 1)


def _labels(made: Suggested, column: Column, counts: Mapping[Any, int], data: Source) -> list[int]:
    if made.levels:
        return [len(counts), *(len(set(level.values())) for level in made.levels), 1]
    hierarchy = _built(made.recipe, column, counts, data)
    nulls = int(None in counts and None not in hierarchy.values)
    return [*(len(hierarchy.distinct_labels(level)) + nulls for level in range(hierarchy.height)), 1]


def _labelled(recipe: Any, column: Column, counts: Mapping[Any, int], data: Source) -> list[Mapping[Any, Any]]:
    """The label of each value on every level below the top, as a recipe makes them."""
    hierarchy = _built(recipe, column, counts, data)
    return [dict(zip(hierarchy.values, level, strict=True)) for level in hierarchy.levels[:-1]]


def _built(recipe: Any, column: Column, counts: Mapping[Any, int], data: Source) -> Hierarchy:
    spec = parse({"source": "x", "quasi_identifiers": {column.name: {"hierarchy": recipe}}})
    return hierarchy_source(spec.quasi_identifiers[column.name], column, spec, data.engine).build(list(counts))


def _csv(levels: Sequence[Mapping[Any, str]]) -> str:
    text = io.StringIO()
    rows = ([_cell(value), *(level[value] for level in levels), "*"] for value in levels[0])
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    return "" if value is None else as_text(value)


def _write(staging: Staging, path: Path, text: str, overwrite: bool, private: bool = False) -> None:
    with staging.file(path, overwrite, private) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise TargetError(f"the folder {folder} cannot be made: {error.strerror}; name another place") from None


def places_of(made: Suggestions, folder: Path) -> dict[str, Any]:
    """Source, database and target as a spec in a folder has them; what is in memory has no name there."""
    if made.source == IN_MEMORY:
        return {}
    if made.database is not None:
        database = made.database
        where = {} if has_password(database) else {"database": _from(folder, database)}
        return {"source": made.source, **where, "target": {"table": f"{made.source}_anon"}}
    source = Path(made.source)
    several = not os.path.isfile(source)
    written_as = ".parquet" if kind_of_file(source.name) == "Excel" else source.suffix
    name = "release.parquet" if several else f"{source.stem}_anon{written_as}"
    place = os.path.abspath(source) if several else _from(folder, made.source)
    return {"source": place, **made.reading, "target": {"file": name}}


def _from(folder: Path, path: str) -> str:
    """A path as a file in the folder names it."""
    if names_a_server(path) or path == ":memory:" or "://" in path:
        return path
    try:
        return Path(os.path.relpath(os.path.abspath(path), folder)).as_posix()
    except ValueError:  # on another drive
        return os.path.abspath(path)


def has_password(database: str) -> bool:
    """Whether the address of a database holds a password, which no spec does."""
    return bool(re.search(r"password\s*=|://[^/@\s]*:[^/@\s]*@", database))
