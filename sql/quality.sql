-- Figures of a recoding's quality: losses, errors and entropy.

-- name: cell_levels
-- Count the source rows by their value of one attribute and the level of their cell; suppressed rows are on the top level.
-- columns: value (its code), level, n (rows)
SELECT counted.value, counted.level, CAST(SUM(counted.n) AS BIGINT) AS n
FROM (
  -- all rows on the top level; then the released rows are added to their own level and subtracted from the top
  SELECT $value AS value, $height AS level, f.n FROM $frequency_set AS f
  UNION ALL
  SELECT released.value, CASE WHEN signs.sign > 0 THEN released.level ELSE $height END AS level, signs.sign * released.n AS n
  FROM (
    SELECT a.value, k.level, SUM(a.n) AS n
    FROM (SELECT $value AS value, a.n, a.class FROM $assignment AS a) AS a
    JOIN (SELECT k.class, $level AS level FROM $classes AS k) AS k ON k.class = a.class
    GROUP BY a.value, k.level
  ) AS released
  CROSS JOIN (SELECT 1 AS sign UNION ALL SELECT -1 AS sign) AS signs
) AS counted
GROUP BY counted.value, counted.level
HAVING SUM(counted.n) > 0;

-- name: cells_together
-- Count the released rows by the value and the level of their cells, for all attributes.
-- columns: attribute, value (its code), level, n (rows)
-- engines: duckdb
SELECT attribute, value, level, CAST(SUM(n) AS BIGINT) AS n
FROM (
  SELECT a.n, UNNEST(RANGE($attributes)) AS attribute, UNNEST(a.codes) AS value, UNNEST(k.levels) AS level
  FROM (SELECT a.class, a.n, [$codes] AS codes FROM $assignment AS a) AS a
  JOIN (SELECT k.class, [$levels] AS levels FROM $classes AS k) AS k ON k.class = a.class
) AS cells
GROUP BY attribute, value, level;

-- name: ranges_together
-- Count the released rows by the value and the range of their cells, for all attributes.
-- columns: attribute, value (its code), covered (leaves), first and last (positions), n (rows)
-- engines: duckdb
SELECT attribute, value, covered, first, last, CAST(SUM(n) AS BIGINT) AS n
FROM (
  SELECT
    a.n, UNNEST(RANGE($attributes)) AS attribute, UNNEST(a.codes) AS value, UNNEST(k.covered) AS covered,
    UNNEST(k.first) AS first, UNNEST(k.last) AS last
  FROM (SELECT a.class, a.n, [$codes] AS codes FROM $assignment AS a) AS a
  JOIN (SELECT k.class, [$leaves] AS covered, [$first] AS first, [$last] AS last FROM $classes AS k) AS k
    ON k.class = a.class
) AS cells
GROUP BY attribute, value, covered, first, last;

-- name: values_together
-- Count the source rows by their value, for all attributes.
-- columns: attribute, value (its code), n (rows)
-- engines: duckdb
SELECT attribute, value, CAST(SUM(n) AS BIGINT) AS n
FROM (SELECT f.n, UNNEST(RANGE($attributes)) AS attribute, UNNEST([$codes]) AS value FROM $frequency_set AS f) AS cells
GROUP BY attribute, value;

-- name: generalized
-- Count the released rows whose cell covers several leaves, attribute by attribute.
SELECT COALESCE(SUM(CASE WHEN $leaves > 1 THEN k.n END), 0) FROM $classes AS k;

-- name: cells
-- Count the labels that the values of one attribute were generalized to; suppressed rows have `*`.
-- columns: value (its code), label, n (rows)
SELECT cells.value, cells.label, CAST(SUM(cells.n) AS BIGINT) AS n
FROM (
  SELECT a.value, CASE WHEN k.class IS NULL THEN '*' ELSE k.label END AS label, a.n
  FROM (SELECT $value AS value, a.n, a.class FROM $assignment AS a) AS a
  LEFT JOIN (SELECT k.class, $label AS label FROM $classes AS k) AS k ON k.class = a.class
) AS cells
GROUP BY cells.value, cells.label;

