"""Names of people: whether a text is one, by a list of first names and surnames, or by a title before it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from kanon_sql.hints import folded, words


def is_name(text: str) -> bool:
    """Whether every word of a text is a first name, a surname, or a particle or an initial between them.

    >>> [is_name(text) for text in ("Käthi", "Meier-Müller, Urs", "Anna M. van Dijk", "Zürich", "nurse", "Dr. med. Oz")]
    [True, True, True, False, False, False]
    """
    parts = [word for word in re.split(r"[\s,.'-]+", text) if word]
    if not 1 <= len(parts) <= _MOST_WORDS or not parts[0][0].isalpha():
        return False
    plain = [word for word in parts if len(word) > 1 and word.lower() not in _PARTICLES]
    return bool(plain) and all(word[0].isupper() and folded(word).lower() in _names() for word in plain)


def is_titled(text: str) -> bool:
    """Whether a text is a title and a name.

    >>> [is_titled(text) for text in ("Dr. med. Oz", "Mme Duval", "Prof. X", "Dr.", "Drs", "Mr and Mrs")]
    [True, True, True, False, False, False]
    """
    return _TITLED.fullmatch(text) is not None


@cache
def _names() -> frozenset[str]:
    lines = Path(__file__).with_name("names.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


_MOST_WORDS = 5
_PARTICLES = words("van von der den de di da do dos del della du la le el al bin ibn ben y e zu zur ten ter")
_TITLED = re.compile(
    r"(Dr|Prof|PD|Mr|Mrs|Ms|Herr|Frau|Mme|Mlle|Sig|Sigra|Sr|Sra|Dott|Dhr|Mevr|Pan|Pani|Ing|Drs)\.?"
    r"(\s+[A-Za-z]{1,5}\.)*(\s+[A-ZÀ-ÖØ-ÞŁŚŻŹĆČŠŽ][\w'-]*)+"
)
