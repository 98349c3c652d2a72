"""The user's own metrics, strategies, hierarchies and privacy models, as values and as `module:name`."""

import datetime
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql import hierarchy, own
from kanon_sql.errors import HierarchyError, SpecError
from kanon_sql.loss import Metric
from kanon_sql.privacy import PrivacyModel, k_anonymity, l_diversity
from kanon_sql.spec import parse
from kanon_sql.strategies import Score, Space, Strategy, Test
from support.command_line import kanon

ROWS = [(20 + 7 * i % 50, f"{12 + i % 3}{i % 4}", ("flu", "acne", "gout")[i % 3], f"h{i % 5}") for i in range(120)]
PEOPLE = pandas.DataFrame(ROWS, columns=["age", "zip", "ill", "hospital"])
RECIPES = {"age": {"hierarchy": {"ranges": [5, 10]}}, "zip": {"hierarchy": {"redact": "right"}}}
ASKED: dict[str, Any] = {"quasi_identifiers": RECIPES, "keep": ["ill"], "privacy": {"k": 4}}
WORST = Metric("worst", ("losses",), lambda _, losses: max(losses))


def climb(space: Space) -> Iterator[Any]:
    """Down from the top, one level at a time, scoring what was never tested."""
    node = space.lattice.top
    while True:
        yield Score([node])
        below = list(space.lattice.predecessors(node))
        answers = (yield Test(below)) if below else []
        kept = [lower for lower, anonymous in zip(below, answers, strict=True) if anonymous]
        if not kept:
            return
        node = kept[0]


def nothing(space: Space) -> Iterator[Any]:
    yield Score([space.lattice.top])
    assert space.score_of(space.lattice.top) is not None


def decades(age: int) -> list[str]:
    return [f"{age // 10}0s", "young" if age < 40 else "old"]


