"""Conflicting options: every entry of the table separately, and before an engine is opened."""

from typing import Any, get_args
from unittest import mock

import pytest
import yaml

import kanon_sql
from kanon_sql.cli.flags import in_flags, in_keys
from kanon_sql.cli.options import DIFFERENCING_LIMIT
from kanon_sql.errors import SpecError
from kanon_sql.loss import METRICS
from kanon_sql.recode import RECODERS
from kanon_sql.spec import CONFLICTS, Conflict, LocalStrategy, Metric, SearchStrategy, Spec, Verb, check, parse
from kanon_sql.spec.load import validated
from kanon_sql.strategies import STRATEGIES
from kanon_sql.verbs.statement import anonymize_sql

COLUMNS = {"source": "people.csv", "quasi_identifiers": ["age", "zip"]}
WITH_ANATOMY = "sensitive: [ill], target: {table: anon}"

# What a spec says besides its columns, and the sentence that refuses it, by what does not go with what.
CASES: dict[tuple[str, str], tuple[dict[str, Any], str, str]] = {
    ("a privacy model", "another role of its column"): (
        COLUMNS,
        "privacy: {t_closeness: {AGE: 0.2}}",
        "privacy.t_closeness counts the values of 'AGE', which is generalized as a quasi-identifier; leave out "
        "one of the two: counted columns must be released unchanged",
    ),
    ("output", "into"): (
        COLUMNS,
        "target: {file: a.csv, table: b}",
        "target: both a file and a table are named; keep one of `output` and `into`",
    ),
    ("form", "no table"): (
        COLUMNS,
        "target: {file: a.csv, as: view}",
        "target: a view needs a name; choose it with `into`",
    ),
    ("target", "neither output nor into"): (
        COLUMNS,
        "target: {overwrite: true}",
        "target: neither a file nor a table is named; choose one of them with `output` or `into`",
    ),
    ("mask", "a view"): (
        COLUMNS,
        "{mask: true, target: {table: anon, as: view}}",
        'a view drops rows instead of masking them; use `form="table"`, or leave out `mask`',
    ),
    ("perturb", "a view"): (
        COLUMNS,
        "{perturb: {pay: {noise: {scale: 1}}}, target: {table: anon, as: view}}",
        'a view would be perturbed again whenever it is read; use `form="table"`, or leave out `perturb`',
    ),
    ("minimality", "a view"): (
        COLUMNS,
        "{privacy: {minimality: mask}, target: {table: anon, as: view}}",
        'a view would redraw sensitive values again whenever it is read; use `form="table"`, or leave out `minimality`',
    ),
    ("minimality", "unit"): (
        COLUMNS,
        "{unit: id, privacy: {minimality: mask}}",
        "`minimality` redraws the values of rows, and `unit` counts the values of people; leave out one of them",
    ),
    ("minimality", "a model about all values"): (
        COLUMNS,
        "privacy: {minimality: mask, alpha_k: {ill: {alpha: 0.5, value: flu}}, t_closeness: {pay: 0.2}}",
        "`minimality` hides one value of a column, and privacy.t_closeness is about all values of 'pay'; set "
        "`alpha_k` with the value to hide, or leave out one of the two",
    ),
    ("minimality", "explain"): (
        COLUMNS,
        "privacy: {minimality: mask}",
        "the statements would reveal how many values were redrawn, and so in which classes; leave out `minimality`",
    ),
    ("minimality", "sql"): (
        COLUMNS,
        "privacy: {minimality: mask}",
        "a release with redrawn values takes more than one statement, and a secret; leave out `minimality` or `sql`",
    ),
    ("form=anatomy", "no sensitive"): (
        COLUMNS,
        "target: {table: anon, as: anatomy}",
        "an anatomy keeps the sensitive columns apart, and none is named; name them with `sensitive`",
    ),
    ("wildcard_suppression", "another form than a table"): (
        COLUMNS,
        "{strategy: prioprivacy, wildcard_suppression: true, target: {table: anon, as: view}}",
        'a release with wildcards has no classes that a view could keep; use `form="table"`',
    ),
    ("a column", "another role of it"): (
        COLUMNS,
        "sensitive: [age]",
        "'age' is in both `quasi_identifiers` and `sensitive`; keep it in one of them",
    ),
    ("a column", "the same in other capitals"): (
        COLUMNS,
        "sensitive: [Age]",
        "'age' in `quasi_identifiers` and 'Age' in `sensitive` differ only in case; keep one of the two",
    ),
    ("perturb", "a role"): (
        COLUMNS,
        "perturb: {Age: {swap: {within: 1}}}",
        "'Age' in `perturb` is a quasi-identifier; only the other columns can be perturbed",
    ),
    ("mask", "sql"): (
        COLUMNS,
        "mask: true",
        "one statement drops rows instead of masking them; leave out `mask` or `sql`",
    ),
    ("wildcard_suppression", "sql"): (
        COLUMNS,
        "{strategy: prioprivacy, prioprivacy: {wildcard_suppression: true}}",
        "one statement counts equal rows, and the rows of a release with wildcards are not equal; leave out "
        "`wildcard_suppression` or `sql`",
    ),
    ("perturb", "sql"): (
        COLUMNS,
        "perturb: {pay: {noise: {scale: 1}}}",
        "a perturbed release takes more than one statement, and a secret; leave out `perturb` or `sql`",
    ),
    ("form=anatomy", "sql"): (
        COLUMNS,
        "{sensitive: [ill], target: {table: anon, as: anatomy}}",
        'an anatomy takes more than one statement; use `form="table"`, or leave out `sql`',
    ),
    ("strategy", "a verb that shows a lattice"): (
        COLUMNS,
        "strategy: mondrian",
        "mondrian is a local recoding, which has no lattice to look at; name a search strategy",
    ),
    ("strategy", "trace"): (
        COLUMNS,
        "strategy: kaca",
        "kaca is a local recoding, which tests no nodes that a trace could list; leave out `trace` and `resume`",
    ),
    ("rules, suppression_order, wildcard_suppression", "another strategy than prioprivacy"): (
        COLUMNS,
        "rules: my_rules",
        "`rules` is for the strategy prioprivacy, and the strategy is auto; leave it out, or use "
        '`strategy="prioprivacy"`',
    ),
    ("domain", "another strategy than prioprivacy"): (
        {"source": "people.csv"},
        "quasi_identifiers: {age: {domain: 9}}",
        "the domain of 'age' is for the strategy prioprivacy, and the strategy is auto; leave it out, or use "
        '`strategy="prioprivacy"`',
    ),
    ("evaluations", "evaluations of one strategy"): (
        COLUMNS,
        "{strategy: kgen, evaluations: 9, kgen: {evaluations: 8}}",
        "`evaluations` is given twice, for every strategy and as kgen.evaluations; keep one of the two",
    ),
    ("evaluations of one strategy", "another strategy"): (
        COLUMNS,
        "{strategy: ola, kgen: {evaluations: 8}}",
        'kgen.evaluations is for the strategy kgen, and the strategy is ola; leave it out, or use `strategy="kgen"`',
    ),
    ("min_level, max_level", "a local recoding"): (
        {"source": "people.csv"},
        "{strategy: refine, quasi_identifiers: {age: {max_level: 2}}}",
        "refine has no levels, so min_level and max_level of 'age' do not apply; leave them out",
    ),
    ("mask", "a local recoding, or show"): (
        COLUMNS,
        "{mask: true, show: mean}",
        "a release that `show` changes has no node whose masked rows could be shown as *; leave out `mask`",
    ),
    ("sensitive", "anatomize"): (
        COLUMNS,
        "{sensitive: [ill, ward], target: {table: anon}}",
        "an anatomy of exact rows has one sensitive column, and the spec names 2; name one with `sensitive`",
    ),
    ("k", "anatomize"): (
        COLUMNS,
        f"{{{WITH_ANATOMY}, privacy: {{k: 2}}}}",
        'the release of anatomize is not k-anonymous; leave out `k`, or use anonymize with `form="anatomy"`',
    ),
    ("unit", "a frequency set counted elsewhere"): (
        COLUMNS,
        "unit: person",
        "a frequency set does not record which tuples belong to the same person, so people cannot be counted; leave "
        "out `unit`, or search where the table is",
    ),
    ("population", "a frequency set counted elsewhere"): (
        COLUMNS,
        "privacy: {k_map: {k: 5, population: voters.csv}}",
        "a population is counted together with its sample, of which there is only a frequency set; leave out the "
        "models with a population, or search where the tables are",
    ),
    ("keep", "a frequency set counted elsewhere"): (
        COLUMNS,
        "keep: '*'",
        "a frequency set does not record which other columns its table has; name the columns to release with `keep`",
    ),
    ("show", "a frequency set counted elsewhere"): (
        COLUMNS,
        "show: mean",
        "`show` needs all values of a class, and one statement has only labels; leave out `show`",
    ),
    ("differencing_limit", "a release that cannot be compared"): (
        COLUMNS,
        "{target: {table: anon, as: view}, differencing_limit: 3}",
        "it is unknown whom a live view and the previous release single out together; release something else, or use "
        '`differencing_limit="unlimited"`',
    ),
    ("differencing_values", "no differencing_limit"): (
        COLUMNS,
        "{privacy: {l_diversity: {ill: 3}}, differencing_values: {ill: 3}}",
        "`differencing_values` is about comparisons with earlier releases, and none is configured; set "
        "`differencing_limit=0`, or leave out `differencing_values`",
    ),
    ("differencing_values", "too little l_diversity"): (
        COLUMNS,
        "{privacy: {l_diversity: {ill: 2.5}}, differencing_values: {ill: 3}, differencing_limit: 0}",
        "`differencing_values` needs 3 values of 'ill' in every class; set `l_diversity` of the column to 3 or more",
    ),
    ("encoding, delimiter, sheet, skip_lines", "a file of another kind"): (
        {**COLUMNS, "source": "people.parquet"},
        "encoding: cp1252",
        "`encoding` is for another kind of file, and people.parquet is Parquet; leave it out",
    ),
    ("decimal, date_format of a column", "its type"): (
        COLUMNS,
        "columns: {pay: {type: text, decimal: ','}}",
        "columns.pay: decimal does not fit, because its type is text; leave out one of the two",
    ),
    ("an Excel file", "sql"): (
        {**COLUMNS, "source": "people.xlsx"},
        "",
        "no statement reads people.xlsx by itself; save it as Parquet or CSV, or load it into a table",
    ),
    ("perturb", "anatomize"): (
        COLUMNS,
        f"{{{WITH_ANATOMY}, perturb: {{pay: {{noise: {{scale: 1}}}}}}}}",
        'anatomize releases the rows unchanged; leave out `perturb`, or use anonymize with `form="anatomy"`',
    ),
    ("target", "verify"): (
        COLUMNS,
        "",
        "the spec names no target that could be verified; add one, or name the table or file to check",
    ),
    ("node", "node_from, regions"): (
        COLUMNS,
        "{node: {age: 1, zip: 0}, node_from: manifest.json}",
        "`node` and `node_from` both set what to reuse; leave out one of them",
    ),
    ("node", "a local recoding"): (
        COLUMNS,
        "{node: {age: 1, zip: 0}, strategy: kaca}",
        "kaca is a local recoding, which has no node to keep; leave out `node`, or name a search strategy",
    ),
    ("regions, write_regions", "a search strategy"): (
        COLUMNS,
        "regions: regions.parquet",
        "`regions` is for local recodings, and the strategy is auto; leave it out, or name a local recoding with "
        "`strategy`",
    ),
    ("regions, write_regions", "an option without regions"): (
        COLUMNS,
        "{regions: regions.parquet, strategy: kaca, show: mean}",
        'classes with `show="mean"` are not regions that could contain new rows; leave out one of the two',
    ),
    ("incremental", "no waiting"): (
        COLUMNS,
        "incremental: true",
        "`incremental` and `waiting` go together; set both: `waiting` names the table for the rows that wait",
    ),
    ("incremental", "mask, wildcard_suppression, a view"): (
        COLUMNS,
        "{incremental: true, waiting: later, mask: true}",
        "waiting rows are not in the release and are not added to it later, which `mask` requires; leave out "
        "`incremental`, or release a table or file without that",
    ),
    ("incremental", "sql"): (
        COLUMNS,
        "{incremental: true, waiting: later}",
        "one statement keeps no table of the rows that wait; leave out `incremental` and `waiting`, or `sql`",
    ),
    ("write_regions", "sql"): (
        COLUMNS,
        "{write_regions: regions.parquet, strategy: kaca}",
        "one statement writes no file of regions; leave out `write_regions` or `sql`",
    ),
}
ANY = get_args(Verb)
VERBS: dict[Verb, Any] = {
    "anonymize": lambda mapping: kanon_sql.anonymize(None, mapping),
    "trace": lambda mapping: kanon_sql.anonymize(None, mapping, trace="trace.jsonl"),
    "sql": lambda mapping: anonymize_sql(None, mapping),
    "explain": lambda mapping: kanon_sql.explain(None, mapping),
    "search": lambda mapping: kanon_sql.search(None, mapping),
    "lattice": lambda mapping: kanon_sql.lattice(None, mapping),
    "compare": lambda mapping: kanon_sql.compare(None, mapping),
    "anatomize": lambda mapping: kanon_sql.anatomize(None, mapping, l=2),
    "verify": lambda mapping: kanon_sql.verify(None, mapping),
    "counted": lambda mapping: kanon_sql.search(None, mapping, frequency_set="counted.parquet"),
}


