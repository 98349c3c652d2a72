-- name: attack/training
-- Take values of classes to learn from: those of the classes that targets fit, and then a draw of others.
-- reads: values (class, value, n), likeliest (target, class, value, place)
-- holes: $values relation, $likeliest relation, $seed value, $most value
-- gives: class, value (a key), n
SELECT v.class, v.value, v.n
FROM $values AS v
LEFT JOIN (SELECT DISTINCT l.class FROM $likeliest AS l) AS a ON a.class = v.class
ORDER BY CASE WHEN a.class IS NULL THEN 1 ELSE 0 END, MD5(CAST(v.class AS TEXT) || $seed), v.class, v.value
LIMIT $most
