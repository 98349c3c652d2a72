"""A synthetic database in the OMOP Common Data Model, version 5.4: person, visit_occurrence, condition_occurrence.

All data are invented. They depend on the number of people and the seed only: chances are MD5 digests of row numbers.
Concept ids of sex, race, ethnicity and visits are those of the OMOP vocabulary; conditions have ids above
2,000,000,000, which OMOP reserves for local concepts, in a small tree of diseases.
"""

from __future__ import annotations

from pathlib import Path

_DISEASES = """
Heart: Heart failure, Myocardial infarction, Atrial fibrillation, Angina pectoris
Vessels: Hypertension, Stroke, Varicose veins, Peripheral artery disease
Upper airways: Common cold, Sinusitis, Pharyngitis, Allergic rhinitis
Lungs: Asthma, Pneumonia, Chronic obstructive pulmonary disease, Influenza
Diabetes: Type 2 diabetes, Type 1 diabetes, Gestational diabetes
Metabolism: Obesity, Hyperlipidemia, Gout, Hypothyroidism
Mood: Depression, Bipolar disorder, Anxiety disorder
Psychosis and addiction: Schizophrenia, Alcohol dependence, Opioid dependence
Joints: Osteoarthritis, Rheumatoid arthritis, Shoulder pain
Spine: Low back pain, Slipped disc, Scoliosis
Stomach: Gastritis, Gastric ulcer, Reflux disease
Bowel: Crohn disease, Ulcerative colitis, Appendicitis, Colon polyp
Viruses: HIV infection, Hepatitis C, Herpes zoster
Urinary tract: Urinary tract infection, Kidney stone, Chronic kidney disease
"""
_SYSTEMS = {
    "Cardiovascular": ("Heart", "Vessels"),
    "Respiratory": ("Upper airways", "Lungs"),
    "Endocrine": ("Diabetes", "Metabolism"),
    "Mental": ("Mood", "Psychosis and addiction"),
    "Musculoskeletal": ("Joints", "Spine"),
    "Digestive": ("Stomach", "Bowel"),
    "Infectious and urinary": ("Viruses", "Urinary tract"),
}
_ROOT = 2_000_000_000
_CONCEPTS = (
    (8507, "MALE", "Gender"), (8532, "FEMALE", "Gender"), (8527, "White", "Race"), (8515, "Asian", "Race"),
    (8516, "Black or African American", "Race"), (38003563, "Hispanic or Latino", "Ethnicity"),
    (38003564, "Not Hispanic or Latino", "Ethnicity"), (9201, "Inpatient Visit", "Visit"),
    (9202, "Outpatient Visit", "Visit"), (9203, "Emergency Room Visit", "Visit"), (32817, "EHR", "Type Concept"),
)  # fmt: skip

_TABLES = """
CREATE TABLE person (
  person_id INTEGER PRIMARY KEY, gender_concept_id INTEGER NOT NULL, year_of_birth INTEGER NOT NULL,
  month_of_birth INTEGER, day_of_birth INTEGER, birth_datetime TIMESTAMP, race_concept_id INTEGER NOT NULL,
  ethnicity_concept_id INTEGER NOT NULL, location_id INTEGER, provider_id INTEGER, care_site_id INTEGER,
  person_source_value VARCHAR, gender_source_value VARCHAR, gender_source_concept_id INTEGER,
  race_source_value VARCHAR, race_source_concept_id INTEGER, ethnicity_source_value VARCHAR,
  ethnicity_source_concept_id INTEGER
);
CREATE TABLE visit_occurrence (
  visit_occurrence_id INTEGER PRIMARY KEY, person_id INTEGER NOT NULL, visit_concept_id INTEGER NOT NULL,
  visit_start_date DATE NOT NULL, visit_start_datetime TIMESTAMP, visit_end_date DATE NOT NULL,
  visit_end_datetime TIMESTAMP, visit_type_concept_id INTEGER NOT NULL, provider_id INTEGER, care_site_id INTEGER,
  visit_source_value VARCHAR, visit_source_concept_id INTEGER, admitted_from_concept_id INTEGER,
  admitted_from_source_value VARCHAR, discharged_to_concept_id INTEGER, discharged_to_source_value VARCHAR,
  preceding_visit_occurrence_id INTEGER
);
CREATE TABLE condition_occurrence (
  condition_occurrence_id INTEGER PRIMARY KEY, person_id INTEGER NOT NULL, condition_concept_id INTEGER NOT NULL,
  condition_start_date DATE NOT NULL, condition_start_datetime TIMESTAMP, condition_end_date DATE,
  condition_end_datetime TIMESTAMP, condition_type_concept_id INTEGER NOT NULL, condition_status_concept_id INTEGER,
  stop_reason VARCHAR, provider_id INTEGER, visit_occurrence_id INTEGER, visit_detail_id INTEGER,
  condition_source_value VARCHAR, condition_source_concept_id INTEGER, condition_status_source_value VARCHAR
);
CREATE TABLE concept (
  concept_id INTEGER PRIMARY KEY, concept_name VARCHAR NOT NULL, domain_id VARCHAR NOT NULL,
  vocabulary_id VARCHAR NOT NULL, concept_class_id VARCHAR NOT NULL, standard_concept VARCHAR,
  concept_code VARCHAR NOT NULL, valid_start_date DATE NOT NULL, valid_end_date DATE NOT NULL, invalid_reason VARCHAR
);
CREATE TABLE concept_ancestor (
  ancestor_concept_id INTEGER NOT NULL, descendant_concept_id INTEGER NOT NULL,
  min_levels_of_separation INTEGER NOT NULL, max_levels_of_separation INTEGER NOT NULL
);
"""

