-- Refine: classes of cheap cells, improved by moving tuples between them.

-- name: none
-- Return a state in which no tuple has a class.
SELECT t.id, t.n, CAST(0 AS BIGINT) AS class FROM $tuples AS t WHERE FALSE;

-- name: open
-- List the tuples without a class, with the codes of their values.
SELECT t.id, t.n, $keys FROM $tuples AS t WHERE NOT t.id IN (SELECT p.id FROM $placed AS p);

-- name: cut
-- Add to a state the tuples that were cut into classes elsewhere, identified by the codes of their values.
-- columns: id, n, class (the new classes are numbered above $above)
SELECT s.id, s.n, s.class FROM $state AS s
UNION ALL
SELECT o.id, o.n, a.class + $above AS class
-- matched by sort position, because an equality would lose codes that are NULL
FROM (SELECT o.id, o.n, ROW_NUMBER() OVER (ORDER BY $keys) AS place FROM $open AS o) AS o
JOIN (SELECT a.class, ROW_NUMBER() OVER (ORDER BY $keys) AS place FROM $assignment AS a) AS a ON a.place = o.place;

-- name: cost
-- Add up the cost of a state's classes.
-- columns: rows, cost (of all rows)
SELECT COALESCE(SUM(k.n), 0) AS rows, COALESCE(SUM(k.n * k.cost), 0) AS cost FROM $classes AS k;

-- name: joined
-- Combine the generalizations of two halves of the attributes, if their total cost is within bounds.
SELECT a.id AS id, a.n AS n, a.key + b.key AS key, a.cost + b.cost AS cost
FROM $one AS a
JOIN $other AS b ON b.id = a.id
WHERE a.cost + b.cost > $above AND a.cost + b.cost <= $most;

-- name: choice
-- Choose, for every tuple, the cheapest cell that it can share.
-- columns: id, n, class (the key of the cell)
SELECT ranked.id, ranked.n, ranked.key AS class
FROM (
  SELECT c.id, c.n, c.key, ROW_NUMBER() OVER (PARTITION BY c.id ORDER BY c.cost, c.key) AS place FROM $cells AS c
) AS ranked
WHERE ranked.place = 1;

-- name: grown
-- Add the tuples that now have a class to a state.
SELECT s.id, s.n, s.class FROM $state AS s
UNION ALL
SELECT p.id, p.n, p.class FROM $placed AS p;

-- name: open_cells
-- Remove the cells of the tuples that now have a class.
SELECT c.id, c.n, c.key, c.cost FROM $cells AS c WHERE NOT c.id IN (SELECT p.id FROM $placed AS p);

-- name: cells
-- Keep the generalizations of tuples that enough rows share.
SELECT g.id, g.n, g.key, g.cost
FROM $generalizations AS g
WHERE g.key IN (SELECT g.key FROM $counted AS g GROUP BY g.key HAVING COALESCE($safe, FALSE));

-- name: safe
-- Keep the tuples whose chosen class meets the privacy model.
SELECT c.id, c.n, c.class
FROM $chosen AS c
WHERE c.class IN (SELECT c.class FROM $counted AS c GROUP BY c.class HAVING COALESCE($safe, FALSE));

-- name: outsiders
-- List the tuples without a class as movers that go wherever they cost least.
-- columns: id, own (rows), class (a separate one for each), dirty, most, place
SELECT
  o.id, o.n AS own, -o.id AS class, TRUE AS dirty, $most AS most,
  ROW_NUMBER() OVER (ORDER BY o.n DESC, o.id) AS place
FROM $open AS o;

-- name: moved
-- Apply moves to a state; tuples without a class get one.
SELECT s.id, s.n, s.class FROM $state AS s WHERE NOT s.id IN (SELECT m.id FROM $moves AS m)
UNION ALL
SELECT m.id, m.n, m.class FROM $moves AS m;

-- name: kept
-- Remove the first classes of an order from a state.
SELECT s.id, s.n, s.class
FROM $state AS s
JOIN $ranked AS r ON r.class = s.class
WHERE r.place > $first;

-- name: node
-- Number the classes of a lattice node, including small ones.
SELECT t.id, t.n, DENSE_RANK() OVER (ORDER BY $columns) AS class FROM $tuples AS t;

