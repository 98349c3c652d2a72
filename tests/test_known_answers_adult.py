"""Published figures and ARX's own on the Adult table, with 30,162 rows."""

from collections import Counter
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from kanon_sql import anonymize
from kanon_sql import search as kanon_search
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization import recipes
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.loss import metric
from kanon_sql.privacy import PrivacyModel, all_of, k_anonymity, l_diversity, t_closeness
from kanon_sql.strategies import strategy
from kanon_sql.strategies.space import Score, Search, Space, Test
from support.data import DATA, NINE, adult, needs_adult
from support.known_answers import anonymous_nodes, as_node, driver, judge_of, search

incognito = import_module("kanon_sql.strategies.incognito")

# Adult: 30,162 rows, ARX's hierarchies

EIGHT = [name for name in NINE if name != "occupation"]


def settle(space: Space) -> Search:
    """Tag the whole lattice: from every unknown node find the border on a path up, by binary search (Flash)."""
    for node in space.lattice.nodes():
        path = [node] if space.tags.status(node) is None else []
        while above := path and [n for n in space.lattice.successors(path[-1]) if space.tags.status(n) is None]:
            path.append(above[0])
        while path:
            middle = len(path) // 2
            (held,) = yield Test([path[middle]])
            path = path[:middle] if held else path[middle + 1 :]
    yield Score([node for node in space.lattice.nodes() if space.tags.status(node)])


@needs_adult
@pytest.mark.parametrize(
    ("k", "limit", "node", "suppressed", "classes", "score"),
    [
        (2, 0.0, "041132020", 0, 52, 0.52970),
        (2, 0.02, "030121110", 573, 872, 0.20937),
        (5, 0.0, "041132210", 0, 24, 0.57315),
        (5, 0.02, "030221120", 506, 222, 0.31371),
        (5, 0.05, "030021120", 1346, 397, 0.24193),
        (5, 1.0, "030021110", 2553, 602, 0.22041),
        (10, 0.02, "040121120", 592, 124, 0.34234),
        (100, 0.02, "041132110", 506, 35, 0.50729),
    ],
)
@pytest.mark.slow
@pytest.mark.sampled
def test_arx_finds_the_same(k: int, limit: float, node: str, suppressed: int, classes: int, score: float) -> None:
    """ARX 3.9.2, optimal search, metric Loss; other nodes may have the same score."""
    frequency_set = adult(*NINE)
    judge = judge_of(frequency_set, k)
    costs = judge.costs()
    arx = judge.classes(as_node(node))
    assert (arx.rows_at_risk, arx.classes) == (suppressed, classes)
    arx_score = metric("loss_geometric").score(costs, judge.losses(as_node(node), costs))
    assert arx_score == pytest.approx(score, abs=5.1e-6)
    for name in ("auto", "certified"):
        if limit == 1 and name == "certified":
            continue  # its proof, which `auto` runs too, takes longest there
        outcome = search(frequency_set, k, limit, "loss_geometric", name)
        assert outcome.score == pytest.approx(arx_score, abs=1e-12)
        assert outcome.proven_optimal


@needs_adult
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_local_search_finds_arx_optimum_in_273_evaluations(seed: int) -> None:
    """As many as a search like it took elsewhere; less than a hundred will do."""
    run = driver(adult(*NINE), 5, 0.02, "loss_geometric")
    outcome = replace(run, seed=seed, evaluations=273).run(strategy("local_search"))
    assert outcome.score == pytest.approx(0.31371, abs=5.1e-6)
    assert outcome.nodes_checked <= 273


@needs_adult
@pytest.mark.slow
def test_auto_proves_the_same_in_798_checks() -> None:
    outcome = search(adult(*NINE), 5, 0.02, "loss_geometric", "auto")
    assert (outcome.nodes_checked, outcome.proven_optimal) == (798, True)


