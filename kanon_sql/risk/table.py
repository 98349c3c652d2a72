"""The measured risk of one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kanon_sql.privacy import Finding
from kanon_sql.risk.attribution import Sensitive
from kanon_sql.risk.classes import Classes
from kanon_sql.risk.identifiers import Contents
from kanon_sql.risk.known_rows import SeveralRows
from kanon_sql.risk.norms import Norm
from kanon_sql.risk.separation import Separations


@dataclass(frozen=True)
class TableRisk:
    """The measured risk of one table.

    `classes`: by size; they count people with a `unit`, otherwise rows. `people_unknown`: whether rows are
    counted although people were requested, so that a satisfied model need not be satisfied for people. `k`: the k of
    the verdict, None without one. `findings`: of the requested models. `journalist`: the journalist's risks by figure,
    empty without a population, None if rows match no one in it. `uniqueness`: of the population, None without
    a sampling fraction. `several_rows`: the risk if an attacker has several rows of a person, None if
    rows are counted.
    """

    name: str
    unit: str | None
    k: int | None
    classes: Classes
    findings: tuple[Finding, ...]
    journalist: Mapping[str, float | None]
    uniqueness: float | None
    sensitive: tuple[Sensitive, ...]
    separations: Separations
    contents: Contents
    norms: tuple[Norm, ...]
    people_unknown: bool = False
    several_rows: SeveralRows | None = None

    @property
    def holds(self) -> bool:
        """Whether all requested models are satisfied."""
        return all(finding.holds for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        classes, columns = self.classes, self.separations
        return {
            "name": self.name,
            "rows": classes.rows,
            "people": classes.people,
            "counted": "people" if self.unit else "rows",
            "people_unknown": self.people_unknown,
            "classes": classes.number,
            "verdict": {
                "k": self.k,
                "holds": self.holds,
                "largest_k": classes.smallest,
                "models": [{**asdict(finding), "holds": finding.holds} for finding in self.findings],
            },
            "class_sizes": [{"sizes": band.sizes, **asdict(band)} for band in classes.bands],
            "prosecutor": {
                "highest": classes.highest,
                "mean": classes.mean,
                "above": [asdict(model) for model in classes.above],
            },
            "marketer": classes.mean,
            "journalist": dict(self.journalist) or None,
            "uniqueness": self.uniqueness,
            "several_rows": None if self.several_rows is None else asdict(self.several_rows),
            "sensitive": [asdict(column) for column in self.sensitive],
            "unique_rows": columns.unique_rows,
            "unique_people": columns.unique_people,
            "columns": [asdict(column) for column in columns.columns],
            "sets": [asdict(columns_) for columns_ in columns.sets],
            "norms": [asdict(norm) for norm in self.norms],
            "identifiers": [
                {**asdict(identifier), "letter": identifier.letter} for identifier in self.contents.identifiers
            ],
        }
