"""A table whose searches are stopped and resumed."""

from typing import Any

TYPES = {"age": "INTEGER", "zip": "VARCHAR", "sex": "VARCHAR", "ill": "VARCHAR"}
ROWS = [(20 + i * 7 % 31, f"{i * 13 % 5}{i * 29 % 7}", "fm"[i % 3 % 2], "abcd"[i * i % 4]) for i in range(300)]
SPEC: dict[str, Any] = {
    "quasi_identifiers": {
        "age": {"hierarchy": {"ranges": [2, 4, 8, 16]}},
        "zip": {"hierarchy": {"redact": "right"}},
        "sex": {"hierarchy": "suppress"},
    },
    "sensitive": ["ill"],
    "privacy": {"k": 6},
}
