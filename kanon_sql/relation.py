"""The name of a table or view."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Relation:
    """A table or view by the parts of its name, unquoted: `Relation("main", "patients")`."""

    parts: tuple[str, ...]

    def __init__(self, *parts: str) -> None:
        object.__setattr__(self, "parts", parts)

    @property
    def name(self) -> str:
        """The last part: the table's own name."""
        return self.parts[-1]

    def sibling(self, name: str) -> Relation:
        """The relation called `name` in the same schema."""
        return Relation(*self.parts[:-1], name)
