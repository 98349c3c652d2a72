-- name: core/kept_texts
-- Count the texts of a column that have the format of an identifier, and say how long the texts are.
-- reads: sampled (row_id, columns of text)
-- holes: $number value, $column columns, $sampled relation
-- gives: number (of the column), held (texts), and of these: mails, phones, ibans, networks (addresses there), uuids, nationals (identity numbers); characters, words (means)
SELECT
  $number AS number,
  COUNT(cells.value) AS held,
  COUNT(*) FILTER (WHERE REGEXP_MATCHES(cells.value, '^[^@ ]+@[^@ ]+[.][A-Za-z]{2,}$')) AS mails,
  COUNT(*) FILTER (WHERE REGEXP_MATCHES(cells.value, '^([+][0-9][0-9 ().-]{6,18}[0-9]|[(]?[0-9]{3}[)]?[ .-][0-9]{3}[ .-][0-9]{4}|0[0-9]{1,4}[ /-][0-9]{5,9}|0[1-9][0-9]{8,9})$')) AS phones,
  COUNT(*) FILTER (WHERE REGEXP_MATCHES(cells.value, '^[A-Z]{2}[0-9]{2}( ?[A-Z0-9]){11,30}$')) AS ibans,
  COUNT(*) FILTER (WHERE REGEXP_MATCHES(cells.value, '^([0-9]{1,3}([.][0-9]{1,3}){3}|([0-9A-Fa-f]{0,4}:){4,7}[0-9A-Fa-f]{0,4}|[0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})*:{2}([0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})*)?)(/[0-9]{1,3})?$')) AS networks,
  COUNT(*) FILTER (WHERE REGEXP_MATCHES(cells.value, '^[{]?[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}[}]?$')) AS uuids,
  COUNT(*) FILTER (WHERE REGEXP_MATCHES(cells.value, '^([0-9]{3}-[0-9]{2}-[0-9]{4}|[A-Z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]|[0-9]{6}([0-9]{2})?[-+A][0-9]{3}[0-9A-Z]|[0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2}|756[.][0-9]{4}[.][0-9]{4}[.][0-9]{2}|[A-Z]{6}[0-9]{2}[A-Z][0-9]{2}[A-Z][0-9]{3}[A-Z]|[0-9]{8}-?[A-Z]|[0-9]{17}[0-9Xx])$')) AS nationals,
  AVG(CAST(LENGTH(cells.value) AS DOUBLE PRECISION)) AS characters,
  AVG(CAST(LENGTH(TRIM(cells.value)) - LENGTH(REPLACE(TRIM(cells.value), ' ', '')) + 1 AS DOUBLE PRECISION)) AS words
FROM (SELECT $column AS value FROM $sampled AS s) AS cells
