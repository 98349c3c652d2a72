"""Singling out: predicates, from rows of the release, that exactly one row of the source satisfies.

Source: Article 29 Working Party, Opinion 05/2014 on anonymisation techniques, section 2.2.1; M. Giomi, F. Boenisch,
C. Wehmeyer, B. Tasnádi, "A unified framework for quantifying privacy risk in synthetic data", PoPETs 2023(2), section
3.2; A. Cohen, K. Nissim, "Towards formalizing the GDPR's notion of singling out", PNAS 117(15), 2020. The attacker
takes a row that is unique in the release by one column or by several, including unchanged ones, and claims that exactly
one person has these values. The attack succeeds if the source has exactly one such row. It is counted for all columns
together and for some sets of columns. By chance: among as many random people, a predicate with a probability of one in
as many is satisfied by exactly one of them in 37 % of cases.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kanon_sql.attack.matching import coded_copy, coded_values, codes_of_texts, covered_values, texts_of_codes
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Control, Outcome
from kanon_sql.frequency.code_arrays import Integers
from kanon_sql.generalization.values import Label

_SETS = 8  # of columns, including all of them together
_Names = tuple[str, ...]


@dataclass(frozen=True)
class _Predicates:
    """Predicates of some of the rows that are unique in the release by some columns.

    `codes`: by column, those of the release's values or labels.
    """

    unique_rows: int
    attempts: int
    codes: Mapping[str, Integers]

    def of_all(self, isolating: int) -> int:
        """The estimated number of people isolated by all unique rows."""
        return round(self.unique_rows * isolating / self.attempts) if self.attempts else 0


def _singling_out(material: Material) -> Iterator[Outcome]:
    source = material.source
    assert source is not None
    columns = dict.fromkeys((*material.quasi_identifiers, *material.release.columns))
    names = tuple(name for name in columns if name in source.columns and name != material.unit)
    yield _outcome(material, source, "singling_out_by_one", [(name,) for name in names], "one column")
    if len(names) > 1:
        sets = _sets(names, random.Random(material.seed))
        yield _outcome(material, source, "singling_out", sets, "several columns")


def _sets(names: _Names, draw: random.Random) -> list[_Names]:
    """All columns together, and a random sample of sets of two or more."""
    sizes = [draw.randint(2, len(names)) for _ in range(_SETS - 1)]
    drawn = (tuple(sorted(draw.sample(names, size), key=names.index)) for size in sizes)
    return list(dict.fromkeys((names, *drawn)))


def _outcome(material: Material, source: Copy, name: str, sets: Sequence[_Names], by: str) -> Outcome:
    most = max(1, material.most // len(sets))
    drawn = [_drawn(material, names, most) for names in sets]
    isolating = _isolating(material, source, drawn)
    worst = max(range(len(sets)), key=lambda i: (drawn[i].of_all(isolating[i]), drawn[i].unique_rows))
    unique, people = drawn[worst].unique_rows, drawn[worst].of_all(isolating[worst])
    rows = material.release.rows
    # The probability that exactly one of random people satisfies a predicate that holds for one in `rows`.
    by_chance = source.rows / rows * (1 - 1 / rows) ** (source.rows - 1) if source.rows else 0.0
    attempts = sum(predicates.attempts for predicates in drawn)
    outcome = Outcome(
        name,
        f"{unique:,} of {rows:,} rows are unique in the release by {by}, and {people:,} of these descriptions "
        "fit exactly one row of the source.",
        attempts=rows,
        successes=people,
        affected=people,
        baseline=unique / rows * by_chance,
        sampled=drawn[worst].attempts < unique,
        figures={"unique_rows": unique, "descriptions": attempts, "isolating": sum(isolating)},
        avoid="drop or generalize the columns that are released unchanged",
    )
    if not material.control:
        return outcome
    of_control = _isolating(material, material.control, [drawn[worst]])
    control = Control(rows, drawn[worst].of_all(of_control[0]))
    sentence = f"{outcome.sentence} Descriptions that fit exactly one row of the control: {control.successes:,}."
    return replace(outcome, on_control=control, sentence=sentence)


def _drawn(material: Material, names: _Names, most: int) -> _Predicates:
    """The predicates of unique rows of the release, drawn with the seed if there are more than `most`."""
    release = coded_copy(material, material.release)
    unique = release.unique_rows(names)
    drawn = unique[random.Random(material.seed).sample(range(len(unique)), min(most, len(unique)))]
    return _Predicates(len(unique), len(drawn), {name: release.codes[name][drawn] for name in names})


def _isolating(material: Material, people: Copy, drawn: Sequence[_Predicates]) -> list[int]:
    """For each set of columns, how many of the predicates exactly one of the people satisfies."""
    coded = coded_copy(material, people)
    allowed: dict[str, dict[int, Sequence[int]]] = {}
    for name in dict.fromkeys(name for predicates in drawn for name in predicates.codes):
        codes = np.unique(np.concatenate([predicates.codes[name] for predicates in drawn if name in predicates.codes]))
        texts = texts_of_codes(material, material.release, name, codes)
        covered: Mapping[Label, Sequence[int]]
        if name in material.quasi_identifiers:
            values = coded_values(material, people, name)
            covered = covered_values(material, people, name, list(texts.values()), values)
        else:
            covered = codes_of_texts(material, people, name, texts.values())
        allowed[name] = {code: covered.get(text, ()) for code, text in texts.items()}
    isolating = []
    for predicates in drawn:
        of_columns = {
            name: [allowed[name][code] for code in codes.tolist()] for name, codes in predicates.codes.items()
        }
        isolating.append(int((coded.rows_that_fit(of_columns) == 1).sum()))
    return isolating


SINGLING_OUT = Attack(
    "singling_out",
    "Describe a row that is unique in the release, and check whether exactly one person has these values.",
    _singling_out,
    ("source",),
    ("singling_out_by_one", "singling_out"),
)
