-- Releases of a local recoding: the labels and figures of its classes.

-- name: local_figures
-- Add up the sizes and losses of the classes of a local recoding; classes with the same labels count as one.
-- columns: classes, released_rows, smallest_class (NULL without classes), squares (sum of squared class sizes), one sum of n * leaves per attribute
SELECT
  COUNT(*) AS classes,
  COALESCE(SUM(released.n), 0) AS released_rows,
  MIN(released.n) AS smallest_class,
  COALESCE(SUM(released.n * released.n), 0) AS squares,
  COALESCE(SUM($leaves), 0)
FROM (SELECT SUM(k.n) AS n, SUM(k.n * $leaves) FROM $classes AS k GROUP BY $labels) AS released;

-- name: local_levels
-- Count the rows by the hierarchy level that their cell of one attribute needs.
-- columns: level, n (rows)
SELECT $level AS level, SUM(k.n) AS n FROM $classes AS k GROUP BY $level;

-- name: levels_together
-- Count the rows by the hierarchy level that their cells need, for all attributes.
-- columns: attribute, level, n (rows)
-- engines: duckdb
SELECT attribute, level, CAST(SUM(n) AS BIGINT) AS n
FROM (SELECT k.n, UNNEST(RANGE($attributes)) AS attribute, UNNEST([$levels]) AS level FROM $classes AS k) AS cells
GROUP BY attribute, level;

-- name: local_kept
-- Count the released rows whose cell of one attribute is unchanged: a label, two equal bounds or a mean that equals the value.
-- columns: n (rows; `*` never counts as unchanged)
-- engines: duckdb
SELECT COALESCE(SUM(m.n), 0) AS n
FROM (SELECT $value AS value, a.n, a.class FROM $assignment AS a) AS m
JOIN (
  SELECT code_0, starred, CAST(value AS TEXT) AS own, CAST(number AS TEXT) AS own_number FROM $positions
) AS p ON p.code_0 = m.value
JOIN (SELECT class, CAST($ends AS TEXT) FROM $classes) AS k ON k.class = m.class
WHERE
  NOT p.starred
  AND (
    (k.lower = k.upper AND k.lower <> '*' AND (p.own = k.lower OR p.own_number = k.lower))
    OR (p.own IS NULL AND k.lower IS NULL AND k.upper IS NULL)
  );

-- name: apart
-- Leave out of a view's assignment the parts of a tuple that overlap an earlier part, so that no row is in two classes.
SELECT $keys, ordered.first, ordered.last, ordered.class
FROM (
  SELECT
    $keys, a.first, a.last, a.class,
    MAX(a.last) OVER (
      PARTITION BY $keys ORDER BY a.first, a.last ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS taken
  FROM $assignment AS a
) AS ordered
WHERE ordered.taken IS NULL OR ordered.taken < ordered.first;

-- name: unrepeated
-- Leave out of a view's table the keys that occur more than once, so that a join with it never multiplies a row.
SELECT $keys, $columns
FROM (SELECT $keys, $columns, COUNT(*) OVER (PARTITION BY $keys) AS copies FROM $kept AS k) AS counted
WHERE counted.copies = 1;

-- name: class_mean
-- Compute the mean of one numeric attribute in every class, weighted by rows.
-- columns: class, shown (NULL if a value of the class has no number, unless it is the only value: NaN stays NaN)
SELECT
  m.class,
  CASE
    WHEN COUNT(*) = COUNT(p.number) THEN SUM(m.n * p.number) / SUM(m.n)
    WHEN COUNT(*) = 1 THEN MAX(CAST(p.value AS DOUBLE))
  END AS shown
FROM $members AS m JOIN $positions AS p ON p.position = m.position
GROUP BY m.class;

-- name: class_median
-- Compute the lower median of one ordered attribute in every class, weighted by rows; it is always a value of the class.
SELECT m.class, p.value AS shown
FROM (
  SELECT counted.class, MIN(counted.position) AS position
  FROM (
    SELECT
      m.class,
      m.position,
      SUM(m.n) OVER (PARTITION BY m.class ORDER BY m.position) AS up_to,
      SUM(m.n) OVER (PARTITION BY m.class) AS size
    FROM $members AS m
  ) AS counted
  WHERE 2 * counted.up_to >= counted.size
  GROUP BY counted.class
) AS m JOIN $positions AS p ON p.position = m.position;

-- name: class_mode
-- Find the most frequent value of one attribute in every class; the first in order wins a tie.
SELECT m.class, p.value AS shown
FROM (
  SELECT m.class, m.position, ROW_NUMBER() OVER (PARTITION BY m.class ORDER BY m.n DESC, m.position) AS place
  FROM $members AS m
) AS m JOIN $positions AS p ON p.position = m.position
WHERE m.place = 1;