-- name: levels
-- Look up the labels of cells in a hierarchy: the lowest level with the label, and the leaves under it.
-- columns: value, level (NULL if no level has the label), leaves, n (rows)
SELECT c.value, l.level, l.leaves, CAST(SUM(c.n) AS BIGINT) AS n
FROM $cells AS c
LEFT JOIN $labels AS l  -- an equality, also for NULL: engines compare all pairs under any other condition
  ON COALESCE(l.label, '') = COALESCE(c.label, '') AND (l.label IS NULL) = (c.label IS NULL)
GROUP BY c.value, l.level, l.leaves;

-- name: sums
-- Add up the rows and leaves of one attribute's cells by level.
-- columns: level, n (rows), leaves (under the labels, summed over rows)
SELECT l.level, CAST(SUM(l.n) AS BIGINT) AS n, CAST(SUM(l.leaves * l.n) AS BIGINT) AS leaves
FROM $levels AS l
GROUP BY l.level
ORDER BY level;

-- name: entropy
-- Add up the bits that rows lose from one level of a hierarchy to a higher one, for the rows that reach it.
-- engines: duckdb
SELECT COALESCE(SUM(n * LOG(2, coarse / fine)), 0) AS bits
FROM (
  SELECT n, SUM(n) OVER (PARTITION BY fine) AS fine, SUM(n) OVER (PARTITION BY coarse) AS coarse
  FROM (
    SELECT l.n, m.fine, m.coarse
    FROM $levels AS l
    JOIN (SELECT DISTINCT code_0, $fine AS fine, $coarse AS coarse FROM $mapping) AS m ON m.code_0 = l.value
    WHERE l.level >= $level
  ) AS reached
) AS shares;

-- name: checksum
-- Compute one digest of the classes, from their tuples and the number of values that each cell covers, independent of class numbers.
-- columns: checksum (NULL if nothing is released)
SELECT MD5(STRING_AGG(lines.line, ';' ORDER BY lines.line)) AS checksum
FROM (
  SELECT MD5(named.name || ' ' || named.own || ' ' || CAST(named.n AS TEXT) || ' ' || named.leaves) AS line
  FROM (
    SELECT t.own, t.n, t.leaves, MIN(t.own) OVER (PARTITION BY t.class) AS name
    FROM (
      SELECT ARRAY_TO_STRING([$keys], ',') AS own, ARRAY_TO_STRING([$leaves], ',') AS leaves, c.class, CAST(SUM(c.n) AS BIGINT) AS n
      FROM $cells AS c GROUP BY $keys, $leaves, c.class
    ) AS t
  ) AS named
) AS lines;

-- name: apart_density
-- Add up the log densities of a release at the values of its rows, if no two classes cover the same value.
-- columns: logarithms (the rows of a class are spread over what it covers, suppressed rows over everything)
SELECT
  COALESCE(SUM(k.n * (LN(k.n / CAST($rows AS DOUBLE)) - k.share + LN(1 + $suppressed / k.n * EXP(k.share)))), 0)
    AS logarithms
FROM (
  SELECT c.class, CAST(SUM(c.n) AS DOUBLE) AS n, MIN(c.share) AS share FROM $cells AS c GROUP BY c.class
) AS k;

-- name: covered_density
-- Add up the log densities of a release at the values of all rows, from all classes that cover them.
-- columns: logarithms (suppressed rows are spread over everything; NULL if nothing is released at some tuple)
SELECT
  CASE
    WHEN MIN(t.mass) + $suppressed > 0 THEN SUM(t.n * LN(NULLIF(t.mass + $suppressed, 0) / CAST($rows AS DOUBLE)))
  END AS logarithms
