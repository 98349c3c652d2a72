"""The labels that the classes of a local recoding show, and their cost: from an assignment to released labels.

- `ranges`: `[a, b]`, the smallest and largest value of the class, rounded outward (see `rounding`); for attributes in
  numeric order.
- `common`: the lowest common ancestor of the class's values in the hierarchy.
- `labels`: the lowest hierarchy node over the region that the class was cut to (Mondrian); otherwise as `common`.
- `bounds`: as `ranges`, but in two typed columns instead of one, `age_min` and `age_max`.
- `exact-ranges`, `exact-bounds`: not rounded, so that they are values of people in the class.
- `mean`, `median`, `mode`: microaggregation (J. Domingo-Ferrer, J. Mateo-Sanz, TKDE 14(1), 2002): one typed value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.queries import DisplayForm, Hole, Relation
from kanon_sql.recode import order as orders
from kanon_sql.recode import rounding
from kanon_sql.recode.order import Order
from kanon_sql.recode.task import Local, Spans
from kanon_sql.spec import Spec

_EXACT = "exact-"
_ATTRIBUTES = 48  # in one statement of labels; the time to plan it grows faster than their number
_FEW = 24  # attributes with separate statements; a wide table takes longer to plan than to read
STATISTICS = ("mean", "median", "mode")
NUMBERS = ("integer", "decimal", "float")


@dataclass(frozen=True)
class LocalFigures:
    """The figures of a local recoding; `losses` per attribute as in `loss`, suppressed rows counting 1.

    `levels[j][l]`: the released rows whose cell of attribute j needs level l of its hierarchy to cover it.
    `kept[j]`: the released rows whose cell is unchanged, including NULL.
    """

    rows: int
    released_rows: int
    classes: int
    smallest_class: int | None
    squares: int
    losses: tuple[float, ...]
    levels: tuple[tuple[int, ...], ...]
    kept: tuple[int, ...]


def check_show(spec: Spec, table: Table) -> None:
    """Refuse forms that a column cannot have, and names that would occur twice, before any work."""
    for name, attribute in spec.quasi_identifiers.items():
        column = table.column(name)
        if column and attribute.show and not _can_show(column, attribute.show):
            raise SpecError(
                f"{name!r} is of type {column.type}, which has no {attribute.show}; show common, mode or labels instead"
            )
    kept = [column.name for column in table.columns if column.name not in spec.dropped]
    names = [new for name in kept for new in shown_names(name, how_of(spec, table, name))]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise SpecError(f"the column {twice!r} exists already, so bounds cannot be shown; rename it, or show ranges")


def how_of(spec: Spec, table: Table, name: str, ranges: bool = False) -> str:
    """The form of a column's labels; empty for a column that is not a quasi-identifier.

    `ranges`: ordered columns are shown as ranges by default.
    """
    attribute, column = spec.quasi_identifiers.get(name), table.column(name)
    if attribute is None or column is None:
        return ""
    wanted = attribute.show or spec.show
    if wanted and _can_show(column, wanted):
        return wanted
    return "ranges" if ranges and column.ordered else "common"


def shown_names(name: str, how: str) -> tuple[str, ...]:
    """The released columns of a column: two if its bounds are shown."""
    return (f"{name}_min", f"{name}_max") if form_of(how) == "bounds" else (name,)


def form_of(how: str) -> str:
    """The form without rounding: ranges, bounds, ….

    >>> form_of("exact-bounds")
    'bounds'
    """
    return how.removeprefix(_EXACT)


def load_orders(tables: Scratch, frequency_set: FrequencySet, hows: Sequence[str]) -> tuple[Order, ...]:
    """The orders of all attributes for the forms of their labels, loaded as scratch tables."""
    pairs = zip(frequency_set.attributes, hows, strict=True)
    return tuple(orders.load(tables, orders.order_of(attribute, how)) for attribute, how in pairs)


def spans(attribute: Attribute, how: str, recipe: object) -> Spans | None:
    """How far the values of an attribute reach in a class that shows several; None if it shows a node.

    For every code, the first and last position shown by a class that starts or ends there; None for a value that does
    not form ranges with others, so that `*` is shown.
    """
    order = orders.order_of(attribute, how)
    places = range(len(order.rows))
    codes = [attribute.hierarchy.codes(0)[row] for row in order.rows]
    if how in orders.NODES:
        return None if order.nested else dict.fromkeys(codes)
    if how in STATISTICS:
        return {code: None if order.values[i] is None else (i, i) for i, code in zip(places, codes, strict=True)}
    limits = _limits(order, how, recipe)
    ends = zip(limits.lower, limits.first, limits.last, strict=True)
    return {code: None if low is None else (i, j) for code, (low, i, j) in zip(codes, ends, strict=True)}


def _limits(order: Order, how: str, recipe: object) -> rounding.Bounds:
    return rounding.exact(order) if how.startswith(_EXACT) else rounding.rounded(order, recipe)


def make_classes(
    results: Scratch,
    local: Local,
    ordered: Sequence[Order],
    hows: Sequence[str],
    spec: Spec,
    stem: str = "local_classes",
) -> Relation:
    """Create the relation of released classes: class, n, and per attribute label_j (high_j), leaves_j, level_j.

    `spec`: with the recipes of hierarchies, to whose boundaries ranges and bounds are rounded.
    """
    keys, dialect = [order.attribute.coded.code_column(0) for order in ordered], results.engine.dialect
    recipes = [spec.quasi_identifiers[order.attribute.column.name].hierarchy for order in ordered]
    with Scratch(results.engine, "show") as tables:
        boxes = tables.create_as("boxes", queries.boxes(local.assignment, keys, [o.relation for o in ordered], dialect))
        shown = [_shown(tables, local, j, *parts) for j, parts in enumerate(zip(ordered, hows, recipes, strict=True))]
        numbered = list(enumerate(shown))
        parts = [dict(numbered[at : at + _ATTRIBUTES]) for at in range(0, len(numbered), _ATTRIBUTES)]
        labelled = [queries.local_classes(boxes, local.cuts, part, dialect) for part in parts]
        if len(labelled) == 1:
            return results.create_as(stem, labelled[0])
        relations = [tables.create_as(f"classes_{place}", query) for place, query in enumerate(labelled)]
        columns = [[c.name for c in tables.engine.table(relation).columns[2:]] for relation in relations]
        return results.create_as(stem, queries.joined_classes(dict(zip(relations, columns, strict=True)), dialect))


def figures(
    engine: Engine, local: Local, classes: Relation, ordered: Sequence[Order], hows: Sequence[str], rows: int
) -> LocalFigures:
    """Add up the costs of classes with labels; classes with equal labels are one."""
    attributes, cells = [order.attribute for order in ordered], range(len(ordered))
    shown = [(f"label_{j}", f"high_{j}")[: len(shown_names("", how))] for j, how in enumerate(hows)]
    labels, leaves = [label for of in shown for label in of], [f"leaves_{j}" for j in cells]
    with Scratch(engine, "figures") as tables:
        (totals,) = tables.rows("local_release/local_figures", classes=classes, labels=labels, leaves=leaves)
        levels = _levels(tables, classes, attributes)
        kept = tuple(_kept(tables, local, classes, order, names) for order, names in zip(ordered, shown, strict=True))
    count, released, smallest, squares, *sums = totals
    suppressed = rows - int(released)
    losses = tuple(
        (_mean_loss(int(total), int(released), a.hierarchy.leaf_count) + suppressed) / rows
        for total, a in zip(sums, attributes, strict=True)
    )
    least = None if smallest is None else int(smallest)
    return LocalFigures(rows, int(released), int(count), least, int(squares), losses, levels, kept)


def precisions(of_attributes: Sequence[Sequence[int]]) -> tuple[float, ...]:
    """The mean level over the height, for every attribute, from the released rows on each level."""
    return tuple(_mean_over(levels, [x / (len(levels) - 1) for x in range(len(levels))]) for levels in of_attributes)


def distances(
    of_attributes: Sequence[Sequence[int]], released: int, rows: int, of_levels: Sequence[Sequence[float]]
) -> tuple[float, ...]:
    """The mean distance over all rows, for every attribute, from the distances of levels; suppressed rows count 1."""
    suppressed = (rows - released) / rows
    pairs = zip(of_attributes, of_levels, strict=True)
    return tuple(_mean_over(levels, of) * (1 - suppressed) + suppressed for levels, of in pairs)


def _mean_over(levels: Sequence[int], values: Sequence[float]) -> float:
    rows = sum(levels)
    return sum(n * value for n, value in zip(levels, values, strict=True)) / rows if rows else 0.0


def _mean_loss(leaves: int, rows: int, leaf_count: int) -> float:
    """The sum over rows of (M - 1) / (|A| - 1), from the sum of M."""
    return (leaves - rows) / (leaf_count - 1) if leaf_count > 1 else 0.0


def _levels(tables: Scratch, classes: Relation, attributes: Sequence[Attribute]) -> tuple[tuple[int, ...], ...]:
    """The released rows on every level of every attribute."""
    names = [f"level_{j}" for j, _ in enumerate(attributes)]
    if tables.engine.is_embedded and len(names) > _FEW:
        holes: dict[str, Hole] = {"attributes": len(names), "levels": names, "classes": classes}
        counted = tables.rows("local_release/levels_together", **holes)
    else:
        counted = [
            (j, *row)
            for j, name in enumerate(names)
            for row in tables.rows("local_release/local_levels", classes=classes, level=[name])
        ]
    rows = {(int(j), int(level)): int(n) for j, level, n in counted}
    return tuple(
        tuple(rows.get((j, level), 0) for level in range(a.hierarchy.height + 1)) for j, a in enumerate(attributes)
    )


def _kept(tables: Scratch, local: Local, classes: Relation, order: Order, labels: Sequence[str]) -> int:
    """The rows whose cell of an attribute is released unchanged; two labels are bounds."""
    holes = {"assignment": local.assignment, "positions": order.relation, "classes": classes}
    value, ends = [order.attribute.coded.code_column(0)], {"lower": labels[0], "upper": labels[-1]}
    ((rows,),) = tables.rows("local_release/local_kept", value=value, ends=ends, **holes)
    return int(rows)


def class_members(tables: Scratch, local: Local, order: Order) -> Relation:
    """The values of one attribute in every class, as a scratch table: class, position, n."""
    key = order.attribute.coded.code_column(0)
    query = queries.members(local.assignment, key, order.relation, tables.engine.dialect)
    return tables.create_as("members", query)


def _can_show(column: Column, how: str) -> bool:
    if how == "mean":
        return column.kind in NUMBERS
    return how in ("labels", "common", "mode") or column.ordered


def _shown(tables: Scratch, local: Local, j: int, order: Order, how: str, recipe: object) -> DisplayForm:
    attribute, statistic, bounds = order.attribute, None, None
    if how in STATISTICS:
        members = class_members(tables, local, order)
        statistic = tables.create(
            f"statistic_{j}", f"local_release/class_{how}", members=members, positions=order.relation
        )
        tables.drop(members)
    if form_of(how) in ("ranges", "bounds"):
        bounds = _limits(order, how, recipe).load(tables, f"bounds_{j}", attribute.column.type)
    return DisplayForm(
        form_of(how), order.relation, attribute.hierarchy.height, order.leaf_count, order.nested, statistic, bounds
    )
