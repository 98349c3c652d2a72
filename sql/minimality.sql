-- Masking classes against minimality attacks.

-- name: marked
-- Mark the rows with a given value, and those of them in classes where the value is too frequent.
-- columns: row_id, value, found (1 if the row has the given value, else 0), unsafe (the value if it is too frequent in its class, else NULL)
SELECT
  counted.row_id,
  counted.value,
  counted.found,
  CASE WHEN counted.found = 1 AND counted.of_class > $alpha * counted.size THEN counted.value END AS unsafe
FROM (
  SELECT
    cells.row_id,
    cells.value,
    cells._found AS found,
    SUM(cells._found) OVER (PARTITION BY $names) AS of_class,
    COUNT(*) OVER (PARTITION BY $names) AS size
  FROM (
    SELECT
      $names,
      r.row_id,
      $value AS value,
      CASE WHEN CAST($value AS TEXT) = $asked THEN 1 ELSE 0 END AS _found
    FROM $rows AS r
  ) AS cells
) AS counted;

-- name: redrawn
-- Replace the given value in classes where it is too frequent by a value drawn from all rows with another value.
-- columns: row_id, value (for every row)
SELECT m.row_id, CASE WHEN m.unsafe IS NULL THEN m.value ELSE other.value END AS value
FROM $marked AS m
LEFT JOIN (
  SELECT d.row_id, CAST(FLOOR(d.v * $others) AS BIGINT) AS place FROM $draws AS d
) AS drawn ON drawn.row_id = m.row_id
LEFT JOIN (
  SELECT o.value, ROW_NUMBER() OVER (ORDER BY o.value, o.row_id) - 1 AS place FROM $marked AS o WHERE o.found = 0
) AS other ON other.place = drawn.place;

-- name: counts
-- Count the classes of a release where a given value is too frequent, and the classes without it.
-- columns: unsafe_classes, unsafe_rows, lacking (classes without the value), rows_lacking (their rows), found (rows with the value), others (rows with another value or NULL), largest_unsafe, largest_lacking (rows of the largest such class, 0 if there is none)
SELECT
  COALESCE(SUM(CASE WHEN classes.found > $alpha * classes.size THEN 1 ELSE 0 END), 0) AS unsafe_classes,
  COALESCE(SUM(CASE WHEN classes.found > $alpha * classes.size THEN classes.size ELSE 0 END), 0) AS unsafe_rows,
  COALESCE(SUM(CASE WHEN classes.found = 0 THEN 1 ELSE 0 END), 0) AS lacking,
  COALESCE(SUM(CASE WHEN classes.found = 0 THEN classes.size ELSE 0 END), 0) AS rows_lacking,
  COALESCE(SUM(classes.found), 0) AS found,
  COALESCE(SUM(classes.size - classes.found), 0) AS others,
  COALESCE(MAX(CASE WHEN classes.found > $alpha * classes.size THEN classes.size END), 0) AS largest_unsafe,
  COALESCE(MAX(CASE WHEN classes.found = 0 THEN classes.size END), 0) AS largest_lacking
FROM (
  SELECT COUNT(*) AS size, SUM(CASE WHEN CAST(cells.value AS TEXT) = $asked THEN 1 ELSE 0 END) AS found
  FROM (SELECT $quasi_identifiers, $value AS value FROM $release AS r) AS cells
  GROUP BY $names
) AS classes;
