"""Candidate classes of a person in a release: all whose labels cover the attacker's background knowledge.

If no value has two labels, as in any release of a lattice, the labels of a person's values lead to the only
candidate. Otherwise the attributes are joined one by one over the prefixes of the classes' labels, so that only
prefixes that still fit are examined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np

from kanon_sql import queries
from kanon_sql.attack.coded_copy import CodedCopy
from kanon_sql.attack.label_readings import LabelReader, covered, ends
from kanon_sql.attack.material import Copy, Material
from kanon_sql.engine import Column
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.code_arrays import Integers
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.values import Label
from kanon_sql.queries import CodedColumn, Hole, Relation, Same

ANY_VALUE = "taken for any value"  # in notes on labels of which an attacker could know more
SAMPLE = 100_000  # rows of a large table: of whole classes, or those from which some are drawn
_MOST_KEPT = 100_000  # values of a column whose labels several attacks read by the same index
_STEPS = {"decimal": Decimal(1), "date": timedelta(days=1), "timestamp": timedelta(days=1)}


def classes_of(
    material: Material, release: Copy, stem: str = "classes", names: Sequence[str] | None = None
) -> Relation:
    """The classes of a release: class (from 1), the quasi-identifiers' labels by their plain names, n (rows).

    `names`: the quasi-identifiers that form the classes, by default all.
    """
    labels = release.plain(material.quasi_identifiers if names is None else names)
    if release.classes is None:
        return material.tables.create(stem, "attack_matching/classes", release=release.relation, labels=labels)
    if names is None:
        return release.classes
    return material.tables.create(stem, "attack_matching/coarser_classes", classes=release.classes, labels=labels)


def values_of_classes(material: Material, column: str) -> Relation:
    """The values of a sensitive column in the classes of the release: class, value (its number in their order), n.

    Several attacks have this table in common, and the values of these numbers: see `values_in_order`.
    """
    tables, value, release = material.in_common.tables, material.release.plain([column]), material.release
    stem = f"values_of_classes_{value[0]}"
    if stem in tables:
        return tables[stem]
    holes: dict[str, Hole] = {"release": release.relation, "value": value, "same": Same(["raw"], "o", "c")}
    return tables.create(stem, "attack_dealing/values_of_classes", overall=values_in_order(material, column), **holes)


def counted_values(material: Material, column: str) -> dict[str, Hole]:
    """Both tables of the values of a sensitive column, as holes of queries."""
    return {"values": values_of_classes(material, column), "overall": values_in_order(material, column)}


def values_in_order(material: Material, column: str) -> Relation:
    """The values of a sensitive column: value (its number in their order), raw, key, n, up_to (cumulated n)."""
    tables, value = material.in_common.tables, material.release.plain([column])
    stem = f"values_{value[0]}"
    if stem in tables:
        return tables[stem]
    return tables.create(stem, "attack_dealing/values_in_order", release=material.release.relation, value=value)


def coded_copy(material: Material, copy: Copy) -> CodedCopy:
    """A copy with the codes of all columns that it has in common with the release; several attacks use it."""
    if copy.name not in material.coded_copies:
        material.coded_copies[copy.name] = _coded(material, copy)
    return material.coded_copies[copy.name]


def _coded(material: Material, copy: Copy) -> CodedCopy:
    names = [name for name in material.release.columns if name in copy.columns and name != material.unit]
    shared, mappings, sizes, columns = material.in_common.tables, {}, {}, []
    for name, plain in zip(names, copy.plain(names), strict=True):
        mappings[name] = shared.create(
            f"codes_{len(material.coded_copies)}_{plain}", "attack_matching/codes", people=copy.relation, value=[plain]
        )
        ((size, null),) = shared.rows("attack_matching/code_count", codes=mappings[name])
        sizes[name] = int(size)
        columns.append(CodedColumn(plain, mappings[name], 0, (), None if null is None else {"code_0": int(null)}))
    with Scratch(material.tables.engine, "codes") as tables:
        query = queries.numbered_codes(copy.relation, columns, tables.engine.dialect)
        found = tables.engine.arrays(tables.view("coded", query))
    places = found["row_id"] - 1
    codes = {}
    for name, plain in zip(names, copy.plain(names), strict=True):
        in_order = np.empty(len(places), dtype=np.min_scalar_type(sizes[name]))
        in_order[places] = found[plain]
        codes[name] = in_order
    return CodedCopy(codes, sizes, mappings)


def coded_values(material: Material, copy: Copy, name: str) -> list[tuple[Any, ...]]:
    """The values of a column of a coded copy with their texts, by their codes."""
    coded = coded_copy(material, copy)
    if name not in coded.values:
        coded.values[name] = material.tables.rows("attack_matching/coded_values", codes=coded.tables[name])
        # Also for other attacks, which need no order.
        material.values_of_copies[copy.relation.name, *copy.plain([name])] = coded.values[name]
    return coded.values[name]


def texts_of_codes(material: Material, copy: Copy, name: str, codes: Integers) -> dict[int, Label]:
    """The texts of some codes of a column."""
    drawn = material.tables.load("drawn_codes", {"code": "INTEGER"}, [codes.tolist()])
    table = coded_copy(material, copy).tables[name]
    return dict(material.tables.rows("attack_matching/texts_of_codes", codes=table, drawn=drawn))


def codes_of_texts(material: Material, copy: Copy, name: str, texts: Iterable[Label]) -> dict[Label, list[int]]:
    """The codes of the values with these texts in a column; different values can have the same text."""
    drawn = material.tables.load("drawn_texts", {"text_key": "VARCHAR"}, [list(map(text_key, texts))])
    table = coded_copy(material, copy).tables[name]
    found: dict[Label, list[int]] = {}
    for text, code in material.tables.rows("attack_matching/codes_of_texts", codes=table, drawn=drawn):
        found.setdefault(text, []).append(int(code))
    return found


def drawn_classes(material: Material, stem: str = "drawn_classes", number: int = 0) -> Relation:
    """Whole classes of a large release, drawn with the seed until they have `SAMPLE` rows, and at least a `number`.

    Attacks that need the same number have them in common.
    """
    whole = material.in_common
    if stem in whole.tables:
        return whole.tables[stem]
    labels = material.release.plain(material.quasi_identifiers)
    holes: dict[str, Hole] = {"classes": classes_of(whole, material.release), "labels": labels}
    holes |= {"seed": str(material.seed), "rows": SAMPLE, "number": number}
    return whole.tables.create(stem, "attack_dealing/drawn_classes", **holes)


def people_of_sample(material: Material, source: Copy) -> Relation:
    """The rows of the source that fit a class drawn for some attack; all rows if the release is not large."""
    whole = material.in_common
    if material.release.rows <= SAMPLE:
        return source.relation
    if "near_people" in whole.tables:
        return whole.tables["near_people"]
    names = material.quasi_identifiers_of(source)
    classes = drawn_classes(material, "near_classes", material.most)
    fits = fitting(whole, source.relation, source, classes, names, "near_fits", target="row_id")
    columns = [*dict.fromkeys(source.plain([*names, *material.kept_with(source)]))]
    holes: dict[str, Hole] = {"people": source.relation, "fits": fits, "columns": columns}
    return whole.tables.create("near_people", "attack_order/rows_of_fits", **holes)


def drawn(material: Material, people: Copy, names: Sequence[str], stem: str = "targets") -> Relation:
    """People of a copy to attack, at most `material.most`, with one row per person: target (a number), the columns."""
    holes: dict[str, Hole] = {"people": people.relation, "columns": people.plain(names)}
    holes |= {"seed": str(material.seed), "most": material.most}
    if people.unit:
        return material.tables.create(stem, "attack_matching/targets_of_people", unit=people.unit, **holes)
    return material.tables.create(stem, "attack_matching/targets", part=drawn_part(material, people.rows), **holes)


def drawn_part(material: Material, rows: int) -> float:
    """The fraction of a table's rows from which the attempts are drawn: 1 if the table is not large."""
    return min(1.0, max(SAMPLE, 2 * material.most) / max(1, rows))


