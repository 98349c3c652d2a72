-- name: minimality/marked
-- Mark the rows that have one value, and those of them in classes in which it is too frequent.
-- reads: rows (the rows of a release by plain names; row_id = text that no other row has)
-- holes: $rows relation, $names columns, $value columns, $asked value, $alpha value
-- gives: row_id, value, found (1 if the row has the value, else 0), unsafe (the value again where it is too frequent, else NULL)
SELECT
  counted.row_id,
  counted.value,
  counted.found,
  CASE WHEN counted.found = 1 AND counted.of_class > $alpha * counted.size THEN counted.value END AS unsafe
FROM (
  SELECT
    cells.row_id,
    cells.value,
    cells._found AS found,
    SUM(cells._found) OVER (PARTITION BY $names) AS of_class,
    COUNT(*) OVER (PARTITION BY $names) AS size
  FROM (
    SELECT
      $names,
      r.row_id,
      $value AS value,
      CASE WHEN CAST($value AS TEXT) = $asked THEN 1 ELSE 0 END AS _found
    FROM $rows AS r
  ) AS cells
) AS counted
