-- name: quality/checksum
-- Fold who is in a class with whom, and for how many values each cell stands, into one text, whatever the classes' numbers.
-- reads: cells (the codes of the tuple's values, n = rows, class, and per attribute the leaves that its cell may stand for)
-- holes: $cells relation, $keys columns, $leaves columns
-- gives: checksum (NULL where nothing is released)
SELECT MD5(STRING_AGG(lines.line, ';' ORDER BY lines.line)) AS checksum
FROM (
  SELECT MD5(named.name || ' ' || named.own || ' ' || CAST(named.n AS TEXT) || ' ' || named.leaves) AS line
  FROM (
    SELECT t.own, t.n, t.leaves, MIN(t.own) OVER (PARTITION BY t.class) AS name
    FROM (
      SELECT ARRAY_TO_STRING([$keys], ',') AS own, ARRAY_TO_STRING([$leaves], ',') AS leaves, c.class, CAST(SUM(c.n) AS BIGINT) AS n
      FROM $cells AS c GROUP BY $keys, $leaves, c.class
    ) AS t
  ) AS named
) AS lines
