"""The judge: figures of lattice nodes, by GROUP BY … HAVING on the frequency set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, lru_cache
from math import log
from typing import Any

from kanon_sql import queries
from kanon_sql.frequency.counted import CountedTuples
from kanon_sql.frequency.counted import counted as group_counts
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.frequency.packed import packed, unpacked
from kanon_sql.frequency.rollups import Rollups
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import Costs, Figures, Part
from kanon_sql.privacy import ClassCount, LeastSize, Predicate, PrivacyModels, Reference
from kanon_sql.queries import Bits, Crossed, Hole, Masked, PerNode, Relation

_SIZES = "node_tests/node_class_sizes"
_FEW_TUPLES = 20_000  # whose classes are counted faster in memory than by a statement
_MOST_COUNTED = 200_000  # tuples fetched for a group of attributes
_MOST_CROSSED = 50_000  # tuples; beyond, grouping for several nodes at once is no faster, and roll-ups help more
_MOST_BITS = 32  # people that a class needs, up to which bits of their codes decide about most classes
_SAFE = "_safe"  # whether a class meets the model, in a table of classes
_TEXTS = 256  # cached query texts, of a few thousand characters each


class Judge:
    """Queries the database about nodes; `queries` counts the queries.

    The tree of a query is filled and printed once; per node only the list of columns changes.
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
        # The relations on which nodes are tested. Created for the first test: a local recoding may need none.
        self._packed = cache(lambda: packed(frequency_set))
        self._rollups = cache(lambda: Rollups(self._packed()))
        self._sizes: dict[Node, LeastSize] = {}  # the minimum size of the classes that a node releases
        self._in_memory: CountedTuples | None = None
        self._is_safe: Predicate | None = None  # replaces the model's condition in a judge of classes
        self._whole: Judge | None = None  # the judge that a judge of classes was made from
        self._prepare()

    def _prepare(self) -> None:
        # One text per number of columns: printing one per set of columns takes longer than the query.
        self._loss_query = lru_cache(_TEXTS)(
            lambda query, count, least: self._prepared(query, least, losses=_names("lost", count))
        )
        self._bits_query = lru_cache(_TEXTS)(
            lambda count, least: self._prepared("node_tests/node_bits", least, labels=_names("label", count))
        )
        self._classes = lru_cache(_TEXTS)(lambda least: self._prepared("node_tests/node_classes", least))
        self._test = cache(self._prepared_test)
        self._tests = cache(lambda: self._prepared("node_tests/node_tests"))
        self._verdict = lru_cache(1)(self._prepared_verdict)
        # Models about the whole release are decided per node, unless `settled` turns them into a class size.
        self._undecided = self.model.undecided
        size, people = self.model.size, self.model.size_in_population
        self._class_sizes = cache(lambda: self._prepared(_SIZES, size=size, people=people))
        # Figures of a node that several metrics and the manifest use.
        self._of_classes: dict[Node, Figures] = {}
        self._of_losses: dict[tuple[str, Node, tuple[str, ...]], tuple[Any, ...]] = {}
        self._judges_of_classes: dict[Node, Judge] = {}  # at most one, of the last node

    def reuse(self, other: Judge) -> None:
        """Test nodes on the relations of another judge of the same frequency set, including its roll-ups."""
        self._packed, self._rollups = other._packed, other._rollups

    def of_classes(self, node: Node) -> Judge:
        """A judge of this node only, whose queries read a table of its classes instead of the frequency set.

        So all figures of the node need only one `GROUP BY` of the frequency set. On an engine without temporary tables,
        which would count the classes again for every query, this judge itself is returned.
        """
        if not self.frequency_set.engine.has_temporary_tables:
            return self
        if node not in self._judges_of_classes:
            counted = self.frequency_set
            text = self._unpacked(
                "node_tests/class_sums", node, self._least_size(node), losses=self._columns_of_loss([node])
            )
            self._drop_classes()
            stem = counted.tables.unused("node_classes")  # other judges can use the same scratch tables
            classes = counted.tables.create_as(stem, text, "node_tests/class_sums")
            judge = copy(self)
            # The table has no columns of sensitive values and people any more, only whether a class is safe.
            judge.frequency_set = replace(
                counted, relation=classes, sensitive=(_SAFE,), references={}, population=None, population_unit=False
            )
            judge._whole, judge._is_safe = self, Predicate(f"BOOL_AND({_SAFE})")
            judge._packed = cache(lambda: unpacked(judge.frequency_set))
            judge._rollups = cache(lambda: Rollups(judge._packed(), pay_off=False))
            judge._prepare()
            self._judges_of_classes[node] = judge
        return self._judges_of_classes[node]

    def _drop_classes(self) -> None:
        for judge in self._judges_of_classes.values():
            self.frequency_set.tables.drop(judge.frequency_set.relation)
        self._judges_of_classes = {}

    def settled(self, node: Node) -> Judge:
        """The judge of one node, in which models about all its classes are replaced by their minimum class size."""
        if not self._undecided:
            return self
        judge = copy(self)
        judge.model = self.model.at_least(self._least_size(node))
        judge._prepare()
        judge._undecided = ()
        return judge

    def costs(self) -> Costs:
        """The losses of all levels of all attributes, before any node is tested: one query."""
        counted = self.frequency_set
        columns = self._all_loss_columns
        query = queries.text(
            "node_tests/level_losses", counted.engine.dialect, frequency_set=counted.relation, losses=columns
        )
        rows, *sums = self._query("node_tests/level_losses", [query])[0]
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
        """The costs with the figures for metrics of bits and of generalized cells; at most one query per attribute."""
        if costs.level_bits:
            return costs
        counts = self.frequency_set.value_counts
        bits = tuple(
            _bits_of_levels(attribute.hierarchy, counts[j]) if j in counts else self._level_bits(attribute)
            for j, attribute in enumerate(self.frequency_set.attributes)
        )
        return replace(costs, level_bits=bits, level_generalized=self._level_generalized())

    def _level_bits(self, attribute: Attribute) -> tuple[float, ...]:
        """The bits that all rows lose on every level: n log2 n summed over its labels, minus that over the values."""
        levels = [attribute.coded.code_column(level) for level in range(attribute.hierarchy.height + 1)]
        holes: dict[str, Any] = {"frequency_set": self.frequency_set.relation, "labels": levels}
        (sums,) = self.frequency_set.tables.rows("node_tests/level_bits", **holes)
        return tuple(max(0.0, float(total) - float(sums[0])) / log(2) for total in sums)

    def _level_generalized(self) -> tuple[tuple[float, ...], ...]:
        """The share of all rows whose label covers several leaves, on every level of every attribute."""
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
        """The rows that every node would suppress, in one round trip."""
        if self._in_memory:
            return [self._in_memory.rows_at_risk(node) for node in nodes]
        if self._undecided and not self.model.every_class:
            return [at_risk for at_risk, _ in self._decide(nodes)]
        counted: dict[int, int] = dict(self._query("node_tests/node_test", self._test_texts(nodes)))
        verdicts = [counted.get(number, 0) for number in range(len(nodes))]
        if not self._undecided:
            return verdicts
        return [max(rows, at_risk) for rows, (at_risk, _) in zip(verdicts, self._decide(nodes), strict=True)]

    def verdicts(self, nodes: Sequence[Node]) -> list[tuple[int, int]]:
        """The rows that every node would suppress, and a lower bound for all nodes below it."""
        if self._undecided and self.model.weighs:
            return self._decide(nodes)
        verdicts = self._query("node_tests/node_verdict", self._fill(self._verdict(), nodes))
        if self._undecided or self.model.every_class:
            at_risk = self.rows_at_risk(nodes)
            return [(rows, unavoidable) for rows, (_, _, unavoidable) in zip(at_risk, verdicts, strict=True)]
        return [(rows, unavoidable) for _, rows, unavoidable in verdicts]

    def _decide(self, nodes: Sequence[Node]) -> list[tuple[int, int]]:
        """The same for models about all classes of a node, which suppress its smallest classes."""
        counted = self._query(_SIZES, self._fill(self._class_sizes(), nodes))
        verdicts = []
        for number, node in enumerate(nodes):
            rows = {ClassCount(*row[1:4]): row[4] for row in counted if row[0] == number}
            least = self._sizes[node] = self.model.least_class_size(list(rows))
            at_risk = self.frequency_set.rows - sum(rows[kind] for kind in least.among(list(rows)))
            unsafe = self.frequency_set.rows - sum(rows.values())
            verdicts.append((at_risk, unsafe + self.model.unavoidable_rows(list(rows)) if self.model.weighs else 0))
        return verdicts

    def _least_size(self, node: Node) -> LeastSize:
        """The minimum size of the classes that a node releases, by models about all of them; any size without such."""
        if self._undecided and node not in self._sizes:
            self._decide([node])
        return self._sizes[node] if self._undecided else LeastSize()

    def count_in_memory(self) -> None:
        """Test nodes in memory from now on, if there are few tuples: a statement per node would take longer."""
        counted = self.frequency_set
        if counted.tuples <= _FEW_TUPLES and counted.population is None:
            self._in_memory = self.counted(range(len(counted.attributes)))

    def counted(self, attributes: Sequence[int]) -> CountedTuples | None:
        """The tuples of some attributes in memory, so that testing their nodes needs no statements.

        None if there are too many tuples, or if a model requires more than k rows.
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
        """The rows at risk of a node, and per attribute the mean loss if these are suppressed, and starred values."""
        columns = self._columns_of_loss([node])
        (_, at_risk, *sums) = self._query_losses("node_tests/node_loss", node, columns)
        return self._lost(node, costs, at_risk, dict(zip(columns, sums, strict=True)))

    def several_losses(self, nodes: Sequence[Node], costs: Costs) -> list[Figures]:
        """The same for several nodes, in one round trip where that is faster."""
        columns = self._columns_of_loss(nodes)
        crossed = None if self._undecided or not columns else self._crossed(nodes, columns)
        if crossed is None or len(crossed.masks) < len(nodes):
            return [self.losses(node, costs) for node in nodes]
        text = self._loss_query("node_tests/node_losses", len(columns), LeastSize())(0, crossed, crossed.names)
        answers = {number: figures for number, *figures in self._query("node_tests/node_losses", [text])}
        counted = [answers.get(number, [0] * (1 + len(columns))) for number in range(len(nodes))]
        return [
            self._lost(node, costs, at_risk, dict(zip(columns, sums, strict=True)))
            for node, (at_risk, *sums) in zip(nodes, counted, strict=True)
        ]

    def _query_losses(self, query: str, node: Node, columns: Sequence[str]) -> tuple[Any, ...]:
        """The result of a query for a node's columns of loss: the node, its rows at risk, and the columns' sums."""
        key = query, node, tuple(columns)
        if key not in self._of_losses:
            prepared = self._loss_query(query, len(columns), self._least_size(node))
            self._of_losses[key] = self._query(query, self._fill(prepared, [node], columns))[0]
        return self._of_losses[key]

    def _columns_of_loss(self, nodes: Sequence[Node]) -> tuple[str, ...]:
        of_nodes = (name for node in nodes for name in self._loss_columns(node))
        return tuple(dict.fromkeys((*of_nodes, *filter(None, self._starred_columns))))

    @property
    def _starred_columns(self) -> list[str]:
        """Per attribute the column of values that are missing in the hierarchy; an empty name without such values."""
        coded = [attribute.coded for attribute in self.frequency_set.attributes]
        return [attribute.loss_column(0) if 0 in attribute.loss_levels else "" for attribute in coded]

    def _lost(self, node: Node, costs: Costs, at_risk: int, saved: dict[str, int]) -> Figures:
        """The losses of a node, computed from the losses of its rows at risk on its levels."""
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
        """The needed figures of a node: losses, bits and generalized cells."""
        figures = self.losses(node, costs) if set(needs) - {"bits", "generalized"} else Figures(node)
        if "bits" in needs:
            at_risk, bits = self._bits(node, costs)
            figures = replace(figures, rows_at_risk=at_risk, bits=bits)
        if "generalized" in needs:
            at_risk, generalized = self._generalized(node, costs)
            figures = replace(figures, rows_at_risk=at_risk, generalized=generalized)
        return figures

    def _bits(self, node: Node, costs: Costs) -> tuple[int, tuple[float, ...]]:
        """Rows at risk, and per attribute the lost bits: of all rows on its level, plus those of suppressed rows."""
        names, (relation,) = self._packed().labels(node), self._rollups().relations([node])
        labels = dict(zip(_names("label", len(names)), names.values(), strict=True))
        prepared = self._bits_query(len(names), self._least_size(node))
        text = prepared(0, Masked(relation, labels | self._counts), ())
        self.queries += 1
        ((at_risk, *sums),) = self.frequency_set.tables.rows_as(text, "node_tests/node_bits")
        whole = float(at_risk) * log(float(at_risk)) if at_risk else 0.0
        left = {name: max(0.0, whole - float(total)) / log(2) for name, total in zip(names, sums, strict=True)}
        lost = []
        for attribute, level, bits in zip(self.frequency_set.attributes, node, costs.level_bits, strict=True):
            lost.append(bits[level] + left.get(attribute.coded.code_column(level), 0.0))
        return int(at_risk), tuple(lost)

    def _generalized(self, node: Node, costs: Costs) -> tuple[int, tuple[float, ...]]:
        """Rows at risk, and per attribute the share of all rows whose cell covers several leaves or is suppressed."""
        columns = self._loss_columns(node)
        (_, at_risk, *sums) = self._query_losses("node_tests/node_generalized", node, columns)
        several = dict(zip(columns, sums, strict=True))
        shares = []
        for attribute, level, share in zip(self.frequency_set.attributes, node, costs.level_generalized, strict=True):
            newly_generalized = at_risk - _several(attribute, level, several, at_risk)
            shares.append(share[level] + newly_generalized / costs.rows)
        return int(at_risk), tuple(shares)

    def classes(self, node: Node) -> Figures:
        """The classes that a node would release: their number, the smallest size, and the sum of squared sizes."""
        if node not in self._of_classes:
            prepared = self._classes(self._least_size(node))
            ((_, classes, released, smallest, squares),) = self._query(
                "node_tests/node_classes", self._fill(prepared, [node])
            )
            self._of_classes[node] = Figures(
                node,
                rows_at_risk=self.frequency_set.rows - released,
                classes=classes,
                released_rows=released,
                smallest_class=smallest,
                squares=squares,
            )
        return self._of_classes[node]

    def kept_rows(self, node: Node) -> tuple[int, ...]:
        """Per attribute, the released rows whose label at a node is the value itself (NULL for NULL)."""
        pairs = zip(self.frequency_set.attributes, node, strict=True)
        return tuple(self._released_with(node, a, self._kept_codes(a, level)) for a, level in pairs)

    def released_levels(self, node: Node) -> tuple[tuple[int, ...], ...]:
        """Per attribute, the released rows by the lowest level with the same label: level 0 for an unchanged NULL."""
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
        """The codes of the values with the same label on a lower level, by the lowest such, and of starred values."""
        hierarchy = attribute.hierarchy
        starred = _starred_codes(hierarchy)
        found = {hierarchy.height: starred} if starred else {}
        if attribute.coded.by_rules:
            return found | self._lower_in_mapping(attribute, level)
        return found | hierarchy.lower_levels(level)

    def _lower_in_mapping(self, attribute: Attribute, level: int) -> dict[int, set[int]]:
        """The same for a hierarchy whose labels are only in its mapping table."""
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
        """The released rows whose value in an attribute has one of these codes."""
        if not codes:
            return 0
        if self._whole and not self._has_values(node, attribute):
            return self._whole._released_with(node, attribute, codes)
        if len(codes) == attribute.hierarchy.counts[0]:
            return self.classes(node).released_rows or 0
        tables = self.frequency_set.tables
        kept = tables.load("kept", {"kept_code": "INTEGER"}, [sorted(codes)])
        ((rows,),) = tables.rows("node_tests/kept_rows", kept=kept, **self._released_values(node, attribute))
        tables.drop(kept)
        return int(rows)

    def _kept_codes(self, attribute: Attribute, level: int) -> set[int]:
        """The codes of the values that a level shows unchanged; starred values, shown as `*`, are not."""
        hierarchy = attribute.hierarchy
        if level == 0:
            return set(range(hierarchy.counts[0])) - _starred_codes(hierarchy)
        rows: Iterable[tuple[Any, Any, int]]
        if attribute.coded.by_rules:  # and need not be built: few labels, if any, can equal their value
            holes: dict[str, Any] = {"label": [f"label_{level}"], "float": attribute.column.kind == "float"}
            rows = self.frequency_set.tables.rows("node_tests/like_values", mapping=attribute.coded.mapping, **holes)
        else:
            rows = zip(hierarchy.values, hierarchy.labels(level), hierarchy.codes(0), strict=False)
        same = (code for value, label, code in rows if label == (None if value is None else str(value)))
        return set(same) - _starred_codes(hierarchy)

    def released_sum(self, node: Node, attribute: Attribute, weights: Relation) -> float:
        """The sum of the weights of an attribute's values, by code, over the rows that a node releases."""
        if self._whole and not self._has_values(node, attribute):
            return self._whole.released_sum(node, attribute, weights)
        ((total,),) = self.frequency_set.tables.rows(
            "node_tests/released_sum", weights=weights, **self._released_values(node, attribute)
        )
        return float(total)

    def _has_values(self, node: Node, attribute: Attribute) -> bool:
        """Whether the classes of a node have the values of an attribute: it is on level 0 and distinguishes them."""
        return attribute.coded.code_column(0) in self._levels(node)

    def _released_values(self, node: Node, attribute: Attribute) -> dict[str, Hole]:
        """The holes of queries about the values of an attribute in the rows that a node releases."""
        return {
            "frequency_set": self.frequency_set.relation,
            "code": {"code": attribute.coded.code_column(0)},
            "levels": self._levels(node),
            "sensitive": self.frequency_set.counted,
            "safe": self._safe(self._least_size(node)),
        }

    def may_mask(self, node: Node, rows_at_risk: int) -> bool:
        """Whether the rows at risk of a node, all masked as `*`, form a class that satisfies the model.

        Never with a population: it is unknown which of its rows would be masked, since they are not in the table.
        """
        if self.frequency_set.population is not None:
            return False
        if rows_at_risk == 0 or self.model.k_alone:
            return rows_at_risk >= self.model.k
        sensitive = list(self.frequency_set.sensitive)
        least = self._least_size(node)
        text = self._unpacked("node_tests/masked_class", node, least, sensitive=sensitive, size=self.model.size)
        ((safe, size),) = self.frequency_set.tables.rows_as(text, "node_tests/masked_class")
        return bool(safe) and self._satisfied_with(node, int(size), least)

    def _satisfied_with(self, node: Node, masked: int, least: LeastSize) -> bool:
        """Whether the released classes of a node and a masked one of this size satisfy models about all classes."""
        if not self.model.undecided:
            return True
        counted = [ClassCount(*row[1:4]) for row in self._query(_SIZES, self._fill(self._class_sizes(), [node]))]
        released = [ClassCount(masked, 0, 1), *least.among(counted)]
        return all(release_model.holds(release_model.histogram(released)) for release_model in self.model.of_release)

    def drop(self) -> None:
        """Drop the relations that were created for tests, after the last test."""
        self._drop_classes()
        if self._packed.cache_info().currsize:
            self._rollups().drop()
            self._packed().drop()
            self._rollups.cache_clear()  # so that a later test creates them again
            self._packed.cache_clear()

    def released_classes_sql(self, node: Node) -> str:
        """The query of the classes that may be released, by their codes."""
        return self._unpacked("node_tests/released_classes", node, self._least_size(node))

    def released_leaves_sql(self, node: Node, losses: Sequence[str]) -> str:
        """The query of the rows of every class that may be released, with the sums of some loss columns."""
        return self._unpacked("node_tests/released_leaves", node, self._least_size(node), losses=losses)

    def node_test_sql(self, node: Node, number: int = 0) -> str:
        """The query that tests one node on the whole frequency set, with a number for the node."""
        return self._unpacked(self._test_name, node, number=number)

    @property
    def _test_name(self) -> str:
        return "population/node_test" if self.model.every_class else "node_tests/node_test"

    def _unpacked(self, query: str, node: Node, least: LeastSize | None = None, number: int = 0, **holes: Any) -> str:
        """A query of one node on the original frequency set, as the release uses it."""
        counted = self.frequency_set
        prepared = queries.per_node(query, counted.engine.dialect, safe=self._safe(least), **holes)
        return prepared(number, counted.relation, self._levels(node))

    def _test_texts(self, nodes: Sequence[Node]) -> list[str]:
        """Queries that test nodes: one for the nodes whose classes packed numbers distinguish, if that is faster."""
        crossed = None if self.model.every_class else self._crossed(nodes)
        if crossed is None:
            return self._fill(self._test(), nodes)
        alone = {number: node for number, node in enumerate(nodes) if number not in crossed.masks}
        return [self._tests()(0, crossed, crossed.names), *self._fill(self._test(), alone)]

    def _crossed(self, nodes: Sequence[Node], losses: Sequence[str] = ()) -> Crossed | None:
        """The tuples, repeated for every node whose classes packed numbers distinguish; None if that is not faster.

        Beyond some size the hash table of all their classes does not fit into the cache.
        """
        if self._packed().frequency_set.tuples > _MOST_CROSSED:
            return None
        masks = {number: self._packed().masks(node) for number, node in enumerate(nodes)}
        together = {number: of_node for number, of_node in masks.items() if of_node is not None}
        crossed = Crossed(self._packed().relation, together, self._counts | _numbered(losses))
        return crossed if len(together) > 1 and crossed.names else None

    def _fill(
        self, prepared: PerNode, nodes: Sequence[Node] | Mapping[int, Node], losses: Sequence[str] = ()
    ) -> list[str]:
        """The queries of the nodes, by their number."""
        numbered = nodes if isinstance(nodes, Mapping) else dict(enumerate(nodes))
        packed = self._packed()
        tested = list(numbered.values())
        others = _numbered(losses) | self._counts
        relations = [packed.relation] * len(tested) if losses else self._rollups().relations(tested)
        texts = []
        for (number, node), relation in zip(numbered.items(), relations, strict=True):
            columns = packed.columns(node)
            texts.append(prepared(number, Masked(relation, columns | others), columns))
        return texts

    @property
    def _counts(self) -> dict[str, Bits]:
        """The columns that models need where nodes are tested."""
        return queries.unmasked(["n", *self.frequency_set.counted])

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
        return queries.per_node(query, self.frequency_set.engine.dialect, safe=self._safe(least), **holes)

    def _safe(self, least: LeastSize | None) -> Predicate:
        """The condition of a class that meets the model, and has at least a minimum size."""
        return self._is_safe or self.model.at_least(least or LeastSize()).safe

    def _prepared_test(self) -> PerNode:
        """The query that tests a node; if only the people of a class decide, one that counts few classes exactly."""
        counted, k = self.frequency_set, self.model.k
        # That query joins classes by their keys; unpacked codes could be NULL, which no join finds.
        is_able = counted.engine.is_embedded and counted.population is None and all(self._packed().fields)
        if is_able and self.model.people_alone and k <= _MOST_BITS:
            return queries.per_node("node_tests/node_test_of_people", counted.engine.dialect, least=k)
        return self._prepared(self._test_name)

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

    def _query(self, query: str, texts: Sequence[str]) -> list[tuple[Any, ...]]:
        """Run the queries of several nodes as one statement; whole numbers, sorted by node."""
        self.queries += 1
        answers = self.frequency_set.tables.rows_as(queries.union_all(texts), query)
        whole = [tuple(None if value is None else int(value) for value in row) for row in answers]
        return sorted(whole)


