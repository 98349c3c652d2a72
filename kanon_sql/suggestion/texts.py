"""Texts: codes to truncate, values of a built-in taxonomy, or groups of similar categories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.codes import OTHER, contains
from kanon_sql.generalization.values import as_text
from kanon_sql.hints import name_phrases, words
from kanon_sql.suggestion.grouping import Counts, grouped

FEW = 3  # values; a column with more gets levels
_MOST_GROUPED = 64  # categories that are compared with each other
_CONTAINED = 0.9  # of the rows, whose values a taxonomy must contain
_SAME_SHAPE = 0.95  # of the rows
_MOST_PREFIXES = 5
_SHOWN = 3  # members of a group in its label
_POSTAL = words(
    "zip zipcode postcode postalcode postal plz postleitzahl npa codepostal cap codigopostal cp cep codicepostale "
    "kodpocztowy"
)
_COUNTRY = words(
    "country nation nationality citizenship land nativecountry countrycode nationalitat staatsangehorigkeit "
    "staatsburgerschaft geburtsland herkunft pays nationalite paese nazionalita cittadinanza pais nacionalidad "
    "nacionalidade nationaliteit geboorteland kraj narodowosc obywatelstwo"
)
_ICD = words(
    "icd diagnosis diagnose diagnoses diagnosen hauptdiagnose nebendiagnose diagnostic diagnosi diagnostico diagnoza"
)

LabelsByValue = Mapping[Any, str]  # the label of each value
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,9})?")
_LONG_NAME = re.compile(r"\D{4,}")
_ICD_CODE = re.compile(r"[A-Z]\d\d(\.?\w{1,4})?")
_DOTTED = re.compile(r"[A-Z]\d\d\.\w{1,4}")
_CODE = re.compile(r"(?=.*\d)[\w.-]{2,12}")
_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}|[\da-fA-F:]*:[\da-fA-F:.]*")


def share(counts: Mapping[Any, int], matches: Callable[[str], object]) -> float:
    """The share of the rows that are not NULL whose value, as text, matches."""
    filled = {as_text(value): rows for value, rows in counts.items() if value is not None}
    return sum(rows for text, rows in filled.items() if matches(text)) / max(1, sum(filled.values()))


def all_match(counts: Mapping[Any, int], matches: Callable[[str], object]) -> bool:
    """Whether all values that are not NULL, as text, match."""
    return all(matches(as_text(value)) for value in counts if value is not None)


def as_number(value: Any) -> Decimal | None:
    """The number in a text of plain digits; None for other values."""
    return Decimal(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else None


def known_taxonomy(name: str, counts: Mapping[Any, int]) -> str | None:
    """The taxonomy that contains nearly all values of a column, if one does.

    >>> known_taxonomy("born in", {"Peru": 7, "France": 90, "Japan": 3, "Mali": 2}), known_taxonomy("state", {"CA": 9})
    ('countries', None)
    """
    for taxonomy, hints, written, enough in (("countries", _COUNTRY, _LONG_NAME, 0.95), ("icd10", _ICD, _DOTTED, 0.3)):
        likely = bool(name_phrases(name) & hints) or share(counts, written.fullmatch) >= enough
        if likely and len(counts) > FEW and _contains(taxonomy, counts):
            return taxonomy
    return None


def _contains(taxonomy: str, counts: Mapping[Any, int]) -> bool:
    try:
        return share(counts, lambda text: contains(taxonomy, text)) >= _CONTAINED
    except HierarchyError:  # its package is not installed
        return False


def code_recipe(name: str, counts: Mapping[Any, int], whole: bool) -> dict[str, Any] | None:
    """The recipe of codes with the most information in their first characters; None for other columns.

    `whole`: whether the values are whole numbers.

    >>> code_recipe("zip", {2138: 4, 10115: 9, 90210: 2}, True)
    {'prefix': [4, 3, 2, 1], 'pad': 5}
    >>> code_recipe("PLZ", {"01067": 4, "10115": 9, "80331": 2}, False)
    {'prefix': [4, 3, 2, 1]}
    """
    rows_of: Counter[int] = Counter()
    for value, rows in counts.items():
        if value is not None:
            rows_of[len(as_text(value))] += rows
    lengths = sorted(rows_of)
    postal = bool(name_phrases(name) & _POSTAL)
    if not lengths or len(counts) <= (2 if postal else 2 * FEW):
        return None
    if whole:
        fits = postal and lengths[0] >= 3 and lengths[-1] <= 5
        pad = {"pad": lengths[-1]} if lengths[0] < lengths[-1] else {}
        return {"prefix": _prefixes(lengths[-1]), **pad} if fits else None
    if all_match(counts, _ADDRESS.fullmatch):
        return {"networks": [24, 16, 8]}
    usual, _ = rows_of.most_common(1)[0]
    same_form = share(counts, lambda text: len(text) == usual and _CODE.fullmatch(text)) >= _SAME_SHAPE
    if usual > 1 and same_form:
        return {"prefix": _prefixes(usual)}
    if usual > 1 and share(counts, _ICD_CODE.fullmatch) >= _SAME_SHAPE:
        return {"prefix": _prefixes(min(usual, 4))}
    return None


def _prefixes(length: int) -> list[int]:
    return list(range(length - 1, 0, -1))[-_MOST_PREFIXES:]


def categories(
    counts: Mapping[Any, int], co_counts: Sequence[tuple[Sequence[Any], Counts]], common: Collection[Any]
) -> list[LabelsByValue]:
    """Levels of categories: rare ones become `other`, then similar ones are merged.

    `co_counts`: for other columns the categories, and their counts by the values there. `common`: the values that
    labels may name. A label can be released without people who have all values in it, so values of fewer than k people
    are in no label.
    """
    values = sorted(counts, key=lambda value: (-counts[value], as_text(value) if value is not None else ""))
    named = [value for value in values if value in common]
    if not named:
        return []
    frequent = named if len(values) <= _MOST_GROUPED else named[: _MOST_GROUPED - 1]
    if sum(counts[value] for value in frequent) < sum(counts.values()) / 2:
        return list(_most_frequent(values, common))
    others = [value for value in values if value not in {*frequent}]
    pools = [*([value] for value in frequent), *([others] if others else [])]
    first = [_labelled(pools, {*frequent})] if others else []
    return [*first, *_merged(values, pools, counts, co_counts, {*frequent})]


def _most_frequent(values: Sequence[Any], common: Collection[Any]) -> Iterator[LabelsByValue]:
    """The most frequent values separately and all others as one, fewer on every level."""
    for kept in (1000, 100, 10):
        if kept < len(values):
            named = {value for value in values[:kept] if value in common}
            yield {value: label_of(value) if value in named else OTHER for value in values}


def _merged(
    values: Sequence[Any],
    pools: Sequence[Sequence[Any]],
    counts: Mapping[Any, int],
    co_counts: Sequence[tuple[Sequence[Any], Counts]],
    named: Collection[Any],
) -> Iterator[LabelsByValue]:
    """Pools of values, merged until two are left, with about half as many on every level."""
    place_of = {value: place for place, value in enumerate(values)}
    import numpy as np

    rows = [sum(counts[value] for value in pool) for pool in pools]
    tables = []
    for order, table in co_counts:
        place = {value: number for number, value in enumerate(order)}
        tables.append(np.array([table[[place[value] for value in pool]].sum(axis=0) for pool in pools]))
    for groups in grouped(rows, tables, list(_sizes(len(pools)))):
        members: dict[int, list[Any]] = {}
        for pool, group in zip(pools, groups, strict=True):
            members.setdefault(group, []).extend(pool)
        yield _labelled([sorted(group, key=place_of.__getitem__) for group in members.values()], named)


def _sizes(categories: int) -> Iterator[int]:
    """The number of groups per level.

    >>> list(_sizes(14)), list(_sizes(41))
    ([7, 4, 2], [14, 7, 4, 2])
    """
    size = categories
    while size > 2:
        size = max(2, -(-size // (2 if size <= 16 else 3)))
        yield size


def _labelled(groups: Sequence[Sequence[Any]], named: Collection[Any]) -> LabelsByValue:
    """The labels of the values: the members of their group, the most frequent first; unnamed ones are `other`."""
    taken: set[str] = set()
    labels = {}
    for group in groups:
        texts = [label_of(value) for value in group if value in named]
        more = [f"{len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else []
        label = " / ".join([*texts[:_SHOWN], *more, *([OTHER] if len(texts) < len(group) else [])])
        while label in taken:
            label += " +"
        taken.add(label)
        labels.update(dict.fromkeys(group, label))
    return labels


def label_of(value: Any) -> str:
    """A value as a label; NULL becomes `missing`."""
    return "missing" if value is None else as_text(value)
