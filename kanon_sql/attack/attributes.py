"""Background knowledge of any m of the n quasi-identifiers: how many of them lead to few rows, or to one value.

Source: B. C. M. Fung, K. Wang, R. Chen, P. S. Yu, "Privacy-preserving data publishing", ACM Computing Surveys 42(4),
2010, section 2.1; M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data" (k^m),
VLDB 2008. The attacker knows what a release shows of m attributes of somebody, whichever these are, and takes all rows
with these labels. It succeeds if they are fewer than k, or if all of them have one sensitive value. Every set of
attributes is tried, or a draw of them where there are many.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from math import comb

from kanon_sql.attack.homogeneity import by_chance
from kanon_sql.attack.matching import classes_of
from kanon_sql.attack.material import Attack, Material
from kanon_sql.attack.outcome import Outcome

_MOST_SETS = 256
_Names = tuple[str, ...]


def _attributes(material: Material) -> Iterator[Outcome]:
    sets = list(_sets(material.quasi_identifiers, random.Random(material.seed)))
    yield _few(material, sets)
    for column in material.sensitive:
        yield _one_value(material, column, sets)


def _sets(names: _Names, draw: random.Random) -> Iterator[_Names]:
    """The sets of attributes, small ones first; a draw of them, some of each size, where there are too many."""
    few = max(2, _MOST_SETS // len(names))
    everything = 2 ** len(names) <= 2 * _MOST_SETS
    for size in range(1, len(names) + 1):
        if everything or comb(len(names), size) <= few:
            yield from combinations(names, size)
        else:
            drawn = {tuple(sorted(draw.sample(range(len(names)), size))) for _ in range(few)}
            yield from (tuple(names[place] for place in places) for places in sorted(drawn))


def _few(material: Material, sets: list[_Names]) -> Outcome:
    """Who fits fewer than k rows."""
    tables, k = material.tables, material.k or 2
    classes = classes_of(material, material.release)

    def rows(known: list[str]) -> int:
        return int(tables.rows("attack_attributes/few_rows", classes=classes, known=known, k=k)[0][0])

    return _outcome(material, sets, rows, f"fit fewer than {k} rows", "ask for k-anonymity by all of them")


def _one_value(material: Material, column: str, sets: list[_Names]) -> Outcome:
    """Who fits rows of one sensitive value alone."""
    tables, release = material.tables, material.release
    labels, value = release.plain(material.quasi_identifiers), release.plain([column])
    values = tables.create(
        "class_values", "attack_attributes/class_values", release=release.relation, labels=labels, value=value
    )

    def rows(known: list[str]) -> int:
        return int(tables.rows("attack_attributes/one_value", class_values=values, known=known)[0][0])

    says = f"fit rows of one value of {column} alone"
    return _outcome(material, sets, rows, says, f"ask for l-diversity of {column}", column)


def _outcome(
    material: Material,
    sets: list[_Names],
    rows: Callable[[list[str]], int],
    says: str,
    avoid: str,
    column: str | None = None,
) -> Outcome:
    """What comes of knowing all attributes, and from which number of them on anything does."""
    release, everything = material.release, len(material.quasi_identifiers)
    found = {names: rows(release.plain(names)) for names in sets}
    figures = _figures(found)
    people = found[material.quasi_identifiers]
    first = next((names for names in sets if found[names]), None)
    begins = f"; for some {len(first)} are enough, such as {', '.join(first)}" if first else ""
    return Outcome(
        "known_attributes",
        f"{people:,} of {release.rows:,} rows {says}, for somebody who knows all {everything} quasi-identifiers"
        f"{begins}.",
        attempts=release.rows,
        successes=people,
        affected=people,
        baseline=by_chance(material, column) if column else None,
        column=column,
        figures=figures,
        avoid=avoid,
    )


def _figures(found: Mapping[_Names, int]) -> dict[str, float | int | None]:
    """The largest and the mean number of rows by how many attributes are known."""
    figures: dict[str, float | int | None] = {}
    for size in sorted({len(names) for names in found}):
        rows = [n for names, n in found.items() if len(names) == size]
        figures |= {f"worst_of_{size}": max(rows), f"mean_of_{size}": sum(rows) / len(rows)}
    return figures


ATTRIBUTES = Attack(
    "known_attributes",
    "Know some of the quasi-identifiers of somebody, whichever they are, and take the rows that show them.",
    _attributes,
)
