"""The judge: lattice nodes in, figures out, by GROUP BY … HAVING on the frequency set."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, lru_cache
from math import log
from typing import Any

from kanon_sql import queries
from kanon_sql.frequency.counted import Counted
from kanon_sql.frequency.counted import counted as group_counts
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.frequency.packed import packed
from kanon_sql.frequency.rollups import Rollups
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.later import is_unmade
from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import Costs, Figures, Part
from kanon_sql.privacy import ClassCount, LeastSize, PrivacyModels, Reference
from kanon_sql.queries import Bits, Crossed, Masked, PerNode, Relation

_SIZES = "node_tests/node_class_sizes"
_MOST_COUNTED = 200_000  # tuples that are fetched for a group of attributes
_MOST_CROSSED = 50_000  # tuples; beyond, one grouping for several nodes is no faster than one each, and roll-ups help
_TEXTS = 256  # of queries that are kept, of a few thousand characters each


class Judge:
    """Asks the database about nodes; `queries` and `nodes_tested` count what was asked.

    The tree of each query is filled and printed once; per node only the list of columns changes.
    """

    def __init__(self, frequency_set: FrequencySet, model: PrivacyModels) -> None:
        self.frequency_set = frequency_set
        references = {
            name: Reference(relation, groups=model.groups.get(name, ()))
            for name, relation in frequency_set.references.items()
        }
        model = model.with_references(references)
        self.model = model if frequency_set.population is None else model.with_population(frequency_set.population_unit)
        self.queries = 0
        self.nodes_tested = 0
        # Where nodes are tested: made for the first of them, since a local recoding may ask for none.
        self._packed = cache(lambda: packed(frequency_set))
        self._rollups = cache(lambda: Rollups(self._packed()))
        self._sizes: dict[Node, LeastSize] = {}  # the least size of a class that a node may release
        self._prepare()

    def _prepare(self) -> None:
        # One text for as many columns, whichever they are: to print one for each set takes longer than the query.
        self._loss_query = lru_cache(_TEXTS)(
            lambda query, count, least: self._prepared(query, least, losses=_names("lost", count))
        )
        self._bits_query = lru_cache(_TEXTS)(
            lambda count, least: self._prepared("node_tests/node_bits", least, labels=_names("label", count))
        )
        self._classes = lru_cache(_TEXTS)(lambda least: self._prepared("node_tests/node_classes", least))
        self._test = cache(lambda: self._prepared(self._test_name))
        self._tests = cache(lambda: self._prepared("node_tests/node_tests"))
        self._verdict = lru_cache(1)(self._prepared_verdict)
        # Models about the whole release are decided for each node; once for all where one is settled.
        self._undecided = self.model.undecided
        size, people = self.model.size, self.model.size_in_population
        self._class_sizes = cache(lambda: self._prepared(_SIZES, size=size, people=people))

    def settled(self, node: Node) -> Judge:
        """The judge of one node: where models are about all its classes, it asks of each what they come to there."""
        if not self._undecided:
            return self
        judge = copy(self)
        judge.model = self.model.at_least(self._least_size(node))
        judge._prepare()
        judge._undecided = ()
        return judge

    def costs(self) -> Costs:
        """What each level of each attribute costs before any node is judged: one query."""
        counted = self.frequency_set
        columns = self._all_loss_columns
        query = queries.text(
            "node_tests/level_losses", counted.engine.dialect, frequency_set=counted.relation, losses=columns
        )
        rows, *sums = self._ask("node_tests/level_losses", [query])[0]
        totals = dict(zip(columns, sums, strict=True))
        losses = tuple(
            tuple(self._mean(attribute, level, rows, totals, rows) for level in range(height + 1))
            for attribute, height in zip(counted.attributes, counted.heights, strict=True)
        )
        first = counted.attributes[0].hierarchy
        return Costs(
            rows,
            self.model.k,
            losses,
            tuple(a.distinct for a in counted.attributes),
            tuple(a.column.name for a in counted.attributes),
            next((a.column.name for a in counted.attributes if not first.agrees_with(a.hierarchy)), None),
            leaves=tuple(a.hierarchy.leaf_count for a in counted.attributes),
            k_of_metric=self.model.requested_k,
        )

    def with_cells(self, costs: Costs) -> Costs:
        """The costs with what metrics of bits and of generalized cells need, one query per attribute."""
        if costs.level_bits:
            return costs
        bits = tuple(map(self._level_bits, self.frequency_set.attributes))
        return replace(costs, level_bits=bits, level_generalized=self._level_generalized())

    def _level_bits(self, attribute: Attribute) -> tuple[float, ...]:
        """What all rows lose on each level: n ln n of its labels less that of the values."""
        levels = [attribute.coded.code_column(level) for level in range(attribute.hierarchy.height + 1)]
        holes: dict[str, Any] = {"frequency_set": self.frequency_set.relation, "labels": levels}
        (sums,) = self.frequency_set.tables.rows("node_tests/level_bits", **holes)
        return tuple(max(0.0, float(total) - float(sums[0])) / log(2) for total in sums)

    def _level_generalized(self) -> tuple[tuple[float, ...], ...]:
        """The share of all rows whose label stands for several leaves, on each level of each attribute."""
        counted, columns = self.frequency_set, self._all_loss_columns
        holes: dict[str, Any] = {"frequency_set": counted.relation, "losses": columns}
        (rows, *sums), *_ = counted.tables.rows("node_tests/level_generalized", **holes)
        several = dict(zip(columns, sums, strict=True))
        pairs = zip(counted.attributes, counted.heights, strict=True)
        return tuple(
            tuple(_several(a, level, several, int(rows)) / int(rows) for level in range(height + 1))
            for a, height in pairs
        )

    def rows_at_risk(self, nodes: Sequence[Node]) -> list[int]:
        """The rows that each node would suppress, several nodes in one round trip."""
        self.nodes_tested += len(nodes)
        if self._undecided and not self.model.every_class:
            return [at_risk for at_risk, _ in self._decide(nodes)]
        counted: dict[int, int] = dict(self._ask("node_tests/node_test", self._test_texts(nodes)))
        verdicts = [counted.get(number, 0) for number in range(len(nodes))]
        if not self._undecided:
            return verdicts
        return [max(rows, at_risk) for rows, (at_risk, _) in zip(verdicts, self._decide(nodes), strict=True)]

    def verdicts(self, nodes: Sequence[Node]) -> list[tuple[int, int]]:
        """The rows that each node would suppress, and how many at least all below it would, by what is in a class."""
        if self._undecided and self.model.weighs:
            self.nodes_tested += len(nodes)
            return self._decide(nodes)
        verdicts = self._ask("node_tests/node_verdict", self._fill(self._verdict(), nodes))
        if self._undecided or self.model.every_class:
            at_risk = self.rows_at_risk(nodes)
            return [(rows, unavoidable) for rows, (_, _, unavoidable) in zip(at_risk, verdicts, strict=True)]
        self.nodes_tested += len(nodes)
        return [(rows, unavoidable) for _, rows, unavoidable in verdicts]

    def _decide(self, nodes: Sequence[Node]) -> list[tuple[int, int]]:
        """The rows that each node would suppress for models about all its classes, its smallest, and all below it."""
        counted = self._ask(_SIZES, self._fill(self._class_sizes(), nodes))
        verdicts = []
        for number, node in enumerate(nodes):
            rows = {ClassCount(*row[1:4]): row[4] for row in counted if row[0] == number}
            least = self._sizes[node] = self.model.least_class_size(list(rows))
            at_risk = self.frequency_set.rows - sum(rows[kind] for kind in least.among(list(rows)))
            unsafe = self.frequency_set.rows - sum(rows.values())
            verdicts.append((at_risk, unsafe + self.model.unavoidable_rows(list(rows)) if self.model.weighs else 0))
        return verdicts

    def _least_size(self, node: Node) -> LeastSize:
        """The least size of the classes that a node releases for models about all of them; any if there are none."""
        if self._undecided and node not in self._sizes:
            self._decide([node])
        return self._sizes[node] if self._undecided else LeastSize()

    def counted(self, attributes: Sequence[int]) -> Counted | None:
        """The tuples of some attributes in memory, so that their nodes need no statements.

        None where there are too many, or where a class needs more than k rows.
        """
        counted = self.frequency_set
        if not self.model.k_alone or counted.counted or counted.tuples > _MOST_COUNTED:
            return None
        chosen = [counted.attributes[j] for j in attributes]
        keys = [a.coded.code_column(0) for a in chosen]
        holes: dict[str, Any] = {"frequency_set": counted.relation, "keys": keys, "levels": [], "sums": ["n"]}
        self.queries += 1
        return group_counts(chosen, counted.tables.rows("frequency_sets/rollup", **holes), self.model.k)

    def losses(self, node: Node, costs: Costs) -> Figures:
        """Rows at risk of a node, each attribute's mean loss with those rows suppressed, and its starred values."""
        columns = self._columns_of_loss([node])
        (_, at_risk, *sums) = self._ask_losses("node_tests/node_loss", node, columns)
        return self._lost(node, costs, at_risk, dict(zip(columns, sums, strict=True)))

    def several_losses(self, nodes: Sequence[Node], costs: Costs) -> list[Figures]:
        """The same of several nodes, in one round trip where that is faster."""
        columns = self._columns_of_loss(nodes)
        crossed = None if self._undecided or not columns else self._crossed(nodes, columns)
        if crossed is None or len(crossed.masks) < len(nodes):
            return [self.losses(node, costs) for node in nodes]
        text = self._loss_query("node_tests/node_losses", len(columns), LeastSize())(0, crossed, crossed.names)
        answers = {number: figures for number, *figures in self._ask("node_tests/node_losses", [text])}
        counted = [answers.get(number, [0] * (1 + len(columns))) for number in range(len(nodes))]
        return [
            self._lost(node, costs, at_risk, dict(zip(columns, sums, strict=True)))
            for node, (at_risk, *sums) in zip(nodes, counted, strict=True)
        ]

    def _ask_losses(self, query: str, node: Node, columns: Sequence[str]) -> tuple[Any, ...]:
        """The one row of a query of a node's columns of loss: the node, its rows at risk, a sum of each column."""
        prepared = self._loss_query(query, len(columns), self._least_size(node))
        return self._ask(query, self._fill(prepared, [node], columns))[0]

    def _columns_of_loss(self, nodes: Sequence[Node]) -> tuple[str, ...]:
        of_nodes = (name for node in nodes for name in self._loss_columns(node))
        return tuple(dict.fromkeys((*of_nodes, *filter(None, self._starred_columns))))

    @property
    def _starred_columns(self) -> list[str]:
        """Per attribute the column of what no hierarchy holds; no name where there is nothing such."""
        coded = [attribute.coded for attribute in self.frequency_set.attributes]
        return [attribute.loss_column(0) if 0 in attribute.loss_levels else "" for attribute in coded]

    def _lost(self, node: Node, costs: Costs, at_risk: int, saved: dict[str, int]) -> Figures:
        """What a node loses, by what the rows at risk would lose on its levels."""
        attributes = self.frequency_set.attributes
        losses = tuple(
            costs.level_losses[j][level]
            - self._mean(attribute, level, at_risk, saved, costs.rows)
            + at_risk / costs.rows
            for j, (attribute, level) in enumerate(zip(attributes, node, strict=True))
        )
        shares = tuple(
            of - (self._mean(attribute, 0, at_risk, saved, costs.rows) if name else 0.0)
            for of, attribute, name in zip(costs.starred, attributes, self._starred_columns, strict=True)
        )
        return Figures(node, at_risk, losses, starred=shares)

    def cells(self, node: Node, costs: Costs, needs: Collection[Part]) -> Figures:
        """What `losses` says if it is needed, and the bits and the generalized cells of a node, as far as they are."""
        lost = {part for part in needs if part not in ("bits", "generalized")}
        figures = self.losses(node, costs) if lost else Figures(node)
        if "bits" in needs:
            at_risk, bits = self._bits(node, costs)
            figures = replace(figures, rows_at_risk=at_risk, bits=bits)
        if "generalized" in needs:
            at_risk, generalized = self._generalized(node, costs)
            figures = replace(figures, rows_at_risk=at_risk, generalized=generalized)
        return figures

    def _bits(self, node: Node, costs: Costs) -> tuple[int, tuple[float, ...]]:
        """Rows at risk, and each attribute's lost bits: of all rows on its level, and of suppressed ones to the top."""
        names, (relation,) = self._packed().labels(node), self._rollups().relations([node])
        labels = dict(zip(_names("label", len(names)), names.values(), strict=True))
        prepared = self._bits_query(len(names), self._least_size(node))
        text = prepared(0, Masked(relation, labels, self._counts), ())
        self.queries += 1
        ((at_risk, *sums),) = self.frequency_set.tables.rows_as(text, "node_tests/node_bits")
        whole = float(at_risk) * log(float(at_risk)) if at_risk else 0.0
        left = {name: max(0.0, whole - float(total)) / log(2) for name, total in zip(names, sums, strict=True)}
        triples = zip(self.frequency_set.attributes, node, costs.level_bits, strict=True)
        lost = tuple(bits[level] + left.get(a.coded.code_column(level), 0.0) for a, level, bits in triples)
        return int(at_risk), lost

    def _generalized(self, node: Node, costs: Costs) -> tuple[int, tuple[float, ...]]:
        """Rows at risk, and each attribute's share of all rows whose cell is for several leaves, or is suppressed."""
        columns = self._loss_columns(node)
        (_, at_risk, *sums) = self._ask_losses("node_tests/node_generalized", node, columns)
        several = dict(zip(columns, sums, strict=True))
        triples = zip(self.frequency_set.attributes, node, costs.level_generalized, strict=True)
        shares = (of[level] + (at_risk - _several(a, level, several, at_risk)) / costs.rows for a, level, of in triples)
        return int(at_risk), tuple(shares)

    def classes(self, node: Node) -> Figures:
        """The classes that a node would release: how many, the smallest, their sizes squared."""
        prepared = self._classes(self._least_size(node))
        (_, classes, released, smallest, squares) = self._ask("node_tests/node_classes", self._fill(prepared, [node]))[
            0
        ]
        at_risk = self.frequency_set.rows - released
        return Figures(node, at_risk, None, classes, released, smallest, squares)

    def kept_rows(self, node: Node) -> tuple[int, ...]:
        """Per attribute, the released rows whose label at a node is the value itself, or NULL for NULL."""
        pairs = zip(self.frequency_set.attributes, node, strict=True)
        return tuple(self._released_with(node, a, self._kept_codes(a, level)) for a, level in pairs)

    def released_levels(self, node: Node) -> tuple[tuple[int, ...], ...]:
        """Per attribute, the released rows by the lowest level that has their label: level 0 for a NULL that stays."""
        released = self.classes(node).released_rows or 0
        counted = []
        for attribute, level in zip(self.frequency_set.attributes, node, strict=True):
            rows = [0] * (attribute.hierarchy.height + 1)
            for lowest, codes in self._lowest_levels(attribute, level).items():
                rows[lowest] = self._released_with(node, attribute, codes)
            rows[level] += released - sum(rows)
            counted.append(tuple(rows))
        return tuple(counted)

    def _lowest_levels(self, attribute: Attribute, level: int) -> dict[int, set[int]]:
        """The codes of the values whose label on a level is theirs on a lower one too, and of those in no hierarchy."""
        hierarchy = attribute.hierarchy
        starred = _starred_codes(hierarchy)
        found = {hierarchy.height: starred} if starred else {}
        if is_unmade(hierarchy.values):
            return found | self._lower_in_mapping(attribute, level)
        return found | hierarchy.lower_levels(level)

    def _lower_in_mapping(self, attribute: Attribute, level: int) -> dict[int, set[int]]:
        """The same of a hierarchy whose labels are in its mapping table alone."""
        found = {0: self._kept_codes(attribute, level)} if level else {}
        for lower in range(1, level):
            rows = self.frequency_set.tables.rows(
                "node_tests/same_labels",
                mapping=attribute.coded.mapping,
                lower=[f"label_{lower}"],
                label=[f"label_{level}"],
            )
            same = {int(code) for (code,) in rows}
            found[lower] = same.difference(*found.values())
        return found

    def _released_with(self, node: Node, attribute: Attribute, codes: set[int]) -> int:
        """The released rows whose value of an attribute has one of these codes."""
        if not codes:
            return 0
        if len(codes) == attribute.hierarchy.counts[0]:
            return self.classes(node).released_rows or 0
        tables = self.frequency_set.tables
        kept = tables.load("kept", {"kept_code": "INTEGER"}, [sorted(codes)])
        ((rows,),) = tables.rows(
            "node_tests/kept_rows",
            frequency_set=self.frequency_set.relation,
            kept=kept,
            code={"code": attribute.coded.code_column(0)},
            levels=self._levels(node),
            sensitive=self.frequency_set.counted,
            safe=self.model.at_least(self._least_size(node)).safe,
        )
        tables.drop(kept)
        return int(rows)

    def _kept_codes(self, attribute: Attribute, level: int) -> set[int]:
        """The codes of the values that a level shows as they are; what shows `*` is not as it was."""
        hierarchy = attribute.hierarchy
        if level == 0:
            return set(range(hierarchy.counts[0])) - _starred_codes(hierarchy)
        rows: Iterable[tuple[Any, Any, int]]
        if is_unmade(hierarchy.values):  # and need not be: few labels, if any, can be their value
            holes: dict[str, Any] = {"label": [f"label_{level}"], "float": attribute.column.kind == "float"}
            rows = self.frequency_set.tables.rows("node_tests/like_values", mapping=attribute.coded.mapping, **holes)
        else:
            rows = zip(hierarchy.values, hierarchy.labels(level), hierarchy.codes(0), strict=False)
        same = (code for value, label, code in rows if label == (None if value is None else str(value)))
        return set(same) - _starred_codes(hierarchy)

    def released_sum(self, node: Node, attribute: Attribute, weights: Relation) -> float:
        """A weight of an attribute's value, by its code, added up over the rows that a node releases."""
        ((total,),) = self.frequency_set.tables.rows(
            "node_tests/released_sum",
            frequency_set=self.frequency_set.relation,
            weights=weights,
            code={"code": attribute.coded.code_column(0)},
            levels=self._levels(node),
            sensitive=self.frequency_set.counted,
            safe=self.model.at_least(self._least_size(node)).safe,
        )
        return float(total)

    def may_mask(self, node: Node, rows_at_risk: int) -> bool:
        """Whether the rows at risk of a node, all masked alike, are a class that meets the model.

        Never beside a population: which of its rows would be masked is not known, since they are not in the table.
        """
        if self.frequency_set.population is not None:
            return False
        if rows_at_risk == 0 or self.model.k_alone:
            return rows_at_risk >= self.model.k
        sensitive, least = list(self.frequency_set.sensitive), self._least_size(node)
        text = self._as_it_is("node_tests/masked_class", node, least, sensitive=sensitive, size=self.model.size)
        ((safe, size),) = self.frequency_set.tables.rows_as(text, "node_tests/masked_class")
        return bool(safe) and self._hold_with(node, int(size), least)

    def _hold_with(self, node: Node, masked: int, least: LeastSize) -> bool:
        """Whether models about all classes hold of those that a node releases and one more, of this size."""
        if not self.model.undecided:
            return True
        counted = [ClassCount(*row[1:4]) for row in self._ask(_SIZES, self._fill(self._class_sizes(), [node]))]
        released = [ClassCount(masked, 0, 1), *least.among(counted)]
        return all(release_model.holds(release_model.histogram(released)) for release_model in self.model.of_release)

    def drop(self) -> None:
        """Drop what was made to test nodes on, when no more will be asked for."""
        if self._packed.cache_info().currsize:
            self._rollups().drop()
            self._packed().drop()
            self._rollups.cache_clear()  # made again, should somebody ask after all
            self._packed.cache_clear()

    def released_classes_sql(self, node: Node) -> str:
        """The query of the classes that may be released, by their codes."""
        return self._as_it_is("node_tests/released_classes", node, self._least_size(node))

    def node_test_sql(self, node: Node, number: int = 0) -> str:
        """The test of one node on the whole frequency set, under a number."""
        return self._as_it_is(self._test_name, node, number=number)

    @property
    def _test_name(self) -> str:
        return "population/node_test" if self.model.every_class else "node_tests/node_test"

    def _as_it_is(self, query: str, node: Node, least: LeastSize | None = None, number: int = 0, **holes: Any) -> str:
        """A query of one node on the frequency set as the release has it."""
        safe, counted = self.model.at_least(least or LeastSize()).safe, self.frequency_set
        prepared = queries.per_node(query, counted.engine.dialect, safe=safe, **holes)
        return prepared(number, counted.relation, self._levels(node))

    def _test_texts(self, nodes: Sequence[Node]) -> list[str]:
        """Queries that test nodes: one for all whose classes numbers tell apart, if that pays, else one each."""
        crossed = None if self.model.every_class else self._crossed(nodes)
        if crossed is None:
            return self._fill(self._test(), nodes)
        alone = {number: node for number, node in enumerate(nodes) if number not in crossed.masks}
        return [self._tests()(0, crossed, crossed.names), *self._fill(self._test(), alone)]

    def _crossed(self, nodes: Sequence[Node], losses: Sequence[str] = ()) -> Crossed | None:
        """The tuples once for each node whose classes numbers tell apart, by its number; None where that gains nothing.

        Beyond some size the table of all their classes fits into no cache.
        """
        if self._packed().frequency_set.tuples > _MOST_CROSSED:
            return None
        masks = {number: self._packed().masks(node) for number, node in enumerate(nodes)}
        together = {number: of_node for number, of_node in masks.items() if of_node is not None}
        counts: dict[str, Bits] = {name: (name, None) for name in self._counts}
        crossed = Crossed(self._packed().relation, together, counts | _numbered(losses))
        return crossed if len(together) > 1 and crossed.names else None

    def _fill(
        self, prepared: PerNode, nodes: Sequence[Node] | Mapping[int, Node], losses: Sequence[str] = ()
    ) -> list[str]:
        """A query of each node, by its number."""
        numbered = nodes if isinstance(nodes, Mapping) else dict(enumerate(nodes))
        packed, asked = self._packed(), list(numbered.values())
        relations = [packed.relation] * len(asked) if losses else self._rollups().relations(asked)
        columns = [packed.columns(node) for node in asked]
        sums, pairs = _numbered(losses), zip(relations, columns, strict=True)
        sources = [Masked(relation, bits | sums, self._counts) for relation, bits in pairs]
        return [prepared(i, source, bits) for i, source, bits in zip(numbered, sources, columns, strict=True)]

    @property
    def _counts(self) -> list[str]:
        """What models need of a row where nodes are tested."""
        return ["n", *self.frequency_set.counted]

    def _levels(self, node: Node) -> list[str]:
        return self.frequency_set.level_columns(node)

    @property
    def _all_loss_columns(self) -> list[str]:
        attributes = self.frequency_set.attributes
        return [a.coded.loss_column(level) for a in attributes for level in a.coded.loss_levels]

    def _loss_columns(self, node: Node) -> tuple[str, ...]:
        pairs = zip(self.frequency_set.attributes, node, strict=True)
        return tuple(a.coded.loss_column(level) for a, level in pairs if level in a.coded.loss_levels)

    def _prepared(self, query: str, least: LeastSize | None = None, **holes: Any) -> PerNode:
        safe = self.model.at_least(least or LeastSize()).safe
        return queries.per_node(query, self.frequency_set.engine.dialect, safe=safe, **holes)

    def _prepared_verdict(self) -> PerNode:
        monotone, unavoidable = self.model.always_monotone, self.model.unavoidable
        return self._prepared("node_tests/node_verdict", monotone=monotone, unavoidable=unavoidable)

    def _mean(self, attribute: Attribute, level: int, rows: int, sums: dict[str, int], of: int) -> float:
        """The loss of an attribute on a level summed over `rows` rows, over all rows' largest possible loss."""
        most = attribute.hierarchy.leaf_count - 1
        if most == 0:
            return 0.0
        if level in attribute.coded.loss_levels:
            return sums[attribute.coded.loss_column(level)] / (most * of)
        return rows / of if level == attribute.hierarchy.height else 0.0

    def _ask(self, query: str, texts: Sequence[str]) -> list[tuple[Any, ...]]:
        """Run the queries of several nodes as one statement; its rows in the nodes' order, whole numbers."""
        self.queries += 1
        answers = self.frequency_set.tables.rows_as(queries.union_all(texts), query)
        whole = [tuple(None if value is None else int(value) for value in row) for row in answers]
        return sorted(whole)


def _names(stem: str, count: int) -> list[str]:
    """So many names that no other column has."""
    return [f"_{stem}_{number}" for number in range(count)]


def _numbered(losses: Sequence[str]) -> dict[str, Bits]:
    """Columns of loss, by the names that they have in a query of as many."""
    return {name: (column, None) for name, column in zip(_names("lost", len(losses)), losses, strict=True)}


def _several(attribute: Attribute, level: int, sums: dict[str, int], rows: int) -> int:
    """How many of so many rows show a label of several leaves, which all of an attribute's top does."""
    if level in attribute.coded.loss_levels:
        return int(sums[attribute.coded.loss_column(level)])
    return rows if level == attribute.hierarchy.height and attribute.hierarchy.leaf_count > 1 else 0


def _starred_codes(hierarchy: Hierarchy) -> set[int]:
    return set(hierarchy.codes(0)[len(hierarchy.values) :]) if hierarchy.starred else set()
