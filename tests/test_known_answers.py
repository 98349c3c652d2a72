"""Published figures and ARX's own: small tables by hand, and Adult where KANON_DATA says where it is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from kanon_sql import anonymize
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.frequency.judge import Judge, may_suppress
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization import recipes
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Lattice, Node, below
from kanon_sql.loss import Costs, Figures, metric
from kanon_sql.privacy import all_of, k_anonymity
from kanon_sql.strategies import Driver, Outcome, Progress, strategy
from kanon_sql.strategies.accuracy import accuracy, level_of_generalization
from kanon_sql.strategies.reduction import lattice_minimum
from kanon_sql.strategies.space import Score, Search, Space, Test
from support.data import DATA, NINE, adult, needs, needs_adult
from support.database import create_table

incognito = import_module("kanon_sql.strategies.incognito")


def minimal(nodes: Sequence[Node]) -> list[Node]:
    return [node for node in nodes if not any(other != node and below(other, node) for other in nodes)]


# Small tables


def counted(engine: Engine, rows: Sequence[tuple[Any, ...]], hierarchies: Sequence[Hierarchy]) -> FrequencySet:
    names = [f"q{i}" for i in range(len(hierarchies))]
    table = create_table(engine, "people", dict.fromkeys(names, "VARCHAR"), rows)
    builders = {name: lambda _, found=found: found for name, found in zip(names, hierarchies, strict=True)}
    return build_frequency_set(engine, table, builders, Scratch(engine))


def anonymous_nodes(found: FrequencySet, k: int, allowed: int = 0) -> dict[Node, int]:
    """Every k-anonymous node with the rows that it suppresses."""
    nodes = list(Lattice((0,) * len(found.heights), found.heights).nodes())
    at_risk = Judge(found, all_of(k_anonymity(k))).rows_at_risk(nodes)
    return {node: rows for node, rows in zip(nodes, at_risk, strict=True) if rows <= allowed}


RACE = h.from_rows([["Black", "person", "*"], ["White", "person", "*"]], "race")
ZIP = h.from_rows(
    [[z, "0213*" if z < "0214" else "0214*", "021**", "*"] for z in ("02138", "02139", "02141", "02142")], "zip"
)


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (2, {(0, 1): 0.8333, (1, 0): 0.75}),
        (3, {(0, 2): 0.6667, (1, 1): 0.5833}),
        (4, {(0, 2): 0.6667, (1, 1): 0.5833}),
        (8, {(1, 2): 0.4167}),
    ],
)
def test_sweeney_2002(engine: Engine, k: int, expected: dict[Node, float]) -> None:
    """The minimal generalizations of eight people by race and ZIP, with what is left of the precision."""
    rows = [(race, zip_code) for race in ("Black", "White") for zip_code in ZIP.values]
    found = counted(engine, rows, [RACE, ZIP])
    assert set(minimal(list(anonymous_nodes(found, k)))) == set(expected)
    for name in ("ola", "incognito", "flash", "samarati"):
        outcome = search(found, k, 0.0, "precision", name)
        assert outcome.node == max(expected, key=expected.__getitem__)
        assert 1 - outcome.score == pytest.approx(max(expected.values()), abs=5e-5)
    assert set(search(found, k, 0.0, "precision", "incognito").minimal) == set(expected)


SCORES = h.from_rows([[str(i), "0-2" if i < 3 else "3-5", "0-5"] for i in range(6)], "score")
TAXI = ["401", "401", "111", "143", "155", "044", "043", "045"]


def test_mahanan_2021(engine: Engine) -> None:
    """Eight people rate three taxis. The paper's optimum holds; its C_avg of .89 is 8 / (3 * 3), k being 2."""
    found = counted(engine, [tuple(row) for row in TAXI], [SCORES] * 3)
    assert set(anonymous_nodes(found, 2)) == {(0, 2, 2), (2, 1, 1), (1, 2, 2), (2, 1, 2), (2, 2, 1), (2, 2, 2)}
    classes = {node: Judge(found, all_of(k_anonymity(2))).classes(node).classes for node in [(0, 2, 2), (2, 1, 1)]}
    assert classes == {(0, 2, 2): 3, (2, 1, 1): 2}
    best = search(found, 2, 0.0, "average_class_size", "auto")
    assert (best.node, best.score) == ((0, 2, 2), pytest.approx(8 / 6))
    assert search(found, 2, 0.0, "precision", "auto").score == pytest.approx(2 / 3)
    for name in ("optimal_igh", "extended_igh"):
        for by in ("precision", "height"):
            outcome = search(found, 2, 0.0, by, name)
            assert (outcome.node, outcome.proven_optimal) == ((0, 2, 2), True)
    assert minimal(list(anonymous_nodes(found, 3))) == [(2, 1, 1)]
    assert search(found, 3, 0.0, "average_class_size", "auto").score == pytest.approx(8 / 6)


