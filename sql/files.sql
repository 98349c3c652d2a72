-- Reading files and the texts in them.

-- name: read_csv_as_text
-- Read a CSV file, or several by a glob, with every column as text, to be converted afterwards.
-- engines: duckdb
SELECT *
FROM READ_CSV(
  $path, header = TRUE, all_varchar = TRUE, union_by_name = TRUE, delim = $separator, comment = ''
);

-- name: read_csv
-- Read a CSV file, or several by a glob, as the source: all rows decide the types, so 02138 stays text, and a line that starts with # is a row.
-- engines: duckdb
SELECT * FROM READ_CSV($path, header = TRUE, sample_size = -1, union_by_name = TRUE, comment = '');

-- name: read_parquet
-- Read a Parquet file, or several by a glob, as the source.
-- engines: duckdb
SELECT * FROM READ_PARQUET($path, union_by_name = TRUE);

-- name: readable
-- Count the values of a column that can be parsed in one way, and find the first that cannot.
-- columns: filled, fitting, first_row (the first row, from 1, that cannot be parsed), all_equal (whether all values that cannot be parsed are equal)
-- engines: duckdb
SELECT
  COUNT(*) AS filled,
  COUNT(CASE WHEN v.fits THEN 1 END) AS fitting,
  MIN(CASE WHEN NOT v.fits THEN v.place END) AS first_row,
  MIN(CASE WHEN NOT v.fits THEN v.value END) = MAX(CASE WHEN NOT v.fits THEN v.value END) AS all_equal
FROM (
  SELECT l.value, l.place, COALESCE($fits, FALSE) AS fits
  FROM (SELECT $column AS value, ROW_NUMBER() OVER () AS place FROM $source AS s) AS l
  WHERE l.value IS NOT NULL AND NOT COALESCE($missing, FALSE)
) AS v;

-- name: some_values
-- Return a few values of a text column, to decide which formats are worth testing on all of them.
-- engines: duckdb
SELECT l.value
FROM (SELECT $column AS value FROM $source AS s) AS l
WHERE l.value IS NOT NULL
LIMIT $values;

-- name: digits
-- Measure the numbers of a text column: the most digits before the decimal mark and the most after it.
-- engines: duckdb
SELECT
  COALESCE(MAX(LENGTH(REGEXP_REPLACE(l.value, '[^0-9]', '', 'g')) - LENGTH(REGEXP_EXTRACT(l.value, $behind, 1))), 0)
  AS whole,
  COALESCE(MAX(LENGTH(REGEXP_EXTRACT(l.value, $behind, 1))), 0) AS fraction
FROM (SELECT $column AS value FROM $source AS s) AS l
WHERE l.value IS NOT NULL AND NOT COALESCE($missing, FALSE);

-- name: line_breaks
-- Count the line breaks inside a column's values above a row, which move the row further down its file than its number suggests.
-- engines: duckdb
SELECT COALESCE(SUM(LENGTH(l.value) - LENGTH(REPLACE(l.value, CHR(10), ''))), 0) AS line_breaks
FROM (SELECT $column AS value, ROW_NUMBER() OVER () AS place FROM $source AS s) AS l
WHERE l.place < $row;

-- name: read_written_csv
-- Read a written CSV file back as text, with NULL and the empty string kept distinct, to check what a reader will see.
-- engines: duckdb
SELECT *
FROM READ_CSV(
  $path, header = TRUE, all_varchar = TRUE, allow_quoted_nulls = FALSE,
  delim = $separator, quote = '"', escape = '"', comment = ''
);

-- name: apart_texts
-- Count how many of six texts, none of them bytewise equal, a column's collation distinguishes.
-- engines: duckdb, postgresql
SELECT COUNT(DISTINCT texts.text) AS different
FROM (
  SELECT $column AS text FROM $source AS s WHERE FALSE
  UNION ALL SELECT 'a' UNION ALL SELECT 'A' UNION ALL SELECT 'á' UNION ALL SELECT 'á'
  UNION ALL SELECT 'a ' UNION ALL SELECT 'a-'
) AS texts;