def mapping_of(conflict: Conflict) -> dict[str, Any]:
    base, text, _ = CASES[conflict.what, conflict.with_]
    return {**base, **(yaml.safe_load(text) or {})}


def test_every_entry_has_a_case_and_every_case_an_entry() -> None:
    assert {(conflict.what, conflict.with_) for conflict in CONFLICTS} == set(CASES)
    assert len(CONFLICTS) == len(CASES)


@pytest.mark.parametrize("conflict", CONFLICTS, ids=lambda conflict: f"{conflict.what} with {conflict.with_}")
def test_conflicting_options_are_refused_before_an_engine_is_opened(conflict: Conflict) -> None:
    mapping, sentence = mapping_of(conflict), CASES[conflict.what, conflict.with_][2]
    spec = validated(mapping, Spec)
    opened = mock.Mock(side_effect=AssertionError("an engine was opened"))
    for verb in conflict.verbs:
        others = [other for other in CONFLICTS if other is not conflict and verb in other.verbs]
        if conflict.verbs == ANY:
            others = [other for other in others if other.verbs == ANY]
        assert not [other for other in others if other.error(spec)], "the case violates this entry alone"
        with mock.patch("kanon_sql.plan.source.open_source", opened), pytest.raises(SpecError) as refused:
            VERBS[verb](mapping)
        assert str(refused.value) == sentence


