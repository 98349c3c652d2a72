"""Background knowledge of values: ruling out values of a person, and guessing by the shares in a class.

Source: A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, "l-diversity", ACM TKDD 1(1), 2007: the
background-knowledge attack (section 2.2), positive disclosure and prior and posterior beliefs (section 3).
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_sql.attack.dealing import SensitiveValues, values_of
from kanon_sql.attack.material import Attack, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.queries import Hole

CERTAIN, GAIN = 0.9, 0.1  # the probability of a positive disclosure, and a notable increase


def _background(material: Material) -> Iterator[Outcome]:
    for column in material.sensitive:
        values = values_of(material, column)
        yield _ruled_out(values)
        yield _guessed(values)


def _ruled_out(values: SensitiveValues) -> Outcome:
    """The attacker knows one value that a person does not have, the most informative one ("not flu")."""
    (*certain, classes, worst, mean), chance = values.figures("attack_attributes/ruling_out")
    material, column = values.material, values.column
    after, rows = [int(count) for count in certain], material.release.rows
    return Outcome(
        "ruling_out",
        f"{after[0]:,} of {rows:,} rows are in classes with at most two values of {column}: ruling out one value of a "
        "person reveals the other.",
        attempts=rows,
        successes=after[0],
        affected=after[0],
        baseline=chance,
        column=column,
        figures={
            "classes": int(classes),
            "certain_after_2": after[1],
            "certain_after_3": after[2],
            "worst_posterior": worst,
            "mean_posterior": mean,
        },
        avoid=f"require l-diversity of {column} with l of 3 or more, recursive if several values can be ruled out",
    )


def _guessed(values: SensitiveValues) -> Outcome:
    """The attacker knows the values' shares in the table, and guesses the most frequent value of the class."""
    material, column = values.material, values.column
    rows = material.release.rows
    holes: dict[str, Hole] = {"overall": values.overall, "rows": rows, "certain": CERTAIN, "gain": GAIN}
    (right, certain, gained, worst, mean), chance = values.figures("attack_attributes/posteriors", **holes)
    return Outcome(
        "posterior",
        f"Guessing the most frequent {column} of a person's class is right for {int(right):,} of {rows:,} rows; "
        f"{int(certain):,} have a value that {CERTAIN:.0%} of their class have.",
        attempts=rows,
        successes=int(right),
        affected=int(right),
        baseline=chance,
        column=column,
        figures={
            "disclosed": int(certain),
            "gained_a_tenth": int(gained),
            "worst_gain": worst,
            "mean_gain": mean,
        },
        avoid=f"require t-closeness or β-likeness of {column}, or recursive l-diversity",
    )


BACKGROUND = Attack(
    "background",
    "Rule out a value of a person, or guess the most frequent one of that person's class.",
    _background,
    ("sensitive",),
    ("ruling_out", "posterior"),
)
