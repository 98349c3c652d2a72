-- name: privacy/homogeneous_people
-- Count the classes in which all people have one sensitive value in common, their rows and people; NULL is a value.
-- reads: release (any relation that holds the columns)
-- holes: $release relation, $quasi_identifiers columns, $names columns, $value columns, $unit columns
-- gives: classes, rows, people
SELECT
  COALESCE(SUM(classed._of_class), 0) AS classes,
  COALESCE(SUM(classed.n), 0) AS rows,
  COUNT(DISTINCT classed._person) AS people
FROM (
  SELECT sized._person, sized.n, sized._of_class, sized._size, MAX(sized._same) OVER (PARTITION BY $names) AS _most
  FROM (
    SELECT
      $names, pairs._person, pairs.n,
      SUM(pairs._first) OVER (PARTITION BY $names) AS _size,
      COUNT(pairs._person) OVER (PARTITION BY $names, pairs._value) AS _same,
      CASE WHEN ROW_NUMBER() OVER (PARTITION BY $names ORDER BY pairs._value, pairs._person) = 1 THEN 1 ELSE 0 END
        AS _of_class
    FROM (
      SELECT
        $names, counted._value, counted._person, counted.n,
        CASE
          WHEN counted._person IS NULL THEN 0
          WHEN ROW_NUMBER() OVER (PARTITION BY $names, counted._person ORDER BY counted._value) = 1 THEN 1
          ELSE 0
        END AS _first
      FROM (
        SELECT $quasi_identifiers, $value AS _value, $unit AS _person, COUNT(*) AS n
        FROM $release AS r GROUP BY $quasi_identifiers, $value, $unit
      ) AS counted
    ) AS pairs
  ) AS sized
) AS classed
WHERE classed._size = classed._most