def test_sweeney_2002_model() -> None:
    """Two-anonymous on race, birth, gender and ZIP as printed: five classes, and none is smaller than two."""
    classes = {
        ("Black", "1965", "m", "0214*"): 2,
        ("Black", "1965", "f", "0213*"): 2,
        ("Black", "1964", "f", "0213*"): 2,
        ("White", "1964", "m", "0213*"): 3,
        ("White", "1967", "m", "0213*"): 2,
    }
    rows = [labels for labels, size in classes.items() for _ in range(size)]
    keep = [recipes.suppress({row[j] for row in rows}, f"q{j}") for j in range(4)]
    found = counted(DuckDB(), rows, keep)
    assert anonymous_nodes(found, 2)[(0, 0, 0, 0)] == 0
    figures = Judge(found, all_of(k_anonymity(2))).classes((0, 0, 0, 0))
    assert (figures.classes, figures.smallest_class, figures.squares) == (5, 2, 25)


# Adult: 30,162 rows, ARX's hierarchies

EIGHT = [name for name in NINE if name != "occupation"]


class Remembering(Judge):
    """Asks for a node once, since what it counts depends neither on the suppression limit nor on the metric."""

    def __init__(self, found: FrequencySet, k: int) -> None:
        super().__init__(found, all_of(k_anonymity(k)))
        self.known: dict[Node, int] = {}
        self.figures: dict[Node, Figures] = {}

    def rows_at_risk(self, nodes: Sequence[Node]) -> list[int]:
        new = [node for node in nodes if node not in self.known]
        self.known |= zip(new, super().rows_at_risk(new), strict=True) if new else {}
        return [self.known[node] for node in nodes]

    def losses(self, node: Node, costs: Costs) -> Figures:
        if node not in self.figures:
            self.figures[node] = super().losses(node, costs)
        return self.figures[node]


judge_of = cache(Remembering)


def driver(found: FrequencySet, k: int, limit: float, by: str) -> Driver:
    judge = judge_of(found, k)
    lattice = Lattice((0,) * len(found.heights), found.heights)
    return Driver(lattice, judge.costs(), metric(by), judge, may_suppress(limit, found.rows))


def search(found: FrequencySet, k: int, limit: float, by: str, name: str) -> Outcome:
    return driver(found, k, limit, by).run(strategy(name))


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


def as_node(digits: str) -> Node:
    return tuple(map(int, digits))


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
def test_arx_finds_the_same(k: int, limit: float, node: str, suppressed: int, classes: int, score: float) -> None:
    """ARX 3.9.2, optimal search, metric Loss; other nodes may have the same score."""
    found = adult(*NINE)
    judge = judge_of(found, k)
    costs = judge.costs()
    arx = judge.classes(as_node(node))
    assert (arx.rows_at_risk, arx.classes) == (suppressed, classes)
    arx_score = metric("loss_geometric").score(costs, judge.losses(as_node(node), costs))
    assert arx_score == pytest.approx(score, abs=5.1e-6)
    for name in ("auto", "certified"):
        outcome = search(found, k, limit, "loss_geometric", name)
        assert outcome.score == pytest.approx(arx_score, abs=1e-12)
        assert outcome.proven_optimal


