-- name: kaca/blocks
-- Gather the classes that are alike in some columns into blocks.
-- reads: classes (class, n, block, codes)
-- holes: $classes relation, $columns columns, $own steps
-- gives: block, classes, smallest (rows of its smallest class), distortion (of the columns alone), the columns
-- engines: duckdb
SELECT block, classes, smallest, CAST($own AS DOUBLE) AS distortion, $columns
FROM (SELECT block, COUNT(*) AS classes, MIN(n) AS smallest, $columns FROM $classes GROUP BY block, $columns) AS c