@dataclass(frozen=True)
class Attacked:
    """The attacked people of a copy, and the classes that fit them; `stem` begins the names of the tables."""

    material: Material
    people: Copy
    targets: Relation
    fits: Relation
    stem: str = ""

    @property
    def attempts(self) -> int:
        """The number of people drawn, including those that fit no class."""
        return self.material.tables.count(self.targets)

    def truths(self, column: str) -> Relation:
        """The people's true values in a column: target, value (a key)."""
        people, tables = self.people, self.material.tables
        holes: dict[str, Hole] = {"people": people.relation, "value": people.plain([column])}
        return tables.create(f"{self.stem}truths", "attack_matching/truths", targets=self.targets, **holes)


def attack(material: Material, people: Copy, columns: Sequence[str], stem: str = "") -> Attacked:
    """Draw people of a copy, and find the classes that fit their values in the known columns.

    Several attacks on the same people have these tables in common.
    """
    key, found = (people.name, *columns), material.attacked_people
    if key not in found:
        whole, prefix = material.in_common, f"people_{len(found)}"
        targets = drawn(whole, people, columns, f"{prefix}_targets")
        classes = classes_of(whole, material.release)
        found[key] = targets, fitting(whole, targets, people, classes, columns, f"{prefix}_fits")
    return Attacked(material, people, *found[key], stem)


