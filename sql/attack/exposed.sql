-- name: attack/exposed
-- Count the rows that appeared and vanished between two releases, and those of them, or that stayed beside them, in groups of fewer than k.
-- reads: changes (part, value, before, after)
-- holes: $changes relation, $k value
-- gives: appeared, vanished, exposed, alone, stayed
SELECT
  COALESCE(SUM(c.appeared), 0) AS appeared,
  COALESCE(SUM(c.vanished), 0) AS vanished,
  COALESCE(SUM(
    CASE WHEN c.appeared < $k THEN c.appeared ELSE 0 END + CASE WHEN c.vanished < $k THEN c.vanished ELSE 0 END
  ), 0) AS exposed,
  COALESCE(SUM(
    CASE WHEN c.appeared = 1 THEN 1 ELSE 0 END + CASE WHEN c.vanished = 1 THEN 1 ELSE 0 END
  ), 0) AS alone,
  COALESCE(SUM(CASE WHEN c.stayed < $k AND c.appeared + c.vanished > 0 THEN c.stayed ELSE 0 END), 0) AS stayed
FROM (
  SELECT
    d.part,
    SUM(GREATEST(d.after - d.before, 0)) AS appeared,
    SUM(GREATEST(d.before - d.after, 0)) AS vanished,
    SUM(LEAST(d.before, d.after)) AS stayed
  FROM $changes AS d
  GROUP BY d.part
) AS c
