-- name: perturb/redraw
-- Randomize categories (PRAM): keep a value with a stated probability, else draw one from the column's own frequencies.
-- reads: draws (row_id, value, u and v)
-- holes: $keep value, $draws relation
-- gives: row_id, value (expected frequencies are those of the column: the transition matrix is invariant)
SELECT kept.row_id, CASE WHEN kept.u < $keep THEN kept.value ELSE other.value END AS value
FROM (
  SELECT d.row_id, d.value, d.u, CAST(FLOOR(d.v * COUNT(*) OVER ()) AS BIGINT) AS place FROM $draws AS d
) AS kept
JOIN (
  SELECT d.value, ROW_NUMBER() OVER (ORDER BY d.value, d.row_id) - 1 AS place FROM $draws AS d
) AS other ON other.place = kept.place
