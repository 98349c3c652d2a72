"""What the rows of tables show at a node, as classes of people and items; and items that are left out for everyone.

The search creates temporary tables with these steps, and a live view has them as parts of its statement.

**Whole items.** Every combination belongs to one class. If an item is left out of a class for all of its people, with
the rows that refer to it, the people who share a combination without that item stay the same. So rare items are left
out first, then one item of every pair that is still rare, then one of every such triple, and no combination is rare
after that, without counting again. docs/decisions/0061-views-of-several-tables.md has the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.linked.links import Link
from kanon_sql.queries import NumberedPlaces, Relation, Same

Create = Callable[..., Relation]  # names the result of a query: stem, query, and its holes


@dataclass(frozen=True)
class NodeRows:
    """The rows of a table, and the columns with the codes of what they show at a node.

    `has_nulls`: whether a code can be NULL.
    """

    link: Link
    rows: Relation
    codes: Sequence[str]
    has_nulls: bool = True

    def same(self, codes: Sequence[str], other: str) -> Same:
        """Whether a row r shows the same as another."""
        return Same(codes, "r", other, self.has_nulls)


@dataclass(frozen=True)
class Shown:
    """The people of large enough classes, and the items of the other tables in their order.

    `with_parents`: of the tables that refer to others, their rows with the item that they refer to, by table number.
    """

    people: Relation
    items: list[Relation]
    with_parents: dict[int, Relation]


def shown_rows(create: Create, tables: Sequence[NodeRows], places: NumberedPlaces, k: int) -> Shown:
    """What the rows of tables show; the first table is that of the people."""
    main, *others = tables
    holes: dict[str, Any] = {"levels": main.codes, "same": main.same(main.codes, "classes")}
    people = create("people", "linked/people", rows=main.rows, k=k, **holes)
    items: list[Relation] = []
    with_parents: dict[int, Relation] = {}
    numbers = {table.link.name: table.link.number for table in tables}
    for table in others:
        link, rows, codes = table.link, table.rows, table.codes
        if link.parent:
            child = places.number_among("rows") if link.referenced else 0
            links = ["row_id", "unit_id", "parent_id"]
            holes = {"rows": rows, "parents": items[numbers[link.parent] - 1], "columns": [*links, *codes]}
            rows = create(f"parents_{link.number}", "linked/with_parent", child=child, **holes)
            with_parents[link.number] = rows
            codes = [*codes, "parent_item"]
        holes = {"rows": rows, "people": people, "levels": codes, "same": table.same(codes, "numbers")}
        numbered = {"tables": len(tables), "table": link.number}
        place = places.of_rows(referenced=link.referenced, depth=link.depth, **numbered)
        items.append(create(f"items_{link.number}", "linked/items", place=place, **holes, **numbered))
    return Shown(people, items, with_parents)


def every_event(create: Create, equal_rows: Sequence[Relation], copies: Relation, tables: int) -> Relation:
    """The rows of people in all tables but the first, up to m copies of equal ones."""
    relations = [
        create(f"events_{number}", "linked/events", equal_rows=rows, table=number, copies=copies, tables=tables)
        for number, rows in enumerate(equal_rows, start=1)
    ]
    every, *others = relations
    for number, more in enumerate(others, start=2):
        every = create(f"every_event_{number}", "linked/all_events", first=every, second=more)
    return every


def parents_of_items(create: Create, shown: Shown) -> Relation | None:
    """The items that others refer to: item, parent_item. None if no table refers to another."""
    found = [
        create(f"item_parents_{number}", "linked/parents_of_items", items=shown.items[number - 1], rows=rows)
        for number, rows in shown.with_parents.items()
    ]
    if not found:
        return None
    every, *others = found
    for number, more in enumerate(others, start=2):
        every = create(f"every_parent_{number}", "linked/all_parents", first=every, second=more)
    return every


def chosen_items(create: Create, size: int, rare: Relation, events: Relation) -> Relation:
    """One item of every rare combination of a size, to be left out of its class."""
    if size == 1:
        return rare
    if size == 2:
        frequencies = create("frequencies", "linked/frequencies_of_pairs", events=events, rare=rare)
        return create("chosen", "linked/items_of_pairs", rare=rare, frequencies=frequencies)
    frequencies = create("frequencies", "linked/frequencies", events=events)
    return create("chosen", "linked/items_of_triples", rare=rare, frequencies=frequencies)


def with_children(create: Create, chosen: Relation, parents: Relation | None, levels: int) -> Relation:
    """The items to leave out, and those of rows that refer to them, over so many levels."""
    if parents is None:
        return chosen
    for level in range(1, levels + 1):
        chosen = create(f"with_children_{level}", "linked/items_with_children", items=chosen, parents=parents)
    return chosen
