-- KACA: every class joins the one nearest to it, until each has k rows (Li et al., 2008).
-- engines: duckdb

-- name: tuples
-- Number the distinct tuples, each a class of its own; values without a leaf, which look alike, are one.
-- gives: tuple (from 0), class (the same), piece (0: all are in one), the values' codes, those above, n (rows)
SELECT
  ROW_NUMBER() OVER (ORDER BY $values) - 1 AS tuple,
  ROW_NUMBER() OVER (ORDER BY $values) - 1 AS class,
  0 AS piece,
  $values,
  MIN($codes),
  CAST(SUM(n) AS BIGINT) AS n
FROM $frequency_set
GROUP BY $values;

-- name: once
-- Count every tuple once, whatever rows it has.
-- gives: the values' codes, n (1)
SELECT $values, 1 AS n FROM $tuples AS t;

-- name: members
-- Say which class of an assignment every tuple is in; there it is named by its values' codes, which may be NULL.
-- gives: class (the tuple, a class of its own), goes_to (the class that it is in)
SELECT t.tuple AS class, a.class AS goes_to
FROM (SELECT tuple, ROW_NUMBER() OVER (ORDER BY $values) AS place FROM $tuples) AS t
JOIN (SELECT class, ROW_NUMBER() OVER (ORDER BY $values) AS place FROM $assignment) AS a ON a.place = t.place;

-- name: pieces
-- Put every tuple into its piece of the table.
SELECT t.tuple, t.class, CAST(m.goes_to AS INTEGER) AS piece, $columns, t.n
FROM $tuples AS t
JOIN $members AS m ON m.class = t.tuple;

-- name: same
-- Find the classes that have come to the same generalized tuple: they are one class, called by the first of them.
-- gives: class, one (the class that it is now)
SELECT UNNEST(LIST(class)) AS class, MIN(class) AS one FROM $generalized GROUP BY $codes;

-- name: opened
-- Put all classes into one piece; those that are alike are one class, called by the first of them.
-- gives: class, piece (0), the codes
SELECT MIN(g.class) AS class, 0 AS piece, $codes FROM $generalized AS g GROUP BY $codes;

-- name: fused
-- Put the parts of tuples into the classes that theirs are now.
SELECT p.tuple, s.one AS class, CAST(SUM(p.n) AS BIGINT) AS n
FROM $parts AS p
JOIN $same AS s ON s.class = p.class
GROUP BY p.tuple, s.one;

-- name: classes
-- Describe every class: its rows, whether it may be released, its distortion, its block, its place by chance, its seat.
-- gives: class, n, safe, distortion (of one row), block, place (another order of all classes every round), seat (from 1, among the safe ones and among the others: by piece and place), the codes
SELECT
  class, n, safe, distortion, block, place,
  ROW_NUMBER() OVER (PARTITION BY safe ORDER BY piece, place) AS seat,
  $codes
FROM (
  SELECT
    g.class,
    p.n,
    p.safe,
    CAST($own AS DOUBLE) AS distortion,
    DENSE_RANK() OVER (ORDER BY $by) AS block,
    ROW_NUMBER() OVER (ORDER BY MD5(CONCAT_WS('|', $salt, g.class)), g.class) AS place,
    $codes
  FROM $generalized AS g
  JOIN (
    SELECT class, CAST(SUM(n) AS BIGINT) AS n, COALESCE($safe, FALSE) AS safe FROM $counted GROUP BY class
  ) AS p ON p.class = g.class
) AS described;

-- name: unsafe
-- Count the classes, those that may not be released yet, and those of them that are alone in their piece.
SELECT
  COALESCE(SUM(classes), 0) AS classes,
  COALESCE(SUM(unsafe), 0) AS unsafe,
  COUNT(*) FILTER (WHERE classes = 1 AND unsafe = 1) AS alone
FROM (
  SELECT COUNT(*) AS classes, COUNT(*) FILTER (WHERE NOT safe) AS unsafe FROM $classes GROUP BY piece
) AS counted;

-- name: blocks
-- Gather the classes that are alike in some columns into blocks.
-- gives: block, classes, smallest (rows of its smallest class), distortion (of the columns alone), the columns
SELECT block, classes, smallest, CAST($own AS DOUBLE) AS distortion, $columns
FROM (SELECT block, COUNT(*) AS classes, MIN(n) AS smallest, $columns FROM $classes GROUP BY block, $columns) AS c;

-- name: nearest
-- Find every seeker's nearest class, of equally near ones the first by chance.
SELECT class, ARG_MIN(target, ROW(distance, place)) AS target, MIN(distance) AS distance
FROM $distances AS d
GROUP BY class;

-- name: pairs
-- Find some classes near every seeker, the nearest among them, of equally near ones the first by chance.
-- gives: pair (from 1), class, target, distance, place (from 1, the nearest first)
SELECT ROW_NUMBER() OVER (ORDER BY class, place) AS pair, class, target, distance, place
FROM (
  SELECT class, target, distance, ROW_NUMBER() OVER (PARTITION BY class ORDER BY distance, place) AS place
  FROM $distances AS d
) AS near
WHERE place <= $most;