def worst_losses() -> dict[tuple[int, int], float]:
    """The larger loss of the two columns at every node whose classes all have four rows, in plain Python."""
    ages: list[Callable[[Any], Any]] = [lambda x: x, lambda x: x // 5, lambda x: x // 10, lambda _: "*"]
    zips: list[Callable[[Any], Any]] = [lambda x: x, lambda x: x[:2], lambda x: x[:1], lambda _: "*"]
    found = {}
    for node in product(range(len(ages)), range(len(zips))):
        shown = [(ages[node[0]](age), zips[node[1]](code)) for age, code, _, _ in ROWS]
        if min(Counter(shown).values()) >= 4:
            found[node] = max(_loss(ages[node[0]], 0), _loss(zips[node[1]], 1))
    return found


def _loss(label: Callable[[Any], Any], column: int) -> float:
    leaves = {row[column] for row in ROWS}
    under = Counter(map(label, leaves))
    return sum((under[label(row[column])] - 1) / (len(leaves) - 1) for row in ROWS) / len(ROWS)


@pytest.mark.parametrize("strategy", ["auto", "exhaustive", "best_first", "certified", "depth_first"])
def test_a_metric_without_declarations_is_minimized_and_proven(strategy: str) -> None:
    best = kanon_sql.search(PEOPLE, ASKED, metric=WORST, strategy=strategy, suppression_limit=0)
    assert best.score == pytest.approx(min(worst_losses().values()))
    assert best.proven_optimal
    assert best.metric == "worst"


def test_a_metric_can_declare_any_inputs() -> None:
    every = Metric("every", ("bits", "classes", "losses"), lambda _, bits, n, losses: sum(bits) / n + max(losses))
    best = kanon_sql.search(PEOPLE, ASKED, metric=every, strategy="exhaustive", suppression_limit=0.3)
    assert best.proven_optimal
    assert best.score > 0


def test_a_metric_that_is_not_what_it_declares_proves_nothing() -> None:
    below = Metric("below", ("losses",), lambda *_: -1.0)
    with pytest.raises(
        SpecError, match=r"the metric below scores a node -1.0, below the minimum of a metric without `parts`"
    ):
        kanon_sql.search(PEOPLE, ASKED, metric=below)
    unknown = Metric("unknown", ("losses",), lambda *_: float("nan"))
    with pytest.raises(SpecError, match="scores a node nan"):
        kanon_sql.search(PEOPLE, ASKED, metric=unknown)
    halved = Metric("halved", ("losses",), lambda _, x: sum(x) / 4, lambda costs: costs.level_losses)
    with pytest.raises(SpecError, match=r"the metric halved scores a node .* correct its `formula` or its `parts`"):
        kanon_sql.search(PEOPLE, ASKED, metric=halved, strategy="exhaustive", suppression_limit=0)
    with pytest.raises(SpecError, match="loss is a metric already"):
        kanon_sql.search(PEOPLE, ASKED, metric=Metric("loss", ("losses",), lambda *_: 0.0))


def test_a_generator_function_is_accepted_wherever_a_strategy_name_is() -> None:
    release = kanon_sql.anonymize(PEOPLE, ASKED, strategy=climb, metric=WORST, suppression_limit=0)
    node = tuple(release.manifest["node"].values())
    assert release.manifest["strategy"] == "climb"
    assert release.manifest["verified"]
    assert release.manifest["information_loss"]["worst"] == pytest.approx(worst_losses()[node])
    assert kanon_sql.search(PEOPLE, {**ASKED, "strategy": climb}).strategy == "climb"
    assert "Strategy climb" in kanon_sql.lattice(PEOPLE, ASKED, strategy=climb).summary
    assert kanon_sql.explain(PEOPLE, ASKED, strategy=climb).steps
    named = Strategy("named", climb, "a local optimum")
    both = kanon_sql.compare(PEOPLE, ASKED, strategies=["auto", climb, named])
    assert [(search.strategy, search.refused) for search in both.searches] == [
        ("auto", None),
        ("climb", None),
        ("named", None),
    ]
    assert both.searches[2].promise == "a local optimum"


def test_a_strategy_can_score_untested_nodes() -> None:
    assert kanon_sql.search(PEOPLE, ASKED, strategy=nothing).outcome.found_by in ("strategy", "lowered")


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        (lambda _: None, "the strategy <lambda> returned NoneType; write a generator"),
        (lambda _: (yield "top"), "the strategy <lambda> yielded 'top'; yield"),
        (lambda _: (yield Test([(9, 9)])), r"asked for \(9, 9\), which is not a node"),
        (lambda _: (yield Test([[0, 0]])), r"asked for \[0, 0\], which is not a node"),  # type: ignore[list-item]
    ],
)
def test_a_value_that_is_not_a_strategy_is_refused(requests: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        kanon_sql.search(PEOPLE, ASKED, strategy=requests)


def test_a_strategy_needs_a_unique_name() -> None:
    def ola(space: Space) -> Iterator[Any]:
        yield Test([space.lattice.top])

    with pytest.raises(SpecError, match="ola is a strategy already"):
        kanon_sql.search(PEOPLE, ASKED, strategy=ola)


ZIPS = {code: [f"{code[:2]}x", "north" if code < "13" else "south"] for code in sorted({row[1] for row in ROWS})}
TABLE = pandas.DataFrame([[code, *labels] for code, labels in ZIPS.items()])


@pytest.mark.parametrize("zips", [ZIPS, TABLE, lambda code: ZIPS[code]], ids=["mapping", "frame", "function"])
def test_a_hierarchy_is_a_mapping_a_frame_or_a_function(zips: Any) -> None:
    given = {
        "quasi_identifiers": ["age", "zip"],
        "keep": [],
        "privacy": {"k": 4},
        "hierarchies": {"zip": zips, "age": decades},
    }
    frame = kanon_sql.anonymize(PEOPLE, given, node={"age": 1, "zip": 2}, suppression_limit=0.9).to_df()
    kept = Counter((decades(age)[0], ZIPS[code][1]) for age, code, _, _ in ROWS)
    assert Counter(frame.itertuples(index=False, name=None)) == {item: n for item, n in kept.items() if n >= 4}
    assert kanon_sql.compare(PEOPLE, given, strategies=["ola"]).searches[0].node is not None


def test_a_built_hierarchy_is_used_unchanged() -> None:
    built = hierarchy.build(PEOPLE, "age", {"ranges": [5, 10]})
    columns = {"age": {"hierarchy": built, "min_level": 1}, "zip": {"hierarchy": TABLE}}
    first = kanon_sql.search(PEOPLE, quasi_identifiers=columns, k=4)
    second = kanon_sql.search(
        PEOPLE, {"quasi_identifiers": {**columns, "age": {**RECIPES["age"], "min_level": 1}}}, k=4
    )
    assert first.node == second.node
    assert first.score == pytest.approx(second.score)
    close = {
        "ill": {"t": 0.9, "distance": "hierarchical", "hierarchy": {"flu": "lung", "acne": "skin", "gout": "joint"}}
    }
    assert kanon_sql.search(PEOPLE, ASKED, sensitive=["ill"], keep=[], t_closeness=close).proven_optimal


def test_a_function_gets_the_values_of_the_column_and_not_null() -> None:
    days = [datetime.date(2020, 1 + i % 12, 3) if i % 5 else None for i in range(60)]
    table = pandas.DataFrame({"born": pandas.Series(days, dtype=object)})
    release = kanon_sql.anonymize(
        table, quasi_identifiers=["born"], hierarchies={"born": lambda day: f"Q{(day.month + 2) // 3}"}, k=5
    )
    assert set(release.to_df()["born"].dropna()) <= {"Q1", "Q2", "Q3", "Q4", "*"}
    assert release.manifest["verified"]


def test_an_invalid_hierarchy_is_refused() -> None:
    with pytest.raises(HierarchyError, match="the function of its hierarchy must return the same number of labels"):
        kanon_sql.search(PEOPLE, quasi_identifiers=["age"], hierarchies={"age": lambda age: ["x"] * (age % 2)})
    with pytest.raises(HierarchyError, match="level 2"):
        kanon_sql.search(PEOPLE, quasi_identifiers=["age"], hierarchies={"age": lambda age: ["x", str(age)]})
    with pytest.raises(SpecError, match="'zip', which is not a quasi-identifier"):
        kanon_sql.search(PEOPLE, quasi_identifiers=["age"], hierarchies={"age": "suppress", "zip": ZIPS})
    with pytest.raises(SpecError, match=r"hierarchy.rangs is not a key"):
        kanon_sql.search(PEOPLE, quasi_identifiers={"age": {"hierarchy": {"rangs": [5, 10]}}})


MODULE = """
from kanon_sql.loss import Metric
from kanon_sql.privacy import PrivacyModel
from kanon_sql.strategies import Score

open("imported", "w").close()
worst = Metric("worst", ("losses",), lambda _, losses: max(losses))
two = PrivacyModel("two of ill", {"l": 2}, {"values": "COUNT(c)"}, "values >= $l", sensitive="ill")

def top(space):
    yield Score([space.lattice.top])

def decades(age):
    return [f"{age // 10}0s"]
"""
SPEC = """
source: people.csv
quasi_identifiers: {age: {hierarchy: {function: our_rules:decades}}, zip: {hierarchy: {redact: right}}}
privacy: {k: 3, models: [our_rules:two]}
metric: our_rules:worst
strategy: our_rules:top
target: {file: released.csv}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with people and a spec, and beside it one for modules."""
    folder, modules = tmp_path / "data", tmp_path / "modules"
    folder.mkdir()
    modules.mkdir()
    PEOPLE.to_csv(folder / "people.csv", index=False)
    (folder / "spec.yml").write_text(SPEC)
    (modules / "our_rules.py").write_text(MODULE)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    yield folder
    sys.modules.pop("our_rules", None)


def test_a_spec_names_code_of_a_module_that_is_allowed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(own.ALLOWED, "other our_rules")
    monkeypatch.syspath_prepend(str(project.parent / "modules"))
    line = kanon("anonymize", "--spec", "spec.yml", "--json")
    assert line.code == 0, line.err
    manifest = json.loads(line.out)
    assert (manifest["metric"], manifest["strategy"]) == ("worst", "top")
    assert [(finding["model"], finding["required"]) for finding in manifest["privacy"]] == [
        ("k-anonymity", 3),
        ("two of ill", 2),
    ]
    assert kanon_sql.verify(spec="spec.yml").holds
    (project / "released.csv").unlink()
    assert kanon_sql.run("spec.yml").releases[0].status == "released"
    assert kanon_sql.run("spec.yml").releases[0].status == "unchanged"
    (project.parent / "modules" / "our_rules.py").write_text(f"{MODULE}\n# other\n")
    assert kanon_sql.run("spec.yml").releases[0].why == ("the spec changed",)


def test_the_command_line_names_models_of_a_module(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(own.ALLOWED, "our_rules")
    monkeypatch.syspath_prepend(str(project.parent / "modules"))
    (project / "spec.yml").write_text(SPEC.replace(", models: [our_rules:two]", ""))
    line = kanon("anonymize", "--spec", "spec.yml", "--models", "our_rules:two", "--json")
    assert line.code == 0, line.err
    assert [model["model"] for model in json.loads(line.out)["privacy"]] == ["k-anonymity", "two of ill"]


def test_no_code_runs_unless_its_module_is_allowed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(project.parent / "modules"))
    for verb in (kanon_sql.anonymize, kanon_sql.search, kanon_sql.compare, kanon_sql.verify):
        with pytest.raises(
            SpecError, match=r"names code, our_rules:.* set the environment variable KANON_MODULES=our_r"
        ):
            verb(spec="spec.yml")
    with pytest.raises(SpecError, match="names code"):
        kanon_sql.run("spec.yml")
    with pytest.raises(SpecError, match="names code, os:system"):
        kanon_sql.search(PEOPLE, quasi_identifiers={"zip": {"hierarchy": {"function": "os:system"}}})
    monkeypatch.setenv(own.ALLOWED, "our")
    with pytest.raises(SpecError, match="names code, our_rules"):
        kanon_sql.search(PEOPLE, ASKED, metric="our_rules:worst")
    assert not (project / "imported").exists()
    assert "our_rules" not in sys.modules


def test_no_module_is_imported_from_the_folder_of_the_data(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(own.ALLOWED, "our_rules")
    (project.parent / "modules" / "our_rules.py").rename(project / "our_rules.py")
    for place in ("", str(project)):
        monkeypatch.setattr(sys, "path", [place, *sys.path])
        with pytest.raises(SpecError, match=r"the module our_rules is in .*, the folder of the data"):
            kanon_sql.anonymize(spec="spec.yml")
    monkeypatch.chdir(project.parent)
    with pytest.raises(SpecError, match=r"the module our_rules is in .*, the folder of the data"):
        kanon_sql.anonymize(spec=str(project / "spec.yml"))
    assert not (project / "imported").exists()
    assert not (project.parent / "imported").exists()
    monkeypatch.setattr(sys, "path", [item for item in sys.path if item not in ("", str(project))])
    with pytest.raises(SpecError, match="cannot be imported"):
        kanon_sql.anonymize(spec=str(project / "spec.yml"))


def test_the_page_runs_no_code(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("starlette")
    from kanon_sql.page import worker
    from kanon_sql.page.first_draft import open_page

    monkeypatch.setenv(own.ALLOWED, "our_rules")
    monkeypatch.syspath_prepend(str(project.parent / "modules"))
    with pytest.raises(SpecError, match="the page runs no code, and the spec names our_rules:worst"):
        open_page(None, "spec.yml", time_limit=1)
    draft = open_page("people.csv", time_limit=1).draft
    with pytest.raises(SpecError, match="the page runs no code"):
        draft.spec(metric="our_rules:worst")
    with pytest.raises(SpecError, match="the page runs no code"):
        worker.run({"spec": {**draft.mapping(), "privacy": {"models": ["our_rules:two"]}}})
    assert not (project / "imported").exists()


def test_a_value_that_is_not_a_privacy_model_is_refused() -> None:
    with pytest.raises(SpecError, match="is not a privacy model; use values such as k_anonymity"):
        kanon_sql.search(PEOPLE, ASKED, privacy=[k_anonymity])
    with pytest.raises(SpecError, match=r"privacy.models: give module:name, or in Python a privacy model"):
        kanon_sql.search(PEOPLE, {**ASKED, "privacy": {"models": [lambda _: True]}})
    with pytest.raises(SpecError, match=r"privacy.models: give module:name"):
        parse({"source": "x.csv", "quasi_identifiers": ["age"], "privacy": {"models": ["two"]}})


def test_privacy_models_can_be_in_the_spec() -> None:
    spec = {"quasi_identifiers": RECIPES, "privacy": {"k": 3, "models": [l_diversity("ill", 2)]}}
    named = kanon_sql.anonymize(PEOPLE, spec).manifest
    assert [finding["model"] for finding in named["privacy"]] == ["k-anonymity", "distinct l-diversity of ill"]
    assert isinstance(l_diversity("ill", 2), PrivacyModel)