@needs_adult
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_local_search_finds_arx_optimum_in_273_evaluations(seed: int) -> None:
    """As many as a search like it took elsewhere; less than a hundred will do."""
    found = driver(adult(*NINE), 5, 0.02, "loss_geometric")
    outcome = replace(found, seed=seed, evaluations=273).run(strategy("local_search"))
    assert outcome.score == pytest.approx(0.31371, abs=5.1e-6)
    assert outcome.nodes_checked <= 273


@needs_adult
@pytest.mark.slow
def test_auto_proves_the_same_in_819_checks() -> None:
    outcome = search(adult(*NINE), 5, 0.02, "loss_geometric", "auto")
    assert (outcome.nodes_checked, outcome.proven_optimal) == (819, True)


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
    found = release.manifest
    assert tuple(found["node"].values()) == as_node("041132110")
    assert (found["suppressed_rows"], found["classes"], found["privacy"][0]["required"]) == (506, 35, 100)
    assert found["smallest_class"] >= 100
    assert found["score"] == pytest.approx(0.50729, abs=5.1e-6)
    assert found["proven_optimal"]
    assert (tmp_path / "adult.csv").read_text().count("\n") == 30_162 - 506 + 1


@needs_adult
@pytest.mark.slow
def test_breadth_first_makes_4278_checks_on_adult() -> None:
    """anonbench's count: every non-anonymous node and every minimal anonymous one."""
    outcome = search(adult(*EIGHT), 5, 0.0, "precision", "exhaustive")
    assert outcome.nodes_checked == 4278
    assert outcome.score == 0.625


@needs_adult
def test_flash_makes_115_checks_on_adult() -> None:
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
def test_incognito_asks_1360_questions_on_adult(monkeypatch: pytest.MonkeyPatch) -> None:
    """By size of the subset, counted by brute force; published are 1,302 in all, which we cannot explain."""
    asked: Counter[int] = Counter()
    minimal_of = incognito.minimal_of

    def counting(space: Space, part: Lattice) -> Search:
        search, answers = minimal_of(space, part), None
        size = sum(low < high for low, high in zip(part.bottom, part.top, strict=True))
        try:
            while True:
                request = search.send(answers)
                asked[size] += len(request.nodes)
                answers = yield request
        except StopIteration as end:
            return end.value

    monkeypatch.setattr(incognito, "minimal_of", counting)
    outcome = search(adult(*EIGHT), 5, 0.0, "precision", "incognito")
    assert [asked[size] for size in range(1, 9)] == [10, 91, 178, 306, 376, 273, 108, 18]
    assert outcome.nodes_checked < asked.total() == 1360
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
    found = driver(adult(*EIGHT), k, limit, "precision")
    outcome = found.run(strategy(name))
    statuses = Counter(found._tags.status(node) for node in found.lattice.nodes())
    assert statuses == {True: anonymous, False: found.lattice.size - anonymous}
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
def test_the_whole_lattice_of_adult(
    names: list[str], k: int, limit: float, anonymous: int, k_minimal: int, height: int, precision: float
) -> None:
    """Problem by brute force in numpy; here a few tests tag every node."""
    found = driver(adult(*names), k, limit, "precision")
    outcome = found.run(settle)
    tagged = [node for node in found.lattice.nodes() if found._tags.status(node)]
    lower = set(tagged)
    lowest = [node for node in tagged if not any(n in lower for n in found.lattice.predecessors(node))]
    assert (len(tagged), len(lowest), min(map(sum, lowest))) == (anonymous, k_minimal, height)
    assert outcome.score == pytest.approx(precision, abs=5e-5)
    assert outcome.proven_optimal
    assert len(lowest) < outcome.nodes_checked < found.lattice.size / 2


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
def test_the_optimum_by_discernibility(name: str, names: list[str], k: int, best: int, node: str | None) -> None:
    """Without suppression it is the sum of squared class sizes; anonbench's Adult, k = 5, is the second."""
    outcome = search(adult(*names), k, 0.0, "discernibility", name)
    assert outcome.score == best
    assert node is None or outcome.node == as_node(node)
    assert outcome.proven_optimal


