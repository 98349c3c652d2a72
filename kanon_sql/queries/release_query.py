"""The attributes that all queries of a release have: its columns, and the condition on its classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kanon_sql.generalization.label_rules import Rule
from kanon_sql.privacy import Predicate
from kanon_sql.queries.inlined_tables import WrittenTable
from kanon_sql.relation import Relation


@dataclass(frozen=True)
class ReleaseColumn:
    """A column of the source in a release: kept unchanged (no mapping, no constant), or a quasi-identifier.

    `kind`: of its values. `plain`: whether equal values look the same. `open_type`: the type to release a value in
    whose own type would reveal others (ENUM).

    `mapping` has value, `code` and `label` (column names). `label` None keeps the original value (level 0);
    `constant` is the label of all cells, without a mapping. `null` is the code and label of NULL;
    `unmapped` the label of a masked row, and of a value that the mapping lacks or has under the code `starred`
    (None: NULL). `key`: the column of this column's codes in the classes or the assignment, empty if all are the
    same. `codes`: how many codes it has, for a view. `shown`: the columns of a local recoding's classes to release for
    it: released name and classes' column.
    """

    name: str
    kind: str = "other"
    plain: bool = False
    open_type: str | None = None
    mapping: Relation | None = None
    code: str = "code"
    label: str | None = None
    constant: str | None = None
    null: tuple[int, str | None] | None = None
    unmapped: str | None = None
    starred: int | None = None
    key: str = ""
    codes: int = 1
    shown: tuple[tuple[str, str], ...] = ()

    @property
    def recoded(self) -> bool:
        """Whether this is a quasi-identifier."""
        return self.mapping is not None or self.constant is not None

    @property
    def sortable(self) -> bool:
        """Whether its cells can be sorted."""
        return self.recoded or self.kind != "other"

    @property
    def null_label(self) -> str | None:
        """The label of NULL."""
        return self.null[1] if self.null else self.unmapped


@dataclass(frozen=True)
class StatementColumn(ReleaseColumn):
    """A column of a standalone statement: its labels are computed by a `rule`, or looked up in a `written` table.

    `exact`: see `ruled`. `zone`: the time zone of the rule's days and hours, for timestamps with time zone.
    `written`: value and label of every value but NULL, or only the values if they are their own labels.
    """

    rule: Rule | None = None
    exact: int | None = None
    zone: str | None = None
    written: WrittenTable | None = None

    @property
    def recoded(self) -> bool:
        """Whether this is a quasi-identifier."""
        return self.constant is not None or self.rule is not None or self.written is not None

    @property
    def apart(self) -> bool:
        """Whether values that `written` lacks are counted separately from NULL, though both are shown as NULL."""
        return bool(self.written and self.starred is not None and self.null) and self.unmapped is None


@dataclass(frozen=True, kw_only=True)
class ReleaseQuery:
    """The attributes that all queries of a release have.

    `safe`: the condition on a class, if the query counts its classes itself, among the rows that it returns;
    `sensitive`: the source's columns whose values `safe` counts, by their names in `safe`. `population`: the table
    that the source is a sample of, if `safe` also counts its rows, or the people identified by its column
    `population_unit`. `shuffle_seed`: of the hash that rows are sorted by. `read_files`: the query that reads the
    statement's source if that is files. `limit`: how many rows a statement may leave out; it fails if there are more,
    or no rows at all. `least_people`: how many people a class needs, for a
    view in DuckDB whose `safe` requires nothing else, and whose people are the same only if they look the same.
    """

    source: Relation
    columns: tuple[ReleaseColumn, ...]
    safe: Predicate
    sensitive: Mapping[str, str] = field(default_factory=dict)
    population: Relation | None = None
    population_unit: str | None = None
    shuffle_seed: int | None = None
    read_files: str | None = None
    limit: float | str | None = None
    least_people: int | None = None
