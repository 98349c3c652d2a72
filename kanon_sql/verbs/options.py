"""The options of the verbs, declared once for type checkers, `help()` and the check for misspelled names.

A verb takes them as `**options: Unpack[…]`; `spelled_out` adds them to its signature and its help text.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from functools import cache
from inspect import cleandoc
from os import PathLike
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar

from kanon_sql.errors import SpecError
from kanon_sql.loss import Metric as OwnMetric
from kanon_sql.spec import (
    CLOAKING,
    CLOAKS,
    KEYWORDS,
    ChangedHierarchies,
    ChangedTypes,
    CloakMethod,
    Form,
    Formulas,
    LocalStrategy,
    Metric,
    Minimality,
    NewColumns,
    NodeElse,
    NormName,
    PrivacyModelOptions,
    Recipient,
    SearchStrategy,
    Sensitivity,
    Show,
    SuppressionOrder,
    Unmapped,
    keys,
)

Place: TypeAlias = str | PathLike[str]
Columns: TypeAlias = Sequence[str]
_OTHER = "Other"
_Verb = TypeVar("_Verb", bound=Callable[..., Any])
_OR_MODELS = " Or a list of privacy models such as [k_anonymity(5)], which can replace k."


class PlaceOptions(TypedDict, total=False):
    """Where the tables are, how the source's files are read, and limits of memory and threads."""

    encoding: str | None
    decimal: Literal[",", "."] | None
    date_format: str | None
    null: str | Columns | None
    sheet: str | None
    skip_lines: int | None
    delimiter: str | None
    columns: Mapping[str, Any] | None

    database: Place | None
    attach: Mapping[str, Place] | None
    memory_limit: str | None
    threads: int | None
    temp_directory: Place | None
    time_zone: str | None


class RoleOptions(PlaceOptions, total=False):
    """Where the data are, and the roles of their columns."""

    quasi_identifiers: Columns | Mapping[str, Any] | None
    identifiers: Columns | None
    sensitive: Columns | None
    keep: Columns | Literal["*"] | None


class PrivacyOptions(PrivacyModelOptions, total=False):
    """The privacy models that every class must meet."""

    k: int | None


class CostOptions(TypedDict, total=False):
    """How values can be generalized, and how the loss is measured."""

    hierarchies: Place | Mapping[str, Any] | None
    unmapped: Unmapped | None
    suppression_limit: float | str | None
    metric: Metric | OwnMetric | None
    beta: float | None
    priorities: Mapping[str, int] | None


class ModelOptions(PrivacyOptions, CostOptions, total=False):
    """How values can be generalized, the privacy models, and how the loss is measured."""


class BudgetOptions(TypedDict, total=False):
    """Limits and parameters of searches."""

    time_limit: float | None
    patience: float | None
    evaluations: int | None
    kgen: Mapping[str, Any] | None
    memetic: Mapping[str, Any] | None
    local_search: Mapping[str, Any] | None
    random: Mapping[str, Any] | None
    seed: int | None


class SearchOptions(RoleOptions, ModelOptions, BudgetOptions, total=False):
    """The options of a search of the lattice."""

    strategy: SearchStrategy | LocalStrategy | Callable[..., Any] | None


class CompareOptions(RoleOptions, PrivacyModelOptions, CostOptions, BudgetOptions, total=False):
    """The options of a comparison of searches and local recodings."""

    k: int | Sequence[int] | None
    show: Show | None


class RecodingOptions(SearchOptions, total=False):
    """The options of a search or a local recoding."""

    show: Show | None
    rules: Place | None
    suppression_order: SuppressionOrder | None
    wildcard_suppression: bool | None
    prioprivacy: Mapping[str, Any] | None


class KeepingOptions(TypedDict, total=False):
    """Which recoding of an earlier release is kept, and what to do if that is impossible."""

    node: Mapping[str, int] | None
    node_from: Place | Mapping[str, Any] | None
    node_else: NodeElse | None
    regions: Place | None
    new_columns: NewColumns | None
    changed_types: ChangedTypes | None
    changed_hierarchies: ChangedHierarchies | None


class TargetOptions(TypedDict, total=False):
    """Where a release is written."""

    output: Place | None
    into: str | None
    overwrite: bool | None
    formulas: Formulas | None
    replace_foreign_table: str | None


class DecisionOptions(TypedDict, total=False):
    """Who receives a release, and why; this does not change the release."""

    recipient: Recipient | None
    purpose: str | None
    retention: str | None
    review_date: str | date | None
    norms: Sequence[NormName] | None
    sensitivity: Sensitivity | None
    accepted_risk: float | None
    reasons: Mapping[str, str] | None
    reason_k: str | None


