-- PrioPrivacy: local recoding that changes the most important attributes last.

-- name: rule_groups
-- Apply one transformation to all remaining tuples, and list the members of the groups that meet the privacy model.
-- columns: node, class (the number of its first tuple), tuple
-- engines: duckdb
SELECT $node AS node, MIN(tuple) AS class, UNNEST(LIST(tuple)) AS tuple
FROM $frequency_set GROUP BY $levels HAVING COALESCE($safe, FALSE);

-- name: suppressible
-- Suppress the same cells of all tuples, and list the open tuples whose pattern matches enough original rows.
-- columns: node, n (original rows that match the pattern), others (the other distinct tuples among them), tuple
-- engines: duckdb
SELECT $node AS node, SUM(n) AS n, COUNT(*) - 1 AS others, UNNEST(LIST(tuple) FILTER (WHERE open)) AS tuple
FROM $frequency_set GROUP BY $levels HAVING COALESCE($safe, FALSE);

-- name: counted_values
-- Count the rows of every tuple by its sensitive values, with the tuple numbers of prioprivacy/numbered_tuples.
SELECT CAST(DENSE_RANK() OVER (ORDER BY $keys) AS INTEGER) AS tuple, f.n, $values FROM $frequency_set AS f;

-- name: unsafe_tuples
-- Return the distinct tuples that do not meet the privacy model without recoding.
-- engines: duckdb
SELECT *
FROM $tuples
WHERE tuple IN (SELECT tuple FROM $counted GROUP BY tuple HAVING NOT COALESCE($safe, FALSE));

-- name: used_nodes
-- List the transformations in use.
SELECT DISTINCT r.node FROM $recoded AS r;

-- name: group_places
-- Rank the groups that meet the privacy model: the largest first, and the earlier transformation on ties.
-- columns: node, class, place (1, 2, …; groups with equal places share no tuple)
SELECT m.node, m.class, RANK() OVER (ORDER BY SUM(t.n) DESC, m.node) AS place
FROM $members AS m
JOIN $counted AS t ON t.tuple = m.tuple
GROUP BY m.node, m.class
HAVING COALESCE($safe, FALSE);

-- name: best_groups
-- Choose every group that ranks before all groups with which it shares a tuple: a greedy choice would take each of them.
SELECT placed.node, placed.class
FROM (
  SELECT m.node, m.class, p.place, MIN(p.place) OVER (PARTITION BY m.tuple) AS best
  FROM $members AS m
  JOIN $places AS p ON p.node = m.node AND p.class = m.class
) AS placed
GROUP BY placed.node, placed.class
HAVING MAX(placed.place - placed.best) = 0;

-- name: group_tuples
-- List the tuples of the chosen groups.
SELECT m.tuple, m.node FROM $members AS m JOIN $chosen AS g ON g.node = m.node AND g.class = m.class;

-- name: remaining
-- Leave out the tuples that have been recoded.
-- engines: duckdb
SELECT * FROM $tuples AS t WHERE NOT EXISTS(SELECT 1 FROM $recoded AS r WHERE r.tuple = t.tuple);

-- name: open_tuples
-- Mark which tuples remain to be recoded.
-- engines: duckdb, postgresql
SELECT t.tuple, t.n, $columns, t.tuple IN (SELECT r.tuple FROM $remaining AS r) AS open FROM $tuples AS t;

-- name: first_suppressions
-- Choose, for every tuple, the first pattern that leaves at least k possible values for the suppressed cells.
SELECT c.tuple, MIN(c.node) AS node
FROM $candidates AS c
JOIN $nodes AS d ON d.node = c.node
WHERE d.domain > $k AND (c.n - 1 < d.domain - $k OR d.domain - c.others >= $k)
GROUP BY c.tuple;

-- name: not_recoded
-- Assign one transformation to all tuples that have not been recoded.
SELECT t.tuple, $node AS node FROM $tuples AS t WHERE NOT EXISTS(SELECT 1 FROM $recoded AS r WHERE r.tuple = t.tuple);

-- name: matching_cells
-- Find the levels on which a leftover tuple equals all tuples of a class.
-- columns: class, tuple, attribute, level, n (rows of the class), rows (of the tuple), loss
-- engines: duckdb
SELECT k.class, l.tuple, k.attribute, k.level, k.n, l.n AS rows, k.loss
FROM $left_over AS l
JOIN $cells AS x ON x.tuple = l.tuple
JOIN $common AS k ON k.attribute = x.attribute AND k.level = x.level AND k.code = x.code;

-- name: cheapest_classes
-- Choose, for every leftover tuple, the class that it joins at the least loss, for the tuple and the class together.
-- engines: duckdb
SELECT tuple, class
FROM (
  SELECT m.tuple, m.class, ROW_NUMBER() OVER (PARTITION BY m.tuple ORDER BY SUM((m.n + m.rows) * m.loss - m.n * k.loss), m.class) AS place
  FROM (SELECT class, tuple, attribute, n, rows, MIN(loss) AS loss FROM $matches GROUP BY class, tuple, attribute, n, rows) AS m
  JOIN (SELECT class, attribute, MIN(loss) AS loss FROM $common GROUP BY class, attribute) AS k
    ON k.class = m.class AND k.attribute = m.attribute
  GROUP BY m.tuple, m.class
) AS placed
WHERE place = 1;

