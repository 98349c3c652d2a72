-- name: mondrian/deal
-- Move the rows of every partition that was cut; the rows of a dealt median from the last place on, first to the left.
-- reads: open (level-0 columns, n, first, last, place, class), chosen (class, attribute), moves (class, code, part, skip, take, next_class)
-- holes: $columns columns, $codes columns, $open relation, $chosen relation, $moves relation
-- gives: the level-0 columns, n, first, last, place, class
-- engines: duckdb
SELECT
  $columns, upto - since AS n, first + since - before AS first, first + upto - before - 1 AS last,
  ROW_NUMBER() OVER (
    PARTITION BY class ORDER BY dealt, CASE WHEN dealt AND part = 0 THEN -place ELSE place END, first + since - before
  ) AS place,
  class
FROM (
  SELECT
    $columns, first, place, before, m.part, m.next_class AS class, m.take IS NOT NULL AS dealt,
    GREATEST(before, m.skip) AS since, LEAST(before + n, COALESCE(m.skip + m.take, before + n)) AS upto
  FROM (
    SELECT
      $columns, n, first, place, class, code,
      CAST(SUM(n) OVER (PARTITION BY class, code ORDER BY place DESC, first) AS BIGINT) - n AS before
    FROM (
      SELECT $columns, o.n, o.first, o.place, o.class, [$codes][h.attribute + 1] AS code
      FROM $open AS o
      INNER JOIN $chosen AS h ON h.class = o.class
    ) AS cut
  ) AS counted
  INNER JOIN $moves AS m ON m.class = counted.class AND m.code = counted.code
) AS moved
WHERE upto > since