-- name: chosen
-- Choose for every class the nearest with which it is safe, or the nearest one where it is safe with none.
SELECT
  p.class,
  ARG_MIN(p.target, ROW(NOT u.class IS NULL, p.place)) AS target,
  ARG_MIN(p.distance, ROW(NOT u.class IS NULL, p.place)) AS distance
FROM $pairs AS p
LEFT JOIN $unsafe AS u ON u.class = p.pair
GROUP BY p.class;

-- name: seekers
-- Pick the classes that look for a partner now: those that may not be released yet, as many as asked for after so many others, by their seats.
SELECT class, n, distortion, block, CASE WHEN $codes < 0 THEN -2 ELSE $codes END
FROM (SELECT * FROM $classes WHERE NOT safe AND seat > $after AND seat <= $after + $most) AS picked;

-- name: block_pairs
-- Bound the distance between classes of two blocks of one piece from below: a.n * rise + other_rise.
-- gives: block, other, shared (distortion of both together, by the blocks' columns), rise, other_rise
SELECT
  block,
  other,
  shared,
  shared - distortion AS rise,
  smallest * (shared - other_distortion) AS other_rise
FROM (
  SELECT
    a.block,
    b.block AS other,
    own.distortion,
    b.distortion AS other_distortion,
    CAST(b.smallest AS DOUBLE) AS smallest,
    CAST($between AS DOUBLE) AS shared
  FROM (SELECT DISTINCT block, $columns FROM $seekers) AS a
  JOIN $blocks AS own ON own.block = a.block
  JOIN $blocks AS b ON b.piece = a.piece
  WHERE a.block <> b.block OR b.classes > 1
) AS pairs;

-- name: bounds
-- Bound the distance to the nearest class from above, by the classes of the nearest block.
SELECT
  class,
  MIN(CASE WHEN class <> target THEN n * (joint - distortion) + other_n * (joint - other_distortion) END) AS bound
FROM (
  SELECT
    a.class,
    CAST(a.n AS DOUBLE) AS n,
    a.distortion,
    b.class AS target,
    CAST(b.n AS DOUBLE) AS other_n,
    b.distortion AS other_distortion,
    p.shared + $between AS joint
  FROM $seekers AS a
  JOIN (
    SELECT block, ARG_MIN(other, rise + other_rise) AS other, ARG_MIN(shared, rise + other_rise) AS shared
    FROM $pairs GROUP BY block
  ) AS p ON p.block = a.block
  JOIN $classes AS b ON b.block = p.other
) AS distances
GROUP BY class;

-- name: near
-- Keep the classes that are in a piece with a seeker.
SELECT class, n, distortion, block, place, $codes
FROM $classes AS c
WHERE piece IN (SELECT piece FROM $seekers);

-- name: candidates
-- Find the blocks that may hold a class as near as the best one known.
-- gives: class, other (block), shared, bound
SELECT a.class, p.other, p.shared, u.bound
FROM $seekers AS a
JOIN $bounds AS u ON u.class = a.class
JOIN $pairs AS p ON p.block = a.block AND a.n * p.rise + p.other_rise <= u.bound;

-- name: turns
-- Put the merges that are wanted in order, the nearest first; a stub is all that a small class takes of a large one.
-- gives: turn (from 1), class, target, target_n, stub (rows taken; 0: all of them)
SELECT
  ROW_NUMBER() OVER (ORDER BY e.distance, a.place) AS turn,
  e.class,
  e.target,
  b.n AS target_n,
  CASE WHEN a.n < $k AND a.n + b.n >= 2 * $k THEN $k - a.n ELSE 0 END AS stub
FROM $nearest AS e
JOIN $classes AS a ON a.class = e.class
JOIN $classes AS b ON b.class = e.target;

-- name: firsts
-- Find the first of all wanted merges that touches a class, at either end.
SELECT class, MIN(turn) AS turn
FROM (SELECT class, turn FROM $turns UNION ALL SELECT target AS class, turn FROM $turns) AS touching
GROUP BY class;

-- name: merges
-- Choose the merges that do not interfere: each is the first of all that touch its classes, or takes a stub after one.
-- gives: class, target, low, high (the rows of the target that it takes: after low, up to high)
SELECT class, target, high - taken AS low, high
FROM (
  SELECT
    class,
    target,
    target_n,
    stub,
    CASE WHEN stub = 0 THEN target_n ELSE stub END AS taken,
    CAST(SUM(CASE WHEN stub = 0 THEN target_n ELSE stub END) OVER (PARTITION BY target ORDER BY turn) AS BIGINT) AS high
  FROM (
    SELECT e.turn, e.class, e.target, e.target_n, e.stub
    FROM $turns AS e
    JOIN $firsts AS own ON own.class = e.class AND own.turn = e.turn
    JOIN $firsts AS others ON others.class = e.target
    JOIN $turns AS leader ON leader.turn = others.turn
    WHERE leader.turn = e.turn OR (e.stub > 0 AND leader.stub > 0 AND leader.target = e.target)
  ) AS free
) AS lined_up
WHERE stub = 0 OR high <= target_n - $k;

-- name: links
-- Say where the rows of every class go: to the class that takes them, and what nobody takes stays.
-- gives: class, goes_to, low, high (the rows after low up to high)
SELECT target AS class, class AS goes_to, low, high FROM $merges
UNION ALL
SELECT c.class, c.class AS goes_to, COALESCE(MAX(m.high), 0) AS low, c.n AS high
FROM $classes AS c
LEFT JOIN $merges AS m ON m.target = c.class
GROUP BY c.class, c.n
HAVING COALESCE(MAX(m.high), 0) < c.n;

-- name: generalized
-- Find the closest common generalization of the classes that become one: a code stays where all have it.
SELECT l.goes_to AS class, CASE WHEN MIN($codes) = MAX($codes) THEN MIN($codes) ELSE -1 END
FROM $classes AS c
JOIN $links AS l ON l.class = c.class
GROUP BY l.goes_to;

-- name: parts
-- Move the parts of tuples along: each class's rows stand in a line, and a link takes a stretch of it elsewhere.
SELECT
  p.tuple,
  s.one AS class,
  CAST(SUM(LEAST(p.high, l.high) - GREATEST(p.high - p.n, l.low)) AS BIGINT) AS n
FROM (
  SELECT tuple, class, n, CAST(SUM(n) OVER (PARTITION BY class ORDER BY n, tuple) AS BIGINT) AS high
  FROM $parts
) AS p
JOIN $links AS l ON l.class = p.class AND l.low < p.high AND l.high > p.high - p.n
JOIN $same AS s ON s.class = l.goes_to
GROUP BY p.tuple, s.one;

-- name: rest
-- List the tuples that have rows in classes that may not be released, with those rows alone.
SELECT p.tuple, $values, p.n
FROM (
  SELECT tuple, CAST(SUM(n) AS BIGINT) AS n
  FROM $parts
  WHERE class IN (SELECT class FROM $counted GROUP BY class HAVING NOT COALESCE($safe, FALSE))
  GROUP BY tuple
) AS p
JOIN (SELECT tuple, $values FROM $tuples) AS t ON t.tuple = p.tuple;

-- name: cut
-- Put rows that were cut into classes elsewhere in the place of the classes that may not be released.
-- gives: tuple, class (of the new ones above a number), n
SELECT tuple, class, n
FROM $parts
WHERE class IN (SELECT class FROM $counted GROUP BY class HAVING COALESCE($safe, FALSE))
UNION ALL
SELECT r.tuple, a.class + $above AS class, r.n
FROM (SELECT tuple, n, ROW_NUMBER() OVER (ORDER BY $values) AS place FROM $rest) AS r
JOIN (SELECT class, ROW_NUMBER() OVER (ORDER BY $values) AS place FROM $assignment) AS a ON a.place = r.place;

-- name: numbered
-- Number tuples as their rows by sensitive value are numbered: from 1.
SELECT t.tuple + 1 AS id, $columns FROM $tuples AS t;

-- name: assignment
-- Assign every tuple, or every part of one, to its class.
-- gives: the values' codes, n, class, first, last (the part's places among the tuple's rows, from 1)
SELECT $values, p.n, p.class, p.last - p.n + 1 AS first, p.last
FROM (
  SELECT tuple, class, n, CAST(SUM(n) OVER (PARTITION BY tuple ORDER BY class) AS BIGINT) AS last FROM $parts
) AS p
JOIN $tuples AS t ON t.tuple = p.tuple;

-- name: distortion
-- Add up the distortion of all rows of an assignment.
SELECT SUM(a.n * g.distortion) AS distortion
FROM (SELECT class, CAST($own AS DOUBLE) AS distortion FROM $generalized AS g) AS g
JOIN $assignment AS a ON a.class = g.class;

-- name: block_count
-- Count the different combinations of some columns, NULL among them, in the piece that has most of them.
SELECT MAX(blocks) AS blocks
FROM (SELECT piece, COUNT(*) AS blocks FROM (SELECT DISTINCT $columns FROM $generalized) AS found GROUP BY piece) AS counted;

-- name: distances
-- Find the classes that may be nearest to each seeker, and what merging adds to the distortion of both.
-- gives: class, target, distance, place (of the target, by chance)
SELECT class, target, distance, place
FROM (
  SELECT
    class,
    target,
    place,
    bound,
    CASE WHEN class <> target THEN n * (joint - distortion) + other_n * (joint - other_distortion) END AS distance
  FROM (
    SELECT
      a.class,
      CAST(a.n AS DOUBLE) AS n,
      a.distortion,
      b.class AS target,
      CAST(b.n AS DOUBLE) AS other_n,
      b.distortion AS other_distortion,
      b.place,
      c.bound,
      c.shared + $between AS joint
    FROM $candidates AS c
    JOIN $seekers AS a ON a.class = c.class
    JOIN $classes AS b ON b.block = c.other
  ) AS pairs
) AS distances
WHERE distance <= bound;
