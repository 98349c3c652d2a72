"""Questions of a spec: does it ask for this, and with which words is that said.

The words fill what a sentence of `checks` leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, get_args

from kanon_sql.own import Own
from kanon_sql.spec.choices import SearchStrategy
from kanon_sql.spec.cloaking import CloakSpec
from kanon_sql.spec.fields import BUDGETS, ColumnForm, ReleaseSpec, Spec
from kanon_sql.spec.privacy import AlphaK
from kanon_sql.spec.reading import kind_of_file, takes

Words: TypeAlias = Mapping[str, object]

# Whatever else the registry of local recodings holds, also what was added to it while a program runs, is one.
_NO_RECODINGS: tuple[str, ...] = get_args(SearchStrategy)


def _first(options: Iterator[Words]) -> Words | None:
    return next(options, None)


def recodes(spec: Spec) -> bool:
    """Whether the classes of a release are made by a local recoding."""
    return spec.strategy not in _NO_RECODINGS and not isinstance(spec.strategy, Own)


def shows(spec: Spec) -> bool:
    """Whether it is said what classes are to show."""
    return spec.show is not None or any(attribute.show for attribute in spec.quasi_identifiers.values())


def beside_population(spec: Spec) -> bool:
    """Whether a model asks for a population that the source is a sample of."""
    given = any(model.population is not None for model in spec.models)
    return given or bool(spec.privacy.populated) or any(each.population is not None for each in spec.privacy.of_release)


def stays_a_query(spec: Spec) -> bool:
    return spec.target is not None and spec.target.stays_a_query


def becomes(spec: ReleaseSpec, form: str) -> bool:
    return spec.target is not None and spec.target.form == form


def nowhere(spec: ReleaseSpec) -> bool:
    target = spec.target
    return target is not None and not target.stays_a_query and target.file is None and target.table is None


def counted_otherwise(spec: Spec) -> Words | None:
    """A model on a column that is not released as it is, so that nobody could check the release."""
    roles = {
        "generalized as a quasi-identifier": spec.quasi_identifiers,
        "dropped as an identifier": spec.identifiers,
        "dropped as the unit": (spec.unit,) if spec.unit else (),
        "perturbed": spec.perturb,
    }
    said = {column.lower(): role for role, columns in roles.items() for column in columns}
    asked = ((key, column) for key, column, _ in spec.privacy.requirements if column.lower() in said)
    return _first({"model": key, "column": column, "role": said[column.lower()]} for key, column in asked)


def not_hidden(spec: Spec) -> Words | None:
    """A model about more values of a column than the one that redrawing hides."""
    others = (
        {"model": key, "column": column}
        for key, column, said in spec.privacy.requirements
        if not (isinstance(said, AlphaK) and said.value is not None)
    )
    return _first(others) if spec.privacy.minimality else None


def _pairs_of_a_name(spec: ReleaseSpec) -> Iterator[Words]:
    """Columns that are named again, in whatever capitals, with the roles that they have."""
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
        "kept as it is by `keep`": spec.kept_by_name,
    }
    said = {column.lower(): role for role, columns in roles.items() for column in columns}
    return _first({"column": c, "role": said[c.lower()]} for c in spec.perturb if c.lower() in said)


def two_budgets(spec: Spec) -> Words | None:
    given = (name for name in BUDGETS if getattr(spec, name).evaluations is not None)
    return _first({"strategy": name} for name in given if spec.evaluations is not None)


def another_budget(spec: Spec) -> Words | None:
    others = (name for name in BUDGETS if name != spec.strategy and getattr(spec, name).evaluations is not None)
    return _first({"other": name} for name in others)


def option_of_prioprivacy(spec: Spec) -> Words | None:
    options, fields = spec.prioprivacy, type(spec.prioprivacy).model_fields
    given = (name for name in fields if getattr(options, name) != fields[name].default)
    return _first({"option": n} for n in given if spec.strategy != "prioprivacy")


def domain(spec: Spec) -> Words | None:
    sized = (name for name, attribute in spec.quasi_identifiers.items() if attribute.domain is not None)
    return _first({"column": name} for name in sized if spec.strategy != "prioprivacy")


def levels(spec: Spec) -> Words | None:
    limited = (name for name, a in spec.quasi_identifiers.items() if a.min_level or a.max_level is not None)
    return _first({"column": name} for name in limited if recodes(spec))


def masked_classes(spec: Spec) -> Words | None:
    maker = spec.strategy if recodes(spec) else "a release that `show` changes" if shows(spec) else None
    return {"maker": maker} if spec.mask and maker else None


def wildcards_in_a(spec: Spec) -> Words | None:
    forms = {"view": "a view", "materialized": "a materialized view", "anatomy": "an anatomy"}
    target = spec.target
    return {"form": forms[target.form]} if spec.wildcard_suppression and target and target.form in forms else None


def other_than_local(spec: Spec) -> Words | None:
    """A file of regions, to be read or written, of a search of the lattice."""
    given = {"regions": spec.regions, "write_regions": spec.write_regions}
    return None if recodes(spec) else _first({"option": name} for name, path in given.items() if path)


def no_regions(spec: Spec) -> Words | None:
    """What classes show that is no region of values, where regions are to be read or written."""
    if not recodes(spec) or not (spec.regions or spec.write_regions):
        return None
    shown = {spec.show, *(each.show for each in spec.quasi_identifiers.values())}
    statistic = next((how for how in ("mean", "median", "mode") if how in shown), None)
    what = {"rules": spec.rules, "wildcard_suppression": spec.wildcard_suppression, f'show="{statistic}"': statistic}
    return _first({"option": name} for name, said in what.items() if said)


def two_nodes(spec: Spec) -> Words | None:
    return _first({"other": name} for name in ("node_from", "regions") if spec.node and getattr(spec, name))


def waits_in_a(spec: Spec) -> Words | None:
    """What rows that wait do not go with."""
    given = {"mask": spec.mask, "wildcard_suppression": spec.wildcard_suppression}
    given['form="view"'] = stays_a_query(spec)
    return _first({"option": name} for name, said in given.items() if said and spec.incremental)


def read_otherwise(spec: ReleaseSpec) -> Words | None:
    """How a file is to be read, of a kind that says so itself, or has no such thing."""
    kind = kind_of_file(spec.source)
    if spec.session.has_tables or kind is None:
        return None
    options = {"encoding": kind == "CSV", "sheet": kind == "Excel"}
    said = spec.reading.options
    return _first({"option": name, "kind": kind} for name, fits in options.items() if name in said and not fits)


def read_in_two_ways(spec: ReleaseSpec) -> Words | None:
    """A column whose values can have no decimal mark or format of dates, by its type; or is to have both."""
    said = ((name, each) for name, form in spec.columns.items() for each in _other_ways(form))
    return _first({"column": name, "option": option, "reason": reason} for name, (option, reason) in said)


def _other_ways(form: ColumnForm) -> Iterator[tuple[str, str]]:
    for option in ("decimal", "date_format"):
        if getattr(form, option) and not takes(form.type, option):
            yield option, f"its type is {form.type}"
    if form.decimal and form.date_format:
        yield "decimal", "it has a date_format"


def not_compared(spec: ReleaseSpec) -> Words | None:
    """A release that cannot be held against the one that it replaces, though that is asked for."""
    if spec.differencing_limit in (None, "unlimited"):
        return None
    forms = {"a live view": becomes(spec, "view"), "an anatomy": becomes(spec, "anatomy")}
    forms["places"] = isinstance(spec, CloakSpec)
    return _first({"release": name} for name, said in forms.items() if said)
