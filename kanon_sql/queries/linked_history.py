"""Queries of the histories of several tables: the rows of a release, what readers see, and two releases side by side.

A history has all rows of the kept releases, with labels and kept columns as released. `kanon_row`, `kanon_person` and
`kanon_parent` identify a row, its person, and the row that it refers to, by digests that readers never see.
`kanon_first` and `kanon_last` are the first and the last release with the row; the newest release has no last one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.places import ReleasedPlaces
from kanon_sql.relation import Relation

ROW, PERSON, PARENT = "kanon_row", "kanon_person", "kanon_parent"
LABELS, CONTENT = "kanon_labels", "kanon_content"
FIRST, LAST = "kanon_first", "kanon_last"
OWN_COLUMNS = (ROW, PERSON, PARENT, LABELS, CONTENT)
WAS, IS, CHANGED = "kanon_was", "kanon_is", "kanon_changed"


def described_rows(rows: Relation, labels: Sequence[str], others: Sequence[str], has_key: bool, dialect: str) -> str:
    """The query of rows with digests of their labels and of their other columns, and of the row if it has no key.

    Rows without a key are identified by their person, the row that they refer to, and all they show; equal ones by
    numbers, which all of them can have.
    """
    whole = _digest([t.column(name, "r") for name in (*labels, *others)])
    row: exp.Expr = exp.column(ROW, "r")
    if not has_key:
        owner = [exp.column(PERSON, "r"), exp.func("COALESCE", exp.column(PARENT, "r"), exp.Literal.string(""))]
        number = exp.Window(
            this=exp.RowNumber(),
            partition_by=[*(part.copy() for part in owner), whole.copy()],
            order=exp.Order(expressions=[exp.Ordered(this=exp.column(PERSON, "r"))]),
        )
        row = exp.func("MD5", _joined([*owner, whole, exp.cast(number, "VARCHAR")]))
    query = exp.select(
        exp.alias_(row, ROW),
        exp.alias_(exp.column(PERSON, "r"), PERSON),
        exp.alias_(exp.column(PARENT, "r"), PARENT),
        exp.alias_(_digest([t.column(name, "r") for name in labels]), LABELS),
        exp.alias_(_digest([t.column(name, "r") for name in others]), CONTENT),
        *(exp.alias_(t.column(name, "r"), name, quoted=True) for name in (*labels, *others)),
    )
    return t.printed(query.from_(t.table(rows, "r")), dialect)


def _digest(columns: Sequence[exp.Expr]) -> exp.Expr:
    """A digest of values, which differs if any of them differs; each is preceded by its length."""
    if not columns:
        return exp.Literal.string("")
    parts = []
    for column in columns:
        value = exp.cast(column, "VARCHAR")
        length = exp.cast(exp.func("LENGTH", value.copy()), "VARCHAR")
        parts.append(exp.func("COALESCE", _joined([length, value], ":"), exp.Literal.string("-")))
    return exp.func("MD5", _joined(parts))


def _joined(parts: Sequence[exp.Expr], separator: str = "/") -> exp.Expr:
    whole = parts[0].copy()
    for part in parts[1:]:
        whole = exp.DPipe(this=exp.DPipe(this=whole, expression=exp.Literal.string(separator)), expression=part.copy())
    return whole


def with_text_columns(rows: Relation, columns: Sequence[str], texts: Collection[str], dialect: str) -> str:
    """The query of rows with some of their columns as text."""
    outputs: list[exp.Expr] = []
    for name in columns:
        column = t.column(name, "r")
        outputs.append(exp.alias_(exp.cast(column, "VARCHAR") if name in texts else column, name, quoted=True))
    return t.printed(exp.select(*outputs).from_(t.table(rows, "r")), dialect)


def republished(
    history: Relation, keys: Mapping[str, str], columns: Sequence[str], secret: Relation, dialect: str
) -> str:
    """The query of the newest release of a history as readers see it: new keys, then columns, in a random order.

    `keys`: the released key columns, each with the digest that it replaces. `secret`: of this release only.
    """
    hidden = exp.column("secret", "hidden")
    outputs = [
        exp.alias_(
            exp.func("MD5", exp.DPipe(this=hidden.copy(), expression=exp.column(digest, "h"))), name, quoted=True
        )
        for name, digest in keys.items()
    ]
    outputs += [exp.alias_(t.column(name, "h"), name, quoted=True) for name in columns]
    drawn = exp.func("MD5", _joined([hidden, exp.column(ROW, "h")]))
    query = exp.select(*outputs).from_(t.table(history, "h")).join(t.table(secret, "hidden"), join_type="CROSS")
    return t.printed(query.where(t.is_null(exp.column(LAST, "h"))).order_by(drawn), dialect)


def side_by_side(
    history: Relation, labels: Sequence[str], sensitive: Mapping[int, str], earlier: int, newest: int, dialect: str
) -> str:
    """The query of all rows of two releases of a history, with what each shows in the one and in the other.

    Labels are text, under the names of `compared_labels`. A row is in both releases if its digest is. `sensitive`: the
    columns by place, whose values are text under the names of `compared_values`; NULL if the release lacks the row.
    """

    def where(release: int) -> exp.Expr:
        last = exp.column(LAST, "h")
        number = exp.Literal.number(release)
        since = exp.column(FIRST, "h") <= number.copy()
        return exp.and_(since, exp.or_(t.is_null(last), last.copy() >= number))

    def largest(release: int, value: exp.Expr) -> exp.Expr:
        return exp.Max(this=exp.Case().when(where(release), value))

    one = exp.Literal.number(1)
    outputs: list[exp.Expr] = [exp.alias_(exp.column(name, "h"), name) for name in (ROW, PERSON, PARENT)]
    for release, present, start in ((earlier, WAS, "before"), (newest, IS, "after")):
        outputs.append(exp.alias_(exp.func("COALESCE", largest(release, one.copy()), exp.Literal.number(0)), present))
        outputs += [
            exp.alias_(largest(release, exp.cast(t.column(name, "h"), "VARCHAR")), f"{start}_{number}")
            for number, name in enumerate(labels)
        ]
        outputs += [
            exp.alias_(largest(release, _with_null(t.column(name, "h"))), f"{start}_value_{place}")
            for place, name in sensitive.items()
        ]
    contents = [largest(release, exp.column(CONTENT, "h")) for release in (earlier, newest)]
    differs = exp.Case().when(contents[0].neq(contents[1]), one.copy()).else_(exp.Literal.number(0))
    outputs.append(exp.alias_(differs, CHANGED))
    query = exp.select(*outputs).from_(t.table(history, "h")).where(exp.or_(where(earlier), where(newest)))
    return t.printed(query.group_by(*(exp.column(name, "h") for name in (ROW, PERSON, PARENT))), dialect)


def _with_null(column: exp.Expr) -> exp.Expr:
    """A value as text that is never NULL."""
    text = exp.DPipe(this=exp.Literal.string("="), expression=exp.cast(column, "VARCHAR"))
    return exp.func("COALESCE", text, exp.Literal.string("-"))


def compared_values(place: int) -> list[str]:
    """The columns of `side_by_side` with the values of a sensitive column, in the earlier and in the newest release."""
    return [f"{start}_value_{place}" for start in ("before", "after")]


def compared_labels(labels: Sequence[str]) -> list[str]:
    """The columns of `side_by_side` by which two rows look the same in both releases."""
    return [WAS, IS, CHANGED, *(f"{start}_{number}" for start in ("before", "after") for number in range(len(labels)))]


def compared_facts(compared: Relation, classes: Relation, levels: int, dialect: str) -> str:
    """The query of the other rows of two releases with what they show, together with the rows that they belong to.

    `levels`: the most rows that lie between a row and its person. Columns: version, unit_id, class, item, row_id,
    own_moving, parent (the nearest of the rows above it that moves), class_moving, and the slots of `ReleasedPlaces`.
    """
    query = exp.select().from_(t.table(compared, "r"))
    of_person = [exp.column(name, "p").eq(exp.column(name, "r")) for name in ("version", "unit_id")]
    query = query.join(t.table(classes, "p"), on=exp.and_(*of_person))
    path = [exp.column("row_id", "r")]  # from the row up
    shown = [exp.column("what", "r")]
    moving: list[exp.Expr] = []
    below = "r"
    for level in range(1, levels + 1):
        above, up = f"q{level}", exp.column("parent_id", below)
        same = exp.and_(
            exp.column("version", above).eq(exp.column("version", "r")), exp.column("row_id", above).eq(up.copy())
        )
        query = query.join(t.table(compared, above), on=same, join_type="LEFT")
        path.append(up)
        shown.append(exp.column("what", above))
        moving.append(exp.Case().when(exp.column("moving", above).eq(1), exp.column("row_id", above)))
        below = above
    order = exp.Order(expressions=[exp.Ordered(this=what) for what in shown])
    query = query.select(
        exp.column("version", "r"),
        exp.column("unit_id", "r"),
        exp.column("class", "p"),
        exp.alias_(exp.Window(this=exp.DenseRank(), order=order), "item"),
        exp.column("row_id", "r"),
        exp.alias_(exp.column("moving", "r"), "own_moving"),
        exp.alias_(exp.func("COALESCE", *moving, exp.cast(exp.null(), "BIGINT")), "parent"),
        exp.alias_(exp.column("moving", "p"), "class_moving"),
        *(exp.alias_(_place(path, level), slot) for level, slot in enumerate(ReleasedPlaces.on_levels(levels).slots)),
    )
    return t.printed(query.where(exp.column("kind", "r") > 0), dialect)


def _place(path: Sequence[exp.Expr], level: int) -> exp.Expr:
    """The row of a path on a level from the top, which begins with the last one that is not NULL.

    >>> _place([exp.column("own"), exp.column("visit")], 0).sql()
    'CASE WHEN NOT visit IS NULL THEN visit ELSE own END'
    >>> _place([exp.column("own"), exp.column("visit")], 1).sql()
    'CASE WHEN NOT visit IS NULL THEN own ELSE NULL END'
    """
    if level == len(path) - 1 == 0:
        return path[0].copy()
    found = exp.Case()
    for top in range(len(path) - 1, max(level, 1) - 1, -1):
        found = found.when(~t.is_null(path[top]), path[top - level].copy())
    return found.else_(path[0].copy() if level == 0 else exp.null())
