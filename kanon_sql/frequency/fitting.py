"""From recipes to hierarchies: files and tables are read and checked before any long query."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.errors import HierarchyError, SpecError
from kanon_sql.frequency.frequency_set import Build
from kanon_sql.frequency.ruled import Ruled
from kanon_sql.generalization import codes, recipes
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization.given import by_function, digest
from kanon_sql.generalization.label_rules import (
    Calendar,
    Itself,
    Prefix,
    Redaction,
    Rule,
    age_rule,
    edges_rule,
    range_rule,
)
from kanon_sql.spec import (
    AgeRecipe,
    AttributeSpec,
    DatesRecipe,
    EdgesRecipe,
    FileRecipe,
    FunctionRecipe,
    GroupsRecipe,
    KnownRecipe,
    NetworksRecipe,
    PrefixRecipe,
    RangesRecipe,
    RedactRecipe,
    Spec,
    SuppressRecipe,
    TableRecipe,
    TaxonomyRecipe,
)

Rules = Callable[[int], Rule | None]
_NESTED = re.compile(r"\]$|^(STRUCT|MAP|UNION)\b")


def _no_rule(level: int) -> None:
    """The rule of a hierarchy that lists its values."""


@dataclass(frozen=True)
class HierarchySource:
    """A quasi-identifier's hierarchy, waiting for the values that occur.

    `build` creates it from the column's distinct values. `sha256` is a digest of its origin: the content of the file or
    table, or the recipe; never the data, whose distinct values could be guessed from a digest. `fixed`: the hierarchy
    itself, if it does not depend on the values. `rule`: the rule that labels any value on a level, if any
    without a list of values; `ruled`: the number of levels below a top of `*` that can have rules. `rows`: those
    of the file or table; None for a recipe. `first`: the digest of the first rows.
    """

    build: Build
    sha256: str
    fixed: h.Hierarchy | None = None
    rule: Rules = field(default=_no_rule)
    ruled: int | None = None
    rows: int | None = None
    first: Callable[[int], str] | None = None

    @property
    def builder(self) -> Build:
        """The builder, with the rules for SQL if all levels have one."""
        rules = [self.rule(level) for level in range(1, (self.ruled or 0) + 1)]
        every = tuple(rule for rule in rules if rule is not None)
        return self.build if self.ruled is None or len(every) < len(rules) else Ruled(self.build, every)

    def grew_from(self, sha256: str, rows: int | None) -> bool:
        """Whether rows were only appended since the file or table had this digest and number of rows."""
        if rows is None or self.rows is None or self.first is None or rows > self.rows:
            return False
        return self.first(rows) == sha256


def hierarchy_sources(
    spec: Spec, table: Table, engine: Engine, allow_ordered: bool = False
) -> dict[str, HierarchySource]:
    """Read and check the hierarchies of a spec as far as possible without looking at the data.

    `allow_ordered`: a column whose values have an order needs no hierarchy; its only level is then `*`.
    """
    hierarchies = {}
    for name, attribute in spec.quasi_identifiers.items():
        column = _column(table, name)
        ordered = allow_ordered and _needs_order(spec, column)
        hierarchies[name] = _by_order(column) if ordered else hierarchy_source(attribute, column, spec, engine)
    return hierarchies


def hierarchy_source(attribute: AttributeSpec, column: Column, spec: Spec, engine: Engine) -> HierarchySource:
    """Read and check the hierarchy of one column, from its recipe or the spec's folder."""
    name = column.name
    match attribute.hierarchy:
        case None:
            return _fixed(_from_folder(spec, column))
        case FileRecipe(file=file, separator=separator, header=header):
            return _fixed(_from_file(Path(file), column, separator, header))
        case TableRecipe(table=source):
            return _fixed(_from_table(engine, source, column))
        case TaxonomyRecipe() as taxonomy:
            pairs = _pairs(taxonomy, name)
            build = partial(_taxonomy, pairs, column, taxonomy.taxonomy)
            return HierarchySource(build, digest_of(pairs), rows=len(pairs), first=lambda n: digest_of(pairs[:n]))
        case RangesRecipe() as ranges:
            return _built(
                ranges, partial(_ranges, ranges, name), lambda level: _range_rule(ranges, level), len(ranges.ranges)
            )
        case RedactRecipe(redact=side, step=step) as redact:
            hides = lambda level: Redaction(level * step, side)  # noqa: E731
            return _built(redact, lambda values: recipes.redact(values, side, name, step), hides)
        case DatesRecipe(dates=units) as dates:
            part = lambda level: None if units[level - 1] == "week" else Calendar(units[level - 1])  # noqa: E731
            return _built(dates, lambda values: recipes.dates(values, units, name), part, len(units))
        case AgeRecipe(age=as_of, bands=bands, top=top) as age:
            band = lambda level: age_rule(as_of, bands[level - 1], top)  # noqa: E731
            return _built(age, lambda values: recipes.ages(values, as_of, bands, name, top), band, len(bands))
        case EdgesRecipe(edges=levels) as edges:
            cut = lambda level: edges_rule(levels[level - 1])  # noqa: E731
            return _built(edges, lambda values: recipes.edges(values, levels, name), cut, len(levels))
        case PrefixRecipe(prefix=lengths, pad=pad) as prefix:
            cut_off = lambda level: Prefix(lengths[level - 1], pad)  # noqa: E731
            return _built(prefix, lambda values: codes.prefix(values, lengths, name, pad), cut_off, len(lengths))
        case NetworksRecipe(networks=bits) as networks:
            return _built(networks, lambda values: codes.networks(values, bits, name))
        case KnownRecipe(known=taxonomy_name) as recipe:
            return _built(recipe, lambda values: codes.built_in(values, taxonomy_name, name))
        case GroupsRecipe(groups=by_hand):
            grouped = recipes.groups(by_hand, name, spec.unmapped)
            return _fixed(h.convert(grouped, column.kind, f"the groups of {name!r}"))
        case FunctionRecipe(function=h.Hierarchy() as finished):
            return _fixed(h.convert(finished, column.kind, f"the hierarchy of {name!r}"))
        case FunctionRecipe(function=function):
            if isinstance(function, str):
                raise SpecError(f"the hierarchy of {name!r} is code, {function}, which is not run here; name a recipe")
            return HierarchySource(lambda values: by_function(values, function, name), digest(function))
        case SuppressRecipe() as suppress:
            return _built(suppress, lambda values: recipes.suppress(values, name), ruled=0)


