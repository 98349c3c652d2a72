-- name: refine/safe_pairs
-- Keep of the moves that each tuple wants the best after which its new class meets the privacy model.
-- reads: pairs (pair, the best first, id, own, class, target, gain), pair_values (pair, n, what the model counts by)
-- holes: $pairs relation, $pair_values relation, $safe predicate
-- gives: id, own, class, target, gain
SELECT p.id, p.own, p.class, p.target, p.gain
FROM $pairs AS p
JOIN (
  SELECT s.id, MIN(s.pair) AS pair
  FROM $pairs AS s
  WHERE s.pair IN (SELECT v.pair FROM $pair_values AS v GROUP BY v.pair HAVING COALESCE($safe, FALSE))
  GROUP BY s.id
) AS best ON best.pair = p.pair