@pytest.mark.parametrize("conflict", CONFLICTS, ids=lambda conflict: f"{conflict.what} with {conflict.with_}")
def test_an_impossible_spec_is_refused_when_it_is_read(conflict: Conflict) -> None:
    mapping = mapping_of(conflict)
    if conflict.verbs == ANY:
        with pytest.raises(SpecError):
            parse(mapping)
    else:
        parse(mapping)


@pytest.mark.parametrize("conflict", CONFLICTS, ids=lambda conflict: f"{conflict.what} with {conflict.with_}")
def test_the_command_line_names_flags(conflict: Conflict) -> None:
    message = in_flags(CASES[conflict.what, conflict.with_][2])
    assert "`" not in message, "every name in backticks is one of an option"
    assert "_identifiers" not in message


def test_compatible_options_are_accepted() -> None:
    check(parse(COLUMNS), "anonymize")
    check(parse({**COLUMNS, "target": {"file": "anon.csv"}}), "anonymize")


@pytest.mark.parametrize("verb", ["anonymize", "sql", "explain", "search", "lattice"])
def test_an_unknown_strategy_is_refused_before_an_engine_is_opened(verb: Verb) -> None:
    opened = mock.Mock(side_effect=AssertionError("an engine was opened"))
    with mock.patch("kanon_sql.plan.source.open_source", opened), pytest.raises(SpecError) as refused:
        VERBS[verb]({**COLUMNS, "strategy": "olla", "mask": True})
    known = ", ".join([*STRATEGIES, *RECODERS])
    assert str(refused.value) == f"'olla' is not a strategy; choose one of {known}"


