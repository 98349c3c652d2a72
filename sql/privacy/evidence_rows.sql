-- name: privacy/evidence_rows
-- Number the rows of a table, also within their tuples, in the order in which a tuple is parted: by what is counted.
-- reads: source (the columns)
-- holes: $source relation, $columns columns, $values columns, $order columns
-- gives: the columns, number, place
SELECT
  $columns,
  ROW_NUMBER() OVER (ORDER BY $values, $order) AS number,
  ROW_NUMBER() OVER (PARTITION BY $values ORDER BY $order) AS place
FROM $source AS s
