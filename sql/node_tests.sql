-- Tests of lattice nodes: one GROUP BY of the frequency set per node.

-- name: node_test
-- Count the rows that one lattice node would leave in classes that do not meet the privacy model.
SELECT $node AS node, COALESCE(SUM(at_risk.size), 0) AS rows_at_risk
FROM (SELECT SUM(f.n) AS size FROM $frequency_set AS f GROUP BY $levels HAVING NOT COALESCE($safe, FALSE)) AS at_risk;

-- name: node_test_of_people
-- Count the same rows if a class needs $least people. The code of a person sets a bit of a number, so a class has at least as many people as bits; only classes with too few bits and enough rows are counted exactly.
-- engines: duckdb
SELECT $node AS node, COALESCE(SUM(at_risk.size), 0) AS rows_at_risk
FROM (
  WITH few AS MATERIALIZED (
    SELECT $levels, SUM(f.n) AS size
    FROM $frequency_set AS f
    GROUP BY $levels
    HAVING COALESCE(BIT_COUNT(BIT_OR(CAST(1 AS BIGINT) << CAST(f._unit % 63 AS INTEGER))), 0) < $least
  )
  SELECT few.size FROM few WHERE few.size < $least
  UNION ALL
  SELECT SUM(f.n) AS size
  FROM $frequency_set AS f
  NATURAL JOIN (SELECT $levels FROM few WHERE few.size >= $least) AS doubtful
  GROUP BY $levels
  HAVING COUNT(DISTINCT f._unit) < $least
) AS at_risk;

-- name: node_tests
-- Count the rows that several lattice nodes would leave in classes that do not meet the privacy model, in one grouping.
-- columns: node, rows_at_risk (more than 0: a node without rows at risk is not listed)
SELECT at_risk.node AS node, SUM(at_risk.size) AS rows_at_risk
FROM (
  SELECT f.node AS node, SUM(f.n) AS size FROM $frequency_set AS f GROUP BY f.node, $levels HAVING NOT COALESCE($safe, FALSE)
) AS at_risk
GROUP BY at_risk.node;

-- name: node_verdict
-- Count the rows that one lattice node would leave at risk, and those that every node below it leaves at risk, too.
-- columns: node, rows_at_risk, unavoidable (at most rows_at_risk; all rows of a class that does not meet the monotone models)
SELECT
  $node AS node,
  COALESCE(SUM(at_risk.size), 0) AS rows_at_risk,
  COALESCE(SUM(at_risk.unavoidable), 0) AS unavoidable
FROM (
  SELECT
    SUM(f.n) AS size,
    CASE WHEN COALESCE($monotone, FALSE) THEN LEAST($unavoidable, SUM(f.n)) ELSE SUM(f.n) END AS unavoidable
  FROM $frequency_set AS f GROUP BY $levels HAVING NOT COALESCE($safe, FALSE)
) AS at_risk;

-- name: node_class_sizes
-- Count the classes of each size that one lattice node would release, for models that judge all classes together.
-- columns: node, size (rows or people in a class), people (of a population, whom the class represents), classes (with this size and this number of people), rows (in all of these)
SELECT $node AS node, released.size, released.people, COUNT(*) AS classes, SUM(released.class_rows) AS rows
FROM (
  SELECT $size AS size, $people AS people, SUM(f.n) AS class_rows
  FROM $frequency_set AS f GROUP BY $levels HAVING COALESCE($safe, FALSE)
) AS released
GROUP BY released.size, released.people;

-- name: node_classes
-- Summarize the equivalence classes that one node would release.
-- columns: node, classes, released_rows, smallest_class (NULL without classes), squares (sum of squared class sizes)
SELECT
  $node AS node,
  COUNT(*) AS classes,
  COALESCE(SUM(released.size), 0) AS released_rows,
  MIN(released.size) AS smallest_class,
  COALESCE(SUM(released.size * released.size), 0) AS squares
FROM (SELECT SUM(f.n) AS size FROM $frequency_set AS f GROUP BY $levels HAVING COALESCE($safe, FALSE)) AS released;

