-- name: kaca/merges
-- Choose the merges that do not interfere: each is the first of all that touch its classes, or takes a stub after one.
-- reads: turns (turn, class, target, target_n, stub), firsts (class, turn: the first that touches it)
-- holes: $turns relation, $firsts relation, $k value
-- gives: class, target, low, high (the rows of the target that it takes: after low, up to high)
-- engines: duckdb
SELECT class, target, high - taken AS low, high
FROM (
  SELECT
    class,
    target,
    target_n,
    stub,
    CASE WHEN stub = 0 THEN target_n ELSE stub END AS taken,
    CAST(SUM(CASE WHEN stub = 0 THEN target_n ELSE stub END) OVER (PARTITION BY target ORDER BY turn) AS BIGINT) AS high
  FROM (
    SELECT e.turn, e.class, e.target, e.target_n, e.stub
    FROM $turns AS e
    JOIN $firsts AS own ON own.class = e.class AND own.turn = e.turn
    JOIN $firsts AS others ON others.class = e.target
    JOIN $turns AS leader ON leader.turn = others.turn
    WHERE leader.turn = e.turn OR (e.stub > 0 AND leader.stub > 0 AND leader.target = e.target)
  ) AS free
) AS lined_up
WHERE stub = 0 OR high <= target_n - $k
