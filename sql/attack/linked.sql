-- name: attack/linked
-- Sum up how well targets are linked with records: who fits any, one record, one class, and how many links are right.
-- reads: candidates (target, classes, records), owned (target, records: their own among those that fit)
-- holes: $candidates relation, $owned relation
-- gives: fitting, one_record, one_class, right (expected, if one of the records is picked at random)
SELECT
  COUNT(*) AS fitting,
  COALESCE(SUM(CASE WHEN c.records = 1 THEN 1 ELSE 0 END), 0) AS one_record,
  COALESCE(SUM(CASE WHEN c.classes = 1 THEN 1 ELSE 0 END), 0) AS one_class,
  COALESCE(SUM(CAST(o.records AS DOUBLE PRECISION) / c.records), 0) AS right
FROM $candidates AS c LEFT JOIN $owned AS o ON o.target = c.target