def _needs_order(spec: Spec, column: Column) -> bool:
    """Whether a column has no hierarchy, so that only the order of its values can be used."""
    if has_hierarchy(spec, column.name):
        return False
    if not column.ordered:
        raise SpecError(
            f"column {column.name!r} has no hierarchy, and {column.type} has no order to cut by; use `hierarchies`, a "
            f"folder with {column.name}.csv, or a recipe in the spec (redact, taxonomy, groups, suppress)"
        )
    return True


def _by_order(column: Column) -> HierarchySource:
    return _built(SuppressRecipe(), lambda values: recipes.suppress(values, column.name))


def has_hierarchy(spec: Spec, name: str) -> bool:
    """Whether a column has a hierarchy: a recipe in the spec, or a file in the folder."""
    if spec.quasi_identifiers[name].hierarchy is not None:
        return True
    return spec.hierarchies is not None and os.path.exists(f"{spec.hierarchies}/{name}.csv")


def file_in_folder(folder: Path, column: str) -> Path | None:
    """The hierarchy file of a column in a folder; None if its name would lead outside the folder.

    >>> file_in_folder(Path("h"), "age"), file_in_folder(Path("h"), "../age")
    (PosixPath('h/age.csv'), None)
    """
    path = folder / f"{column}.csv"
    is_plain = not {"/", os.sep, os.altsep, "\0"} & set(column)
    return path if is_plain and path.resolve().is_relative_to(folder.resolve()) else None


def _ranges(recipe: RangesRecipe, column: str, values: Sequence[Any]) -> h.Hierarchy:
    return recipes.ranges(values, recipe.ranges, column, recipe.bottom, recipe.top, recipe.origin)