@needs_adult
@pytest.mark.slow
def test_arx_finds_the_same_from_file_to_file(tmp_path: Path) -> None:
    release = anonymize(
        DATA / "adult" / "adult.csv",
        {"quasi_identifiers": NINE, "hierarchies": str(DATA / "adult" / "hierarchies"), "time_limit": 600.0},
        k=100,
        suppression_limit=0.02,
        metric="loss_geometric",
        output=tmp_path / "adult.csv",
    )
    manifest = release.manifest
    assert tuple(manifest["node"].values()) == as_node("041132110")
    assert (manifest["suppressed_rows"], manifest["classes"], manifest["privacy"][0]["required"]) == (506, 35, 100)
    assert manifest["smallest_class"] >= 100
    assert manifest["score"] == pytest.approx(0.50729, abs=5.1e-6)
    assert manifest["proven_optimal"]
    assert (tmp_path / "adult.csv").read_text().count("\n") == 30_162 - 506 + 1


@needs_adult
@pytest.mark.slow
def test_breadth_first_makes_4278_checks_on_adult() -> None:
    """anonbench's count: every non-anonymous node and every minimal anonymous one."""
    outcome = search(adult(*EIGHT), 5, 0.0, "precision", "exhaustive")
    assert outcome.nodes_checked == 4278
    assert outcome.score == 0.625


@needs_adult
def test_flash_needs_115_checks_on_adult() -> None:
    """anonbench's count, which hangs on all three criteria of its order and on how their ties are taken."""
    outcome = search(adult(*EIGHT), 5, 0.0, "precision", "flash")
    assert outcome.nodes_checked == 115
    assert (outcome.score, outcome.proven_optimal) == (0.625, True)


@needs_adult
def test_depth_first_needs_no_more_checks_than_breadth_first() -> None:
    """It tests what is unknown when its turn comes: with tags from above and below that is far less than 4,278."""
    outcome = search(adult(*EIGHT), 5, 0.0, "precision", "depth_first")
    assert outcome.nodes_checked == 99
    assert (outcome.score, outcome.proven_optimal) == (0.625, True)


@needs_adult
def test_incognito_needs_1360_checks_on_adult(monkeypatch: pytest.MonkeyPatch) -> None:
    """By size of the subset, counted by brute force; published are 1,302 in all, which we cannot explain."""
    checks: Counter[int] = Counter()
    minimal_of = incognito.minimal_of

    def counting(space: Space, part: Lattice) -> Search:
        search, answers = minimal_of(space, part), None
        size = sum(low < high for low, high in zip(part.bottom, part.top, strict=True))
        try:
            while True:
                request = search.send(answers)
                checks[size] += len(request.nodes)
                answers = yield request
        except StopIteration as end:
            return end.value

    monkeypatch.setattr(incognito, "minimal_of", counting)
    outcome = search(adult(*EIGHT), 5, 0.0, "precision", "incognito")
    assert [checks[size] for size in range(1, 9)] == [10, 91, 178, 306, 376, 273, 108, 18]
    assert outcome.nodes_checked < checks.total() == 1360
    assert len(outcome.minimal) == 18


@needs_adult
@pytest.mark.parametrize("name", ["flash", "incognito"])
@pytest.mark.parametrize(
    ("k", "limit", "anonymous", "k_minimal"),
    [(2, 0.0, 94, 23), (5, 0.0, 60, 18), (10, 0.0, 45, 14), (5, 0.01, 1066, 290), (5, 0.02, 1586, 378)],
)
def test_flash_and_incognito_settle_the_lattice_of_adult(
    name: str, k: int, limit: float, anonymous: int, k_minimal: int
) -> None:
    run = driver(adult(*EIGHT), k, limit, "precision")
    outcome = run.run(strategy(name))
    statuses = Counter(run._tags.status(node) for node in run.lattice.nodes())
    assert statuses == {True: anonymous, False: run.lattice.size - anonymous}
    assert name == "flash" or len(outcome.minimal) == k_minimal


