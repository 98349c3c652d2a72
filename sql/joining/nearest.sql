-- name: joining/nearest
-- Find for every unsafe class the classes whose examples are nearest, by the steps up the hierarchies until they are equal.
-- reads: unsafe (class), examples (class, one integer column per attribute and level)
-- holes: $unsafe relation, $examples relation, $between steps, $most value
-- gives: pair (from 1), class, target, place (from 0, the nearest first)
-- engines: duckdb
SELECT ROW_NUMBER() OVER (ORDER BY class, place) AS pair, class, target, place
FROM (
  SELECT class, UNNEST(targets) AS target, UNNEST(RANGE(LEN(targets))) AS place
  FROM (
    SELECT a.class AS class, ARG_MIN(b.class, ROW($between, b.class), $most) AS targets
    FROM $unsafe AS u
    INNER JOIN $examples AS a ON a.class = u.class
    INNER JOIN $examples AS b ON b.class <> a.class
    GROUP BY a.class
  ) AS nearest
) AS pairs
