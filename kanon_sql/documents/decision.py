"""The forms of a finding and of a verdict on a release."""

from __future__ import annotations

from kanon_sql.documents.kinds import ANY, FLAG, NAMES, TEXT, Keys, by_name, closed, list_of, or_null

FINDING_KEYS: Keys = {
    "model": (TEXT, "The name of the model."),
    "required": (ANY, "Its configured parameter, or parameters by name."),
    "achieved": (ANY, "The value of the worst class; null if it is unknown."),
}
CHECK_KEYS: Keys = {
    "name": (TEXT, "The requirement that is checked, such as a norm."),
    "required": (TEXT, "The requirement, in words."),
    "found": (TEXT, "What was found, in words; figures are compared unrounded."),
    "met": (or_null(FLAG), "Whether it is met; null if that is unknown."),
    "source": (TEXT, "The norm's document, or what measured it."),
    "condition": (TEXT, "What to do if it is not met; empty if it is."),
    "decides": (FLAG, "Whether the release is refused if it is not met, instead of allowed under the condition."),
}
_CHECK = closed(CHECK_KEYS)
_OUTCOMES = ["releasable", "releasable under conditions", "not releasable", "not decided"]
VERDICT = closed(
    {
        "outcome": ({"enum": _OUTCOMES}, "The verdict."),
        "recipient": (or_null({"enum": ["public", "contract", "secure"]}), "Who receives the release."),
        "conditions": (NAMES, "What has to be done or agreed before the release is given away."),
        "checks": (list_of(_CHECK), "The requirements and the findings."),
        "why": (NAMES, "The requirements that are not met, or undecided."),
        "assumed": (NAMES, "The assumed background knowledge of the recipient."),
        "by_recipient": (by_name(TEXT), "Without a recipient: the verdict for each."),
    }
)