@needs_adult
def test_ola_makes_about_90_checks_on_adult() -> None:
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
    found = samarati()
    assert found.heights == (1, 1, 2, 4)
    nodes = anonymous_nodes(found, k, allowed)
    lowest = min(map(sum, nodes))
    at_lowest = {node: at_risk for node, at_risk in nodes.items() if sum(node) == lowest}
    assert at_lowest == {as_node(node): suppressed for node, (suppressed, _) in expected.items()}
    for node, (_, classes) in expected.items():
        assert Judge(found, all_of(k_anonymity(k))).classes(as_node(node)).classes == classes or classes is None
    for name in ("ola", "samarati"):
        outcome = search(found, k, allowed / found.rows, "height", name)
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
    found = samarati()
    assert search(found, k, allowed / found.rows, by, "samarati").node == as_node(node)


# KGen (De Pascale et al. 2022): the paper's table 1 by hand, and Cargo 2000 where KANON_DATA says where it is

needs_c2k = needs("c2k/kgen/c2k_first25.csv", "c2k/kgen/hierarchies/<column>.csv")

PEOPLE = [("24", "80015", "F"), ("28", "80019", "M"), ("42", "85073", "F"), ("49", "85071", "M")]
AGE = h.from_rows(
    [
        ["24", "20-24", "20-29", "0-49", "0-99"],
        ["28", "25-29", "20-29", "0-49", "0-99"],
        ["42", "40-44", "40-49", "0-49", "0-99"],
        ["49", "45-49", "40-49", "0-49", "0-99"],
    ],
    "age",
)
POSTCODE = h.from_rows([[z, *(z[: 5 - cut] + "*" * cut for cut in range(1, 6))] for _, z, _ in PEOPLE], "postcode")
GENDER = h.from_rows([["F", "P"], ["M", "P"]], "gender")


def minimum_of(found: Driver) -> Node:
    """The bottom of the reduced lattice."""
    bottoms: list[Node] = []

    def reduce(space: Space) -> Search:
        bottoms.append((yield from lattice_minimum(space)))
        yield Score([space.lattice.top])

    found.run(reduce)
    return bottoms[0]


def test_kgen_table_1(engine: Engine) -> None:
    """With the levels of table 4. By precision (3, 4, 0) is better than the node of table 2, (2, 1, 1)."""
    found = counted(engine, PEOPLE, [AGE, POSTCODE, GENDER])
    assert found.heights == (4, 5, 1)
    assert minimum_of(driver(found, 2, 0.0, "precision")) == (2, 1, 0)
    assert minimal(list(anonymous_nodes(found, 2))) == [(2, 1, 1), (3, 4, 0)]
    logs = {node: level_of_generalization(node, found.heights) for node in [(2, 1, 1), (3, 4, 0)]}
    assert logs == {(2, 1, 1): pytest.approx(0.5667, abs=5e-5), (3, 4, 0): pytest.approx(0.5167, abs=5e-5)}
    for name in ("auto", "memetic", "kgen"):
        assert search(found, 2, 0.0, "precision", name).node == (3, 4, 0)
    whole = search(found, 2, 0.0, "precision", "exhaustive")
    lattice = Lattice((0, 0, 0), found.heights)
    assert accuracy(minimal(list(anonymous_nodes(found, 2))), whole.minimal, lattice, found.heights) == 1


def test_kgen_table_7(engine: Engine) -> None:
    """One of three rows may be suppressed: the reduction, checked on the whole table, cuts no anonymous node off."""
    found = counted(engine, PEOPLE[:3], [AGE, POSTCODE, GENDER])
    assert minimum_of(driver(found, 2, 0.35, "precision")) == (2, 1, 0)
    assert minimal(list(anonymous_nodes(found, 2, 1))) == [(2, 1, 1), (3, 4, 0)]