@dataclass(frozen=True)
class Covers:
    """The values that the labels of one attribute cover. `relation`: label, value, as keys.

    `overlap`: whether a value has several labels, as in most local recodings.
    """

    relation: Relation
    overlap: bool


def fitting(
    material: Material,
    targets: Relation,
    kinds: Copy,
    classes: Relation,
    names: Sequence[str] | None = None,
    stem: str = "fits",
    covers: Mapping[str, Covers] | None = None,
    target: str = "target",
) -> Relation:
    """The pairs of a target and a class that fit: target, class.

    `targets`: `target` (a number), and the known columns under plain names. `kinds`: the copy that these values come
    from; of a release, they are labels, which fit if they share a value. `names`: the known columns, by
    default all quasi-identifiers; the labels of any other column are values. `covers`: for each of them the values that
    the labels cover, as `load_covers` finds them.
    """
    tables = material.tables
    columns = material.quasi_identifiers if names is None else tuple(names)
    plain = dict(zip(columns, kinds.plain(columns), strict=True))
    if covers is None:
        covers = {
            name: load_covers(material, targets, classes, name, kinds, f"fitting_{plain[name]}") for name in columns
        }
    loaded = [covers[name].relation for name in columns]
    if len(columns) <= queries.MOST_JOINS and not any(covers[name].overlap for name in columns):
        query = queries.fits_of_labels(targets, target, classes, dict(zip(plain.values(), loaded, strict=True)))
        fits = tables.create_as(stem, query)
    else:
        fits = _fitting_by_prefixes(material, targets, plain, classes, stem, covers, target)
    tables.drop(*loaded)
    return fits


def _fitting_by_prefixes(
    material: Material,
    targets: Relation,
    plain: Mapping[str, str],
    classes: Relation,
    stem: str,
    covers: Mapping[str, Covers],
    target: str,
) -> Relation:
    """The pairs that fit, attribute by attribute: labels that overlap lead to many classes by each of them alone."""
    tables = material.tables
    columns = list(plain)
    if target == "row_id" and material.release.rows > SAMPLE:
        # Of a whole large table, the attributes with most labels leave the fewest rows.
        text = queries.text_counts(classes, [*plain.values()])
        numbers = dict(zip(columns, tables.rows_as(text)[0], strict=True))
        columns.sort(key=lambda name: -numbers[name])
    remaining = {name: plain[name] for name in columns}
    # The tables of a step are read while those of the next one are written.
    (places, next_places), (fitting, next_fitting) = tables.pair("places"), tables.pair("fitting")
    tables.create(places, "attack_matching/first_places", classes=classes)
    for name in columns:
        value = [remaining.pop(name)]
        holes: dict[str, Hole] = {"value": value, "others": [*remaining.values()], "covers": covers[name].relation}
        of_label: dict[str, Hole] = {"places": places, "classes": classes, "label": value}
        holes["places"] = tables.create(next_places, "attack_matching/next_places", **of_label)
        if len(remaining) == len(columns) - 1:
            same = Same(["value"], "covering", "t")
            tables.create(
                next_fitting, "attack_matching/first_fitting", targets=targets, id=[target], same=same, **holes
            )
        else:
            tables.create(next_fitting, "attack_matching/next_fitting", fitting=fitting, **holes)
        places, next_places = next_places, places
        fitting, next_fitting = next_fitting, fitting
    fits = tables.create(stem, "attack_matching/fits", fitting=fitting, places=places)
    tables.drop(places, next_places, fitting, next_fitting)
    return fits


