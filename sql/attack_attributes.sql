-- What an attacker learns about a person's sensitive value from the person's equivalence class.

-- name: people_who_fit
-- Count the rows of classes, and those of classes that rows of fewer than $k people of the source fit; classes that no row fits are no evidence.
-- columns: rows, few_rows, fewest (people who fit a class)
SELECT
  COALESCE(SUM(k.n), 0) AS rows,
  COALESCE(SUM(CASE WHEN k.people BETWEEN 1 AND $k - 1 THEN k.n ELSE 0 END), 0) AS few_rows,
  MIN(CASE WHEN k.people > 0 THEN k.people END) AS fewest
FROM (
  SELECT c.class, MAX(c.n) AS n, COUNT(DISTINCT pairs.person) AS people
  FROM $classes AS c
  LEFT JOIN (SELECT f.class, s.person FROM $fits AS f JOIN (SELECT p.row_id, $unit AS person FROM $source AS p) AS s ON s.row_id = f.target) AS pairs
    ON pairs.class = c.class
  GROUP BY c.class
) AS k;

-- name: skewed
-- Count the rows of classes where some value's share is far above its share in the whole release (skewness attack).
-- columns: rows, classes (where a share is at least $times as large and at least $points larger), largest (ratio, over all classes)
SELECT
  COALESCE(SUM(CASE WHEN k.skewed = 1 THEN k.size END), 0) AS rows,
  COALESCE(SUM(k.skewed), 0) AS classes,
  MAX(k.ratio) AS largest
FROM (
  SELECT
    SUM(s.n) AS size,
    MAX(s.posterior / s.prior) AS ratio,
    MAX(CASE WHEN s.posterior >= $times * s.prior AND s.posterior - s.prior >= $points THEN 1 ELSE 0 END) AS skewed
  FROM (
    SELECT c.class, c.n, c.n / CAST(z.size AS DOUBLE) AS posterior, o.n / CAST($total AS DOUBLE) AS prior
    FROM $counted AS c
    JOIN (SELECT b.class, SUM(b.n) AS size FROM $counted AS b GROUP BY b.class) AS z ON z.class = c.class
    JOIN $overall AS o ON o.value = c.value
  ) AS s
  GROUP BY s.class
) AS k;

-- name: skewed_people
-- Count the people of classes where the share of people with some value is far above the share in the whole release.
-- columns: people, classes (where a share is at least $times as large and at least $points larger), largest (ratio, over all classes)
SELECT
  COUNT(DISTINCT CASE WHEN k.skewed = 1 THEN h.person END) AS people,
  COUNT(DISTINCT CASE WHEN k.skewed = 1 THEN k.class END) AS classes,
  MAX(k.ratio) AS largest
FROM $held AS h
JOIN (
  SELECT
    s.class,
    MAX(s.posterior / s.prior) AS ratio,
    MAX(CASE WHEN s.posterior >= $times * s.prior AND s.posterior - s.prior >= $points THEN 1 ELSE 0 END) AS skewed
  FROM (
    SELECT c.class, c.n / CAST(z.size AS DOUBLE) AS posterior, o.n / CAST($total AS DOUBLE) AS prior
    FROM (SELECT a.class, a.value, COUNT(DISTINCT a.person) AS n FROM $held AS a GROUP BY a.class, a.value) AS c
    JOIN (SELECT b.class, COUNT(DISTINCT b.person) AS size FROM $held AS b GROUP BY b.class) AS z ON z.class = c.class
    JOIN $overall AS o ON o.value = c.value
  ) AS s
  GROUP BY s.class
) AS k ON k.class = h.class;

-- name: near_values
-- Count the rows of classes whose several values all lie in a narrow band of the release's values; a class with a NULL does not count.
-- columns: rows, classes (whose band, from the smallest value to the largest, contains at most $most rows of the release)
SELECT COALESCE(SUM(k.size), 0) AS rows, COUNT(*) AS classes
FROM (
  SELECT SUM(c.n) AS size
  FROM $counted AS c JOIN $overall AS o ON o.value = c.value
  GROUP BY c.class
  HAVING COUNT(*) > 1 AND COUNT(o.raw) = COUNT(*) AND MAX(o.up_to) - MIN(o.up_to - o.n) <= $most
) AS k;

