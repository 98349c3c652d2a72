-- Attacks on cloaked places and times: whose box is it, and where was a person.

-- name: boxes
-- Number the boxes and intervals of a cloaked release, with their rows.
-- gives: class, x_min, x_max, y_min, y_max, since, until, n (rows)
SELECT
  ROW_NUMBER() OVER (ORDER BY $x_min, $x_max, $y_min, $y_max, $since, $until) AS class,
  $x_min AS x_min, $x_max AS x_max, $y_min AS y_min, $y_max AS y_max, $since AS since, $until AS until,
  COUNT(*) AS n
FROM $release AS r
GROUP BY $x_min, $x_max, $y_min, $y_max, $since, $until;

-- name: drawn_boxes
-- Draw boxes to attack: those with the smallest hashes of their number and a seed.
SELECT b.class, b.x_min, b.x_max, b.y_min, b.y_max, b.since, b.until, b.n
FROM $boxes AS b
ORDER BY MD5(CAST(b.class AS TEXT) || $seed), b.class
LIMIT $most;

-- name: owned_boxes
-- Find the boxes in which one owner's place lies and nobody else's: all their rows are taken to be the owner's.
-- gives: class, owner, n (rows), weight (rows)
SELECT b.class, MIN(p.owner) AS owner, b.n, b.n AS weight
FROM $boxes AS b
JOIN (SELECT $owner AS owner, $x AS x, $y AS y FROM $people AS o) AS p
  ON p.x >= b.x_min AND p.x <= b.x_max AND p.y >= b.y_min AND p.y <= b.y_max
GROUP BY b.class, b.n
HAVING COUNT(DISTINCT p.owner) = 1;

-- name: drawn_observations
-- Draw observations of who was seen where and when: those with the smallest hashes of their row's number and a seed.
-- gives: target (the row's number), owner, x, y, t
SELECT p.row_id AS target, $owner AS owner, $x AS x, $y AS y, $t AS t
FROM $people AS p
ORDER BY MD5(CAST(p.row_id AS TEXT) || $seed), p.row_id
LIMIT $most;

-- name: observed_boxes
-- Find the boxes around each observation: any of their rows may be of whoever was seen there.
-- gives: target, class, owner, n (rows), weight (the part of all rows that may be it), among (all rows that may be it)
SELECT
  o.target, b.class, o.owner, b.n,
  CAST(b.n AS DOUBLE) / SUM(b.n) OVER (PARTITION BY o.target) AS weight,
  SUM(b.n) OVER (PARTITION BY o.target) AS among
FROM $observations AS o
JOIN $boxes AS b
  ON o.x >= b.x_min AND o.x <= b.x_max AND o.y >= b.y_min AND o.y <= b.y_max AND o.t >= b.since AND o.t <= b.until;

-- name: observed
-- Count the observations that fewer than k rows, or only one, may be.
SELECT
  COUNT(DISTINCT CASE WHEN g.among < $k THEN g.target END) AS below,
  COUNT(DISTINCT CASE WHEN g.among = 1 THEN g.target END) AS alone
FROM $guesses AS g;

-- name: present
-- Count the rows of everybody who was in a box while it lasted.
-- gives: class, owner, n (rows)
SELECT b.class, s.owner, COUNT(*) AS n
FROM $boxes AS b
JOIN (SELECT DISTINCT g.class FROM $guesses AS g) AS guessed ON guessed.class = b.class
JOIN (SELECT $owner AS owner, $x AS x, $y AS y, $t AS t FROM $source AS r) AS s
  ON s.x >= b.x_min AND s.x <= b.x_max AND s.y >= b.y_min AND s.y <= b.y_max AND s.t >= b.since AND s.t <= b.until
GROUP BY b.class, s.owner;

-- name: checked_guesses
-- Add up guesses that name the sender of a box's rows, and how many are right by the rows that the sender had there.
SELECT
  COALESCE(SUM(g.weight), 0) AS attempts,
  COALESCE(SUM(g.weight * own.n / CAST(whole.n AS DOUBLE)), 0) AS successes,
  COUNT(DISTINCT g.owner) AS people
FROM $guesses AS g
LEFT JOIN $present AS own ON own.class = g.class AND own.owner = g.owner
LEFT JOIN (SELECT p.class, SUM(p.n) AS n FROM $present AS p GROUP BY p.class) AS whole ON whole.class = g.class;

-- name: place_guesses
-- Add up guesses that name the sender of a box's rows, and how many are right if one row of the box is the sender's.
SELECT
  COALESCE(SUM(g.weight), 0) AS attempts,
  COALESCE(SUM(g.weight / CAST(g.n AS DOUBLE)), 0) AS successes,
  COUNT(DISTINCT g.owner) AS people
FROM $guesses AS g;
