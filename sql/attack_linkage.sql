-- Linkage and singling out: the released rows that match a person, and predicates that isolate one person.

-- name: linked
-- Summarize how targets link to records: targets with a match, with one record or one class, and the expected correct links.
-- columns: fitting, one_record, one_class, right (expected, if one of the matching records is picked at random)
SELECT
  COUNT(*) AS fitting,
  COALESCE(SUM(CASE WHEN c.records = 1 THEN 1 ELSE 0 END), 0) AS one_record,
  COALESCE(SUM(CASE WHEN c.classes = 1 THEN 1 ELSE 0 END), 0) AS one_class,
  COALESCE(SUM(CAST(o.records AS DOUBLE PRECISION) / c.records), 0) AS right
FROM $candidates AS c LEFT JOIN $owned AS o ON o.target = c.target;

-- name: one_of_each
-- Count one record for each target: of several rows that match the attacker's values, at most one is the target's.
SELECT l.target, 1 AS records FROM $linked AS l;

-- name: source_rows
-- Select the source rows that are linked to targets, as targets themselves.
-- columns: target (the row's number), the columns
SELECT s.row_id AS target, $columns FROM $source AS s
WHERE s.row_id IN (SELECT l.row_id FROM $links AS l);

-- name: owned
-- Count a target's own records among its matches: its source rows that match a class which the target matches.
SELECT l.target, COUNT(DISTINCT l.row_id) AS records
FROM $links AS l
JOIN $own_fits AS o ON o.target = l.row_id
JOIN $fits AS f ON f.target = l.target AND f.class = o.class
GROUP BY l.target;

-- name: links_by_unit
-- Link targets to their source rows by the unit column.
-- columns: target, row_id (of the source)
SELECT t.target, s.row_id
FROM $targets AS t
JOIN (SELECT q.row_id, $unit AS unit FROM $people AS q) AS p ON p.row_id = t.target
JOIN (SELECT r.row_id, $unit AS unit FROM $source AS r) AS s ON s.unit = p.unit;

-- name: keyed
-- Combine a person's values into one key, in which NULL counts as a value.
-- engines: duckdb
SELECT $id AS id, [COALESCE('=' || CAST($columns AS TEXT), '')] AS key FROM $people AS p;

-- name: links_by_key
-- Link targets to the source rows that agree with all their values.
-- columns: target, row_id (of the source)
SELECT t.id AS target, s.id AS row_id FROM $targets AS t JOIN $source AS s ON s.key = t.key;

-- name: drawn_classes
-- Draw a sample of the release's classes, by the smallest hash of their number and a seed.
SELECT k.class, $labels, k.n FROM $classes AS k
ORDER BY MD5(CAST(k.class AS TEXT) || $seed), k.class
LIMIT $most;

-- name: linked_records
-- Summarize how records link to people: all records, those with a matching person, those with exactly one, and the expected correct links.
-- columns: records, fitting, one_person, right (expected, if one of the matching people is picked at random)
SELECT
  COALESCE(SUM(f.n), 0) AS records,
  COALESCE(SUM(CASE WHEN f.people > 0 THEN f.n ELSE 0 END), 0) AS fitting,
  COALESCE(SUM(CASE WHEN f.people = 1 THEN f.n ELSE 0 END), 0) AS one_person,
  COALESCE(SUM(CAST(LEAST(f.n, f.in_source) AS DOUBLE PRECISION) / NULLIF(f.people, 0)), 0) AS right
FROM (
  SELECT k.class, k.n, COALESCE(SUM(t.people), 0) AS people, COALESCE(SUM(t.in_source), 0) AS in_source
  FROM $classes AS k
  LEFT JOIN $fits AS x ON x.class = k.class
  LEFT JOIN $tuples AS t ON t.target = x.target
  GROUP BY k.class, k.n
) AS f;

-- name: tuples_in_source
-- Count the people of a table by their values, and how many of them are in the source.
-- columns: target (a number), the columns, people, in_source (people)
SELECT ROW_NUMBER() OVER (ORDER BY $columns) AS target, $columns, COUNT(*) AS people, COUNT(s.source_unit) AS in_source
FROM (SELECT $columns, $unit AS unit FROM $people AS q) AS p
LEFT JOIN (SELECT DISTINCT $unit AS source_unit FROM $source AS r) AS s ON s.source_unit = p.unit
GROUP BY $columns;

-- name: tuples
-- Count the people of a table by their values; any of them can be in the source.
-- columns: target (a number), the columns, people, in_source (all people)
SELECT ROW_NUMBER() OVER (ORDER BY $columns) AS target, $columns, COUNT(*) AS people, COUNT(*) AS in_source
FROM $people AS p
GROUP BY $columns;

-- name: shared_rows
-- Count the rows of a control table whose key also occurs among the people.
SELECT COUNT(*) AS rows FROM $control AS c WHERE c.key IN (SELECT p.key FROM $people AS p);

-- name: copied
-- Copy the columns of a table that the attack reads, with the rows numbered in reading order.
SELECT ROW_NUMBER() OVER () AS row_id, CAST($texts AS TEXT), $natives FROM $source AS s;

-- name: read_columns
-- Read the same columns without numbers: Spark would number all rows in a single task, so they are numbered on arrival.
SELECT CAST($texts AS TEXT), $natives FROM $source AS s;

-- name: ranged
-- Show two bounds as the range between them, or as `*` (any value) if a bound is NULL.
-- engines: duckdb
SELECT s.*, COALESCE('[' || $low || ', ' || $high || ']', '*') FROM $copied AS s;
