-- name: minimality/counts
-- Count the classes of a release in which one value is too frequent, and those that lack it.
-- reads: release (any relation that holds the columns)
-- holes: $release relation, $quasi_identifiers columns, $names columns, $value columns, $asked value, $alpha value
-- gives: unsafe_classes, unsafe_rows, lacking (classes that lack it), rows_lacking (of those), found (rows that have the value), others (rows that have another, or NULL), largest_unsafe, largest_lacking (rows of the largest such class, 0 without one)
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
) AS classes
