"""The attackers' material: the release and any other tables, copied into one embedded engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, Literal

from kanon_sql.attack.coded_copy import CodedCopy
from kanon_sql.attack.label_readings import LabelReader
from kanon_sql.attack.outcome import Outcome
from kanon_sql.engine import Column
from kanon_sql.engines.scratch import Scratch
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Relation
from kanon_sql.resources import install_command

Need = Literal[
    "sensitive",
    "source",
    "auxiliary",
    "people",
    "priors",
    "previous",
    "others",
    "another",
    "order",
    "cloaked",
    "labels",
    "models",
]
NEEDS: Mapping[Need, str] = {
    "sensitive": "a sensitive column in the release; name it with `sensitive`",
    "source": "the source of the release; name it with `source`",
    "auxiliary": "a table of people that an attacker could have; name it with `auxiliary`",
    "people": "a table of people to attack; name it with `auxiliary`, or the source with `source`",
    "priors": "how common the sensitive values are among similar people; name the table with `priors`",
    "previous": "an earlier release of the same table; name it with `previous`",
    "others": "another release of the same table; name it after the first",
    "another": "another release of the same table; name it after the first, or an earlier one with `previous`",
    "order": "the source of the release, or another release of it; name it with `source` or `previous`",
    "labels": "quasi-identifiers, not cloaked places",
    "cloaked": "places that were cloaked; name their columns with `location`",
    "models": f"scikit-learn; run: {install_command('utility')}",
}


GROUP = "group_id"  # the column that joins the halves of an anatomy
HierarchyOf = Callable[[Column, Sequence[Any]], Hierarchy | None]


@dataclass(frozen=True)
class Copy:
    """A table in the embedded engine, as its readers see it.

    `columns`: original names -> plain names, which are the same in all copies. `row_id` numbers the rows in reading
    order. In a release the quasi-identifiers are the text of their labels, with bounds as one range; in other tables
    they are values. `unit`: the plain name of the unit column, in a list; empty without one, when each of the `rows`
    counts as one of the `people`. `is_half`: whether it is the half of an anatomy with the sensitive values. `classes`:
    of a release, its classes, whose numbers are in its rows: class, the quasi-identifiers' labels, n.
    """

    name: str
    relation: Relation
    columns: Mapping[str, str]
    kinds: Mapping[str, str]
    rows: int
    people: int
    unit: tuple[str, ...] = ()
    is_release: bool = False
    is_half: bool = False
    classes: Relation | None = None

    @property
    def who(self) -> str:
        """What `people` counts: people only with a unit column."""
        return "people" if self.unit else "rows"

    def plain(self, names: Sequence[str]) -> list[str]:
        """The plain names of columns."""
        return [self.columns[name] for name in names]

    def column(self, name: str) -> Column:
        """A column by its original name, with its kind."""
        return Column(name, "", self.kinds[name])


@dataclass(frozen=True)
class Material:
    """Everything that an attack can use. Tables that it creates go into a separate scratch, `tables`.

    Tables that other attacks also use stay in `shared`: `attacked_people`, the targets and fits of people of a copy by
    some columns, `values_of_copies`, and those of `values_of_classes`. `coded_copies`: their rows as codes, by name.
    `label_readers`: the values of columns of copies, with what finds those that a label covers.

    `quasi_identifiers`, `sensitive`: columns of the release, by their original names; `location`, `time`: those of
    places and times before cloaking. `control`: people who are not in the release. `priors`: how common sensitive
    values are among similar people. `others`: further releases of the same table. `half`: the other half of an anatomy.
    `unit`: the unit column of the source and of an auxiliary table. `privacy`: the models of the release.
    `most`: maximum number of attempts, drawn with the `seed`. `hierarchy`: builds that of a column for its values.
    `averaged`: the quasi-identifiers shown as a mean, a median or a mode. `note`: receives sentences about limits of
    the attacks.
    """

    tables: Scratch
    release: Copy
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    location: tuple[str, ...] = ()
    time: str | None = None
    source: Copy | None = None
    auxiliary: Copy | None = None
    control: Copy | None = None
    priors: Copy | None = None
    previous: Copy | None = None
    others: tuple[Copy, ...] = ()
    half: Copy | None = None
    unit: str | None = None
    k: int | None = None
    privacy: PrivacyModels | None = None
    most: int = 2000
    seed: int = 0
    hierarchy: HierarchyOf = lambda _column, _values: None
    averaged: tuple[str, ...] = ()
    note: Callable[[str], None] = field(default=lambda _: None, compare=False)
    shared: Scratch | None = None
    attacked_people: dict[tuple[str, ...], tuple[Relation, Relation]] = field(default_factory=dict, compare=False)
    values_of_copies: dict[tuple[str, ...], list[tuple[Any, ...]]] = field(default_factory=dict, compare=False)
    coded_copies: dict[str, CodedCopy] = field(default_factory=dict, compare=False)
    label_readers: dict[tuple[str, ...], tuple[object, LabelReader]] = field(default_factory=dict, compare=False)

    @property
    def in_common(self) -> Material:
        """The same with the tables that all attacks have in common."""
        return replace(self, tables=self.shared or self.tables)

    def has(self, need: Need) -> bool:
        """Whether something that an attack needs is available."""
        if need == "models":
            return find_spec("sklearn") is not None
        special = {"cloaked": self.location, "another": self.all_others, "order": self.source or self.all_others}
        return bool(special.get(need, getattr(self, need, None)))

    def missing(self, needs: Sequence[Need]) -> list[Need]:
        """The needs of an attack that are not met; tables without labels cannot be matched with cloaked boxes."""
        by_labels = {*needs} & {"source", "auxiliary", "people", "previous", "others", "another", "order"}
        of_places: list[Need] = ["labels"] if self.location and by_labels and "cloaked" not in needs else []
        return of_places or [need for need in needs if not self.has(need)]

    def outcome(self, name: str, sentence: str, column: str, affected: int, **more: Any) -> Outcome:
        """The outcome for a sensitive column: how many of the people in the release, or of its rows, are affected."""
        return Outcome(
            name,
            sentence,
            attempts=self.release.people,
            successes=affected,
            affected=affected,
            column=column,
            counted=self.release.who,
            **more,
        )

    def quasi_identifiers_of(self, copy: Copy) -> tuple[str, ...]:
        """The quasi-identifiers that a table has."""
        return tuple(name for name in self.quasi_identifiers if name in copy.columns)

    def kept_with(self, other: Copy) -> tuple[str, ...]:
        """The columns that the release and another table both show unchanged, with the same kind."""
        not_kept = {*self.quasi_identifiers, self.unit}
        common = [name for name in self.release.columns if name in other.columns and name not in not_kept]
        return tuple(name for name in common if self.release.kinds[name] == other.kinds[name])

    def shared_with(self, half: Copy) -> tuple[str, ...]:
        """The columns that join the two halves of an anatomy: the number of a group."""
        return tuple(name for name in half.columns if name in self.release.columns)

    def attacked(self, people: Copy, attempts: int) -> int:
        """The number of people, or rows, that the attempts on a copy represent, if they were drawn."""
        if self.release.unit or not people.unit:
            return self.release.people
        return people.people if people.people > self.most else attempts

    @property
    def people(self) -> Copy | None:
        """The people to attack: the auxiliary table, or all of the source."""
        return self.auxiliary or self.source

    @property
    def all_others(self) -> tuple[Copy, ...]:
        """All other releases of the same table, with an earlier one last."""
        return (*self.others, *filter(None, (self.previous,)))


@dataclass(frozen=True)
class Attack:
    """An attack on people in a release: its name, the attacker's method, its needs, and its function.

    `outcomes`: the names of its outcomes, if they differ from its own.
    """

    name: str
    sentence: str
    run: Callable[[Material], Iterator[Outcome]]
    needs: tuple[Need, ...] = ()
    outcomes: tuple[str, ...] = ()
