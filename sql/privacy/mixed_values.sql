-- name: privacy/mixed_values
-- Count the values that were one and are several as written, those that were several and are one, and escaped formulas.
-- reads: written (one row per way to write a value; code = equal for equal values)
-- holes: $written relation
-- gives: parted, joined, escaped (with a ' before what starts a formula)
SELECT
  (SELECT COUNT(*) FROM (SELECT w.code FROM $written AS w GROUP BY w.code HAVING COUNT(DISTINCT w.value) > 1) AS p) AS parted,
  (SELECT COUNT(*) FROM (SELECT w.value FROM $written AS w GROUP BY w.value HAVING COUNT(DISTINCT w.code) > 1) AS j) AS joined,
  (SELECT COUNT(*) FROM $written AS w WHERE REGEXP_MATCHES(CAST(w.value AS TEXT), '^''+[=@+\t\r\n＝＠＋－-]')) AS escaped