# `chance(row, salt)` is a number from 0 to 1. Most people have few visits, old people more; half of the conditions are
# the person's own chronic ones, and come again.
_ROWS = """
CREATE TEMP MACRO chance(row, salt) AS
  CAST('0x' || SUBSTR(MD5(CONCAT({seed}, ' ', salt, ' ', row)), 1, 8) AS BIGINT) / 4294967296.0;

INSERT INTO person
SELECT
  id, CASE WHEN chance(id, 'sex') < 0.52 THEN 8532 ELSE 8507 END, YEAR(born), MONTH(born), DAY(born), born,
  CASE WHEN chance(id, 'race') < 0.75 THEN 8527 WHEN chance(id, 'race') < 0.9 THEN 8516 ELSE 8515 END,
  CASE WHEN chance(id, 'ethnicity') < 0.15 THEN 38003563 ELSE 38003564 END,
  1 + CAST(FLOOR(200 * chance(id, 'location')) AS INTEGER), 1 + CAST(FLOOR(60 * chance(id, 'provider')) AS INTEGER),
  1 + CAST(FLOOR(6 * chance(id, 'site')) AS INTEGER),
  PRINTF('MRN-%07d', CAST(FLOOR(9999999 * chance(id, 'mrn')) AS INTEGER)),
  CASE WHEN chance(id, 'sex') < 0.52 THEN 'F' ELSE 'M' END, 0, NULL, 0, NULL, 0
FROM (
  SELECT
    CAST(range + 1 AS INTEGER) AS id,
    DATE '1932-01-01' + CAST(FLOOR(33000 * SQRT(chance(range + 1, 'born'))) AS INTEGER) AS born
  FROM RANGE({people})
);

INSERT INTO visit_occurrence
SELECT
  ROW_NUMBER() OVER (ORDER BY first, person_id, number), person_id, kind, first,
  first + to_minutes(CAST(FLOOR(1440 * chance(draw, 'minute')) AS BIGINT)), last,
  last + to_minutes(CAST(FLOOR(1440 * chance(draw, 'until')) AS BIGINT)), 32817,
  1 + CAST(FLOOR(60 * chance(draw, 'physician')) AS INTEGER), 1 + CAST(FLOOR(6 * chance(person_id, 'site')) AS INTEGER),
  PRINTF('V%09d', CAST(FLOOR(999999999 * chance(draw, 'source')) AS INT)), 0, 0, NULL, 0, NULL, NULL
FROM (
  SELECT *, first + CASE WHEN kind = 9201 THEN 1 + CAST(FLOOR(9 * chance(draw, 'days')) AS INTEGER) ELSE 0 END AS last
  FROM (
    SELECT
      person_id, number, 100 * person_id + number AS draw,
      CASE
        WHEN chance(100 * person_id + number, 'kind') < 0.75 THEN 9202
        WHEN chance(100 * person_id + number, 'kind') < 0.9 THEN 9203
        ELSE 9201
      END AS kind,
      GREATEST(
        CAST(birth_datetime AS DATE),
        DATE '2021-01-01' + CAST(FLOOR(1461 * chance(100 * person_id + number, 'day')) AS INTEGER)
      ) AS first
    FROM person CROSS JOIN RANGE(1, 25) AS numbers(number)
    WHERE number <= 1 + FLOOR(-LN(1 - chance(person_id, 'visits')) * (1 + (2024 - year_of_birth) / 30.0))
  )
);
UPDATE visit_occurrence SET preceding_visit_occurrence_id = before.id
FROM (
  SELECT
    visit_occurrence_id AS visit,
    LAG(visit_occurrence_id) OVER (PARTITION BY person_id ORDER BY visit_start_date, visit_occurrence_id) AS id
  FROM visit_occurrence
) AS before
WHERE before.visit = visit_occurrence_id;

INSERT INTO condition_occurrence
SELECT
  ROW_NUMBER() OVER (ORDER BY v.visit_occurrence_id, v.number), v.person_id, d.concept_id, v.visit_start_date,
  v.visit_start_datetime, v.visit_end_date, v.visit_end_datetime, 32817, 0, NULL, v.provider_id, v.visit_occurrence_id,
  NULL, d.concept_code, 0, NULL
FROM (
  SELECT
    v.*, number,
    CASE WHEN chance(10 * v.visit_occurrence_id + number, 'chronic') < 0.5
      THEN chance(10 * v.person_id + number, 'own') ELSE chance(10 * v.visit_occurrence_id + number, 'new')
    END AS drawn
  FROM visit_occurrence AS v CROSS JOIN RANGE(1, 4) AS numbers(number)
  WHERE number = 1 OR chance(10 * v.visit_occurrence_id + number, 'more') < 0.3
) AS v
JOIN (
  SELECT *, ROW_NUMBER() OVER (ORDER BY MD5(concept_name)) - 1 AS place, COUNT(*) OVER () AS many
  FROM concept WHERE concept_class_id = 'Condition'
) AS d ON d.place = CAST(FLOOR(d.many * v.drawn * v.drawn) AS INTEGER);
"""


