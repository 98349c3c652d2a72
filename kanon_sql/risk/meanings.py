"""The meaning of every figure of a risk in a sentence: of rows, or of people with a unit."""

from collections.abc import Mapping

_OF_ROWS: Mapping[str, str] = {
    "verdict": "A class is all rows that show the same quasi-identifiers; the table is k-anonymous if every class has "
    "at least k rows.",
    "class_sizes": "In a class of one, the row is identified at once; in a class of 20, one guess in 20 is right.",
    "suppressed": "Rows of the source that the release does not contain; people without another row are at no risk.",
    "highest": "An attacker who knows that a person is in the table finds their row with at most this probability.",
    "mean": "The same probability on average over all rows.",
    "above": "The share of rows that are found with a higher probability.",
    "marketer": "The share of rows that an attacker identifies by matching all of them with another table: classes "
    "over rows.",
    "journalist": "An attacker who does not know whether a person is in the table, and searches the population's rows "
    "of the same class, is right with this probability: at most, and on average.",
    "uniqueness": "The share of the population that is unique, as estimated from this sample.",
    "distinct_l": "The smallest number of different values in a class.",
    "entropy_l": "The same, with less weight for rare values: the number of equally frequent values with the same "
    "entropy.",
    "t": "The largest distance of a class from the whole table: 0 for the same distribution, 1 for no common value.",
    "homogeneous": "Classes with a single value, which is revealed to anyone who finds the class.",
    "attribution": "The mean probability of guessing a person's value correctly by the most frequent one of their "
    "class; the guess does not use the class.",
    "distinction": "Distinct values over rows: 1 if all rows differ.",
    "separation": "The share of pairs of rows that differ: 0 for a column with one value.",
    "unique": "Rows that are the only ones with their value.",
    "unique_without": "Rows that stay unique by the other quasi-identifiers if this one is left out.",
    "norms": "The requirement and the result; a dash if the data are not sufficient to decide. This is not legal "
    "advice.",
    "identifiers": "Columns that identify people, of the eighteen kinds that HIPAA lists, with their rows; other "
    "columns can be identifiers that no rule here recognizes.",
}

_OF_PEOPLE: Mapping[str, str] = {
    "verdict": "A class is all rows that show the same quasi-identifiers; the table is k-anonymous if every class has "
    "at least k people.",
    "class_sizes": "The size of a class is the number of its people; in a class of 20, one guess in 20 is right. "
    "Every person is counted once, in their smallest class.",
    "mean": "The same probability on average over all people, by their smallest class.",
    "above": "The share of people with a row that is found with a higher probability.",
    "marketer": "The share of people that an attacker identifies by matching all of them with another table, by their "
    "smallest class.",
    "several_rows": "An attacker who knows this many rows of a person, and looks for people with rows in all of their "
    "classes: one divided by the number of these people, for the rows of every person that are worst for them.",
    "linked_by": "The columns that show which rows belong to one person. Without any, an attacker needs this from "
    "elsewhere, so that the risk of several rows is an upper limit.",
    "unique": "People with a row that no other person's row equals; rows that are unique, if people are unknown.",
    "unique_without": "People, or rows, that are still unique by the other quasi-identifiers if this one is left out.",
    "attribution": "The mean probability, over the people of all classes, of guessing a person's value correctly by "
    "the most frequent one of their class; the guess does not use the class.",
}


def meanings(unit: str | None) -> dict[str, str]:
    """The meanings of the figures by name, if people of a unit are counted, or rows."""
    return {**_OF_ROWS, **(_OF_PEOPLE if unit else {})}
