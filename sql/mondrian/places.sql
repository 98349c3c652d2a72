-- name: mondrian/places
-- Place the values of one attribute that occur on a line; what has no number lies two ranges beyond the ends.
-- reads: positions (an attribute's order: position, number, value, starred, codes), frequency_set (one row per distinct tuple)
-- holes: $attribute value, $weight value, $most value, $code columns, $number columns, $ordered value, $frequency_set relation, $positions relation
-- gives: attribute, code, position, number (NULL if the attribute is not ordered), range (of the numbers that occur; 1 if they are one), most (the loss of all leaves in positions), weight
-- engines: duckdb
SELECT
  $attribute AS attribute, code, position,
  CASE
    WHEN NOT $ordered THEN NULL
    WHEN number IS NULL AND value IS NULL AND NOT starred THEN COALESCE(lowest, 0) - 2 * range
    WHEN number IS NULL THEN COALESCE(highest, 0) + 2 * range
    ELSE number
  END AS number,
  range, CAST($most AS DOUBLE PRECISION) AS most, CAST($weight AS DOUBLE PRECISION) AS weight
FROM (
  SELECT
    code, position, number, value, starred,
    MIN(number) OVER () AS lowest, MAX(number) OVER () AS highest,
    COALESCE(NULLIF(MAX(number) OVER () - MIN(number) OVER (), 0), 1) AS range
  FROM (
    SELECT
      p.code_0 AS code, p.position, p.value, p.starred, CASE WHEN NOT p.starred THEN $number END AS number,
      ROW_NUMBER() OVER (PARTITION BY p.code_0 ORDER BY p.position DESC) AS choice
    FROM $positions AS p
    INNER JOIN (SELECT $code AS code FROM $frequency_set GROUP BY $code) AS found ON found.code = p.code_0
  ) AS occurring
  WHERE choice = 1
) AS measured
