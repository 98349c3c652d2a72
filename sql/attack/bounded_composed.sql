-- name: attack/bounded_composed
-- Count whose value two classes tell together and neither alone, at least and at most.
-- reads: bounds (first, second, least, most, different), first (class, value, n), second (class, value, n)
-- holes: $bounds relation, $first relation, $second relation
-- gives: least, most
SELECT COALESCE(SUM(b.least), 0) AS least, COALESCE(SUM(b.most), 0) AS most
FROM $bounds AS b
JOIN (SELECT v.class, COUNT(*) AS different FROM $first AS v GROUP BY v.class) AS a ON a.class = b.first
JOIN (SELECT v.class, COUNT(*) AS different FROM $second AS v GROUP BY v.class) AS o ON o.class = b.second
WHERE b.different = 1 AND a.different > 1 AND o.different > 1
