-- Several known rows of a person: how many people have rows in all classes that they are in.

-- name: people_with_rows
-- Count the people with at least two rows, and with at least three.
SELECT
  COALESCE(SUM(CASE WHEN v.n >= 2 THEN 1 ELSE 0 END), 0) AS two,
  COALESCE(SUM(CASE WHEN v.n >= 3 THEN 1 ELSE 0 END), 0) AS three
FROM $people AS v
WHERE NOT v.value IS NULL;

-- name: chosen
-- Choose people with two rows, and people with more, by their digests: a random order that is the same in every run.
-- columns: unit, rows, person (1, 2, …)
SELECT
  chosen.unit,
  chosen.rows,
  CAST(ROW_NUMBER() OVER (ORDER BY chosen.digest, chosen.value) AS INTEGER) AS person
FROM (
  SELECT two.unit, two.rows, two.value, two.digest
  FROM (
    SELECT v.code_0 AS unit, v.n AS rows, v.value, MD5(CAST(v.value AS TEXT)) AS digest
    FROM $people AS v
    WHERE v.n = 2 AND NOT v.value IS NULL
    ORDER BY digest, v.value
    LIMIT $most
  ) AS two
  UNION ALL
  SELECT more.unit, more.rows, more.value, more.digest
  FROM (
    SELECT v.code_0 AS unit, v.n AS rows, v.value, MD5(CAST(v.value AS TEXT)) AS digest
    FROM $people AS v
    WHERE v.n > 2 AND NOT v.value IS NULL
    ORDER BY digest, v.value
    LIMIT $most
  ) AS more
) AS chosen;

-- name: classes
-- Number the classes of the chosen people in the order of their values.
-- engines: duckdb
SELECT $names, CAST(ROW_NUMBER() OVER (ORDER BY $names) AS INTEGER) AS class
FROM (SELECT DISTINCT $names FROM $cells AS c WHERE c._unit IN (SELECT k.unit FROM $chosen AS k)) AS found;

-- name: memberships
-- Count the rows of every person in these classes, up to three.
-- columns: class, unit, n (rows, at most 3)
-- engines: duckdb
SELECT found.class, cells._unit AS unit, CAST(LEAST(SUM(cells.n), 3) AS INTEGER) AS n
FROM $cells AS cells
JOIN $classes AS found ON $same
WHERE NOT cells._unit IS NULL
GROUP BY found.class, cells._unit;

-- name: slots
-- Number the first, second and third row of a person in every class, those that fewest people have first; a person has a second row in a class or not, whichever row it is.
-- columns: slot, class, nth (row of a person in the class), people (who have it), members (people of the class)
-- engines: duckdb
SELECT
  ROW_NUMBER() OVER (ORDER BY counted.people, counted.class, counted.nth) AS slot,
  counted.class,
  counted.nth,
  counted.people,
  MAX(counted.people) OVER (PARTITION BY counted.class) AS members
FROM (
  SELECT m.class, places.nth, COUNT(*) AS people
  FROM $memberships AS m
  JOIN (SELECT 1 AS nth UNION ALL SELECT 2 AS nth UNION ALL SELECT 3 AS nth) AS places ON places.nth <= m.n
  GROUP BY m.class, places.nth
) AS counted;

-- name: slots_of_people
-- List the slots of every person.
-- engines: duckdb
SELECT m.unit, s.slot, s.class, s.nth, s.members
FROM $memberships AS m
JOIN $slots AS s ON s.class = m.class AND s.nth <= m.n;

-- name: targets
-- Of the chosen people with enough rows, list the slots in the smallest classes.
-- columns: person, slot, class, nth, partly (1 if the person has more slots, otherwise 0)
-- engines: duckdb
SELECT
  ranked.person, ranked.slot, ranked.class, ranked.nth, CASE WHEN ranked.slots > $most_slots THEN 1 ELSE 0 END AS partly
FROM (
  SELECT
    able.person,
    k.slot,
    k.class,
    k.nth,
    COUNT(*) OVER (PARTITION BY k.unit) AS slots,
    ROW_NUMBER() OVER (PARTITION BY k.unit ORDER BY k.members, k.class, k.nth) AS place
  FROM $slots_of_people AS k
  JOIN (
    SELECT c.unit, c.person
    FROM $chosen AS c
    WHERE c.rows >= $rows
    ORDER BY c.person
    LIMIT $most_people
  ) AS able ON able.unit = k.unit
) AS ranked
WHERE ranked.place <= $most_slots;

