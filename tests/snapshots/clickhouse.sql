-- every recipe

CREATE TABLE "clinic"."anon__code" ("value" Nullable(Int32), "label" Nullable(String)) ENGINE = MergeTree ORDER BY tuple();

INSERT INTO "clinic"."anon__code" VALUES
  (0, '0'), (1, '0'), (2, '1'), (3, '1'), (4, '2'), (5, '2');

CREATE VIEW "clinic"."anon" AS WITH "kanon_ward" AS (
  SELECT
    "value",
    MIN("label") AS "label"
  FROM (
    SELECT
      'N' AS "value",
      'north' AS "label"
    UNION ALL
    SELECT
      'S',
      'south'
    UNION ALL
    SELECT
      'it''s',
      'south'
  ) AS "v"
  GROUP BY
    "value"
), "kanon_recoded" AS (
  SELECT
    CASE
      WHEN "s"."age" >= 65
      THEN '>= 65'
      WHEN "s"."age" < 18
      THEN '< 18'
      WHEN NOT (
        "s"."age" IS NULL
      )
      THEN '[' || CAST(GREATEST(CAST("s"."age" AS Nullable(Int64)) - (
        CAST("s"."age" AS Nullable(Int64)) % 10 + 10
      ) % 10, 18) AS Nullable(String)) || ', ' || CAST(LEAST(CAST("s"."age" AS Nullable(Int64)) - (
        CAST("s"."age" AS Nullable(Int64)) % 10 + 10
      ) % 10 + 10, 65) AS Nullable(String)) || ')'
    END AS "age",
    CASE
      WHEN NOT "s"."Weight" BETWEEN -1000000000000000 AND 1000000000000000
      THEN '*'
      ELSE '[' || CAST(CAST(FLOOR("s"."Weight") AS Nullable(Int64)) - (
        (
          CAST(FLOOR("s"."Weight") AS Nullable(Int64)) - 3
        ) % 7 + 7
      ) % 7 AS Nullable(String)) || ', ' || CAST(CAST(FLOOR("s"."Weight") AS Nullable(Int64)) - (
        (
          CAST(FLOOR("s"."Weight") AS Nullable(Int64)) - 3
        ) % 7 + 7
      ) % 7 + 7 AS Nullable(String)) || ')'
    END AS "Weight",
    CASE
      WHEN CHAR_LENGTH("s"."zip") > 1
      THEN substringUTF8("s"."zip", 1, CHAR_LENGTH("s"."zip") - 1) || '*'
      ELSE substringUTF8('*', 1, CHAR_LENGTH("s"."zip"))
    END AS "zip",
    CASE
      WHEN COALESCE(EXTRACT(YEAR FROM "s"."born") BETWEEN 1 AND 9999, FALSE)
      THEN leftPadUTF8(CAST(EXTRACT(YEAR FROM "s"."born") AS Nullable(String)), 4, '0') || '-Q' || CAST(EXTRACT(QUARTER FROM "s"."born") AS Nullable(String))
      WHEN NOT (
        "s"."born" IS NULL
      )
      THEN '*'
    END AS "born",
    COALESCE("m4"."label", '*') AS "ward",
    COALESCE("m5"."label", '*') AS "code",
    "s"."n" AS "kanon_6",
    1 AS "n"
  FROM "clinic"."people" AS "s"
  LEFT JOIN "kanon_ward" AS "m4"
    ON "m4"."value" = "s"."ward"
  LEFT JOIN "clinic"."anon__code" AS "m5"
    ON "m5"."value" = "s"."code"
), "kanon_numbered" AS (
  SELECT
    "r".*,
    COALESCE(CAST(CHAR_LENGTH("r"."age") AS Nullable(String)) || ':' || "r"."age", '-') || COALESCE(CAST(CHAR_LENGTH("r"."Weight") AS Nullable(String)) || ':' || "r"."Weight", '-') || COALESCE(CAST(CHAR_LENGTH("r"."zip") AS Nullable(String)) || ':' || "r"."zip", '-') || COALESCE(CAST(CHAR_LENGTH("r"."born") AS Nullable(String)) || ':' || "r"."born", '-') || COALESCE(CAST(CHAR_LENGTH("r"."ward") AS Nullable(String)) || ':' || "r"."ward", '-') || COALESCE(CAST(CHAR_LENGTH("r"."code") AS Nullable(String)) || ':' || "r"."code", '-') AS "kanon_class"
  FROM "kanon_recoded" AS "r"
), "kanon_classes" AS (
  SELECT
    "kanon_class"
  FROM "kanon_numbered"
  GROUP BY
    "kanon_class"
  HAVING
    COALESCE(SUM("n") >= 1, FALSE)
)
SELECT
  "age",
  "Weight",
  "zip",
  "born",
  "ward",
  "code",
  "kanon_6" AS "n"