@cache
def cargo(count: int) -> FrequencySet:
    """The first columns of Cargo 2000, missing values replaced and ranges made as KGen does."""
    engine, folder = DuckDB(), DATA / "c2k" / "kgen"
    engine.run("SET threads = 1")
    table = engine.read_file(str(folder / "c2k_first25.csv"))
    names = [column.name for column in table.columns if column.name != "nr"][:count]
    builders = {}
    for name in names:
        text = (folder / "hierarchies" / f"{name}.csv").read_text(encoding="utf-8")
        made = h.convert(h.parse(text, name), table.column(name).kind, name)
        builders[name] = lambda values, made=made, name=name: h.cover(made, values, name)
    return build_frequency_set(engine, table, builders, Scratch(engine))


@needs_c2k
@pytest.mark.slow
def test_the_lattice_minimum_of_cargo() -> None:
    found = driver(cargo(10), 2, 0.005, "precision")
    assert found.may_suppress == 19
    assert minimum_of(found) == (2, 3, 3, 2, 2, 1, 2, 2, 1, 2)


@needs_c2k
@pytest.mark.parametrize(
    ("count", "limit", "score", "nodes"),
    [
        (3, 0.005, 0.733333, {"344": 13, "434": 19}),
        (4, 0.005, 0.725, {"4442": 12}),
        (5, 0.005, 0.78, {"44424": 12, "44433": 16}),
        (6, 0.005, 0.816667, {}),
        (7, 0.005, 0.835714, {}),
        (3, 0.0, 0.8, {"255": 0}),
        (6, 0.0, 0.9, {"255443": 0}),
    ],
)
def test_the_optimum_of_cargo(count: int, limit: float, score: float, nodes: dict[str, int]) -> None:
    """Enumerated outside; the optimal nodes with the rows that each suppresses."""
    found = cargo(count)
    for name in ("auto", "memetic"):
        outcome = search(found, 2, limit, "precision", name)
        assert outcome.score == pytest.approx(score, abs=5e-7)
        assert outcome.proven_optimal
    for node, suppressed in nodes.items():
        assert level_of_generalization(as_node(node), found.heights) == pytest.approx(score, abs=5e-7)
        assert judge_of(found, 2).rows_at_risk([as_node(node)]) == [suppressed]


@needs_c2k
@pytest.mark.parametrize(("count", "score"), [(10, 0.848333), (15, 0.854444)])
@pytest.mark.slow
def test_the_optimum_of_a_lattice_that_cannot_be_listed(count: int, score: float) -> None:
    """Complete enumeration with pruning, outside, found the same. 1.6e7 and 3.7e10 nodes."""
    found = search(cargo(count), 2, 0.005, "precision", "certified")
    assert found.score == pytest.approx(score, abs=5e-7)
    assert found.proven_optimal
    assert found.nodes_checked < 4_000


@needs_c2k
@pytest.mark.slow
def test_a_search_cut_short_keeps_a_bound_below_the_optimum() -> None:
    """.826 is the optimum of 25 columns; here there is time for 400 nodes."""
    found = driver(cargo(25), 2, 0.005, "precision")

    def stop(progress: Progress) -> None:
        found.time_limit = progress.seconds if progress.nodes_checked >= 400 else None

    found.on_progress = stop
    outcome = found.run(strategy("auto"))
    assert outcome.ended == "time limit"
    assert not outcome.proven_optimal
    assert 0.36 < outcome.lower_bound <= 0.826 <= outcome.score < 0.96
    assert outcome.gap == outcome.score - outcome.lower_bound


@needs_c2k
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.slow
def test_memetic_finds_the_optimum_of_15_columns(seed: int) -> None:
    """Of 3.7e10 nodes. The paper's search ends at .88 and above, and so does ours of it."""
    found = driver(cargo(15), 2, 0.005, "precision")
    found.seed, found.evaluations = seed, 1500
    assert found.run(strategy("memetic").search).score == pytest.approx(0.854444, abs=5e-7)


@needs_c2k
@pytest.mark.slow
def test_kgen_ends_where_the_published_program_does() -> None:
    """On 7 columns near the optimum .835714 and better than 5,000 random nodes."""
    found = driver(cargo(7), 2, 0.005, "precision")
    found.seed = 1
    bred = found.run(strategy("kgen").search)
    drawn = search(cargo(7), 2, 0.005, "precision", "random")
    assert 0.835714 - 5e-7 < bred.score < drawn.score
