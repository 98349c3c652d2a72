-- name: refine/leaders
-- Find the best of all moves that touch a class, out of it or into it.
-- reads: light (id, class, target, gain, light_out, light_in)
-- holes: $light relation
-- gives: class, id (the tuple that moves), light (1 where the class costs as much per row as before; else 0)
SELECT e.class, e.id, e.light
FROM (
  SELECT t.class, t.id, t.light, ROW_NUMBER() OVER (PARTITION BY t.class ORDER BY t.gain DESC, t.id) AS place
  FROM (
    SELECT l.class, l.id, l.gain, l.light_out AS light FROM $light AS l
    UNION ALL
    SELECT l.target AS class, l.id, l.gain, l.light_in AS light FROM $light AS l
  ) AS t
) AS e
WHERE e.place = 1