def write(path: Path, people: int, seed: int = 0) -> dict[str, int]:
    """Write the database to a new file, and return the rows by table."""
    import duckdb

    from kanon_sql.database_file import create_file

    create_file(path)
    with duckdb.connect(path) as connection:
        connection.execute(_TABLES)
        concepts, ancestors = _vocabulary()
        connection.executemany(
            "INSERT INTO concept VALUES (?, ?, ?, ?, ?, 'S', ?, DATE '1970-01-01', DATE '2099-12-31', NULL)", concepts
        )
        connection.executemany("INSERT INTO concept_ancestor VALUES ($1, $2, $3, $3)", ancestors)
        connection.execute(_ROWS.format(people=people, seed=seed))
        names = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: int(connection.execute(f"SELECT COUNT(*) FROM {name}").fetchall()[0][0]) for name in names}


def _vocabulary() -> tuple[list[tuple[object, ...]], list[tuple[int, int, int]]]:
    """The concepts, and the ancestors of diseases with their distance, each one being its own at distance 0."""
    groups = dict(line.split(": ") for line in _DISEASES.strip().splitlines())
    rows: list[tuple[object, ...]] = [(_ROOT, "Disease", "Condition", "Demo", "Root", "D")]
    ancestors = [(_ROOT, _ROOT, 0)]
    for system, (name, members) in enumerate(_SYSTEMS.items(), start=1):
        of_system = _ROOT + 10_000 * system
        rows.append((of_system, f"{name} disease", "Condition", "Demo", "System", f"D{system}"))
        ancestors += [(of_system, of_system, 0), (_ROOT, of_system, 1)]
        for group, member in enumerate(members, start=1):
            of_group = of_system + 100 * group
            rows.append((of_group, member, "Condition", "Demo", "Group", f"D{system}.{group}"))
            ancestors += [(of_group, of_group, 0), (of_system, of_group, 1), (_ROOT, of_group, 2)]
            for number, disease in enumerate(groups[member].split(", "), start=1):
                concept = of_group + number
                rows.append((concept, disease, "Condition", "Demo", "Condition", f"D{system}.{group}.{number}"))
                ancestors += [(concept, concept, 0), (of_group, concept, 1), (of_system, concept, 2)]
                ancestors.append((_ROOT, concept, 3))
    rows += [(number, name, domain, domain, domain, str(number)) for number, name, domain in _CONCEPTS]
    return rows, ancestors
