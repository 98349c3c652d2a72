"""The original Anatomy: exact quasi-identifiers, and sensitive values that are only released per group of rows.

Xiao and Tao 2006, "Anatomy: simple and effective privacy preservation" (VLDB), sections 3 to 5. Rows are dealt to
floor(n / l) groups in the order of their sensitive value. A value in at most that many rows occurs in no group twice:
the same guarantee as that of the paper's algorithm, which empties the l largest buckets in turn, under the same
condition, in one statement.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kanon_sql import queries
from kanon_sql.engine import Engine, Statement, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError, SourceError, VerificationError
from kanon_sql.release import anatomy, chance
from kanon_sql.release.findings import Summary, class_sizes
from kanon_sql.release.publish import Published, Staged, publish
from kanon_sql.spec import Spec
from kanon_sql.staging import Staging


@dataclass(frozen=True)
class Groups:
    """Rows dealt to `number` groups of l or more, all with different sensitive values."""

    engine: Engine
    spec: Spec
    l: int  # noqa: E741 (the field's own letter)
    number: int
    rows: int
    tables: anatomy.AnatomyTables
    dealt: Statement

    def release(self, staging: Staging) -> Published[Summary]:
        """Publish both tables; VerificationError if they are not l-diverse."""
        pieces = self.tables.pieces(self.engine.dialect, {"l": self.l})
        published = publish(self.engine, self.spec.target, lambda _: pieces, self._verify, staging)
        seconds = published.write_seconds + self.dealt.seconds
        return replace(published, statements=(self.dealt, *published.statements), write_seconds=seconds)

    def _verify(self, engine: Engine, staged: Staged) -> Summary:
        """Check the written tables: no value has more than 1 / l of its group, and no row is missing."""
        self.tables.verify(engine, staged)
        figures = engine.rows(
            queries.text("anatomy/diversity", engine.dialect, l=self.l, sensitive=staged["sensitive"])
        )
        ((rows, groups, smallest, fewest, unsafe_groups, unsafe_rows),) = figures
        if unsafe_groups or int(fewest) < self.l or (int(rows), int(groups)) != (self.rows, self.number):
            raise VerificationError(
                f"the written anatomy has {rows:,} rows in {groups:,} groups, {unsafe_groups:,} of them not "
                f"{self.l}-diverse, which is not what was planned; nothing was released; run again "
                "and report this if it persists"
            )
        return Summary(int(rows), int(groups), int(smallest), int(unsafe_groups), int(unsafe_rows))


def deal(scratch: Scratch, table: Table, spec: Spec, l: int) -> Groups:  # noqa: E741
    """Deal the rows of a table to groups; InfeasibleError if a value is in too many of them."""
    started, engine = time.monotonic(), scratch.engine
    plain = queries.plain_names([column.name for column in table.columns if column.name not in spec.identifiers])
    types = {column.name: column.open_type for column in table.columns}
    renamed, every = {own: name for name, own in plain.items()}, [column.name for column in table.columns]
    numbered = scratch.create_as("rows", queries.identified_rows(table.relation, renamed, every, engine.dialect, types))
    sensitive = [plain[name] for name in spec.sensitive]
    rows, groups = _count_groups(class_sizes(engine, numbered, sensitive), spec, l)
    key = chance.make_key(scratch, chance.secret_of(spec), f"anatomize {l}")
    columns = {"columns": list(plain.values()), "sensitive": sensitive}
    dealt = queries.text("anatomy/groups", engine.dialect, groups=groups, rows=numbered, key=key, **columns)
    grouped = scratch.create_as("grouped", dealt)
    scratch.drop(numbered, key)
    seconds = time.monotonic() - started
    statement = Statement("release", queries.sentence("anatomy/groups"), dealt, seconds, rows)
    both = anatomy.tables_of(grouped, plain, spec.sensitive)
    return Groups(engine, spec, l, groups, rows, both, statement)


def _count_groups(sizes: Sequence[tuple[int, int]], spec: Spec, l: int) -> tuple[int, int]:  # noqa: E741
    """The number of rows and of groups, if groups are possible (the paper's eligibility condition)."""
    rows = sum(size * values for size, values in sizes)
    if rows == 0:
        raise SourceError(f"{spec.source} has no rows; there is nothing to release")
    if sizes[-1][0] * l > rows:
        raise InfeasibleError(
            f"one value of {spec.sensitive[0]!r} is in {sizes[-1][0]:,} of {rows:,} rows, more than 1 / {l}: it "
            f"cannot be hidden among {l} different values; lower l"
        )
    return rows, rows // l