-- name: class_sums
-- Add up the rows and loss columns of every class of the chosen node, and check whether it meets the privacy model.
-- columns: the classes' codes, n (rows), one sum per loss column, _safe
SELECT $levels, counted.size AS n, $losses, counted.safe AS _safe
FROM (
  SELECT $levels, CAST(SUM(f.n) AS BIGINT) AS size, CAST(SUM($losses) AS BIGINT), COALESCE($safe, FALSE) AS safe
  FROM $frequency_set AS f GROUP BY $levels
) AS counted;

-- name: released_classes
-- List the classes of the chosen node that meet the privacy model, by their codes.
SELECT $levels FROM $frequency_set AS f GROUP BY $levels HAVING COALESCE($safe, FALSE);

-- name: released_leaves
-- Count the rows of every class of the chosen node that meets the privacy model, and add up its loss columns.
-- columns: n (rows), class (a number), one sum per loss column
SELECT released.size AS n, ROW_NUMBER() OVER (ORDER BY released.size) AS class, $losses
FROM (
  SELECT CAST(SUM(f.n) AS BIGINT) AS size, CAST(SUM($losses) AS BIGINT)
  FROM $frequency_set AS f GROUP BY $levels HAVING COALESCE($safe, FALSE)
) AS released
WHERE released.size > 0;

-- name: node_losses
-- Add up the loss of the rows at risk of several lattice nodes, which suppression replaces by total loss.
-- columns: node, rows_at_risk (more than 0: a node without rows at risk is not listed), one sum per loss column
SELECT c.node AS node, SUM(c.n) AS rows_at_risk, SUM($losses)
FROM $frequency_set AS c
WHERE (c.node, $levels) IN (
  SELECT f.node, $levels FROM $frequency_set AS f GROUP BY f.node, $levels HAVING NOT COALESCE($safe, FALSE)
)
GROUP BY c.node;

-- name: node_loss
-- Add up the loss of the rows at risk of one node, which suppression replaces by total loss.
SELECT $node AS node, COALESCE(SUM(at_risk.size), 0) AS rows_at_risk, COALESCE(SUM($losses), 0)
FROM (
  SELECT SUM(f.n) AS size, SUM($losses)
  FROM $frequency_set AS f GROUP BY $levels HAVING NOT COALESCE($safe, FALSE)
) AS at_risk;

-- name: level_losses
-- Add up every loss column over all rows: the loss of each level of each attribute before suppression.
SELECT COALESCE(SUM(f.n), 0) AS rows, COALESCE(SUM($losses), 0) FROM $frequency_set AS f;

-- name: node_bits
-- Add up n * ln(n) over the labels of each attribute, where n counts the rows at risk of one node that have the label.
SELECT
  COALESCE(MAX(counted.n), 0) AS rows_at_risk,
  COALESCE(SUM(CASE WHEN NOT $labels IS NULL THEN counted.n * LN(counted.n) END), 0)
FROM (
  SELECT $labels, CAST(SUM(at_risk.size) AS DOUBLE) AS n
  FROM (
    SELECT $labels, SUM(f.n) AS size
    FROM $frequency_set AS f GROUP BY $labels HAVING NOT COALESCE($safe, FALSE)
  ) AS at_risk
  WHERE at_risk.size > 0
  GROUP BY GROUPING SETS ($labels, ())
) AS counted;

-- name: level_bits
-- Add up n * ln(n) over the labels of each level, where n counts the rows that have the label: the basis of the level's entropy.
SELECT COALESCE(SUM(CASE WHEN NOT $labels IS NULL THEN counted.n * LN(counted.n) END), 0)
FROM (
  SELECT $labels, CAST(SUM(f.n) AS DOUBLE) AS n
  FROM $frequency_set AS f WHERE f.n > 0 GROUP BY GROUPING SETS ($labels)
) AS counted;

-- name: level_generalized
-- Count the rows whose label covers several leaves, for each level of each attribute, before suppression.
SELECT COALESCE(SUM(f.n), 0) AS rows, COALESCE(SUM(CASE WHEN $losses > 0 THEN f.n END), 0) FROM $frequency_set AS f;