-- name: joint_levels
-- Find the lowest levels on which a class and all tuples that join it are equal.
-- engines: duckdb
SELECT class, attribute, MIN(level) AS level
FROM (
  SELECT m.class, m.attribute, m.level
  FROM $matches AS m
  JOIN $chosen AS j ON j.tuple = m.tuple AND j.class = m.class
  JOIN (SELECT class, COUNT(*) AS joined FROM $chosen GROUP BY class) AS s ON s.class = m.class
  GROUP BY m.class, m.attribute, m.level, s.joined
  HAVING COUNT(*) = s.joined
) AS joint
GROUP BY class, attribute
ORDER BY class, attribute;

-- name: rule_cells
-- Return the code of every tuple for one attribute on one level.
SELECT $attribute AS attribute, $level AS level, t.tuple, $column AS code FROM $tuples AS t;

-- name: common_cells
-- Find the levels, from the current one up, on which all tuples of a class are equal in an attribute.
-- columns: class, attribute, level, code, n (rows), loss (of one cell, weighted)
-- engines: duckdb
SELECT k.class, k.attribute, k.level, k.code, k.n, s.leaves * a.weight AS loss
FROM (
  SELECT
    c.class,
    x.attribute,
    x.level,
    MIN(x.code) AS code,
    CAST(SUM(c.n) AS BIGINT) AS n
  FROM $numbered AS c
  JOIN $recoded AS r ON r.tuple = c.tuple
  JOIN $nodes AS v ON v.node = r.node
  JOIN $cells AS x ON x.tuple = c.tuple AND x.attribute = v.attribute
  GROUP BY c.class, x.attribute, x.level
  HAVING MIN(x.code) = MAX(x.code) AND x.level >= MAX(v.level)
) AS k
JOIN $labels AS s ON s.attribute = k.attribute AND s.rule_level = k.level AND s.code = k.code
JOIN $attributes AS a ON a.attribute = k.attribute;

-- name: grown_classes
-- List the tuples of the classes that others have joined, including the others, with the class's new transformation.
SELECT c.tuple, g.node
FROM (SELECT n.tuple, n.class FROM $numbered AS n UNION ALL SELECT c.tuple, c.class FROM $chosen AS c) AS c
JOIN $grown AS g ON g.class = c.class;

-- name: recoded_anew
-- Combine the tuples with a new transformation and the tuples that keep theirs.
SELECT k.tuple, k.node FROM $kept AS k UNION ALL SELECT m.tuple, m.node FROM $moved AS m;

-- name: merged_tuples
-- List the tuples of the classes that have merged with others.
SELECT j.class, j.tuple, j.n
FROM $joined AS j
WHERE j.class IN (
  SELECT m.class
  FROM $joined AS m
  JOIN $numbered AS c ON c.tuple = m.tuple
  GROUP BY m.class
  HAVING MIN(c.class) < MAX(c.class)
);

-- name: lowest_levels
-- Find the lowest levels on which all tuples of a class are equal.
-- engines: duckdb
SELECT k.class, k.attribute, MIN(k.level) AS level
FROM $common AS k
GROUP BY k.class, k.attribute
ORDER BY class, attribute;

-- name: class_members
-- Return the counted columns of tuples together with their classes.
SELECT k.class, $columns
FROM (SELECT n.class, n.tuple FROM $numbered AS n) AS k
JOIN $counted AS c ON c.tuple = k.tuple;

-- name: numbered_classes
-- Number the classes: tuples with the same labels form one class.
-- columns: class (0, 1, …), tuple, n, the cells
SELECT CAST(DENSE_RANK() OVER (ORDER BY $labels) - 1 AS INTEGER) AS class, l.tuple, l.n, $cells FROM $labelled AS l;

-- name: own_classes
-- Describe the classes of an algorithm that creates its own labels.
-- columns: class, n (rows), the cells
SELECT n.class, CAST(SUM(n.n) AS BIGINT) AS n, MIN($cells) FROM $numbered AS n GROUP BY n.class;

-- name: own_assignment
-- Find the class of every distinct tuple.
SELECT $columns, t.n, k.class FROM $tuples AS t JOIN $numbered AS k ON k.tuple = t.tuple;

-- name: rule_keys
-- Count the rows of every distinct tuple, by the codes of its values only.
-- columns: the columns, n (rows)
SELECT $columns, CAST(SUM(f.n) AS BIGINT) AS n FROM $frequency_set AS f GROUP BY $columns;

-- name: numbered_tuples
-- Number the distinct tuples, in the same way in every run.
-- columns: tuple (1, 2, …), n, the columns
SELECT CAST(ROW_NUMBER() OVER (ORDER BY $columns) AS INTEGER) AS tuple, t.n, $columns FROM $tuples AS t;

-- name: rule_values
-- List the values of one quasi-identifier as text, by code.
-- columns: code, label (NULL for NULL)
-- engines: duckdb
SELECT code_0 AS code, MIN(CAST(value AS TEXT)) AS label FROM $mapping GROUP BY code_0;
