"""A control: people who are not in the release, attacked in the same way.

Source: M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi, "A unified framework for quantifying privacy risk in synthetic
data", PoPETs 2023(2), section 3.1. Success on the control is what the release reveals about people in general, as
opposed to the people in it.
"""

from __future__ import annotations

from kanon_sql.attack.material import Copy, Material
from kanon_sql.errors import SpecError

_CLOAKED = "cloaked places are attacked without a control; leave it out"
_ALONE = "a control is compared with the people in the release; also name their source, or an auxiliary table"


def check_control(material: Material) -> None:
    """SpecError if a control cannot be attacked like the people of the source; a note if they have rows in common."""
    control = material.control
    if control is None:
        return
    targets = [copy for copy in (material.source, material.auxiliary) if copy]
    if material.location or not targets:
        raise SpecError(_CLOAKED if material.location else _ALONE)
    if control.rows == 0:
        raise SpecError("the control has no rows; name people who are not in the release")
    for people in targets:
        for name in (*material.quasi_identifiers, *material.release.columns):
            if name in people.columns and name not in control.columns and name != material.unit:
                raise SpecError(f"the control has no column {name!r}; it needs the columns of {people.name}")
    if material.source:
        _note_shared(material, control, material.source)


def _note_shared(material: Material, control: Copy, people: Copy) -> None:
    by_unit = bool(control.unit and people.unit)
    columns = control.unit if by_unit else control.plain([name for name in control.columns if name in people.columns])
    tables, holes = material.tables, {"id": ["row_id"], "columns": list(columns)}
    copies = {"control": control.relation, "people": people.relation}
    keyed = {
        role: tables.create(f"keyed_{role}", "attack_linkage/keyed", people=copy, **holes)
        for role, copy in copies.items()
    }
    ((shared,),) = tables.rows("attack_linkage/shared_rows", **keyed)
    if shared:
        agreement = f"have a {material.unit}" if by_unit else "agree in all columns with a row"
        material.note(
            f"{shared:,} rows of the control {agreement} of {people.name}; if they are of people in the release, the "
            "attacks look weaker than they are, so name a control of other people"
        )