-- name: node_generalized
-- Count the rows at risk of one node whose label covers several leaves.
SELECT
  $node AS node, COALESCE(SUM(at_risk.size), 0) AS rows_at_risk,
  COALESCE(SUM(CASE WHEN $losses > 0 THEN at_risk.size END), 0)
FROM (
  SELECT SUM(f.n) AS size, SUM($losses)
  FROM $frequency_set AS f GROUP BY $levels HAVING NOT COALESCE($safe, FALSE)
) AS at_risk;

-- name: same_labels
-- Find the values whose label on one level equals their label on a lower level, if both labels cover the same values.
-- engines: duckdb
SELECT c.code_0
FROM (
  SELECT
    m.code_0, $lower AS lower_label, $label AS label,
    COUNT(*) OVER (PARTITION BY $lower) AS lower_values,
    COUNT(*) OVER (PARTITION BY $label) AS label_values
  FROM $mapping AS m
) AS c
WHERE c.lower_label = c.label AND c.lower_values = c.label_values;

-- name: kept_rows
-- Count the released rows of one node whose label of one attribute is the value itself.
SELECT COALESCE(SUM(released.kept_n), 0) AS rows
FROM (
  SELECT SUM(CASE WHEN k.kept_code IS NULL THEN 0 ELSE c.n END) AS kept_n
  FROM (SELECT $levels, $sensitive, $code, f.n FROM $frequency_set AS f) AS c LEFT JOIN $kept AS k ON k.kept_code = c.code
  GROUP BY $levels HAVING COALESCE($safe, FALSE)
) AS released;

-- name: like_values
-- Find the values whose label on one level may be the value itself: the same text, or the same number in another notation.
-- columns: value, label, code_0 (also of a NULL that stays NULL)
-- engines: duckdb
SELECT c.value, c.label, c.code_0
FROM (SELECT m.value, $label AS label, m.code_0 FROM $mapping AS m) AS c
WHERE c.label = CAST(c.value AS TEXT)
  OR ($float AND TRY_CAST(c.label AS DOUBLE) = TRY_CAST(CAST(c.value AS TEXT) AS DOUBLE))
  OR (c.label IS NULL AND c.value IS NULL);

-- name: released_sum
-- Add up a weight of each value of one attribute over the rows that one node releases.
SELECT COALESCE(SUM(released.total), 0) AS total
FROM (
  SELECT SUM(c.n * COALESCE(w.weight, 0)) AS total
  FROM (SELECT $levels, $sensitive, $code, f.n FROM $frequency_set AS f) AS c
  LEFT JOIN $weights AS w ON w.weighed_code = c.code
  GROUP BY $levels HAVING COALESCE($safe, FALSE)
) AS released;

-- name: masked_class
-- Check whether the rows that one node leaves at risk would meet the privacy model as one class with all quasi-identifiers suppressed.
-- columns: safe, size (rows or people)
SELECT COALESCE($safe, FALSE) AS safe, $size AS size
FROM (SELECT $sensitive, f.n, DENSE_RANK() OVER (ORDER BY $levels) AS class FROM $frequency_set AS f) AS numbered
WHERE numbered.class IN (
  SELECT numbered.class
  FROM (SELECT $sensitive, f.n, DENSE_RANK() OVER (ORDER BY $levels) AS class FROM $frequency_set AS f) AS numbered
  GROUP BY numbered.class HAVING NOT COALESCE($safe, FALSE)
);

-- name: node_assignment
-- Assign every tuple to its class at one lattice node; tuples of unsafe classes, and tuples without rows, are left out.
-- columns: the keys (a tuple's level-0 codes), n (rows), class
SELECT $keys, numbered.n, numbered.class
FROM (SELECT $keys, f.n, DENSE_RANK() OVER (ORDER BY $levels) AS class FROM $frequency_set AS f) AS numbered
WHERE numbered.n > 0 AND numbered.class IN (
  SELECT numbered.class
  FROM (SELECT $sensitive, f.n, DENSE_RANK() OVER (ORDER BY $levels) AS class FROM $frequency_set AS f) AS numbered
  GROUP BY numbered.class HAVING COALESCE($safe, FALSE)
);
