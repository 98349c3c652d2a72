-- Chance baseline of an attack: the released values dealt to the rows again at random.

-- name: shares_of_people
-- Count the people who have each value, by the value's number in attack_dealing/dealt_places.
-- gives: value, n (people)
SELECT p.value, COUNT(DISTINCT n.person) AS n FROM $places AS p JOIN $numbered AS n ON n.place = p.place GROUP BY p.value;

-- name: placed_people
-- List the people of every class with their values.
SELECT p.class, p.value, n.person FROM $places AS p JOIN $numbered AS n ON n.place = p.place;

-- name: dealt_people
-- List the people of every class with the values dealt to them: place p gets the value of turn (p * stride + shift) mod rows.
SELECT p.class, t.value, n.person
FROM $places AS p
JOIN $places AS t ON t.turn = (p.place * $stride + $shift) % $rows
JOIN $numbered AS n ON n.place = p.place;

-- name: values_of_places
-- Count the rows of each class by value.
SELECT p.class, p.value, COUNT(*) AS n FROM $places AS p GROUP BY p.class, p.value;

-- name: dealt_values
-- Count the rows of each class by the values dealt to them: place p gets the value of turn (p * stride + shift) mod rows.
SELECT p.class, t.value, COUNT(*) AS n
FROM $places AS p
JOIN $places AS t ON t.turn = (p.place * $stride + $shift) % $rows
GROUP BY p.class, t.value;

-- name: class_count
-- Count the classes of the numbered places.
SELECT MAX(p.class) AS classes FROM $places AS p;

-- name: held_values
-- List the distinct values of each person in each class; rows without a person are left out.
-- gives: row_id (of the first such row), the columns (labels and value), person
SELECT MIN(h.row_id) AS row_id, $columns, h.person
FROM (SELECT r.row_id, $columns, $unit AS person FROM $release AS r) AS h
WHERE h.person IS NOT NULL
GROUP BY $columns, h.person;

-- name: numbered_people
-- Find the person at every place, as numbered in attack_dealing/dealt_places.
SELECT ROW_NUMBER() OVER (ORDER BY $labels, h.row_id) AS place, h.person FROM $held AS h;

-- name: dealt_places
-- Number the rows of a release class by class, encode class and value as numbers, and assign every row a turn in a random order.
-- gives: class, value, place (from 1, class by class), turn (from 0)
SELECT
  DENSE_RANK() OVER (ORDER BY $labels) AS class,
  DENSE_RANK() OVER (ORDER BY $value) AS value,
  ROW_NUMBER() OVER (ORDER BY $labels, r.row_id) AS place,
  ROW_NUMBER() OVER (ORDER BY MD5(CAST(r.row_id AS TEXT) || $seed), r.row_id) - 1 AS turn
FROM $release AS r;

-- name: overall_values
-- Count the rows of each value in the whole release, and the cumulative rows; values are numbered as in attack_dealing/dealt_places.
-- gives: value (its number, in sort order), raw (the value itself), n, up_to (rows up to this value)
SELECT
  DENSE_RANK() OVER (ORDER BY $value) AS value,
  $value AS raw,
  COUNT(*) AS n,
  CAST(SUM(COUNT(*)) OVER (ORDER BY $value) AS BIGINT) AS up_to
FROM $release AS r
GROUP BY $value;
