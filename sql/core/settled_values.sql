-- name: core/settled_values
-- Count the values that a column can hold, the different ones among them, and those that print as they were written.
-- reads: values (row, value, text; NULL apart)
-- holes: $values relation
-- gives: held, different, same
SELECT
  (SELECT COUNT(*) FROM $values AS v WHERE v.value IS NOT NULL) AS held,
  (SELECT COUNT(*) FROM (SELECT v.value FROM $values AS v WHERE v.value IS NOT NULL GROUP BY v.value) AS g) AS different,
  (SELECT COUNT(*) FROM $values AS v WHERE CAST(v.value AS TEXT) = v.text) AS same
