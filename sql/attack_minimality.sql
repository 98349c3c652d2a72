-- Minimality attack: sensitive values ruled out because the search generalizes no more than necessary (Wong et al., 2007).

-- name: other_places
-- Count the homes (classes) that have different row counts in two tables.
SELECT COUNT(*) AS places
FROM (SELECT p.home, COUNT(*) AS n FROM $placed AS p GROUP BY p.home) AS own
FULL JOIN (SELECT o.home, COUNT(*) AS n FROM $others AS o GROUP BY o.home) AS other ON other.home = own.home
WHERE COALESCE(own.n, 0) <> COALESCE(other.n, 0);

-- name: sensitive_slots
-- Number the rows of each class, with their sensitive values.
-- columns: home, slot (from 1), the columns
SELECT p.home, ROW_NUMBER() OVER (PARTITION BY p.home ORDER BY p.row_id) AS slot, $columns
FROM $placed AS p JOIN $copied AS r ON r.row_id = p.row_id;

-- name: seats
-- Assign the people of each class to its slots at random, independently in every world.
-- columns: world, row_id, slot (from 1)
SELECT
  w.world,
  p.row_id,
  ROW_NUMBER() OVER (
    PARTITION BY w.world, p.home
    ORDER BY MD5(CAST(p.row_id AS TEXT) || ',' || CAST(w.world AS TEXT) || $seed), p.row_id
  ) AS slot
FROM $placed AS p CROSS JOIN $worlds AS w;

-- name: parts
-- Find the part of its class that each row would be in if one attribute were a level lower.
SELECT p.row_id, p.home, m.below AS part
FROM $placed AS p
JOIN (SELECT r.row_id, COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $copied AS r) AS v ON v.row_id = p.row_id
JOIN $mapping AS m ON m.value = v.value;

-- name: smallest_part
-- Find the size of the smallest part of any class, in rows.
SELECT MIN(k.size) AS size FROM (SELECT COUNT(*) AS size FROM $parts AS p GROUP BY p.home, p.part) AS k;

-- name: true_values
-- Count the people of each part of a class by their true sensitive values, as world 0.
SELECT 0 AS world, p.home, p.part, $columns, COUNT(*) AS n
FROM $parts AS p JOIN $copied AS r ON r.row_id = p.row_id
GROUP BY p.home, p.part, $names;

-- name: unsafe_parts
-- List the parts of classes that do not meet the privacy model, in every world.
SELECT f.world, f.home, f.part FROM $counted AS f GROUP BY f.world, f.home, f.part HAVING NOT COALESCE($safe, FALSE);

-- name: world_values
-- Count the people of each part of a class by the sensitive values assigned to them in every world.
SELECT s.world, p.home, p.part, $columns, COUNT(*) AS n
FROM $seats AS s
JOIN $parts AS p ON p.row_id = s.row_id
JOIN $slots AS k ON k.home = p.home AND k.slot = s.slot
GROUP BY s.world, p.home, p.part, $columns;

-- name: unsafe_worlds
-- Count the worlds in which a class has an unsafe part; classes without one are not listed.
SELECT u.home, COUNT(DISTINCT u.world) AS worlds FROM $unsafe AS u GROUP BY u.home;

-- name: told_people
-- Count the people whose own value becomes much more probable because some part must be unsafe.
-- columns: people, certain, worst (gain in probability)
SELECT
  COALESCE(SUM(CASE WHEN b.posterior > $bound AND b.posterior >= b.prior + $margin THEN b.n END), 0) AS people,
  COALESCE(SUM(CASE WHEN b.posterior >= 0.999 AND b.prior < 0.999 THEN b.n END), 0) AS certain,
  COALESCE(MAX(b.posterior - b.prior), 0) AS worst
FROM (
  SELECT
    t.n,
    t.prior,
    -- Bayes' rule: the probability of the value, given that some part of some class is unsafe, where
    -- a.share: the probability that the person has the value and this class has an unsafe part
    -- c.others: the probability that all other classes are safe; none: that all classes are
    (COALESCE(a.share, 0) + (t.prior - COALESCE(a.share, 0)) * (1 - c.others)) / (1 - $none) AS posterior
  FROM (
    SELECT
      v.home,
      v.part,
      v.value,
      v.n,
      SUM(v.n) OVER (PARTITION BY v.home, v.value) / CAST(SUM(v.n) OVER (PARTITION BY v.home) AS DOUBLE) AS prior
    FROM (SELECT f.home, f.part, COALESCE('=' || CAST($value AS TEXT), '') AS value, SUM(f.n) AS n FROM $truth AS f GROUP BY f.home, f.part, $value) AS v
  ) AS t
  JOIN $chances AS c ON c.home = t.home
  LEFT JOIN (
    SELECT w.home, w.part, w.value, SUM(w.share) / CAST($worlds AS DOUBLE) AS share
    FROM (
      SELECT
        f.world,
        f.home,
        f.part,
        COALESCE('=' || CAST($value AS TEXT), '') AS value,
        f.n / CAST(SUM(f.n) OVER (PARTITION BY f.world, f.home, f.part) AS DOUBLE) AS share
      FROM $counted AS f
    ) AS w
    JOIN (SELECT DISTINCT u.world, u.home FROM $unsafe AS u) AS u ON u.world = w.world AND u.home = w.home
    GROUP BY w.home, w.part, w.value
  ) AS a ON a.home = t.home AND a.part = t.part AND a.value = t.value
) AS b;
