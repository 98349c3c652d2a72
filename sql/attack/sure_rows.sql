-- name: attack/sure_rows
-- Find the rows of a release that can only be one row of the source, which can be no other.
-- reads: people (row_id, target, value), fits (target, class), shapes (class, value, row_id, n)
-- holes: $people relation, $fits relation, $shapes relation
-- gives: shown (the row of the release), class, place (the row of the source)
SELECT matched.row_id AS shown, matched.class, matched.place
FROM (
  SELECT
    s.row_id, s.class, p.row_id AS place, s.n,
    COUNT(*) OVER (PARTITION BY p.row_id) AS shapes,
    COUNT(*) OVER (PARTITION BY s.row_id) AS people
  FROM $people AS p
  JOIN $fits AS f ON f.target = p.target
  JOIN $shapes AS s ON s.class = f.class AND s.value = p.value
) AS matched
WHERE matched.n = 1 AND matched.shapes = 1 AND matched.people = 1
