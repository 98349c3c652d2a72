-- name: pipeline/copy
-- Read the parts of the copy of a release, the first one first.
-- reads: copies (target, sha256, part, content)
-- holes: $copies relation, $target value, $sha256 value
-- gives: content
SELECT c.content FROM $copies AS c WHERE c.target = $target AND c.sha256 = $sha256 ORDER BY c.part