class AnonymizeOptions(RecodingOptions, KeepingOptions, TargetOptions, DecisionOptions, total=False):
    """All options of a release."""

    mask: bool | None
    shuffle: bool | None
    minimality: Minimality | None
    perturb: Mapping[str, Any] | None
    secret: Place | None
    write_regions: Place | None
    incremental: bool | None
    waiting: str | None
    form: Form | None
    target: Mapping[str, Any] | None
    differencing_limit: int | Literal["unlimited"] | None
    differencing: Literal["defer", "refuse"] | None
    differencing_values: Mapping[str, int] | None
    deferral_limit: float | None
    deferral_days: int | None


class PlacesOptions(PlaceOptions, total=False):
    """Which columns are places and times, and which identifies people or devices."""

    location: Columns | None
    time: str | None
    unit: str | None


class CloakOptions(PlacesOptions, TargetOptions, DecisionOptions, total=False):
    """All options of a release of cloaked places."""

    cloak: CloakMethod | Mapping[str, Any] | None
    identifiers: Columns | None
    sensitive: Columns | None
    keep: Columns | Literal["*"] | None
    k: int | None
    privacy: Mapping[str, Any] | None
    suppression_limit: float | str | None
    shuffle: bool | None
    seed: int | None
    target: Mapping[str, Any] | None


class AnatomizeOptions(RoleOptions, TargetOptions, DecisionOptions, total=False):
    """All options of an anatomy of exact rows."""

    secret: Place | None
    target: Mapping[str, Any] | None


class VerifyOptions(PlaceOptions, PrivacyOptions, total=False):
    """The options of a check of a table or file."""

    quasi_identifiers: Columns | Mapping[str, Any] | None
    hierarchies: Place | Mapping[str, Any] | None


class AttackOptions(PlaceOptions, total=False):
    """The options of attacks on a release."""

    quasi_identifiers: Columns | Mapping[str, Any] | None
    sensitive: Columns | None
    location: Columns | None
    time: str | None
    hierarchies: Place | Mapping[str, Any] | None
    unit: str | None
    k: int | None
    seed: int | None


class RiskOptions(PlaceOptions, PrivacyOptions, total=False):
    """The options of risk measures."""

    quasi_identifiers: Columns | Mapping[str, Any] | None
    sensitive: Columns | None
    hierarchies: Place | Mapping[str, Any] | None
    recipient: Recipient | None
    norms: Sequence[NormName] | None
    sensitivity: Sensitivity | None
    accepted_risk: float | None


class UtilityOptions(PlaceOptions, total=False):
    """The options of utility measures."""

    quasi_identifiers: Columns | Mapping[str, Any] | None
    sensitive: Columns | None
    hierarchies: Place | Mapping[str, Any] | None
    seed: int | None


def spelled_out(options: type) -> Callable[[_Verb], _Verb]:
    """Let `help()` and a notebook's completion list every option of a verb, with its meaning."""

    def decorate(verb: _Verb) -> _Verb:
        signature = inspect.signature(verb)
        parameters = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        for name, annotation in _declared(options).items():
            text = getattr(annotation, "__forward_arg__", annotation)
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=text))
        verb.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        if verb.__doc__:  # not with -OO
            heading = "Options, which override the spec."
            verb.__doc__ = f"{cleandoc(verb.__doc__)}\n\n{heading}\n\n{_listed(options)}\n"
        return verb

    return decorate


def taken(options: type, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of a verb; SpecError if the verb has no option of that name."""
    declared = _declared(options)
    for name in arguments:
        if name in CLOAKING and name not in declared:
            raise SpecError(CLOAKS.format(option=name))
        if name not in declared:
            near = get_close_matches(name, declared, n=1)
            way_out = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(declared)}"
            raise SpecError(f"there is no option {name!r}; {way_out}")
    return dict(arguments)


def _declared(options: type) -> dict[str, Any]:
    declared: dict[str, Any] = options.__annotations__
    return declared


def described(options: type) -> dict[str, tuple[str, str]]:
    """The type and the description of every option."""
    return {
        name: (getattr(annotation, "__forward_arg__", str(annotation)), _description(name))
        for name, annotation in _declared(options).items()
    }


def _listed(options: type) -> str:
    """The options with their meanings, under the headings of the command line's help."""
    by_group: dict[str, list[str]] = {group: [] for group in (*keys.GROUPS, _OTHER)}
    for name, (_, description) in described(options).items():
        by_group[KEYWORDS[name].group or _OTHER].append(f"    {name}: {description}")
    return "\n\n".join("\n".join([f"{group}:", "", *lines]) for group, lines in by_group.items() if lines)


@cache
def _description(name: str) -> str:
    return keys.described(KEYWORDS[name].field) + (_OR_MODELS if name == "privacy" else "")
