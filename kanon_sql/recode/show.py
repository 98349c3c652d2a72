"""What the classes of a local recoding show, and what that costs: from an assignment to released labels.

- `ranges`: `[a, b]`, the smallest and the largest value of the class; for attributes that are in order by number.
- `common`: the lowest common ancestor of the class's values in the hierarchy.
- `labels`: the lowest hierarchy node over the region that the class was cut to (Mondrian); else as `common`.
- `bounds`: two typed columns instead of one, `age_min` and `age_max`.
- `mean`, `median`, `mode`: microaggregation (J. Domingo-Ferrer, J. Mateo-Sanz, TKDE 14(1), 2002): one typed value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.errors import SpecError
from kanon_sql.frequency import Attribute, FrequencySet
from kanon_sql.loss import Costs
from kanon_sql.queries import Relation, Shown
from kanon_sql.recode import order as orders
from kanon_sql.recode.order import Order
from kanon_sql.recode.task import CLASSES, Local
from kanon_sql.spec import Spec

BOXES = queries.scratch("kanon_boxes")
_STATISTICS = ("mean", "median", "mode")
_NUMBERS = ("integer", "decimal", "float")


@dataclass(frozen=True)
class LocalFigures:
    """What a local recoding costs; `losses` per attribute as in `loss`, suppressed rows counting 1.

    `levels[j][l]`: the released rows whose cell of attribute j needs level l of its hierarchy to cover it.
    """

    rows: int
    released_rows: int
    classes: int
    smallest_class: int | None
    squares: int
    losses: tuple[float, ...]
    levels: tuple[tuple[int, ...], ...]


def asked(spec: Spec) -> bool:
    """Whether the spec says what classes are to show."""
    return spec.show is not None or any(found.show for found in spec.quasi_identifiers.values())


def check_show(spec: Spec, table: Table) -> None:
    """Refuse what cannot be shown of a column, and names that would be there twice, before any work."""
    for name, attribute in spec.quasi_identifiers.items():
        column = table.column(name)
        if column and attribute.show and not _can_show(column, attribute.show):
            raise SpecError(
                f"{name!r} is of type {column.type}, which has no {attribute.show}; show common, mode or labels instead"
            )
    kept = [column.name for column in table.columns if column.name not in spec.identifiers]
    names = [new for name in kept for new in (bound_names(name) if how_of(spec, table, name) == "bounds" else (name,))]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise SpecError(f"there is a column {twice!r} already, so bounds cannot be shown; rename it, or show ranges")


def how_of(spec: Spec, table: Table, name: str, ranges: bool = False) -> str:
    """How a column's classes are shown; nothing for a column that is no quasi-identifier.

    `ranges`: what is in order is shown as ranges where nobody says otherwise.
    """
    attribute, column = spec.quasi_identifiers.get(name), table.column(name)
    if attribute is None or column is None:
        return ""
    wanted = attribute.show or spec.show
    if wanted and _can_show(column, wanted):
        return wanted
    return "ranges" if ranges and column.ordered else "common"


def bound_names(name: str) -> tuple[str, str]:
    """The two columns that show a column's bounds."""
    return f"{name}_min", f"{name}_max"


def load_orders(engine: Engine, frequency_set: FrequencySet) -> tuple[Order, ...]:
    """The orders of all attributes, loaded into the engine."""
    found = tuple(orders.order_of(attribute) for attribute in frequency_set.attributes)
    for order in found:
        orders.load(engine, order)
    return found


def make_classes(engine: Engine, local: Local, found: Sequence[Order], hows: Sequence[str]) -> None:
    """Make the relation of released classes: class, n, and per attribute label_j (high_j), leaves_j, level_j."""
    keys = [order.attribute.coded.code_column(0) for order in found]
    _make(engine, BOXES, queries.boxes(local.assignment, keys, [o.relation for o in found], engine.dialect))
    shown = [_shown(engine, local, j, order, how) for j, (order, how) in enumerate(zip(found, hows, strict=True))]
    _make(engine, CLASSES, queries.local_classes(BOXES, local.cuts, shown, engine.dialect))
    for each in shown:
        if each.statistic:
            engine.run(queries.drop(each.statistic, engine.dialect))
    engine.run(queries.drop(BOXES, engine.dialect))


