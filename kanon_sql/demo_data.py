"""An invented census: people like the rows of UCI's Adult table, in any number, without a download.

The columns are drawn one after the other from tables of weights that depend on previous columns.
The weights are shares counted from Adult's 30,162 complete rows and rounded; no row of it is shipped.

Person n is a function of (seed, n) alone, so a shorter table is the beginning of a longer one. Only PCG64's
`random()` and table look-ups are used, so a seed means the same people under any version of numpy.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kanon_sql.errors import SpecError, TargetError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

# Part of the meaning of a seed: another size yields other people.
BLOCK = 16_384

# In the tables, a category is followed by its weights, one per group of people; only ratios within a group count.
# Groups of race: Female, Male.
_SEX = "Female 324 Male 676"
_RACE = """
White 807 885   Black 143 70   Asian-Pac-Islander 30 29   Amer-Indian-Eskimo 11 9   Other 9 7
"""

# Ages by sex: weights of 17, 18 … 90; 90 includes all above.
_AGE = """
Female 153 222 302 295 283 308 347 287 304 275 276 279 261 259 269 238 240 243 230 274 224 228 253 254
222 224 221 200 218 222 213 164 169 153 164 130 132 100 127 101 87 100 88 72 70 80 56 58 46 43
36 31 27 22 19 17 15 13 11 9 7 6 5 4 3 3 2 1 1 1 1 1 1 10
Male 87 113 147 167 169 183 238 231 246 234 255 263 255 275 289 273 295 293 296 287 299 279 264 254
271 256 259 249 242 242 233 178 191 209 202 161 157 145 129 120 124 121 121 101 94 66 64 57 45 40
34 30 26 21 19 16 14 12 11 9 8 6 5 5 4 3 2 2 1 1 1 1 1 12
"""

# By race, in the order above: the countries from which Adult has at least three people of it, and Holland.
_COUNTRY = """
White: United-States 9339 Mexico 216 Germany 46 Puerto-Rico 30 Canada 40 El-Salvador 37 Cuba 34 England 30
Italy 26 Dominican-Republic 14 Guatemala 23 Japan 7 Poland 21 Columbia 19 Iran 13 Portugal 13 Nicaragua 10
Peru 11 Greece 11 Ecuador 7 France 10 Ireland 9 Yugoslavia 6 Hungary 5 Honduras 4 Scotland 4
Holand-Netherlands 1

Black: United-States 9333 Mexico 14 Germany 21 Puerto-Rico 32 Cuba 11 England 25 Jamaica 263
Dominican-Republic 43 Japan 11 Haiti 146 Trinadad&Tobago 53 Outlying-US(Guam-USVI-etc) 21

Asian-Pac-Islander: United-States 3050 Philippines 1989 India 950 South 760 China 737 Vietnam 693 Japan 413
Iran 67 Taiwan 447 Hong 179 Cambodia 201 Thailand 168 Laos 190

Amer-Indian-Eskimo: United-States 9476 Mexico 280

