-- The contents of columns that are released unchanged.

-- name: kept_figures
-- Count the values, and the distinct values, of a column that a release would keep unchanged.
-- columns: number (of the column), held (rows with a value), different (distinct values)
SELECT $number AS number, COALESCE(SUM(counted.n), 0) AS held, COUNT(*) AS different
FROM (
  SELECT cells.value, COUNT(*) AS n
  FROM (SELECT $column AS value FROM $source AS s) AS cells
  WHERE NOT cells.value IS NULL
  GROUP BY cells.value
) AS counted;

-- name: kept_texts
-- Count the texts of a column that a release would keep, and those that contain or look like an identifier.
-- columns: number (of the column), held (rows with a text), different (distinct texts), and the rows whose text contains: mails, phones, names (after a title), ibans, uuids, persons (identity numbers); or consists of: numbers (telephone numbers), networks (network addresses), nationals (identity numbers); long (rows whose text has at least $characters characters and $words words), once (long texts that occur in one row)
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
) AS counted;

-- name: kept_sample
-- Number the first rows of the source and sample them at a fixed interval; values that cannot be sorted are read as text.
SELECT numbered.row_id, $natives, CAST($texts AS TEXT)
FROM (
  SELECT ROW_NUMBER() OVER () AS row_id, $natives, $texts FROM (SELECT $columns FROM $source AS s LIMIT $most) AS first
) AS numbered
WHERE MOD(numbered.row_id, $stride) = 0;

-- name: kept_cells
-- Encode one column of the sample as codes and as ranks in the order of its values; NULL has no rank.
-- columns: number (of the column), row_id, code, place (the mean rank of equal values, plus 1/2)
SELECT
  $number AS number,
  cells.row_id,
  DENSE_RANK() OVER (ORDER BY cells.value) AS code,
  CASE
    WHEN NOT cells.value IS NULL
    THEN CAST(RANK() OVER (ORDER BY cells.value) AS DOUBLE PRECISION)
      + CAST(COUNT(*) OVER (PARTITION BY cells.value) AS DOUBLE PRECISION) / 2
  END AS place
FROM (SELECT s.row_id, $column AS value FROM $sampled AS s) AS cells;

-- name: kept_pairs
-- Guess a quasi-identifier by its most frequent value among rows with the same kept value, for kept values in two rows or more (Goodman and Kruskal's lambda).
-- columns: kept (the column's number), rows, guessed (rows guessed right), most (rows with the most frequent value overall)
SELECT
  repeated.kept,
  SUM(repeated.n) AS rows,
  SUM(CASE WHEN repeated.place = 1 THEN repeated.n ELSE 0 END) AS guessed,
  MAX(repeated.value_rows) AS most
FROM (
  SELECT ranked.kept, ranked.n, ranked.place, SUM(ranked.n) OVER (PARTITION BY ranked.kept, ranked.quasi) AS value_rows
  FROM (
    SELECT
      counted.kept,
      counted.quasi,
      counted.n,
      ROW_NUMBER() OVER (PARTITION BY counted.kept, counted.code ORDER BY counted.n DESC) AS place,
      SUM(counted.n) OVER (PARTITION BY counted.kept, counted.code) AS class_rows
    FROM (
      SELECT k.number AS kept, k.code AS code, q.code AS quasi, COUNT(*) AS n
      FROM $cells AS k
      JOIN $cells AS q ON k.row_id = q.row_id
      WHERE k.number < $kept AND q.number = $quasi
      GROUP BY k.number, k.code, q.code
    ) AS counted
  ) AS ranked
  WHERE ranked.class_rows >= 2
) AS repeated
GROUP BY repeated.kept;

-- name: kept_ranks
-- Correlate the ranks of every kept column with those of every quasi-identifier (Spearman's coefficient).
-- columns: kept, quasi (the columns' numbers), rows (with both values), correlation
SELECT k.number AS kept, q.number AS quasi, COUNT(*) AS rows, CORR(k.place, q.place) AS correlation
FROM $cells AS k
JOIN $cells AS q ON k.row_id = q.row_id
WHERE k.number < $kept AND q.number >= $kept AND NOT k.place IS NULL AND NOT q.place IS NULL
GROUP BY k.number, q.number;