def load_covers(
    material: Material, targets: Relation, classes: Relation, name: str, kinds: Copy, stem: str = "covers"
) -> Covers:
    """The targets' values, or labels, that every label of the classes covers."""
    tables, plain = material.tables, kinds.plain([name])
    labels = [label for (label,) in tables.rows("attack_matching/labels", classes=classes, label=plain)]
    if name not in material.quasi_identifiers:
        pairs = [(label, label) for label in labels]
    elif kinds.is_release:
        pairs = _overlapping(material, name, labels, [text for _, text in _values(material, targets, plain)])
    else:
        values = material.values_of_copies.get((kinds.relation.name, *plain)) or _values(material, targets, plain)
        places = covered_values(material, kinds, name, labels, values)
        pairs = [(label, values[place][1]) for label, covering in places.items() for place in covering]
    return covers_of([(text_key(label), text_key(value)) for label, value in pairs], tables, stem)


def covers_of(keys: Sequence[tuple[str, str]], tables: Scratch, stem: str) -> Covers:
    """The covers of these pairs of the keys of a label and a value."""
    relation = tables.load(stem, {"label": "VARCHAR", "value": "VARCHAR"}, list(zip(*keys, strict=True)) or [[], []])
    return Covers(relation, len({value for _, value in keys}) < len(keys))


def covered_values(
    material: Material, people: Copy, name: str, labels: Sequence[Label], values: Sequence[tuple[Any, str | None]]
) -> Mapping[Label, Sequence[int]]:
    """The places of the values (with their texts) of people's column that each label covers."""
    if name in material.averaged:
        material.note(
            f"{name} shows a mean, a median or a mode of every class, which is {ANY_VALUE}; "
            "an attacker who looks for the nearest class learns more"
        )
        return dict.fromkeys(labels, range(len(values)))
    places, unread = _reader(material, people, name, values).covered(labels)
    _note_unread(material, name, unread)
    return places


def _reader(material: Material, people: Copy, name: str, values: Sequence[tuple[Any, str | None]]) -> LabelReader:
    """Reads the labels of people's column; several attacks use that of all values of a copy."""
    key = people.relation.name, *people.plain([name])
    known = material.label_readers.get(key)
    if known and known[0] is values:
        return known[1]
    column, texts = people.column(name), [text for _, text in values]
    # Labels with the text of a value in a table of people are values.
    tables = [copy for copy in (material.source, material.auxiliary) if copy and name in copy.columns]
    others = {text for copy in tables for _, text in _values(material, copy.relation, copy.plain([name]))}
    readable = texts if column.kind == "other" else [value for value, _ in values]
    reader = LabelReader(readable, column.kind, material.hierarchy(column, readable), texts, others)
    if values is material.values_of_copies.get(key) and len(values) <= _MOST_KEPT:
        material.label_readers[key] = values, reader
    return reader


def _note_unread(material: Material, name: str, unread: Sequence[str]) -> None:
    if unread:
        material.note(
            f"{len(unread):,} labels of {name} cannot be read without its hierarchy, and are {ANY_VALUE}; "
            "name the hierarchies, so that the attacks are as strong as an informed attacker's"
        )


