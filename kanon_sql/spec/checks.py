"""Conflicts between the options of a spec, in one table that is checked before anything is opened.

The texts name options as Python spells them, in backticks (`overwrite=True`); the command line turns them into flags.
Conflicts with the columns of a table or with an engine are reported where these are available.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeAlias, get_args

from kanon_sql.errors import SpecError
from kanon_sql.spec import conditions
from kanon_sql.spec.conditions import Words
from kanon_sql.spec.fields import EVERY, ReleaseSpec, Spec
from kanon_sql.spec.file_options import kind_of_file

# The use of a spec: a verb, or a part of one that can do less (`sql`: print the release as one statement; `counted`:
# search tuples that were counted elsewhere). `anonymize` is any release, cloaked places included.
Verb: TypeAlias = Literal[
    "anonymize", "sql", "trace", "explain", "search", "lattice", "compare", "anatomize", "verify", "counted"
]

_ANY: tuple[Verb, ...] = get_args(Verb)
_SEARCHES: tuple[Verb, ...] = ("search", "lattice")
_RELEASES: tuple[Verb, ...] = ("anonymize", "sql", "explain")


@dataclass(frozen=True)
class Conflict:
    """`what` conflicts with `with_`: a sentence, and the next step.

    `detect`: whether a spec has the conflict. It returns None or False if not; otherwise True, or the words for the
    placeholders of the texts other than `spec`. `model`: the class of specs to check.
    """

    what: str
    with_: str
    detect: Callable[[Any], Words | bool | None]
    sentence: str
    next_step: str
    verbs: tuple[Verb, ...] = _ANY
    model: type[ReleaseSpec] = Spec

    def error(self, spec: ReleaseSpec) -> SpecError | None:
        """The error for a spec with this conflict, otherwise None."""
        words = self.detect(spec) if isinstance(spec, self.model) else None
        if words is None or words is False:
            return None
        text = f"{self.sentence}; {self.next_step}"
        return SpecError(text.format(spec=spec, **(words if isinstance(words, Mapping) else {})))


def check(spec: ReleaseSpec, verb: Verb | None = None) -> None:
    """Raise SpecError for the first conflict: of one verb, or without a verb, of all uses.

    >>> from kanon_sql.spec import parse
    >>> spec = parse({"source": "people.csv", "quasi_identifiers": ["age"], "mask": True, "strategy": "mondrian"})
    >>> check(spec, "anonymize")
    Traceback (most recent call last):
    kanon_sql.errors.SpecError: mondrian has no node whose masked rows could be shown as *; leave out `mask`
    """
    for conflict in CONFLICTS:
        for_all_uses = conflict.verbs == _ANY  # checked when the spec was read
        applies = for_all_uses if verb is None else verb in conflict.verbs and not for_all_uses
        error = conflict.error(spec) if applies else None
        if error:
            raise error


_TARGETS = (
    Conflict(
        "output",
        "into",
        lambda spec: spec.target is not None and None not in (spec.target.file, spec.target.table),
        "target: both a file and a table are named",
        "keep one of `output` and `into`",
        model=ReleaseSpec,
    ),
    Conflict(
        "form",
        "no table",
        lambda spec: conditions.stays_a_query(spec) and spec.target is not None and spec.target.table is None,
        "target: a view needs a name",
        "choose it with `into`",
    ),
    Conflict(
        "target",
        "neither output nor into",
        conditions.without_target,
        "target: neither a file nor a table is named",
        "choose one of them with `output` or `into`",
        model=ReleaseSpec,
    ),
    Conflict(
        "mask",
        "a view",
        lambda spec: spec.mask and conditions.stays_a_query(spec),
        "a view drops rows instead of masking them",
        'use `form="table"`, or leave out `mask`',
        ("anonymize",),
    ),
    Conflict(
        "perturb",
        "a view",
        lambda spec: bool(spec.perturb) and conditions.stays_a_query(spec),
        "a view would be perturbed again whenever it is read",
        'use `form="table"`, or leave out `perturb`',
        ("anonymize",),
    ),
    Conflict(
        "minimality",
        "a view",
        lambda spec: bool(spec.privacy.minimality) and conditions.stays_a_query(spec),
        "a view would redraw sensitive values again whenever it is read",
        'use `form="table"`, or leave out `minimality`',
        ("anonymize",),
    ),
    Conflict(
        "form=anatomy",
        "no sensitive",
        lambda spec: conditions.has_form(spec, "anatomy") and not spec.sensitive,
        "an anatomy keeps the sensitive columns apart, and none is named",
        "name them with `sensitive`",
        ("anonymize",),
    ),
    Conflict(
        "wildcard_suppression",
        "another form than a table",
        conditions.form_of_wildcards,
        "a release with wildcards has no classes that {form} could keep",
        'use `form="table"`',
        ("anonymize",),
    ),
    Conflict(
        "differencing_limit",
        "a release that cannot be compared",
        conditions.not_compared,
        "it is unknown whom {release} and the previous release single out together",
        'release something else, or use `differencing_limit="unlimited"`',
        ("anonymize",),
        model=ReleaseSpec,
    ),
    Conflict(
        "differencing_values",
        "no differencing_limit",
        lambda spec: bool(spec.differencing_values) and spec.differencing_limit is None,
        "`differencing_values` is about comparisons with earlier releases, and none is configured",
        "set `differencing_limit=0`, or leave out `differencing_values`",
        ("anonymize",),
    ),
    Conflict(
        "differencing_values",
        "too little l_diversity",
        conditions.too_few_values,
        "`differencing_values` needs {least} values of {column!r} in every class",
        "set `l_diversity` of the column to {least} or more",
        ("anonymize",),
    ),
)
_PRIVACY = (
    Conflict(
        "a privacy model",
        "another role of its column",
        conditions.counted_in_another_role,
        "privacy.{model} counts the values of {column!r}, which is {role}",
        "leave out one of the two: counted columns must be released unchanged",
    ),
    Conflict(
        "minimality",
        "unit",
        lambda spec: bool(spec.privacy.minimality and spec.unit),
        "`minimality` redraws the values of rows, and `unit` counts the values of people",
        "leave out one of them",
    ),
    Conflict(
        "minimality",
        "a model about all values",
        conditions.not_hidden,
        "`minimality` hides one value of a column, and privacy.{model} is about all values of {column!r}",
        "set `alpha_k` with the value to hide, or leave out one of the two",
    ),
    Conflict(
        "minimality",
        "explain",
        lambda spec: bool(spec.privacy.minimality),
        "the statements would reveal how many values were redrawn, and so in which classes",
        "leave out `minimality`",
        ("explain",),
    ),
)
_COLUMNS = (
    Conflict(
        "a column",
        "another role of it",
        conditions.two_roles,
        "{column!r} is in both `{there}` and `{role}`",
        "keep it in one of them",
        model=ReleaseSpec,
    ),
    Conflict(
        "a column",
        "the same in other capitals",
        conditions.two_spellings,
        "{other!r} in `{there}` and {column!r} in `{role}` differ only in case",
        "keep one of the two",
        model=ReleaseSpec,
    ),
    Conflict(
        "perturb",
        "a role",
        conditions.perturbed_role,
        "{column!r} in `perturb` is {role}",
        "only the other columns can be perturbed",
    ),
)
_STRATEGIES = (
    Conflict(
        "strategy",
        "a verb that shows a lattice",
        conditions.recodes,
        "{spec.strategy} is a local recoding, which has no lattice to look at",
        "name a search strategy",
        _SEARCHES,
    ),
    Conflict(
        "strategy",
        "trace",
        conditions.recodes,
        "{spec.strategy} is a local recoding, which tests no nodes that a trace could list",
        "leave out `trace` and `resume`",
        ("trace",),
    ),
    Conflict(
        "rules, suppression_order, wildcard_suppression",
        "another strategy than prioprivacy",
        conditions.option_of_prioprivacy,
        "`{option}` is for the strategy prioprivacy, and the strategy is {spec.strategy}",
        'leave it out, or use `strategy="prioprivacy"`',
        _RELEASES,
    ),
    Conflict(
        "domain",
        "another strategy than prioprivacy",
        conditions.domain,
        "the domain of {column!r} is for the strategy prioprivacy, and the strategy is {spec.strategy}",
        'leave it out, or use `strategy="prioprivacy"`',
        _RELEASES,
    ),
    Conflict(
        "evaluations",
        "evaluations of one strategy",
        conditions.two_evaluations,
        "`evaluations` is given twice, for every strategy and as {strategy}.evaluations",
        "keep one of the two",
    ),
    Conflict(
        "evaluations of one strategy",
        "another strategy",
        conditions.evaluations_of_another_strategy,
        "{other}.evaluations is for the strategy {other}, and the strategy is {spec.strategy}",
        'leave it out, or use `strategy="{other}"`',
        (*_RELEASES, *_SEARCHES),
    ),
    Conflict(
        "min_level, max_level",
        "a local recoding",
        conditions.levels,
        "{spec.strategy} has no levels, so min_level and max_level of {column!r} do not apply",
        "leave them out",
        _RELEASES,
    ),
    Conflict(
        "mask",
        "a local recoding, or show",
        conditions.masked_classes,
        "{maker} has no node whose masked rows could be shown as *",
        "leave out `mask`",
        ("anonymize", "explain"),
    ),
)
_KEPT = (
    Conflict(
        "node",
        "node_from, regions",
        conditions.two_nodes,
        "`node` and `{other}` both set what to reuse",
        "leave out one of them",
    ),
    Conflict(
        "node",
        "a local recoding",
        lambda spec: spec.node is not None and conditions.recodes(spec),
        "{spec.strategy} is a local recoding, which has no node to keep",
        "leave out `node`, or name a search strategy",
        _RELEASES,
    ),
    Conflict(
        "regions, write_regions",
        "a search strategy",
        conditions.other_than_local,
        "`{option}` is for local recodings, and the strategy is {spec.strategy}",
        "leave it out, or name a local recoding with `strategy`",
        _RELEASES,
    ),
    Conflict(
        "regions, write_regions",
        "an option without regions",
        conditions.no_regions,
        "classes with `{option}` are not regions that could contain new rows",
        "leave out one of the two",
        _RELEASES,
    ),
    Conflict(
        "incremental",
        "no waiting",
        lambda spec: spec.incremental != (spec.waiting is not None),
        "`incremental` and `waiting` go together",
        "set both: `waiting` names the table for the rows that wait",
        ("anonymize",),
    ),
    Conflict(
        "incremental",
        "mask, wildcard_suppression, a view",
        conditions.option_without_waiting,
        "waiting rows are not in the release and are not added to it later, which `{option}` requires",
        "leave out `incremental`, or release a table or file without that",
        ("anonymize",),
    ),
)
_ONE_STATEMENT = tuple(
    Conflict(what, "sql", detect, sentence, next_step, ("sql",))
    for what, detect, sentence, next_step in (
        (
            "mask",
            lambda spec: spec.mask,
            "one statement drops rows instead of masking them",
            "leave out `mask` or `sql`",
        ),
        (
            "wildcard_suppression",
            lambda spec: spec.wildcard_suppression,
            "one statement counts equal rows, and the rows of a release with wildcards are not equal",
            "leave out `wildcard_suppression` or `sql`",
        ),
        (
            "perturb",
            lambda spec: bool(spec.perturb),
            "a perturbed release takes more than one statement, and a secret",
            "leave out `perturb` or `sql`",
        ),
        (
            "minimality",
            lambda spec: bool(spec.privacy.minimality),
            "a release with redrawn values takes more than one statement, and a secret",
            "leave out `minimality` or `sql`",
        ),
        (
            "form=anatomy",
            lambda spec: conditions.has_form(spec, "anatomy"),
            "an anatomy takes more than one statement",
            'use `form="table"`, or leave out `sql`',
        ),
        (
            "incremental",
            lambda spec: spec.incremental,
            "one statement keeps no table of the rows that wait",
            "leave out `incremental` and `waiting`, or `sql`",
        ),
        (
            "write_regions",
            lambda spec: spec.write_regions is not None,
            "one statement writes no file of regions",
            "leave out `write_regions` or `sql`",
        ),
    )
)
_COUNTED_ELSEWHERE = tuple(
    Conflict(what, "a frequency set counted elsewhere", detect, sentence, next_step, ("counted",))
    for what, detect, sentence, next_step in (
        (
            "unit",
            lambda spec: spec.unit is not None,
            "a frequency set does not record which tuples belong to the same person, so people cannot be counted",
            "leave out `unit`, or search where the table is",
        ),
        (
            "population",
            conditions.with_population,
            "a population is counted together with its sample, of which there is only a frequency set",
            "leave out the models with a population, or search where the tables are",
        ),
        (
            "keep",
            lambda spec: spec.keep == EVERY,
            "a frequency set does not record which other columns its table has",
            "name the columns to release with `keep`",
        ),
        (
            "show",
            lambda spec: spec.sets_show,
            "`show` needs all values of a class, and one statement has only labels",
            "leave out `show`",
        ),
    )
)
_EXACT_ANATOMY = tuple(
    Conflict(what, "anatomize", detect, sentence, next_step, ("anatomize",))
    for what, detect, sentence, next_step in (
        (
            "sensitive",
            lambda spec: None if len(spec.sensitive) == 1 else {"count": len(spec.sensitive) or "none"},
            "an anatomy of exact rows has one sensitive column, and the spec names {count}",
            "name one with `sensitive`",
        ),
        (
            "k",
            lambda spec: "privacy" in spec.model_fields_set,
            "the release of anatomize is not k-anonymous",
            'leave out `k`, or use anonymize with `form="anatomy"`',
        ),
        (
            "perturb",
            lambda spec: bool(spec.perturb),
            "anatomize releases the rows unchanged",
            'leave out `perturb`, or use anonymize with `form="anatomy"`',
        ),
    )
)
_VERIFIED_TARGET = (
    Conflict(
        "target",
        "verify",
        lambda spec: spec.target is None,
        "the spec names no target that could be verified",
        "add one, or name the table or file to check",
        ("verify",),
    ),
)
READING_CONFLICTS = (
    Conflict(
        "encoding, delimiter, sheet, skip_lines",
        "a file of another kind",
        conditions.option_of_another_file,
        "`{option}` is for another kind of file, and {spec.source} is {kind}",
        "leave it out",
        model=ReleaseSpec,
    ),
    Conflict(
        "decimal, date_format of a column",
        "its type",
        conditions.read_in_two_ways,
        "columns.{column}: {option} does not fit, because {reason}",
        "leave out one of the two",
        model=ReleaseSpec,
    ),
)
_NO_STATEMENT_READS = (
    Conflict(
        "an Excel file",
        "sql",
        lambda spec: not spec.session.has_tables and kind_of_file(spec.source) == "Excel",
        "no statement reads {spec.source} by itself",
        "save it as Parquet or CSV, or load it into a table",
        ("sql",),
    ),
)
CONFLICTS: tuple[Conflict, ...] = tuple(
    chain(
        *(_TARGETS, _PRIVACY, _COLUMNS, _KEPT, _ONE_STATEMENT, _COUNTED_ELSEWHERE),
        *(_STRATEGIES, _EXACT_ANATOMY, _VERIFIED_TARGET, READING_CONFLICTS),
        *(_NO_STATEMENT_READS,),
    )
)
