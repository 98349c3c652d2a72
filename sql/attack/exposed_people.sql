-- name: attack/exposed_people
-- Count the people who appeared and vanished between two releases, and those of them, or who stayed beside them, in groups of fewer than k.
-- reads: moves (part, person, came, went, stayed, appeared, vanished)
-- holes: $moves relation, $k value
-- gives: appeared, vanished, exposed, alone, stayed
SELECT
  COALESCE(SUM(c.came), 0) AS appeared,
  COALESCE(SUM(c.went), 0) AS vanished,
  COALESCE(SUM(
    CASE WHEN c.came_least < $k THEN c.came ELSE 0 END + CASE WHEN c.went_least < $k THEN c.went ELSE 0 END
  ), 0) AS exposed,
  COALESCE(SUM(
    CASE WHEN c.came_least = 1 THEN 1 ELSE 0 END + CASE WHEN c.went_least = 1 THEN 1 ELSE 0 END
  ), 0) AS alone,
  COALESCE(SUM(CASE WHEN c.stayed < $k AND c.came + c.went > 0 THEN c.stayed ELSE 0 END), 0) AS stayed
FROM (
  -- As few people as may be behind the rows that are seen to come: those with most of them.
  SELECT
    p.part,
    SUM(CASE WHEN p.appeared > 0 AND p.came > 0 THEN 1 ELSE 0 END) AS came,
    SUM(CASE WHEN p.vanished > 0 AND p.went > 0 THEN 1 ELSE 0 END) AS went,
    SUM(CASE WHEN p.stayed > 0 THEN 1 ELSE 0 END) AS stayed,
    SUM(CASE WHEN p.came > 0 AND p.came_to - p.came < p.appeared THEN 1 ELSE 0 END) AS came_least,
    SUM(CASE WHEN p.went > 0 AND p.went_to - p.went < p.vanished THEN 1 ELSE 0 END) AS went_least
  FROM (
    SELECT
      m.part,
      m.came,
      m.went,
      m.stayed,
      m.appeared,
      m.vanished,
      SUM(m.came) OVER (PARTITION BY m.part ORDER BY m.came DESC, m.person ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS came_to,
      SUM(m.went) OVER (PARTITION BY m.part ORDER BY m.went DESC, m.person ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS went_to
    FROM $moves AS m
  ) AS p
  GROUP BY p.part
) AS c
