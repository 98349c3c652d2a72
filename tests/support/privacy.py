"""Privacy models that count the values of a column, and their definitions, in plain Python."""

from __future__ import annotations

from collections import Counter
from itertools import count
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from kanon_sql.privacy import PrivacyModel
from support.examples import few
from support.oracle import Problem, problems

AT_MOST = PrivacyModel(
    "at most",
    {"share": 0.8},
    columns={"rows": "SUM(n)", "most": "MAX(c)"},
    safe="most <= $share * rows",
    sensitive="salary-class",
    monotone="without suppression",
    achieved="MAX(most / rows)",
)
EXAMPLES = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=few(4),
)
SALARIES = ["<=50K", ">50K", None]
NUMBERS = count()  # of tables


def is_safe(values: Counter[Any], k: int = 2) -> bool:
    return values.total() >= k and 10 * max(values.values()) <= 8 * values.total()


@st.composite
def valued_problems(draw: st.DrawFn, **options: Any) -> tuple[Problem, list[Any]]:
    problem = draw(problems(**options))
    return problem, [draw(st.sampled_from(SALARIES)) for _ in problem.rows]
