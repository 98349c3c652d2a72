-- Attacks on a release of several tables with rows of people as background knowledge; released rows and background rows are numbered together.

-- name: fewest_sharing
-- Count, for every person, how many people share one of their combinations with them, at least.
-- columns: person, fewest (people)
SELECT s.person, MIN(sizes.people) AS fewest
FROM $sharing AS s
JOIN (SELECT t.combination, COUNT(*) AS people FROM $sharing AS t GROUP BY t.combination) AS sizes
  ON sizes.combination = s.combination
GROUP BY s.person;

-- name: people_at_risk
-- Count the people who share their rarest combination with no one, or with fewer than k people; and their risks.
-- columns: people, singled_out, below_k, highest (risk), mean (of the people's highest risks)
SELECT
  COUNT(*) AS people,
  COALESCE(SUM(CASE WHEN p.fewest = 1 THEN 1 ELSE 0 END), 0) AS singled_out,
  COALESCE(SUM(CASE WHEN p.fewest < $k THEN 1 ELSE 0 END), 0) AS below_k,
  1.0 / MIN(p.fewest) AS highest,
  AVG(1.0 / p.fewest) AS mean
FROM (SELECT f.person, MIN(f.fewest) AS fewest FROM $fewest AS f GROUP BY f.person) AS p;

-- name: released_only
-- List the people of the release, without those of the background knowledge.
-- columns: key, person, class, the codes of sensitive values
SELECT p.key, p.person, p.class, $codes FROM $people AS p WHERE NOT p.key LIKE 'source:%';

-- name: rows_of_released
-- List the rows of the people of the release.
-- columns: class, person, kind, what, number, the carried columns (visit, and the codes of sensitive values)
SELECT own.class, own.person, own.kind, own.what, own.number, $carried
FROM (SELECT r.class, r.person, r.kind, r.what, r.number, $carried FROM $rows AS r) AS own
JOIN (SELECT p.person AS released_person FROM $people AS p) AS released ON released.released_person = own.person;

-- name: targets
-- Draw people who are attacked, of those in the source.
-- columns: person, class
SELECT p.person, p.class FROM $people AS p
WHERE p.key LIKE 'source:%' ORDER BY MD5(CAST($seed AS VARCHAR) || p.key) LIMIT $most;

-- name: background_rows
-- Draw up to three rows of every person who is attacked as background knowledge.
-- columns: person, class, kind, what, the carried columns (visit, and the codes of sensitive values), place (from 1)
SELECT drawn.person, drawn.class, drawn.kind, drawn.what, $carried, drawn.place
FROM (
  SELECT
    t.person, t.class, r.kind, r.what, $carried,
    ROW_NUMBER() OVER (PARTITION BY t.person ORDER BY MD5(CAST($seed AS VARCHAR) || ':' || CAST(r.number AS VARCHAR))) AS place
  FROM $targets AS t JOIN $rows AS r ON r.person = t.person
) AS drawn
WHERE drawn.place <= 3;

-- name: matches_of_classes
-- Find the released people of the class of those who are attacked.
-- columns: target, candidate, number (-1)
SELECT t.person AS target, p.person AS candidate, -1 AS number
FROM $targets AS t JOIN $people AS p ON p.class = t.class;

-- name: matches_of_singles
-- Find the released people with a row like the background row.
-- columns: target, candidate, number (of the row)
SELECT k.person AS target, r.person AS candidate, r.number
FROM $background AS k JOIN $rows AS r ON r.class = k.class AND r.kind = k.kind AND r.what = k.what
WHERE k.place = 1;

-- name: matches_of_pairs
-- Find the released people with two rows like the background rows, which belong together in the same way.
-- columns: target, candidate, number (of the row like the first)
SELECT DISTINCT k.person AS target, r.person AS candidate, r.number
FROM $background AS k
JOIN $background AS l ON l.person = k.person AND l.place = 2
JOIN $rows AS r ON r.class = k.class AND r.kind = k.kind AND r.what = k.what
JOIN $rows AS s ON s.person = r.person AND s.number <> r.number AND s.kind = l.kind AND s.what = l.what
WHERE k.place = 1 AND $found = $known;

-- name: matches_of_triples
-- Find the released people with three rows like the background rows, which belong together in the same way.
-- columns: target, candidate, number (of the row like the first)
SELECT DISTINCT k.person AS target, r.person AS candidate, r.number
FROM $background AS k
JOIN $background AS l ON l.person = k.person AND l.place = 2
JOIN $background AS m ON m.person = k.person AND m.place = 3
JOIN $rows AS r ON r.class = k.class AND r.kind = k.kind AND r.what = k.what
JOIN $rows AS s ON s.person = r.person AND s.number <> r.number AND s.kind = l.kind AND s.what = l.what
JOIN $rows AS u ON u.person = r.person AND u.number <> r.number AND u.number <> s.number
  AND u.kind = m.kind AND u.what = m.what
WHERE k.place = 1 AND $found = $known;

-- name: guessed_people
-- Count the people for whom there are candidates, those with one, the fewest candidates, and the right guesses to expect.
-- columns: guessed, singled_out, fewest, expected
SELECT
  COUNT(*) AS guessed,
  COALESCE(SUM(CASE WHEN c.candidates = 1 THEN 1 ELSE 0 END), 0) AS singled_out,
  MIN(c.candidates) AS fewest,
  COALESCE(SUM(1.0 / c.candidates), 0) AS expected
FROM (SELECT m.target, COUNT(DISTINCT m.candidate) AS candidates FROM $matches AS m GROUP BY m.target) AS c;

-- name: people_with_rows
-- Count the people who are attacked and have so many background rows.
-- columns: people
SELECT COUNT(*) AS people FROM $background AS k WHERE k.place = $size;

-- name: guessed_values_of_people
-- Guess the most frequent sensitive value of the candidates, and the most frequent of all released people.
-- columns: people (with a guess), right, blind (right guesses without background knowledge)
SELECT
  COUNT(*) AS people,
  COALESCE(SUM(CASE WHEN truth.code = g.code THEN 1 ELSE 0 END), 0) AS right,
  COALESCE(SUM(CASE WHEN truth.code = frequent.code THEN 1 ELSE 0 END), 0) AS blind
FROM (
  SELECT n.target, n.code, ROW_NUMBER() OVER (PARTITION BY n.target ORDER BY n.people DESC, n.code) AS place
  FROM (
    SELECT m.target, v.code, COUNT(DISTINCT m.candidate) AS people
    FROM $matches AS m JOIN (SELECT p.person, $code AS code FROM $people AS p) AS v ON v.person = m.candidate
    GROUP BY m.target, v.code
  ) AS n
) AS g
JOIN (SELECT p.person, $code AS code FROM $all_people AS p) AS truth ON truth.person = g.target
CROSS JOIN (
  SELECT f.code, COUNT(*) AS people
  FROM (SELECT $code AS code FROM $people AS p) AS f GROUP BY f.code ORDER BY people DESC, f.code LIMIT 1
) AS frequent
WHERE g.place = 1;

-- name: guessed_values_of_rows
-- Guess the most frequent sensitive value of the rows like the background row, and the most frequent of all released rows.
-- columns: people (with a guess), right, blind (right guesses without background knowledge)
SELECT
  COUNT(*) AS people,
  COALESCE(SUM(CASE WHEN truth.code = g.code THEN 1 ELSE 0 END), 0) AS right,
  COALESCE(SUM(CASE WHEN truth.code = frequent.code THEN 1 ELSE 0 END), 0) AS blind
FROM (
  SELECT n.target, n.code, ROW_NUMBER() OVER (PARTITION BY n.target ORDER BY n.people DESC, n.code) AS place
  FROM (
    SELECT m.target, v.code, COUNT(DISTINCT m.candidate) AS people
    FROM $matches AS m JOIN (SELECT r.number, $code AS code FROM $rows AS r) AS v ON v.number = m.number
    WHERE NOT v.code IS NULL GROUP BY m.target, v.code
  ) AS n
) AS g
JOIN (SELECT k.person, k.place, $code AS code FROM $background AS k) AS truth
  ON truth.person = g.target AND truth.place = 1
CROSS JOIN (
  SELECT f.code, COUNT(*) AS rows
  FROM (SELECT $code AS code FROM $rows AS r) AS f
  WHERE NOT f.code IS NULL GROUP BY f.code ORDER BY rows DESC, f.code LIMIT 1
) AS frequent
WHERE g.place = 1;

-- name: labels_of_other_levels
-- Count the released labels of a column that a level does not have.
-- columns: missing
SELECT COUNT(*) AS missing
FROM (SELECT DISTINCT r.label FROM (SELECT $column AS label FROM $released AS t) AS r) AS shown
LEFT JOIN $labels AS l ON l.label = shown.label
WHERE l.label IS NULL AND NOT shown.label IS NULL;
