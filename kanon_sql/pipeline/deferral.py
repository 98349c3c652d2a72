"""Deferral: changes that would single people out together with an earlier release wait for more changes of their class.

A class is decided by itself: it takes all its changes, only its arrivals, only its departures, or none, whichever comes
first by which everyone who arrives, leaves or stays does so among at least k, compared with every earlier release, and
by which the class satisfies the privacy models. With a unit, a person's changes in all classes happen together or wait
together, so that no person is released twice. A class that satisfies the models by no choice is closed: all its rows
leave.

If `differencing_values` requires m values of a column, a class changes only if at least m values are in all of these
sets: its values in every release, and those of the rows that came, went or stayed between any two releases. Whoever a
reader looks for, their value is then among at least m after all these sets are intersected. The same goes for the
sets of all classes between which a person moved, if there is a unit.

Where the labels of classes can overlap, as those of local recodings do, no class appears or vanishes: a reader would
look for its people in all classes with which it overlaps, and find too few of them in some.

The decision compares released rows only, so it works for every recoding that keeps its classes, and needs no data about
people who left the source except their released rows. It is not trusted: the merged release is verified, and
compared with all earlier ones, like any other release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from kanon_sql.engines.scratch import Scratch
from kanon_sql.privacy import PEOPLE, Predicate, PrivacyModel, PrivacyModels
from kanon_sql.queries import Hole, Relation, Same
from kanon_sql.report.words import waiting_sentence

ALL, ARRIVALS, DEPARTURES, NONE, CLOSED = range(1, 6)  # the choices for a class, as in sql/deferral.sql
_OWNER = "owner"


@dataclass(frozen=True)
class ComparedRows:
    """The columns of released rows by plain names: the labels, the other columns, and the owner if there is a unit.

    `texts`: the text of floats, by which 0.0 and -0.0 differ, which are equal as numbers but not for a reader.
    """

    labels: Mapping[str, str]
    others: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, columns: Sequence[str], quasi_identifiers: Sequence[str], unit: str | None, floats: Sequence[str] = ()
    ) -> ComparedRows:
        """Name the columns of a release; `columns` without the unit."""
        labels = {f"q{j}": name for j, name in enumerate(quasi_identifiers)}
        others = {f"v{j}": name for j, name in enumerate(columns) if name not in quasi_identifiers}
        texts = {f"{plain}_text": name for plain, name in {**labels, **others}.items() if name in floats}
        return cls(labels, others | ({_OWNER: unit} if unit else {}), texts)

    @property
    def has_owner(self) -> bool:
        """Whether the owners of rows are known."""
        return _OWNER in self.others

    @property
    def released(self) -> dict[str, str]:
        """All columns of the release, by plain names."""
        return {**self.labels, **self.others}

    @property
    def of_class(self) -> list[str]:
        """The names that identify a class."""
        return [*self.labels, *(name for name in self.texts if name.startswith("q"))]

    @property
    def in_class(self) -> list[str]:
        """The names that identify a row in its class."""
        return [*self.others, *(name for name in self.texts if name.startswith("v"))]

    @property
    def names(self) -> list[str]:
        """The names that identify a row."""
        return [*self.of_class, *self.in_class]

    @property
    def visible(self) -> list[str]:
        """What a reader sees of a row in its class."""
        return [name for name in self.in_class if name != _OWNER]


@dataclass(frozen=True)
class Decision:
    """What waits: for every distinct row that moves, how often the releases contain it and the merged one will.

    `final`: class, the columns, before, after, final. `classes`: by number. `closed`: the number of closed classes.
    """

    tables: Scratch
    rows: ComparedRows
    final: Relation
    classes: Relation
    closed: int

    def waiting(self) -> Relation:
        """The rows of the new release that wait, by their names."""
        return self._repeated("waiting", "deferral/waiting_rows")

    def standing(self) -> Relation:
        """The rows of the earlier release that stay, by their names."""
        return self._repeated("staying", "deferral/standing_rows")

    def released(self) -> int:
        """The number of rows that the release adds or leaves out."""
        ((rows,),) = self.tables.rows("deferral/released_changes", final=self.final)
        return int(rows)

    def _repeated(self, stem: str, query: str) -> Relation:
        columns = {name: plain for plain, name in self.rows.released.items()}
        holes: dict[str, Hole] = {"labels": [*self.rows.labels], "others": [*self.rows.others], "columns": columns}
        return self.tables.create(stem, query, final=self.final, classes=self.classes, **holes)


@dataclass(frozen=True)
class Deferred:
    """The changes that wait: people if there is a unit, otherwise rows.

    `waiting`: all of them; `arrivals`, `departures`: those of whom rows are missing, or still there; people who wait
    with a changed row are both. `closed_classes`: classes left out because they satisfy the models no more. `oldest`:
    since when the first of them has been waiting, in UTC. `changed_rows`: the rows that the release adds or leaves out.
    `members`: the people or rows of the release.
    """

    counted: str
    waiting: int
    arrivals: int
    departures: int
    closed_classes: int
    oldest: str | None
    changed_rows: int
    members: int

    def to_dict(self) -> dict[str, Any]:
        """The entry of a manifest."""
        return {name: value for name, value in vars(self).items() if name != "members"}

    @property
    def sentence(self) -> str:
        """Who waits, in words."""
        return waiting_sentence(self.to_dict())


@dataclass(frozen=True)
class _Values:
    """How many values of a column must remain possible for everyone, and the values of earlier releases by class."""

    name: str
    least: int
    shown: Relation | None = None
    sets: Relation | None = None
    common: Relation | None = None


class Deferral:
    """Decides which changes between two releases wait, given earlier releases.

    `before`: the counted rows of the release to be replaced, `after`: of the new one, in the same scratch.
    `overlapping`: whether the labels of classes can overlap. `values`: how many values of a column must remain possible
    for everyone after all releases are intersected.
    """

    def __init__(
        self,
        tables: Scratch,
        rows: ComparedRows,
        before: Relation,
        after: Relation,
        model: PrivacyModels,
        k: int,
        overlapping: bool = False,
        values: Mapping[str, int] | None = None,
    ) -> None:
        self._tables, self._rows = tables, rows
        self._before, self._after = before, after
        self._model, self._k = model, k
        self._overlapping = overlapping
        names = {column: name for name, column in rows.others.items()}
        self._values = [_Values(names[column], least) for column, least in (values or {}).items()]
        self._sensitive = {
            column: name
            for name, column in rows.others.items()
            if name != _OWNER and column in model.sensitive.values()
        }

    def decide(self, earlier: Sequence[Relation], all_wait: bool = False) -> Decision | None:
        """Decide for every class that changes; None if nothing changes.

        `earlier`: the rows of older releases, which need not be counted. `all_wait`: defer all changes.
        """
        tables, others = self._tables, self._rows.in_class
        changed = tables.create(
            "all_changed",
            "deferral/changed_rows",
            columns=self._rows.names,
            before=self._before,
            after=self._after,
        )
        if not tables.count(changed):
            return None
        labels = self._rows.of_class
        in_changed = changed
        if self._values and self._rows.has_owner:  # the values of a class depend on those from which people moved
            in_changed = self._changed_in_history(earlier, changed)
        self._classes = tables.create("classes", "deferral/changed_classes", labels=labels, changed=in_changed)
        self._standing = self._in_classes("standing", self._before, ["n"])
        in_classes = self._in_classes("changed", changed, ["before", "after"])
        different = self._different(earlier)
        owners = [_OWNER] if self._rows.has_owner else others
        moving = tables.create(
            "moving",
            "deferral/moving_rows",
            columns=others,
            owners=owners,
            standing=self._standing,
            changed=in_classes,
            earlier=different,
            same=Same(owners, "touched", "s"),
        )
        self._moving = tables.create(
            "numbered_rows",
            "deferral/numbered_rows",
            columns=others,
            visible=self._rows.visible or ["class"],
            owners=owners if self._rows.has_owner else ["class", *others],
            moving=moving,
        )
        releases = tables.load("releases", {"release": "BIGINT"}, [[*range(len(earlier) + 1)]])
        self._counts = tables.create(
            "counts",
            "deferral/counts",
            rows=self._moving,
            releases=releases,
            earlier=different,
            same=Same(others, "e", "r"),
        )
        self._releases = releases
        self._unmoved_rows = tables.create(
            "unmoved_rows",
            "deferral/unmoved_rows",
            columns=others,
            standing=self._standing,
            rows=self._moving,
            same=Same(others, "r", "s"),
        )
        members, stayed = Predicate("SUM(n)"), Predicate("SUM(n)")
        if self._rows.has_owner:
            members, stayed = (
                Predicate(f"COUNT(DISTINCT {_OWNER})"),
                Predicate(f"COUNT(DISTINCT COALESCE({_OWNER}, ''))"),
            )
        self._unmoved = tables.create(
            "unmoved", "deferral/unmoved", unmoved=self._unmoved_rows, members=members, stayed=stayed
        )
        self._values = [self._with_earlier(values) for values in self._values]
        return self._settle(all_wait)

    def _changed_in_history(self, earlier: Sequence[Relation], changed: Relation) -> Relation:
        """The rows of which any release contains another number than the current one."""
        tables, columns = self._tables, self._rows.names
        found = tables.create("changed_ever", "frequency_sets/copy", columns=columns, source=changed)
        for rows in earlier:
            holes: dict[str, Hole] = {"columns": columns, "before": self._before, "after": rows}
            older = tables.create("changed_since", "deferral/changed_rows", **holes)
            tables.add(found, "frequency_sets/copy", columns=columns, source=older)
        return found

    def _with_earlier(self, values: _Values) -> _Values:
        """A column with the sets of its values in the earlier releases."""
        tables, name = self._tables, values.name
        value: dict[str, Hole] = {"value": [name]}
        shown = tables.create(f"shown_{name}", "deferral/shown_counts", rows=self._moving, counts=self._counts, **value)
        pairs = tables.create("changed_pairs", "deferral/changed_pairs", shown=shown)
        unmoved = self._unmoved_rows
        holes: dict[str, Hole] = {"shown": shown, "unmoved": unmoved, "releases": self._releases, "pairs": pairs}
        sets = tables.create(f"sets_{name}", "deferral/earlier_values", **holes, **value)
        common = tables.create(f"earlier_{name}", "deferral/earlier_common_values", sets=sets, **value)
        return replace(values, shown=shown, sets=sets, common=common)

    def _in_classes(self, stem: str, rows: Relation, counts: Sequence[str]) -> Relation:
        """The rows of changed classes, with the numbers of these."""
        return self._tables.create(
            stem,
            "deferral/rows_of_classes",
            columns=[*self._rows.in_class, *counts],
            rows=rows,
            classes=self._classes,
            same=Same(self._rows.of_class, "rows", "classes"),
        )

    def _different(self, earlier: Sequence[Relation]) -> Relation:
        """The rows of changed classes that an older release contains in another number than the standing one."""
        tables, others = self._tables, self._rows.in_class
        different: Relation | None = None
        for release, rows in enumerate(earlier, start=1):
            of_release = self._in_classes("earlier", rows, ["n"])
            holes: dict[str, Hole] = {"columns": others, "earlier": of_release, "standing": self._standing}
            if different is None:
                different = tables.create("different", "deferral/earlier_rows", release=release, **holes)
            else:
                tables.add(different, "deferral/earlier_rows", release=release, **holes)
        if different is None:
            different = tables.create("different", "deferral/no_earlier_rows", columns=others, standing=self._standing)
        return different

    def _settle(self, all_wait: bool) -> Decision:
        """Choose for every class, until no person waits in one class and changes in another."""
        tables = self._tables
        people: set[int] = set()
        refused: set[tuple[int, int]] = set()
        ((classes,),) = tables.rows("frequency_sets/row_count", relation=self._classes)
        while True:
            waiting = tables.load("waiting_people", {"person": "BIGINT"}, [[*people]])
            choices = tables.create("choices", "deferral/choices", rows=self._moving, waiting=waiting)
            if all_wait:
                decided = dict.fromkeys(range(1, int(classes) + 1), NONE)
            else:
                decided = self._choose(choices, int(classes), refused)
            chosen = tables.load("decided", {"class": "BIGINT", "choice": "BIGINT"}, [[*decided], [*decided.values()]])
            if all_wait or not self._rows.has_owner:
                break
            found = tables.rows("deferral/waiting_people", rows=self._moving, decided=chosen, choices=choices)
            late = {int(person) for (person,) in found}
            more: set[tuple[int, int]] = set()
            if late <= people and self._values:
                movers, of_classes = self._exposed_movers(choices, chosen)
                late = movers
                more = {(number, decided[number]) for number in of_classes} if movers <= people else set()
                more = {(number, choice) for number, choice in more - refused if choice < NONE}
            if late <= people and not more:
                break
            people |= late  # never fewer, so that the loop ends
            refused |= more
        final = tables.create(
            "final",
            "deferral/final_rows",
            columns=self._rows.in_class,
            rows=self._moving,
            decided=chosen,
            choices=choices,
            unmoved=self._unmoved_rows,
        )
        closed = sum(choice == CLOSED for choice in decided.values())
        return Decision(tables, self._rows, final, self._classes, closed)

    def _exposed_movers(self, choices: Relation, chosen: Relation) -> tuple[set[int], set[int]]:
        """The people whose classes have too few values in common: those who change now, and the classes of all."""
        tables, people, classes = self._tables, set[int](), set[int]()
        holes: dict[str, Hole] = {"rows": self._moving, "counts": self._counts, "decided": chosen, "choices": choices}
        movers = tables.create("movers", "deferral/movers", **holes)
        for values in self._values:
            common = tables[f"common_{values.name}"]
            exposed: dict[str, Hole] = {"value": [values.name], "least": values.least}
            for person, number, changes in tables.rows(
                "deferral/exposed_movers", movers=movers, common=common, **exposed
            ):
                classes.add(int(number))
                if changes:
                    people.add(int(person))
        return people, classes

    def _choose(self, choices: Relation, classes: int, refused: set[tuple[int, int]]) -> dict[int, int]:
        """The first choice for every class that neither singles out people nor leaves the class unsafe.

        `refused`: classes and choices that are not possible because of other classes.
        """
        tables = self._tables
        moves = tables.create(
            "moves",
            "deferral/moves_of_people" if self._rows.has_owner else "deferral/moves",
            choices=choices,
            rows=self._moving,
            counts=self._counts,
        )
        hidden = tables.rows("deferral/hidden_moves", moves=moves, unmoved=self._unmoved, k=self._k)
        possible = {number: {NONE} for number in range(1, classes + 1)}  # none was compared when it was released
        for number, choice in hidden:
            possible[int(number)].add(int(choice))
        for number, choice in (*self._unsafe(choices, classes), *self._without_values(choices), *refused):
            possible[number].discard(choice)
        if self._overlapping:
            holes: dict[str, Hole] = {"choices": choices, "rows": self._moving, "unmoved": self._unmoved_rows}
            for number, choice in tables.rows("deferral/appearing_or_vanishing", **holes):
                possible[int(number)].discard(int(choice))
        return {number: min(of_class or {CLOSED}) for number, of_class in possible.items()}

    def _unsafe(self, choices: Relation, classes: int) -> Iterator[tuple[int, int]]:
        """The choices by which a class violates a model, or reveals values together with an earlier release."""
        tables = self._tables
        holes: dict[str, Hole] = {"choices": choices, "rows": self._moving}
        sizes = tables.create("sizes", "deferral/sizes", moving=self._moving_members, unmoved=self._unmoved, **holes)
        by_column: dict[str | None, Relation] = {}
        for privacy_model in self._model.models:
            if privacy_model.compares:
                yield from product(range(1, classes + 1), (ARRIVALS, DEPARTURES))
                continue
            kinds = by_column.get(privacy_model.sensitive) or self._kinds(privacy_model, sizes, holes)
            by_column[privacy_model.sensitive] = kinds
            safe = replace(self._model.predicate(privacy_model), unit=PEOPLE if self._model.unit else None)
            for (kind,) in tables.rows("deferral/unsafe", kinds=kinds, safe=safe):
                yield divmod(int(kind), 10)
        for column in self._sensitive.values():
            value: dict[str, Hole] = {"value": [column]}
            unmoved = tables.create("unmoved_values", "deferral/unmoved_values", unmoved=self._unmoved_rows, **value)
            revealing = tables.rows(
                "deferral/revealing",
                counts=self._counts,
                unmoved_values=unmoved,
                same=Same([column], "unmoved", "v"),
                **value,
                **holes,
            )
            yield from ((int(number), int(choice)) for number, choice in revealing)

    def _without_values(self, choices: Relation) -> Iterator[tuple[int, int]]:
        """The choices by which too few values of a column would remain possible for everyone in a class."""
        tables = self._tables
        for values in self._values:
            value: dict[str, Hole] = {"value": [values.name]}
            holes: dict[str, Hole] = {"choices": choices, "rows": self._moving, "shown": values.shown, **value}
            compared = tables.create("compared_counts", "deferral/compared_counts", **holes)
            holes = {"compared": compared, "unmoved": self._unmoved_rows, "common": values.common, **value}
            sets = tables.create(f"new_sets_{values.name}", "deferral/values_by_choice", **holes)
            common = tables.create(
                f"common_{values.name}", "deferral/common_values", sets=sets, earlier=values.sets, **value
            )
            few = tables.rows("deferral/few_common_values", sets=sets, common=common, least=values.least)
            yield from ((int(number), int(choice)) for number, choice in few)

    def _kinds(self, privacy_model: PrivacyModel, sizes: Relation, holes: Mapping[str, Hole]) -> Relation:
        """The members of every class by choice, and by the values that a model counts."""
        columns = {
            name: self._sensitive[column]
            for name, column in self._model.sensitive.items()
            if column == privacy_model.sensitive
        }
        return self._tables.create(
            f"kinds{''.join(columns)}",
            "deferral/kinds",
            names=[*columns],
            value=columns,
            moving=self._moving_members,
            unmoving=Predicate(f"COUNT(DISTINCT {_OWNER})" if self._rows.has_owner else "SUM(n)"),
            unmoved=self._unmoved_rows,
            sizes=sizes,
            **holes,
        )

    @property
    def _moving_members(self) -> Predicate:
        return Predicate(f"COUNT(DISTINCT {_OWNER})" if self._rows.has_owner else "SUM(x.n)")
