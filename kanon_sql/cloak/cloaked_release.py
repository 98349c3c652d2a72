"""The cloaked release: verified with its units, written without them, and compared after writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.cloak.boxes import Boxes
from kanon_sql.cloak.points import Cloaking, box_columns, kept_columns
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.looks import looks_plain
from kanon_sql.errors import InfeasibleError, VerificationError
from kanon_sql.queries import Hole, Relation
from kanon_sql.spec import may_suppress

BOX = ("x_min", "x_max", "y_min", "y_max", "since", "until")


@dataclass(frozen=True)
class CloakSummary:
    """The result of an independent query on the rows to be released; see `sql/cloak_release.sql`."""

    rows: int
    classes: int
    smallest: int
    unsafe_classes: int
    unsafe_rows: int
    outside: int
    beyond: int
    relative_anonymity: float
    mean_area: float
    mean_length: float
    relative_space: float | None
    relative_time: float | None


def place(cloaking: Cloaking, boxes: Boxes, table: Table) -> None:
    """Number the boxes in the order of the release, and assign the rows to these numbers.

    Rows are sorted by this number rather than by six columns: `released` has the number, and `shown` the box.
    """
    tables = cloaking.tables
    shown = [ours for ours in released_columns(cloaking, table).values() if ours in BOX]
    as_released = tables.create_as(
        "as_released", queries.cloak_boxes(boxes.boxes, cloaking.time, tables.engine.dialect)
    )
    places = tables.create("places", "cloak_release/places", boxes=as_released, shown=shown)
    columns = [*cloaking.kept, "own_k", "dx", "dy", "dt"]
    tables.create("shown", "cloak_release/shown", places=places)
    tables.create(
        "released", "cloak_release/released", points=cloaking.points, boxed=boxes.rows, places=places, columns=columns
    )
    tables.drop(cloaking.points, boxes.rows, boxes.boxes, as_released, places)


def judge(cloaking: Cloaking, inside: int | None) -> CloakSummary:
    """Verify the rows with their boxes and units; VerificationError if the guarantee is violated.

    `inside`: the fewest units seen inside a released box, for the published form, which guarantees no more.
    """
    tables = cloaking.tables
    released, shown = tables["released"], tables["shown"]
    classes = tables.create("classes", "cloak_release/classes", released=released, shown=shown)
    ((*figures,),) = tables.rows("cloak_release/summary", classes=classes)
    summary = CloakSummary(*(int(value) for value in figures[:7]), *figures[7:])
    problems = {
        f"{summary.outside:,} rows outside their boxes": summary.outside,
        f"{summary.beyond:,} boxes beyond their rows' tolerances": summary.beyond,
    }
    if inside is None:
        unsafe = f"{summary.unsafe_rows:,} rows in {summary.unsafe_classes:,} boxes that too few units share"
        problems[unsafe] = summary.unsafe_classes
    else:
        problems[f"a box in which there were only {inside:,} units"] = int(inside < cloaking.model.k)
    wrong = next((problem for problem, count in problems.items() if count), None)
    if wrong:
        raise VerificationError(f"the release would have {wrong}; nothing was released; report this")
    return summary


def refuse_if_suppressed(cloaking: Cloaking, boxes: Boxes) -> None:
    """InfeasibleError for an empty release, or if more rows are suppressed than the spec allows."""
    spec = cloaking.spec
    rows = cloaking.extent.rows
    released = cloaking.tables.count(boxes.rows)
    if released == 0:
        looser = "raise dx, dy or dt" if spec.cloak.tolerant else "choose larger cells or a longer interval"
        raise InfeasibleError(f"no row could be cloaked with {cloaking.model.k:,} units; lower k, or {looser}")
    if "suppression_limit" in spec.model_fields_set and rows - released > may_suppress(spec.suppression_limit, rows):
        raise InfeasibleError(
            f"{rows - released:,} of {rows:,} rows could not be cloaked, more than suppression_limit "
            f"{spec.suppression_limit} allows; raise it, or lower k"
        )


def release_sql(cloaking: Cloaking, table: Table) -> str:
    """The query of the released rows."""
    columns = released_columns(cloaking, table)
    spec = cloaking.spec
    dialect = cloaking.engine.dialect
    tables = cloaking.tables
    holes: dict[str, Hole] = {"released": tables["released"], "shown": tables["shown"], "columns": columns}
    if spec.shuffle:
        return queries.text("cloak_release/shuffled", dialect, **holes, seed=str(spec.seed))
    kept = [ours for ours in columns.values() if ours not in BOX]
    rows = tables.engine.table(tables["released"])
    unlike = [c.name for c in rows.columns if c.name in kept and not looks_plain(tables.engine, rows, c)]
    return queries.text("cloak_release/release", dialect, **holes, kept=kept, unlike=unlike)


def released_columns(cloaking: Cloaking, table: Table) -> dict[str, str]:
    """The columns of the release in the source's order, by our names: a box instead of a place."""
    spec = cloaking.spec
    boxes = box_columns(cloaking.spec)
    first, second = spec.location
    instead = {first: (f"{first}_min", f"{first}_max"), second: (f"{second}_min", f"{second}_max")}
    instead[spec.time] = (f"{spec.time}_from", f"{spec.time}_to")
    kept = {name: ours for ours, name in cloaking.kept.items()}
    columns: dict[str, str] = {}
    for column in table.columns:
        if column.name in instead:
            columns |= {name: boxes[name] for name in instead[column.name]}
        elif column.name in kept:
            columns[column.name] = kept[column.name]
    return columns


def compare(cloaking: Cloaking, table: Table, engine: Engine, relation: Relation) -> None:
    """Verify the written release independently: its columns, and the number of rows of every box."""
    columns = released_columns(cloaking, table)
    if [column.name for column in engine.table(relation).columns] != list(columns):
        raise VerificationError(
            "the written release does not have the planned columns; nothing was released; run again "
            "and report this if it persists"
        )
    names = {ours: name for name, ours in box_columns(cloaking.spec).items()}
    query = queries.text(
        "frequency_sets/tuples", engine.dialect, columns={ours: names[ours] for ours in BOX}, source=relation
    )
    tables = cloaking.tables
    as_written = tables.receive("written", engine, query)
    holes = {"planned": tables["classes"], "written": as_written}
    ((differences,),) = tables.rows("cloak_release/differences", columns=list(BOX), **holes)
    tables.drop(as_written)
    if differences:
        raise VerificationError(
            f"the written release has {differences:,} boxes more or less often than planned; nothing was released; run "
            "again and report this if it persists"
        )


def identifying(cloaking: Cloaking, rows: int, table: Table) -> Sequence[str]:
    """The released columns whose value belongs to a single unit in more than half of the rows."""
    named = {ours: name for ours, name in cloaking.kept.items() if name in kept_columns(table, cloaking.spec)}
    columns = []
    for ours, name in named.items():
        ((alone,),) = cloaking.tables.rows(
            "cloak_release/identifying", column=[ours], released=cloaking.tables["released"]
        )
        if alone > rows / 2:
            columns.append(name)
    return columns
