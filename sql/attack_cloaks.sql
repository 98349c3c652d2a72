-- Attacks on cloaked places and times: who a box belongs to, and where a person was.

-- name: boxes
-- Number the distinct boxes and intervals of a cloaked release, and count their rows.
-- columns: class, x_min, x_max, y_min, y_max, since, until, n (rows)
SELECT
  ROW_NUMBER() OVER (ORDER BY $x_min, $x_max, $y_min, $y_max, $since, $until) AS class,
  $x_min AS x_min, $x_max AS x_max, $y_min AS y_min, $y_max AS y_max, $since AS since, $until AS until,
  COUNT(*) AS n
FROM $release AS r
GROUP BY $x_min, $x_max, $y_min, $y_max, $since, $until;

-- name: drawn_boxes
-- Draw a sample of boxes to attack, by the smallest hash of their number and a seed.
SELECT b.class, b.x_min, b.x_max, b.y_min, b.y_max, b.since, b.until, b.n
FROM $boxes AS b
ORDER BY MD5(CAST(b.class AS TEXT) || $seed), b.class
LIMIT $most;

-- name: owned_boxes
-- Find the boxes that contain the places of exactly one owner; the attack attributes all their rows to that owner.
-- columns: class, owner, n (rows), weight (rows)
SELECT b.class, MIN(p.owner) AS owner, b.n, b.n AS weight
FROM $boxes AS b
JOIN (SELECT $owner AS owner, $x AS x, $y AS y FROM $people AS o) AS p
  ON p.x >= b.x_min AND p.x <= b.x_max AND p.y >= b.y_min AND p.y <= b.y_max
GROUP BY b.class, b.n
HAVING COUNT(DISTINCT p.owner) = 1;

-- name: drawn_observations
-- Draw a sample of observations of a person at a place and time, by the smallest hash of their row number and a seed.
-- columns: target (the row's number), owner, x, y, t
SELECT p.row_id AS target, $owner AS owner, $x AS x, $y AS y, $t AS t
FROM $people AS p
ORDER BY MD5(CAST(p.row_id AS TEXT) || $seed), p.row_id
LIMIT $most;

-- name: observed_boxes
-- Find the boxes around each observation, any of whose rows may belong to the observed person.
-- columns: target, class, owner, n (rows), weight (the box's share of these rows), among (all rows that may belong to the person)
SELECT
  o.target, b.class, o.owner, b.n,
  CAST(b.n AS DOUBLE) / SUM(b.n) OVER (PARTITION BY o.target) AS weight,
  SUM(b.n) OVER (PARTITION BY o.target) AS among
FROM $observations AS o
JOIN $boxes AS b
  ON o.x >= b.x_min AND o.x <= b.x_max AND o.y >= b.y_min AND o.y <= b.y_max AND o.t >= b.since AND o.t <= b.until;

-- name: observed
-- Count the observations that match fewer than k rows, and the observations that match only one.
SELECT
  COUNT(DISTINCT CASE WHEN g.among < $k THEN g.target END) AS below,
  COUNT(DISTINCT CASE WHEN g.among = 1 THEN g.target END) AS alone
FROM $guesses AS g;

-- name: present
-- Count the source rows inside each guessed box and interval, by owner.
-- columns: class, owner, n (rows)
SELECT b.class, s.owner, COUNT(*) AS n
FROM $boxes AS b
JOIN (SELECT DISTINCT g.class FROM $guesses AS g) AS guessed ON guessed.class = b.class
JOIN (SELECT $owner AS owner, $x AS x, $y AS y, $t AS t FROM $source AS r) AS s
  ON s.x >= b.x_min AND s.x <= b.x_max AND s.y >= b.y_min AND s.y <= b.y_max AND s.t >= b.since AND s.t <= b.until
GROUP BY b.class, s.owner;

-- name: checked_guesses
-- Add up the guesses of a box's owner, and how many are correct according to the owner's rows in the box.
SELECT
  COALESCE(SUM(g.weight), 0) AS attempts,
  COALESCE(SUM(g.weight * own.n / CAST(whole.n AS DOUBLE)), 0) AS successes,
  COUNT(DISTINCT g.owner) AS people
FROM $guesses AS g
LEFT JOIN $present AS own ON own.class = g.class AND own.owner = g.owner
LEFT JOIN (SELECT p.class, SUM(p.n) AS n FROM $present AS p GROUP BY p.class) AS whole ON whole.class = g.class;

-- name: place_guesses
-- Add up the guesses of a box's owner, and how many are correct if one row of the box is the owner's.
SELECT
  COALESCE(SUM(g.weight), 0) AS attempts,
  COALESCE(SUM(g.weight / CAST(g.n AS DOUBLE)), 0) AS successes,
  COUNT(DISTINCT g.owner) AS people
FROM $guesses AS g;
