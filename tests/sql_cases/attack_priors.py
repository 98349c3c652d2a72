"""Given and expected rows of the attack by priors."""

from kanon_sql.queries import Relation
from sql_cases.case import Case, relation

_FITS = relation("fits", "target class", (7, 1), (7, 2), (8, 2), (9, 4))
_CLASSED = {
    **relation("values", "class value n", (1, 1, 2), (2, 1, 1), (2, 2, 2), (4, 3, 3)),
    **relation("overall", "value key", (1, "=a"), (2, "=b"), (3, ""), key="VARCHAR"),
}
_OF_VALUES = {"values": Relation("values"), "overall": Relation("overall")}
_RECORDS = relation(
    "records", "target value n", (7, "=a", 3), (7, "=b", 1), (8, "=a", 1), (8, "=b", 1), (9, "=a", 2), value="VARCHAR"
)
_WEIGHTS = relation(
    "weights",
    "target value weight",
    *[(7, "=b", 60.0), (8, "=a", 0.0), (9, "=a", 0.0), (8, "=c", 3.0)],
    value="VARCHAR",
    weight="FLOAT8",
)
_BELIEFS = relation(
    "beliefs", "target certain alone gain", (7, 1, 0, 0.25), (8, 1, 1, 0.5), (9, 0, 1, 0.0), gain="FLOAT8"
)
_SHARES = relation(
    "shares",
    "row_id value share",
    *[(1, "=a", 0.5), (2, "=b", 2.0), (3, "", None), (4, "=c", 0.0)],
    value="VARCHAR",
    share="FLOAT8",
)
_VALUE = {"value": ["c1"]}

CASES = [
    Case(
        "attack_priors/fitting_values",
        {"fits": Relation("fits"), **_OF_VALUES},
        ["target", "value", "n"],
        [(7, "=a", 3), (7, "=b", 2), (8, "=a", 1), (8, "=b", 2), (9, "", 3)],
        {**_FITS, **_CLASSED},
    ),
    Case(
        "attack_priors/value_shares",
        {"release": Relation("release"), **_VALUE},
        ["value", "share"],
        [("=a", 0.5), ("", 0.25), ("=b", 0.25)],
        relation("release", "row_id c1", (1, "a"), (2, None), (3, "b"), (4, "a"), c1="VARCHAR"),
    ),
    Case(
        "attack_priors/prior_shares",
        {"priors": Relation("priors"), **_VALUE, "share": ["c2"]},
        ["row_id", "value", "share"],
        [(1, "=a", 1.0), (2, "", 0.0)],
        relation("priors", "row_id c1 c2", (1, "a", 1), (2, None, 0), c1="VARCHAR"),
    ),
    Case("attack_priors/wrong_shares", {"shares": Relation("shares")}, ["rows"], [(2,)], _SHARES),
    Case(
        "attack_priors/prior_weights",
        {name: Relation(name) for name in ("people", "priors", "shares", "overall")},
        ["target", "value", "weight"],
        [(7, "=a", 2.0), (9, "=a", 2.0), (8, "=c", 0.0)],
        {
            **relation("people", "id key", (7, "f"), (8, "m"), (9, "f"), key="VARCHAR"),
            **relation("priors", "id key", (1, "f"), (2, "f"), (4, "m"), key="VARCHAR"),
            **_SHARES,
            **relation("overall", "value share", ("=a", 0.25), ("=c", 0.75), value="VARCHAR", share="FLOAT8"),
        },
    ),
    Case(
        "attack_priors/repeated_weights",
        {"weights": Relation("weights")},
        ["values"],
        [(1,)],
        relation("weights", "target value weight", (7, "=a", 1), (7, "=a", 2), (8, "=a", 1), value="VARCHAR"),
    ),
    Case(  # 7: b of 60 to 3; 8: b alone, but another is right; 9: nothing is left, and one was certain
        "attack_priors/beliefs",
        {**{name: Relation(name) for name in ("records", "weights", "truths")}, "certain": 0.9},
        ["target", "certain", "alone", "gain"],
        [(7, 1, 0, 60 / 63 - 3 / 4), (8, 0, 0, 0.5), (9, 0, 1, 0.0)],
        {**_RECORDS, **_WEIGHTS, **relation("truths", "target value", (8, "=a"), (9, "=a"), value="VARCHAR")},
    ),
    Case(
        "attack_priors/believed",
        {"beliefs": Relation("beliefs"), "fits": Relation("fits")},
        ["certain", "classes", "alone", "worst", "mean"],
        [(2, 2, 2, 0.5, 0.25)],
        {**_FITS, **_BELIEFS},
    ),
]
