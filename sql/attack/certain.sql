-- name: attack/certain
-- Count the rows that came to a group or left it, all with one value, which the groups themselves do not tell.
-- reads: changes (part, value, before, after)
-- holes: $changes relation
-- gives: certain
SELECT COALESCE(SUM(
  CASE
    WHEN c.values_lost = 0 AND c.values_gained = 1 AND c.values_after > 1 THEN c.moved
    WHEN c.values_gained = 0 AND c.values_lost = 1 AND c.values_before > 1 THEN c.moved
    ELSE 0
  END
), 0) AS certain
FROM (
  SELECT
    d.part,
    SUM(ABS(d.after - d.before)) AS moved,
    SUM(CASE WHEN d.after > d.before THEN 1 ELSE 0 END) AS values_gained,
    SUM(CASE WHEN d.after < d.before THEN 1 ELSE 0 END) AS values_lost,
    SUM(CASE WHEN d.after > 0 THEN 1 ELSE 0 END) AS values_after,
    SUM(CASE WHEN d.before > 0 THEN 1 ELSE 0 END) AS values_before
  FROM $changes AS d
  GROUP BY d.part
) AS c
