-- name: attack/halves
-- Sum up how two halves of what is known of targets lead to one record, one of those that fit picked by each half.
-- reads: both (target, classes, records: by all that is known), one (the same, by a half), other (by the other half)
-- holes: $both relation, $one relation, $other relation
-- gives: targets, same (expected picks of one record), others (the same without the target's own record)
SELECT
  COUNT(*) AS targets,
  COALESCE(SUM(CAST(b.records AS DOUBLE PRECISION) / x.records / y.records), 0) AS same,
  COALESCE(
    SUM(CAST(b.records - 1 AS DOUBLE PRECISION) / NULLIF(x.records - 1, 0) / NULLIF(y.records - 1, 0)), 0
  ) AS others
FROM $both AS b
JOIN $one AS x ON x.target = b.target
JOIN $other AS y ON y.target = b.target
