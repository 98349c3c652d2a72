{#- Made by `kanon compile --dbt`: compile it again instead of changing it. It counts its classes on the
    rows that it returns, and leaves out those that do not meet what the release promises. It fails if
    these are more than the suppression limit allows. -#}
{{ config(materialized='table') }}
{%- if execute and target.type not in ('duckdb', 'postgres') %}
  {{ exceptions.raise_compiler_error(model.name ~ ' is compiled for duckdb and postgres: compile it again with --dialect ' ~ target.type) }}
{%- endif %}
{%- if target.type == 'duckdb' %}
WITH kanon_recoded AS (
  SELECT
    '*' AS "age",
    COALESCE(m1."label", '*') AS "zip",
    s."marital-status",
    CASE
      WHEN COALESCE(EXTRACT(YEAR FROM s."admitted") BETWEEN 1 AND 9999, FALSE)
      THEN LPAD(CAST(EXTRACT(YEAR FROM s."admitted") AS TEXT), 4, '0')
      WHEN NOT s."admitted" IS NULL
      THEN '*'
    END AS "admitted",
    s."disease",
    s."days",
    s."disease" AS "_sensitive_0",
    1 AS n
  FROM {{ ref('stg_patients') }} AS s
  LEFT JOIN {{ ref('patients_k5_sql__zip') }} AS m1
    ON m1."value" = s."zip"
), kanon_numbered AS MATERIALIZED (
  SELECT
    r.*,
    DENSE_RANK() OVER (ORDER BY r."zip", r."marital-status", r."admitted") AS kanon_class
  FROM "kanon_recoded" AS r
), kanon_reference_sensitive_0 AS (
  SELECT
    counts.value AS value,
    counts.raw AS raw,
    counts.overall_c AS overall_c,
    CAST(SUM(counts.overall_c) OVER (ORDER BY counts.value ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS overall_c_to,
    CAST(SUM(counts.overall_c) OVER () AS BIGINT) AS overall_size,
    COUNT(*) OVER () AS overall_values,
    ROW_NUMBER() OVER (ORDER BY counts.value) AS place
  FROM (
    SELECT
      "_sensitive_0" AS value,
      "_sensitive_0" AS raw,
      CAST(SUM(n) AS BIGINT) AS overall_c
    FROM "kanon_recoded" AS f
    GROUP BY
      "_sensitive_0",
      "_sensitive_0"
  ) AS counts
), kanon_classes AS MATERIALIZED (
  SELECT
    "kanon_class"
  FROM (
    SELECT
      "kanon_class",
      "_figure_0",
      "_figure_1",
      "_figure_2",
      "_figure_3",
      "_figure_4",
      "_figure_5",
      LIST_SUM(
        LIST_TRANSFORM(
          _figure_0,
          LAMBDA kanon_value : GREATEST((
            kanon_value.c * _figure_1 - kanon_value.overall_c * _figure_2
          ), 0)
        )
      ) AS _folded_0
    FROM (
      SELECT
        "kanon_class",
        ARRAY_AGG({'c': _c_of_sensitive_0, 'overall_c': _overall_c_of_sensitive_0}) FILTER(WHERE
          NOT _c_of_sensitive_0 IS NULL) AS _figure_0,
        MAX(_overall_size_of_sensitive_0) AS _figure_1,
        SUM(_c_of_sensitive_0) AS _figure_2,
        SUM("n") AS _figure_3,
        COUNT(_c_of_sensitive_0) AS _figure_4,
        COUNT(_overall_c_of_sensitive_0) AS _figure_5
      FROM (
        SELECT
          in_class."kanon_class",
          "n",
          in_class._c AS _c_of_sensitive_0,
          CASE
            WHEN in_class._value IS NULL
            THEN (
              SELECT
                r.overall_c
              FROM "kanon_reference_sensitive_0" AS r
              WHERE
                r.value IS NULL
            )
            ELSE reference.overall_c
          END AS _overall_c_of_sensitive_0,
          CASE
            WHEN in_class._value IS NULL
            THEN (
              SELECT
                r.overall_size
              FROM "kanon_reference_sensitive_0" AS r
              WHERE
                r.value IS NULL
            )
            ELSE reference.overall_size
          END AS _overall_size_of_sensitive_0
        FROM (
          SELECT
            "kanon_class",
            SUM(n) AS "n",
            _sensitive_0 AS _value,
            CAST(SUM(n) AS BIGINT) AS _c
          FROM kanon_numbered
          GROUP BY
            "kanon_class",
            _sensitive_0
        ) AS in_class
        LEFT JOIN "kanon_reference_sensitive_0" AS reference
          ON reference.value = in_class._value
      ) AS class_values
      GROUP BY
        "kanon_class"
    ) AS classes
  ) AS class_lists
  WHERE
    COALESCE(
      _figure_3 >= 5
      AND _figure_4 >= 2
      AND (
        (
          _figure_4 = _figure_5
        )
        AND (
          _folded_0 <= 0.6 * (
            CAST(_figure_2 AS DOUBLE) * _figure_1
          )
        )
      ),
      FALSE
    )
), kanon_left_out AS (
  SELECT
    s.all_rows,
    s.all_rows - h.held_rows AS left_out
  FROM (
    SELECT
      COUNT(*) AS all_rows
    FROM kanon_numbered
  ) AS s
  CROSS JOIN (
    SELECT
      COUNT(*) AS held_rows
    FROM kanon_numbered
    JOIN kanon_classes
      USING (kanon_class)
  ) AS h
), kanon_held AS (
  SELECT
    kanon_class
  FROM kanon_classes
  UNION ALL
  SELECT
    0 AS kanon_class
  FROM (
    SELECT
      CASE
        WHEN all_rows = 0
        THEN CAST(all_rows AS TEXT) || ' rows in the source; there is nothing to release'
        WHEN CAST(left_out AS DOUBLE) / NULLIF(all_rows, 0) > CAST(0.02 AS DOUBLE)
        THEN CAST(left_out AS TEXT) || ' of ' || CAST(all_rows AS TEXT) || ' rows would be left out, and the suppression limit is 0.02; compile the release again'
        ELSE '0'
      END AS message
    FROM kanon_left_out
  ) AS c
  WHERE
    CAST(message AS INT) = 1
)
SELECT
  "age",
  "zip",
  "marital-status",
  "admitted",
  "disease",
  "days"
FROM kanon_held
LEFT JOIN kanon_numbered
  ON kanon_numbered.kanon_class = kanon_held.kanon_class
ORDER BY
  kanon_numbered."age",
  kanon_numbered."zip",
  kanon_numbered."marital-status",
  kanon_numbered."admitted",
  kanon_numbered."disease",
  kanon_numbered."days"
{%- elif target.type == 'postgres' %}
WITH kanon_recoded AS (
  SELECT
    '*' AS "age",
    COALESCE(m1."label", '*') AS "zip",
    s."marital-status",
    CASE
      WHEN COALESCE(EXTRACT(YEAR FROM s."admitted") BETWEEN 1 AND 9999, FALSE)
      THEN LPAD(CAST(EXTRACT(YEAR FROM s."admitted") AS TEXT), 4, '0')
      WHEN NOT s."admitted" IS NULL
      THEN '*'
    END AS "admitted",
    s."disease",
    s."days",
    s."disease" AS "_sensitive_0",
    1 AS n
  FROM {{ ref('stg_patients') }} AS s
  LEFT JOIN {{ ref('patients_k5_sql__zip') }} AS m1
    ON m1."value" = s."zip"
), kanon_numbered AS MATERIALIZED (
  SELECT
    r.*,
    DENSE_RANK() OVER (ORDER BY r."zip", r."marital-status", r."admitted") AS kanon_class
  FROM "kanon_recoded" AS r
), kanon_reference_sensitive_0 AS (
  SELECT
    counts.value AS value,
    counts.raw AS raw,
    counts.overall_c AS overall_c,
    CAST(SUM(counts.overall_c) OVER (ORDER BY counts.value ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS overall_c_to,
    CAST(SUM(counts.overall_c) OVER () AS BIGINT) AS overall_size,
    COUNT(*) OVER () AS overall_values,
    ROW_NUMBER() OVER (ORDER BY counts.value) AS place
  FROM (
    SELECT
      "_sensitive_0" AS value,
      "_sensitive_0" AS raw,
      CAST(SUM(n) AS BIGINT) AS overall_c
    FROM "kanon_recoded" AS f
    GROUP BY
      "_sensitive_0",
      "_sensitive_0"
  ) AS counts
), kanon_classes AS MATERIALIZED (
  SELECT
    "kanon_class"
  FROM (
    SELECT
      in_class."kanon_class",
      "n",
      in_class._c AS _c_of_sensitive_0,
      CASE
        WHEN in_class._value IS NULL
        THEN (
          SELECT
            r.overall_c
          FROM "kanon_reference_sensitive_0" AS r
          WHERE
            r.value IS NULL
        )
        ELSE reference.overall_c
      END AS _overall_c_of_sensitive_0,
      CASE
        WHEN in_class._value IS NULL
        THEN (
          SELECT
            r.overall_size
          FROM "kanon_reference_sensitive_0" AS r
          WHERE
            r.value IS NULL
        )
        ELSE reference.overall_size
      END AS _overall_size_of_sensitive_0,
      SUM(in_class._c) OVER (PARTITION BY in_class."kanon_class") AS _size_of_sensitive_0
    FROM (
      SELECT
        "kanon_class",
        SUM(n) AS "n",
        _sensitive_0 AS _value,
        CAST(SUM(n) AS BIGINT) AS _c
      FROM kanon_numbered
      GROUP BY
        "kanon_class",
        _sensitive_0
    ) AS in_class
    LEFT JOIN "kanon_reference_sensitive_0" AS reference
      ON reference.value = in_class._value
  ) AS class_values
  GROUP BY
    "kanon_class"
  HAVING
    COALESCE(
      SUM("n") >= 5
      AND COUNT(_c_of_sensitive_0) >= 2
      AND (
        (
          COUNT(_c_of_sensitive_0) = COUNT(_overall_c_of_sensitive_0)
        )
        AND (
          SUM(
            GREATEST(
              (
                _c_of_sensitive_0 * _overall_size_of_sensitive_0 - _overall_c_of_sensitive_0 * _size_of_sensitive_0
              ),
              0
            )
          ) <= 0.6 * (
            CAST(SUM(_c_of_sensitive_0) AS DOUBLE PRECISION) * MAX(_overall_size_of_sensitive_0)
          )
        )
      ),
      FALSE
    )
), kanon_left_out AS (
  SELECT
    s.all_rows,
    s.all_rows - h.held_rows AS left_out
  FROM (
    SELECT
      COUNT(*) AS all_rows
    FROM kanon_numbered
  ) AS s
  CROSS JOIN (
    SELECT
      COUNT(*) AS held_rows
    FROM kanon_numbered
    JOIN kanon_classes
      USING (kanon_class)
  ) AS h
), kanon_held AS (
  SELECT
    kanon_class
  FROM kanon_classes
  UNION ALL
  SELECT
    0 AS kanon_class
  FROM (
    SELECT
      CASE
        WHEN all_rows = 0
        THEN CAST(all_rows AS TEXT) || ' rows in the source; there is nothing to release'
        WHEN CAST(left_out AS DOUBLE PRECISION) / NULLIF(all_rows, 0) > CAST(0.02 AS DOUBLE PRECISION)
        THEN CAST(left_out AS TEXT) || ' of ' || CAST(all_rows AS TEXT) || ' rows would be left out, and the suppression limit is 0.02; compile the release again'
        ELSE '0'
      END AS message
    FROM kanon_left_out
  ) AS c
  WHERE
    CAST(message AS INT) = 1
)
SELECT
  "age",
  "zip",
  "marital-status",
  "admitted",
  "disease",
  "days"
FROM kanon_held
LEFT JOIN kanon_numbered
  ON kanon_numbered.kanon_class = kanon_held.kanon_class
ORDER BY
  kanon_numbered."age",
  kanon_numbered."zip",
  kanon_numbered."marital-status",
  kanon_numbered."admitted",
  kanon_numbered."disease",
  kanon_numbered."days"
{%- endif %}
