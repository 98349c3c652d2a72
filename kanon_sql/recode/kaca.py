"""KACA: k-anonymization by clustering in attribute hierarchies, many merges at a time.

Source: J. Li, R. C.-W. Wong, A. W.-C. Fu, J. Pei, Achieving k-anonymity by clustering in attribute hierarchical
structures, DaWaK 2006; Anonymization by local recoding in data with attribute hierarchical taxonomies, TKDE
20(9), 2008. There a class smaller than k, picked by chance, is merged with the class that is nearest to it
(of which it takes only a stub, if both together have 2 k rows or more), until no class is too small.

Here, every round, all unsafe classes look for their nearest class, and of the merges they want all are done
that touch no class of another, nearer first. With `batch=1` one class looks at a time: the paper's order.

The nearest class is exact. Classes are gathered into blocks by the columns that tell them apart most dearly;
between blocks a lower bound of the distance is known, so that most pairs of classes are never looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from math import floor, log10
from typing import Any

from kanon_sql import queries
from kanon_sql.errors import InfeasibleError
from kanon_sql.judge import may_suppress
from kanon_sql.queries import Relation, Steps
from kanon_sql.recode.distance import level_costs
from kanon_sql.recode.task import ASSIGNMENT, Local, Task

_NAMES = (
    "tuples start links same parts moved generalized classes "
    "seekers blocks block_pairs bounds candidates nearest turns firsts merges"
)
_TABLES = {name: queries.scratch(f"kanon_kaca_{name}") for name in _NAMES.split()}
_REGION = "region"
_MOST_BLOCKS = 1000  # a million pairs of them take some hundredths of a second
_ALL = 2**31 - 1
_EXACT = 2**24  # sums of whole numbers below it are exact in 4-byte floats


def kaca(task: Task, batch: int | None = None) -> Local:
    """Merge unsafe classes with their nearest until all are safe; nothing is suppressed but what must be.

    `batch`: how many unsafe classes look for a partner in one round; None: all, 1: one at a time, as published.
    An attribute's `max_level` is kept: rows that would need more are suppressed. InfeasibleError if those are
    more than the suppression limit allows, or the time is up.
    """
    _check_levels(task)
    run = _Run(task)
    run.start()
    rounds = 0
    for rounds in count():
        classes, unsafe = run.describe(rounds)
        task.clock.tell(rounds, classes, unsafe)
        if unsafe == 0:
            break
        task.clock.refuse_if_spent("kaca")
        run.find_nearest(_ALL if batch is None else batch)
        run.merge()
    return run.finish(rounds)


def _check_levels(task: Task) -> None:
    """Refuse at once what no merging can mend: too few rows that agree on the highest levels allowed."""
    allowed = may_suppress(task.spec.suppression_limit, task.frequency_set.rows)
    (at_risk,) = task.judge.rows_at_risk([task.lattice.top])
    if at_risk > allowed:
        raise InfeasibleError(
            f"{at_risk:,} rows stay unsafe on the highest levels allowed, and {allowed:,} may be suppressed; "
            "raise a max_level or the suppression limit"
        )


class _Run:
    """One run of KACA: its scratch tables, and the columns that they have."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.attributes = task.frequency_set.attributes
        self.costs = _costs(task)
        self.codes = list(self.costs)
        self.values = [attribute.coded.code_column(0) for attribute in self.attributes]
        self.block = [_REGION]
        self.parts = self.generalized = _TABLES["start"]

    def start(self) -> None:
        """Number the tuples, make those that stand for the same one class, and choose what the blocks are made of."""
        top, start = self.task.lattice.top, _TABLES["start"]
        region = [a.coded.code_column(level) for a, level in zip(self.attributes, top, strict=True)]
        levels = [column for column in self.codes if column not in (_REGION, *self.values)]
        found = self.task.frequency_set.relation
        self._make("tuples", frequency_set=found, values=self.values, levels=levels, region=region)
        self._make("start", tuples=_TABLES["tuples"], codes=self.codes, safe=self.task.model.safe)
        nobody = dict.fromkeys(("class", "target", "low", "high"), "BIGINT")
        self.task.engine.load(_TABLES["merges"], nobody, [[]] * len(nobody))
        self._link(start)
        self._move(start)
        for column in sorted(self.codes[1:], key=self._tells, reverse=True):
            if self._blocks([*self.block, column]) <= _MOST_BLOCKS:
                self.block.append(column)

    def describe(self, number: int) -> tuple[int, int]:
        """Describe the classes as they are now; how many there are, and how many of them are unsafe."""
        while len(self.block) > 1 and self._blocks(self.block) > _MOST_BLOCKS:
            self.block.pop()
        self._make(
            "classes",
            generalized=self.generalized,
            parts=self.parts,
            codes=self.codes,
            block=self.block,
            own=Steps(self.costs, "g"),
            safe=self.task.model.safe,
            seed=self.task.spec.seed,
            round=number,
        )
        ((classes, unsafe),) = self._rows("kaca_unsafe", classes=_TABLES["classes"])
        return int(classes), int(unsafe)

    def find_nearest(self, most: int) -> None:
        """Find the nearest class of at most so many unsafe ones."""
        costs, made = {column: self.costs[column] for column in self.block}, _TABLES
        rest = {column: cost for column, cost in self.costs.items() if column not in costs}
        known = {"classes": made["classes"], "between": Steps(rest, "a", "b")}
        self._make("seekers", classes=made["classes"], codes=self.codes, most=most)
        seekers = made["seekers"]
        self._make("blocks", classes=made["classes"], columns=self.block, own=Steps(costs, "c"))
        self._make("block_pairs", blocks=made["blocks"], seekers=seekers, columns=self.block, between=Steps(costs, "a", "b"))
        pairs = made["block_pairs"]
        self._make("bounds", seekers=seekers, pairs=pairs, **known)
        self._make("candidates", seekers=seekers, bounds=made["bounds"], pairs=pairs)
        self._make("nearest", seekers=seekers, candidates=made["candidates"], **known)

    def merge(self) -> None:
        """Do the merges that do not interfere."""
        made, k = _TABLES, self.task.spec.privacy.k
        self._make("turns", nearest=made["nearest"], classes=made["classes"], k=k)
        self._make("firsts", turns=made["turns"])
        self._make("merges", turns=made["turns"], firsts=made["firsts"], k=k)
        self._link(made["classes"])
        self._make("generalized", classes=made["classes"], links=made["links"], codes=self.codes)
        self._move(made["generalized"])

    def finish(self, rounds: int) -> Local:
        """The assignment, and how the run went."""
        made = _TABLES
        self._make(ASSIGNMENT, "kaca_assignment", tuples=made["tuples"], parts=self.parts, values=self.values)
        ((parts,),) = self._rows("row_count", relation=self.parts)
        ((tuples,),) = self._rows("row_count", relation=made["start"])
        for relation in made.values():
            self.task.engine.run(queries.drop(relation, self.task.engine.dialect))
        return Local(ASSIGNMENT, split=parts > tuples, facts={"rounds": rounds})

    def _link(self, classes: Relation) -> None:
        self._make("links", classes=classes, merges=_TABLES["merges"])

    def _move(self, generalized: Relation) -> None:
        """Move the rows along the links, and call classes of the same generalized tuple by one name."""
        self._make("same", generalized=generalized, codes=self.codes)
        target = _TABLES["moved" if self.parts == _TABLES["parts"] else "parts"]
        self._make(target, "kaca_parts", parts=self.parts, links=_TABLES["links"], same=_TABLES["same"])
        self.generalized, self.parts = generalized, target

    def _tells(self, column: str) -> float:
        """What a column adds to the distance of two rows on average."""
        query = self._text("column_values", column=[column], tuples=_TABLES["start"])
        rows = [float(n) for _, n in self.task.engine.rows(query)]
        return self.costs[column] * (1 - sum((n / sum(rows)) ** 2 for n in rows))

    def _blocks(self, columns: Sequence[str]) -> int:
        ((blocks,),) = self._rows("kaca_block_count", generalized=self.generalized, columns=list(columns))
        return int(blocks)

    def _make(self, table: str | Relation, query: str = "", **holes: Any) -> None:
        """Make a scratch table anew of what a query gives."""
        relation = _TABLES[table] if isinstance(table, str) else table
        dialect = self.task.engine.dialect
        self.task.engine.run(queries.drop(relation, dialect))
        text = self._text(query or f"kaca_{table}", **holes)
        self.task.engine.run(queries.create_as(relation, text, dialect, temporary=True))

    def _rows(self, query: str, **holes: Any) -> list[tuple[Any, ...]]:
        return self.task.engine.rows(self._text(query, **holes))

    def _text(self, query: str, **holes: Any) -> str:
        return queries.text(query, self.task.engine.dialect, **holes)


def _costs(task: Task) -> dict[str, int]:
    """What it costs to rise above each code column, in whole numbers; the region comes first, and nobody leaves it."""
    costs, unit = {_REGION: 0}, _unit(task.weights)
    lattice = task.lattice
    for j, attribute in enumerate(task.frequency_set.attributes):
        levels = level_costs(attribute.hierarchy.height, task.spec.beta)
        whole = [round(unit * task.weights[j] * cost) for cost in levels]
        for level in range(lattice.bottom[j], lattice.top[j]):
            costs[attribute.coded.code_column(level)] = whole[level + 1] - whole[level]
    return costs


def _unit(weights: Sequence[float]) -> int:
    """The whole number that stands for a distance of 1: as large as sums may be exact."""
    return 10 ** floor(log10(_EXACT / (sum(weights) + len(weights) / 1000)))