-- name: near_people
-- Count the people of classes whose several values all lie in a narrow band of the release's values; a class with a NULL does not count.
-- columns: people, classes (whose band, from the smallest value to the largest, contains at most $most pairs of a person and a value)
SELECT COUNT(DISTINCT h.person) AS people, COUNT(DISTINCT h.class) AS classes
FROM $held AS h
JOIN (
  SELECT c.class
  FROM $held AS c JOIN $overall AS o ON o.value = c.value
  GROUP BY c.class
  HAVING COUNT(DISTINCT c.value) > 1 AND COUNT(o.raw) = COUNT(*) AND MAX(o.up_to) - MIN(o.up_to - o.n) <= $most
) AS k ON k.class = h.class;

-- name: kindred_values
-- Count the rows of classes whose several values all belong to the same group of values.
SELECT COALESCE(SUM(k.size), 0) AS rows, COUNT(*) AS classes
FROM (
  SELECT SUM(c.n) AS size
  FROM $counted AS c JOIN $groups AS g ON g.value = c.value
  GROUP BY c.class
  HAVING COUNT(*) > 1 AND COUNT(g.kin) = COUNT(*) AND MIN(g.kin) = MAX(g.kin)
) AS k;

-- name: kindred_people
-- Count the people of classes whose several values all belong to the same group of values.
SELECT COUNT(DISTINCT h.person) AS people, COUNT(DISTINCT h.class) AS classes
FROM $held AS h
JOIN (
  SELECT c.class
  FROM $held AS c JOIN $groups AS g ON g.value = c.value
  GROUP BY c.class
  HAVING COUNT(DISTINCT c.value) > 1 AND COUNT(g.kin) = COUNT(*) AND MIN(g.kin) = MAX(g.kin)
) AS k ON k.class = h.class;

