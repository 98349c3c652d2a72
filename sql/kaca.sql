-- KACA: every class merges with its nearest one until each has k rows (Li et al., 2008).
-- engines: duckdb

-- name: tuples
-- Number the distinct tuples, each a separate class; values without a leaf, which have the same labels, count as one.
-- columns: tuple (from 0), class (the same), piece (0: all are in one), the codes of the values, the codes above, n (rows)
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
-- Count every tuple once, whatever its number of rows.
-- columns: the codes of the values, n (1)
SELECT $values, 1 AS n FROM $tuples AS t;

-- name: members
-- Find the class of every tuple in an assignment, which identifies tuples by the codes of their values.
-- columns: class (the tuple, as a class), goes_to (its class in the assignment)
SELECT t.tuple AS class, a.class AS goes_to
-- matched by sort position, because an equality would lose codes that are NULL
FROM (SELECT tuple, ROW_NUMBER() OVER (ORDER BY $values) AS place FROM $tuples) AS t
JOIN (SELECT class, ROW_NUMBER() OVER (ORDER BY $values) AS place FROM $assignment) AS a ON a.place = t.place;

-- name: pieces
-- Assign every tuple to its piece of the table.
SELECT t.tuple, t.class, CAST(m.goes_to AS INTEGER) AS piece, $columns, t.n
FROM $tuples AS t
JOIN $members AS m ON m.class = t.tuple;

-- name: piece_sizes
-- Count the tuples of every piece.
SELECT piece, COUNT(*) AS tuples FROM $tuples AS t GROUP BY piece ORDER BY piece;

-- name: group
-- Select the tuples of some pieces that follow each other.
SELECT $columns FROM $tuples AS t WHERE piece > $after AND piece <= $last;

-- name: in_pieces
-- List the tuples that are unsafe alone, and all tuples of some pieces, with their pieces as classes.
-- columns: tuple, the codes of the values, n, class (the piece, numbered above all tuples)
SELECT tuple, $values, n, piece + $above AS class
FROM $tuples AS t
WHERE tuple IN (SELECT class FROM $unsafe) OR piece + $above IN (SELECT class FROM $whole);

-- name: cut_members
-- Map every tuple, as a class, to the class that it was cut into, or to itself if it was not cut.
SELECT t.tuple AS class, COALESCE(m.goes_to, t.tuple) AS goes_to
FROM $tuples AS t
LEFT JOIN $members AS m ON m.class = t.tuple;

-- name: cut_rows
-- Count the rows in classes that were cut, which are numbered above all tuples.
SELECT COALESCE(SUM(n), 0) AS rows FROM $parts AS p WHERE class >= $above;

-- name: in_classes
-- List the tuples, each with all its rows, in the classes that they are assigned to.
SELECT t.tuple, m.goes_to AS class, t.n FROM $tuples AS t JOIN $members AS m ON m.class = t.tuple;

-- name: same
-- Find the classes with equal generalized tuples: they become one class, named after the first of them.
-- columns: class, one (the merged class)
SELECT UNNEST(LIST(class)) AS class, MIN(class) AS one FROM $generalized GROUP BY $codes;

-- name: opened
-- Put all classes into one piece; classes with equal codes become one class, named after the first of them.
-- columns: class, piece (0), the codes
SELECT MIN(g.class) AS class, 0 AS piece, $codes FROM $generalized AS g GROUP BY $codes;

-- name: fused
-- Move the parts of tuples to the merged classes.
SELECT p.tuple, s.one AS class, CAST(SUM(p.n) AS BIGINT) AS n
FROM $parts AS p
JOIN $same AS s ON s.class = p.class
GROUP BY p.tuple, s.one;

-- name: classes
-- Describe every class: its rows, whether it is safe, its distortion, its block, its random place and its seat.
-- columns: class, n, safe, distortion (of one row), block, place (a new random order of all classes in every round), seat (from 1, by piece and place, separately among safe and unsafe classes), the codes
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
-- Count the classes, the unsafe ones, and the unsafe ones that are alone in their piece.
SELECT
  COALESCE(SUM(classes), 0) AS classes,
  COALESCE(SUM(unsafe), 0) AS unsafe,
  COUNT(*) FILTER (WHERE classes = 1 AND unsafe = 1) AS alone
