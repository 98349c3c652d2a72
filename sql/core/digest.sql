-- name: core/digest
-- Tell one relation from another: its rows, and sums of digits of a hash of each of them, in whatever order they are.
-- reads: contents (content: a row as text)
-- holes: $contents relation
-- gives: rows, sum_1, sum_2, sum_3, sum_4
SELECT
  COUNT(*) AS rows,
  SUM(ASCII(SUBSTR(h.hashed, 1, 1)) + 128 * ASCII(SUBSTR(h.hashed, 2, 1)) + 16384 * ASCII(SUBSTR(h.hashed, 3, 1))) AS sum_1,
  SUM(ASCII(SUBSTR(h.hashed, 4, 1)) + 128 * ASCII(SUBSTR(h.hashed, 5, 1)) + 16384 * ASCII(SUBSTR(h.hashed, 6, 1))) AS sum_2,
  SUM(ASCII(SUBSTR(h.hashed, 7, 1)) + 128 * ASCII(SUBSTR(h.hashed, 8, 1)) + 16384 * ASCII(SUBSTR(h.hashed, 9, 1))) AS sum_3,
  SUM(ASCII(SUBSTR(h.hashed, 10, 1)) + 128 * ASCII(SUBSTR(h.hashed, 11, 1)) + 16384 * ASCII(SUBSTR(h.hashed, 12, 1))) AS sum_4
FROM (SELECT MD5(c.content) AS hashed FROM $contents AS c) AS h
