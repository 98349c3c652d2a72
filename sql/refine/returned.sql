-- name: refine/returned
-- Send the loose tuples back whose new class costs as much as their leaving saves, or more; others of it had no class.
-- reads: regrouped (id, n, class), loose (id, class before, most: what leaving saves), classes (class, n, cost of one row)
-- holes: $regrouped relation, $loose relation, $classes relation, $above value (new classes have higher numbers)
-- gives: id, n, class
SELECT r.id, r.n, CASE WHEN d.class IS NULL THEN r.class ELSE l.class END AS class
FROM $regrouped AS r
LEFT JOIN (
  SELECT c.class
  FROM $regrouped AS r
  JOIN $loose AS l ON l.id = r.id
  JOIN $classes AS c ON c.class = r.class
  WHERE r.class > $above
  GROUP BY c.class
  HAVING SUM(l.most) <= MIN(c.n * c.cost)
) AS d ON d.class = r.class
LEFT JOIN $loose AS l ON l.id = r.id
WHERE d.class IS NULL OR NOT l.class IS NULL
