"""The column that tells people apart where they have several rows: by what does not vary within its values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.engines.scratch import Scratch
from kanon_sql.hints import QUASI_IDENTIFIER, folded, identifies_people, name_phrases, names_people, words
from kanon_sql.queries import Relation
from kanon_sql.risk.columns import ColumnCounts
from kanon_sql.risk.identifiers import Identifier

FEWEST_PEOPLE = 0.01  # of the rows: a column of fewer values tells something else
_FEWEST_REPEATED = 10  # values in several rows, below which nothing is concluded
_CONSTANT = 0.95  # of the values in several rows: those within which a column does not vary
_BY_CHANCE = 0.8  # above which it says nothing that two rows are alike in a column
_FEWEST_TRAITS = 2
_MOST_SEXES = 6
_SEXES = words(
    "m f w d x h k u male female man woman mann frau mannlich weiblich divers homme femme masculin feminin maschio "
    "femmina uomo donna hombre mujer varon masculino femenino feminino homem mulher vrouw mezczyzna kobieta other "
    "unknown andere unbekannt autre inconnu"
)
_BIRTH = words(
    "birth birthday birthdate dob born geburtsdatum geburtstag geboren naissance nascita nacimiento nascimento "
    "geboortedatum urodzenia sex gender geschlecht sexe sesso sexo genero geslacht plec"
)
_PERSONAL = ("names", "social security numbers", "health plan numbers")
_SORTED = ("text", "integer", "decimal", "float", "date", "timestamp")


@dataclass(frozen=True)
class Unit:
    """The column that tells people apart, how many there are, and the columns that do not vary within a person."""

    column: str
    people: int
    constant: tuple[str, ...] = ()


def unit_of(
    tables: Scratch,
    source: Relation,
    counted: Sequence[ColumnCounts],
    found: Sequence[Identifier],
    excluded: Collection[str] = (),
) -> Unit | None:
    """The column whose values are people of whom some have several rows: by its name, or by what it determines.

    It holds texts or whole numbers. Its name is that of a key of people, or within nearly all of its values that have
    several rows at least two traits of people do not vary: names, sex, birth date, numbers of persons. Of several such
    columns that with the most traits is taken, then that of the fewest people. A date that no name calls one of birth
    is no trait: it would make an order of the customer who placed it.
    """
    able = [one for one in counted if one.counted and one.name not in excluded and _able(one)]
    traits = _traits(tables, source, counted, found)
    units = list(_determining(tables, source, able, counted, traits))
    seen = {unit.column for unit in units}
    units += [
        Unit(one.name, one.counts.distinct) for one in able if identifies_people(one.name) and one.name not in seen
    ]

    def rank(unit: Unit) -> tuple[bool, bool, int, int]:
        own = len(traits.intersection(unit.constant))
        return own >= _FEWEST_TRAITS, identifies_people(unit.column), own, -unit.people

    best = max(units, key=rank, default=None)
    return best if best and any(rank(best)[:2]) else None


def _able(one: ColumnCounts) -> bool:
    """Whether it may be a key of people by its type and its counts."""
    kind = one.column.kind in ("text", "integer", "decimal", "float") and not one.fractions
    return kind and FEWEST_PEOPLE * one.rows <= one.counts.distinct < one.rows and one.hint != QUASI_IDENTIFIER


def _traits(
    tables: Scratch, source: Relation, counted: Sequence[ColumnCounts], found: Sequence[Identifier]
) -> set[str]:
    """The columns that hold what a person keeps."""
    by_content = {finding.column for finding in found if finding.kind in _PERSONAL and finding.how == "format"}
    named = {one.name for one in counted if names_people(one.name) or name_phrases(one.name) & _BIRTH}
    sexes = {one.name for one in counted if one.counted and _is_sex(tables, source, one)}
    return by_content | named | sexes


def _is_sex(tables: Scratch, source: Relation, one: ColumnCounts) -> bool:
    if one.column.kind != "text" or not 2 <= one.counts.distinct <= _MOST_SEXES:
        return False
    rows = tables.rows("risk/values", column=[one.name], source=source, most=_MOST_SEXES)
    values = [folded(value).strip(" .").lower() for value, _ in rows]
    return sum(value in _SEXES for value in values) >= max(2, len(values) - 1)


def _determining(
    tables: Scratch,
    source: Relation,
    able: Sequence[ColumnCounts],
    counted: Sequence[ColumnCounts],
    traits: Collection[str],
) -> Iterator[Unit]:
    """Of each column that may be a key, the other columns that do not vary within its values."""
    if not traits:
        return
    others = [one for one in counted if one.counted and one.counts.distinct > 1 and one.column.kind in _SORTED]
    for key in able:
        columns = {f"same_{place}": one.name for place, one in enumerate(others) if one is not key}
        if not columns:
            continue
        ((repeated, *same),) = tables.rows(
            "risk/constant_columns",
            key=[key.name],
            columns=columns,
            values={name: name for name in columns},
            source=source,
        )
        if int(repeated) >= _FEWEST_REPEATED:
            alike = zip(columns.values(), map(int, same), strict=True)
            by_name: Mapping[str, ColumnCounts] = {one.name: one for one in others}
            constant = [
                name
                for name, n in alike
                if n >= _CONSTANT * int(repeated) and by_name[name].counts.squares <= _BY_CHANCE * key.rows**2
            ]
            yield Unit(key.name, key.counts.distinct, tuple(constant))