FROM (
  SELECT COUNT(*) AS classes, COUNT(*) FILTER (WHERE NOT safe) AS unsafe FROM $classes GROUP BY piece
) AS counted;

-- name: blocks
-- Group the classes that agree in some columns into blocks.
-- columns: block, classes, smallest (rows of its smallest class), distortion (of these columns alone), the columns
SELECT block, classes, smallest, CAST($own AS DOUBLE) AS distortion, $columns
FROM (SELECT block, COUNT(*) AS classes, MIN(n) AS smallest, $columns FROM $classes GROUP BY block, $columns) AS c;

-- name: nearest
-- Find the nearest class of every seeker (an unsafe class); random places break ties.
SELECT class, ARG_MIN(target, ROW(distance, place)) AS target, MIN(distance) AS distance
FROM $distances AS d
GROUP BY class;

-- name: pairs
-- Find a few classes near every seeker, including the nearest; random places break ties.
-- columns: pair (from 1), class, target, distance, place (from 1, the nearest first)
SELECT ROW_NUMBER() OVER (ORDER BY class, place) AS pair, class, target, distance, place
FROM (
  SELECT class, target, distance, ROW_NUMBER() OVER (PARTITION BY class ORDER BY distance, place) AS place
  FROM $distances AS d
) AS near
WHERE place <= $most;

-- name: chosen
-- Choose, for every class, the nearest one with which it is safe, or the nearest of all if none is safe.
SELECT
  p.class,
  ARG_MIN(p.target, ROW(NOT u.class IS NULL, p.place)) AS target,
  ARG_MIN(p.distance, ROW(NOT u.class IS NULL, p.place)) AS distance
FROM $pairs AS p
LEFT JOIN $unsafe AS u ON u.class = p.pair
GROUP BY p.class;

-- name: seekers
-- Select the unsafe classes that look for a partner in this batch, by their seats.
SELECT class, n, distortion, block, CASE WHEN $codes < 0 THEN -2 ELSE $codes END
-- -2 instead of -1 (several codes), so that it never equals the -1 of another class
FROM (SELECT * FROM $classes WHERE NOT safe AND seat > $after AND seat <= $after + $most) AS picked;

