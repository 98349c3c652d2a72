"""Attack the released tables of a database, or measure the risk of the source's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.linked.attack import attack_release, exposed_in_source
from kanon_sql.linked.links import links_of
from kanon_sql.plan.source import opened_engine
from kanon_sql.spec import LinkedSpec, load_linked
from kanon_sql.verbs.database import known_rows, released_tables
from kanon_sql.verbs.result import DataFrame, Result, frame

MOST_KNOWN = 3  # rows of a person; more combinations are too many to count
ATTEMPTS = 2_000


@dataclass(frozen=True)
class DatabaseRisk(Result, json_form="database-risk"):
    """How exposed people are in the source's tables, by the number of rows that the attacker has."""

    k: int
    exposed: list[dict[str, Any]]

    def to_df(self) -> DataFrame:
        """One row per number of rows that the attacker has."""
        return frame(self.exposed)

    def _lines(self) -> Sequence[tuple[str, str]]:
        return [(known_rows(found["known_rows"]), _exposed_line(found, self.k)) for found in self.exposed]


@dataclass(frozen=True)
class DatabaseAttack(Result, json_form="database-attack"):
    """What attacks on released tables found: people who can be singled out, and guesses about a sample of people."""

    k: int
    exposed: list[dict[str, Any]]
    people: list[dict[str, Any]]
    values: list[dict[str, Any]]
    tables: dict[str, dict[str, Any]]

    def to_df(self) -> DataFrame:
        """One row per number of rows that the attacker has."""
        return frame(self.exposed).merge(frame(self.people), on="known_rows", how="left")

    @property
    def found(self) -> bool:
        """Whether an attack within what the spec promises finds fewer than k people."""
        return any(found["promised"] and found["below_k"] for found in self.exposed)

    def _lines(self) -> Sequence[tuple[str, str]]:
        exposed = [(known_rows(found["known_rows"]), _exposed_line(found, self.k)) for found in self.exposed]
        guesses = []
        for found in self.values:
            right = f"right for {found['right']:,} of {found['attacked']:,} people"
            heading = f"guess of {found['column']}, {known_rows(found['known_rows'])}"
            guesses.append((heading, f"{right}, without knowledge for {found['blind']:,}"))
        return [*exposed, *guesses]


def _exposed_line(found: Mapping[str, Any], k: int) -> str:
    return (
        f"{found['singled_out']:,} of {found['people']:,} people are singled out, {found['below_k']:,} share "
        f"these rows with fewer than {k:,}"
    )


def risk_database(
    spec: LinkedSpec | Mapping[str, Any] | str | Path,
    *,
    connection: Any = None,
    known: int | None = None,
    **overrides: Any,
) -> DatabaseRisk:
    """Count the people who are singled out in the source's tables by some of their rows.

    `known`: the maximum number of rows in the other tables that the attacker has, in addition to the row of the main
    table; by default the spec's m. Every person counts with the rarest combination of their rows. Raises SpecError and
    SourceError.

    >>> import duckdb
    >>> connection = duckdb.connect()
    >>> _ = connection.execute("CREATE TABLE people AS SELECT range AS id, range % 2 AS age FROM range(8)")
    >>> _ = connection.execute("CREATE TABLE visits AS SELECT range AS person, range % 4 AS ward FROM range(8)")
    >>> tables = {
    ...     "people": {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}},
    ...     "visits": {"keys": {"person": "people"}, "quasi_identifiers": {"ward": {"hierarchy": "suppress"}}},
    ... }
    >>> spec = {"unit": {"people": "id"}, "tables": tables, "privacy": {"k": 3, "m": 1}}
    >>> [(found["known_rows"], found["below_k"]) for found in risk_database(spec, connection=connection).exposed]
    [(0, 0), (1, 8)]
    """
    settled = load_linked(spec, **overrides)
    with opened_engine(settled.session, connection) as engine:
        exposed = exposed_in_source(engine, links_of(settled), settled, _known(settled, known))
    return DatabaseRisk(settled.privacy.k, [vars(found) for found in exposed])


def attack_database(
    spec: LinkedSpec | Mapping[str, Any] | str | Path,
    *,
    connection: Any = None,
    known: int | None = None,
    attempts: int = ATTEMPTS,
    seed: int = 0,
    **overrides: Any,
) -> DatabaseAttack:
    """Attack the released tables of a spec with rows of people as background knowledge.

    The tables are joined again by their keys, and the people are counted whom the right rows single out. Then people
    are drawn from the source, with rows as background knowledge: who matches in the release, and which sensitive
    values do they have? `known`: the maximum number of such rows, by default the spec's m; with more, the attacker has
    more than the release protects against. `attempts`: the people to draw. Raises SpecError and SourceError.
    """
    settled = load_linked(spec, **overrides)
    if settled.into is None:
        raise SpecError("the spec names no target; add `into` with the schema or folder of the release")
    rows = _known(settled, known)
    with opened_engine(settled.session, connection) as engine:
        links = links_of(settled)
        with released_tables(engine, settled) as (reader, released):
            found = attack_release(
                engine, reader, links, settled, released, known_rows=rows, attempts=attempts, seed=seed
            )
    m = settled.privacy.m
    exposed = []
    for figures in found.exposed:
        promised = m == "all" or (isinstance(figures.known_rows, int) and figures.known_rows <= m)
        exposed.append({**vars(figures), "promised": promised})
    return DatabaseAttack(
        k=settled.privacy.k,
        exposed=exposed,
        people=[vars(matched) for matched in found.matched],
        values=[vars(guessed) for guessed in found.guessed],
        tables={name: vars(table) for name, table in found.tables.items()},
    )


def _known(spec: LinkedSpec, known: int | None) -> int:
    m = spec.privacy.m
    if known is None:
        return MOST_KNOWN if m == "all" else int(m)
    if not 0 <= known <= MOST_KNOWN:
        raise SpecError(
            f"known is {known}; it must be between 0 and {MOST_KNOWN}, since more combinations are too many"
        )
    return known
