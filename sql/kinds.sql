-- Kinds of classes: classes with the same rows (or people) per sensitive value are evaluated once for all of them.

-- name: cells
-- Count the rows of every class with each sensitive value, and of each person, in the only scan of a relation.
-- columns: the columns, n (rows)
SELECT $columns, COUNT(*) AS n FROM $relation AS r GROUP BY $columns;

-- name: rows
-- Count the rows of a relation before its cells, since these must have as many.
SELECT COUNT(*) AS rows FROM $relation AS r;

-- name: first_cells
-- Count the different cells in the first rows of a relation, to guess whether nearly all rows differ.
-- columns: different (cells), rows (at most $most)
SELECT COUNT(*) AS different, COALESCE(SUM(cells.n), 0) AS rows
FROM (SELECT COUNT(*) AS n FROM (SELECT $columns FROM $relation AS r LIMIT $most) AS f GROUP BY $columns) AS cells;

-- name: numbered_cells
-- Count the same cells, with a number of the class instead of its columns: one sort is enough for both.
-- columns: _class (1, 2, …), the columns, n (rows)
SELECT CAST(DENSE_RANK() OVER (ORDER BY $names) AS INTEGER) AS _class, $columns, COUNT(*) AS n
FROM $relation AS r
GROUP BY $names, $columns;

-- name: class_sizes
-- Count the classes of each size.
-- columns: size (rows in a class), rows (the same), classes (of this size)
SELECT classes.n AS size, classes.n AS rows, COUNT(*) AS classes
FROM $classes AS classes
GROUP BY classes.n;

-- name: people_of_classes
-- Count the people and the rows of every class; rows of an unknown person count as one person only where it says so.
-- columns: the columns of the classes, n (people), _rows, _with_unknown (people)
SELECT
  $names,
  CAST(COUNT(pairs._unit) AS BIGINT) AS n,
  CAST(SUM(pairs.n) AS BIGINT) AS _rows,
  CAST(COUNT(*) AS BIGINT) AS _with_unknown
FROM $pairs AS pairs
GROUP BY $names;

-- name: class_sizes_of_people
-- Count the classes of each size in people, and of each number of rows.
-- columns: size (people in a class), rows (in a class), classes (of this size and number of rows)
SELECT classes.n AS size, classes._rows AS rows, COUNT(*) AS classes
FROM $classes AS classes
GROUP BY classes.n, classes._rows;

-- name: people_by_class
-- Count the people by the size of the smallest class that each is in, so that everybody counts once.
-- columns: size (people in the class), people
SELECT least.size, COUNT(*) AS people
FROM (
  SELECT MIN(COALESCE(larger._with_unknown, 1)) AS size
  FROM $pairs AS pairs
  LEFT JOIN (SELECT $names, c._with_unknown FROM $classes AS c WHERE c._with_unknown > 1) AS larger ON $same
  GROUP BY pairs._unit
) AS least
GROUP BY least.size
ORDER BY size;

-- name: people_of_values
-- Count the people and the rows of every class with each sensitive value.
-- columns: the columns of the classes, the value, n (people), _rows
SELECT $names, $value, CAST(COUNT(cells._unit) AS BIGINT) AS n, CAST(SUM(cells.n) AS BIGINT) AS _rows
FROM $cells AS cells
GROUP BY $names, $value;

-- name: several
-- Number the classes with several sensitive values, in order, so that an engine that queries this again numbers them in the same way.
-- columns: the columns of the classes, _kind (1, 2, …), _size (the rows, or people, of all values)
SELECT $names, ROW_NUMBER() OVER (ORDER BY $names) AS _kind, CAST(SUM(valued.n) AS BIGINT) AS _size
FROM $valued AS valued
GROUP BY $names
HAVING COUNT(*) > 1;

-- name: counted_classes
-- Count the rows and the cells of every class.
-- columns: the columns of the classes, n (rows), _cells
SELECT $names, CAST(SUM(cells.n) AS BIGINT) AS n, COUNT(*) AS _cells FROM $cells AS cells GROUP BY $names;

-- name: several_cells
-- Number the classes with several cells, in order: of these classes, every cell is another value.
-- columns: the columns of the classes, _kind (1, 2, …), _size (the rows of all values)
SELECT $names, ROW_NUMBER() OVER (ORDER BY $names) AS _kind, classes.n AS _size
FROM $classes AS classes
WHERE classes._cells > 1;

