"""Singling out: predicates, from rows of the release, that exactly one row of the source satisfies.

Source: Article 29 Working Party, Opinion 05/2014 on anonymisation techniques, section 2.2.1; M. Giomi, F. Boenisch,
C. Wehmeyer, B. Tasnádi, "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023(2), section
3.2; A. Cohen, K. Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS 117(15), 2020. The attacker
takes a row that is unique in the release by one column or by several, including unchanged ones, and claims that exactly
one person has these values. The attack succeeds if the source has exactly one such row. It is counted for all columns
together and for some sets of columns. By chance: among as many random people, a predicate with a probability of one in
as many is satisfied by exactly one of them in 37 % of cases.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kanon_sql.attack.matching import drawn_part, fitting
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Control, Outcome
from kanon_sql.queries import Hole, Relation

_SETS = 8  # of columns, including all of them together
_Names = tuple[str, ...]


@dataclass(frozen=True)
class _Attempts:
    """The results for predicates on some columns: `unique` rows of the release, some of which were tried.

    `isolating`, `of_control`: the predicates that isolate one person of the source, or of the control.
    """

    unique: int
    attempts: int
    isolating: int
    of_control: int = 0

    def of_all(self, isolating: int) -> float:
        """The estimated number of people isolated by all unique rows."""
        return self.unique * isolating / self.attempts if self.attempts else 0.0


def _singling_out(material: Material) -> Iterator[Outcome]:
    source = material.source
    assert source is not None
    columns = dict.fromkeys((*material.quasi_identifiers, *material.release.columns))
    names = tuple(name for name in columns if name in source.columns and name != material.unit)
    yield _outcome(material, source, "singling_out_by_one", [(name,) for name in names], "one column")
    if len(names) > 1:
        sets = _sets(names, random.Random(material.seed))
        yield _outcome(material, source, "singling_out", sets, "several columns")


def _sets(names: _Names, draw: random.Random) -> list[_Names]:
    """All columns together, and a random sample of sets of two or more."""
    sizes = [draw.randint(2, len(names)) for _ in range(_SETS - 1)]
    drawn = (tuple(sorted(draw.sample(names, size), key=names.index)) for size in sizes)
    return list(dict.fromkeys((names, *drawn)))


def _outcome(material: Material, source: Copy, name: str, sets: Sequence[_Names], by: str) -> Outcome:
    most = max(1, material.most // len(sets))
    tried = [_tried(material, source, names, most) for names in sets]
    attempts, isolating = (sum(getattr(guess, figure) for guess in tried) for figure in ("attempts", "isolating"))
    worst = max(tried, key=lambda guess: (guess.of_all(guess.isolating), guess.unique))
    people, rows = round(worst.of_all(worst.isolating)), material.release.rows
    # The probability that exactly one of random people satisfies a predicate that holds for one in `rows`.
    by_chance = source.rows / rows * (1 - 1 / rows) ** (source.rows - 1) if source.rows else 0.0
    outcome = Outcome(
        name,
        f"{worst.unique:,} of {rows:,} rows are unique in the release by {by}, and {people:,} of these descriptions "
        "fit exactly one row of the source.",
        attempts=rows,
        successes=people,
        affected=people,
        baseline=worst.unique / rows * by_chance,
        sampled=worst.attempts < worst.unique,
        figures={"unique_rows": worst.unique, "descriptions": attempts, "isolating": isolating},
        avoid="drop or generalize the columns that are released unchanged",
    )
    if not material.control:
        return outcome
    control = Control(rows, round(worst.of_all(worst.of_control)))
    sentence = f"{outcome.sentence} Descriptions that fit exactly one row of the control: {control.successes:,}."
    return replace(outcome, on_control=control, sentence=sentence)


def _tried(material: Material, source: Copy, names: _Names, most: int) -> _Attempts:
    """Take unique rows of the release, and count the rows of the source that fit them."""
    tables, plain = material.tables, material.release.plain(names)
    release, whole = material.release.relation, {*material.quasi_identifiers} <= {*names}
    columns = ["class", *material.release.plain([name for name in names if name not in material.quasi_identifiers])]
    holes: dict[str, Hole] = {"release": release, "columns": columns if whole else plain}
    unique = tables.create("unique", "attack_linkage/unique_rows", **holes)
    rows = tables.count(unique)
    if not rows:
        return _Attempts(0, 0, 0)
    holes = {"release": release, "unique": unique, "columns": plain, "part": drawn_part(material, rows)}
    predicates = tables.create("predicates", "attack_linkage/drawn_rows", seed=str(material.seed), most=most, **holes)
    attempts, isolating = _isolated(material, source, predicates, names)
    of_control = _isolated(material, material.control, predicates, names)[1] if material.control else 0
    return _Attempts(rows, attempts, isolating, of_control)


def _isolated(material: Material, people: Copy, predicates: Relation, names: _Names) -> tuple[int, int]:
    """The number of predicates, and how many of them fit exactly one of the people."""
    tables = material.tables
    fits = fitting(material, people.relation, people, predicates, names, target="row_id")
    ((attempts, isolating),) = tables.rows("attack_linkage/isolated", predicates=predicates, fits=fits)
    return int(attempts), int(isolating)


SINGLING_OUT = Attack(
    "singling_out",
    "Describe a row that is unique in the release, and check whether exactly one person has these values.",
    _singling_out,
    ("source",),
    ("singling_out_by_one", "singling_out"),
)
