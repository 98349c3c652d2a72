"""Labels of PostgreSQL Anonymizer, by which the owner of a table declares roles of its columns.

Its provider `k_anonymity` (`anon` before version 1.2) has indirect identifiers, which are quasi-identifiers; `anon`
has the masked columns, which a release drops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from kanon_sql.engine import Engine, Table
from kanon_sql.hints import IDENTIFIER, QUASI_IDENTIFIER
from kanon_sql.spec import ReleaseSpec

_TREATMENTS = {
    IDENTIFIER: "it is dropped",
    QUASI_IDENTIFIER: "it is generalized",
    "released": "it is released ungeneralized",
}


@dataclass(frozen=True)
class Labelled:
    """A column with a role by its labels: `identifier` or `quasi-identifier`; `both`: its labels declare both."""

    column: str
    role: str
    both: bool = False

    @property
    def in_words(self) -> str:
        """The label, as the end of "the column is labelled …"."""
        if self.both:
            return "as masked and as an indirect identifier"
        return "as masked" if self.role == IDENTIFIER else "as an indirect identifier"


def labelled(engine: Engine, table: Table) -> tuple[Labelled, ...]:
    """The columns of a table with a role by labels, in its order; none if the engine has no labels."""
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
    """The role of a column by its label, None without a role.

    >>> role_of("k_anonymity", "Quasi Identifier"), role_of("anon", "MASKED WITH VALUE NULL")
    ('quasi-identifier', 'identifier')
    >>> role_of("anon", "NOT MASKED")
    """
    words = label.upper().split()
    if words in (["INDIRECT", "IDENTIFIER"], ["QUASI", "IDENTIFIER"]):
        return QUASI_IDENTIFIER
    return IDENTIFIER if provider == "anon" and words[:2] == ["MASKED", "WITH"] else None


def contradictions(labels: Sequence[Labelled], spec: ReleaseSpec, kept: Sequence[str]) -> Iterator[str]:
    """Contradictions between labels and the spec, or among labels; the spec wins."""
    for label in labels:
        role = _role(label.column, spec, kept)
        if role not in (None, label.role) or (label.both and role):
            yield f"the column {label.column!r} is labelled {label.in_words}, and {_TREATMENTS[role]}"


def _role(column: str, spec: ReleaseSpec, kept: Sequence[str]) -> str | None:
    """The treatment of a column by the spec; None if it is dropped by default."""
    if column in spec.dropped:
        return IDENTIFIER
    if column in chain(*spec.coarsened.values()):
        return QUASI_IDENTIFIER
    return "released" if column in {*kept, *spec.named} else None
