-- Chance baseline of an attack: the released values dealt to the rows again at random.

-- name: values_in_order
-- Number the values of a column in their order, and count their rows.
-- columns: value (its number, from 1), raw (the value itself), key (never NULL), n, up_to (rows up to this value)
SELECT
  DENSE_RANK() OVER (ORDER BY $value) AS value,
  $value AS raw,
  COALESCE('=' || CAST($value AS TEXT), '') AS key,
  COUNT(*) AS n,
  CAST(SUM(COUNT(*)) OVER (ORDER BY $value) AS BIGINT) AS up_to
FROM $release AS r
GROUP BY $value;

-- name: values_of_classes
-- Count the rows of each class by the number of their value in one column.
SELECT c.class, o.value, c.n
FROM (SELECT r.class, $value AS raw, COUNT(*) AS n FROM $release AS r GROUP BY r.class, $value) AS c
JOIN $overall AS o ON $same;

-- name: held_values
-- List the distinct values of each person in each class; rows without a person are left out.
-- columns: row_id (of the first such row), class, the value, person
SELECT MIN(h.row_id) AS row_id, h.class, $value, h.person
FROM (SELECT r.row_id, r.class, $value, $unit AS person FROM $release AS r) AS h
WHERE h.person IS NOT NULL
GROUP BY h.class, $value, h.person;

-- name: values_of_people
-- List the people of every class by the number of their value.
SELECT h.class, o.value, h.person
FROM (SELECT h.class, $value AS raw, h.person FROM $held AS h) AS h
JOIN $overall AS o ON $same;

-- name: shares_of_people
-- Count the people who have each value.
-- columns: value (its number), n (people)
SELECT h.value, COUNT(DISTINCT h.person) AS n FROM $held AS h GROUP BY h.value;

-- name: class_count
-- Count the classes.
SELECT COUNT(DISTINCT c.class) AS classes FROM $counted AS c;

-- name: drawn_classes
-- Draw whole classes, until they have so many rows and are so many, or all are drawn, by the smallest hash of their number and a seed.
-- columns: class, the labels, n (rows)
SELECT k.class, $labels, k.n
FROM (
  SELECT
    k.class,
    $labels,
    k.n,
    SUM(k.n) OVER (ORDER BY k.hash, k.class) - k.n AS before,
    ROW_NUMBER() OVER (ORDER BY k.hash, k.class) AS place
  FROM (SELECT k.class, $labels, k.n, MD5(CAST(k.class AS TEXT) || $seed) AS hash FROM $classes AS k) AS k
) AS k
WHERE k.before < $rows OR k.place <= $number;

-- name: places
-- Number the rows of classes class by class, and assign every row a turn in a random order.
-- columns: class, value (its number), place (from 1, class by class), turn (from 0), the person if asked for
SELECT
  r.class,
  o.value,
  ROW_NUMBER() OVER (ORDER BY r.class, r.row_id) AS place,
  ROW_NUMBER() OVER (ORDER BY MD5(CAST(r.row_id AS TEXT) || $seed), r.row_id) - 1 AS turn,
  $person
FROM (SELECT r.row_id, r.class, $value AS raw, $person FROM $release AS r) AS r
JOIN (SELECT k.class FROM $classes AS k) AS k ON k.class = r.class
JOIN $overall AS o ON $same;

-- name: turns
-- Assign as many turns as there are places to values of the whole release, by their shares, in a random order.
-- columns: value (its number), turn (from 0)
-- engines: duckdb
SELECT o.value, ROW_NUMBER() OVER (ORDER BY MD5(CAST(i.number AS TEXT) || $seed), i.number) - 1 AS turn
FROM (SELECT UNNEST(RANGE($places)) AS number) AS i
JOIN $overall AS o
  ON FLOOR(i.number * $total / $places) >= o.up_to - o.n AND FLOOR(i.number * $total / $places) < o.up_to;

-- name: dealt_values
-- Count the rows of each class by the values dealt to them: place p gets the value of turn (p * stride + shift) mod rows.
SELECT p.class, t.value, COUNT(*) AS n
FROM $places AS p
JOIN $turns AS t ON t.turn = (p.place * $stride + $shift) % $rows
GROUP BY p.class, t.value;

-- name: dealt_people
-- List the people of every class with the values dealt to them: place p gets the value of turn (p * stride + shift) mod rows.
SELECT p.class, t.value, p.person
FROM $places AS p
JOIN $turns AS t ON t.turn = (p.place * $stride + $shift) % $rows;

-- name: dealt_to
-- Count the rows and the people to whom values are dealt.
SELECT COUNT(*) AS rows, COUNT(DISTINCT $person) AS people FROM $places AS p;