-- name: guesses
-- Count the matching records of each target by value, and flag the value that the target has.
-- columns: target, records, own (1 for the target's value, else 0)
SELECT f.target, SUM(v.n) AS records, MAX(CASE WHEN o.key = t.value THEN 1 ELSE 0 END) AS own
FROM $fits AS f
JOIN $values AS v ON v.class = f.class
JOIN $overall AS o ON o.value = v.value
JOIN $truths AS t ON t.target = f.target
GROUP BY f.target, v.value;

-- name: right_guesses
-- Count the targets whose value is the most common one among their matching records, with some of their own records left out; ties are random guesses.
-- columns: targets, right (expected), unknown (targets with no record left)
SELECT COUNT(*) AS targets, COALESCE(SUM(guessed.right), 0) AS right, COALESCE(SUM(guessed.unknown), 0) AS unknown
FROM (
  -- right = 1 / (number of values that tie for most common) if the target's own value is one of them, else 0
  SELECT
    g.target,
    CAST(SUM(CASE WHEN g.own = 1 AND g.records - $left_out = m.most THEN 1 ELSE 0 END) AS DOUBLE PRECISION)
      * CASE WHEN MAX(m.most) > 0 THEN 1 ELSE 0 END
      / SUM(CASE WHEN g.records - g.own * $left_out = m.most THEN 1 ELSE 0 END) AS right,
    CASE WHEN MAX(m.most) > 0 THEN 0 ELSE 1 END AS unknown
  FROM $guesses AS g
  JOIN (SELECT h.target, MAX(h.records - h.own * $left_out) AS most FROM $guesses AS h GROUP BY h.target) AS m
    ON m.target = g.target
  GROUP BY g.target
) AS guessed;

-- name: value_people
-- Count the people of a release by the value of one column; NULL counts as a value.
SELECT COUNT(DISTINCT $unit) AS n FROM $release AS r GROUP BY $value;

-- name: value_rows
-- Count the rows of a release by the value of one column; NULL counts as a value.
SELECT COUNT(*) AS n FROM $release AS r GROUP BY $value;

-- name: likeliest
-- Assign every target to its largest matching class, and number the targets within a class and value.
-- columns: target, class, value (a key), place (among the targets of this class and value)
SELECT f.target, f.class, t.value, ROW_NUMBER() OVER (PARTITION BY f.class, t.value ORDER BY f.target) AS place
FROM (
  SELECT x.target, x.class, ROW_NUMBER() OVER (PARTITION BY x.target ORDER BY k.n DESC, x.class) AS rank
  FROM $fits AS x JOIN $classes AS k ON k.class = x.class
) AS f
JOIN $truths AS t ON t.target = f.target
WHERE f.rank = 1;

-- name: training
-- Select class values as training data: first those of classes assigned to targets, then a random sample of other classes.
-- columns: class, value (a key), n
SELECT d.class, o.key AS value, v.n
FROM (
  SELECT k.class, CASE WHEN a.class IS NULL THEN 1 ELSE 0 END AS other, MD5(CAST(k.class AS TEXT) || $seed) AS hash
  FROM $classes AS k
  LEFT JOIN (SELECT DISTINCT l.class FROM $likeliest AS l) AS a ON a.class = k.class
  ORDER BY other, hash, k.class
  LIMIT $most
) AS d
JOIN $values AS v ON v.class = d.class
JOIN $overall AS o ON o.value = v.value
ORDER BY d.other, d.hash, d.class, o.key
LIMIT $most;

-- name: class_sizes
-- Count the classes by their number of rows.
SELECT k.n AS size, COUNT(*) AS classes FROM $classes AS k GROUP BY k.n ORDER BY k.n;

-- name: ranges_of_classes
-- Show every class with the smallest and largest number of its values.
-- columns: class, the labels, n (rows), low, high
SELECT k.class, $labels, k.n, v.low, v.high
FROM $classes AS k
JOIN (SELECT c.class, MIN(c.value) AS low, MAX(c.value) AS high FROM $values AS c GROUP BY c.class) AS v
  ON v.class = k.class;

-- name: one_value
-- Count the rows of the classes with one value only, and these classes; NULL counts as a value.
SELECT COALESCE(SUM(k.n), 0) AS rows, COUNT(*) AS classes FROM $classes AS k WHERE k.low = k.high;

-- name: ruling_out
-- Count the rows whose value is certain once one, two or three other values of their class are ruled out, and compute the posterior without the most frequent other value.
-- columns: after_1, after_2, after_3 (rows certain after ruling out so many values), classes (after one), worst, mean (posterior of the rows' own values without the most frequent other value)
-- engines: duckdb
SELECT
  COALESCE(SUM(CASE WHEN s.kinds <= 2 THEN s.size END), 0) AS after_1,
  COALESCE(SUM(CASE WHEN s.kinds <= 3 THEN s.size END), 0) AS after_2,
  COALESCE(SUM(CASE WHEN s.kinds <= 4 THEN s.size END), 0) AS after_3,
  COALESCE(SUM(CASE WHEN s.kinds <= 2 THEN 1 ELSE 0 END), 0) AS classes,
  MAX(GREATEST(s.of_most, s.of_others)) AS worst,
  SUM(s.most * s.of_most + COALESCE((s.squares - s.most * s.most) / s.without_most, 0)) / SUM(s.size) AS mean
FROM (
  -- The most frequent value is ruled out for rows with another value, and for its own rows the runner-up.
  SELECT
    t.kinds, t.size, t.most, t.squares,
    CAST(t.most AS DOUBLE) / (t.size - t.runner_up) AS of_most,
    CAST(t.runner_up AS DOUBLE) / NULLIF(t.size - t.most, 0) AS of_others,
    CAST(NULLIF(t.size - t.most, 0) AS DOUBLE) AS without_most
  FROM (
    SELECT
      COUNT(*) AS kinds, SUM(c.n) AS size, MAX(c.n) AS most, SUM(c.n * c.n) AS squares,
      COALESCE(MAX(c.n, 2)[2], 0) AS runner_up
    FROM $counted AS c
    GROUP BY c.class
  ) AS t
) AS s;

-- name: posteriors
-- Compare the share of a value in a class (posterior) with its share in the whole release (prior).
-- columns: guessed (rows with their class's most frequent value), certain (rows whose posterior reaches $certain, but not their prior), gained (rows whose posterior is at least $gain above the prior), worst, mean (posterior minus prior)
SELECT
  COALESCE(SUM(k.most), 0) AS guessed,
  COALESCE(SUM(k.certain), 0) AS certain,
  COALESCE(SUM(k.gained), 0) AS gained,
  MAX(k.worst) AS worst,
  SUM(k.gain) / SUM(k.size) AS mean
FROM (
  SELECT
    SUM(p.n) AS size,
    MAX(p.n) AS most,
    SUM(CASE WHEN p.posterior >= $certain AND p.prior < $certain THEN p.n END) AS certain,
    SUM(CASE WHEN p.posterior - p.prior >= $gain THEN p.n END) AS gained,
    MAX(p.posterior - p.prior) AS worst,
    SUM(p.n * (p.posterior - p.prior)) AS gain
  FROM (
    SELECT c.class, c.n, c.n / CAST(z.size AS DOUBLE) AS posterior, o.n / CAST($rows AS DOUBLE) AS prior
    FROM $counted AS c
    JOIN (SELECT b.class, SUM(b.n) AS size FROM $counted AS b GROUP BY b.class) AS z ON z.class = c.class
    JOIN $overall AS o ON o.value = c.value
  ) AS p
  GROUP BY p.class
) AS k;