def _fixed(hierarchy: h.Hierarchy) -> HierarchySource:
    first = lambda n: hierarchy.first(n).sha256()  # noqa: E731
    return HierarchySource(lambda _: hierarchy, hierarchy.sha256(), hierarchy, rows=hierarchy.leaf_count, first=first)


def _range_rule(recipe: RangesRecipe, level: int) -> Rule | None:
    bottom, top = (None if bound is None else Decimal(str(bound)) for bound in (recipe.bottom, recipe.top))
    return range_rule(Decimal(str(recipe.ranges[level - 1])), Decimal(str(recipe.origin)), bottom, top)


def _built(recipe: BaseModel, build: Build, rule: Rules = _no_rule, ruled: int | None = None) -> HierarchySource:
    of_level = lambda level: rule(level) if level else Itself()  # noqa: E731
    return HierarchySource(build, digest_of(recipe.model_dump(mode="json")), rule=of_level, ruled=ruled)


def digest_of(content: object) -> str:
    """The SHA-256 of a content that JSON can express."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _taxonomy(pairs: list[tuple[str, str]], column: Column, name: str, values: Sequence[Any]) -> h.Hierarchy:
    texts = [str(value) for value in values if value is not None]
    return h.convert(recipes.taxonomy(pairs, texts, column.name, name), column.kind, name)


def _column(table: Table, name: str) -> Column:
    column = table.column(name)
    if column is None:
        raise SpecError(f"there is no column {name!r} in {table.relation.name}")
    if _NESTED.search(column.type):
        raise SpecError(
            f"column {name!r} is a {column.type}, which has no hierarchy; select its parts in a view, or drop it"
        )
    return column


def _from_folder(spec: Spec, column: Column) -> h.Hierarchy:
    if spec.hierarchies is None:
        raise SpecError(
            f"column {column.name!r} has no hierarchy; use `hierarchies`, a folder with {column.name}.csv, "
            "or a recipe in the spec (redact, ranges, dates, taxonomy, groups, suppress)"
        )
    path = file_in_folder(Path(spec.hierarchies), column.name)
    if path is None:
        raise SpecError(
            f"the hierarchy of column {column.name!r} would be a file outside the folder {spec.hierarchies}; name the "
            "file in the spec, as in {hierarchy: FILE}"
        )
    return _from_file(path, column)


def _from_file(path: Path, column: Column, separator: str | None = None, header: bool = False) -> h.Hierarchy:
    return h.convert(read_hierarchy(path, separator, header, column.name), column.kind, str(path))


def read_hierarchy(
    path: Path, separator: str | None = None, header: bool = False, column: str | None = None
) -> h.Hierarchy:
    """Read a hierarchy file, its leaves as text."""
    return h.parse(_read(path, column or path.stem), str(path), separator, header)


def _from_table(engine: Engine, name: str, column: Column) -> h.Hierarchy:
    table = engine.find(name)
    if table is None:
        raise HierarchyError(f"the hierarchy of {column.name!r} names the table {name}, which does not exist")
    rows = engine.rows(queries.select_all(table.relation, engine.dialect))
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    return h.convert(h.from_rows(texts, name), column.kind, name)


def _pairs(recipe: TaxonomyRecipe, column: str) -> list[tuple[str, str]]:
    name = recipe.taxonomy
    rows = h.fields(_read(Path(name), column), name, recipe.separator, recipe.header)
    for line, row in rows:
        if len(row) != 2:
            raise HierarchyError(f"{name}, line {line}: {len(row)} fields; a taxonomy has two, child and parent")
    return [(row[0], row[1]) for _, row in rows]


def _read(path: Path, column: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise HierarchyError(
            f"there is no hierarchy file {path} for column {column!r}; create one with "
            "`kanon hierarchy build`, or name a recipe in the spec"
        ) from None
    except OSError as error:
        raise HierarchyError(f"the hierarchy file {path} cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise HierarchyError(f"the hierarchy file {path} is not UTF-8 text; save it as UTF-8") from error
