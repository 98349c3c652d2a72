"""What norms ask of a release, beside what a table has; docs/risk.md says where each rule stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kanon_sql.privacy.risk import least_size
from kanon_sql.report.numbers import counted as of_size
from kanon_sql.risk.identifiers import OLD, Contents

CELL = 11  # the least size of a cell
_HIGHEST = 0.09  # risk that agencies accept; 1 / 11 is above it


@dataclass(frozen=True)
class Norm:
    """One rule: the figure that it asks, the figure found, and whether that meets it.

    `met`: None where the data alone do not tell; `found` then says what was looked for.
    """

    name: str
    rule: str
    asked: str
    found: str
    met: bool | None


def norms(smallest: int, counted: str, contents: Contents, unknown: bool = False) -> tuple[Norm, ...]:
    """All rules, beside the smallest class of a table, its size in rows or people, and what its columns hold.

    `unknown`: whether people should count, and cannot; a class of few people may have many rows.
    """
    return (*of_classes(smallest, counted, unknown), *_safe_harbor(contents))


def of_classes(smallest: int, counted: str, unknown: bool = False) -> Iterator[Norm]:
    """The rules about class sizes; figures are compared as they are, not as they are printed."""
    size = f"{of_size(smallest, counted)}{', people unknown' if unknown else ''}"
    asked = f"at most {_HIGHEST}, a class of {least_size(_HIGHEST)}"
    for name in ("EMA Policy 0070", "Health Canada PRCI"):
        met = None if unknown and 1 / smallest <= _HIGHEST else 1 / smallest <= _HIGHEST
        yield Norm(name, "highest risk", asked, f"{1 / smallest:.4f}, a class of {size}", met)
    met = None if unknown and smallest >= CELL else smallest >= CELL
    yield Norm("CMS cell size", "smallest class", f"at least {CELL}", size, met)


def _safe_harbor(contents: Contents) -> Iterator[Norm]:
    yield _areas(contents)
    yield _dates(contents)
    yield from _ages(contents)
    others = [identifier.column for identifier in contents.identifiers if identifier.letter not in "BC"]
    found = f"in {_listed(others)}" if others else "none seen by name, format or content"
    yield _harbor("A, D to R: other identifiers", "none", found, False if others else None)


def _areas(contents: Contents) -> Norm:
    """Areas smaller than a state; of a ZIP code three digits may be shown where 20,000 people live, else 000."""
    zips = {zip_code.column: zip_code for zip_code in contents.zips}
    areas = [
        identifier.column
        for identifier in contents.identifiers
        if identifier.letter == "B" and identifier.column not in zips
    ]
    said = [f"areas in {_listed(areas)}"] if areas else []
    for zip_code in zips.values():
        said.append(f"{zip_code.digits} digits in {zip_code.column}")
        if zip_code.rare_rows:
            about = "about " if zip_code.sampled else ""
            said.append(f"{about}{zip_code.rare_rows:,} rows of areas with fewer people in {zip_code.column}")
    met = (
        None
        if not said
        else not areas and all(zip_code.digits <= 3 and not zip_code.rare_rows for zip_code in zips.values())
    )
    return _harbor("B: areas", "ZIP codes of 3 digits, 20,000 people", "; ".join(said) or "none seen", met)


def _dates(contents: Contents) -> Norm:
    """Dates of somebody's birth, admission, discharge or death: their years alone."""
    dates = [identifier.column for identifier in contents.identifiers if identifier.letter == "C"]
    return _harbor(
        "C: dates", "years alone", f"in {_listed(dates)}" if dates else "none seen", False if dates else None
    )


def _ages(contents: Contents) -> Iterator[Norm]:
    """Ages over 89 stand together, as one group."""
    asked = f"one group from {OLD} on"
    if not contents.ages:
        yield _harbor("C: ages", asked, "no column of ages seen", None)
    for age in contents.ages:
        many = "no value" if age.values == 0 else "1 value" if age.values == 1 else f"{age.values:,} values"
        found = f"{many} in {age.column}, {age.rows:,} rows"
        yield _harbor("C: ages", asked, found, age.values <= 1)


def _harbor(rule: str, asked: str, found: str, met: bool | None) -> Norm:
    return Norm("HIPAA Safe Harbor", rule, asked, found, met)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
