-- name: mondrian/halves
-- Find, per partition and ordered attribute, the median, and how many of the rows that equal it go to the left half.
-- reads: cells (class, attribute, position, number (NULL: not ordered), range, most, weight, n = rows)
-- holes: $cells relation, $safe predicate
-- gives: class, attribute, allowed, split (the median's position), dealt (its rows on the left), kept (its rows on the right), width (by number), gain (of all rows' loss)
-- engines: duckdb
SELECT
  class, attribute, BOOL_AND(safe) AS allowed, MIN(split) AS split, MIN(dealt) AS dealt, MIN(kept) AS kept,
  MIN(width) AS width, MIN(gain) AS gain
FROM (
  SELECT
    class, attribute, COALESCE($safe, FALSE) AS safe, MIN(split) AS split, MIN(dealt) AS dealt, MIN(kept) AS kept,
    MIN(width) AS width, MIN(gain) AS gain
  FROM (
    SELECT
      class, attribute, side, CASE WHEN side = 0 THEN half ELSE total - half END AS n, position AS split,
      half - below + n AS dealt, below - half AS kept,
      weight * LEAST(1, (highest - lowest) / range) AS width,
      weight * (
        total * CASE WHEN highest - lowest > range THEN most ELSE high - low END
        - half * CASE WHEN number - lowest > range THEN most ELSE position - low END
        - (total - half) * CASE WHEN highest - right_number > range THEN most ELSE high - right_position END
      ) / most AS gain
    FROM (
      SELECT
        class, attribute, position, number, range, most, weight, n, below, total, half,
        CASE WHEN below > half THEN position ELSE next_position END AS right_position,
        CASE WHEN below > half THEN number ELSE next_number END AS right_number, low, high, lowest, highest
      FROM (
        SELECT
          class, attribute, position, number, range, most, weight, n,
          CAST(SUM(n) OVER left_side AS BIGINT) AS below,
          CAST(SUM(n) OVER whole AS BIGINT) AS total,
          CAST(SUM(n) OVER whole AS BIGINT) // 2 AS half,
          LEAD(position) OVER left_side AS next_position,
          LEAD(number) OVER left_side AS next_number,
          MIN(position) OVER whole AS low,
          MAX(position) OVER whole AS high,
          MIN(number) OVER whole AS lowest,
          MAX(number) OVER whole AS highest
        FROM $cells
        WHERE number IS NOT NULL
        WINDOW
          left_side AS (PARTITION BY class, attribute ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
          whole AS (PARTITION BY class, attribute)
      ) AS steps
      WHERE high > low AND half > 0 AND below >= half AND below - n < half
    ) AS medians
    CROSS JOIN (SELECT UNNEST([0, 1]) AS side) AS sides
  ) AS halves
  GROUP BY class, attribute, side
) AS judged
GROUP BY class, attribute
