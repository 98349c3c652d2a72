"""Texts: which are codes to be cut off, or in a built-in taxonomy; and groups of similar categories."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.codes import OTHER, contains
from kanon_sql.generalization.values import as_text
from kanon_sql.hints import name_phrases, words
from kanon_sql.suggestion.alike import Counts, grouped

FEW = 3  # values up to which a column is shown or not
_MOST_GROUPED = 64  # categories that are compared with each other
_KNOWN = 0.9  # of the rows, whose values a taxonomy must know
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

Level = Mapping[Any, str]  # the label of each value
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,9})?")
_LONG_NAME, _ICD_CODE = re.compile(r"\D{4,}"), re.compile(r"[A-Z]\d\d(\.?\w{1,4})?")
_DOTTED = re.compile(r"[A-Z]\d\d\.\w{1,4}")
_CODE = re.compile(r"(?=.*\d)[\w.-]{2,12}")
_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){3}|[\da-fA-F:]*:[\da-fA-F:.]*")


def share(counts: Mapping[Any, int], matches: Callable[[str], object]) -> float:
    """The share of the rows that are not NULL whose value, as text, matches."""
    held = {as_text(value): rows for value, rows in counts.items() if value is not None}
    return sum(rows for text, rows in held.items() if matches(text)) / max(1, sum(held.values()))


def as_number(value: Any) -> Decimal | None:
    """The number that a text is, in plain digits; None for other values."""
    return Decimal(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else None


def known_taxonomy(name: str, counts: Mapping[Any, int]) -> str | None:
    """The taxonomy that contains nearly all values of a column, if one does.

    >>> known_taxonomy("born in", {"Peru": 7, "France": 90, "Japan": 3, "Mali": 2}), known_taxonomy("state", {"CA": 9})
    ('countries', None)
    """
    for taxonomy, hints, written, enough in (("countries", _COUNTRY, _LONG_NAME, 0.95), ("icd10", _ICD, _DOTTED, 0.3)):
        likely = bool(name_phrases(name) & hints) or share(counts, written.fullmatch) >= enough
        if likely and len(counts) > FEW and _knows(taxonomy, counts):
            return taxonomy
    return None


def _knows(taxonomy: str, counts: Mapping[Any, int]) -> bool:
    try:
        return share(counts, lambda text: contains(taxonomy, text)) >= _KNOWN
    except HierarchyError:  # its package is not installed
        return False


def code_recipe(name: str, counts: Mapping[Any, int], whole: bool) -> dict[str, Any] | None:
    """The recipe of codes whose first characters say the most, None for other columns; `whole`: of whole numbers.

    >>> code_recipe("zip", {2138: 4, 10115: 9, 90210: 2}, True)
    {'prefix': [4, 3, 2, 1], 'pad': 5}
    >>> code_recipe("PLZ", {"01067": 4, "10115": 9, "80331": 2}, False)
    {'prefix': [4, 3, 2, 1]}
    """
    lengths = sorted({len(as_text(value)) for value in counts if value is not None})
    postal = bool(name_phrases(name) & _POSTAL)
    if not lengths or len(counts) <= (2 if postal else 2 * FEW):
        return None
    if whole:
        fits = postal and lengths[0] >= 3 and lengths[-1] <= 5
        pad = {"pad": lengths[-1]} if lengths[0] < lengths[-1] else {}
        return {"prefix": _prefixes(lengths[-1]), **pad} if fits else None
    if share(counts, _ADDRESS.fullmatch) == 1:
        return {"networks": [24, 16, 8]}
    usual = _usual_length(counts)
    alike = share(counts, lambda text: len(text) == usual and _CODE.fullmatch(text)) >= _SAME_SHAPE
    if usual > 1 and (alike or (share(counts, _ICD_CODE.fullmatch) >= _SAME_SHAPE)):
        return {"prefix": _prefixes(min(usual, 4) if not alike else usual)}
    return None


def _usual_length(counts: Mapping[Any, int]) -> int:
    held: dict[int, int] = {}
    for value, rows in counts.items():
        if value is not None:
            held[len(as_text(value))] = held.get(len(as_text(value)), 0) + rows
    return max(held, key=lambda length: held[length])


def _prefixes(length: int) -> list[int]:
    return list(range(length - 1, 0, -1))[-_MOST_PREFIXES:]


def categories(
    counts: Mapping[Any, int], beside: Sequence[tuple[Sequence[Any], Counts]], common: Collection[Any]
) -> list[Level]:
    """Levels of categories: rare ones become `other`, then those that look alike are merged.

    `beside`: for other columns the categories, and how many of their rows hold each value there. `common`: the values
    that labels may name. A label is released for all values below it, also where none of the people with one of them
    is, so what fewer than k people have is in no label.
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
    return [*first, *_merged(values, pools, counts, beside, {*frequent})]


def _most_frequent(values: Sequence[Any], common: Collection[Any]) -> Iterator[Level]:
    """The most frequent values by themselves and all others as one, fewer on each level."""
    for kept in (1000, 100, 10):
        if kept < len(values):
            named = {value for value in values[:kept] if value in common}
            yield {value: _text(value) if value in named else OTHER for value in values}


def _merged(
    values: Sequence[Any],
    pools: Sequence[Sequence[Any]],
    counts: Mapping[Any, int],
    beside: Sequence[tuple[Sequence[Any], Counts]],
    named: Collection[Any],
) -> Iterator[Level]:
    """Pools of values, merged until two are left, about half as many on each level."""
    place_of = {value: place for place, value in enumerate(values)}
    import numpy as np

    rows = [sum(counts[value] for value in pool) for pool in pools]
    tables = []
    for order, table in beside:
        place = {value: number for number, value in enumerate(order)}
        tables.append(np.array([table[[place[value] for value in pool]].sum(axis=0) for pool in pools]))
    for groups in grouped(rows, tables, list(_sizes(len(pools)))):
        members: dict[int, list[Any]] = {}
        for pool, group in zip(pools, groups, strict=True):
            members.setdefault(group, []).extend(pool)
        yield _labelled([sorted(group, key=place_of.__getitem__) for group in members.values()], named)


def _sizes(categories: int) -> Iterator[int]:
    """How many groups there are on each level.

    >>> list(_sizes(14)), list(_sizes(41))
    ([7, 4, 2], [14, 7, 4, 2])
    """
    size = categories
    while size > 2:
        size = max(2, -(-size // (2 if size <= 16 else 3)))
        yield size


def _labelled(groups: Sequence[Sequence[Any]], named: Collection[Any]) -> Level:
    """The label of each value: its group's members, the most frequent first; those not to be named are `other`."""
    taken: set[str] = set()
    labels = {}
    for group in groups:
        label = _named(group, named)
        while label in taken:
            label += " +"
        taken.add(label)
        labels.update(dict.fromkeys(group, label))
    return labels


def _named(group: Sequence[Any], named: Collection[Any]) -> str:
    texts = [_text(value) for value in group if value in named]
    more = [f"{len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else []
    return " / ".join([*texts[:_SHOWN], *more, *([OTHER] if len(texts) < len(group) else [])])


def _text(value: Any) -> str:
    return "missing" if value is None else as_text(value)
