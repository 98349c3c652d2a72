"""The large table of people that servers are measured on: how it is released, and by which columns."""

from typing import Any

SPEC: dict[str, Any] = {
    "identifiers": ["person_id", "name"],
    "quasi_identifiers": {
        "age": {"hierarchy": {"ranges": [5, 10, 20, 40]}},
        "zip": {"hierarchy": {"redact": "right"}},
        "sex": {"hierarchy": "suppress"},
        "admitted": {"hierarchy": {"dates": ["month", "quarter", "year"]}},
    },
    "sensitive": ["disease"],
    "keep": ["income", "visits"],
    "privacy": {"k": 5},
}
RELEASED = "age, zip, sex, admitted, disease, income, visits"
TUPLE = "age, zip, sex, admitted"
