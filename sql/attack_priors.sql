-- Attackers with priors: how frequent each sensitive value is among similar people.

-- name: beliefs
-- Compute for every target whether a value is certain with and without priors, and how much more probable the likeliest value is with them.
-- columns: target, certain (with priors), alone (without them; each 1 or 0, and 0 if another value is right), gain
SELECT
  v.target,
  MAX(CASE WHEN v.posterior >= $certain THEN v.may_be ELSE 0 END) AS certain,
  MAX(CASE WHEN v.prior >= $certain THEN v.may_be ELSE 0 END) AS alone,
  COALESCE(MAX(v.posterior), MAX(v.prior)) - MAX(v.prior) AS gain
FROM (
  SELECT
    r.target,
    CASE WHEN t.target IS NULL OR t.value = r.value THEN 1 ELSE 0 END AS may_be,
    r.n / CAST(SUM(r.n) OVER (PARTITION BY r.target) AS DOUBLE) AS prior,
    -- Bayes' rule: a record counts as often as its value is more common among similar people; no weight counts as 1
    r.n * COALESCE(w.weight, 1) / NULLIF(SUM(r.n * COALESCE(w.weight, 1)) OVER (PARTITION BY r.target), 0) AS posterior
  FROM $records AS r
  LEFT JOIN $weights AS w ON w.target = r.target AND w.value = r.value
  LEFT JOIN $truths AS t ON t.target = r.target
) AS v
GROUP BY v.target;

-- name: believed
-- Count the targets whose value is certain with priors, and the classes that these targets match.
-- columns: certain, classes, alone (certain without priors), worst, mean (gain)
SELECT
  COALESCE(SUM(b.certain), 0) AS certain,
  (SELECT COUNT(DISTINCT f.class) FROM $fits AS f JOIN $beliefs AS c ON c.target = f.target WHERE c.certain = 1) AS classes,
  COALESCE(SUM(b.alone), 0) AS alone,
  MAX(b.gain) AS worst,
  AVG(b.gain) AS mean
FROM $beliefs AS b;

-- name: fitting_values
-- Count the matching records of each target by value.
-- columns: target, value (a key), n
SELECT f.target, o.key AS value, SUM(v.n) AS n
FROM $fits AS f
JOIN $values AS v ON v.class = f.class
JOIN $overall AS o ON o.value = v.value
GROUP BY f.target, o.key;

-- name: value_shares
-- Compute the share of each value among the rows of a release, with values as keys that are never NULL.
-- columns: value (a key), share
SELECT valued.value, COUNT(*) / CAST(SUM(COUNT(*)) OVER () AS DOUBLE) AS share
FROM (SELECT COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $release AS r) AS valued
GROUP BY valued.value;

-- name: prior_weights
-- Compute how many times more common each value is among people like the target than in the whole release.
-- columns: target, value (a key), weight
SELECT p.id AS target, s.value, s.share / o.share AS weight
FROM $people AS p
JOIN $priors AS q ON q.key = p.key
JOIN $shares AS s ON s.row_id = q.id
JOIN $overall AS o ON o.value = s.value;

-- name: repeated_weights
-- Count the values that have more than one weight for the same target.
SELECT COUNT(DISTINCT twice.value) AS values
FROM (SELECT w.value FROM $weights AS w GROUP BY w.target, w.value HAVING COUNT(*) > 1) AS twice;

-- name: prior_shares
-- Return the value, as a key that is never NULL, and the share of every row of the priors.
-- columns: row_id, value (a key), share
SELECT p.row_id, COALESCE('=' || CAST($value AS TEXT), '') AS value, CAST($share AS DOUBLE) AS share FROM $priors AS p;

-- name: wrong_shares
-- Count the rows of the priors whose share is missing or not between 0 and 1.
SELECT COUNT(*) AS rows FROM $shares AS s WHERE NOT COALESCE(s.share BETWEEN 0 AND 1, FALSE);
