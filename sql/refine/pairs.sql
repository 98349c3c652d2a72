-- name: refine/pairs
-- Number the moves that tuples want, the best first, until the rows to be counted are too many.
-- reads: wanted (id, own, class, target, gain), class_values (class; a row for each value)
-- holes: $wanted relation, $class_values relation, $most value
-- gives: pair (from 1), id, own, class, target, gain
SELECT p.pair, p.id, p.own, p.class, p.target, p.gain
FROM (
  SELECT
    w.id, w.own, w.class, w.target, w.gain,
    ROW_NUMBER() OVER (ORDER BY w.gain DESC, w.id, w.target) AS pair,
    SUM(z.size) OVER (ORDER BY w.gain DESC, w.id, w.target) AS reached
  FROM $wanted AS w
  JOIN (SELECT k.class, COUNT(*) AS size FROM $class_values AS k GROUP BY k.class) AS z ON z.class = w.target
) AS p
WHERE p.reached <= $most OR p.pair = 1
