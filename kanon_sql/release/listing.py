"""Labels that list values: they are shown for other rows, too, so each listed value must itself be released."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kanon_sql.errors import HierarchyError
from kanon_sql.generalization.codes import OTHER
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.values import as_text
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec.recipes import FileRecipe, GroupsRecipe, TableRecipe, TaxonomyRecipe

# The recipes with labels written by the user; None is a file in the folder of hierarchies.
_WRITTEN = (FileRecipe, TableRecipe, TaxonomyRecipe, GroupsRecipe, type(None))
_SEPARATOR = re.compile(r"( / |, |;|\|)")
_NOT_NAMED = re.compile(rf"{OTHER}|\d+ more")  # the end of a list that does not name all values, from `kanon init`
_SAME_NAME = re.compile(r"( \+)+$")  # a suffix that distinguishes equal labels, from `kanon init`


def check_labels(recoding: Recoding) -> None:
    """Refuse a label that lists a value of the source whose rows are all suppressed.

    Checked on the counted tuples, before anything is written; HierarchyError with the column and the number of values.
    """
    spec, frequency_set = recoding.spec, recoding.judge.frequency_set
    assignment = None
    for j, attribute in enumerate(recoding.attributes):
        name, hierarchy = attribute.column.name, attribute.hierarchy
        written = isinstance(spec.quasi_identifiers[name].hierarchy, _WRITTEN)
        listed = values_listed(hierarchy, recoding.levels_shown(j)) if written else {}
        if not listed:
            continue
        assignment = assignment or recoding.assigned()
        holes = {"frequency_set": frequency_set.relation, "assignment": assignment}
        rows = frequency_set.tables.rows("release/released_values", key=[attribute.coded.code_column(0)], **holes)
        released = {int(code) for code, is_released in rows if is_released}
        suppressed = {int(code) for code, is_released in rows if not is_released}
        shown = recoding.labels_shown(j, released)
        exposed = suppressed & {code for label, codes in listed.items() if label in shown for code in codes}
        if exposed:
            raise HierarchyError(
                f"column {name!r}: labels of the release list {len(exposed):,} of its values of which every row is "
                "suppressed; choose neutral names for those labels, or put such "
                f"values into `{OTHER}` and out of the names"
            )


def values_listed(hierarchy: Hierarchy, levels: Iterable[int]) -> dict[str, set[int]]:
    """Label -> codes on level 0 of the values that it lists, for labels with several values, or one and others.

    >>> from kanon_sql.generalization.hierarchy import from_rows
    >>> towns = from_rows([["Bern", "Bern / Thun"], ["Thun", "Bern / Thun"], ["Linz", "Austria, East"]], "town.csv")
    >>> values_listed(towns, [1, 2])
    {'Bern / Thun': {0, 1}}
    """
    labels = {label for level in levels for label in hierarchy.distinct_labels(level) if label}
    labels = {label for label in labels if _SEPARATOR.search(label)}
    if not labels:
        return {}
    leaves = zip(hierarchy.values, hierarchy.codes(0), strict=False)  # starred values have codes, and are not leaves
    code_of = {as_text(value): code for value, code in leaves if value is not None}
    sizes = {len(_SEPARATOR.split(text)) for text in code_of}  # a value itself can contain separators
    listed = {}
    for label in labels - code_of.keys():
        pieces = _SEPARATOR.split(_SAME_NAME.sub("", label))
        runs = ("".join(pieces[i : i + size]).strip() for size in sizes for i in range(0, len(pieces) - size + 1, 2))
        codes = {code_of[text] for text in runs if text in code_of}
        others = sum(bool(_NOT_NAMED.fullmatch(piece)) for piece in pieces)
        if codes and len(codes) + others > 1:
            listed[label] = codes
    return listed
