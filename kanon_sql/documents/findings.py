"""The documents of `risk`, `attack`, `verify` and `utility`: every key with its type and meaning."""

from __future__ import annotations

from kanon_sql.documents.decision import CHECK_KEYS, FINDING_KEYS
from kanon_sql.documents.kinds import (
    COUNT,
    FIGURE,
    FLAG,
    NAMES,
    NUMBER,
    SHARE,
    TEXT,
    Keys,
    Schema,
    by_name,
    closed,
    list_of,
    or_null,
)

_FINDING_KEYS: Keys = {
    **FINDING_KEYS,
    "achieved": (FIGURE, "The value of the worst class; null if it is unknown."),
    "unsafe_classes": (or_null(COUNT), "Classes that do not meet it; null for a requirement on rows."),
    "unsafe_rows": (COUNT, "Rows in these classes."),
}
_SIZE = closed({"size": (COUNT, "The size, in people with `unit`."), "classes": (COUNT, "Classes of this size.")})
VERIFY: Keys = {
    "source": (TEXT, "The checked table or file."),
    "holds": (FLAG, "Whether all models are satisfied."),
    "problem": (TEXT, "Why nothing could be checked; then only `source` and `holds` accompany it."),
    "quasi_identifiers": (NAMES, "The columns by which classes were formed."),
    "model": (TEXT, "The models in one name."),
    "required": (COUNT, "The required k."),
    "compared_with": (or_null(TEXT), "The table that models compare classes with: the source, or `itself`."),
    "rows": (COUNT, "Rows of the table."),
    "classes": (COUNT, "Equivalence classes."),
    "smallest_class": (or_null(COUNT), "Rows of the smallest class."),
    "unsafe_classes": (COUNT, "Classes that do not meet the model that most classes violate."),
    "unsafe_rows": (COUNT, "Rows in these classes."),
    "findings": (list_of(closed(_FINDING_KEYS)), "The finding of every model."),
    "people": (COUNT, "People, with `unit`."),
    "smallest_class_of_people": (or_null(COUNT), "People of the smallest class, with `unit`."),
    "offending_sizes": (list_of(_SIZE), "The sizes of classes below k."),
}
VERIFY_ALWAYS = ("source", "holds")
VERIFY_SOMETIMES = ("problem", "people", "smallest_class_of_people")

