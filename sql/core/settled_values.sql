-- name: core/settled_values
-- Count the values that a column can hold, the different ones among them, and those that print as they were written.
-- reads: values (row, value, text; NULL apart)
-- holes: $values relation
-- gives: held, different, same
SELECT
  (SELECT COUNT(*) FROM $values WHERE value IS NOT NULL) AS held,
  (SELECT COUNT(*) FROM (SELECT value FROM $values WHERE value IS NOT NULL GROUP BY value) AS grouped) AS different,
  (SELECT COUNT(*) FROM $values WHERE CAST(value AS TEXT) = text) AS same