def _overlapping(
    material: Material, name: str, labels: Sequence[Label], others: Sequence[Label]
) -> list[tuple[Label, Label]]:
    """The pairs of labels of two releases that share a value."""
    kind, values = examples([*labels, *others])
    hierarchy = material.hierarchy(Column(name, "", kind), values)
    pairs, unread = overlapping(labels, others, kind, values, hierarchy)
    lonely = {*labels, *others} - {label for pair in pairs for label in pair}
    if lonely and hierarchy is None:
        material.note(
            f"{len(lonely):,} labels of {name} match none of the other release, and are taken literally; if they cover "
            "several values, name the hierarchies"
        )
    _note_unread(material, name, unread)
    return pairs


def _values(material: Material, people: Relation, value: Sequence[str]) -> list[tuple[Any, ...]]:
    """The values of an attribute, and their texts; those of a whole copy are read once."""
    copies = [copy.relation for copy in (material.source, material.auxiliary, material.control) if copy]
    found, key = material.values_of_copies if people in copies else {}, (people.name, *value)
    if key not in found:
        found[key] = material.tables.rows("attack_matching/values", targets=people, value=value)
    return found[key]


def text_key(text: str | None) -> str:
    """A join key for a text or NULL."""
    return "" if text is None else f"={text}"


# Labels of two releases that share a value, from the releases alone


def overlapping(
    labels: Sequence[Label], others: Sequence[Label], kind: str, values: Sequence[Any], hierarchy: Hierarchy | None
) -> tuple[list[tuple[Label, Label]], list[str]]:
    """The pairs of labels of two releases that share a value; and labels that cannot be read.

    `values`: examples on which the labels are tried, in addition to the leaves of the hierarchy; see `examples`.

    >>> kind, values = examples(["[20, 40)", "[30, 50)", "[40, 50)"])
    >>> overlapping(["[20, 40)"], ["[30, 50)", "[40, 50)"], kind, values, None)
    ([('[20, 40)', '[30, 50)')], [])
    >>> kind, values = examples(["2024-01", "2024-02", "2024-Q1"])
    >>> overlapping(["2024-01", "2024-02"], ["2024-Q1", "2024-01"], kind, values, None)[0]
    [('2024-01', '2024-Q1'), ('2024-01', '2024-01'), ('2024-02', '2024-Q1')]
    """
    tried = [*values, *(hierarchy.values if hierarchy else ())]
    found, unread = covered(dict.fromkeys([*labels, *others]), tried, kind, hierarchy)
    for label in found:
        if not found[label]:  # it covers none of its own examples, so it was misread: any value is the safe reading
            found[label] = list(range(len(tried)))
            unread.append(str(label))
    among: dict[int, list[Label]] = {}
    for other in others:
        for place in found[other]:
            among.setdefault(place, []).append(other)
    pairs = {(label, other): None for label in labels for place in found[label] for other in among.get(place, ())}
    return list(pairs), unread


def examples(labels: Iterable[Label]) -> tuple[str, list[Any]]:
    """The kind of values of labels, and examples such that overlapping labels have one of them in common.

    >>> examples(["1", "[2, 3)"])
    ('decimal', [Decimal('0'), Decimal('1'), Decimal('1.5'), Decimal('2'), Decimal('2.5'), Decimal('3'), Decimal('4')])
    >>> examples(["021**", "02139", None])
    ('text', [None, '02100', '02139'])
    """
    shown = dict.fromkeys(labels)
    texts = [label for label in shown if label not in (None, STAR)]
    kind = next((kind for kind in _STEPS if texts and all(ends(text, kind) for text in texts)), "text")
    found = dict.fromkeys(end for text in texts for end in ends(text, kind))
    null = [None] if None in shown else []
    if kind == "text":
        return kind, [*null, *(found or [STAR])]
    values, step = sorted(found), _STEPS[kind]
    middles = [low + (high - low) / 2 for low, high in pairwise(values)]
    return kind, [*null, *sorted({values[0] - step, *values, *middles, values[-1] + step})]
