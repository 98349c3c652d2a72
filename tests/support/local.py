"""A table of ages and cities, and the spec of its local recoding."""

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

CITIES = {"Ghent": "BE", "Liège": "BE", "Delft": "NL", "Breda": "NL", "Oslo": "NO"}
AGES = (20, 21, 29, 30, 34, 47)
TYPES = {"name": "VARCHAR", "age": "INTEGER", "city": "VARCHAR", "ill": "VARCHAR"}


def spec_of(tmp_path: Path, k: int, **more: Any) -> dict[str, Any]:
    """Ages in tens and all, cities in countries and all; the cities' rows are not in the countries' order."""
    rows = [f"{city};{country};*" for city, country in sorted(CITIES.items())] + [";unknown;*"]
    (tmp_path / "city.csv").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "age.csv").write_text("\n".join([*(f"{a};{a // 10}0s;*" for a in AGES), ";unknown;*"]))
    hierarchies = {"age": {"hierarchy": str(tmp_path / "age.csv")}, "city": {"hierarchy": str(tmp_path / "city.csv")}}
    return {
        "source": "people",
        "identifiers": ["name"],
        "quasi_identifiers": hierarchies,
        "sensitive": ["ill"],
        "privacy": {"k": k},
        "strategy": "given",
        **more,
    }


tables = st.lists(
    st.tuples(st.sampled_from([*AGES, None]), st.sampled_from([*CITIES, None, "Rome", "Bonn", "*"])), max_size=30
)
