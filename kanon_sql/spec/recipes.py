"""The recipes of hierarchies: a file, a table, groups by hand, or a rule that builds one from the values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    Tag,
    WithJsonSchema,
    model_serializer,
)

from kanon_sql.generalization.given import hierarchy_from, is_hierarchy_like
from kanon_sql.generalization.values import as_text
from kanon_sql.own import is_reference
from kanon_sql.spec.keys import spec_key
from kanon_sql.spec.types import LocalPath, Model, Number, Text

_SEPARATOR = partial(
    spec_key, "The separator of the fields. By default detected from the first line.", takes="a text such as ',' or ';'"
)
_HEADER = partial(spec_key, "The first line names the columns.", False)
Known: TypeAlias = Literal["countries", "icd10"]


class FileRecipe(Model):
    """A hierarchy read from a file of `value;level1;…;*`."""

    file: LocalPath = spec_key(
        "A hierarchy file: a line per value, with the value and then its levels.",
        ...,
        takes="the path of a hierarchy file",
    )
    separator: Text | None = _SEPARATOR()
    header: StrictBool = _HEADER()


class TableRecipe(Model):
    """A hierarchy in a table or view of the database: the value, then its levels."""

    table: Text = spec_key(
        "A table or view of the database: the value, then its levels.", ..., takes="the name of a table or view"
    )


class RangesRecipe(Model):
    """A hierarchy of number ranges, one width per level, counted from `origin`."""

    ranges: tuple[Annotated[Number, Field(gt=0)], ...] = spec_key(
        "The widths of number ranges, one per level, the finest first.",
        ...,
        takes="a list of range widths above 0",
        min_length=1,
    )
    top: Number | None = spec_key("Numbers from this one upwards share one label.")
    bottom: Number | None = spec_key("Numbers below this one share one label.")
    origin: Number = spec_key("The number at which a range starts.", Decimal(0))


class RedactRecipe(Model):
    """A hierarchy that hides `step` more characters per level, from the right or the left."""

    redact: Literal["right", "left"] = spec_key("From which end characters are hidden.", ...)
    step: StrictInt = spec_key("How many more characters are hidden per level.", 1, ge=1)


class DatesRecipe(Model):
    """A hierarchy of date parts, one per level, the finest first."""

    dates: tuple[Text, ...] = spec_key(
        "Parts of dates, one per level, the finest first.",
        ...,
        takes="a list of date parts such as [month, year, 5 years]",
        min_length=1,
    )


class AgeRecipe(Model):
    """A hierarchy of ages at a date, in bands of years, from dates of birth."""

    age: date = spec_key(
        "The date at which ages are computed.",
        ...,
        takes="the date at which the age is counted, such as 2026-01-01",
    )
    bands: tuple[Annotated[StrictInt, Field(ge=1)], ...] = spec_key(
        "The widths of age bands in years, one per level.",
        (1, 5, 10, 20),
        takes="a list of whole numbers of years such as [1, 5, 10]",
        min_length=1,
    )
    top: StrictInt | None = spec_key("Ages from this one upwards share one label.", ge=1)


class EdgesRecipe(Model):
    """A hierarchy of number ranges between custom edges, a list per level, the finest first."""

    edges: tuple[Annotated[tuple[Number, ...], Field(min_length=1)], ...] = spec_key(
        "The edges of number ranges, a list per level, the finest first.",
        ...,
        takes="a list of edges per level such as [[1, 10, 100], [10]]",
        min_length=1,
    )


class PrefixRecipe(Model):
    """A hierarchy of the first characters of a code, with a length per level."""

    prefix: tuple[Annotated[StrictInt, Field(ge=1)], ...] = spec_key(
        "How many leading characters of a code are shown, one number per level.",
        ...,
        takes="a list of lengths such as [4, 3, 2]",
        min_length=1,
    )
    pad: StrictInt | None = spec_key("The length to which codes are padded with their lost leading zeros.", ge=1)


class NetworksRecipe(Model):
    """A hierarchy of the networks of IP addresses, with a number of bits per level."""

    networks: tuple[Annotated[StrictInt, Field(ge=1, le=32)], ...] = spec_key(
        "How many bits of an IP address are shown, one number per level; twice as many for IPv6.",
        ...,
        takes="a list of bits such as [24, 16, 8]",
        min_length=1,
    )


class KnownRecipe(Model):
    """A built-in hierarchy: countries by UN region, diagnoses by ICD-10."""

    known: Known = spec_key("A built-in taxonomy: countries by UN region, or diagnoses by ICD-10.", ...)


class TaxonomyRecipe(Model):
    """A hierarchy read from a file of child and parent."""

    taxonomy: LocalPath = spec_key(
        "A file with a child and its parent on each line.", ..., takes="the path of a file of child and parent"
    )
    separator: Text | None = _SEPARATOR()
    header: StrictBool = _HEADER()


def _levels(value: object) -> object:
    """Take a single mapping for one level, and labels as text."""
    levels = [value] if isinstance(value, Mapping) else value
    if not isinstance(levels, list | tuple):
        return levels
    return [
        {_member(label): members for label, members in level.items()} if isinstance(level, Mapping) else level
        for level in levels
    ]


def _member(value: object) -> object:
    """Take a value as a hierarchy file writes it: its text, and the empty text for NULL."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return ""
    return as_text(value) if isinstance(value, int | float | Decimal | date | time) else value