-- name: pairs
-- List the pairs of slots of two rows of a target: a second row in a class only together with the first.
-- columns: person, a and b (slots, a that of fewer people)
-- engines: duckdb
SELECT x.person, x.slot AS a, y.slot AS b
FROM $targets AS x
JOIN $targets AS y ON y.person = x.person AND y.slot > x.slot
WHERE
  (x.nth = 1 OR (y.class = x.class AND y.nth = x.nth - 1))
  AND (y.nth = 1 OR (x.class = y.class AND x.nth = y.nth - 1));

-- name: triples
-- List the triples of slots of three rows of a target: a second row in a class only together with the first.
-- columns: person, a, b and c (slots, a that of fewest people)
-- engines: duckdb
SELECT x.person, x.slot AS a, y.slot AS b, z.slot AS c
FROM $targets AS x
JOIN $targets AS y ON y.person = x.person AND y.slot > x.slot
JOIN $targets AS z ON z.person = x.person AND z.slot > y.slot
WHERE
  (x.nth = 1 OR (y.class = x.class AND y.nth = x.nth - 1) OR (z.class = x.class AND z.nth = x.nth - 1))
  AND (y.nth = 1 OR (x.class = y.class AND x.nth = y.nth - 1) OR (z.class = y.class AND z.nth = y.nth - 1))
  AND (z.nth = 1 OR (x.class = z.class AND x.nth = z.nth - 1) OR (y.class = z.class AND y.nth = z.nth - 1));

-- name: costs
-- List the different sets of slots with their first person, and the people that are read to count all sets up to this person.
-- columns: the slots, person, work (people)
-- engines: duckdb
SELECT $names, firsts.person, SUM(s.people) OVER (ORDER BY firsts.person) AS work
FROM (SELECT $names, MIN(k.person) AS person FROM $combined AS k GROUP BY $names) AS firsts
JOIN $slots AS s ON s.slot = firsts.a;

-- name: first_too_far
-- Find the first person whose sets of slots are too much work; NULL if all are affordable.
-- engines: duckdb
SELECT MIN(k.person) AS person FROM $costs AS k WHERE k.work > $most_work;

-- name: candidates_of_pairs
-- Count the people who have both slots, for the pairs of the people before a given one.
-- columns: a, b, people
-- engines: duckdb
SELECT k.a, k.b, COUNT(*) AS people
FROM $costs AS k
JOIN $slots_of_people AS x ON x.slot = k.a
JOIN $slots_of_people AS y ON y.slot = k.b AND y.unit = x.unit
WHERE k.person < $before
GROUP BY k.a, k.b;

-- name: candidates_of_triples
-- Count the people who have all three slots, for the triples of the people before a given one.
-- columns: a, b, c, people
-- engines: duckdb
SELECT k.a, k.b, k.c, COUNT(*) AS people
FROM $costs AS k
JOIN $slots_of_people AS x ON x.slot = k.a
JOIN $slots_of_people AS y ON y.slot = k.b AND y.unit = x.unit
JOIN $slots_of_people AS z ON z.slot = k.c AND z.unit = x.unit
WHERE k.person < $before
GROUP BY k.a, k.b, k.c;

-- name: worst
-- Count the people by the fewest people who have all slots of one of their sets.
-- columns: candidates, people
-- engines: duckdb
SELECT worst.candidates, COUNT(*) AS people
FROM (
  SELECT k.person, MIN(found.people) AS candidates
  FROM $combined AS k
  JOIN $candidates AS found ON $same
  WHERE k.person < $before
  GROUP BY k.person
) AS worst
GROUP BY worst.candidates
ORDER BY worst.candidates;

-- name: partly
-- Count the people before a given one who have more rows than were combined.
-- engines: duckdb
SELECT COUNT(DISTINCT t.person) AS people FROM $targets AS t WHERE t.partly = 1 AND t.person < $before;

-- name: repeated_values
-- Count the values of a column that two people have, and those that are in several rows of one person.
SELECT
  COALESCE(SUM(CASE WHEN v.first_person <> v.last_person THEN 1 ELSE 0 END), 0) AS shared,
  COALESCE(SUM(CASE WHEN v.first_person = v.last_person AND v.n > 1 THEN 1 ELSE 0 END), 0) AS repeated
FROM (
  SELECT MIN(cells._unit) AS first_person, MAX(cells._unit) AS last_person, COUNT(cells._unit) AS n
  FROM (SELECT $column AS value, CAST($unit AS TEXT) AS _unit FROM $source AS s) AS cells
  WHERE NOT cells.value IS NULL
  GROUP BY cells.value
) AS v;
