-- What a pipeline stores about every run: copies, people and an audit trail.

-- name: trail
-- List the rows of an audit trail in order.
SELECT $columns FROM $trail AS t ORDER BY t.number;

-- name: trail_row
-- Create a row of an audit trail.
SELECT
  CAST($number AS BIGINT) AS number, CAST($made_at AS TEXT) AS made_at, CAST($release AS TEXT) AS release, CAST($spec AS TEXT) AS spec,
  CAST($node AS TEXT) AS node, CAST($findings AS TEXT) AS findings, CAST($fingerprints AS TEXT) AS fingerprints,
  CAST($singled_out AS BIGINT) AS singled_out, CAST($manifest AS TEXT) AS manifest, CAST($previous AS TEXT) AS previous,
  CAST($checksum AS TEXT) AS checksum;

-- name: people
-- Return the rows of a release with their people as keyed digests (NMAC, with a key that fills a block of MD5), which are equal in all releases with the same key.
-- columns: the columns, the people's column (text: the key's id and the digest)
SELECT
  $columns,
  (SELECT k.id FROM $key AS k) || '-' || MD5(
    (SELECT k.outer_key FROM $key AS k) || MD5((SELECT k.inner_key FROM $key AS k) || CAST($unit AS TEXT))
  )
FROM $shown AS s;

-- name: copy
-- Read the parts of a release's copy in order.
SELECT c.content FROM $copies AS c WHERE c.target = $target AND c.sha256 = $sha256 ORDER BY c.part;

-- name: people_keys
-- List the ids of the keys in the digests of a release's people, as returned by pipeline/people.
SELECT DISTINCT SUBSTRING(CAST($unit AS TEXT), 1, 9) AS id FROM $people AS p;

-- name: fingerprint
-- Compute one digest of all rows of a relation, independent of their order; NULL differs from every text, and duplicate rows all count.
-- columns: rows, digest (NULL if there are no rows)
SELECT COALESCE(SUM(parts.n), 0) AS rows, MD5(STRING_AGG(parts.digest, '' ORDER BY parts.part)) AS digest
FROM (
  SELECT
    SUBSTRING(lines.line, 1, 4) AS part, MD5(STRING_AGG(lines.line, '' ORDER BY lines.line)) AS digest, COUNT(*) AS n
  FROM (
    SELECT
      MD5(ARRAY_TO_STRING([COALESCE(LENGTH(CAST($columns AS TEXT)) || ':' || CAST($columns AS TEXT), '-')], ',')) AS line
    FROM $relation AS r
  ) AS lines
  GROUP BY SUBSTRING(lines.line, 1, 4)
) AS parts;