@needs_adult
@pytest.mark.parametrize(
    ("names", "k", "limit", "anonymous", "k_minimal", "height", "precision"),
    [
        (EIGHT, 2, 0.0, 94, 23, 11, 0.5625),
        (EIGHT, 5, 0.0, 60, 18, 12, 0.625),
        (EIGHT, 10, 0.0, 45, 14, 12, 0.6875),
        (EIGHT, 5, 0.01, 1066, 290, 8, 0.4167),
        (EIGHT, 5, 0.02, 1586, 378, 7, 0.3542),
        (EIGHT, 5, 0.05, 2575, 410, 6, 0.2708),
        (NINE, 2, 0.0, 136, 32, 13, 0.6111),
        (NINE, 5, 0.0, 87, 27, 14, 0.6667),
        (NINE, 10, 0.0, 65, 20, 14, 0.6667),
        (NINE, 5, 0.01, 1816, 577, 10, 0.4815),
        (NINE, 5, 0.05, 5184, 1071, 8, 0.3333),
    ],
)
@pytest.mark.sampled
def test_the_whole_lattice_of_adult(
    names: list[str], k: int, limit: float, anonymous: int, k_minimal: int, height: int, precision: float
) -> None:
    """Problem by brute force in numpy; here a few tests tag every node."""
    run = driver(adult(*names), k, limit, "precision")
    outcome = run.run(settle)
    tagged = [node for node in run.lattice.nodes() if run._tags.status(node)]
    lower = set(tagged)
    lowest = [node for node in tagged if not any(n in lower for n in run.lattice.predecessors(node))]
    assert (len(tagged), len(lowest), min(map(sum, lowest))) == (anonymous, k_minimal, height)
    assert outcome.score == pytest.approx(precision, abs=5e-5)
    assert outcome.proven_optimal
    assert len(lowest) < outcome.nodes_checked < run.lattice.size / 2


@needs_adult
@pytest.mark.parametrize(
    ("names", "k", "best", "node"),
    [
        (EIGHT, 2, 49_216_658, None),
        (EIGHT, 5, 55_170_356, "11113221"),
        (EIGHT, 10, 55_170_356, "11113221"),
        (NINE, 2, 19_399_310, "111132211"),
        (NINE, 5, 33_627_534, "111232211"),
        (NINE, 10, 55_170_356, None),
    ],
)
@pytest.mark.parametrize("name", ["auto", "ola"])
@pytest.mark.sampled
def test_the_optimum_by_discernibility(name: str, names: list[str], k: int, best: int, node: str | None) -> None:
    """Without suppression it is the sum of squared class sizes; anonbench's Adult, k = 5, is the second."""
    outcome = search(adult(*names), k, 0.0, "discernibility", name)
    assert outcome.score == best
    assert node is None or outcome.node == as_node(node)
    assert outcome.proven_optimal


@needs_adult
def test_ola_needs_about_90_checks_on_adult() -> None:
    """anonbench counts 90; it depends on the order within a level."""
    assert 60 < search(adult(*EIGHT), 5, 0.0, "precision", "ola").nodes_checked < 130


# Samarati on Adult, with the hierarchies of github.com/Hjh233/K-anonymity: sex, race, marital status, age

MARITAL = {
    "Alone": ["Married-spouse-absent", "Widowed"],
    "Leave": ["Separated", "Divorced"],
    "Married": ["Married-civ-spouse", "Married-AF-spouse"],
    "NM": ["Never-married"],
}


@cache
def samarati() -> FrequencySet:
    engine = DuckDB()
    table = engine.read_file(str(DATA / "adult" / "adult.csv"))
    marital = h.from_rows([[one, group, "*"] for group, ones in MARITAL.items() for one in ones], "marital")
    builders = {
        "sex": lambda values: recipes.suppress(values, "sex"),
        "race": lambda values: recipes.suppress(values, "race"),
        "marital-status": lambda _: marital,
        "age": lambda values: recipes.ranges(values, [5, 10, 20], "age", origin=16),
    }
    return build_frequency_set(engine, table, builders, Scratch(engine))


