-- Keys of the tables of a database that declares none: which columns identify rows, and which refer to other tables.

-- name: figures
-- Count the values of a column that may be a key.
-- columns: number (of the column), filled (rows that are not NULL), different (values)
SELECT $number AS number, COUNT($column) AS filled, COUNT(DISTINCT $column) AS different FROM $source AS s;

-- name: missing
-- Count the values of a column that are not among the keys of another table.
-- columns: number (of the pair of columns), missing (values)
SELECT $number AS number, COUNT(*) AS missing
FROM (SELECT $column AS value FROM $source AS s GROUP BY $column) AS v
LEFT JOIN (SELECT $key AS value FROM $target AS t) AS keys ON keys.value = v.value
WHERE NOT v.value IS NULL AND keys.value IS NULL;

-- name: paths
-- Compare the two ways from the rows of a table to a person: directly, and by the row of another table.
-- columns: without_person (rows without any), contradicting (rows with two people)
SELECT
  COUNT(CASE WHEN r.person IS NULL AND r.parent IS NULL THEN 1 END) AS without_person,
  COUNT(CASE WHEN q.person <> r.person THEN 1 END) AS contradicting
FROM (SELECT $person AS person, $parent AS parent FROM $source AS s) AS r
LEFT JOIN (SELECT $key AS row_key, $of AS person FROM $parents AS p) AS q ON q.row_key = r.parent;

-- name: people
-- Count the people by the value of a column of a table whose rows belong to those of another table.
-- columns: value, n (people)
SELECT r.value, COUNT(DISTINCT q.person) AS n
FROM (SELECT $column AS value, $parent AS parent FROM $source AS s) AS r
JOIN (SELECT $key AS row_key, $of AS person FROM $parents AS p) AS q ON q.row_key = r.parent
GROUP BY r.value;

-- name: owners
-- List the keys of the rows of a table whose rows belong to those of another table, with their people.
-- columns: row_key, person
SELECT r.row_key, q.person
FROM (SELECT $key AS row_key, $parent AS parent FROM $source AS s) AS r
JOIN (SELECT $above AS row_key, $of AS person FROM $parents AS p) AS q ON q.row_key = r.parent;

-- name: ancestors
-- List the parents of concepts and of their ancestors in a vocabulary of OMOP, in which every concept is its own ancestor.
-- columns: child, parent, below (how many of the concepts are below the parent)
SELECT a.descendant_concept_id AS child, a.ancestor_concept_id AS parent, parents.below
FROM $vocabulary AS a
JOIN (
  SELECT b.ancestor_concept_id AS concept, COUNT(DISTINCT b.descendant_concept_id) AS below
  FROM $vocabulary AS b JOIN $concepts AS c ON c.concept_id = b.descendant_concept_id
  GROUP BY b.ancestor_concept_id
) AS parents ON parents.concept = a.ancestor_concept_id
JOIN (
  SELECT DISTINCT d.ancestor_concept_id AS concept
  FROM $vocabulary AS d JOIN $concepts AS e ON e.concept_id = d.descendant_concept_id
) AS children ON children.concept = a.descendant_concept_id
WHERE a.min_levels_of_separation = 1;