def _names(stem: str, count: int) -> list[str]:
    """Names that no other column has."""
    return [f"_{stem}_{number}" for number in range(count)]


def _numbered(losses: Sequence[str]) -> dict[str, Bits]:
    """Columns of loss, by their names in a query with as many."""
    return {name: (column, None) for name, column in zip(_names("lost", len(losses)), losses, strict=True)}


def _several(attribute: Attribute, level: int, sums: dict[str, int], rows: int) -> int:
    """The number of rows whose label covers several leaves, as all labels at an attribute's top do."""
    if level in attribute.coded.loss_levels:
        return int(sums[attribute.coded.loss_column(level)])
    return rows if level == attribute.hierarchy.height and attribute.hierarchy.leaf_count > 1 else 0


def _starred_codes(hierarchy: Hierarchy) -> set[int]:
    return set(hierarchy.codes(0)[len(hierarchy.values) :]) if hierarchy.starred else set()


def _bits_of_levels(hierarchy: Hierarchy, counts: Mapping[int, int]) -> tuple[float, ...]:
    """As `Judge._level_bits`, from the rows of every value."""
    own = sum(n * log(n) for n in counts.values())
    bits = []
    for level in range(hierarchy.height + 1):
        above = Counter[int]()
        for code, label in dict(zip(hierarchy.codes(0), hierarchy.codes(level), strict=True)).items():
            above[label] += counts.get(code, 0)
        bits.append(max(0.0, sum(n * log(n) for n in above.values() if n) - own) / log(2))
    return tuple(bits)
