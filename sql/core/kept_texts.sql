-- name: core/kept_texts
-- Count in all rows the texts of a column that a release would keep, and those that hold or are written like an identifier.
-- reads: source (the raw table, any shape)
-- holes: $number value, $column columns, $source relation, $characters value, $words value
-- gives: number (of the column), held (rows with a text), different (texts), and the rows of these: mails, phones, names (after a title), ibans, uuids, persons (identity numbers) inside a text; numbers (as of telephones), networks (addresses there), nationals (identity numbers) as the whole text; long (of so many characters and words), once (of those, the ones in one row)
SELECT
  $number AS number,
  COALESCE(SUM(counted.n), 0) AS held,
  COUNT(*) AS different,
  COALESCE(SUM(counted.n) FILTER (WHERE REGEXP_MATCHES(counted.value, '[^@ ]@([A-Za-z0-9-]+[.])+[A-Za-z]{2,}')), 0) AS mails,
  COALESCE(SUM(counted.n) FILTER (WHERE REGEXP_MATCHES(counted.value, '[+][0-9][0-9 ().-]{6,18}[0-9]|(^|[^0-9])[(]?[0-9]{3}[)]?[ .-][0-9]{3}[ .-][0-9]{4}([^0-9]|$)|(^|[^0-9])0[1-9][0-9]{0,3}[ /-]([0-9]{2,4} ?){3,5}([^0-9]|$)')), 0) AS phones,
  COALESCE(SUM(counted.n) FILTER (WHERE REGEXP_MATCHES(counted.value, '(^|[^A-Za-z])(Herrn?|Frau|Dr[.]( med[.])?|Prof[.]|Mr[.]?|Mrs[.]?|Ms[.]?|Miss|Mme|Monsieur|Madame|Signora?|Señora?) [A-ZÄÖÜÉ]')), 0) AS names,
  COALESCE(SUM(counted.n) FILTER (WHERE REGEXP_MATCHES(counted.value, '(^|[^A-Za-z0-9])[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){2} ?[A-Z0-9]{3}')), 0) AS ibans,
  COALESCE(SUM(counted.n) FILTER (WHERE REGEXP_MATCHES(counted.value, '[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}')), 0) AS uuids,
  COALESCE(SUM(counted.n) FILTER (WHERE REGEXP_MATCHES(counted.value, '(^|[^0-9])([0-9]{3}-[0-9]{2}-[0-9]{4}|756[.][0-9]{4}[.][0-9]{4}[.][0-9]{2}|[0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2})([^0-9]|$)')), 0) AS persons,
  COALESCE(SUM(counted.n) FILTER (WHERE REGEXP_MATCHES(counted.value, '^0([0-9]{1,4}[ /-][0-9]{5,9}|[1-9][0-9]{8,9})$')), 0) AS numbers,
  COALESCE(SUM(counted.n) FILTER (WHERE REGEXP_MATCHES(counted.value, '^([0-9]{1,3}([.][0-9]{1,3}){3}|([0-9A-Fa-f]{0,4}:){4,7}[0-9A-Fa-f]{0,4}|[0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})*:{2}([0-9A-Fa-f]{1,4}(:[0-9A-Fa-f]{1,4})*)?)(/[0-9]{1,3})?$')), 0) AS networks,
  COALESCE(SUM(counted.n) FILTER (WHERE REGEXP_MATCHES(counted.value, '^([A-Z]{2} ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]|[0-9]{6}([0-9]{2})?[-+A][0-9]{3}[0-9A-Z]|[A-Z]{6}[0-9]{2}[A-Z][0-9]{2}[A-Z][0-9]{3}[A-Z]|[0-9]{8}-?[A-Z]|[0-9]{17}[0-9Xx])$')), 0) AS nationals,
  COALESCE(SUM(counted.n) FILTER (WHERE counted.characters >= $characters AND counted.words >= $words), 0) AS long,
  COUNT(*) FILTER (WHERE counted.n = 1 AND counted.characters >= $characters AND counted.words >= $words) AS once
FROM (
  SELECT
    cells.value,
    COUNT(*) AS n,
    LENGTH(cells.value) AS characters,
    LENGTH(TRIM(cells.value)) - LENGTH(REPLACE(TRIM(cells.value), ' ', '')) + 1 AS words
  FROM (SELECT CAST($column AS TEXT) AS value FROM $source AS s) AS cells
  WHERE NOT cells.value IS NULL
  GROUP BY cells.value
) AS counted
