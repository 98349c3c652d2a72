-- name: wildcard/rows
-- Count the equal rows of a release, to be held against the source.
-- reads: release (any relation that holds the quasi-identifiers)
-- holes: $quasi_identifiers columns, $names columns, $release relation
-- gives: class (1, 2, …), n (rows), the names
SELECT CAST(ROW_NUMBER() OVER (ORDER BY $names) AS INTEGER) AS class, classes.n, $names
FROM (
  SELECT $names, COUNT(*) AS n
  FROM (SELECT CAST($quasi_identifiers AS TEXT) FROM $release AS r) AS cells
  GROUP BY $names
) AS classes
