-- name: attack/bounded_below
-- Count who is among k in two classes, and in both among fewer, at least and at most, and who is alone for certain.
-- reads: bounds (first, second, least, most, different), first (class, n), second (class, n)
-- holes: $bounds relation, $first relation, $second relation, $k value
-- gives: least, most, alone
SELECT
  COALESCE(SUM(CASE WHEN b.most < $k THEN b.least ELSE 0 END), 0) AS least,
  COALESCE(SUM(CASE WHEN b.least < $k THEN LEAST(b.most, $k - 1) ELSE 0 END), 0) AS most,
  COALESCE(SUM(CASE WHEN b.most = 1 THEN b.least ELSE 0 END), 0) AS alone
FROM $bounds AS b
JOIN $first AS a ON a.class = b.first
JOIN $second AS o ON o.class = b.second
WHERE a.n >= $k AND o.n >= $k
