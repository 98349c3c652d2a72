"""The demo's folder except its people: the tables, files and specs that README and docs/ use.

All data are invented. Like the people, they are drawn only with PCG64's `random()` and table look-ups, so they are the
same with every version of numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any, TypeAlias

from kanon_sql.resources import folder

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

PATIENTS, TAXIS, TRIPS = 2000, 20, 1000

_FIRST = "Anna Beat Clara David Elena Franz Greta Hans Ida Jakob Klara Lukas Maria Noah Olga Peter Rosa Simon Tina Urs"
_LAST = (
    "Aebi Bieri Camenzind Dürr Egger Frei Gasser Huber Jäggi Keller Lüthi Meier Müller Roth Schär Stein Weiß Zürcher"
)
# A city has a few zip codes; repeated ones are more frequent.
_HOMES = """
Bern:3006 Bern:3006 Bern:3008 Bern:3011 Bern:3014 Thun:3600 Thun:3604 Thun:3608 Basel:4051 Basel:4053 Basel:4057
Graz:8010 Graz:8010 Graz:8020 Graz:8042 Linz:4020 Linz:4030
"""
_DISEASES = "flu flu flu flu asthma asthma asthma ulcer ulcer diabetes diabetes gastritis HIV"


def patients() -> pd.DataFrame:
    """The table `patients`: names, ages, homes, admissions and diseases.

    >>> patients().columns.tolist()
    ['name', 'ssn', 'age', 'zip', 'admitted', 'city', 'sex', 'disease']
    """
    import numpy as np
    import pandas as pd

    first, last, age, home, day, sex, disease = _chances(PATIENTS, 7, 1)
    homes = np.char.partition(_picked(_HOMES, home).astype(str), ":")
    days = (400 * day).astype("int64").astype("timedelta64[D]")
    return pd.DataFrame(
        {
            "name": [f"{a} {b}" for a, b in zip(_picked(_FIRST, first), _picked(_LAST, last), strict=True)],
            "ssn": [f"756.{1000 + 7919 * i % 9000}.{1000 + 104_729 * i % 9000}.{10 + i % 90}" for i in range(PATIENTS)],
            "age": (18 + 40 * age + 35 * age * age).astype("int64"),
            "zip": homes[:, 2].astype(object),
            "admitted": (np.datetime64("2025-01-01") + days).astype(object),
            "city": homes[:, 0].astype(object),
            "sex": _picked("f m", sex),
            "disease": _picked(_DISEASES, disease),
        }
    )


def trips() -> pd.DataFrame:
    """The table `trips`: places and times of taxis over a day."""
    import numpy as np
    import pandas as pd

    taxi = np.arange(TRIPS) % TAXIS
    far, angle, speed = _chances(TRIPS, 3, 2)
    turn = np.linspace(-1, 1, 97)[(97 * angle).astype(int)]  # no sine, whose last digit differs between machines
    seconds = (np.arange(TRIPS) * 71).astype("timedelta64[s]")
    return pd.DataFrame(
        {
            "taxi": taxi,
            "lat": 46.95 + (0.05 * far * turn).round(6),
            "lon": 7.45 + (0.08 * far * (1 - abs(turn))).round(6),
            "ts": np.datetime64("2025-03-01T00:00:00", "us") + seconds,
            "speed": (70 * speed).astype("int64"),
        }
    )


def write(directory: Path) -> None:
    """Write the tables, files and specs that are not in the folder yet; existing ones stay unchanged."""
    for path in folder("demo").rglob("*.*"):
        _write(directory / path.relative_to(folder("demo")), partial(copyfile, path))
    _write(directory / "hospital.duckdb", _write_hospital)
    _write(directory / "patients.csv", _write_export)
    _write(directory / "trips.parquet", _write_trips)


def _write(path: Path, write: Callable[[Path], object]) -> None:
    """Write to a temporary file, renamed when complete, unless the file exists."""
    if path.exists():
        return
    path.parent.mkdir(exist_ok=True)
    new = path.with_name(f".{path.name}")
    new.unlink(missing_ok=True)
    write(new)
    new.replace(path)


def _write_hospital(path: Path) -> None:
    import duckdb

    from kanon_sql.database_file import create_file

    create_file(path)
    with duckdb.connect(path) as connection:
        connection.from_df(patients()).create("patients")


def _write_trips(path: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.from_df(trips()).write_parquet(str(path))


def _write_export(path: Path) -> None:
    """The patients as exported by a spreadsheet on German Windows."""
    cost, minute = _chances(PATIENTS, 2, 3)
    lines = ["Name;PLZ;Alter;Kosten;Aufnahme"]
    for row, c, m in zip(patients().itertuples(), cost, (1440 * minute).astype(int), strict=True):
        paid = f"{40 + 4000 * c * c:.2f}".replace(".", ",")
        lines.append(f"{row.name};{row.zip};{row.age};{paid};{row.admitted:%d.%m.%Y} {m // 60:02}:{m % 60:02}")
    path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))


def _chances(rows: int, columns: int, seed: int) -> Array:
    """Random numbers in [0, 1), one array per column."""
    import numpy as np

    return np.random.Generator(np.random.PCG64(seed)).random((columns, rows))


def _picked(words: str, chance: Array) -> Array:
    import numpy as np

    choices: Array = np.array(words.split(), dtype=object)
    picked: Array = choices[(len(choices) * chance).astype(int)]
    return picked
