"""Tables whose columns are called like what our own queries call theirs: every word of `sql/`.

`python -m support.names`, in `tests/`, tries all words in turn, which takes an hour.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import kanon_sql
from kanon_sql.errors import InfeasibleError
from kanon_sql.resources import folder

ROWS, AT_ONCE = 24, 5


def words() -> list[str]:
    """Every identifier, and keyword in lower case, of the queries in `sql/`."""
    found: set[str] = set()
    for file in Path(str(folder("sql"))).rglob("*.sql"):
        text = re.sub(r"(?m)^--.*$|'[^']*'|\$\w+", " ", file.read_text(encoding="utf-8"))
        found |= set(re.findall(r"\b[a-z_][a-z_0-9]*\b", text))
    return sorted(found)


def rows_of(names: Sequence[str]) -> list[tuple[int, ...]]:
    """Rows of small numbers, a column per name."""
    return [tuple(row * (row + place + 3) % (3 + place % 3) for place, _ in enumerate(names)) for row in range(ROWS)]


def problems(source: Any, names: Sequence[str], **where: Any) -> Iterator[str]:
    """What fails on a table whose columns have these names, the last of them sensitive: verb or model, and why."""
    *quasi_identifiers, sensitive = names
    spec = {
        "quasi_identifiers": {name: {"hierarchy": {"ranges": [2]}} for name in quasi_identifiers},
        "sensitive": [sensitive],
    }
    release = partial(kanon_sql.anonymize, source, spec, k=2, suppression_limit=0.5, **where)
    ordered = {"t": 0.6, "distance": "ordered"}
    calls = {
        "shares": partial(release, beta_likeness={sensitive: 4.0}, delta_disclosure={sensitive: 3.0}),
        "distances": partial(release, t_closeness={sensitive: 0.6}, l_diversity={sensitive: 2}),
        "ordered": partial(release, t_closeness={sensitive: ordered}),
        "refine": partial(release, strategy="refine", t_closeness={sensitive: 0.7}, time_limit=2),
        "kaca": partial(release, strategy="kaca", l_diversity={sensitive: 2}),
        "mondrian": partial(release, strategy="mondrian", beta_likeness={sensitive: 5.0}),
        "prioprivacy": partial(release, strategy="prioprivacy", priorities=dict.fromkeys(quasi_identifiers, 1)),
        "risks": partial(kanon_sql.risks, source, spec, k=2, **where),
        "verify": partial(kanon_sql.verify, source, spec, k=1, t_closeness={sensitive: 1.0}, **where),
    }
    for name, call in calls.items():
        try:
            call()
        except InfeasibleError:
            pass
        except Exception as error:  # any is a fault
            yield f"{name} of {', '.join(names)}: {type(error).__name__}: {error}"


def main() -> None:
    """Try every word, and print what fails."""
    import pandas

    warnings.simplefilter("ignore")
    every = words()
    for first in range(0, len(every), AT_ONCE):
        names = every[first : first + AT_ONCE]
        for problem in problems(pandas.DataFrame(rows_of(names), columns=names), names):
            print(problem, flush=True)


if __name__ == "__main__":
    main()
