"""What each figure of a risk means, in a sentence for people: of rows, or of people where a unit distinguishes them."""

from collections.abc import Mapping

_OF_ROWS: Mapping[str, str] = {
    "verdict": "A class is all rows that show the same quasi-identifiers; k holds if every class has k rows or more.",
    "class_sizes": "In a class of one the row is found at once; in a class of 20, one guess in 20 is right.",
    "suppressed": "Rows of the source that the release does not have; who is in no other row is at no risk from it.",
    "highest": "Who knows that somebody is in the table finds their row with at most this probability.",
    "mean": "The same probability on average over all rows.",
    "above": "The share of rows that are found with a higher probability than that.",
    "marketer": "The share of rows that somebody finds who matches all of them with another table: classes over rows.",
    "journalist": "Who does not know whether somebody is in the table, and looks among the population's rows of the "
    "same class, is right with this probability: at most, and on average.",
    "uniqueness": "The share of the population that is the only one of its kind, as estimated from this sample.",
    "distinct_l": "The fewest different values in a class.",
    "entropy_l": "The same, where values that few rows have count less: as many equally frequent ones.",
    "t": "How far a class may be from the whole table: 0 as the table, 1 nothing in common.",
    "homogeneous": "Classes that have one value alone: who finds the class knows the value.",
    "attribution": "The probability of guessing somebody's value by the most frequent one of their class, on average; "
    "without their class it is that of the guess.",
    "distinction": "Distinct values over rows: 1 where every row has its own.",
    "separation": "The share of pairs of rows that differ: a column of one value has 0.",
    "unique": "Rows that are the only ones with their value.",
    "unique_without": "Rows that stay unique by the other quasi-identifiers if this one is left out.",
    "norms": "What is asked, and what was found; a dash where the data alone do not tell. None of it is legal advice.",
    "identifiers": "Columns that tell who somebody is, of the eighteen kinds that HIPAA lists, with rows of each; "
    "what no rule here sees may be an identifier all the same.",
}

_OF_PEOPLE: Mapping[str, str] = {
    "verdict": "A class is all rows that show the same quasi-identifiers; k holds if every class has k people or more.",
    "class_sizes": "The people in a class are its size; in a class of 20, one guess in 20 is right. Everybody is "
    "counted once, at the smallest class that they are in.",
    "mean": "The same probability on average over all people, each by the smallest class that they are in.",
    "above": "The share of people who have a row that is found with a higher probability than that.",
    "marketer": "The share of people that somebody finds who matches all of them with another table, each by the "
    "smallest class that they are in.",
    "attribution": "The probability of guessing somebody's value by the most frequent one of their class, on average "
    "over the people of all classes; without their class it is that of the guess.",
}


def meanings(unit: str | None) -> dict[str, str]:
    """The meaning of each figure by its name, where the people of a unit are counted, or rows."""
    return {**_OF_ROWS, **(_OF_PEOPLE if unit else {})}
