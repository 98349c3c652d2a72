"""The exact errors of a spec, with the key that they are about."""

from typing import Any

import pandas
import pytest

from kanon_sql.errors import SpecError
from kanon_sql.spec import Privacy, Spec, load_linked, parse
from kanon_sql.spec.suppression_limit import FRACTION_OR_ROWS
from support.specs import QI_TEXT, error

RECIPE_TEXT = (
    "a file, the word suppress, or a mapping with one of file, table, ranges, redact, dates, taxonomy, age, edges, "
    "prefix, networks, known, groups, function"
)
GROUPS_TEXT = "lists of values by their label such as {Higher: [Bachelors, Masters]}, or a list of such levels"
TOP_KEYS = ", ".join(Spec.model_fields)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "quasi_identifiers: {age: {heirarchy: a.csv}}",
            "quasi_identifiers.age.heirarchy is not a key of a spec; did you mean 'hierarchy'?",
        ),
        ("sensitiv: [a]", "sensitiv is not a key of a spec; did you mean 'sensitive'?"),
        ("identifers:", "identifers is not a key of a spec; did you mean 'identifiers'?"),
        ("privacy: {kk: 2}", "privacy.kk is not a key of a spec; did you mean 'k'?"),
        ("target: {overwrit: true}", "target.overwrit is not a key of a spec; did you mean 'overwrite'?"),
        ("k: 5", "k is not a key of a spec; did you mean 'privacy.k'?"),
        ("table: a", "table is not a key of a spec; did you mean 'target.table'?"),
        ("qi: 1", f"qi is not a key of a spec; the keys there are {TOP_KEYS}"),
        ("5: 1", f"5 is not a key of a spec; the keys there are {TOP_KEYS}"),
        ("privacy: {1: 2}", f"privacy.1 is not a key of a spec; the keys there are {', '.join(Privacy.model_fields)}"),
        ("privacy: {l_diversty: {a: 2}}", "privacy.l_diversty is not a key of a spec; did you mean 'l_diversity'?"),
        ("t_closeness: {a: 0.2}", "t_closeness is not a key of a spec; did you mean 'privacy.t_closeness'?"),
        (
            "privacy: {t_closeness: {a: {t: 0.2, distanse: equal}}}",
            "privacy.t_closeness.a.distanse is not a key of a spec; did you mean 'distance'?",
        ),
        (
            "quasi_identifiers: {age: {redact: right}}",
            "quasi_identifiers.age.redact is not a key of a spec; the keys there are hierarchy, min_level, max_level, "
            "priority, weight, show, domain",
        ),
        (
            "quasi_identifiers: {age: {hierarchy: {ranges: [5], tpo: 1}}}",
            "quasi_identifiers.age.hierarchy.tpo is not a key of a spec; did you mean 'top'?",
        ),
        (
            "quasi_identifiers: {age: {hierarchy: {range: [5]}}}",
            "quasi_identifiers.age.hierarchy.range is not a key of a spec; did you mean 'ranges'? (and 1 more)",
        ),
    ],
)
def test_unknown_keys(text: str, message: str) -> None:
    assert error(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("privacy: {k: 0}", "privacy.k: give a whole number of at least 1, not 0"),
        ("privacy: {k: 2.5}", "privacy.k: give a whole number of at least 1, not 2.5"),
        ("privacy: {k: five}", "privacy.k: give a whole number of at least 1, not 'five'"),
        ("privacy: {k: true}", "privacy.k: give a whole number of at least 1, not True"),
        ("privacy: 5", "privacy: give a mapping such as {k: 5}, not 5"),
        (
            "privacy: {l_diversity: 3}",
            "privacy.l_diversity: give a mapping such as {disease: 3} or {disease: {l: 3, kind: entropy}}, not 3",
        ),
        ("privacy: {l_diversity: {a: [3]}}", "privacy.l_diversity.a.l: give a number of at least 1, not [3]"),
        ("privacy: {l_diversity: {a: 0}}", "privacy.l_diversity.a.l: give a number of at least 1, not 0"),
        ("privacy: {l_diversity: {a: {}}}", "privacy.l_diversity.a.l is missing; give a number of at least 1"),
        (
            "privacy: {l_diversity: {a: {l: 3, kind: even}}}",
            "privacy.l_diversity.a.kind: give one of distinct, entropy, recursive, not 'even'",
        ),
        (
            "privacy: {l_diversity: {1: 2}}",
            "privacy.l_diversity: give a mapping such as {disease: 3} or {disease: {l: 3, kind: entropy}}, not 1",
        ),
        ("privacy: {t_closeness: {a: 0}}", "privacy.t_closeness.a.t: give a number above 0, at most 1, not 0"),
        ("privacy: {t_closeness: {a: 1.5}}", "privacy.t_closeness.a.t: give a number above 0, at most 1, not 1.5"),
        ("privacy: {t_closeness: {a: .nan}}", "privacy.t_closeness.a.t: give a number above 0, at most 1, not nan"),
        (
            "privacy: {t_closeness: {a: {t: 0.2, hierarchy: {ranges: [0]}}}}",
            "privacy.t_closeness.a.hierarchy.ranges: give a list of range widths above 0, not 0",
        ),
        ("privacy: {alpha_k: {a: 2}}", "privacy.alpha_k.a.alpha: give a number above 0, at most 1, not 2"),
        (
            "privacy: {alpha_k: {a: {alpha: 0.5, value: [x]}}}",
            "privacy.alpha_k.a.value: give a value of the column, not ['x']",
        ),
        ("privacy: {beta_likeness: {a: 0}}", "privacy.beta_likeness.a.beta: give a number above 0, not 0"),
        ("privacy: {delta_disclosure: {a: x}}", "privacy.delta_disclosure.a.delta: give a number above 0, not 'x'"),
        ("privacy: {risk: 0.1}", "privacy.risk: give a mapping such as {model: prosecutor, mean: 0.05}, not 0.1"),
        ("privacy: {risk: {mean: 0}}", "privacy.risk.mean: give a number above 0, at most 1, not 0"),
        ("privacy: {risk: {highest: 5}}", "privacy.risk.highest: give a number above 0, at most 1, not 5"),
        (
            "privacy: {risk: {model: spy, mean: 0.1}}",
            "privacy.risk.model: give one of prosecutor, journalist, marketer, not 'spy'",
        ),
        ("privacy: {risk: {mena: 0.1}}", "privacy.risk.mena is not a key of a spec; did you mean 'mean'?"),
        ("privacy: {risk: {model: prosecutor}}", "privacy.risk: give highest, mean or above"),
        (
            "privacy: {risk: {above: {threshold: 0.2}}}",
            "privacy.risk.above.share is missing; give a number of at least 0, below 1",
        ),
        (
            "privacy: {risk: {above: {threshold: 2, share: 0.1}}}",
            "privacy.risk.above.threshold: give a number above 0, at most 1, not 2",
        ),
        (
            "privacy: {risk: {model: marketer, highest: 0.1}}",
            "privacy.risk: the marketer's risk is a mean; set mean alone, or the model prosecutor",
        ),
        (
            "privacy: {risk: {model: journalist, highest: 0.1}}",
            "privacy.risk: the journalist's risk needs a population, and other risks have none; set or leave out "
            "population",
        ),
        (
            "privacy: {risk: {model: journalist, population: voters}}",
            "privacy.risk: give highest, mean or above",
        ),
        (
            "privacy: {uniqueness: {share: 1, sampling_fraction: 1}}",
            "privacy.uniqueness.share: give a number of at least 0, below 1, not 1",
        ),
        (
            "privacy: {uniqueness: {share: 0.1}}",
            "privacy.uniqueness.sampling_fraction is missing; give the rows over those of the population, above 0 and "
            "at most 1",
        ),
        (
            "privacy: {uniqueness: {share: 0.1, sampling_fraction: 0.1, estimator: x}}",
            "privacy.uniqueness.estimator: give one of dankar, pitman, zayatz, snb, not 'x'",
        ),
        ("privacy: {k_map: 5}", "privacy.k_map: give a mapping such as {k: 5, population: voters.parquet}, not 5"),
        (
            "privacy: {k_map: {k: 5}}",
            "privacy.k_map.population is missing; give the name of a table or the path of a file with the "
            "quasi-identifiers",
        ),
        ("privacy: {k_map: {k: 0, population: a}}", "privacy.k_map.k: give a whole number of at least 1, not 0"),
        (
            "privacy: {delta_presence: {min: 0.5, max: 0.2, population: a}}",
            "privacy.delta_presence: min 0.5 is above max 0.2; lower the one or raise the other",
        ),
        (
            "privacy: {delta_presence: {population: a}}",
            "privacy.delta_presence: a share from 0 to 1 requires nothing; set a min above 0 or a max below 1",
        ),
        (
            "privacy: {delta_presence: {max: 0, population: a}}",
            "privacy.delta_presence.max: give a share above 0, at most 1, not 0",
        ),
        ("privacy: {unit: 5}", "privacy.unit: give the name of the column that identifies people or devices, not 5"),
        (
            "{unit: a, privacy: {unit: b}}",
            "unit is given twice, 'a' alone and 'b' in privacy; keep one",
        ),
        (
            "suppression_limit: 2",
            f"suppression_limit: give {FRACTION_OR_ROWS}, not 2",
        ),
        (
            "suppression_limit: -0.1",
            f"suppression_limit: give {FRACTION_OR_ROWS}, not -0.1",
        ),
        (
            "suppression_limit: .nan",
            f"suppression_limit: give {FRACTION_OR_ROWS}, not nan",
        ),
        (
            "suppression_limit: -3 rows",
            f"suppression_limit: give {FRACTION_OR_ROWS}, not '-3 rows'",
        ),
        ("time_limit: -1", "time_limit: give a number of seconds of at least 0, not -1"),
        ("time_limit: .inf", "time_limit: give a number of seconds of at least 0, not inf"),
        ("seed: x", "seed: give a whole number, not 'x'"),
        ("mask: 1", "mask: give true or false, not 1"),
        ("unmapped: warn", "unmapped: give error or top, not 'warn'"),
        (
            "metric: divergence",
            "metric: give one of precision, height, loss, loss_geometric, discernibility, distortion, intensity, "
            "entropy, granularity, ncp, average_class_size, not 'divergence'",
        ),
        ("strategy: ''", "strategy: give the name of a search strategy, not ''"),
        ("source: 5", "source: give the name of a table or the path of a file, not 5"),
        ("database: [a]", "database: give a DuckDB file or postgresql://…"),
        ("hierarchies: 3", "hierarchies: give the path of a folder with <column>.csv, not 3"),
        ("identifiers: name", "identifiers: give a list of column names, as text, not 'name'"),
        ("sensitive: [disease, no]", "sensitive: give a list of column names, as text, not False"),
        ("{seed: x, mask: 1, shuffle: 2}", "shuffle: give true or false, not 2 (and 2 more)"),
    ],
)
def test_wrong_values(text: str, message: str) -> None:
    assert error(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("quasi_identifiers:", f"quasi_identifiers is missing; give {QI_TEXT}"),
        ("quasi_identifiers: []", f"quasi_identifiers: give {QI_TEXT}, not {{}}"),
        ("quasi_identifiers: age", f"quasi_identifiers: give {QI_TEXT}, not 'age'"),
        ("quasi_identifiers: [no]", f"quasi_identifiers: give {QI_TEXT}, not [False]"),
        ("quasi_identifiers: {no: }", f"quasi_identifiers: give {QI_TEXT}, not False"),
        ("quasi_identifiers: {'': }", f"quasi_identifiers: give {QI_TEXT}, not ''"),
        ("quasi_identifiers: [{age: a}]", f"quasi_identifiers: give {QI_TEXT}, not [{{'age': 'a'}}]"),
        (
            "quasi_identifiers: {age: age.csv}",
            "quasi_identifiers.age: give {hierarchy: …} or nothing, not 'age.csv'",
        ),
        (
            "quasi_identifiers: {age: {min_level: 3, max_level: 2}}",
            "quasi_identifiers.age: min_level 3 is above max_level 2; lower the one or raise the other",
        ),
        (
            "quasi_identifiers: {age: {min_level: -1}}",
            "quasi_identifiers.age.min_level: give a whole number of at least 0, not -1",
        ),
        (
            "quasi_identifiers: {age: {max_level: -1}}",
            "quasi_identifiers.age.max_level: give a whole number of at least 0, not -1",
        ),
    ],
)
def test_wrong_quasi_identifiers(text: str, message: str) -> None:
    assert error(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[pay]", ": give a mapping such as {salary: {noise: {scale: 100}}}, not ['pay']"),
        ("{5: {swap: {within: 0.1}}}", ": give a mapping such as {salary: {noise: {scale: 100}}}, not 5"),
        ("{pay: }", ".pay: give a mapping with one of noise, swap, pram, not None"),
        ("{pay: {}}", ".pay: give a mapping with one of noise, swap, pram"),
        ("{pay: {swap: {within: 1}, pram: {keep: 0}}}", ".pay: give a mapping with one of noise, swap, pram"),
        ("{pay: {nois: {scale: 1}}}", ".pay.nois is not a key of a spec; did you mean 'noise'?"),
        ("{pay: {noise: 5}}", ".pay.noise: give a mapping such as {scale: 100}, not 5"),
        ("{pay: {noise: {}}}", ".pay.noise.scale is missing; give a number above 0"),
        ("{pay: {noise: {scale: 0}}}", ".pay.noise.scale: give a number above 0, not 0"),
        ("{pay: {noise: {scale: .inf}}}", ".pay.noise.scale: give a number above 0, not inf"),
        (
            "{pay: {noise: {scale: 1, distribution: cauchy}}}",
            ".pay.noise.distribution: give one of normal, laplace, uniform, not 'cauchy'",
        ),
        (
            "{pay: {noise: {scale: 1, bottom: 3, top: 3}}}",
            ".pay.noise: bottom 3 is not below top 3; lower the one or raise the other",
        ),
        ("{pay: {swap: {within: 0}}}", ".pay.swap.within: give a fraction of the ranks above 0, at most 1, not 0"),
        ("{pay: {swap: {within: 5}}}", ".pay.swap.within: give a fraction of the ranks above 0, at most 1, not 5"),
        ("{pay: {pram: {}}}", ".pay.pram: give either matrix or keep"),
        ("{pay: {pram: {keep: 0.5, matrix: a.csv}}}", ".pay.pram: give either matrix or keep"),
        ("{pay: {pram: {keep: 1}}}", ".pay.pram.keep: give a probability from 0 to below 1, e.g. 0.8, not 1"),
        ("{pay: {pram: {kep: 1}}}", ".pay.pram.kep is not a key of a spec; did you mean 'keep'?"),
    ],
)
def test_wrong_perturbations(text: str, message: str) -> None:
    assert error(f"perturb: {text}") == f"perturb{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "perturb: {Age: {swap: {within: 1}}}",
            "'Age' in `perturb` is a quasi-identifier; only the other columns can be",
        ),
        (
            "{identifiers: [id], perturb: {id: {swap: {within: 1}}}}",
            "'id' in `perturb` is an identifier, which is dropped; only the other columns can be",
        ),
    ],
)
def test_a_perturbed_column_is_neither_quasi_identifier_nor_identifier(text: str, message: str) -> None:
    assert error(text) == f"{message} perturbed"


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ("{}", f": give {RECIPE_TEXT}, not {{}}"),
        ("5", f": give {RECIPE_TEXT}, not 5"),
        ("{file: a, ranges: [5]}", f": give {RECIPE_TEXT}, not {{'file': 'a', 'ranges': [5]}}"),
        ("''", ".file: give the path of a hierarchy file, not ''"),
        ("{table: 5}", ".table: give the name of a table or view, not 5"),
        ("{ranges: []}", ".ranges: give a list of range widths above 0, not []"),
        ("{ranges: 5}", ".ranges: give a list of range widths above 0, not 5"),
        ("{ranges: [5, 0]}", ".ranges: give a list of range widths above 0, not 0"),
        ("{ranges: [five]}", ".ranges: give a list of range widths above 0, not 'five'"),
        ("{ranges: [true]}", ".ranges: true is not a number; write a number"),
        ("{ranges: [5], top: .inf}", ".top: give a number, not inf"),
        ("{redact: middle}", ".redact: give right or left, not 'middle'"),
        ("{redact: left, step: 0}", ".step: give a whole number of at least 1, not 0"),
        ("{dates: month}", ".dates: give a list of date parts such as [month, year, 5 years], not 'month'"),
        ("{groups: []}", f".groups: there are none; give {GROUPS_TEXT}"),
        ("{groups: Higher}", f".groups: give {GROUPS_TEXT}, not 'Higher'"),
        ("{groups: {Higher: Masters}}", f".groups.Higher: give {GROUPS_TEXT}, not 'Masters'"),
        ("{groups: [{A: [1]}, {B: [[A]]}]}", f".groups.B: give {GROUPS_TEXT}, not ['A']"),
        ("{groups: {'': [a]}}", ".groups: a group has the empty text as its label; choose another"),
        ("{taxonomy: a, separator: 1}", ".separator: give a text such as ',' or ';', not 1"),
    ],
)
def test_wrong_recipes(recipe: str, message: str) -> None:
    text = f"quasi_identifiers: {{age: {{hierarchy: {recipe}}}}}"
    assert error(text) == "quasi_identifiers.age.hierarchy" + message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("identifiers: [a, b, a]", "identifiers: 'a' is listed twice; keep one of the two"),
        ("sensitive: [a, a]", "sensitive: 'a' is listed twice; keep one of the two"),
        ("quasi_identifiers: [a, a]", "quasi_identifiers: 'a' is listed twice; keep one of the two"),
        ("identifiers: [age]", "'age' is in both `identifiers` and `quasi_identifiers`; keep it in one of them"),
        ("sensitive: [age]", "'age' is in both `quasi_identifiers` and `sensitive`; keep it in one of them"),
        (
            "{identifiers: [a], sensitive: [a]}",
            "'a' is in both `identifiers` and `sensitive`; keep it in one of them",
        ),
        (
            "sensitive: [Age]",
            "'age' in `quasi_identifiers` and 'Age' in `sensitive` differ only in case; keep one of the two",
        ),
        (
            "identifiers: [Name, NAME]",
            "'Name' in `identifiers` and 'NAME' in `identifiers` differ only in case; keep one of the two",
        ),
    ],
)
def test_every_column_has_one_role(text: str, message: str) -> None:
    assert error(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "target: neither a file nor a table is named; choose one of them with `output` or `into`"),
        ("{file: a, table: b}", "target: both a file and a table are named; keep one of `output` and `into`"),
        ("{file: a, as: view}", "target: a view needs a name; choose it with `into`"),
        ("{table: a, as: index}", "target.as: give one of table, view, materialized, anatomy, not 'index'"),
        ("a.csv", "target: give a mapping such as {table: patients_anon, as: view}, not 'a.csv'"),
    ],
)
def test_wrong_targets(text: str, message: str) -> None:
    assert error(f"target: {text}") == message