-- name: loose
-- Choose the tuples that leave their classes together, by savings per row in descending order, while a class keeps k rows, but at least one.
-- columns: id, class, most, place (in its class)
SELECT l.id, l.class, l.most, l.place
FROM (
  SELECT
    m.id, m.class, m.most, c.n,
    ROW_NUMBER() OVER (PARTITION BY m.class ORDER BY m.most * 1.0 / m.own DESC, m.id) AS place,
    SUM(m.own) OVER (PARTITION BY m.class ORDER BY m.most * 1.0 / m.own DESC, m.id) AS reached
  FROM $movers AS m
  JOIN $classes AS c ON c.class = m.class
) AS l
WHERE l.place = 1 OR l.n - l.reached >= $k;

-- name: highest
-- Find the highest class number of a state.
SELECT COALESCE(MAX(s.class), 0) AS class FROM $state AS s;

-- name: returned
-- Send loose tuples back if their new class costs at least what their leaving saves; its other tuples are without a class again.
SELECT r.id, r.n, CASE WHEN d.class IS NULL THEN r.class ELSE l.class END AS class
FROM $regrouped AS r
LEFT JOIN (
  SELECT c.class
  FROM $regrouped AS r
  JOIN $loose AS l ON l.id = r.id
  JOIN $classes AS c ON c.class = r.class
  WHERE r.class > $above
  GROUP BY c.class
  HAVING SUM(l.most) <= MIN(c.n * c.cost)
) AS d ON d.class = r.class
LEFT JOIN $loose AS l ON l.id = r.id
WHERE d.class IS NULL OR NOT l.class IS NULL;

-- name: loosened
-- Remove the loose tuples from a state, but only the first one from a class that would be unsafe without all of them.
SELECT s.id, s.n, s.class
FROM $state AS s
WHERE NOT s.id IN (
  SELECT l.id FROM $loose AS l WHERE l.place = 1 OR NOT l.class IN (SELECT u.class FROM $unsafe AS u)
);

-- name: dirty
-- List the classes to examine again: classes that change, and classes with a mover whose move was not applied or not examined.
SELECT b.class FROM $best AS b
UNION
SELECT m.class FROM $moves AS m
UNION
SELECT m.class FROM $movers AS m WHERE m.place > $seen AND m.place <= $far;

-- name: light
-- Mark, for every move, whether the class that is left and the class that is joined keep their cost per row.
-- columns: id, own, class, target, gain, light_out, light_in (1 or 0)
SELECT
  b.id, b.own, b.class, b.target, b.gain,
  CASE WHEN m.most = b.own * c.cost THEN 1 ELSE 0 END AS light_out,
  CASE WHEN b.gain = m.most - b.own * d.cost THEN 1 ELSE 0 END AS light_in
FROM $best AS b
JOIN $movers AS m ON m.id = b.id
JOIN $classes AS c ON c.class = b.class
JOIN $classes AS d ON d.class = b.target;

-- name: leaders
-- Find the best of all moves that touch a class, out of it or into it.
-- columns: class, id (the tuple that moves), light (1 if the class keeps its cost per row, else 0)
SELECT e.class, e.id, e.light
FROM (
  SELECT t.class, t.id, t.light, ROW_NUMBER() OVER (PARTITION BY t.class ORDER BY t.gain DESC, t.id) AS place
  FROM (
    SELECT l.class, l.id, l.gain, l.light_out AS light FROM $light AS l
    UNION ALL
    SELECT l.target AS class, l.id, l.gain, l.light_in AS light FROM $light AS l
  ) AS t
) AS e
WHERE e.place = 1;

-- name: moves_apart
-- Choose moves whose gains add up: the best for both their classes, and others if costs per row stay the same; fewer for a class that became unsafe.
-- columns: id, n (rows), class (the new one)
SELECT m.id, m.own AS n, m.target AS class
FROM (
  SELECT
    l.id, l.own, l.class, l.target,
    ROW_NUMBER() OVER (PARTITION BY l.class ORDER BY l.gain DESC, l.id) AS out_place,
    ROW_NUMBER() OVER (PARTITION BY l.target ORDER BY l.gain DESC, l.id) AS in_place
  FROM $light AS l
  JOIN $leaders AS a ON a.class = l.class
  JOIN $leaders AS b ON b.class = l.target
  WHERE (a.id = l.id OR a.light + l.light_out = 2) AND (b.id = l.id OR b.light + l.light_in = 2)
) AS m
-- moves per class: 256, but 32, 4 or 1 after the class was unsafe once, twice or more often
LEFT JOIN (
  SELECT c.class, CASE COUNT(*) WHEN 1 THEN 32 WHEN 2 THEN 4 ELSE 1 END AS most FROM $crowded AS c GROUP BY c.class
) AS x ON x.class = m.class
LEFT JOIN (
  SELECT c.class, CASE COUNT(*) WHEN 1 THEN 32 WHEN 2 THEN 4 ELSE 1 END AS most FROM $crowded AS c GROUP BY c.class
) AS y ON y.class = m.target
WHERE m.out_place <= COALESCE(x.most, 256) AND m.in_place <= COALESCE(y.most, 256);