-- name: block_pairs
-- Bound from below the distance between classes of two blocks of one piece: a.n * rise + other_rise.
-- columns: block, other, shared (distortion of their common generalization, by the blocks' columns), rise, other_rise
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
-- Bound from above the distance to the nearest class, by the classes of the nearest block.
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
-- Keep the classes that share a piece with a seeker.
SELECT class, n, distortion, block, place, $codes
FROM $classes AS c
WHERE piece IN (SELECT piece FROM $seekers);

-- name: candidates
-- Find the blocks that may contain a class at least as near as the nearest one found so far.
-- columns: class, other (block), shared, bound
SELECT a.class, p.other, p.shared, u.bound
FROM $seekers AS a
JOIN $bounds AS u ON u.class = a.class
JOIN $pairs AS p ON p.block = a.block AND a.n * p.rise + p.other_rise <= u.bound;

-- name: turns
-- Order the wanted merges, nearest first; a small class takes only a stub of a class that is large enough.
-- columns: turn (from 1), class, target, target_n, stub (rows taken; 0 for all)
SELECT
  ROW_NUMBER() OVER (ORDER BY e.distance, a.place) AS turn,
  e.class,
  e.target,
  b.n AS target_n,
  -- both classes keep at least k rows if the seeker takes only what it lacks
  CASE WHEN a.n < $k AND a.n + b.n >= 2 * $k THEN $k - a.n ELSE 0 END AS stub
FROM $nearest AS e
JOIN $classes AS a ON a.class = e.class
JOIN $classes AS b ON b.class = e.target;

-- name: firsts
-- Find the first of the wanted merges that touches each class, at either end.
SELECT class, MIN(turn) AS turn
FROM (SELECT class, turn FROM $turns UNION ALL SELECT target AS class, turn FROM $turns) AS touching
GROUP BY class;

-- name: merges
-- Choose merges that do not conflict: each is the first to touch both its classes, or takes a further stub of a class whose first merge is a stub.
-- columns: class, target, low, high (the rows of the target that it takes: after low, up to high)
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
-- Map the rows of every class to the class that takes them, or to the class itself if none does.
-- columns: class, goes_to, low, high (the rows after low, up to high)
SELECT target AS class, class AS goes_to, low, high FROM $merges
UNION ALL
SELECT c.class, c.class AS goes_to, COALESCE(MAX(m.high), 0) AS low, c.n AS high
FROM $classes AS c
LEFT JOIN $merges AS m ON m.target = c.class
GROUP BY c.class, c.n
HAVING COALESCE(MAX(m.high), 0) < c.n;

-- name: generalized
-- Compute the closest common generalization of the classes that become one: a code that they do not share becomes -1.
SELECT l.goes_to AS class, CASE WHEN MIN($codes) = MAX($codes) THEN MIN($codes) ELSE -1 END
FROM $classes AS c
JOIN $links AS l ON l.class = c.class
GROUP BY l.goes_to;

-- name: parts
-- Move the parts of tuples: the rows of each class are lined up, and every link moves one stretch of them.
SELECT
  p.tuple,
  s.one AS class,
  -- the rows that the part and the link's stretch have in common
  CAST(SUM(LEAST(p.high, l.high) - GREATEST(p.high - p.n, l.low)) AS BIGINT) AS n
FROM (
  SELECT tuple, class, n, CAST(SUM(n) OVER (PARTITION BY class ORDER BY n, tuple) AS BIGINT) AS high
  FROM $parts
) AS p
JOIN $links AS l ON l.class = p.class AND l.low < p.high AND l.high > p.high - p.n
JOIN $same AS s ON s.class = l.goes_to
GROUP BY p.tuple, s.one;

-- name: rest
-- List the tuples that have rows in unsafe classes, counting only these rows.
SELECT p.tuple, $values, p.n
FROM (
  SELECT tuple, CAST(SUM(n) AS BIGINT) AS n
  FROM $parts
  WHERE class IN (SELECT class FROM $counted GROUP BY class HAVING NOT COALESCE($safe, FALSE))
  GROUP BY tuple
) AS p
JOIN (SELECT tuple, $values FROM $tuples) AS t ON t.tuple = p.tuple;

-- name: cut
-- Replace the unsafe classes by the classes that their rows were cut into elsewhere.
-- columns: tuple, class (new classes are numbered above $above), n
SELECT tuple, class, n
FROM $parts
WHERE class IN (SELECT class FROM $counted GROUP BY class HAVING COALESCE($safe, FALSE))
UNION ALL
SELECT r.tuple, a.class + $above AS class, r.n
-- matched by sort position, as in kaca/members
FROM (SELECT tuple, n, ROW_NUMBER() OVER (ORDER BY $values) AS place FROM $rest) AS r
JOIN (SELECT class, ROW_NUMBER() OVER (ORDER BY $values) AS place FROM $assignment) AS a ON a.place = r.place;

-- name: numbered
-- Number the tuples from 1, as in the counts of their rows by sensitive value.
SELECT t.tuple + 1 AS id, $columns FROM $tuples AS t;

-- name: assignment
-- Assign every tuple, or every part of a split tuple, to its class.
-- columns: the codes of the values, n, class, first, last (the positions of the part among the tuple's rows, from 1)
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
-- Count the distinct combinations of some columns, including NULL, in the piece that has the most.
SELECT MAX(blocks) AS blocks
FROM (SELECT piece, COUNT(*) AS blocks FROM (SELECT DISTINCT $columns FROM $generalized) AS found GROUP BY piece) AS counted;

-- name: distances
-- Find the classes that may be nearest to each seeker, and the distortion that merging adds to both.
-- columns: class, target, distance, place (random, of the target)
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