_BAND = closed(
    {
        "sizes": (TEXT, "The sizes in words."),
        "least": (COUNT, "The smallest size."),
        "most": (or_null(COUNT), "The largest size; null for no limit."),
        "classes": (COUNT, "Classes of these sizes."),
        "rows": (COUNT, "Rows in them."),
        "people": (or_null(COUNT), "People whose smallest class is one of them; null if rows are counted."),
    }
)
_ABOVE = closed(
    {
        "risk": (SHARE, "A threshold."),
        "rows": (COUNT, "Rows with a higher risk."),
        "people": (or_null(COUNT), "People with such a row; null if rows are counted."),
        "share": (SHARE, "Their share of the people, or of the rows."),
    }
)
_SENSITIVE = closed(
    {
        "column": (TEXT, "The sensitive column."),
        "distinct_l": (or_null(COUNT), "The smallest number of distinct values in a class."),
        "entropy_l": (FIGURE, "The same by entropy."),
        "t_equal": (FIGURE, "The largest distance of a class from the whole table, by equal distance."),
        "t_ordered": (FIGURE, "The same by ordered distance; null for values without an order."),
        "homogeneous_classes": (COUNT, "Classes with a single value."),
        "homogeneous_rows": (COUNT, "Rows in them."),
        "homogeneous_people": (or_null(COUNT), "People in them; null if rows are counted."),
        "attribution": (NUMBER, "The mean probability of guessing a value correctly by its class."),
        "guess": (NUMBER, "The same without the class."),
        "certain": (COUNT, "People, or rows, in classes where the probability is 1."),
    }
)
_SEPARATION = closed(
    {
        "columns": (NAMES, "The columns."),
        "combinations": (COUNT, "Their distinct combinations."),
        "distinction": (NUMBER, "These over the rows."),
        "separation": (NUMBER, "The share of pairs of rows that differ in them."),
        "unique_rows": (COUNT, "Rows that are unique by them."),
        "unique_without": (or_null(COUNT), "Of a single column: rows that are unique by all others."),
        "unique_people": (
            or_null(COUNT),
            "People with a row that no other person's row equals; null if rows are counted.",
        ),
        "unique_people_without": (or_null(COUNT), "Of a single column: the same by all others."),
    }
)
_NORM = closed(
    {
        "name": (TEXT, "The norm or law."),
        "rule": (TEXT, "Its rule."),
        "asked": (TEXT, "The required figure."),
        "found": (TEXT, "The figure found."),
        "met": (or_null(FLAG), "Whether the rule is met; null if the data are not sufficient to decide."),
    }
)
_IDENTIFIER = closed(
    {
        "column": (TEXT, "The column."),
        "kind": (TEXT, "The kind of identifier."),
        "letter": (TEXT, "The letter of the kind in HIPAA's list."),
        "how": (TEXT, "How it was recognized: by `name`, `format` or `content`."),
        "said": (TEXT, "The evidence in words."),
        "rows": (COUNT, "Rows with such a value."),
        "share": (NUMBER, "Their share."),
        "sampled": (FLAG, "Whether `rows` is an estimate."),
    }
)
_VERDICT = closed(
    {
        "k": (or_null(COUNT), "The k that was required; null for none."),
        "holds": (FLAG, "Whether all requested models are satisfied."),
        "largest_k": (COUNT, "The largest k that is satisfied: the size of the smallest class."),
        "models": (
            list_of(closed({**_FINDING_KEYS, "holds": (FLAG, "Whether the model is satisfied.")})),
            "The finding of every requested model.",
        ),
    }
)
_INTERVAL: Schema = {**list_of(NUMBER), "minItems": 2, "maxItems": 2}
_PEOPLE_ABOVE = closed(
    {
        "risk": (SHARE, "A threshold."),
        "people": (COUNT, "Measured people with a higher risk."),
        "share": (SHARE, "Their share of the measured people."),
    }
)
_KNOWN = closed(
    {
        "rows": (COUNT, "The number of rows that the attacker has: 2 or 3."),
        "people": (COUNT, "People with at least as many rows."),
        "measured": (COUNT, "How many of them were measured: all, or a random sample."),
        "partly": (COUNT, "How many of these have more rows than were combined, so that their risk can be higher."),
        "singled_out": (COUNT, "Measured people whose rows leave no other candidate."),
        "share": (or_null(SHARE), "Their share of the measured people; null if no one could be measured."),
        "interval": (or_null(_INTERVAL), "Its 95 % interval; null if all people were measured."),
        "highest": (or_null(SHARE), "The highest risk: one divided by the fewest candidates."),
        "mean": (or_null(SHARE), "The mean risk of the measured people."),
        "above": (list_of(_PEOPLE_ABOVE), "People above the thresholds of norms."),
    }
)
_SEVERAL_ROWS = closed(
    {
        "linked_by": (
            NAMES,
            "Columns that show which rows belong to one person. Without any, the risk is an upper limit.",
        ),
        "known": (list_of(_KNOWN), "The risk by the attacker's number of rows, 2 and 3, if people have as many."),
    }
)
_TABLE = closed(
    {
        "name": (TEXT, "The table or file."),
        "rows": (COUNT, "Its rows."),
        "people": (or_null(COUNT), "Its people; null if rows are counted."),
        "counted": ({"enum": ["people", "rows"]}, "What the figures count."),
        "people_unknown": (FLAG, "Whether rows are counted although people were requested."),
        "classes": (COUNT, "Equivalence classes."),
        "verdict": (_VERDICT, "Whether the models are satisfied."),
        "class_sizes": (list_of(_BAND), "Classes by size."),
        "prosecutor": (
            closed(
                {
                    "highest": (SHARE, "The highest risk of a person."),
                    "mean": (SHARE, "The mean risk."),
                    "above": (list_of(_ABOVE), "Rows and people above the thresholds of norms."),
                }
            ),
            "The risk if an attacker knows that a person is in the table.",
        ),
        "marketer": (SHARE, "The share that an attacker identifies who matches all rows."),
        "journalist": (or_null(by_name(FIGURE)), "The risk by a population, `highest` and `mean`; null without one."),
        "uniqueness": (FIGURE, "The estimated share of the population that is unique; null without a fraction."),
        "several_rows": (
            or_null(_SEVERAL_ROWS),
            "The risk if an attacker has several rows of a person; null if rows are counted.",
        ),
        "sensitive": (list_of(_SENSITIVE), "What classes reveal of sensitive columns."),
        "unique_rows": (COUNT, "Rows that are unique by all quasi-identifiers."),
        "unique_people": (or_null(COUNT), "People who are unique by them; null if rows are counted."),
        "columns": (list_of(_SEPARATION), "The quasi-identifiers, the most identifying first."),
        "sets": (list_of(_SEPARATION), "Small sets of them, the most identifying first."),
        "norms": (list_of(_NORM), "Rules of norms and laws. Not legal advice."),
        "identifiers": (list_of(_IDENTIFIER), "Columns that seem to identify people."),
    }
)
_THRESHOLD = closed({name: CHECK_KEYS[name] for name in ("name", "required", "found", "met", "source")})
RISK: Keys = {
    "quasi_identifiers": (NAMES, "The columns by which classes were formed."),
    "unit": (or_null(TEXT), "The column that tells people apart; null if rows are counted."),
    "source": (_TABLE, "The figures of the source."),
    "release": (or_null(_TABLE), "The same of the release; null without one."),
    "suppressed_rows": (or_null(COUNT), "Rows of the source that the release lacks; null if this is unknown."),
    "thresholds": (
        by_name(list_of(_THRESHOLD)),
        "By recipient, that of the spec or all: the thresholds, compared with the release, or the source without one.",
    ),
    "notes": (NAMES, "Limits of the figures."),
    "meanings": (by_name(TEXT), "What the figures mean, in sentences."),
}

