"""Labels of PostgreSQL Anonymizer: what the owner of a table has said of its columns, read as roles.

Its provider `k_anonymity` (`anon` before version 1.2) has indirect identifiers, which are quasi-identifiers; `anon`
has the columns that are masked, which a release drops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from kanon_sql.engine import Engine, Table
from kanon_sql.hints import IDENTIFIER, QUASI_IDENTIFIER
from kanon_sql.spec import ReleaseSpec

_BECOMES = {
    IDENTIFIER: "it is dropped",
    QUASI_IDENTIFIER: "it is generalized",
    "released": "it is released ungeneralized",
}


@dataclass(frozen=True)
class Labelled:
    """A column whose labels give it a role: `identifier` or `quasi-identifier`; `both`: they give it the two."""

    column: str
    role: str
    both: bool = False

    @property
    def said(self) -> str:
        """What the labels say, as the end of "the column is labelled …"."""
        if self.both:
            return "as masked and as an indirect identifier"
        return "as masked" if self.role == IDENTIFIER else "as an indirect identifier"


def labelled(engine: Engine, table: Table) -> tuple[Labelled, ...]:
    """The columns of a table to which labels give a role, in its order; none where an engine has no labels."""
    read = getattr(engine, "labels", None)
    roles: dict[str, set[str]] = {}
    for column, provider, label in read(table.relation) if read else ():
        if role := role_of(provider, label):
            roles.setdefault(column, set()).add(role)
    return tuple(
        Labelled(c.name, QUASI_IDENTIFIER if QUASI_IDENTIFIER in roles[c.name] else IDENTIFIER, len(roles[c.name]) == 2)
        for c in table.columns
        if c.name in roles
    )


def role_of(provider: str, label: str) -> str | None:
    """The role that a label gives a column, None if it gives none.

    >>> role_of("k_anonymity", "Quasi Identifier"), role_of("anon", "MASKED WITH VALUE NULL")
    ('quasi-identifier', 'identifier')
    >>> role_of("anon", "NOT MASKED")
    """
    words = label.upper().split()
    if words in (["INDIRECT", "IDENTIFIER"], ["QUASI", "IDENTIFIER"]):
        return QUASI_IDENTIFIER
    return IDENTIFIER if provider == "anon" and words[:2] == ["MASKED", "WITH"] else None


def contradictions(labels: Sequence[Labelled], spec: ReleaseSpec, kept: Sequence[str]) -> Iterator[str]:
    """Where labels say something else than the spec, or two things; the spec wins."""
    for label in labels:
        role = _role(label.column, spec, kept)
        if role not in (None, label.role) or (label.both and role):
            yield f"the column {label.column!r} is labelled {label.said}, and {_BECOMES[role]}"


def _role(column: str, spec: ReleaseSpec, kept: Sequence[str]) -> str | None:
    """What becomes of a column; None if it is dropped unasked."""
    if column in spec.dropped:
        return IDENTIFIER
    if column in chain(*spec.coarsened.values()):
        return QUASI_IDENTIFIER
    return "released" if column in {*kept, *spec.named} else None
