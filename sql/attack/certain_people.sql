-- name: attack/certain_people
-- Count the people who came to a group or left it, all with one value, which the groups themselves do not tell.
-- reads: changes (part, value, before, after), moves (part, person, came, went, stayed, appeared, vanished)
-- holes: $changes relation, $moves relation
-- gives: certain
SELECT COUNT(*) AS certain
FROM $moves AS m
JOIN (
  SELECT
    d.part,
    SUM(CASE WHEN d.after > d.before THEN 1 ELSE 0 END) AS values_gained,
    SUM(CASE WHEN d.after < d.before THEN 1 ELSE 0 END) AS values_lost,
    SUM(CASE WHEN d.after > 0 THEN 1 ELSE 0 END) AS values_after,
    SUM(CASE WHEN d.before > 0 THEN 1 ELSE 0 END) AS values_before
  FROM $changes AS d
  GROUP BY d.part
) AS c ON c.part = m.part
WHERE
  (c.values_lost = 0 AND c.values_gained = 1 AND c.values_after > 1 AND m.came > 0)
  OR (c.values_gained = 0 AND c.values_lost = 1 AND c.values_before > 1 AND m.went > 0)