@needs_adult
@pytest.mark.parametrize(
    ("k", "allowed", "expected"),
    [
        (10, 20, {"0121": (0, 30), "1111": (17, 54)}),
        (5, 20, {"0103": (13, 44), "0112": (15, 55), "0121": (0, 30), "1111": (10, 55), "1120": (7, 69)}),
        (20, 20, {"0122": (12, 15), "1121": (0, 15)}),
        (10, 10, {"0121": (0, 30)}),
        (10, 30, {"0121": (0, 30), "1111": (17, 54), "1120": (27, None)}),
        (2, 0, {"0121": (0, 30)}),
        (5, 0, {"0121": (0, 30)}),
        (10, 0, {"0121": (0, 30)}),
        (100, 0, {"0114": (0, 8)}),
        (2, 20, {"0101": (16, 158)}),
    ],
)
def test_samarati_2001(k: int, allowed: int, expected: dict[str, tuple[int, int | None]]) -> None:
    """All nodes of the least height: rows suppressed and classes released."""
    frequency_set = samarati()
    assert frequency_set.heights == (1, 1, 2, 4)
    nodes = anonymous_nodes(frequency_set, k, allowed)
    lowest = min(map(sum, nodes))
    at_lowest = {node: at_risk for node, at_risk in nodes.items() if sum(node) == lowest}
    assert at_lowest == {as_node(node): suppressed for node, (suppressed, _) in expected.items()}
    for node, (_, classes) in expected.items():
        assert Judge(frequency_set, all_of(k_anonymity(k))).classes(as_node(node)).classes == classes or classes is None
    for name in ("ola", "samarati"):
        outcome = search(frequency_set, k, allowed / frequency_set.rows, "height", name)
        assert (outcome.score, outcome.proven_optimal) == (lowest, True)


@needs_adult
@pytest.mark.parametrize(
    ("k", "allowed", "by", "node"),
    [
        (5, 20, "loss", "0112"),  # the repository's own choice, by a loss that is not quite ours
        (10, 20, "loss", "0121"),
        (5, 20, "average_class_size", "1120"),  # 69 classes
        (10, 20, "average_class_size", "1111"),  # 54 classes
        (5, 20, "precision", "0103"),
        (20, 20, "height", "0122"),  # not (1, 1, 0, 4), which the repository publishes
    ],
)
def test_samarati_takes_the_best_node_of_the_least_height(k: int, allowed: int, by: str, node: str) -> None:
    frequency_set = samarati()
    assert search(frequency_set, k, allowed / frequency_set.rows, by, "samarati").node == as_node(node)


# Adult, occupation sensitive: ARX 3.9.2, optimal search, k = 5, metric Loss, suppression limit 2 %


def of_occupation(kind: str) -> PrivacyModel:
    rows = [line.split(";") for line in (DATA / "adult" / "hierarchies" / "occupation.csv").read_text().splitlines()]
    models = {
        "l = 3": lambda: l_diversity("occupation", 3),
        "l = 5": lambda: l_diversity("occupation", 5),
        "entropy": lambda: l_diversity("occupation", 3, "entropy"),
        "recursive": lambda: l_diversity("occupation", 3, "recursive", c=4),
        "equal": lambda: t_closeness("occupation", 0.2),
        "hierarchical": lambda: t_closeness("occupation", 0.2, "hierarchical", h.from_rows(rows, "occupation")),
    }
    return models[kind]()


@needs_adult
@pytest.mark.parametrize(
    ("kind", "score", "node", "suppressed", "checks", "certified"),
    [
        ("l = 3", 0.24691, "03022110", 522, 271, 582),
        ("l = 5", 0.2761, "04012110", 556, 224, 485),
        ("entropy", 0.2752, "04012110", 518, 293, 645),
        ("recursive", 0.2555, "03013110", 573, 247, 550),
        ("equal", 0.8150, "14113121", 235, 36, 20),
        ("hierarchical", 0.7351, "14023121", 151, 84, 60),
    ],
)
@pytest.mark.slow
@pytest.mark.sampled
def test_arx_score_with_a_sensitive_attribute_is_proven(
    kind: str, score: float, node: str, suppressed: int, checks: int, certified: int
) -> None:
    """Of 4,320 nodes; by checks that do not depend on the machine, and within the default time limit."""
    for name, expected in (("auto", checks), ("certified", certified)):
        best = kanon_search(
            DATA / "adult" / "adult.csv",
            quasi_identifiers=[item for item in NINE if item != "occupation"],
            hierarchies=DATA / "adult" / "hierarchies",
            privacy=[k_anonymity(5), of_occupation(kind)],
            suppression_limit=0.02,
            metric="loss_geometric",
            strategy=name,
        )
        assert best.score == pytest.approx(score, abs=5.1e-5)
        assert best.proven_optimal
        assert (tuple(best.node.values()), best.rows_at_risk) == (as_node(node), suppressed)
        assert (best.outcome.nodes_checked, best.lattice_size) == (expected, 4320)
