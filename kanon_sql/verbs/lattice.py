"""The lattice of a search, as a picture."""

from __future__ import annotations

from kanon_sql.report.searched import Searched
from kanon_sql.verbs.plan import Plan


def searched(plan: Plan) -> Searched:
    """What a plan's picture shows."""
    spec, tags = plan.spec, plan.outcome.tags
    if tags is None:
        raise ValueError("the search kept no tags")
    args = (spec.strategy, spec.metric, spec.privacy.k, spec.suppression_limit)
    return Searched(plan.columns, plan.lattice, plan.outcome, tags, *args)