def figures(
    engine: Engine, classes: Relation, labels: Sequence[str], attributes: Sequence[Attribute], rows: int
) -> LocalFigures:
    """Add up what the classes cost; classes that show the same are one."""
    leaves = [f"leaves_{j}" for j in range(len(attributes))]
    query = queries.text("local_figures", engine.dialect, classes=classes, labels=list(labels), leaves=leaves)
    ((count, released, smallest, squares, *sums),) = engine.rows(query)
    suppressed = rows - int(released)
    losses = tuple(
        (_mean_loss(int(total), int(released), a.hierarchy.leaf_count) + suppressed) / rows
        for total, a in zip(sums, attributes, strict=True)
    )
    levels = tuple(_levels(engine, classes, j, a.hierarchy.height) for j, a in enumerate(attributes))
    least = None if smallest is None else int(smallest)
    return LocalFigures(rows, int(released), int(count), least, int(squares), losses, levels)


def precisions(found: LocalFigures) -> tuple[float, ...]:
    """Each attribute's mean level over its height, over the released rows."""
    return tuple(_mean_over(levels, [x / (len(levels) - 1) for x in range(len(levels))]) for levels in found.levels)


def distortions(found: LocalFigures, costs: Costs) -> tuple[float, ...]:
    """Each attribute's mean weighted hierarchical distance over all rows, suppressed ones counting 1."""
    gone = (found.rows - found.released_rows) / found.rows
    pairs = zip(found.levels, costs.distances, strict=True)
    return tuple(_mean_over(levels, distances) * (1 - gone) + gone for levels, distances in pairs)


def modification_rates(found: LocalFigures) -> tuple[float, ...]:
    """Each attribute's share of cells that are not released as they were, suppressed ones among them (Li 2008)."""
    return tuple(1 - levels[0] / found.rows for levels in found.levels)


def _mean_over(levels: Sequence[int], values: Sequence[float]) -> float:
    rows = sum(levels)
    return sum(n * value for n, value in zip(levels, values, strict=True)) / rows if rows else 0.0


def _mean_loss(leaves: int, rows: int, leaf_count: int) -> float:
    """The sum over rows of (M - 1) / (|A| - 1), from the sum of M."""
    return (leaves - rows) / (leaf_count - 1) if leaf_count > 1 else 0.0


def _levels(engine: Engine, classes: Relation, j: int, height: int) -> tuple[int, ...]:
    query = queries.text("local_levels", engine.dialect, classes=classes, level=[f"level_{j}"])
    rows = {int(level): int(n) for level, n in engine.rows(query)}
    return tuple(rows.get(level, 0) for level in range(height + 1))


def _can_show(column: Column, how: str) -> bool:
    if how == "mean":
        return column.kind in _NUMBERS
    return how in ("labels", "common", "mode") or column.ordered


def _shown(engine: Engine, local: Local, j: int, order: Order, how: str) -> Shown:
    attribute, statistic = order.attribute, None
    if how in _STATISTICS:
        members, statistic = queries.scratch("kanon_members"), queries.scratch(f"kanon_statistic_{j}")
        key = attribute.coded.code_column(0)
        _make(engine, members, queries.members(local.assignment, key, order.relation, engine.dialect))
        query = queries.text(f"class_{how}", engine.dialect, members=members, positions=order.relation)
        _make(engine, statistic, query)
        engine.run(queries.drop(members, engine.dialect))
    return Shown(how, order.relation, attribute.hierarchy.height, order.leaf_count, order.nested, statistic)


def _make(engine: Engine, relation: Relation, query: str) -> None:
    engine.run(queries.drop(relation, engine.dialect))
    engine.run(queries.create_as(relation, query, engine.dialect, temporary=True))
