-- name: quality/level_errors
-- Say of each number how much farther from it, squared, the middle of its label is than the mean of the column.
-- reads: numbers (code_0, label = the code of its label, number; NULL for a leaf that is none)
-- holes: $numbers relation, $leaves value (of the whole column), $starred value (the label of values without a leaf; -1), $mean value
-- gives: weighed_code, weight (0 under a label of all leaves, as that of values without a leaf is, which shows the mean)
SELECT s.code_0 AS weighed_code, (s.number - s.shown) * (s.number - s.shown) - (s.number - $mean) * (s.number - $mean) AS weight
FROM (
  SELECT
    c.code_0, c.number,
    CASE
      WHEN COUNT(*) OVER (PARTITION BY c.label) = $leaves OR c.label = $starred THEN $mean
      ELSE (MIN(c.number) OVER (PARTITION BY c.label) + MAX(c.number) OVER (PARTITION BY c.label)) / 2
    END AS shown
  FROM $numbers AS c
) AS s
WHERE NOT s.number IS NULL
