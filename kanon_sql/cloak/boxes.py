"""The result of a method of cloaking: the distinct boxes, and the box of every row."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.engines.scratch import Scratch
from kanon_sql.queries import Relation


@dataclass(frozen=True)
class Boxes:
    """Rows and their boxes.

    `rows`: row, box (a number), for the rows that are released. `boxes`: box, x_min, x_max, y_min, y_max, t_min, t_max.
    """

    rows: Relation
    boxes: Relation


def numbered(tables: Scratch, given: Relation) -> Boxes:
    """The boxes of a relation that has the whole box in every row, and is dropped."""
    boxes = tables.create("boxes", "cloak_release/different", given=given)
    rows = tables.create("boxed", "cloak_release/in_boxes", given=given, boxes=boxes)
    tables.drop(given)
    return Boxes(rows, boxes)
