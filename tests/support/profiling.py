"""A table of patients, and the figures of its profile."""

from typing import Any

from kanon_sql.engine import Engine
from kanon_sql.verbs.profile import Profile
from kanon_sql.verbs.profile import profiled as profile
from support.database import create_table

Row = tuple[Any, ...]
PATIENTS = {
    "name": "VARCHAR",
    "ssn": "VARCHAR",
    "birth date": "DATE",
    "zip": "VARCHAR",
    "sex": "VARCHAR",
    "ward": "INTEGER",
    "hospital": "VARCHAR",
    "diagnosis": "VARCHAR",
    "charge": "DECIMAL(10, 2)",
    "dose": "DOUBLE PRECISION",
}
_PATIENT_ROWS: list[Row] = [
    ("Ann", "078-05-1120", "1970-01-01", "02138", "f", 1, "St Mary", "flu", 100, 0.5),
    ("Ben", "078-05-1121", "1970-01-01", "02138", "m", 1, "St Mary", "flu", 210, 1.5),
    ("Cem", "078-05-1122", "1971-02-02", "02138", "m", 1, "St Mary", "gout", 330, 2.5),
    ("Dot", "078-05-1123", "1971-02-02", "02139", "f", 1, "St Mary", "gout", 401, 3.5),
    ("Eve", "078-05-1124", "1972-03-03", "02139", "f", 1, "St Mary", "flu", 520, 0.5),
    ("Fay", "078-05-1125", "1973-03-03", "02139", "f", 1, "St Mary", "mumps", 611, 0.5),
    ("Gus", "078-05-1126", "1974-03-03", None, "m", 1, "St Mary", "flu", 700, None),
    ("Hal", None, "1974-03-03", None, "m", 1, "St Mary", "flu", 801, None),
]


def patients(engine: Engine) -> Profile:
    return profile(engine, create_table(engine, "patients", PATIENTS, _PATIENT_ROWS))


def suggested(profiled: Profile) -> dict[str, str]:
    return {column.name: column.suggestion for column in profiled.columns}
