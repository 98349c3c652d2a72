"""Background knowledge as priors: how common values are among people like the target.

Source: A. Machanavajjhala, D. Kifer, J. Gehrke, M. Venkitasubramaniam, "l-diversity", ACM TKDD 1(1), 2007, sections 2.2
(the patient from Japan, where heart disease is rare) and 3.1: demographic background knowledge. The attacker knows the
share of a value among people like the target, and takes the records that fit. By Bayes' theorem, a record's weight is
how many times as common its value is among these people as in the release. The attack succeeds if a value is then 90 %
probable. By chance: people for whom the records alone reach this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kanon_sql.attack.background import CERTAIN
from kanon_sql.attack.matching import Attacked, attack, counted_values
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.errors import SpecError
from kanon_sql.queries import Hole, Relation

_TRUTHS = {"target": "BIGINT", "value": "VARCHAR"}
SHARE = "share"  # the column of the priors with the frequency of a value


def _believed(material: Material) -> Iterator[Outcome]:
    people, priors = material.people, material.priors
    assert people is not None
    assert priors is not None
    columns = [name for name in material.sensitive if name in priors.columns]
    if not columns:
        raise SpecError(
            f"the priors have no column of {', '.join(material.sensitive)}; name the values whose {SHARE} is known"
        )
    attacked = attack(material, people, material.quasi_identifiers_of(people))
    for column in columns:
        yield _of_column(material, attacked, column, _like(people, priors, columns))


def _like(people: Copy, priors: Copy, columns: Sequence[str]) -> list[str]:
    """The columns that define whom the priors are about; SpecError if people lack them, or priors have no share."""
    like = [name for name in priors.columns if name not in (SHARE, *columns)]
    missing = [name for name in like if name not in people.columns]
    if missing:
        raise SpecError(f"{people.name} has no column {missing[0]!r}, which the priors have; drop it from the priors")
    if priors.kinds.get(SHARE) not in ("integer", "decimal", "float"):
        raise SpecError(f"the priors have no numbers in a column {SHARE!r}; put the share of each value there, 0 to 1")
    return like


def _of_column(material: Material, attacked: Attacked, column: str, like: Sequence[str]) -> Outcome:
    tables, attempts = material.tables, attacked.attempts
    values = counted_values(material, column)
    records = tables.create("records", "attack_priors/fitting_values", fits=attacked.fits, **values)
    weights = _weights(material, attacked, column, like)
    has_truth = column in attacked.people.columns
    truths = attacked.truths(column) if has_truth else tables.load("truths", _TRUTHS, [[], []])
    holes: dict[str, Hole] = {"records": records, "weights": weights, "truths": truths, "certain": CERTAIN}
    beliefs = tables.create("beliefs", "attack_priors/beliefs", **holes)
    ((found, classes, alone, worst, mean),) = tables.rows("attack_priors/believed", beliefs=beliefs, fits=attacked.fits)
    return Outcome(
        "priors",
        f"An attacker who knows how common every {column} is among people like the target is {CERTAIN:.0%} sure of it "
        f"for {int(found):,} of {attempts:,} {attacked.people.who}; by the records alone, for {int(alone):,}.",
        attempts=attempts,
        successes=int(found),
        affected=round(int(found) / attempts * attacked.people.people) if attempts else 0,
        baseline=int(alone) / attempts if attempts else None,
        column=column,
        counted=attacked.people.who,
        sampled=attempts < attacked.people.people,
        figures={"classes": int(classes), "worst_gain": worst, "mean_gain": mean},
        avoid=f"require l-diversity of {column} with more values than can be ruled out, or raise k",
    )


def _weights(material: Material, attacked: Attacked, column: str, like: Sequence[str]) -> Relation:
    """How many times as common a value is among people like the target as in the release: target, value, weight."""
    tables, people, priors = material.tables, attacked.people, material.priors
    assert priors is not None
    keyed = {}
    for role, copy in (("people", people), ("priors", priors)):
        holes: dict[str, Hole] = {"people": copy.relation, "id": ["row_id"], "columns": copy.plain(like)}
        keyed[role] = tables.create(f"like_{role}", "attack_linkage/keyed", **holes)
    holes = {"priors": priors.relation, "value": priors.plain([column]), "share": priors.plain([SHARE])}
    shares = tables.create("shares", "attack_priors/prior_shares", **holes)
    ((wrong,),) = tables.rows("attack_priors/wrong_shares", shares=shares)
    if wrong:
        raise SpecError(
            f"{int(wrong):,} rows of the priors have no {SHARE} from 0 to 1; use fractions, not percentages"
        )
    overall = tables.create(
        "overall", "attack_priors/value_shares", release=material.release.relation, value=priors.plain([column])
    )
    weights = tables.create("weights", "attack_priors/prior_weights", **keyed, shares=shares, overall=overall)
    ((twice,),) = tables.rows("attack_priors/repeated_weights", weights=weights)
    if twice:
        raise SpecError(f"the priors have {int(twice):,} shares more than once; keep one row for each value")
    if not tables.count(weights):
        material.note(f"no row of the priors is about anybody of {people.name} and a value of {column} in the release")
    return weights


PRIORS = Attack(
    "priors",
    "Weigh the values of the records that fit a person by how common they are among similar people.",
    _believed,
    ("sensitive", "priors", "people"),
)
