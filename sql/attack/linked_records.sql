-- name: attack/linked_records
-- Sum up how well records are linked with people: the records, those that one person fits, and how many links are right.
-- reads: classes (class, the labels, n), fits (target, class), tuples (target, the columns, people, known)
-- holes: $classes relation, $fits relation, $tuples relation
-- gives: records, fitting, one_person, right (expected, if one of the people is picked at random)
SELECT
  COALESCE(SUM(f.n), 0) AS records,
  COALESCE(SUM(CASE WHEN f.people > 0 THEN f.n ELSE 0 END), 0) AS fitting,
  COALESCE(SUM(CASE WHEN f.people = 1 THEN f.n ELSE 0 END), 0) AS one_person,
  COALESCE(SUM(CAST(LEAST(f.n, f.known) AS DOUBLE PRECISION) / NULLIF(f.people, 0)), 0) AS right
FROM (
  SELECT k.class, k.n, COALESCE(SUM(t.people), 0) AS people, COALESCE(SUM(t.known), 0) AS known
  FROM $classes AS k
  LEFT JOIN $fits AS x ON x.class = k.class
  LEFT JOIN $tuples AS t ON t.target = x.target
  GROUP BY k.class, k.n
) AS f
