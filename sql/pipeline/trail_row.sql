-- name: pipeline/trail_row
-- Make a row of an audit trail.
-- reads: nothing
-- holes: $number value, $made_at value, $release value, $spec value, $node value, $findings value, $fingerprints value, $singled_out value, $manifest value, $previous value, $checksum value
-- gives: number, made_at, release, spec, node, findings, fingerprints, singled_out, manifest, previous, checksum
SELECT
  CAST($number AS BIGINT) AS number, CAST($made_at AS TEXT) AS made_at, CAST($release AS TEXT) AS release, CAST($spec AS TEXT) AS spec,
  CAST($node AS TEXT) AS node, CAST($findings AS TEXT) AS findings, CAST($fingerprints AS TEXT) AS fingerprints,
  CAST($singled_out AS BIGINT) AS singled_out, CAST($manifest AS TEXT) AS manifest, CAST($previous AS TEXT) AS previous,
  CAST($checksum AS TEXT) AS checksum