Other: United-States 4892 Mexico 1645 Puerto-Rico 866 India 216 El-Salvador 173 Dominican-Republic 779
Guatemala 173 Columbia 260 Nicaragua 173 Ecuador 390
"""

# Groups: ages from _SCHOOL_AGES; then, for people born in _LATIN_AMERICA, ages from _LATIN_SCHOOL_AGES.
_SCHOOL_AGES = (17, 18, 19, 20, 22, 25, 35, 45, 55, 65)
_LATIN_SCHOOL_AGES = (17, 22, 45)
_LATIN_AMERICA = (
    "Mexico 1 Puerto-Rico 1 El-Salvador 1 Cuba 1 Dominican-Republic 1 Guatemala 1 Columbia 1 Haiti 1"
    " Nicaragua 1 Peru 1 Ecuador 1 Honduras 1"
)
_EDUCATION = """
Preschool      0   0   2   1   1   0   1   1   0   3   17  14  31
1st-4th        0   0   0   1   1   0   1   2   7  10   34  72 114
5th-6th        0   2   0   0   1   1   2   5  12  18  128 150 152
7th-8th        6   9  11   6   8   8   8  20  48  70   51  72  87
9th           69  14   4   9   8  10  10  13  26  26  111  68  42
10th         324  69  21  20  17  21  17  21  45  44   43  40  31
11th         475 323  65  23  29  25  20  24  28  35  128  42  21
12th         101 114  42  15  14   8   8   7  10   7   26  28  24
HS-grad       19 284 407 341 308 345 324 327 351 325  265 238 235
Some-college   6 183 440 522 318 210 210 195 173 174  179 144 104
Assoc-voc      0   0   5  31  41  54  53  44  31  29    9  22  10
Assoc-acdm     0   0   2  24  38  42  43  32  20   9    0  13  24
Bachelors      0   0   2   5 209 212 195 170 136 132    0  68  90
Masters        0   0   0   0   8  41  72  90  67  58    0  18  21
Prof-school    0   0   0   0   0  14  26  25  25  31    0  10   3
Doctorate      0   0   0   0   0   8  12  24  21  28    0   2  10
"""

# Groups: women, then men, by ages from _MARITAL_AGES.
_MARITAL_AGES = (17, 20, 25, 30, 35, 45, 55, 65, 75)
_MARITAL = """
Married-civ-spouse     12  56 152 190 215 186 165  65  81   17 165 438 623 714 796 823 828 667
Never-married         964 874 657 438 258 150  95 100 145  980 805 490 260 131  59  47  39 135
Divorced                9  33 122 255 390 451 376 235  97    1  13  44  84 117 112  89  49  14
Separated               8  24  43  82  83  85  50  27  16    0  10  19  22  27  13  14  12   0
Widowed                 0   1   4  11  31 102 296 565 629    0   0   1   1   2   7  19  64 163
Married-spouse-absent   5  11  22  21  23  26  18   8  32    1   6   7  10   9  13   8   8  21
Married-AF-spouse       3   1   0   3   2   0   0   0   0    0   0   2   0   0   0   0   0   0
"""

# Groups: women, then men, by the 8 stages of education; up to 8th grade is stage 0.
_STAGES = (
    "9th 1 10th 1 11th 1 12th 1 HS-grad 2 Some-college 3 Assoc-voc 4 Assoc-acdm 4 Bachelors 5 Masters 6"
    " Prof-school 7 Doctorate 7"
)
_OCCUPATION = """
Prof-specialty     12  21  32  67 195 375 650 804   14  13  19  61  96 253 436 814
Craft-repair       31  28  32  20  21   9   4   6  218 250 268 193 235  58  17  11
Exec-managerial     4  31  85 116 128 214 206 119   27  30  79 139 126 286 345 109
Adm-clerical       23 119 309 356 300 173  57  18   17  28  58  89  69  66  34  12
Sales              43 204 134 154  85 106  41  30   46  65  94 146 119 179  97  27
Other-service     395 378 229 169 127  49  24   6  129 156  80  82  55  27   5   4
Machine-op-inspct 271 116  87  28  20   9   4   6  135 114 110  57  53  13   5   0
Transport-moving    0  12  16   8   7   1   0   0  120 129 114  62  42  15   8   5
Handlers-cleaners  31  35  29  11   7   3   0   0  121 135  76  56  30  12   4   0
Farming-fishing    35   9   7   8   4   2   0   0  157  63  56  37  43  21   9   7
Tech-support       16   6  19  46  92  47  14  12    3   5  15  37  82  43  24   9
Protective-serv     4   6   7  11   8   9   0   0   13   9  29  41  51  24  13   1
Priv-house-serv   136  35  15   6   6   3   0   0    0   2   0   0   1   1   0   0
Armed-Forces        0   0   0   0   0   0   0   0    0   1   1   0   0   0   1   0
"""

# Groups: the occupations, in the order above.
_WORKCLASS = """
Private          558 781 663 751 808 830 957 793 930 455 793 289 1000    0
Self-emp-not-inc  90 130  96  13 105  54  18  75  11 435  29   9    0    0
Local-gov        171  35  53  76   2  59   6  73  34  29  42 472    0    0
State-gov        100  14  47  67   3  38   7  26   7  15  61 180    0    0
Self-emp-inc      39  25  96   8  78   8   5  17   1  52   3   8    0    0
Federal-gov       41  16  45  85   4  11   7  15  16   8  72  42    0 1000
Without-pay        0   0   0   1   0   0   1   1   1   6   0   0    0    0
"""

# A logistic rule for over 50K: tenths of log-odds, summed over a person's categories; 0 if not listed.
_SALARY_START = -52
_SALARY_FROM_AGE = {25: 12, 30: 6, 35: 4, 40: 1, 45: 2, 50: 1, 55: -3, 65: -7}
_SALARY_POINTS = """
Male 3   Married-civ-spouse 21   Married-AF-spouse 21   Never-married -2
Preschool -19  1st-4th -14  5th-6th -13  7th-8th -13  9th -11  10th -7  11th -6  12th -3  Some-college 3
Assoc-voc 5   Assoc-acdm 5   Bachelors 12   Masters 15   Prof-school 23   Doctorate 22
Exec-managerial 9   Tech-support 6   Prof-specialty 5   Protective-serv 4   Sales 4   Craft-repair -1
Transport-moving -1   Armed-Forces -3   Machine-op-inspct -4   Handlers-cleaners -8   Farming-fishing -9
Other-service -10   Priv-house-serv -16
"""
_SALARY_SCORES = range(-100, 101)

_COLUMNS = (
    *("age", "workclass", "education", "marital-status", "occupation"),
    *("race", "sex", "native-country", "salary-class"),
)


def people(rows: int, seed: int = 0) -> pd.DataFrame:
    """Create a table of `rows` people: `person_id` (text), `age` (whole years, 17 to 90) and eight texts.

    >>> people(2, seed=1).columns.tolist()[:4]
    ['person_id', 'age', 'workclass', 'education']
    >>> people(1000).head(10).equals(people(10))
    True
    """
    _check(rows, seed)
    return _frame(0, rows, seed)


def write_parquet(path: str | Path, rows: int, seed: int = 0, chunk: int = 250_000) -> None:
    """Write the rows of `people(rows, seed)` to a Parquet file, `chunk` at a time in memory; replaces `path`.

    >>> write_parquet("people.parquet", rows=1_000_000)  # doctest: +SKIP
    """
    _check(rows, seed)
    if chunk < 1:
        raise SpecError(f"chunk is {chunk}; it must be at least 1 row")
    target = Path(path)
    if not target.parent.is_dir():
        raise TargetError(f"there is no directory {target.parent} to write {target.name} in; create it first")
    # Next to the target: on the same disk, the finished file can be renamed in one step.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".people-") as scratch:
        finished = Path(scratch) / "people.parquet"
        _spool(finished, (_frame(at, min(at + chunk, rows), seed) for at in range(0, rows, chunk)))
        finished.replace(target)


def _spool(target: Path, frames: Iterator[pd.DataFrame]) -> None:
    """Collect frames in a DuckDB file next to the target, since a Parquet file cannot be appended to."""
    import duckdb

    texts = ", ".join(f'"{name}" VARCHAR' for name in _COLUMNS[1:])
    # Without a limit DuckDB would use all memory, and every additional thread would buffer a row group.
    limits: dict[str, Any] = {"memory_limit": "256MB", "threads": 2}
    with duckdb.connect(target.with_suffix(".duckdb"), config=limits) as connection:
        connection.execute(f"CREATE TABLE people (person_id VARCHAR, age BIGINT, {texts})")
        for frame in frames:
            connection.register("frame", frame)
            connection.execute("INSERT INTO people FROM frame")
        connection.table("people").write_parquet(str(target), compression="zstd")


def _check(rows: int, seed: int) -> None:
    if rows < 0 or seed < 0:
        raise SpecError(f"rows is {rows} and seed is {seed}; neither can be below 0")


def _frame(start: int, stop: int, seed: int) -> pd.DataFrame:
    """The people from position `start` (from 0) up to, but excluding, `stop`."""
    import numpy as np
    import pandas as pd

    tables = _tables()
    blocks = [_block(tables, n, start, stop, seed) for n in range(start // BLOCK, stop // BLOCK + 1)]
    columns: dict[str, Any] = {"person_id": [f"P{n:07d}" for n in range(start + 1, stop + 1)]}
    for name in _COLUMNS:
        codes = np.concatenate([block[name] for block in blocks])
        columns[name] = np.array(tables[name].categories, dtype=object)[codes]
    return pd.DataFrame(columns).astype({"age": "int64"})


def _block(tables: dict[str, _Table], block: int, start: int, stop: int, seed: int) -> dict[str, Array]:
    """The people of one block between `start` and `stop`, with the columns as positions in their categories."""
    import numpy as np

    first = block * BLOCK
    generator = np.random.Generator(np.random.PCG64([seed, block]))
    # A row of numbers per person, so that a block's first people are the same however many are drawn.
    chances = generator.random((min(stop - first, BLOCK), len(_COLUMNS)))[max(start - first, 0) :]
    drawn = _draw_all(tables, dict(zip(_COLUMNS, chances.T, strict=True)))
    return {name: codes.astype("int16") for name, codes in drawn.items()}


def _draw_all(tables: dict[str, _Table], chances: dict[str, Array]) -> dict[str, Array]:
    """All columns, in order of dependence, from numbers in [0, 1) per column."""
    drawn: dict[str, Array] = {}

    def draw(name: str, group: Array | int) -> Array:
        drawn[name] = tables[name].draw(group, chances[name])
        return drawn[name]

    def points(name: str, text: str) -> Array:
        return tables[name].points(drawn[name], text)

    sex = draw("sex", 0)
    age = draw("age", sex) + int(tables["age"].categories[0])
    draw("native-country", draw("race", sex))
    latin = points("native-country", _LATIN_AMERICA)
    latin_school = len(_SCHOOL_AGES) + _band(_LATIN_SCHOOL_AGES, age)
    draw("education", latin * latin_school + (1 - latin) * _band(_SCHOOL_AGES, age))
    draw("marital-status", sex * len(_MARITAL_AGES) + _band(_MARITAL_AGES, age))
    draw("workclass", draw("occupation", sex * 8 + points("education", _STAGES)))
    by_age = sum(gain * (age >= start) for start, gain in _SALARY_FROM_AGE.items())
    by_rest = sum(points(name, _SALARY_POINTS) for name in drawn if name != "age")
    draw("salary-class", _SALARY_START + by_age + by_rest - _SALARY_SCORES.start)
    return drawn


def _band(starts: tuple[int, ...], age: Array) -> Array | int:
    """The number of the band of every age, for bands that begin at `starts`: 0 for the first."""
    return sum(age >= start for start in starts[1:])


class _Table(NamedTuple):
    """The categories to draw, with their shares in every group of people."""

    categories: list[str]
    bounds: Array  # group after group: the categories' cumulative shares, plus the group's number

    def draw(self, group: Array | int, chance: Array) -> Array:
        """The positions of the people's categories, from their groups and numbers in [0, 1)."""
        import numpy as np

        size = len(self.categories)
        place = np.searchsorted(self.bounds, group + chance, side="right") - group * size
        return np.minimum(place, size - 1)  # if a chance near 1 is rounded up to the next group

    def points(self, codes: Array, text: str) -> Array:
        """The points of the people's categories by this text; 0 if not listed."""
        import numpy as np

        read = _read(text)
        return np.array([read.get(category, [0])[0] for category in self.categories])[codes]


