"""Groups by hand, while somebody makes them: chips are moved between boxes, and what is in no box stands by itself.

A value that frozen dataclasses describe; every move gives another. The recipe that it is lists every chip, so that it
is a hierarchy at any moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from kanon_sql.errors import SpecError
from kanon_sql.generalization.hierarchy import STAR
from kanon_sql.generalization.values import as_text, read

MOST_BY_HAND, MOST_LEVELS = 500, 8
A_STAR = "a star"  # what the value `*` is called, which no label below the top may be
Boxes: TypeAlias = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Chip:
    """A value or a label that can be moved: its text, empty for NULL, and the rows below it."""

    text: str
    rows: int


@dataclass(frozen=True)
class ByHand:
    """Groups in the making. `rows`: those of each value by its text; `levels`: the members of each group, by label.

    >>> made = ByHand({"9th": 5, "10th": 4, "Masters": 3}).moved(1, ["9th", "10th"], "School")
    >>> made.recipe()
    {'groups': [{'School': ['9th', '10th'], 'Masters': ['Masters']}]}
    """

    rows: Mapping[str, int]
    levels: tuple[Boxes, ...] = ({},)

    def chips(self, level: int) -> list[Chip]:
        """What can be moved on a level, counted from 1: values, or what the level below has made of them."""
        if level == 1:
            return [Chip(text, rows) for text, rows in self.rows.items()]
        held = {chip.text: chip.rows for chip in self.chips(level - 1)}
        boxes = self.levels[level - 2]
        inside = {label: [text for text in texts if text in held] for label, texts in boxes.items()}
        made = {label: sum(held[text] for text in texts) for label, texts in inside.items() if texts}
        alone = {text: held[text] for text in self.free(level - 1) if text}
        return [Chip(text, rows) for text, rows in {**made, **alone}.items()]

    def free(self, level: int) -> list[str]:
        """What is in no group of a level."""
        inside = {text for texts in self.levels[level - 1].values() for text in texts}
        return [chip.text for chip in self.chips(level) if chip.text not in inside]

    def recipe(self) -> dict[str, Any]:
        """What the spec says of it; what stands by itself is a group of its own, but for NULL."""
        return {"groups": [self._complete(level) for level in range(1, len(self.levels) + 1)]}

    def _complete(self, level: int) -> dict[str, list[str]]:
        there = {chip.text for chip in self.chips(level)}
        boxes = {label: [text for text in texts if text in there] for label, texts in self.levels[level - 1].items()}
        made = {label: texts for label, texts in boxes.items() if texts}
        for text in filter(None, self.free(level)):
            if text in made or text == STAR:
                raise SpecError(
                    f"{text!r} cannot stand by itself, since {'the top' if text == STAR else 'a group'} has that name; "
                    "move it into a group first"
                )
            made[text] = [text]
        if not made:
            raise SpecError("NULL alone cannot be generalized; choose another recipe")
        return made

    def moved(self, level: int, chosen: Iterable[str], to: str) -> ByHand:
        """The chosen chips in the group of a label, made if there is none; '' lets them stand by themselves."""
        there = {chip.text for chip in self.chips(level)}
        moving = [text for text in dict.fromkeys(chosen) if text in there]
        boxes = {label: tuple(t for t in texts if t not in moving) for label, texts in self.levels[level - 1].items()}
        if to:
            boxes[to] = (*boxes.get(to, ()), *moving)
        return self._with(level, boxes)

    def made(self, level: int, label: str, chosen: Iterable[str]) -> ByHand:
        """With a new group of the chosen chips, if any."""
        return self.moved(level, chosen, self._new(level, label))

    def renamed(self, level: int, old: str, new: str) -> ByHand:
        """With another label of a group, in the groups above it too."""
        if new == old:
            return self
        label = self._new(level, new)
        boxes = {label if name == old else name: texts for name, texts in self.levels[level - 1].items()}
        return self._with(level, boxes)._called(level + 1, old, label)

    def dropped(self, level: int, label: str) -> ByHand:
        """Without a group: its chips stand by themselves."""
        return self._with(level, {name: texts for name, texts in self.levels[level - 1].items() if name != label})

    def taller(self) -> ByHand:
        """With a level more, on which every label of the last stands by itself."""
        if len(self.levels) >= MOST_LEVELS:
            raise SpecError(f"more than {MOST_LEVELS} levels are not made by hand; upload a file")
        return replace(self, levels=(*self.levels, {}))

    def lower(self) -> ByHand:
        """Without the last level."""
        return replace(self, levels=self.levels[:-1] or ({},))

    def _called(self, level: int, old: str, new: str) -> ByHand:
        """With a member of a level above renamed."""
        if level > len(self.levels):
            return self
        boxes = self.levels[level - 1]
        renamed = {label: tuple(new if text == old else text for text in texts) for label, texts in boxes.items()}
        return self._with(level, renamed)

    def _new(self, level: int, label: str) -> str:
        label = " ".join(label.split())
        if not label:
            raise SpecError("the group needs a label; write one")
        if label == STAR:
            raise SpecError("`*` is what stands above all groups; give this one another label")
        if label in self.levels[level - 1]:
            raise SpecError(f"there is a group {label!r} on level {level}; give this one another label")
        return label

    def _with(self, level: int, boxes: Boxes) -> ByHand:
        return replace(self, levels=(*self.levels[: level - 1], boxes, *self.levels[level:]))


def by_hand(recipe: Any, counts: Mapping[Any, int], kind: str) -> ByHand:
    """The boxes of a recipe of groups and the values of a column; what has its own name alone is in none.

    A member that the column does not hold is there too, with no rows. SpecError for too many values, or the empty text.
    """
    if "" in counts:
        raise SpecError("the column holds the empty text, which groups cannot tell from NULL; choose another recipe")
    rows = {"" if value is None else as_text(value): n for value, n in counts.items()}
    first, *others = _levels(recipe) or [{}]
    if not first and STAR in rows:
        first = {A_STAR: [STAR]}
    first = {label: [_as_the_data(text, kind) for text in texts] for label, texts in first.items()}
    rows.update((text, 0) for texts in first.values() for text in texts if text not in rows)
    if len(rows) > MOST_BY_HAND:
        raise SpecError(
            f"{len(rows):,} values are too many to move by hand, {MOST_BY_HAND} at most; choose a recipe that computes "
            "labels, or upload a file"
        )
    made = tuple(
        {label: tuple(texts) for label, texts in level.items() if list(texts) != [label]} for level in (first, *others)
    )
    return ByHand(rows, made)


def _levels(recipe: Any) -> list[Mapping[str, Sequence[str]]]:
    said = recipe.get("groups", ()) if isinstance(recipe, Mapping) else ()
    levels = [said] if isinstance(said, Mapping) else said
    return [
        {str(label): ["" if m is None else str(m) for m in texts] for label, texts in level.items()} for level in levels
    ]


def _as_the_data(text: str, kind: str) -> str:
    """The text that a value of the column has which the member is: `1` for `1.0` where these are numbers."""
    try:
        return as_text(read(text, kind)) if text else text
    except ValueError:
        return text
