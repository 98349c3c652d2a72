"""Background knowledge of any m of the n quasi-identifiers: how many of these lead to few rows, or to one value.

Source: B. C. M. Fung, K. Wang, R. Chen, P. S. Yu, "Privacy-preserving data publishing", ACM Computing Surveys 42(4),
2010, section 2.1; M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data" (k^m),
VLDB 2008. The attacker has a person's labels of any m attributes, and takes all rows with these labels. The attack
succeeds if they are fewer than k, or if all of them have one sensitive value. All sets of attributes are tried, or a
random sample if there are many. Rows of one person can hide that person from these counts, so the people of the source
who fit a class are counted as well, if the source has a unit.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import comb

from kanon_sql import queries
from kanon_sql.attack.homogeneity import by_chance, ranges_of_classes
from kanon_sql.attack.matching import SAMPLE, classes_of, fitting, people_of_sample
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.generalization.values import Label
from kanon_sql.privacy import Predicate
from kanon_sql.queries import Crossed, Hole, Relation

_MOST_SETS = 256
_MOST_CROSSED = 500_000  # rows of classes, repeated for the sets that are counted in one query
_MOST_FETCHED = 20_000  # classes; with more, every set has a separate query
_QUERY, _ONE_QUERY = "node_tests/node_tests", "node_tests/node_test"
_Names = tuple[str, ...]


def _attributes(material: Material) -> Iterator[Outcome]:
    sets, k = list(_sets(material.quasi_identifiers, random.Random(material.seed))), material.k or 2
    found = _rows(material, sets, Predicate("SUM(n) >= $k", {"k": k}), classes_of(material, material.release))
    yield _outcome(material, found, f"fit fewer than {k} rows", "require k-anonymity for all of them")
    source = material.source
    # The source has no columns for the boxes of cloaked places.
    if source and source.unit and not material.release.unit and material.quasi_identifiers_of(source):
        yield _few_people(material, source, k)
    for column in material.sensitive:
        several_values = Predicate("MIN(low) < MAX(high)")
        found = _rows(material, sets, several_values, ranges_of_classes(material, column), ["low", "high"])
        finding = f"only fit rows with one value of {column}"
        yield _outcome(material, found, finding, f"require l-diversity of {column}", column)


def _sets(names: _Names, draw: random.Random) -> Iterator[_Names]:
    """The sets of attributes, small ones first; if there are too many, a sample with some sets of each size."""
    few = max(2, _MOST_SETS // len(names))
    everything = 2 ** len(names) <= 2 * _MOST_SETS
    for size in range(1, len(names) + 1):
        if everything or comb(len(names), size) <= few:
            yield from combinations(names, size)
        else:
            drawn = {tuple(sorted(draw.sample(range(len(names)), size))) for _ in range(few)}
            yield from (tuple(names[place] for place in places) for places in sorted(drawn))


def _rows(
    material: Material, sets: Sequence[_Names], safe: Predicate, classes: Relation, bounds: Sequence[str] = ()
) -> dict[_Names, int]:
    """The number of rows in groups that are not safe, for every set of attributes that the attacker has.

    `bounds`: further columns of the classes, which the condition of safe groups needs.
    """
    tables, release = material.tables, material.release
    if tables.written(classes) > _MOST_FETCHED:
        prepared = queries.per_node(_ONE_QUERY, tables.engine.dialect, safe=safe)
        texts = {names: prepared(0, classes, release.plain(names)) for names in sets}
        return {names: int(tables.rows_as(text, _ONE_QUERY)[0][1]) for names, text in texts.items()}
    labels, others = release.plain(material.quasi_identifiers), ["n", *bounds]
    rows = tables.rows("frequency_sets/copy", source=classes, columns=[*labels, *others])
    columns = list(zip(*rows, strict=True)) or [()] * len([*labels, *others])
    coded = [_codes(column) for column in columns[: len(labels)]]
    types = dict.fromkeys([*labels, *others], "BIGINT")
    codes = tables.load("codes", types, [*coded, *columns[len(labels) :]])
    prepared = queries.per_node(_QUERY, tables.engine.dialect, safe=safe)
    found, at_once = dict.fromkeys(sets, 0), max(1, _MOST_CROSSED // max(1, len(rows)))
    for first in range(0, len(sets), at_once):
        together = sets[first : first + at_once]
        masks = {number: dict.fromkeys(release.plain(names), -1) for number, names in enumerate(together)}
        crossed = Crossed(codes, masks, queries.unmasked(others))
        for number, size in tables.rows_as(prepared(0, crossed, crossed.names), _QUERY):
            found[together[number]] = int(size)
    return found


def _few_people(material: Material, source: Copy, k: int) -> Outcome:
    """The rows of classes that only rows of few people of the source fit, which the release itself does not show."""
    whole, release = material.in_common, material.release
    if release.rows > SAMPLE:
        people_of_sample(material, source)
        classes, fits = whole.tables["near_classes"], whole.tables["near_fits"]
    else:
        classes, names = classes_of(material, release), material.quasi_identifiers_of(source)
        fits = fitting(material, source.relation, source, classes, names, target="row_id")
    holes: dict[str, Hole] = {"classes": classes, "fits": fits, "source": source.relation, "unit": source.unit, "k": k}
    ((rows, few, fewest),) = material.tables.rows("attack_attributes/people_who_fit", **holes)
    return Outcome(
        "few_people",
        f"{int(few):,} of {int(rows):,} rows are in classes that fewer than {k} people of the source fit, counted by "
        f"{material.unit}.",
        attempts=int(rows),
        successes=int(few),
        affected=round(int(few) / max(1, int(rows)) * release.rows),
        sampled=int(rows) < release.rows,
        figures={"fewest_people": None if fewest is None else int(fewest)},
        avoid="count people when you anonymize, with the same unit",
    )


def _codes(labels: Sequence[Label]) -> list[int]:
    """The same number for equal labels."""
    codes: dict[Label, int] = {}
    return [codes.setdefault(label, len(codes)) for label in labels]


def _outcome(
    material: Material, found: Mapping[_Names, int], finding: str, avoid: str, column: str | None = None
) -> Outcome:
    """The outcome with all attributes, and the smallest set of attributes with any success."""
    release, everything = material.release, len(material.quasi_identifiers)
    people = found[material.quasi_identifiers]
    first = next((names for names, rows in found.items() if rows), None)
    figures: dict[str, float | int | None] = {}
    for size in sorted({len(names) for names in found}):  # by the number of attributes that the attacker has
        of_size = [rows for names, rows in found.items() if len(names) == size]
        figures |= {f"worst_of_{size}": max(of_size), f"mean_of_{size}": sum(of_size) / len(of_size)}
    smallest = f"; for some {len(first)} are enough, such as {', '.join(first)}" if first else ""
    return Outcome(
        "known_attributes",
        f"{people:,} of {release.rows:,} rows {finding}, if all {everything} quasi-identifiers are known{smallest}.",
        attempts=release.rows,
        successes=people,
        affected=people,
        baseline=by_chance(material, column) if column else None,
        column=column,
        figures=figures,
        avoid=avoid,
    )


ATTRIBUTES = Attack(
    "known_attributes",
    "Take the rows that show a person's labels of some quasi-identifiers.",
    _attributes,
    outcomes=("known_attributes", "few_people"),
)
