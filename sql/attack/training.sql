-- name: attack/training
-- Take records to learn from: one of the same class and value for each target, as their own, and then a draw of others.
-- reads: release (a copy of a release), likeliest (target, class, value, place)
-- holes: $release relation, $labels columns, $value columns, $likeliest relation, $seed value, $most value
-- gives: class, value (a key), target (NULL: nobody's)
SELECT r.class, r.value, t.target
FROM (
  SELECT
    ranked.class,
    ranked.value,
    ranked.hash,
    ranked.row_id,
    ROW_NUMBER() OVER (PARTITION BY ranked.class, ranked.value ORDER BY ranked.hash, ranked.row_id) AS place
  FROM (
    SELECT
      s.row_id,
      DENSE_RANK() OVER (ORDER BY $labels) AS class,
      COALESCE('=' || CAST($value AS TEXT), '') AS value,
      MD5(CAST(s.row_id AS TEXT) || $seed) AS hash
    FROM $release AS s
  ) AS ranked
) AS r
LEFT JOIN $likeliest AS t ON t.class = r.class AND t.value = r.value AND t.place = r.place
ORDER BY CASE WHEN t.target IS NULL THEN 1 ELSE 0 END, r.hash, r.row_id
LIMIT $most
