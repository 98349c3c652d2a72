"""The thresholds of norms by recipient, with their sources; `docs/report.md` explains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql.spec import Sensitivity

EVERYBODY = ("public", "contract", "secure")


@dataclass(frozen=True)
class Threshold:
    """One requirement of a norm: a maximum risk, or a minimum size of a group.

    `sensitivity`: the degree that it is for, None for every degree. `source`: the document.
    """

    norm: str
    name: str
    recipients: tuple[str, ...]
    risk: float | None = None
    size: int | None = None
    sensitivity: Sensitivity | None = None
    source: str = ""

    @property
    def required(self) -> str:
        """The requirement in words."""
        if self.risk is not None:
            return f"a highest risk of at most {self.risk:g}"
        return f"groups of at least {self.size}"

    def met(self, smallest: int) -> bool:
        """Whether a smallest group of this size meets it; figures are compared unrounded."""
        return 1 / smallest <= self.risk if self.risk is not None else smallest >= (self.size or 0)


_EMA = "European Medicines Agency, external guidance on Policy 0070, EMA/90915/2016, chapter 3"
_HEALTH_CANADA = "Health Canada, guidance document on the Public Release of Clinical Information"
_IPC = "Information and Privacy Commissioner of Ontario, De-Identification Guidelines for Structured Data, 2025"
_PDPC = "Personal Data Protection Commission Singapore, Guide to Basic Anonymisation (2022, updated 2024), step 4"
_CMS = "Centers for Medicare & Medicaid Services, cell size suppression policy"
_RULE_OF_TEN = "Australian Bureau of Statistics, DataLab output rules (rule of 10)"
THRESHOLDS: tuple[Threshold, ...] = (
    Threshold("ema", "EMA Policy 0070", ("public",), risk=0.09, source=_EMA),
    Threshold("health_canada", "Health Canada PRCI", ("public",), risk=0.09, source=_HEALTH_CANADA),
    Threshold("ipc", "IPC Ontario 2025, low sensitivity", EVERYBODY, risk=0.09, sensitivity="low", source=_IPC),
    Threshold("ipc", "IPC Ontario 2025, medium sensitivity", EVERYBODY, risk=0.075, sensitivity="medium", source=_IPC),
    Threshold("ipc", "IPC Ontario 2025, high sensitivity", EVERYBODY, risk=0.05, sensitivity="high", source=_IPC),
    Threshold("pdpc", "PDPC Singapore, external sharing", ("public", "contract"), size=5, source=_PDPC),
    Threshold("pdpc", "PDPC Singapore, internal sharing", ("secure",), size=3, source=_PDPC),
    Threshold("cms", "CMS cell size", EVERYBODY, size=11, source=_CMS),
    Threshold("statistics", "Statistical offices, rule of ten", EVERYBODY, size=10, source=_RULE_OF_TEN),
)
_BY_DEFAULT: Mapping[str, tuple[str, ...]] = {
    "public": ("ema", "health_canada"),
    "contract": ("pdpc",),
    "secure": ("pdpc",),
}
WITHOUT_FIGURE: Mapping[str, str] = {
    "gdpr": "GDPR (recital 26: means reasonably likely to be used to identify a person)",
    "ehds": "European Health Data Space, Regulation (EU) 2025/327 (article 73: secure processing environments)",
    "hipaa": "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)",
}
"""Norms without a figure for the size of groups, with their names."""


def thresholds_for(
    recipient: str, norms: Sequence[str], sensitivity: str | None, accepted_risk: float | None
) -> tuple[Threshold, ...]:
    """The thresholds that decide: those of the norms, and the own one.

    With neither, or if the norms set none for this recipient, the defaults for the recipient.

    >>> [threshold.name for threshold in thresholds_for("public", [], None, None)]
    ['EMA Policy 0070', 'Health Canada PRCI']
    >>> [threshold.risk for threshold in thresholds_for("contract", ["ipc"], "medium", 0.2)]
    [0.2, 0.075]
    """
    found = _of_norms(recipient, norms, sensitivity)
    if accepted_risk is not None:
        source = "`accepted_risk` of the spec"
        found = (Threshold("own", "Your own threshold", EVERYBODY, risk=accepted_risk, source=source), *found)
    return found or _of_norms(recipient, _BY_DEFAULT[recipient], sensitivity)


def laxer_than(recipient: str, accepted_risk: float) -> Threshold | None:
    """The strictest default threshold for a recipient, if the own one accepts a higher risk."""
    strictest = min(_of_norms(recipient, _BY_DEFAULT[recipient], None), key=_highest_risk)
    return strictest if accepted_risk > _highest_risk(strictest) else None


def _highest_risk(threshold: Threshold) -> float:
    return threshold.risk if threshold.risk is not None else 1 / (threshold.size or 1)


def _of_norms(recipient: str, norms: Sequence[str], sensitivity: str | None) -> tuple[Threshold, ...]:
    degree = sensitivity or "high"
    return tuple(
        threshold
        for name in dict.fromkeys(norms)
        for threshold in THRESHOLDS
        if threshold.norm == name and recipient in threshold.recipients and threshold.sensitivity in (None, degree)
    )