FROM (
  SELECT c.tuple, CAST(MIN(c.n) AS DOUBLE) AS n, COALESCE(SUM(c.mass), 0) AS mass FROM $covered AS c GROUP BY c.tuple
) AS t;

-- name: ambiguity
-- Add up, over released rows, the share of all combinations of leaves that a row covers.
SELECT COALESCE(SUM(c.n), 0) AS released_rows, COALESCE(SUM(c.n * EXP($share)), 0) AS shares FROM $cells AS c;

-- name: tuple_bits
-- Add up n * ln(n) over the distinct tuples of the source, where n counts the rows of a tuple.
SELECT COALESCE(SUM(held.n * LN(held.n)), 0) AS bits
FROM (SELECT CAST(SUM(f.n) AS DOUBLE) AS n FROM $frequency_set AS f WHERE f.n > 0 GROUP BY $keys) AS held;

-- name: own_tuple_bits
-- Add up n * ln(n) over the distinct tuples of the source, if each has one row in the frequency set.
SELECT COALESCE(SUM(held.n * LN(held.n)), 0) AS bits
FROM (SELECT CAST(f.n AS DOUBLE) AS n FROM $frequency_set AS f WHERE f.n > 0) AS held;

-- name: level_errors
-- Compute, for every number, the squared error of its label's middle minus that of the column's mean.
-- columns: weighed_code, weight (0 under a label that shows the mean: that of all leaves, or of values without a leaf)
SELECT s.code_0 AS weighed_code, (s.number - s.shown) * (s.number - s.shown) - (s.number - $mean) * (s.number - $mean) AS weight
FROM (
  SELECT
    c.code_0, c.number,
    CASE
      WHEN COUNT(*) OVER (PARTITION BY c.label) = $leaves OR c.label = $starred THEN $mean
      ELSE (MIN(c.number) OVER (PARTITION BY c.label) + MAX(c.number) OVER (PARTITION BY c.label)) / 2
    END AS shown
  FROM $numbers AS c
) AS s
WHERE NOT s.number IS NULL;

-- name: leaf_numbers
-- Return the leaves of a numeric column as numbers, with the codes of their labels on one level.
SELECT m.code_0, $label AS label, CAST(m.value AS DOUBLE) AS number FROM $mapping AS m;

-- name: errors
-- Add up the squared errors of the numbers that classes show, minus those of the column's mean.
-- columns: difference (over released rows; a cell shows the mean if it covers all leaves or has no number)
-- engines: duckdb
SELECT COALESCE(SUM(shown.n * (POWER(shown.number - shown.said, 2) - POWER(shown.number - $mean, 2))), 0) AS difference
FROM (
  SELECT
    m.n, p.number,
    COALESCE(
      CASE WHEN $statistic THEN TRY_CAST(k.label AS DOUBLE) END,
      CASE WHEN k.leaves < $leaves THEN (low.number + high.number) / 2 END,
      $mean
    ) AS said
  FROM (SELECT $value AS value, a.n, a.class FROM $assignment AS a) AS m
  JOIN $positions AS p ON p.code_0 = m.value
  JOIN (SELECT class, $cells FROM $classes) AS k ON k.class = m.class
  JOIN $positions AS low ON low.position = k.first
  JOIN $positions AS high ON high.position = k.last
  WHERE NOT p.number IS NULL
) AS shown;

-- name: number_spread
-- Compute the mean of an attribute's numbers, and their sum of squared deviations from it.
-- columns: mean (NULL without numbers), squares
SELECT MIN(held.mean) AS mean, COALESCE(SUM(held.n * (held.number - held.mean) * (held.number - held.mean)), 0) AS squares
FROM (
  SELECT f.n, v.number, SUM(f.n * v.number) OVER () / NULLIF(SUM(f.n) OVER (), 0) AS mean
  FROM (SELECT $value AS value, f.n FROM $frequency_set AS f) AS f
  JOIN $numbers AS v ON v.code_0 = f.value
  WHERE NOT v.number IS NULL
) AS held;
