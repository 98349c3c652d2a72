-- name: attack/right_guesses
-- Count how many targets have the most common value of the records that fit, some of the records left out; ties by chance.
-- reads: guesses (target, records, own)
-- holes: $guesses relation, $left_out value (records of the target's own that do not count: 1 or 0)
-- gives: targets, right (expected), unknown (targets of whom no record is left)
SELECT COUNT(*) AS targets, COALESCE(SUM(guessed.right), 0) AS right, COALESCE(SUM(guessed.unknown), 0) AS unknown
FROM (
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
) AS guessed
