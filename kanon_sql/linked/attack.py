"""Attacks on several tables: what someone with background knowledge finds out from the released tables.

The exhaustive attack joins the released tables by their keys, and looks for the people whom the right rows single out.
The attack on a sample draws people from the source, and rows of them as background knowledge, looks for released people
who match, and guesses whose rows they are, and the sensitive values. It finds out the released levels from the labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from kanon_sql import queries
from kanon_sql.attack.outcome import interval
from kanon_sql.engine import Engine
from kanon_sql.engines.opening import embedded_for
from kanon_sql.engines.scratch import Scratch
from kanon_sql.linked.check import NAMES, Joined, tables_to_join
from kanon_sql.linked.copies import copied
from kanon_sql.linked.counted import CodedTable, coded
from kanon_sql.linked.links import Link
from kanon_sql.linked.writer import cell_of
from kanon_sql.queries import KnownKey, Relation, ReleasedColumn
from kanon_sql.spec import LinkedSpec


@dataclass(frozen=True)
class Exposed:
    """The people who are singled out by their row in the main table and `known_rows` other rows, the rarest ones.

    `below_k`: the people who share a combination with fewer than k people. `highest_risk`, `mean_risk`: of the people's
    highest risks; None without people.
    """

    known_rows: int | str
    people: int
    singled_out: int
    below_k: int
    highest_risk: float | None
    mean_risk: float | None


@dataclass(frozen=True)
class Matched:
    """The result of guessing who people are, by their row in the main table and `known_rows` other rows.

    `attacked`: the people with so many rows. `matched`: those with released people who match, the fewest of whom are
    `fewest_candidates`. `expected_right`: the share of guesses to be right if the person is among those who match;
    `chance`: without any knowledge.
    """

    known_rows: int
    attacked: int
    matched: int
    one_candidate: int
    fewest_candidates: int | None
    expected_right: float
    chance: float


@dataclass(frozen=True)
class Guessed:
    """The result of guessing values of a sensitive column, by `known_rows` other rows of the people.

    `interval`: the 95 % interval of the share of right guesses. `blind`: the guesses that are right without knowing any
    row, by the most frequent value.
    """

    column: str
    known_rows: int
    attacked: int
    right: int
    interval: list[float]
    blind: int


@dataclass(frozen=True)
class AttackedTable:
    """A table: its rows in the source and in the release, and by column the level of its labels and the height."""

    rows: int
    released_rows: int
    levels: dict[str, dict[str, int]]


@dataclass(frozen=True)
class LinkedAttack:
    """The results of all attacks on a release, and what the attacker sees of its tables."""

    exposed: tuple[Exposed, ...]
    matched: tuple[Matched, ...]
    guessed: tuple[Guessed, ...]
    tables: Mapping[str, AttackedTable] = field(default_factory=dict)


def exposed_people(joined: Joined, sizes: Sequence[int | str], k: int) -> Iterator[Exposed]:
    """The exhaustive attack, by the attacker's number of rows; every person counts with their rarest combination."""
    tables = joined.tables
    fewest: Relation | None = None
    for size in sizes:
        for division in joined.divisions(size):
            sharing = joined.sharing(size, division)
            if fewest is None:
                fewest = tables.create("fewest", "attack_linked/fewest_sharing", sharing=sharing)
            else:  # an attacker with more rows also has fewer
                tables.add(fewest, "attack_linked/fewest_sharing", sharing=sharing)
        ((number, alone, below, highest, mean),) = tables.rows("attack_linked/people_at_risk", fewest=fewest, k=k)
        risks = (None if figure is None else float(figure) for figure in (highest, mean))
        yield Exposed(size, int(number), int(alone), int(below), *risks)


def exposed_in_source(engine: Engine, links: Sequence[Link], spec: LinkedSpec, known_rows: int) -> list[Exposed]:
    """The exhaustive attack on the tables of the source."""
    with ExitStack() as stack:
        scratch = stack.enter_context(Scratch(engine, "measured"))
        here = stack.enter_context(Scratch(stack.enter_context(embedded_for(engine)), "measuring"))
        copies = copied(engine, scratch, spec, links)
        texts = {}
        for link in links:
            copy = copies[link.name]
            keys = [KnownKey(name, of, row, copy.columns[name]) for name, of, row in link.key_rows(spec.main)]
            cells = {name: copy.columns[name] for name in copy.quasi_identifiers}
            text = queries.known_rows(copy.relation, keys, [], cells, engine.dialect)
            texts[link.name] = here.receive(f"source_{link.number}", engine, text)
        joined = Joined.of(here, tables_to_join(links, spec, texts, {link.name: {} for link in links}))
        sizes = [0] if joined.rows is None else range(known_rows + 1)
        return list(exposed_people(joined, sizes, spec.privacy.k))


def attack_release(
    engine: Engine,
    reader: Engine,
    links: Sequence[Link],
    spec: LinkedSpec,
    released: Mapping[str, Relation],
    *,
    known_rows: int,
    attempts: int,
    seed: int,
) -> LinkedAttack:
    """Attack released tables; `reader` is their engine, and `engine` that of the source.

    `known_rows`: the maximum number of rows that the attacker has, at most 3. `attempts`: the people to attack.
    """
    with ExitStack() as stack:
        scratch = stack.enter_context(Scratch(engine, "attacked"))
        here = stack.enter_context(Scratch(stack.enter_context(embedded_for(engine)), "attacking"))
        copies = copied(engine, scratch, spec, links)
        tables = [coded(engine, here, copies[link.name], spec) for link in links]
        names = {link.name: _columns(spec, link) for link in links}
        texts = {
            link.name: here.receive(
                f"released_{link.number}",
                reader,
                queries.as_texts(released[link.name], names[link.name], reader.dialect),
            )
            for link in links
        }
        seen = {
            name: _add_known(engine, scratch, here, table, tables[0], texts[name], spec)
            for name, table in zip(names, tables, strict=True)
        }
        return replace(_attacked(here, links, spec, texts, known_rows, attempts, seed), tables=seen)


