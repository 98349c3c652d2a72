-- name: attack/beliefs
-- Say of each target whether a value is certain by priors, or without them, and how much more probable the likeliest one is by them.
-- reads: records (target, value, n), weights (target, value, weight; 1 where there is none), truths (target, value: the right one, where it is known)
-- holes: $records relation, $weights relation, $truths relation, $certain value
-- gives: target, told, alone (1 or 0; 0 if another value is right), gain
SELECT
  v.target,
  MAX(CASE WHEN v.posterior >= $certain THEN v.may_be ELSE 0 END) AS told,
  MAX(CASE WHEN v.prior >= $certain THEN v.may_be ELSE 0 END) AS alone,
  COALESCE(MAX(v.posterior), MAX(v.prior)) - MAX(v.prior) AS gain
FROM (
  SELECT
    r.target,
    CASE WHEN t.target IS NULL OR t.value = r.value THEN 1 ELSE 0 END AS may_be,
    r.n / CAST(SUM(r.n) OVER (PARTITION BY r.target) AS DOUBLE) AS prior,
    r.n * COALESCE(w.weight, 1) / NULLIF(SUM(r.n * COALESCE(w.weight, 1)) OVER (PARTITION BY r.target), 0) AS posterior
  FROM $records AS r
  LEFT JOIN $weights AS w ON w.target = r.target AND w.value = r.value
  LEFT JOIN $truths AS t ON t.target = r.target
) AS v
GROUP BY v.target
