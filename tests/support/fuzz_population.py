"""The population of a random case: its rows, and the part that a class represents without the package's hierarchies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from math import floor
from typing import Any

from support.fuzz_cases import Case, Column

Texts = Sequence[str | None]
Key = tuple[Any, ...]
_TEXTS = ("varchar", "char", "text")


class Population:
    """The table `voters`: the columns of a case, and a person if people are counted there."""

    def __init__(self, case: Case, db: Any, holds: Callable[[Column, str | None], bool]) -> None:
        self.case, self.db, self.holds, self.rng = case, db, holds, case.rng
        types = ", ".join(f"{_quoted(column.name)} {column.type}" for column in case.columns)
        person = ", person INTEGER" if case.population_people else ""
        db.rows(f"CREATE TABLE voters (number INTEGER{person}, {types})")
        self.next, self.rows = 0, dict[int, tuple[int, list[str | None]]]()
        self.equal = {column.name: self._equal(column) for column in case.columns}

    def _equal(self, column: Column) -> dict[str, str]:
        """The first text of those that are equal in a column, by each of them."""
        texts = [text for text in self.case.pools[column.type] if self.holds(column, text)]
        self.db.rows(f"CREATE TABLE texts (number INTEGER, text {column.type})")
        for number, text in enumerate(texts):
            self.db.rows(f"INSERT INTO texts VALUES ({number}, CAST(? AS {column.plain_type}))", [text])
        first = "SELECT a.number, MIN(b.number) FROM texts AS a JOIN texts AS b ON a.text = b.text GROUP BY a.number"
        equal = {texts[number]: texts[least] for number, least in self.db.rows(first)}
        self.db.rows("DROP TABLE texts")
        return equal

    def insert(self, person: int, row: Texts) -> None:
        """Add a row; a text that its column cannot hold is NULL."""
        pairs = list(zip(self.case.columns, row, strict=True))
        held = [text if self.holds(column, text) else None for column, text in pairs]
        values = ", ".join(f"CAST(? AS {column.plain_type})" for column in self.case.columns)
        who = f"{person}, " if self.case.population_people else ""
        self.db.rows(f"INSERT INTO voters VALUES ({self.next}, {who}{values})", held)
        self.rows[self.next] = person, held
        self.next += 1

    def change(self, row: Texts) -> None:
        """Add a row, or take one away."""
        if self.rng.random() < 0.5 or not self.rows:
            return self.insert(self.rng.randint(1, 30), row)
        number = self.rng.choice(list(self.rows))
        self.db.rows("DELETE FROM voters WHERE number = ?", [number])
        del self.rows[number]
        return None

    def standing_for(self, classes: Sequence[set[Key]], node: Sequence[int] | None) -> list[int]:
        """The rows, or people, of the population to which classes correspond, by the keys of their rows."""
        people = self.case.people and self.case.population_people
        of = [(self.key(texts, node), person if people else number) for number, (person, texts) in self.rows.items()]
        return [len({who for key, who in of if key in keys}) for keys in classes]

    def others(self, classes: Sequence[set[Key]], node: Sequence[int] | None) -> set[Key]:
        """The keys of the rows of the population to which no class corresponds."""
        return {self.key(texts, node) for _, texts in self.rows.values()} - set().union(*classes)

    def key(self, texts: Texts, node: Sequence[int] | None) -> Key:
        """The common key of the rows of a class: at a node their labels, otherwise their values."""
        if node is None:
            return tuple(
                self._label(column, text, 0, "*") for column, text in zip(self.case.columns, texts, strict=True)
            )
        return tuple(map(self._shown, self.case.columns, texts, node))

    def _shown(self, column: Column, text: str | None, level: int) -> Any:
        """The label of a text at a node; a moment in a file has no time zone."""
        holds_star = column.plain_type.lower().startswith(_TEXTS)
        label = self._label(column, text, level, "*" if level or holds_star else None)
        if label is None or level or column.type != "TIMETZ" or self.case.form != "file":
            return label
        return datetime.combine(date(2000, 1, 1), time.fromisoformat(label)).astimezone(UTC).time()

    def _label(self, column: Column, text: str | None, level: int, unmapped: str | None) -> Any:
        """The label of a text; `unmapped`: what a value without a leaf becomes."""
        value = None if text is None else self.equal[column.name][text]
        if column.lines is None:
            return self._by_recipe(column, value, level)
        height = len(column.lines[0]) - 1
        lines = [line for line in column.lines if self._is_of(column, line[0], value)]
        if level > height:  # the level of * that was added
            return "*"
        if lines and level:
            return lines[0][level]
        if lines:
            return value
        return None if value is None and (level < height or not level) else unmapped

    def _is_of(self, column: Column, leaf: str, value: str | None) -> bool:
        return self.equal[column.name].get(leaf) == value if leaf and value is not None else not leaf and value is None

    def _by_recipe(self, column: Column, value: str | None, level: int) -> Any:
        if not level or column.recipe == "suppress":
            return "*" if level else value
        if "ranges" in column.recipe:
            return "*" if level > 1 else value and floor(Decimal(value) / column.recipe["ranges"][0])
        if level >= self._longest(column):
            return "*"
        return value and _redacted(value, level, column.recipe["redact"])

    def _longest(self, column: Column) -> int:
        """The level of * of a redaction: values of different lengths still differ when all of them is hidden."""
        place = self.case.columns.index(column)
        lengths = {len(self.equal[column.name][text]) for _, row in self.rows.values() if (text := row[place])}
        return max(lengths, default=0) + (len(lengths) > 1)


def _redacted(text: str, hidden: int, side: str) -> str:
    stars = "*" * min(hidden, len(text))
    return text[: len(text) - len(stars)] + stars if side == "right" else stars + text[len(stars) :]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
