"""The utility of a release: its marginals, associations, count queries and models compared with its source.

All measures share one interpretation of a generalized cell, see `kanon_sql.utility.attribute`; results are aggregates.
"""

from kanon_sql.utility.alignment import Drawn, drawn_rows
from kanon_sql.utility.attribute import CountedLabels, SharedColumn, attribute
from kanon_sql.utility.coded_rows import read_codes
from kanon_sql.utility.counts import QueryErrors, drawn
from kanon_sql.utility.distributions import Bin, Treated, distribution, pooled, rare_rows, treated
from kanon_sql.utility.marginals import Marginal, marginal
from kanon_sql.utility.pairs import Association
from kanon_sql.utility.prediction import Learned, is_installed, learned, why_not
from kanon_sql.utility.sides import Side, Sides

__all__ = [
    "Association",
    "Bin",
    "CountedLabels",
    "Drawn",
    "Learned",
    "Marginal",
    "QueryErrors",
    "SharedColumn",
    "Side",
    "Sides",
    "Treated",
    "attribute",
    "distribution",
    "drawn",
    "drawn_rows",
    "is_installed",
    "learned",
    "marginal",
    "pooled",
    "rare_rows",
    "read_codes",
    "treated",
    "why_not",
]
