-- name: mondrian/medians
-- Find, per partition and ordered attribute, the cut nearest to the median that leaves both sides safe.
-- reads: cells (class, attribute, position, number (NULL: not ordered), range, most, weight, n = rows)
-- holes: $median value, $cells relation, $safe_left predicate, $safe_right predicate
-- gives: class, attribute, allowed, split (the last position on the left), dealt and kept (NULL), width (by number), gain (of all rows' loss)
-- engines: duckdb
SELECT
  class, attribute, best.allowed AS allowed, best.position AS split, NULL AS dealt, NULL AS kept,
  weight * LEAST(1, (highest - lowest) / range) AS width,
  weight * (
    (best.below + best.above) * CASE WHEN highest - lowest > range THEN most ELSE high - low END
    - best.below * CASE WHEN best.number - lowest > range THEN most ELSE best.position - low END
    - best.above * CASE WHEN highest - best.next_number > range THEN most ELSE high - best.next_position END
  ) / most AS gain
FROM (
  SELECT
    class, attribute, MIN(weight) AS weight, MIN(range) AS range, MIN(most) AS most,
    MIN(number) AS lowest, MAX(next_number) AS highest, MIN(position) AS low, MAX(next_position) AS high,
    ARG_MIN(
      {
        'allowed': allowed, 'position': position, 'number': number, 'next_position': next_position,
        'next_number': next_number, 'below': below, 'above': above
      },
      {
        'forbidden': NOT allowed, 'alike': next_number - number <= range, 'distance': ABS(below - above),
        'position': position
      }
    ) AS best
  FROM (
    SELECT
      class, attribute, position, number, next_position, next_number, range, most, weight, below, above,
      allowed AND (NOT $median OR (below >= (below + above) // 2 AND below - n < (below + above) // 2)) AS allowed
    FROM (
      SELECT
        class, attribute, position, number, range, most, weight, n,
        CAST(SUM(n) OVER left_side AS BIGINT) AS below,
        CAST(SUM(n) OVER right_side AS BIGINT) AS above,
        LEAD(position) OVER left_side AS next_position,
        LEAD(number) OVER left_side AS next_number,
        COALESCE($safe_left, FALSE) AND COALESCE($safe_right, FALSE) AS allowed
      FROM $cells
      WHERE number IS NOT NULL
      WINDOW
        left_side AS (PARTITION BY class, attribute ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
        right_side AS (PARTITION BY class, attribute ORDER BY position ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
    ) AS steps
    WHERE next_number IS NOT NULL
  ) AS cuts
  GROUP BY class, attribute
) AS found
