-- name: attack/claims_right
-- Count the claims that somebody in a class has a value, those that are right, and as many as would be by chance.
-- reads: classes (class, the labels, n), claims (label, value: keys, share), fits (target, class), targets (target, the values)
-- holes: $classes relation, $claims relation, $fits relation, $targets relation, $value columns
-- gives: claims, correct, expected
SELECT
  COUNT(*) AS claims,
  COUNT(h.class) AS correct,
  COALESCE(SUM(1 - POWER(1 - c.share, s.people)), 0) AS expected
FROM (SELECT k.class, COALESCE('=' || CAST($value AS TEXT), '') AS label FROM $classes AS k) AS k
JOIN $claims AS c ON c.label = k.label
JOIN (SELECT f.class, COUNT(*) AS people FROM $fits AS f GROUP BY f.class) AS s ON s.class = k.class
LEFT JOIN (
  SELECT DISTINCT f.class, t.value
  FROM $fits AS f
  JOIN (SELECT t.target, COALESCE('=' || CAST($value AS TEXT), '') AS value FROM $targets AS t) AS t ON t.target = f.target
) AS h ON h.class = k.class AND h.value = c.value