FROM "kanon_numbered"
JOIN "kanon_classes"
  USING ("kanon_class")
ORDER BY
  LOWER(
    HEX(
      MD5(
        '0' || '|' || COALESCE(CAST("kanon_numbered"."age" AS Nullable(String)), '') || '|' || COALESCE(CAST("kanon_numbered"."Weight" AS Nullable(String)), '') || '|' || COALESCE(CAST("kanon_numbered"."zip" AS Nullable(String)), '') || '|' || COALESCE(CAST("kanon_numbered"."born" AS Nullable(String)), '') || '|' || COALESCE(CAST("kanon_numbered"."ward" AS Nullable(String)), '') || '|' || COALESCE(CAST("kanon_numbered"."code" AS Nullable(String)), '') || '|' || COALESCE(CAST("kanon_numbered"."kanon_6" AS Nullable(String)), '')
      )
    )
  ),
  "kanon_numbered"."age",
  "kanon_numbered"."Weight",
  "kanon_numbered"."zip",
  "kanon_numbered"."born",
  "kanon_numbered"."ward",
  "kanon_numbered"."code",
  "kanon_numbered"."kanon_6"
SETTINGS join_use_nulls = 1, prefer_column_name_to_alias = 1;

-- every model

WITH "kanon_recoded" AS (
  SELECT
    '[' || CAST(CAST("s"."age" AS Nullable(Int64)) - (
      CAST("s"."age" AS Nullable(Int64)) % 10 + 10
    ) % 10 AS Nullable(String)) || ', ' || CAST(CAST("s"."age" AS Nullable(Int64)) - (
      CAST("s"."age" AS Nullable(Int64)) % 10 + 10
    ) % 10 + 10 AS Nullable(String)) || ')' AS "age",
    "s"."ill" AS "ill",
    "s"."pay" AS "pay",
    "s"."n" AS "kanon_3",
    "s"."ill" AS "_sensitive_0",
    "s"."n" AS "_sensitive_1",
    "s"."pay" AS "_sensitive_2",
    1 AS "n"
  FROM "clinic"."people" AS "s"
), "kanon_numbered" AS (
  SELECT
    "r".*,
    COALESCE(CAST(CHAR_LENGTH("r"."age") AS Nullable(String)) || ':' || "r"."age", '-') AS "kanon_class"
  FROM "kanon_recoded" AS "r"
), "kanon_reference_sensitive_0" AS (
  SELECT
    "counts"."value" AS "value",
    "counts"."raw" AS "raw",
    "counts"."overall_c" AS "overall_c",
    CAST(SUM("counts"."overall_c") OVER (ORDER BY "counts"."value" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS Nullable(Int64)) AS "overall_c_to",
    CAST(SUM("counts"."overall_c") OVER () AS Nullable(Int64)) AS "overall_size",
    CAST(COUNT(*) OVER () AS Nullable(Int64)) AS "overall_values",
    CAST(ROW_NUMBER() OVER (ORDER BY "counts"."value") AS Nullable(Int64)) AS "place"
  FROM (
    SELECT
      "_sensitive_0" AS "value",
      "_sensitive_0" AS "raw",
      CAST(SUM("n") AS Nullable(Int64)) AS "overall_c"
    FROM "kanon_recoded" AS "f"
    GROUP BY
      "_sensitive_0",
      "_sensitive_0"
  ) AS "counts"
), "kanon_reference_sensitive_2" AS (
  SELECT
    "counts"."value" AS "value",
    "counts"."raw" AS "raw",
    "counts"."overall_c" AS "overall_c",
    CAST(SUM("counts"."overall_c") OVER (ORDER BY "counts"."value" ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS Nullable(Int64)) AS "overall_c_to",
    CAST(SUM("counts"."overall_c") OVER () AS Nullable(Int64)) AS "overall_size",
    CAST(COUNT(*) OVER () AS Nullable(Int64)) AS "overall_values",
    CAST(ROW_NUMBER() OVER (ORDER BY "counts"."value") AS Nullable(Int64)) AS "place"
  FROM (
    SELECT
      "_sensitive_2" AS "value",
      "_sensitive_2" AS "raw",
      CAST(SUM("n") AS Nullable(Int64)) AS "overall_c"
    FROM "kanon_recoded" AS "f"
    GROUP BY
      "_sensitive_2",
      "_sensitive_2"
  ) AS "counts"
), "kanon_classes" AS (
  SELECT
    "kanon_class"
  FROM (
    SELECT
      "kanon_class",
      SUM("_rows_0") AS "_rows_0",
      SUM("_c_of_sensitive_0") AS "_rows_1",
      SUM("_c_of_sensitive_0" * LN(CAST("_c_of_sensitive_0" AS Nullable(Float64)))) AS "_logs_2",
      CAST(COUNT("_c_of_sensitive_1") AS Nullable(Int64)) AS "_values_3",
      SUM("_c_of_every_sensitive_2") AS "_known_4",
      MAX("_size_of_every_sensitive_2") AS "_known_5",
      SUM(
        ABS(
          "_c_to_of_every_sensitive_2" * "_overall_size_of_every_sensitive_2" - "_overall_c_to_of_every_sensitive_2" * "_size_of_every_sensitive_2"
        )
      ) AS "_moved_6",
      MAX(GREATEST("_overall_values_of_every_sensitive_2" - 1, 1)) AS "_whole_7",
      MAX("_overall_size_of_every_sensitive_2") AS "_whole_8",
      CAST(COUNT("_c_of_sensitive_0") AS Nullable(Int64)) AS "_known_9",
      CAST(COUNT("_overall_c_of_sensitive_0") AS Nullable(Int64)) AS "_known_10",
      SUM(
        GREATEST(
          (
            "_c_of_sensitive_0" * "_overall_size_of_sensitive_0" - "_overall_c_of_sensitive_0" * "_size_of_sensitive_0"
          ),
          0
        )
      ) AS "_moved_11",
      MAX("_overall_size_of_sensitive_0") AS "_whole_12",
      MAX("_c_of_sensitive_0") AS "_most_13",
      MAX(
        CAST("_c_of_sensitive_0" AS Nullable(Float64)) / "_overall_c_of_sensitive_0" / (
          1 + LEAST(9, -LN((
            CAST("_overall_c_of_sensitive_0" AS Nullable(Float64)) / "_overall_size_of_sensitive_0"
          )))
        )
      ) AS "_over_14",
      MAX("_overall_values_of_sensitive_0") AS "_of_table_15",
      MAX(CAST("_c_of_sensitive_0" AS Nullable(Float64)) / "_overall_c_of_sensitive_0") AS "_rate_16",
      MIN(CAST("_c_of_sensitive_0" AS Nullable(Float64)) / "_overall_c_of_sensitive_0") AS "_least_17"
    FROM (
      SELECT
        "in_class"."kanon_class" AS "kanon_class",
        "_rows_0",
        "in_class"."_c" AS "_c_of_sensitive_0",
        CASE
          WHEN "in_class"."_value" IS NULL
          THEN (
            SELECT
              "r"."overall_c" AS "overall_c"
            FROM "kanon_reference_sensitive_0" AS "r"
            WHERE
              "r"."value" IS NULL
          )
          ELSE "reference"."overall_c"
        END AS "_overall_c_of_sensitive_0",
        CASE
          WHEN "in_class"."_value" IS NULL
          THEN (
            SELECT
              "r"."overall_size" AS "overall_size"
            FROM "kanon_reference_sensitive_0" AS "r"
            WHERE
              "r"."value" IS NULL
          )
          ELSE "reference"."overall_size"
        END AS "_overall_size_of_sensitive_0",
        SUM("in_class"."_c") OVER (PARTITION BY "in_class"."kanon_class") AS "_size_of_sensitive_0",
        CASE
          WHEN "in_class"."_value" IS NULL
          THEN (
            SELECT
              "r"."overall_values" AS "overall_values"
            FROM "kanon_reference_sensitive_0" AS "r"
            WHERE
              "r"."value" IS NULL
          )
          ELSE "reference"."overall_values"
        END AS "_overall_values_of_sensitive_0",
        CAST(NULL AS Nullable(Int64)) AS "_c_of_sensitive_1",
        CAST(NULL AS Nullable(Int64)) AS "_c_of_every_sensitive_2",
        CAST(NULL AS Nullable(Int64)) AS "_size_of_every_sensitive_2",
        CAST(NULL AS Nullable(Int64)) AS "_c_to_of_every_sensitive_2",
        CAST(NULL AS Nullable(Int64)) AS "_overall_size_of_every_sensitive_2",
        CAST(NULL AS Nullable(Int64)) AS "_overall_c_to_of_every_sensitive_2",
        CAST(NULL AS Nullable(Int64)) AS "_overall_values_of_every_sensitive_2"
      FROM (
        SELECT
          "kanon_class",
          SUM("n") AS "_rows_0",
          "_sensitive_0" AS "_value",
          CAST(SUM("n") AS Nullable(Int64)) AS "_c"
        FROM "kanon_numbered"
        GROUP BY
          "kanon_class",
          "_sensitive_0"
      ) AS "in_class"
      LEFT JOIN "kanon_reference_sensitive_0" AS "reference"
        ON "reference"."value" = "in_class"."_value"
      UNION ALL
      SELECT
        "kanon_class",
        NULL AS "_rows_0",
        CAST(NULL AS Nullable(Int64)) AS "_c_of_sensitive_0",
        CAST(NULL AS Nullable(Int64)) AS "_overall_c_of_sensitive_0",
        CAST(NULL AS Nullable(Int64)) AS "_overall_size_of_sensitive_0",
        CAST(NULL AS Nullable(Int64)) AS "_size_of_sensitive_0",
        CAST(NULL AS Nullable(Int64)) AS "_overall_values_of_sensitive_0",
        CAST(SUM("n") AS Nullable(Int64)) AS "_c_of_sensitive_1",
        CAST(NULL AS Nullable(Int64)) AS "_c_of_every_sensitive_2",
        CAST(NULL AS Nullable(Int64)) AS "_size_of_every_sensitive_2",
        CAST(NULL AS Nullable(Int64)) AS "_c_to_of_every_sensitive_2",
        CAST(NULL AS Nullable(Int64)) AS "_overall_size_of_every_sensitive_2",
        CAST(NULL AS Nullable(Int64)) AS "_overall_c_to_of_every_sensitive_2",
        CAST(NULL AS Nullable(Int64)) AS "_overall_values_of_every_sensitive_2"
      FROM "kanon_numbered"
      GROUP BY
        "kanon_class",
        "_sensitive_1"
      UNION ALL
      SELECT
        "in_class"."kanon_class" AS "kanon_class",
        NULL AS "_rows_0",
        CAST(NULL AS Nullable(Int64)) AS "_c_of_sensitive_0",
        CAST(NULL AS Nullable(Int64)) AS "_overall_c_of_sensitive_0",
        CAST(NULL AS Nullable(Int64)) AS "_overall_size_of_sensitive_0",
        CAST(NULL AS Nullable(Int64)) AS "_size_of_sensitive_0",
        CAST(NULL AS Nullable(Int64)) AS "_overall_values_of_sensitive_0",
        CAST(NULL AS Nullable(Int64)) AS "_c_of_sensitive_1",
        "in_class"."_c" AS "_c_of_every_sensitive_2",
        "in_class"."_size" AS "_size_of_every_sensitive_2",
        "in_class"."_c_to" AS "_c_to_of_every_sensitive_2",
        "in_class"."_overall_size" AS "_overall_size_of_every_sensitive_2",
        "in_class"."_overall_c_to" AS "_overall_c_to_of_every_sensitive_2",
        "in_class"."_overall_values" AS "_overall_values_of_every_sensitive_2"
      FROM (
        SELECT
          "v"."kanon_class" AS "kanon_class",
          CAST(SUM(CASE WHEN "v"."_place" = "reference"."place" THEN "v"."_c" ELSE 0 END) AS Nullable(Int64)) AS "_c",
          CAST(SUM(CASE WHEN "v"."_place" <= "reference"."place" THEN "v"."_c" ELSE 0 END) AS Nullable(Int64)) AS "_c_to",
          CAST(SUM("v"."_c") AS Nullable(Int64)) AS "_size",
          "reference"."raw" AS "_value",
          "reference"."overall_c" AS "_overall_c",
          "reference"."overall_c_to" AS "_overall_c_to",
          "reference"."overall_size" AS "_overall_size",
          "reference"."overall_values" AS "_overall_values"
        FROM (
          SELECT
            "in_class"."kanon_class" AS "kanon_class",
            "in_class"."_c" AS "_c",
            CASE
              WHEN "in_class"."_value" IS NULL
              THEN (
                SELECT
                  "r"."place" AS "place"
                FROM "kanon_reference_sensitive_2" AS "r"
                WHERE
                  "r"."value" IS NULL
              )
              ELSE "reference"."place"
            END AS "_place"
          FROM (
            SELECT
              "kanon_class",
              "_sensitive_2" AS "_value",
              CAST(SUM("n") AS Nullable(Int64)) AS "_c"
            FROM "kanon_numbered"
            GROUP BY
              "kanon_class",
              "_sensitive_2"
          ) AS "in_class"
          LEFT JOIN "kanon_reference_sensitive_2" AS "reference"
            ON "reference"."value" = "in_class"."_value"
        ) AS "v"
        CROSS JOIN "kanon_reference_sensitive_2" AS "reference"
        GROUP BY
          "v"."kanon_class",
          "reference"."place",
          "reference"."raw",
          "reference"."overall_c",
          "reference"."overall_c_to",
          "reference"."overall_size",
          "reference"."overall_values"
      ) AS "in_class"
    ) AS "class_values"
    GROUP BY
      "kanon_class"
  ) AS "classes"
  WHERE
    COALESCE(
      "_rows_0" >= 2
      AND (
        LN((
          CAST("_rows_1" AS Nullable(Float64))
        )) - "_logs_2" / (
          CAST("_rows_1" AS Nullable(Float64))
        )
      ) >= (
        LN(CAST(1.2 AS Nullable(Float64))) - 0.000000001
      )
      AND "_values_3" >= 1
      AND (
        (
          "_known_4" = "_known_5"
        )
        AND (
          "_moved_6" <= 0.9 * (
            CAST("_known_4" AS Nullable(Float64)) * "_whole_8" * "_whole_7"
          )
        )
      )
      AND (
        (
          "_known_9" = "_known_10"
        )
        AND (
          "_moved_11" <= 0.8 * (
            CAST("_rows_1" AS Nullable(Float64)) * "_whole_12"
          )
        )
      )
      AND "_most_13" <= 0.9 * "_rows_0"
      AND (
        (
          "_known_9" = "_known_10"
        )
        AND (
          "_over_14" * (
            CAST("_whole_12" AS Nullable(Float64)) / "_rows_0"
          ) <= 1 + 0.000000001
        )
      )
      AND (
        (
          "_known_9" = "_known_10"
        )
        AND (
          "_known_9" = "_of_table_15"
          AND GREATEST(
            LN("_rate_16" * (
              CAST("_whole_12" AS Nullable(Float64)) / "_rows_0"
            )),
            -LN("_least_17" * (
              CAST("_whole_12" AS Nullable(Float64)) / "_rows_0"
            ))
          ) < 9
        )
      ),
      FALSE
    )
), "kanon_left_out" AS (
  SELECT
    "s"."all_rows" AS "all_rows",
    "s"."all_rows" - "h"."held_rows" AS "left_out"
  FROM (
    SELECT
      CAST(COUNT(*) AS Nullable(Int64)) AS "all_rows"
    FROM "kanon_numbered"
  ) AS "s"
  CROSS JOIN (
    SELECT
      CAST(COUNT(*) AS Nullable(Int64)) AS "held_rows"
    FROM "kanon_numbered"
    JOIN "kanon_classes"
      USING ("kanon_class")
  ) AS "h"
), "kanon_held" AS (
  SELECT
    "kanon_class"
  FROM "kanon_classes"
  UNION ALL
  SELECT
    '' AS "kanon_class"
  FROM (
    SELECT
      CASE
        WHEN "all_rows" = 0
        THEN CAST("all_rows" AS Nullable(String)) || ' rows in the source; there is nothing to release'
        WHEN CAST("left_out" AS Nullable(Float64)) / nullIf("all_rows", 0) > CAST(0.02 AS Nullable(Float64))
        THEN CAST("left_out" AS Nullable(String)) || ' of ' || CAST("all_rows" AS Nullable(String)) || ' rows would be left out, and the suppression limit is 0.02; compile the release again'
        ELSE '0'
      END AS "message"
    FROM "kanon_left_out"
  ) AS "c"
  WHERE
    toInt32(assumeNotNull("message")) = 1
)
SELECT
  "age",
  "ill",
  "pay",
  "kanon_3" AS "n"
FROM "kanon_held"
LEFT JOIN "kanon_numbered"
  ON "kanon_numbered"."kanon_class" = "kanon_held"."kanon_class"
ORDER BY
  "kanon_numbered"."age",
  "kanon_numbered"."ill",
  "kanon_numbered"."pay",
  "kanon_numbered"."kanon_3"
SETTINGS join_use_nulls = 1, prefer_column_name_to_alias = 1;

-- frequency set

SELECT
  "age",
  "zip",
  "ill",
  "n",
  "pay",
  CAST(COUNT(*) AS Nullable(Int64)) AS "kanon_rows"
FROM "clinic"."people" AS "s"
GROUP BY
  "age",
  "zip",
  "ill",
  "n",
  "pay"
SETTINGS join_use_nulls = 1, prefer_column_name_to_alias = 1;

