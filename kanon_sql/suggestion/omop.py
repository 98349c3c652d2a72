"""The OMOP Common Data Model, version 5.4 (https://ohdsi.github.io/CommonDataModel/cdm54.html): its tables and columns.

Concept ids are numbers without an order. Those of clinical events are generalized to their ancestors in the vocabulary,
if the database has the table `concept_ancestor`; otherwise they are shown or not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kanon_sql.engine import Column
from kanon_sql.engines.scratch import Scratch
from kanon_sql.generalization.codes import OTHER
from kanon_sql.hints import DROPPED, IDENTIFIER, QUASI_IDENTIFIER
from kanon_sql.queries import Relation

PEOPLE = "person"  # the table with one row per person
Levels = tuple[Mapping[Any, str], ...]  # the label of each value, per level
LevelsOf = Callable[[Scratch, Mapping[str, Relation], Collection[Any]], Levels]
_MOST_LEVELS = 4  # of a hierarchy of concepts
_VOCABULARY = (
    "concept", "vocabulary", "domain", "concept_class", "concept_relationship", "relationship", "concept_synonym",
    "concept_ancestor", "source_to_concept_map", "drug_strength", "cdm_source", "metadata",
)  # fmt: skip
_DERIVED = ("drug_era", "dose_era", "condition_era", "episode", "episode_event", "cohort", "cohort_definition")
_LEFT_OUT = {
    **dict.fromkeys(_VOCABULARY, "the vocabulary, which has no people"),
    **dict.fromkeys(_DERIVED, "derived from other tables: derive it again from the release"),
    **dict.fromkeys(("note", "note_nlp"), "free text, which can name people"),
    "fact_relationship": "it refers to rows of any table by their old keys",
    "location": "addresses: add a coarse part of them to person in a view",
    "care_site": "it has no people; care_site_id is dropped, too, since it tells where somebody was treated",
    "provider": "it describes physicians, not patients",
}


@dataclass(frozen=True)
class OmopColumn:
    """The role of a column, and the reason.

    For a quasi-identifier: `recipe` and `why` of its hierarchy, without which it is suggested as usual; `levels_of`:
    its levels, from the values and other tables of the database, if these have them. `weight`: how much it counts in
    the loss that the search minimizes.
    """

    role: str
    reason: str
    recipe: Any = None
    why: str = ""
    levels_of: LevelsOf | None = None
    weight: float | None = None


_BORN = "the day of birth is finer than year_of_birth, which is generalized"
_TIME = "the time of an event is finer than its date, which is generalized"
_TEXT = "it contains text or codes as the source wrote them"
_SHOWN = "a concept: shown, or not"
_OTHERS = "others may know it"
_PERSON = {
    "year_of_birth": OmopColumn(QUASI_IDENTIFIER, _OTHERS, weight=0.8),
    "month_of_birth": OmopColumn(DROPPED, _BORN),
    "day_of_birth": OmopColumn(DROPPED, _BORN),
    "birth_datetime": OmopColumn(DROPPED, _BORN),
    "gender_concept_id": OmopColumn(QUASI_IDENTIFIER, _OTHERS, "suppress", _SHOWN, weight=0.5),
    "race_concept_id": OmopColumn(QUASI_IDENTIFIER, _OTHERS, "suppress", _SHOWN, weight=0.2),
    "ethnicity_concept_id": OmopColumn(QUASI_IDENTIFIER, _OTHERS, "suppress", _SHOWN, weight=0.2),
}
_KEPT_OUT = {
    "location_id": "it leads to an address",
    "provider_id": "it tells who treated somebody",
    "care_site_id": "it tells where somebody was treated; as a quasi-identifier, it costs detail of other columns",
}
_TEXTS = ("value_as_string", "stop_reason", "sig", "lot_number", "unique_device_id", "production_id", "note_text")


def left_out(table: str) -> str | None:
    """Why a table is left out; None for other tables."""
    name = table.lower()
    return "results of cohort definitions" if name.startswith("cohort_") else _LEFT_OUT.get(name)


def column_of(table: str, column: Column, parent: str | None) -> OmopColumn | None:
    """The role of a column by the conventions of OMOP; None for one that the conventions do not cover.

    `table`: in small letters. `parent`: the table that its rows refer to in addition to the people.
    """
    name = column.name.lower()
    if table == PEOPLE and name in _PERSON:
        return _PERSON[name]
    if name == f"{table}_id":
        return None  # the table's key, if it is not used as one
    if name.endswith("_source_value"):
        return OmopColumn(IDENTIFIER if table == PEOPLE else DROPPED, _TEXT)
    if name in _TEXTS:
        return OmopColumn(DROPPED, _TEXT)
    if name in _KEPT_OUT:
        return OmopColumn(DROPPED, _KEPT_OUT[name])
    if name.endswith(("_datetime", "_time")):
        return OmopColumn(DROPPED, _TIME)
    if name.endswith("_date"):
        return _date(table, name, parent)
    if name.endswith("_concept_id"):
        return _concept(table, name)
    if name.endswith("_id"):
        return OmopColumn(DROPPED, "it refers to rows by their old keys")
    if name == "value_as_number" and column.kind in ("integer", "decimal", "float"):
        return None  # generalized as its values suggest
    if column.kind in ("integer", "decimal", "float"):
        return OmopColumn(DROPPED, "an amount; add it as a quasi-identifier if you need it")
    return OmopColumn(DROPPED, "it is not among the columns that the preset releases")


def _date(table: str, name: str, parent: str | None) -> OmopColumn:
    """The first day of an event is generalized, unless its visit has it; the last day would identify people, too."""
    if parent and parent.lower() == "visit_occurrence":
        reason = "its visit has the date; add it as a quasi-identifier if it happened on another day"
        return OmopColumn(DROPPED, reason)
    if name.endswith("_end_date") and table != "observation_period":
        return OmopColumn(DROPPED, "the first day is released; add it as a quasi-identifier if you need durations")
    recipe = {"dates": ["month", "quarter", "year", "5 years"]}
    return OmopColumn(QUASI_IDENTIFIER, "others may know when it was", recipe, "parts of the calendar", weight=0.6)


def _concept(table: str, name: str) -> OmopColumn:
    """What happened is a quasi-identifier; the concepts of how and where it was recorded are dropped."""
    event = name.removesuffix("_concept_id")
    if table.startswith("visit") and table.startswith(event):
        return OmopColumn(QUASI_IDENTIFIER, _OTHERS, "suppress", _SHOWN, weight=0.4)
    if table.startswith(event) or name == "cause_concept_id":
        why = "concepts by their ancestors in the vocabulary; without them, shown or not"
        return OmopColumn(QUASI_IDENTIFIER, _OTHERS, "suppress", why, _ancestors)
    if name == "value_as_concept_id":
        return OmopColumn(QUASI_IDENTIFIER, "others may know the result", "suppress", _SHOWN)
    if name == "unit_concept_id":
        return OmopColumn(QUASI_IDENTIFIER, "numbers need their unit", "suppress", _SHOWN, weight=0.2)
    if event.endswith("_source"):
        return OmopColumn(DROPPED, "the concept as the source coded it: finer than the standard concept")
    return OmopColumn(DROPPED, "how it was recorded; add it as a quasi-identifier if you need it")


def _ancestors(scratch: Scratch, tables: Mapping[str, Relation], values: Collection[Any]) -> Levels:
    """The ancestors of concepts, from the finest level to the coarsest; empty without a vocabulary.

    A concept can have several parents: the one with most of the concepts below it is chosen, then the oldest, so that
    the levels are nested.
    """
    vocabulary = tables.get("concept_ancestor")
    concepts = [int(value) for value in values if value is not None]
    if vocabulary is None or not concepts:
        return ()
    wanted = scratch.load("concepts", {"concept_id": "BIGINT"}, [concepts])
    edges = scratch.rows("keys/ancestors", vocabulary=vocabulary, concepts=wanted)
    scratch.drop("concepts")
    parents: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for child, above, below in edges:
        parents[int(child)].append((-int(below), int(above)))
    parent = {child: min(found)[1] for child, found in parents.items()}
    paths = {concept: _path(concept, parent) for concept in concepts}
    deepest = max(len(path) for path in paths.values())
    levels = [
        {concept: str(path[min(depth, len(path) - 1)]) for concept, path in paths.items()}
        for depth in range(deepest - 2, -1, -1)
    ]
    missing = {None: OTHER} if None in values else {}
    return tuple({**level, **missing} for level in _spread(levels, len(concepts)))


def _path(concept: int, parent: Mapping[int, int]) -> list[int]:
    """The concepts from the root to a concept."""
    path = [concept]
    while path[-1] in parent and parent[path[-1]] not in path:
        path.append(parent[path[-1]])
    return path[::-1]


def _spread(levels: Sequence[Mapping[int, str]], values: int) -> Iterator[Mapping[int, str]]:
    """At most four of the levels that merge concepts, whose numbers of labels fall by similar factors."""
    sizes = [len(set(level.values())) for level in levels]
    merging = [index for index, size in enumerate(sizes) if 1 < size < min([values, *sizes[:index]])]
    if len(merging) > _MOST_LEVELS:
        wanted = [values ** (1 - step / (_MOST_LEVELS + 1)) for step in range(1, _MOST_LEVELS + 1)]
        merging = sorted({min(merging, key=lambda index: abs(sizes[index] / goal - 1)) for goal in wanted})
    for index in merging:
        yield levels[index]