def _columns(spec: LinkedSpec, link: Link) -> list[str]:
    """The released columns that are compared: keys, labels, and sensitive values."""
    return [*link.keys, *spec.tables[link.name].quasi_identifiers, *spec.sensitive_of(link.name)]


def _add_known(
    engine: Engine,
    scratch: Scratch,
    here: Scratch,
    table: CodedTable,
    main: CodedTable,
    released: Relation,
    spec: LinkedSpec,
) -> AttackedTable:
    """Add the source's rows to the released ones, with the labels of the levels that the release has."""
    link, rows = table.copy.link, here.count(released)
    cells = [_released_cell(engine, scratch, here, table, index, released) for index in range(len(table.attributes))]
    keys = [KnownKey(name, of, row, table.copy.columns[name]) for name, of, row in link.key_rows(main.copy.link.name)]
    kept = {name: table.copy.columns[name] for name in spec.sensitive_of(link.name)}
    text = queries.known_rows(table.copy.relation, keys, cells, kept, engine.dialect)
    background = here.receive("known_source", engine, text)
    here.add_as(released, queries.as_texts(background, _columns(spec, link), here.engine.dialect))
    heights = [attribute.hierarchy.height for attribute in table.attributes]
    levels = {cell.name: {"level": cell.level, "height": height} for cell, height in zip(cells, heights, strict=True)}
    return AttackedTable(table.copy.rows, rows, levels)


def _released_cell(
    engine: Engine, scratch: Scratch, here: Scratch, table: CodedTable, index: int, released: Relation
) -> ReleasedColumn:
    """The column on the lowest level that has the most of the released labels."""
    best: tuple[int, ReleasedColumn] | None = None
    for level in range(table.attributes[index].hierarchy.height + 1):
        cell = cell_of(engine, scratch, table, index, level)
        labels = here.receive("labels", engine, queries.labels_at(table.copy.relation, cell, engine.dialect))
        ((missing,),) = here.rows(
            "attack_linked/labels_of_other_levels", released=released, column=[cell.name], labels=labels
        )
        if best is None or missing < best[0]:
            best = int(missing), cell
        if not missing:
            break
    assert best is not None
    return best[1]


def _attacked(
    here: Scratch,
    links: Sequence[Link],
    spec: LinkedSpec,
    texts: Mapping[str, Relation],
    known_rows: int,
    attempts: int,
    seed: int,
) -> LinkedAttack:
    """Attack released rows with background knowledge; the rows of both are numbered together."""
    columns = {
        f"code_{number}_{place}": (link, column)
        for number, link in enumerate(links)
        for place, column in enumerate(spec.sensitive_of(link.name))
    }
    codes = {link.name: {code: column for code, (other, column) in columns.items() if other == link} for link in links}
    both = Joined.of(here, tables_to_join(links, spec, texts, codes))
    of_main = list(codes[spec.main])
    people = here.create("released_people", "attack_linked/released_only", people=both.people, codes=of_main)
    rows = None
    carried = [*both.places.slots, *(code for code in columns if code not in of_main)]
    if both.rows:
        rows = here.create(
            "released_rows", "attack_linked/rows_of_released", rows=both.rows, people=people, carried=carried
        )
    released = Joined(here, people, rows, both.parts, both.places)
    sizes: Sequence[int | str] = [0] if rows is None else range(known_rows + 1)
    whole = ["all"] if spec.privacy.m == "all" and rows else []
    exposed = tuple(exposed_people(released, [*sizes, *whole], spec.privacy.k))
    targets = here.create("targets", "attack_linked/targets", people=both.people, seed=seed, most=attempts)
    if rows:
        holes: dict[str, Any] = {"targets": targets, "rows": both.rows, "seed": seed, "carried": carried}
        here.create("background", "attack_linked/background_rows", **holes)
    chance = 1 / max(1, here.count(people))
    matched, guessed = [], []
    for size in sizes:
        attacked = here.count(targets)
        if size:
            ((attacked,),) = here.rows("attack_linked/people_with_rows", background=here["background"], size=size)
        matches = _matches(released, size, targets)
        ((number, alone, fewest, expected),) = here.rows("attack_linked/guessed_people", matches=matches)
        share = float(expected) / attacked if attacked else 0.0
        matched.append(Matched(int(size), attacked, int(number), int(alone), fewest, share, chance))
        for code, (link, column) in columns.items():
            holes = {"matches": matches, "code": [code]}
            if link.is_main:
                query = "attack_linked/guessed_values_of_people"
                holes |= {"people": people, "all_people": both.people}
            elif size == 0:
                continue
            else:
                query = "attack_linked/guessed_values_of_rows"
                holes |= {"rows": rows, "background": here["background"]}
            ((of_people, right, blind),) = here.rows(query, **holes)
            between = list(interval(int(right), int(of_people)))
            guessed.append(
                Guessed(
                    f"{link.name}.{column}", int(size), int(of_people), int(right), interval=between, blind=int(blind)
                )
            )
    return LinkedAttack(exposed, tuple(matched), tuple(guessed))


def _matches(released: Joined, size: int | str, targets: Relation) -> Relation:
    """The released people who match those who are attacked: target, candidate, number of the row like the first."""
    here = released.tables
    if size == 0:
        return here.create("matches", "attack_linked/matches_of_classes", targets=targets, people=released.people)
    query = f"attack_linked/matches_of_{NAMES[size]}"
    holes = released.places.holes_of(query)
    return here.create("matches", query, background=here["background"], rows=released.rows, **holes)