_CONTROL = closed(
    {
        "attempts": (COUNT, "Guesses."),
        "successes": (COUNT, "Right guesses."),
        "share": (SHARE, "Their share."),
        "interval": (_INTERVAL, "Its 95 % interval."),
        "excess": (NUMBER, "The share in the release above this one, relative to the rest, 1 minus this one."),
        "excess_interval": (_INTERVAL, "Its 95 % interval."),
        "without_own_record": (FIGURE, "The success rate for people of the release without their own record."),
    }
)
_OUTCOME = closed(
    {
        "name": (TEXT, "The attack."),
        "column": (or_null(TEXT), "The guessed sensitive column."),
        "attempts": (COUNT, "Guesses."),
        "successes": (COUNT, "Right guesses."),
        "share": (SHARE, "Their share."),
        "interval": (_INTERVAL, "Its 95 % interval."),
        "baseline": (FIGURE, "The success rate by chance; null without one."),
        "control": (FIGURE, "The success rate for people who are not in the release; null if not measured."),
        "excess": (SHARE, "The share above chance, relative to what chance leaves."),
        "affected": (COUNT, "How many the attack succeeds for."),
        "counted": (TEXT, "What `affected` counts: people, rows or cells."),
        "sampled": (FLAG, "Whether `affected` is estimated from a sample."),
        "figures": (by_name(FIGURE), "Further figures of the attack."),
        "sentence": (TEXT, "The result in words."),
        "avoid": (TEXT, "A remedy; empty for none."),
        "control_rows": (_CONTROL, "The result on the rows of a control."),
    },
    optional=["control_rows"],
)
ATTACK: Keys = {
    "release": (TEXT, "The attacked release."),
    "quasi_identifiers": (NAMES, "Its quasi-identifiers."),
    "sensitive": (NAMES, "The columns that were guessed."),
    "attacks": (list_of(_OUTCOME), "The outcomes of all attacks that were run."),
    "skipped": (
        list_of(closed({"name": (TEXT, "The attack."), "needs": (TEXT, "The data that it needs.")})),
        "Attacks that could not be run.",
    ),
    "notes": (NAMES, "Limits of the results."),
}

_MARGINAL = closed(
    {
        "column": (TEXT, "The column."),
        "total_variation": (NUMBER, "Half the sum of the differences between the shares of values."),
        "earth_mover": (FIGURE, "Of an ordered column: the mean distance that shares must be moved."),
        "generalized": (NUMBER, "The share of released cells that cover more than one value."),
    }
)
_PAIR = closed(
    {
        "columns": (NAMES, "The two columns."),
        "measure": (TEXT, "`correlation` or `cramers_v`."),
        "source": (FIGURE, "The association in the source; null if there is none."),
        "release": (FIGURE, "The association in the release."),
        "error": (NUMBER, "The absolute difference."),
    }
)
_COUNTS = closed(
    {
        "queries": (COUNT, "Count queries."),
        "median": (NUMBER, "Their median relative error."),
        "percentile_95": (NUMBER, "The relative error that 95 of 100 do not exceed."),
        "selectivity": (NUMBER, "The median share of rows that they count."),
    }
)
_MODEL = closed(
    {
        "column": (TEXT, "The predicted column."),
        "kind": (TEXT, "`classifier` or `regressor`."),
        "rows": (COUNT, "Rows of the source that were drawn."),
        "source": (by_name(FIGURE), "The figures of the model that was trained on the source."),
        "release": (by_name(FIGURE), "Those of the model that was trained on the release."),
        "baseline": (by_name(FIGURE), "Those of always guessing the most frequent value or the mean."),
    }
)
UTILITY: Keys = {
    "source": (TEXT, "The source."),
    "release": (TEXT, "The release."),
    "rows": (COUNT, "Rows of the source."),
    "released_rows": (COUNT, "Rows of the release."),
    "suppressed": (NUMBER, "The share of the source's rows that the release lacks."),
    "marginals": (
        closed(
            {
                "mean": (NUMBER, "The mean error."),
                "largest": (NUMBER, "The largest error."),
                "columns": (list_of(_MARGINAL), "The errors by column."),
            }
        ),
        "How far single columns differ.",
    ),
    "associations": (
        closed(
            {
                "mean": (FIGURE, "The mean error; null without pairs."),
                "largest": (FIGURE, "The largest error."),
                "pairs": (COUNT, "Pairs of columns."),
                "worst": (list_of(_PAIR), "The pairs with the largest errors."),
            }
        ),
        "How far the associations of pairs of columns differ.",
    ),
    "counts": (or_null(_COUNTS), "The errors of count queries; null without columns to query."),
    "models": (list_of(_MODEL), "How well columns can be predicted."),
    "skipped": (
        list_of(closed({"name": (TEXT, "The measure."), "why": (TEXT, "The reason.")})),
        "What was not measured.",
    ),
    "notes": (NAMES, "Limits of the figures."),
}
