"""Conditions on a spec that `checks` reports: True or False, or the words for the placeholders of its message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, get_args

from kanon_sql.own import Own
from kanon_sql.spec.choices import SearchStrategy
from kanon_sql.spec.cloaking import CloakSpec
from kanon_sql.spec.fields import BUDGETS, ReleaseSpec, Spec
from kanon_sql.spec.file_options import kind_of_file, takes
from kanon_sql.spec.privacy import AlphaK

Words: TypeAlias = Mapping[str, object]

# All other strategies are local recodings, which a program can also register at run time.
_NO_RECODINGS: tuple[str, ...] = get_args(SearchStrategy)


def _first(options: Iterator[Words]) -> Words | None:
    return next(options, None)


def recodes(spec: Spec) -> bool:
    """Whether a local recoding builds the classes."""
    return spec.strategy not in _NO_RECODINGS and not isinstance(spec.strategy, Own)


def with_population(spec: Spec) -> bool:
    """Whether a model compares classes with a population."""
    models = (*spec.models, *spec.privacy.of_release)
    return bool(spec.privacy.populated) or any(model.population is not None for model in models)


def stays_a_query(spec: Spec) -> bool:
    return spec.target is not None and spec.target.stays_a_query


def has_form(spec: ReleaseSpec, form: str) -> bool:
    return spec.target is not None and spec.target.form == form


def without_target(spec: ReleaseSpec) -> bool:
    target = spec.target
    return target is not None and not target.stays_a_query and target.file is None and target.table is None


def counted_in_another_role(spec: Spec) -> Words | None:
    """A model of a column that is not released unchanged, so that the release could not be verified."""
    roles = {
        "generalized as a quasi-identifier": spec.quasi_identifiers,
        "dropped as an identifier": spec.identifiers,
        "dropped as the unit": (spec.unit,) if spec.unit else (),
        "perturbed": spec.perturb,
    }
    role_of = {column.lower(): role for role, columns in roles.items() for column in columns}
    for model, column, _ in spec.privacy.requirements:
        if column.lower() in role_of:
            return {"model": model, "column": column, "role": role_of[column.lower()]}
    return None


def not_hidden(spec: Spec) -> Words | None:
    """A model about more values of a column than the one that redrawing hides."""
    for model, column, settings in spec.privacy.requirements if spec.privacy.minimality else ():
        if not isinstance(settings, AlphaK) or settings.value is None:
            return {"model": model, "column": column}
    return None


def _pairs_of_a_name(spec: ReleaseSpec) -> Iterator[Words]:
    """Columns that are named twice, ignoring case, with their two roles."""
    seen: dict[str, tuple[str, str]] = {}
    for role, columns in spec.roles.items():
        for column in columns:
            other, there = seen.setdefault(column.lower(), (column, role))
            if (other, there) != (column, role):
                yield {"column": column, "other": other, "role": role, "there": there}


def two_roles(spec: ReleaseSpec) -> Words | None:
    return _first(words for words in _pairs_of_a_name(spec) if words["column"] == words["other"])


def two_spellings(spec: ReleaseSpec) -> Words | None:
    return _first(words for words in _pairs_of_a_name(spec) if words["column"] != words["other"])


def perturbed_role(spec: Spec) -> Words | None:
    roles = {
        "an identifier, which is dropped": spec.identifiers,
        "a quasi-identifier": tuple(spec.quasi_identifiers),
        "kept unchanged by `keep`": spec.kept_by_name,
    }
    role_of = {column.lower(): role for role, columns in roles.items() for column in columns}
    return _first({"column": c, "role": role_of[c.lower()]} for c in spec.perturb if c.lower() in role_of)


def two_evaluations(spec: Spec) -> Words | None:
    limited = (name for name in BUDGETS if getattr(spec, name).evaluations is not None)
    return _first({"strategy": name} for name in limited if spec.evaluations is not None)


def evaluations_of_another_strategy(spec: Spec) -> Words | None:
    others = (name for name in BUDGETS if name != spec.strategy and getattr(spec, name).evaluations is not None)
    return _first({"other": name} for name in others)


def option_of_prioprivacy(spec: Spec) -> Words | None:
    options = spec.prioprivacy
    fields = type(spec.prioprivacy).model_fields
    changed = (name for name in fields if getattr(options, name) != fields[name].default)
    return _first({"option": name} for name in changed if spec.strategy != "prioprivacy")


def domain(spec: Spec) -> Words | None:
    sized = (name for name, attribute in spec.quasi_identifiers.items() if attribute.domain is not None)
    return _first({"column": name} for name in sized if spec.strategy != "prioprivacy")


def levels(spec: Spec) -> Words | None:
    limited = (name for name, a in spec.quasi_identifiers.items() if a.min_level or a.max_level is not None)
    return _first({"column": name} for name in limited if recodes(spec))


def masked_classes(spec: Spec) -> Words | None:
    if not spec.mask:
        return None
    if recodes(spec):
        return {"maker": spec.strategy}
    return {"maker": "a release that `show` changes"} if spec.sets_show else None


def form_of_wildcards(spec: Spec) -> Words | None:
    forms = {"view": "a view", "materialized": "a materialized view", "anatomy": "an anatomy"}
    target = spec.target
    return {"form": forms[target.form]} if spec.wildcard_suppression and target and target.form in forms else None


def other_than_local(spec: Spec) -> Words | None:
    """A file of regions to read or write, with a search of the lattice."""
    files = {"regions": spec.regions, "write_regions": spec.write_regions}
    return None if recodes(spec) else _first({"option": name} for name, path in files.items() if path)


def no_regions(spec: Spec) -> Words | None:
    """An option whose classes are not regions of values, where regions are read or written."""
    if not recodes(spec) or not (spec.regions or spec.write_regions):
        return None
    shown = {spec.show, *(attribute.show for attribute in spec.quasi_identifiers.values())}
    options = {"rules": bool(spec.rules), "wildcard_suppression": spec.wildcard_suppression}
    options |= {f'show="{statistic}"': statistic in shown for statistic in ("mean", "median", "mode")}
    return _first({"option": name} for name, is_set in options.items() if is_set)


def two_nodes(spec: Spec) -> Words | None:
    return _first({"other": name} for name in ("node_from", "regions") if spec.node and getattr(spec, name))


def option_without_waiting(spec: Spec) -> Words | None:
    """An option that does not allow rows to wait."""
    options = {"mask": spec.mask, "wildcard_suppression": spec.wildcard_suppression}
    options['form="view"'] = stays_a_query(spec)
    return _first({"option": name} for name, is_set in options.items() if is_set and spec.incremental)


def option_of_another_file(spec: ReleaseSpec) -> Words | None:
    """A reading option that does not apply to this kind of file."""
    kind = kind_of_file(spec.source)
    if spec.session.has_tables or kind is None:
        return None
    kind_of = {"encoding": ("CSV",), "delimiter": ("CSV",), "sheet": ("Excel",), "skip_lines": ("CSV", "Excel")}
    options = (name for name in kind_of if name in spec.reading.options)
    return _first({"option": name, "kind": kind} for name in options if kind not in kind_of[name])


def read_in_two_ways(spec: ReleaseSpec) -> Words | None:
    """A column with a decimal mark or date format that does not fit its type, or with both of these."""
    for name, form in spec.columns.items():
        for option in ("decimal", "date_format"):
            if getattr(form, option) and not takes(form.type, option):
                return {"column": name, "option": option, "reason": f"its type is {form.type}"}
        if form.decimal and form.date_format:
            return {"column": name, "option": "decimal", "reason": "it has a date_format"}
    return None


def too_few_values(spec: Spec) -> Words | None:
    """A column of which more values must remain possible than every class has."""
    diverse = {column: model.l for column, model in spec.privacy.l_diversity.items()}
    pairs = spec.differencing_values.items()
    return _first({"column": column, "least": least} for column, least in pairs if diverse.get(column, 1) < least)


def not_compared(spec: ReleaseSpec) -> Words | None:
    """A release that cannot be compared with the one that it replaces, although the spec requires it."""
    if spec.differencing_limit in (None, "unlimited"):
        return None
    forms = {"a live view": has_form(spec, "view"), "an anatomy": has_form(spec, "anatomy")}
    forms["places"] = isinstance(spec, CloakSpec)
    return _first({"release": name} for name, is_form in forms.items() if is_form)
