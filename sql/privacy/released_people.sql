-- name: privacy/released_people
-- Keep the rows of a source, shown as its release shows them, whose class the release has.
-- reads: people (the columns, and the people's column), released (the columns)
-- holes: $people relation, $released relation, $names columns, $columns columns, $unit columns
-- gives: the columns, the people's column
SELECT $columns, $unit
FROM (
  SELECT $columns, $unit, kept.kanon_own, MIN(kept.kanon_own) OVER (PARTITION BY $names) AS kanon_least
  FROM (
    SELECT $columns, $unit, 1 AS kanon_own FROM $people AS p
    UNION ALL
    SELECT $columns, NULL AS unit, 0 AS kanon_own FROM $released AS r
  ) AS kept
) AS classes
WHERE classes.kanon_own = 1 AND classes.kanon_least = 0
