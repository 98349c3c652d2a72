"""`kanon refresh`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, takes
from kanon_sql.cli.show import out, verified
from kanon_sql.report.numbers import parameters
from kanon_sql.verbs.refresh import refresh as run

NAME = Argument("name", "What anonymize --as materialized made.", default=...)


@takes(NAME, o.DATABASE, o.JSON)
def refresh(name: str, as_json: bool | None, **options: Any) -> None:
    made = run(name, **options)
    if as_json:
        print(json.dumps(made, indent=2))
    else:
        _show(made)


def _show(manifest: dict[str, Any]) -> None:
    """Show what is in a materialized release now."""
    out.print(
        f"{manifest['released_rows']:,} rows in {manifest['classes']:,} classes, "
        f"the smallest of {manifest['smallest_class'] or 0} rows."
    )
    name = manifest["target"]["table"]
    out.print(verified(promised(manifest["privacy"]), f"materialized view {name}", in_="what is there now"))


def promised(privacy: Sequence[dict[str, Any]]) -> str:
    """What every class meets, in words; only k-anonymity is called so.

    >>> promised([{"model": "k-anonymity", "required": 5}, {"model": "at most", "required": 0.8}])
    '5-anonymous, at most (0.8)'
    """
    words = (
        f"{each['required']}-anonymous"
        if each["model"] == "k-anonymity"
        else f"{each['model']} ({parameters(each['required'])})"
        for each in privacy
    )
    return ", ".join(words)
