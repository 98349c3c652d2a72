-- name: pipeline/people
-- Show the rows of a release, and whose they are: by a checksum, which is the same in every release.
-- reads: shown (the columns, and the column that tells people apart)
-- holes: $shown relation, $columns columns, $unit columns
-- gives: the columns, the people's column (text)
SELECT $columns, MD5(CAST($unit AS TEXT)) FROM $shown AS s
