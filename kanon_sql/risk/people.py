"""The column that identifies people with several rows, by the columns that are constant within its values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.hints import QUASI_IDENTIFIER, folded, identifies_people, name_phrases, names_people, words
from kanon_sql.queries import Relation
from kanon_sql.risk.identifiers import Identifier
from kanon_sql.risk.single_columns import ColumnCounts, listed

FEWEST_PEOPLE = 0.01  # of the rows: a column of fewer values identifies something else
_FEWEST_REPEATED = 10  # values in several rows, below which there is no conclusion
_CONSTANT = 0.95  # of the values in several rows: the share within which a column is constant
_BY_CHANCE = 0.8  # above which equal values of two rows mean nothing
_FEWEST_TRAITS = 2
_MOST_PEOPLE = 100_000  # roughly, whose rows are compared; of more, some are chosen
_MOST_SEXES = 6
_SEXES = words(
    "m f w d x h k u male female man woman mann frau mannlich weiblich divers homme femme masculin feminin maschio "
    "femmina uomo donna hombre mujer varon masculino femenino feminino homem mulher vrouw mezczyzna kobieta other "
    "unknown andere unbekannt autre inconnu"
)
_BIRTH = words(
    "birth birthday birthdate birthyear dob yob born geburtsdatum geburtstag geburtsjahr geboren naissance nascita "
    "nacimiento nascimento geboortedatum geboortejaar urodzenia sex gender geschlecht sexe sesso sexo genero geslacht "
    "plec"
)
_PERSONAL = ("names", "social security numbers", "health plan numbers")
_SORTED = ("text", "integer", "decimal", "float", "date", "timestamp")


@dataclass(frozen=True)
class Unit:
    """The column that identifies people, their number, and the columns that are constant within a person."""

    column: str
    people: int
    constant: tuple[str, ...] = ()

    def in_words(self, rows: int) -> str:
        """Why the column was chosen, in a table of so many rows."""
        constant = [name for name in self.constant if name != self.column][:3]
        how = f"; {listed(constant)} do not vary within its values" if len(constant) > 1 else ""
        return f"it tells people apart: {self.people:,} of them in {rows:,} rows{how}"


def unit_of(
    tables: Scratch,
    source: Relation,
    counted: Sequence[ColumnCounts],
    found: Sequence[Identifier],
    excluded: Collection[str] = (),
) -> Unit | None:
    """The column that identifies people, some of them with several rows: by its name, or by what it determines.

    It contains texts or whole numbers. Either its name is that of a key of people, or at least two traits of people
    (names, sex, date or year of birth, numbers of persons) are constant within nearly all of its values with several
    rows. Of several such columns, the one with the most traits is chosen, then the one with the fewest people. A date
    is a trait only if it is named as a date of birth; otherwise an order would identify its customer.
    """
    able = [column for column in counted if column.counted and column.name not in excluded and _able(column)]
    traits = _traits(tables, counted, found)
    others = [
        column for column in counted if column.counted and column.counts.distinct > 1 and column.column.kind in _SORTED
    ]
    of_people = [column for column in others if column.name in traits]
    units = [Unit(key.name, key.counts.distinct, _constant(tables, source, key, of_people)) for key in able]

    def rank(unit: Unit) -> tuple[bool, bool, int, int]:
        return len(unit.constant) >= _FEWEST_TRAITS, identifies_people(unit.column), len(unit.constant), -unit.people

    best = max(units, key=rank, default=None)
    if not best or not any(rank(best)[:2]):
        return None
    key = next(column for column in able if column.name == best.column)
    return replace(best, constant=_constant(tables, source, key, others)) if traits else best


def _able(column: ColumnCounts) -> bool:
    """Whether its type and counts allow a key of people."""
    if column.fractions or column.column.kind not in ("text", "integer", "decimal", "float"):
        return False
    fewest = max(2, FEWEST_PEOPLE * column.rows)
    return fewest <= column.counts.distinct < column.rows and column.hint != QUASI_IDENTIFIER


def _traits(tables: Scratch, counted: Sequence[ColumnCounts], found: Sequence[Identifier]) -> set[str]:
    """The columns with constant traits of people."""
    by_content = {finding.column for finding in found if finding.kind in _PERSONAL and finding.how == "format"}
    named = {column.name for column in counted if names_people(column.name) or name_phrases(column.name) & _BIRTH}
    sexes = {column.name for column in counted if column.counted and _is_sex(tables, column)}
    return by_content | named | sexes


def _is_sex(tables: Scratch, column: ColumnCounts) -> bool:
    if column.values is None or column.column.kind != "text" or not 2 <= column.counts.distinct <= _MOST_SEXES:
        return False
    rows = tables.rows("risk/values", values=column.values, most=_MOST_SEXES)
    values = [folded(value).strip(" .").lower() for value, _ in rows]
    return sum(value in _SEXES for value in values) >= max(2, len(values) - 1)


def _constant(tables: Scratch, source: Relation, key: ColumnCounts, others: Sequence[ColumnCounts]) -> tuple[str, ...]:
    """The columns that are constant within nearly all values of a key with several rows, and not by chance."""
    columns = {f"same_{place}": column for place, column in enumerate(others) if column is not key}
    if not columns:
        return ()
    one_of = key.counts.distinct // _MOST_PEOPLE
    if one_of > 1 and tables.engine.is_embedded:
        names = [key.name, *(column.name for column in columns.values())]
        source = tables.view("some_people", queries.rows_of_people(source, names, key.name, one_of))
    ((repeated, *same),) = tables.rows(
        "risk/constant_columns",
        key=[key.name],
        columns={name: column.name for name, column in columns.items()},
        values={name: name for name in columns},
        source=source,
    )
    if int(repeated) < _FEWEST_REPEATED:
        return ()
    return tuple(
        column.name
        for column, n in zip(columns.values(), map(int, same), strict=True)
        if n >= _CONSTANT * int(repeated) and column.counts.squares <= _BY_CHANCE * key.rows**2
    )
