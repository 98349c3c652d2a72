"""The values of a sensitive column that remain possible for everyone after all releases of a series are intersected.

A reader who looks for a person intersects the values of the person's class in every release, and the values of the rows
that came to the class, left it, or stayed there, between two releases. If m values are in all of these sets, no
collection of them leaves fewer than m. For a person who moved, the sets of all their classes count; that takes a unit.

This reads the releases themselves, and does not know how they were decided (see `kanon_sql.pipeline.deferral`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.attack import Copy
from kanon_sql.engines.scratch import Scratch
from kanon_sql.queries import Hole, Relation, Same


@dataclass(frozen=True)
class Remaining:
    """The fewest values that remain for anyone, and for whom they are too few: in classes, and for people who moved."""

    required: int
    fewest: int
    classes: int
    movers: int

    @property
    def are_enough(self) -> bool:
        """Whether as many values as required remain for everyone."""
        return not (self.classes or self.movers)

    def to_dict(self) -> dict[str, Any]:
        """The entry of a manifest."""
        return {"required": self.required, "remaining": self.fewest}

    @property
    def sentence(self) -> str:
        """For whom too few remain, in words."""
        classes = f"{self.classes:,} class{'es' if self.classes > 1 else ''}"
        movers = f"{self.movers:,} {'people' if self.movers > 1 else 'person'} who moved between classes"
        found = {classes: self.classes, movers: self.movers}
        return " and ".join(words for words, number in found.items() if number)


class Series:
    """Releases with the same classes, the newest first, in one scratch. `unit`: the column with the owners of rows."""

    def __init__(
        self, tables: Scratch, releases: Sequence[Copy], quasi_identifiers: Sequence[str], unit: str | None
    ) -> None:
        self._tables = tables
        newest = releases[0]
        self._number = len(releases)
        self._releases = tables.load("numbers", {"release": "BIGINT"}, [[*range(len(releases))]])
        self._plain = newest.columns
        labels = newest.plain(quasi_identifiers)
        hidden = {*quasi_identifiers, *([unit] if unit else [])}
        shown = [name for name in newest.columns if all(name in release.columns for release in releases)]
        self._shown = newest.plain([name for name in shown if name not in hidden])
        series = self._series("series", releases, [*labels, *self._shown])
        self._classes = tables.create("series_classes", "series/classes", labels=labels, series=series)
        self._rows, self._changing = self._by_class("", series, labels, self._shown)
        self._movers: Relation | None = None  # the people who moved between classes, and these
        if unit:
            owner = newest.columns[unit]
            owners = self._series("owners", releases, [*labels, owner])
            rows, changing = self._by_class("_owners", owners, labels, [owner])
            counts = self._counts("owner_counts", changing, rows, [owner], owner)
            self._movers = tables.create("series_movers", "series/movers", owner={"owner": owner}, counts=counts)

    def remaining(self, column: str, least: int) -> Remaining:
        """How many values of a column remain possible for everyone, where at least so many are required."""
        tables, value = self._tables, self._plain[column]
        holes: dict[str, Hole] = {"rows": self._rows, "columns": self._shown, "releases": self._number}
        steady = tables.create("steady", "series/steady_values", value=[value], **holes)
        counts = self._counts("value_counts", self._changing, self._rows, self._shown, value)
        holes = {"counts": counts, "steady": steady, "releases": self._releases}
        pairs = tables.create("series_pairs", "series/changed_pairs", counts=counts)
        sets = tables.create("value_sets", "series/value_sets", value=[value], pairs=pairs, **holes)
        remaining = tables.create("remaining", "series/remaining_values", value=[value], sets=sets)
        ((fewest, classes),) = tables.rows(
            "series/fewest_in_classes", classes=self._classes, remaining=remaining, least=least
        )
        of_movers, movers = None, 0
        if self._movers:
            found: dict[str, Hole] = {"movers": self._movers, "remaining": remaining, "value": [value], "least": least}
            ((of_movers, movers),) = tables.rows("series/fewest_of_movers", **found)
        all_fewest = [int(number) for number in (fewest, of_movers) if number is not None]
        return Remaining(least, min(all_fewest, default=0), int(classes), int(movers))

    def _series(self, stem: str, releases: Sequence[Copy], columns: Sequence[str]) -> Relation:
        """The distinct rows of all releases, counted by release."""
        tables = self._tables
        holes: dict[str, Hole] = {"columns": [*columns], "texts": {column: column for column in columns}}
        first, *others = releases
        series = tables.create(stem, "series/release_rows", release=0, relation=first.relation, **holes)
        for number, release in enumerate(others, start=1):
            tables.add(series, "series/release_rows", release=number, relation=release.relation, **holes)
        return series

    def _by_class(
        self, suffix: str, series: Relation, labels: Sequence[str], columns: Sequence[str]
    ) -> tuple[Relation, Relation]:
        """The rows of a series with the numbers of their classes, and those whose counts differ between releases."""
        tables, same = self._tables, Same([*labels], "s", "c")
        holes: dict[str, Hole] = {"columns": [*columns], "series": series, "classes": self._classes, "same": same}
        rows = tables.create(f"classed{suffix}", "series/classed_rows", **holes)
        holes = {"columns": [*columns], "rows": rows, "releases": self._number}
        return rows, tables.create(f"changing{suffix}", "series/changing_rows", **holes)

    def _counts(self, stem: str, changing: Relation, rows: Relation, columns: Sequence[str], value: str) -> Relation:
        holes: Mapping[str, Hole] = {"changing": changing, "rows": rows, "releases": self._releases}
        same = Same([*columns], "r", "c")
        return self._tables.create(stem, "series/changing_counts", value=[value], same=same, **holes)
