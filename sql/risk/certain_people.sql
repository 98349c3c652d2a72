-- name: risk/certain_people
-- Count the people in classes in which one sensitive value is everybody's; NULL is a value.
-- reads: release (any relation that holds the columns)
-- holes: $release relation, $quasi_identifiers columns, $names columns, $value columns, $unit columns
-- gives: people
SELECT COUNT(DISTINCT counted._unit) AS people
FROM (
  SELECT
    valued._unit,
    MAX(valued._having) OVER (PARTITION BY $names) AS _most,
    SUM(valued._first) OVER (PARTITION BY $names) AS _people
  FROM (
    SELECT
      $names,
      seen._unit,
      COUNT(*) OVER (PARTITION BY $names, seen._value) AS _having,
      CASE WHEN ROW_NUMBER() OVER (PARTITION BY $names, seen._unit ORDER BY seen._value) = 1 THEN 1 ELSE 0 END AS _first
    FROM (SELECT DISTINCT $quasi_identifiers, $value AS _value, $unit AS _unit FROM $release AS r) AS seen
  ) AS valued
) AS counted
WHERE counted._most = counted._people
