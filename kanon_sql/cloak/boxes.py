"""What a method of cloaking gives: the boxes, each once, and which of them every row is in."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.engines.scratch import Scratch
from kanon_sql.queries import Relation


@dataclass(frozen=True)
class Boxes:
    """Rows and the boxes that they are in.

    `rows`: row, box (a number), for the rows that are released. `boxes`: box, x_min, x_max, y_min, y_max, t_min, t_max.
    """

    rows: Relation
    boxes: Relation


def numbered(tables: Scratch, given: Relation) -> Boxes:
    """The boxes of rows that are each given with all of its box; that relation is dropped."""
    boxes = tables.create("boxes", "cloak_release/different", given=given)
    rows = tables.create("boxed", "cloak_release/in_boxes", given=given, boxes=boxes)
    tables.drop(given)
    return Boxes(rows, boxes)