def test_the_strategies_of_a_spec_are_the_implemented_ones() -> None:
    assert list(get_args(Metric)) == list(METRICS)
    assert list(get_args(SearchStrategy)) == list(STRATEGIES)
    assert list(get_args(LocalStrategy)) == list(RECODERS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("`overwrite=True`", "--overwrite"),
        ('`form="table"`', "--as table"),
        ('`keep="*"`', "--keep '*'"),
        ("`wildcard_suppression` and `quasi_identifiers`", "--wildcard-suppression and --quasi-identifiers"),
        ("`search_in='engine'`", "--search-in engine"),
        ("the table `mine` and overwrite=True", "the table `mine` and overwrite=True"),
    ],
)
def test_an_option_is_spelled_as_a_flag(text: str, message: str) -> None:
    assert in_flags(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('`new_columns="drop"`', "`new_columns: drop` in the spec"),
        ("`keep='*'`", "`keep: '*'` in the spec"),
        ("`differencing_limit=3` and `differencing_limit`", "--differencing-limit 3 and --differencing-limit"),
        ("`mask` and the table `mine`", "`mask` and the table `mine`"),
    ],
)
def test_an_option_that_a_command_does_not_take_is_spelled_as_a_key_of_its_spec(text: str, message: str) -> None:
    assert in_keys(text, [DIFFERENCING_LIMIT]) == message