def test_missing_requirements() -> None:
    with pytest.raises(SpecError, match=r"^source is missing; give the name of a table .* \(and 1 more\)$"):
        parse({})
    with pytest.raises(SpecError, match=r"^a spec is a mapping with keys such as source and privacy, not 5$"):
        parse(5)  # type: ignore[arg-type]


def test_an_error_never_prints_data_passed_instead_of_a_name() -> None:
    data = pandas.DataFrame({"zip": ["told nobody"] * 3})
    for spec in ({"privacy": {"k_map": {"k": 2, "population": data}}}, {"seed": data}, data):
        with pytest.raises(SpecError) as error:
            parse({"source": "people", "quasi_identifiers": ["zip"], **spec} if isinstance(spec, dict) else spec)
        assert "told" not in str(error.value)
        assert "not a DataFrame" in str(error.value)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"": {}}, "tables: give a mapping of tables, not ''"),
        ({"people": 5}, "tables.people: give a mapping of tables, not 5"),
        (
            {"people": {"quasi_identifiers": {"": {}}}},
            "tables.people.quasi_identifiers: give a mapping such as {age: {hierarchy: {ranges: [10]}}}, not ''",
        ),
        (
            {"people": {"quasi_identifiers": {"age": {"hierarchy": {"ranges": [0]}}}}},
            "tables.people.quasi_identifiers.age.hierarchy.ranges: give a list of range widths above 0, not 0",
        ),
    ],
)
def test_errors_in_a_spec_of_several_tables(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as raised:
        load_linked({"unit": {"people": "id"}, "privacy": {"k": 5}, "tables": tables})
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "quasi_identifiers: {age: {domain: 0}}",
            "quasi_identifiers.age.domain: give a number of values of at least 1, occurring, or hierarchy, not 0",
        ),
        (
            "node: {'': 1}",
            "node: give a mapping of every quasi-identifier to a level of at least 0, not ''",
        ),
    ],
)
def test_no_marks_of_the_validation_are_in_an_error(text: str, message: str) -> None:
    assert error(text) == message