-- name: of_rows
-- Merge the classes with the same single value and the same rows; the classes with several values do not change.
-- columns: _kind, the value, n (rows of the value in a class), _rows (the same), _size (rows of a class), _weight (classes of this kind)
SELECT several._kind, $value, valued.n, valued.n AS _rows, several._size, CAST(1 AS BIGINT) AS _weight
FROM $valued AS valued INNER JOIN $several AS several ON $same
UNION ALL
SELECT -ROW_NUMBER() OVER () AS _kind, $value, alone.n, alone.n AS _rows, alone.n AS _size, alone._weight
FROM (
  SELECT $value, valued.n, COUNT(*) AS _weight
  FROM $valued AS valued LEFT JOIN $several AS several ON $same
  WHERE several._kind IS NULL
  GROUP BY $value, valued.n
) AS alone;

-- name: people_of_several
-- Count the people of the classes with several sensitive values.
-- columns: _kind, _people
SELECT pairs._kind, COUNT(pairs._unit) AS _people
FROM (
  SELECT DISTINCT several._kind, cells._unit
  FROM $cells AS cells INNER JOIN $several AS several ON $same
) AS pairs
GROUP BY pairs._kind;

-- name: of_people
-- Merge the classes with the same single value, people and rows; the classes with several values do not change.
-- columns: _kind, the value, n (people with the value in a class), _rows, _size (n of all values of a class), _people (of a class), _weight (classes of this kind)
SELECT
  several._kind, $value, valued.n, valued._rows, several._size, people._people, CAST(1 AS BIGINT) AS _weight
FROM $valued AS valued
INNER JOIN $several AS several ON $same
INNER JOIN $people AS people ON people._kind = several._kind
UNION ALL
SELECT
  -ROW_NUMBER() OVER () AS _kind, $value, alone.n, alone._rows, alone.n AS _size, alone.n AS _people, alone._weight
FROM (
  SELECT $value, valued.n, valued._rows, COUNT(*) AS _weight
  FROM $valued AS valued LEFT JOIN $several AS several ON $same
  WHERE several._kind IS NULL
  GROUP BY $value, valued.n, valued._rows
) AS alone;

-- name: homogeneous
-- Count the classes with a single sensitive value, their rows, and all rows with the most frequent value of their class.
SELECT
  COALESCE(SUM(CASE WHEN kinds._most = kinds._members THEN kinds._weight ELSE 0 END), 0) AS classes,
  COALESCE(SUM(CASE WHEN kinds._most = kinds._members THEN kinds._rows * kinds._weight ELSE 0 END), 0) AS rows,
  COALESCE(SUM(kinds._most_rows * kinds._weight), 0) AS frequent
FROM (
  SELECT
    MAX(k.n) AS _most, $members AS _members, MAX(k._rows) AS _most_rows, SUM(k._rows) AS _rows, MAX(k._weight) AS _weight
  FROM $kinds AS k
  GROUP BY k._kind
) AS kinds;

-- name: homogeneous_classes
-- Count the same figures from the cells, if no model needs the kinds of classes.
SELECT
  COALESCE(SUM(CASE WHEN classes.different = 1 THEN 1 ELSE 0 END), 0) AS classes,
  COALESCE(SUM(CASE WHEN classes.different = 1 THEN classes.n ELSE 0 END), 0) AS rows,
  COALESCE(SUM(classes.most), 0) AS frequent
FROM (SELECT COUNT(*) AS different, SUM(c.n) AS n, MAX(c.n) AS most FROM $cells AS c GROUP BY $names) AS classes;

-- name: homogeneous_people
-- Count the people in classes where all people share a sensitive value.
SELECT COUNT(DISTINCT cells._unit) AS people
FROM $cells AS cells
LEFT JOIN (
  SELECT $names, several._kind
  FROM $several AS several
  INNER JOIN (SELECT k._kind FROM $kinds AS k GROUP BY k._kind HAVING MAX(k.n) < MAX(k._people)) AS mixed
    ON mixed._kind = several._kind
) AS mixed ON $same
WHERE mixed._kind IS NULL;

-- name: complete
-- Count the coded cells, their rows, and the codes in each column, to find values that were lost.
-- columns: cells, rows, the number of codes by column
SELECT COUNT(*) AS cells, COALESCE(SUM(c.n), 0) AS rows, COUNT($columns) FROM $coded AS c;

-- name: coded_reference
-- Replace the values of a reference by the codes of a relation; values that the relation lacks get other codes.
-- columns: value (the code), and the figures as in the reference
SELECT CASE WHEN r.value IS NULL THEN 0 ELSE COALESCE(codes.code_0, -r.place) END AS value, $figures
FROM $reference AS r LEFT JOIN $codes AS codes ON codes.value = r.value;
