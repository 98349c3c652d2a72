"""Nights of a pipeline in plain Python: what two releases reveal about each other, computed row by row."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from random import Random
from typing import Any

from support.command_line import ask

Row = tuple[Any, ...]
Visit = tuple[int, int, str, str]  # a person, an age, a code, and an illness
CODES = ["1200", "1201", "1300", "1301"]
DOMAIN = [(age, code) for age in range(20, 60) for code in CODES]
Covers = Callable[[str | None, Any], bool]


class Ward:
    """People with one to three visits, of whom some come, leave, move or fall ill of something else every night."""

    def __init__(self, seed: str) -> None:
        self.draw, self.number = Random(seed), 0
        self.visits = list[Visit]()
        self.come(70)

    def come(self, people: int) -> None:
        for _ in range(people):
            self.number += 1
            age, code = self.draw.randrange(20, 60), self.draw.choice(CODES)
            for _ in range(self.draw.choice([1, 1, 2, 3])):
                self.visits.append((self.number, age, code, self.draw.choice("xyz")))

    def night(self) -> None:
        gone = set(self.draw.sample(sorted({visit[0] for visit in self.visits}), self.draw.choice([0, 1, 4])))
        moved = self.draw.choice(self.visits)[0]
        stayed = [visit for visit in self.visits if visit[0] not in gone]
        self.visits = [
            (person, age, self.draw.choice(CODES) if person == moved else code, ill)
            for person, age, code, ill in stayed
        ]
        self.come(self.draw.choice([0, 2, 6, 12]))

    def write(self, database: str) -> None:
        """Load the visits into a table, as a warehouse does, in any order."""
        values = ", ".join(map(str, self.draw.sample(self.visits, len(self.visits))))
        query = f"SELECT * FROM (VALUES {values}) AS t(pid, age, zip, ill)"
        ask(database, "DROP TABLE IF EXISTS visits")
        ask(database, f"CREATE TABLE visits AS {query}")


def covers_age(label: str | None, age: int) -> bool:
    """Whether a label of ages, a number, `[20, 30)` or `*`, covers an age."""
    if label == "*":
        return True
    if label is None or not label.startswith("["):
        return str(age) == label
    low, high = label[1:-1].split(", ")
    return int(low) <= age < int(high) + label.endswith("]")


def covers_zip(label: str | None, code: str) -> bool:
    """Whether a label of codes such as `12**` covers a code."""
    if label == "*" or label is None:
        return label == "*"
    return len(label) == len(code) and all(shown in ("*", letter) for shown, letter in zip(label, code, strict=True))


COVERS = (covers_age, covers_zip)


def singled_out(old: Sequence[Row], new: Sequence[Row], domain: Iterable[Row], covers: Sequence[Covers], k: int) -> int:
    """The rows that came, left or stayed in groups of fewer than k: of classes that may share a tuple of the domain.

    A row: its labels, then what is kept.
    """
    return sum(moved(Counter(before), Counter(after), k) for before, after in _groups(old, new, domain, covers))


def people_singled_out(
    old: Sequence[Row], new: Sequence[Row], domain: Iterable[Row], covers: Sequence[Covers], k: int
) -> int:
    """The people who came, left or stayed in groups of fewer than k. A row: labels, kept columns, person."""
    return sum(people_moved(before, after, k) for before, after in _groups(old, new, domain, covers))


def _groups(
    old: Sequence[Row], new: Sequence[Row], domain: Iterable[Row], covers: Sequence[Covers]
) -> Iterable[tuple[list[Row], list[Row]]]:
    """The kept columns of the rows, before and after, of classes that can share a tuple of the domain."""
    width = len(covers)
    classes = [{row[:width] for row in rows} for rows in (old, new)]
    parent = {(side, class_): (side, class_) for side in (0, 1) for class_ in classes[side]}

    def top(node: Any) -> Any:
        while parent[node] != node:
            node = parent[node]
        return node

    for one in domain:
        fitting = [(side, class_) for side in (0, 1) for class_ in classes[side] if _fits(class_, one, covers)]
        if {side for side, _ in fitting} == {0, 1}:
            for node in fitting[1:]:
                parent[top(node)] = top(fitting[0])
    groups: dict[Any, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
    for side, rows in enumerate((old, new)):
        for row in rows:
            groups[top((side, row[:width]))][side].append(row[width:])
    return groups.values()


def _fits(labels: Row, values: Row, covers: Sequence[Covers]) -> bool:
    return all(item(label, value) for item, label, value in zip(covers, labels, values, strict=True))


def moved(before: Counter[Row], after: Counter[Row], k: int) -> int:
    came, left, stayed = (sum(item.values()) for item in (after - before, before - after, before & after))
    return sum(moved for moved in (came, left, stayed if came + left else 0) if moved < k)


def people_moved(before: list[Row], after: list[Row], k: int) -> int:
    """The same for people: the last column, which no reader sees, identifies the owner of a row."""
    seen_before, seen_after = (Counter(row[:-1] for row in rows) for rows in (before, after))
    came, left = ((seen_after - seen_before).total(), (seen_before - seen_after).total())
    own_before, own_after = Counter(before), Counter(after)
    stayed = {row[-1] for row in own_before & own_after}
    moved = 0
    for rows, own in ((came, own_after - own_before), (left, own_before - own_after)):
        whose: Counter[Any] = Counter()
        for row, number in own.items():
            whose[row[-1]] += number
        moved += len(whose) if rows and _few_suffice(whose, rows, k) else 0
    return moved + (len(stayed) if came + left and len(stayed) < k else 0)


def _few_suffice(whose: Counter[Any], rows: int, k: int) -> bool:
    """Whether fewer than k people can own so many rows: every choice of people is tried."""
    return any(
        sum(whose[person] for person in chosen) >= rows
        for number in range(1, min(k, len(whose) + 1))
        for chosen in combinations(whose, number)
    )


def people_narrowed(
    old: Sequence[Row], new: Sequence[Row], people: Sequence[Row], covers: Sequence[Covers], k: int
) -> int:
    """The people who are among k in either release and among fewer in both: `people` has a row per row of theirs."""
    width = len(covers)
    sides = [{row[:width] for row in rows} for rows in (old, new)]
    cells = {
        row: tuple(next((item for item in side if _fits(item, row[:width], covers)), None) for side in sides)
        for row in {*people}
    }
    cells = {row: cell for row, cell in cells.items() if cell != (None, None)}
    among: dict[Any, set[Any]] = defaultdict(set)
    for row, cell in cells.items():
        for key in ((0, cell[0]), (1, cell[1]), cell):
            among[key].add(row[-1])
    return len(
        {
            row[-1]
            for row, cell in cells.items()
            if all(len(among[side, cell[side]]) >= k for side in (0, 1)) and len(among[cell]) < k
        }
    )


def narrowed(old: Sequence[Row], new: Sequence[Row], people: Sequence[Row], covers: Sequence[Covers], k: int) -> int:
    """The people who stand among k in either release and among fewer in both; those in no class are together."""
    width = len(covers)
    sides = [{row[:width] for row in rows} for rows in (old, new)]
    cells = [tuple(next((row for row in side if _fits(row, one, covers)), None) for side in sides) for one in people]
    cells = [cell for cell in cells if cell != (None, None)]
    among = [Counter(cell[side] for cell in cells) for side in (0, 1)]
    both = Counter(cells)
    hidden = [cell for cell in cells if all(among[s][cell[s]] >= k for s in (0, 1))]
    return sum(both[cell] < k for cell in hidden)


def common_values(nights: Sequence[Sequence[Row]]) -> set[Any] | None:
    """The values in all that a reader learns of a class: its rows in every night, what came, left or stayed in any two.

    A row: what is shown in the class, the value first. None if the class never has a row.
    """
    seen = [Counter(rows) for rows in nights]
    pairs = [*combinations(seen, 2)]
    found = [*seen, *(new - old for old, new in pairs), *(old - new for old, new in pairs)]
    found += [old & new for old, new in pairs]
    sets = [{row[0] for row in rows} for rows in found if rows]
    return set.intersection(*sets) if sets else None


def possible_values(nights: Sequence[Sequence[Row]], width: int) -> dict[Any, set[Any]]:
    """What an attacker learns who follows a person through all nights: their values that remain possible.

    The attacker knows on which nights the person is in which class. A row: labels, a value, what else is shown, and the
    person.
    """
    possible: dict[Any, set[Any]] = {}
    for person in {row[-1] for rows in nights for row in rows}:
        for class_ in {row[:width] for rows in nights for row in rows if row[-1] == person}:
            seen = [Counter(row[width:-1] for row in rows if row[:width] == class_) for rows in nights]
            own = [sum(row[-1] == person and row[:width] == class_ for row in rows) for rows in nights]
            learned = [rows for rows, number in zip(seen, own, strict=True) if number]
            for old, new in combinations(range(len(nights)), 2):
                if own[new] > own[old]:
                    learned.append(seen[new] - seen[old])
                if own[new] < own[old]:
                    learned.append(seen[old] - seen[new])
                if own[new] == own[old] > 0:
                    learned.append(seen[old] & seen[new])
            for rows in filter(None, learned):
                values = {row[0] for row in rows}
                possible[person] = possible.get(person, values) & values
    return possible