-- name: classes_of
-- List the classes of a state.
SELECT s.class FROM $state AS s GROUP BY s.class;

-- name: sound_moves
-- Keep the moves after which both their classes meet the privacy model.
SELECT m.id, m.n, m.class
FROM $moves AS m
JOIN $state AS s ON s.id = m.id
WHERE NOT m.class IN (SELECT u.class FROM $unsafe AS u) AND NOT s.class IN (SELECT u.class FROM $unsafe AS u);

-- name: moves
-- Choose moves that have no class in common, so that their gains add up: the best ones for both their classes.
-- columns: id, n (rows), class (the new one)
SELECT b.id, b.own AS n, b.target AS class
FROM $best AS b
JOIN (
  SELECT t.id, ROW_NUMBER() OVER (PARTITION BY t.class ORDER BY t.gain DESC, t.id) AS place
  FROM (
    SELECT b.id, b.class, b.gain FROM $best AS b
    UNION ALL
    SELECT b.id, b.target AS class, b.gain FROM $best AS b
  ) AS t
) AS ranked ON ranked.id = b.id AND ranked.place = 1
GROUP BY b.id, b.own, b.target
HAVING COUNT(*) = 2;

-- name: movers
-- List the tuples that gain by leaving their class, if the rest of the class stays safe or is empty.
-- columns: id, own (rows), class, dirty, most (what leaving saves, before the tuple's cost elsewhere), place (first those that save more per row than `near`, dirty classes before others)
-- engines: duckdb, postgresql
SELECT l.id, l.own, l.class, l.dirty, CAST(l.most AS BIGINT) AS most, ROW_NUMBER() OVER (
  ORDER BY
    CASE WHEN l.most > l.own * $near THEN 0 ELSE 1 END,
    CASE WHEN l.dirty THEN 0 ELSE 1 END,
    l.most * 1.0 / l.own DESC,
    l.id
) AS place
FROM (
  SELECT r.id, r.own, r.class, r.dirty, r.before - r.n * r.cost AS most
  FROM $rests AS r
  WHERE r.id IN (SELECT r.id FROM $counted AS r GROUP BY r.id HAVING COALESCE($safe, FALSE))
  UNION ALL
  SELECT s.id, s.n AS own, s.class, c.dirty, c.n * c.cost AS most
  FROM $state AS s
  JOIN $classes AS c ON c.class = s.class
  WHERE c.tuples = 1
) AS l
WHERE l.most > 0;

-- name: far
-- Count the movers that rank first because they save more per row than some attribute costs at its top, and those of them in dirty classes.
SELECT COUNT(*) AS movers, COUNT(CASE WHEN m.dirty THEN 1 END) AS dirty FROM $movers AS m WHERE m.most > m.own * $near;

-- name: assignment
-- Return the class of every distinct tuple, by the codes of its values.
-- columns: the codes, n, class (1, 2, …)
SELECT $keys, s.n, DENSE_RANK() OVER (ORDER BY s.class) AS class
FROM $state AS s
JOIN (SELECT t.id, $keys FROM $tuples AS t) AS t ON t.id = s.id;

-- name: size
-- Count the classes of a state and their rows.
SELECT COUNT(DISTINCT s.class) AS classes, COALESCE(SUM(s.n), 0) AS rows FROM $state AS s;

-- name: values
-- Count the rows of every tuple by its sensitive values; tuples have the same numbers as without these values.
SELECT DENSE_RANK() OVER (ORDER BY $keys) AS id, CAST(f.n AS BIGINT) AS n, $sensitive FROM $frequency_set AS f;

-- name: placed_values
-- List the rows of placed tuples by their sensitive values.
-- columns: n, the columns (the place, and the sensitive codes)
SELECT v.n, $columns FROM $placed AS p JOIN $values AS v ON v.id = p.id;

-- name: class_values
-- Count the rows of every class by their sensitive values.
SELECT s.class, CAST(SUM(v.n) AS BIGINT) AS n, $sensitive
FROM $state AS s
JOIN $values AS v ON v.id = s.id
GROUP BY s.class, $sensitive;

-- name: leavers
-- List the tuples that save anything by leaving, by savings in descending order, until there are too many rows to count.
SELECT l.id, l.class
FROM (
  SELECT r.id, r.class, SUM(z.size) OVER (ORDER BY r.before - r.n * r.cost DESC, r.id) AS reached
  FROM $rests AS r
  JOIN (SELECT k.class, COUNT(*) AS size FROM $class_values AS k GROUP BY k.class) AS z ON z.class = r.class
  WHERE r.before > r.n * r.cost
) AS l
WHERE l.reached <= $most;

-- name: rest_values
-- Count the rows of a class without one of its tuples by their sensitive values, leaving out values without rows.
SELECT r.id, CAST(SUM(r.n) AS BIGINT) AS n, $sensitive
FROM (
  SELECT l.id, k.n, $sensitive FROM $leavers AS l JOIN $class_values AS k ON k.class = l.class
  UNION ALL
  SELECT l.id, -v.n AS n, $sensitive FROM $leavers AS l JOIN $values AS v ON v.id = l.id
) AS r
GROUP BY r.id, $sensitive
HAVING SUM(r.n) > 0;

-- name: pairs
-- Number the moves that tuples want, the best first, until there are too many rows to count.
-- columns: pair (from 1), id, own, class, target, gain
SELECT p.pair, p.id, p.own, p.class, p.target, p.gain
FROM (
  SELECT
    w.id, w.own, w.class, w.target, w.gain,
    ROW_NUMBER() OVER (ORDER BY w.gain DESC, w.id, w.target) AS pair,
    SUM(z.size) OVER (ORDER BY w.gain DESC, w.id, w.target) AS reached
  FROM $wanted AS w
  JOIN (SELECT k.class, COUNT(*) AS size FROM $class_values AS k GROUP BY k.class) AS z ON z.class = w.target
) AS p
WHERE p.reached <= $most OR p.pair = 1;

-- name: pair_values
-- List the rows that every class would have with the tuple that wants to join it, by their sensitive values.
SELECT p.pair, k.n, $sensitive FROM $pairs AS p JOIN $class_values AS k ON k.class = p.target
UNION ALL
SELECT p.pair, v.n, $sensitive FROM $pairs AS p JOIN $values AS v ON v.id = p.id;

-- name: safe_pairs
-- Keep, for every tuple, the best move after which its new class meets the privacy model.
SELECT p.id, p.own, p.class, p.target, p.gain
FROM $pairs AS p
JOIN (
  SELECT s.id, MIN(s.pair) AS pair
  FROM $pairs AS s
  WHERE s.pair IN (SELECT v.pair FROM $pair_values AS v GROUP BY v.pair HAVING COALESCE($safe, FALSE))
  GROUP BY s.id
) AS best ON best.pair = p.pair;

-- name: joinable_rows
-- List the rows of every class with half, one, two and four times as many rows of tuples without a class, by their sensitive values.
-- columns: class, times (in halves), n, the sensitive codes
SELECT k.class, t.times, k.n, $sensitive
FROM $class_values AS k
CROSS JOIN (SELECT 1 AS times UNION ALL SELECT 2 UNION ALL SELECT 4 UNION ALL SELECT 8) AS t
UNION ALL
SELECT c.class, t.times, v.n, $sensitive
FROM $classes AS c
CROSS JOIN (SELECT 1 AS times UNION ALL SELECT 2 UNION ALL SELECT 4 UNION ALL SELECT 8) AS t
JOIN (
  SELECT o.id, SUM(o.n) OVER (ORDER BY MD5(CAST(o.id AS TEXT)), o.id) AS reached FROM $open AS o
) AS o ON 2 * o.reached <= t.times * c.n
JOIN $values AS v ON v.id = o.id;

-- name: ranked
-- Rank the classes by the number of tuples without a class that they can take in, then by cost, both in descending order.
-- columns: class, place (from 1)
SELECT c.class, ROW_NUMBER() OVER (ORDER BY COALESCE(r.capacity, 0) DESC, c.cost DESC, c.class) AS place
FROM $classes AS c
LEFT JOIN (
  SELECT s.class, COUNT(*) AS capacity
  FROM (
    SELECT v.class, v.times FROM $joinable_rows AS v GROUP BY v.class, v.times HAVING COALESCE($safe, FALSE)
  ) AS s
  GROUP BY s.class
) AS r ON r.class = c.class;
