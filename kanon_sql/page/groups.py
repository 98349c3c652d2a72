"""Groups by hand: chips are moved between boxes, and a chip outside all boxes is a group of one.

Groups are frozen dataclasses; every move returns new ones. Their recipe lists every chip, so that it is a valid
hierarchy at any moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kanon_sql.errors import SpecError
from kanon_sql.generalization.hierarchy import STAR
from kanon_sql.generalization.values import as_text, read

MOST_BY_HAND, MOST_LEVELS = 500, 8
A_STAR = "a star"  # the label of the value `*`, since no label below the top may be `*`
GroupBoxes: TypeAlias = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Chip:
    """A value or label that can be moved: its text (empty for NULL) and its rows."""

    text: str
    rows: int


@dataclass(frozen=True)
class ByHand:
    """Groups in progress. `rows`: per value, by its text; `levels`: label -> members, for every level.

    >>> groups = ByHand({"9th": 5, "10th": 4, "Masters": 3}).moved(1, ["9th", "10th"], "School")
    >>> groups.recipe()
    {'groups': [{'School': ['9th', '10th'], 'Masters': ['Masters']}]}
    """

    rows: Mapping[str, int]
    levels: tuple[GroupBoxes, ...] = ({},)

    def chips(self, level: int) -> list[Chip]:
        """The chips on a level, counted from 1: values, or the labels of the level below."""
        if level == 1:
            return [Chip(text, rows) for text, rows in self.rows.items()]
        below = {chip.text: chip.rows for chip in self.chips(level - 1)}
        boxes = self.levels[level - 2]
        inside = {label: [text for text in texts if text in below] for label, texts in boxes.items()}
        grouped = {label: sum(below[text] for text in texts) for label, texts in inside.items() if texts}
        alone = {text: below[text] for text in self.free(level - 1) if text}
        return [Chip(text, rows) for text, rows in {**grouped, **alone}.items()]

    def free(self, level: int) -> list[str]:
        """The chips of a level that are in no group."""
        inside = {text for texts in self.levels[level - 1].values() for text in texts}
        return [chip.text for chip in self.chips(level) if chip.text not in inside]

    def recipe(self) -> dict[str, Any]:
        """The recipe in a spec; a chip in no group becomes a group of one, except NULL."""
        return {"groups": [self._complete(level) for level in range(1, len(self.levels) + 1)]}

    def _complete(self, level: int) -> dict[str, list[str]]:
        present = {chip.text for chip in self.chips(level)}
        boxes = {label: [text for text in texts if text in present] for label, texts in self.levels[level - 1].items()}
        groups = {label: texts for label, texts in boxes.items() if texts}
        for text in filter(None, self.free(level)):
            if text in groups or text == STAR:
                raise SpecError(
                    f"{text!r} cannot be a group of one, since {'the top' if text == STAR else 'a group'} has that "
                    "name; move it into a group first"
                )
            groups[text] = [text]
        if not groups:
            raise SpecError("NULL alone cannot be generalized; choose another recipe")
        return groups

    def moved(self, level: int, chosen: Iterable[str], to: str) -> ByHand:
        """Move chips into the group with a label, which is created if needed; '' takes them out of all groups."""
        present = {chip.text for chip in self.chips(level)}
        moving = [text for text in dict.fromkeys(chosen) if text in present]
        boxes = {label: tuple(t for t in texts if t not in moving) for label, texts in self.levels[level - 1].items()}
        if to:
            boxes[to] = (*boxes.get(to, ()), *moving)
        return self._with(level, boxes)

    def added(self, level: int, label: str, chosen: Iterable[str]) -> ByHand:
        """Add a group of the chosen chips, if any."""
        return self.moved(level, chosen, self._new(level, label))

    def renamed(self, level: int, old: str, new: str) -> ByHand:
        """Rename a group, also where the levels above refer to it."""
        if new == old:
            return self
        label = self._new(level, new)
        boxes = {label if name == old else name: texts for name, texts in self.levels[level - 1].items()}
        renamed = self._with(level, boxes)
        if level == len(self.levels):
            return renamed
        above = {
            name: tuple(label if text == old else text for text in texts) for name, texts in self.levels[level].items()
        }
        return renamed._with(level + 1, above)

    def dropped(self, level: int, label: str) -> ByHand:
        """Delete a group; its chips are then in no group."""
        return self._with(level, {name: texts for name, texts in self.levels[level - 1].items() if name != label})

    def taller(self) -> ByHand:
        """Add a level on top, without groups."""
        if len(self.levels) >= MOST_LEVELS:
            raise SpecError(f"groups by hand have at most {MOST_LEVELS} levels; upload a file")
        return replace(self, levels=(*self.levels, {}))

    def lower(self) -> ByHand:
        """Remove the highest level."""
        return replace(self, levels=self.levels[:-1] or ({},))

    def _new(self, level: int, label: str) -> str:
        label = " ".join(label.split())
        if not label:
            raise SpecError("the group needs a label; write one")
        if label == STAR:
            raise SpecError("`*` is the label of the top; choose another label for this group")
        if label in self.levels[level - 1]:
            raise SpecError(f"there is a group {label!r} on level {level}; choose another label for this one")
        return label

    def _with(self, level: int, boxes: GroupBoxes) -> ByHand:
        return replace(self, levels=(*self.levels[: level - 1], boxes, *self.levels[level:]))


def by_hand(recipe: Any, counts: Mapping[Any, int], kind: str) -> ByHand:
    """The boxes of a recipe of groups on the values of a column, without groups that only contain their own label.

    Members that do not occur in the column are included, with no rows. SpecError for too many values or empty text.
    """
    if "" in counts:
        raise SpecError(
            "the column has the empty text, which groups cannot distinguish from NULL; choose another recipe"
        )
    rows = {"" if value is None else as_text(value): n for value, n in counts.items()}
    first, *others = _levels(recipe) or [{}]
    if not first and STAR in rows:
        first = {A_STAR: [STAR]}
    first = {label: [_value_text(text, kind) for text in texts] for label, texts in first.items()}
    rows.update((text, 0) for texts in first.values() for text in texts if text not in rows)
    if len(rows) > MOST_BY_HAND:
        raise SpecError(
            f"{len(rows):,} values are too many to move by hand, {MOST_BY_HAND} at most; choose a recipe that computes "
            "labels, or upload a file"
        )
    boxes = tuple(
        {label: tuple(texts) for label, texts in level.items() if list(texts) != [label]} for level in (first, *others)
    )
    return ByHand(rows, boxes)


def _levels(recipe: Any) -> list[Mapping[str, Sequence[str]]]:
    groups = recipe.get("groups", ()) if isinstance(recipe, Mapping) else ()
    levels = [groups] if isinstance(groups, Mapping) else groups
    return [
        {str(label): ["" if m is None else str(m) for m in texts] for label, texts in level.items()} for level in levels
    ]


def _value_text(text: str, kind: str) -> str:
    """The text of the column's value that a member denotes: `1` for `1.0` in a column of numbers."""
    try:
        return as_text(read(text, kind)) if text else text
    except ValueError:
        return text
