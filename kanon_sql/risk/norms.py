"""Requirements of norms, compared with a table; docs/risk.md has the sources of the rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kanon_sql.privacy.risk_models import least_size
from kanon_sql.report.numbers import counted as of_size
from kanon_sql.report.thresholds import THRESHOLDS
from kanon_sql.risk.identifiers import OLD, Contents

HARBOR = "HIPAA Safe Harbor"
_EVERYWHERE = ("ema", "health_canada")
_AMERICAN = ("cms", "hipaa")


@dataclass(frozen=True)
class Norm:
    """One rule: the required figure, the figure found, and whether the rule is met.

    `met`: None if the data are not sufficient to decide; `found` is then the result of the search.
    """

    name: str
    rule: str
    asked: str
    found: str
    met: bool | None


def by_default(is_american: bool) -> tuple[str, ...]:
    """The norms that are shown if none are chosen: those of the United States only for tables with ZIP codes."""
    return (*_EVERYWHERE, *(_AMERICAN if is_american else ()))


def norms(
    smallest: int, counted: str, contents: Contents, unknown: bool = False, names: Sequence[str] = ()
) -> tuple[Norm, ...]:
    """The rules for a table, by its smallest group, with a size in rows or people, and by its contents.

    `unknown`: whether people should be counted but cannot be; a group of few people can have many rows. `names`: the
    norms; by default those that fit the contents.
    """
    chosen = names or by_default(bool(contents.zips))
    harbor = _safe_harbor(contents) if "hipaa" in chosen else ()
    return (*of_classes(smallest, counted, unknown, chosen), *harbor)


def of_classes(
    smallest: int, counted: str, unknown: bool = False, names: Sequence[str] = _EVERYWHERE
) -> Iterator[Norm]:
    """The rules about the sizes of groups; they compare exact figures, not rounded ones."""
    size = f"{of_size(smallest, counted)}{', people unknown' if unknown else ''}"
    for threshold in THRESHOLDS:
        if threshold.norm in names:
            found = size
            required = f"at least {threshold.size}"
            rule = "smallest group"
            if threshold.risk is not None:
                rule = "highest risk"
                required = f"at most {threshold.risk:g}, a group of {least_size(threshold.risk)}"
                found = f"{1 / smallest:.4f}, a group of {size}"
            is_met = threshold.met(smallest)
            yield Norm(threshold.name, rule, required, found, None if unknown and is_met else is_met)


def _safe_harbor(contents: Contents) -> Iterator[Norm]:
    yield _areas(contents)
    yield _dates(contents)
    yield from _ages(contents)
    others = [identifier.column for identifier in contents.identifiers if identifier.letter not in "BC"]
    found = f"in {_listed(others)}" if others else "none seen by name, format or content"
    yield _harbor("A, D to R: other identifiers", "none", found, False if others else None)


def _areas(contents: Contents) -> Norm:
    """Areas smaller than a state; three digits of a ZIP code may be shown for 20,000 people or more, otherwise 000."""
    zips = {zip_code.column: zip_code for zip_code in contents.zips}
    areas = [
        identifier.column
        for identifier in contents.identifiers
        if identifier.letter == "B" and identifier.column not in zips
    ]
    found = [f"areas in {_listed(areas)}"] if areas else []
    for zip_code in zips.values():
        found.append(f"{zip_code.digits} digits in {zip_code.column}")
        if zip_code.rare_rows:
            about = "about " if zip_code.sampled else ""
            found.append(f"{about}{zip_code.rare_rows:,} rows of areas with fewer people in {zip_code.column}")
    met = not areas and all(zip_code.digits <= 3 and not zip_code.rare_rows for zip_code in zips.values())
    required = "ZIP codes of 3 digits, 20,000 people"
    return _harbor("B: areas", required, "; ".join(found) or "none seen", met if found else None)


def _dates(contents: Contents) -> Norm:
    """Dates of birth, admission, discharge or death: only their years are allowed."""
    dates = [identifier.column for identifier in contents.identifiers if identifier.letter == "C"]
    return _harbor(
        "C: dates", "years alone", f"in {_listed(dates)}" if dates else "none seen", False if dates else None
    )


def _ages(contents: Contents) -> Iterator[Norm]:
    """Ages over 89 must be one group."""
    required = f"one group from {OLD} on"
    if not contents.ages:
        yield _harbor("C: ages", required, "no column of ages seen", None)
    for age in contents.ages:
        values = {0: "no value", 1: "1 value"}.get(age.values, f"{age.values:,} values")
        found = f"{values} in {age.column}, {age.rows:,} rows"
        yield _harbor("C: ages", required, found, age.values <= 1)


def _harbor(rule: str, required: str, found: str, met: bool | None) -> Norm:
    return Norm(HARBOR, rule, required, found, met)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))