def _labelled(levels: tuple[dict[str, tuple[str, ...]], ...]) -> tuple[dict[str, tuple[str, ...]], ...]:
    """Raise ValueError for no level at all or an empty label; other errors depend on the levels below."""
    if not levels:
        raise ValueError(f"there are none; give {_GROUPS}")
    if any("" in level for level in levels):
        raise ValueError("a group has the empty text as its label; choose another")
    return levels


_GROUPS = "lists of values by their label such as {Higher: [Bachelors, Masters]}, or a list of such levels"
Member: TypeAlias = Annotated[str, BeforeValidator(_member)]


class GroupsRecipe(Model):
    """A hierarchy of groups by hand: the members of each label, per level; of the first values, then labels below."""

    groups: Annotated[
        tuple[dict[str, tuple[Member, ...]], ...], BeforeValidator(_levels), AfterValidator(_labelled)
    ] = spec_key(
        "Custom groups: the members of every label, level by level. On the first level, the members are values.",
        ...,
        takes=_GROUPS,
    )


class SuppressRecipe(Model):
    """A hierarchy of one step, from the value to `*`; written as the word `suppress`."""

    @model_serializer
    def _word(self) -> str:
        return "suppress"


def _function(value: object) -> object:
    if not (is_reference(value) or is_hierarchy_like(value) or _labels_by_value(value)):
        raise ValueError("give module:name, or in Python a function, a mapping or a DataFrame")
    return value if isinstance(value, str) else hierarchy_from(value)


class FunctionRecipe(Model):
    """A hierarchy of the user's own: a function of a value, or in Python the hierarchy itself."""

    function: Annotated[
        Any, BeforeValidator(_function), WithJsonSchema({"type": "string", "pattern": r"^[\w.]+:\w+$"})
    ] = spec_key(
        "A custom function that returns the labels of a value, in a module that KANON_MODULES allows.",
        ...,
        takes="module:name, such as my_rules:bands",
    )


RECIPES: dict[str, type[Model]] = {
    "file": FileRecipe,
    "table": TableRecipe,
    "ranges": RangesRecipe,
    "redact": RedactRecipe,
    "dates": DatesRecipe,
    "taxonomy": TaxonomyRecipe,
    "age": AgeRecipe,
    "edges": EdgesRecipe,
    "prefix": PrefixRecipe,
    "networks": NetworksRecipe,
    "known": KnownRecipe,
    "groups": GroupsRecipe,
    "function": FunctionRecipe,
}


def spelled_out(value: object) -> object:
    """Turn a bare string into its recipe: the word `suppress`, otherwise a file."""
    if isinstance(value, str) and value == "suppress":
        return SuppressRecipe()
    if is_hierarchy_like(value) or _labels_by_value(value):
        return FunctionRecipe(function=value)
    return {"file": value} if isinstance(value, str | os.PathLike) else value


def _labels_by_value(value: object) -> bool:
    """Whether a mapping is a hierarchy of values to labels, and not a recipe."""
    if not isinstance(value, Mapping) or len(value) < 2 or value.keys() & RECIPES.keys():
        return False
    return all(isinstance(label, str) for labels in value.values() for label in _listed(labels))


def _listed(labels: object) -> list[object] | tuple[object, ...]:
    return labels if isinstance(labels, list | tuple) and labels else [labels]


def _kind(value: object) -> str | None:
    """Recognize a recipe by its own key, or by a misspelling of it."""
    if isinstance(value, SuppressRecipe):
        return "suppress"
    if not isinstance(value, Mapping):
        return next((kind for kind, model in RECIPES.items() if isinstance(value, model)), None)
    named = [kind for kind in RECIPES if kind in value]
    near = [kind for key in value for kind in get_close_matches(str(key), RECIPES, n=1)]
    return next(iter(named or near), None) if len(named) < 2 else None


Recipe: TypeAlias = Annotated[
    Annotated[FileRecipe, Tag("file")]
    | Annotated[TableRecipe, Tag("table")]
    | Annotated[RangesRecipe, Tag("ranges")]
    | Annotated[RedactRecipe, Tag("redact")]
    | Annotated[DatesRecipe, Tag("dates")]
    | Annotated[TaxonomyRecipe, Tag("taxonomy")]
    | Annotated[AgeRecipe, Tag("age")]
    | Annotated[EdgesRecipe, Tag("edges")]
    | Annotated[PrefixRecipe, Tag("prefix")]
    | Annotated[NetworksRecipe, Tag("networks")]
    | Annotated[KnownRecipe, Tag("known")]
    | Annotated[GroupsRecipe, Tag("groups")]
    | Annotated[FunctionRecipe, Tag("function")]
    | Annotated[SuppressRecipe, Tag("suppress")],
    Discriminator(_kind),
]