def _tables() -> dict[str, _Table]:
    """The tables of the columns."""
    texts = {"sex": _SEX, "race": _RACE, "education": _EDUCATION, "marital-status": _MARITAL}
    weights = {name: _read(text) for name, text in texts.items()}
    weights |= {"occupation": _read(_OCCUPATION), "workclass": _read(_WORKCLASS)}
    weights |= {"native-country": _countries(), "salary-class": _salaries()}
    weights["age"] = {str(17 + n): [*pair] for n, pair in enumerate(zip(*_read(_AGE).values(), strict=True))}
    return {name: _table(by_category) for name, by_category in weights.items()}


def _table(weights: dict[str, list[int]]) -> _Table:
    """A table from the weights of the categories per group."""
    import numpy as np

    by_group = np.array(list(weights.values())).T
    shares = by_group.cumsum(axis=1) / by_group.sum(axis=1, keepdims=True)
    return _Table(list(weights), (shares + np.arange(len(shares))[:, None]).ravel())


def _read(text: str) -> dict[str, list[int]]:
    """The words of a text with the numbers after them."""
    read: dict[str, list[int]] = {}
    for word in text.split():
        if word.lstrip("-").isdigit():
            read[next(reversed(read))].append(int(word))
        else:
            read[word] = []
    return read


def _countries() -> dict[str, list[int]]:
    by_race = [_read(paragraph.partition(":")[2]) for paragraph in _COUNTRY.split("\n\n")]
    countries = sorted({country for weights in by_race for country in weights})
    return {country: [weights.get(country, [0])[0] for weights in by_race] for country in countries}


def _salaries() -> dict[str, list[int]]:
    """Chances in a million per score, rounded, since the last digit of `exp` differs between machines."""
    over = [round(1_000_000 / (1 + math.exp(-score / 10))) for score in _SALARY_SCORES]
    return {"<=50K": [1_000_000 - weight for weight in over], ">50K": over}
