-- Mondrian: partitions are cut for as long as every part is safe (LeFevre, DeWitt and Ramakrishnan, 2006).
-- engines: duckdb

-- name: whole
-- Check whether all rows together meet the privacy model; if they do not, no class can.
SELECT COALESCE($safe, FALSE) AS safe FROM $frequency_set;

-- name: start
-- Put all tuples into one partition, or each into the partition that it belongs to.
-- columns: the level-0 columns, n, size (of the partition; NULL: not counted yet), class
SELECT $columns, n, CAST(NULL AS BIGINT) AS size, CAST($class AS BIGINT) AS class FROM $frequency_set;

-- name: deal_values_start
-- Put all tuples into one partition, number the rows of each in the order of its sensitive values, and set the order in which rows are dealt.
-- columns: the columns, n, first and last (positions from 1 among the tuple's rows), place (in the order of dealing), size (NULL: not counted yet), class (0)
SELECT
  $columns, n, until - n + 1 AS first, until AS last, place, CAST(NULL AS BIGINT) AS size, CAST(0 AS BIGINT) AS class
FROM (
  SELECT
    $columns, CAST(n AS BIGINT) AS n, ROW_NUMBER() OVER (ORDER BY $order) AS place,
    CAST(SUM(n) OVER (PARTITION BY $codes ORDER BY $values ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS BIGINT) AS until
  FROM $frequency_set
) AS counted;

-- name: deal_start
-- Put all tuples into one partition, and set the order in which rows are dealt.
-- columns: the level-0 columns, n, first (1) and last (n) of the tuple's rows, place (in the order of dealing), size (NULL: not counted yet), class (0)
SELECT
  $columns, n, CAST(1 AS BIGINT) AS first, CAST(n AS BIGINT) AS last, ROW_NUMBER() OVER (ORDER BY $order) AS place,
  CAST(NULL AS BIGINT) AS size, CAST(0 AS BIGINT) AS class
FROM $frequency_set;

-- name: merged_parts
-- Merge the parts of a tuple that follow each other in the same class.
SELECT $codes, CAST(SUM(n) AS BIGINT) AS n, MIN(first) AS first, MAX(last) AS last, class
FROM (
  SELECT
    $codes, n, first, last, class,
    -- the tuple's rows up to here that are in other classes: equal for parts that follow each other
    last - SUM(n) OVER (
      PARTITION BY $codes, class ORDER BY first ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS elsewhere
  FROM $assignment
) AS placed
GROUP BY $codes, class, elsewhere;

-- name: grown
-- Count the partitions that were cut in a round, and the new partitions.
SELECT COUNT(DISTINCT class) AS cut, COUNT(DISTINCT next_class) AS parts FROM $moves;

-- name: closed
-- Return the tuples of the partitions that no attribute can cut: they become classes.
SELECT $columns FROM $open AS o WHERE NOT EXISTS (SELECT 1 AS cut FROM $chosen AS h WHERE h.class = o.class);

-- name: progress
-- Count the completed rounds, the classes that partitions became in them, and the open partitions.
-- columns: completed (rounds), classes, open_ones
SELECT
  MAX(round) AS completed, COUNT(DISTINCT class) FILTER (WHERE NOT is_open) AS classes,
  COUNT(DISTINCT class) FILTER (WHERE is_open) AS open_ones
FROM $rounds;

-- name: halves
-- Find, for every partition and ordered attribute, the median, and how many of the rows equal to it go to the left half.
-- columns: class, attribute, allowed, split (the median's position), dealt (its rows on the left), kept (its rows on the right), below, above (rows on the left and on the right), width (weighted, normalized range of the numbers), gain (loss saved over all rows)
SELECT
  class, attribute, BOOL_AND(safe) AS allowed, MIN(split) AS split, MIN(dealt) AS dealt, MIN(kept) AS kept,
  MIN(half) AS below, MIN(total - half) AS above, MIN(width) AS width, MIN(gain) AS gain
FROM (
  SELECT
    class, attribute, COALESCE($safe, FALSE) AS safe, MIN(split) AS split, MIN(dealt) AS dealt, MIN(kept) AS kept,
    MIN(half) AS half, MIN(total) AS total, MIN(width) AS width, MIN(gain) AS gain
  FROM (
    SELECT
      class, attribute, side, CASE WHEN side = 0 THEN half ELSE total - half END AS n, position AS split, half, total,
      half - below + n AS dealt, below - half AS kept,
      weight * LEAST(1, (highest - lowest) / range) AS width,
      -- rows times the positions that they cover, before minus after the cut; all positions if values without a number are among them
      weight * (
        total * CASE WHEN highest - lowest > range THEN most ELSE high - low END
        - half * CASE WHEN number - lowest > range THEN most ELSE position - low END
        - (total - half) * CASE WHEN highest - right_number > range THEN most ELSE high - right_position END
      ) / most AS gain
    FROM (
      SELECT
        steps.class, steps.attribute, position, number, range, most, weight, n, below, total, half,
        CASE WHEN below > half THEN position ELSE next_position END AS right_position,
        CASE WHEN below > half THEN number ELSE next_number END AS right_number, low, high, lowest, highest
      FROM (
        SELECT
          class, attribute, position, number, n,
          CAST(SUM(n) OVER left_side AS BIGINT) AS below,
          CAST(SUM(n) OVER whole AS BIGINT) AS total,
          CAST(SUM(n) OVER whole AS BIGINT) // 2 AS half,
          LEAD(position) OVER left_side AS next_position,
          LEAD(number) OVER left_side AS next_number,
          MIN(position) OVER whole AS low,
          MAX(position) OVER whole AS high,
          MIN(number) OVER whole AS lowest,
          MAX(number) OVER whole AS highest
        FROM $cells
        WHERE number IS NOT NULL
        WINDOW
          left_side AS (PARTITION BY class, attribute ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
          whole AS (PARTITION BY class, attribute)
      ) AS steps
      INNER JOIN $scales AS s ON s.attribute = steps.attribute
      WHERE high > low AND half > 0 AND below >= half AND below - n < half
    ) AS medians
    CROSS JOIN (SELECT UNNEST([0, 1]) AS side) AS sides
  ) AS halves
  GROUP BY class, attribute, side
) AS judged
GROUP BY class, attribute;

-- name: medians
-- Find, for every partition and ordered attribute, the cut nearest to the median that leaves both sides safe.
-- columns: class, attribute, allowed, split (the last position on the left), dealt and kept (NULL), below, above (rows on the left and on the right), width (weighted, normalized range of the numbers), gain (loss saved over all rows)
SELECT
  class, attribute, best IS NOT NULL AS allowed, best.position AS split, NULL AS dealt, NULL AS kept,
  best.below AS below, best.above AS above, weight * LEAST(1, (highest - lowest) / range) AS width,
  weight * (
    (best.below + best.above) * CASE WHEN highest - lowest > range THEN most ELSE high - low END
    - best.below * CASE WHEN best.number - lowest > range THEN most ELSE best.position - low END
    - best.above * CASE WHEN highest - best.next_number > range THEN most ELSE high - best.next_position END
  ) / most AS gain
FROM (
  SELECT
    steps.class, steps.attribute, MIN(weight) AS weight, MIN(range) AS range, MIN(most) AS most,
    MIN(number) AS lowest, MAX(next_number) AS highest, MIN(position) AS low, MAX(next_position) AS high,
    -- first cuts that separate values without a number, then those nearest to the median
    ARG_MIN(
      {
        'position': position, 'number': number, 'next_position': next_position, 'next_number': next_number,
        'below': below, 'above': above
      },
      {'alike': next_number - number <= range, 'distance': ABS(below - above), 'position': position}
    ) FILTER (
      WHERE safe AND (NOT $median OR (below >= (below + above) // 2 AND below - n < (below + above) // 2))
    ) AS best
  FROM (
    SELECT
      class, attribute, position, number, n,
      CAST(SUM(n) OVER left_side AS BIGINT) AS below,
      CAST(SUM(n) OVER whole - SUM(n) OVER left_side AS BIGINT) AS above,
      LEAD(position) OVER left_side AS next_position,
      LEAD(number) OVER left_side AS next_number,
      COALESCE($safe_left, FALSE) AND COALESCE($safe_right, FALSE) AS safe
    FROM $cells
    WHERE number IS NOT NULL
    WINDOW
      whole AS (PARTITION BY class, attribute),
      left_side AS (PARTITION BY class, attribute ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
      right_side AS (PARTITION BY class, attribute ORDER BY position ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
  ) AS steps
  INNER JOIN $scales AS s ON s.attribute = steps.attribute
  WHERE next_number IS NOT NULL
  GROUP BY steps.class, steps.attribute
) AS found;

-- name: branches
-- List, for every partition and attribute, the children of the lowest node that covers all values.
-- columns: class, attribute, level, node, n, safe (the child alone), weight, most, width (of the partition), saved (leaves that the rows of the child no longer cover once it is split off)
SELECT class, attribute, level, node, n, safe, weight, most, width, saved
FROM (
  WITH covering AS (
    SELECT l.class, l.attribute, MIN(a.level) - 1 AS level, MIN(a.leaves) AS leaves, MIN(a.width) AS width
    FROM (
      SELECT class, attribute, MIN(position) AS low, MAX(position) AS high
      FROM $cells
      WHERE number IS NULL
      GROUP BY class, attribute
      HAVING MIN(position) < MAX(position)
    ) AS l
    INNER JOIN $nodes AS a ON a.attribute = l.attribute AND a.position = l.low AND a.high >= l.high
    GROUP BY l.class, l.attribute
  )
  SELECT
    c.class, c.attribute, s.level, c.node, c.n, c.safe, m.weight, m.most, m.weight * s.width AS width,
    c.n * (s.leaves - c.leaves) AS saved
  FROM (
    SELECT
      c.class, c.attribute, b.node, CAST(SUM(c.n) AS BIGINT) AS n, COALESCE($safe, FALSE) AS safe, MIN(b.leaves) AS leaves
    FROM covering AS s
    INNER JOIN $cells AS c ON c.class = s.class AND c.attribute = s.attribute
    INNER JOIN $nodes AS b ON b.attribute = s.attribute AND b.position = c.position AND b.level = s.level
    GROUP BY c.class, c.attribute, b.node
  ) AS c
  INNER JOIN covering AS s ON s.class = c.class AND s.attribute = c.attribute
  INNER JOIN $scales AS m ON m.attribute = c.attribute
) AS children;

-- name: counted
-- Count the rows of every value of one attribute in every open partition that is large enough for two classes.
SELECT class, $attribute AS attribute, $code AS code, CAST(SUM(n) AS BIGINT) AS n
FROM $open
WHERE size IS NULL OR size >= $least
GROUP BY class, $code;

-- name: listed
-- List the codes of every row in the open partitions that are large enough for two classes; in order, they are counted faster.
SELECT class, n, [$codes] AS codes
FROM $open
WHERE size IS NULL OR size >= $least
ORDER BY class;

-- name: counted_together
-- Count the rows of every value of all attributes in every partition; planning one query per attribute takes longer if there are many.
SELECT class, attribute, code, CAST(SUM(n) AS BIGINT) AS n
FROM (
  SELECT class, n, UNNEST(RANGE($attributes)) AS attribute, UNNEST(codes) AS code
  FROM $listed
) AS cells
GROUP BY class, attribute, code;

-- name: cells
-- Look up the position and number of every value in every open partition.
SELECT c.class, c.attribute, p.position, p.number, c.n
FROM $counted AS c
INNER JOIN $places AS p ON p.attribute = c.attribute AND p.code = c.code;

-- name: inherited
-- Replace the widths of partitions by the inherited ones, if there are any.
-- columns: class, attribute, allowed, split, dealt, kept, below, above, width (inherited if possible), gain, own (width)
SELECT
  m.class, m.attribute, m.allowed, m.split, m.dealt, m.kept, m.below, m.above, COALESCE(w.width, m.width) AS width,
  m.gain, m.width AS own
FROM $medians AS m
LEFT JOIN $widths AS w ON w.class = m.class AND w.attribute = m.attribute;

-- name: chosen
-- Choose the attribute that cuts every partition best; the first attribute wins a tie.
-- columns: class, attribute, split (NULL for branches), dealt, kept, below, above, level, spared (a safe child that stays with the rest)
SELECT
  class, best.attribute, best.split, best.dealt, best.kept, best.below, best.above, best.level, best.spared
FROM (
  SELECT
    class,
    ARG_MAX(
      {
        'attribute': attribute, 'split': split, 'dealt': dealt, 'kept': kept, 'below': below, 'above': above,
        'level': level, 'spared': spared
      },
      {'worth': $worth, 'first': -attribute}
    ) AS best
  FROM (
    SELECT class, attribute, width, gain, split, dealt, kept, below, above, NULL AS level, NULL AS spared
    FROM $medians
    WHERE allowed
    UNION ALL
    SELECT
      class, attribute, width, weight * (saved - CASE WHEN alone THEN 0 ELSE least_saved END) / most, NULL, NULL, NULL,
      NULL, NULL, level, CASE WHEN NOT alone THEN least END
    FROM (
      SELECT
        class, attribute, level, MIN(weight) AS weight, MIN(most) AS most, MIN(width) AS width,
        SUM(children) FILTER (WHERE safe) AS safe_children,
        SUM(saved) FILTER (WHERE safe) AS saved,
        MIN(least) FILTER (WHERE safe) AS least,
        MIN(least_saved) FILTER (WHERE safe) AS least_saved,
        -- whether the unsafe children are safe together; if not, the smallest safe child (least) stays with them
        COALESCE(BOOL_AND(together AND $leftover) FILTER (WHERE NOT safe), TRUE) AS alone
      FROM (
        SELECT
          class, attribute, level, safe, COUNT(*) AS children, MIN(weight) AS weight, MIN(most) AS most,
          MIN(width) AS width, SUM(saved) AS saved, ARG_MIN(node, {'n': n, 'node': node}) AS least,
          ARG_MIN(saved, {'n': n, 'node': node}) AS least_saved,
          COALESCE($safe, FALSE) AS together
        FROM $branches
        GROUP BY class, attribute, level, safe
      ) AS sides
      GROUP BY class, attribute, level
    ) AS parted
    WHERE safe_children > 0 AND (alone OR (safe_children > 1 AND $leftover AND $merge))
  ) AS options
  GROUP BY class
) AS found;

-- name: moves
-- Number the new partitions of every partition that is cut, with the nodes of the values that go there.
-- columns: class, attribute, node (0 and 1 for the sides of an ordered attribute), part (the node, or -1 for the rest), size (of the new partition), next_class (numbered after all existing classes)
SELECT
  class, attribute, node, part, CAST(SUM(n) OVER (PARTITION BY class, part) AS BIGINT) AS size,
  (SELECT MAX(class) FROM $open) + DENSE_RANK() OVER (ORDER BY class, part) AS next_class
FROM (
  SELECT class, attribute, 0 AS node, 0 AS part, below AS n FROM $chosen WHERE split IS NOT NULL
  UNION ALL
  SELECT class, attribute, 1, 1, above FROM $chosen WHERE split IS NOT NULL
  UNION ALL
  SELECT
    h.class, h.attribute, b.node, CASE WHEN b.safe AND b.node <> COALESCE(h.spared, -1) THEN b.node ELSE -1 END, b.n
  FROM $chosen AS h
  INNER JOIN $branches AS b ON b.class = h.class AND b.attribute = h.attribute
  WHERE h.split IS NULL
) AS parted;

-- name: deal
-- Move the rows of every partition that was cut; the rows of a dealt median are taken in descending order of place, for the left side first.
SELECT
  $columns, upto - since AS n, first + since - before AS first, first + upto - before - 1 AS last,
  ROW_NUMBER() OVER (
    PARTITION BY class
    ORDER BY is_dealt, CASE WHEN is_dealt AND node = 0 THEN -place ELSE place END, first + since - before
  ) AS place,
  size, class
FROM (
  WITH cut AS (
    SELECT
      $columns, n, first, place, class, dealt, before, COALESCE(p.position = counted.split, FALSE) AS is_dealt,
      CASE WHEN counted.split IS NULL THEN t.node WHEN p.position <= counted.split THEN 0 ELSE 1 END AS node
    FROM (
      SELECT
        $columns, n, first, place, class, attribute, split, dealt, level, code,
        CAST(SUM(n) OVER (PARTITION BY class, code ORDER BY place DESC, first) AS BIGINT) - n AS before
      FROM (
        SELECT
          $columns, o.n, o.first, o.place, o.class, h.attribute, h.split, h.dealt, h.level, $code AS code
        FROM $open AS o
        INNER JOIN $chosen AS h ON h.class = o.class
      ) AS coded
    ) AS counted
    INNER JOIN $places AS p ON p.attribute = counted.attribute AND p.code = counted.code
    LEFT JOIN $nodes AS t ON t.attribute = counted.attribute AND t.level = counted.level AND t.position = p.position
  )
  SELECT $columns, c.first, c.place, c.before, c.node, c.is_dealt, c.since, c.upto, m.size, m.next_class AS class
  FROM (
    -- the stretch of the part, among the rows of its value, that goes to each side
    SELECT
      $columns, class, first, place, before, node, is_dealt, before AS since,
      CASE WHEN is_dealt THEN LEAST(before + n, dealt) ELSE before + n END AS upto
    FROM cut
    UNION ALL
    SELECT $columns, class, first, place, before, 1, is_dealt, GREATEST(before, dealt), before + n FROM cut WHERE is_dealt
  ) AS c
  INNER JOIN $moves AS m ON m.class = c.class AND m.node = c.node
) AS moved
WHERE upto > since;

-- name: next
-- Move the tuples of every partition that was cut to their new partitions.
SELECT $columns, n, m.size, m.next_class AS class
FROM (
  SELECT $columns, o.n, o.class, h.attribute, h.split, h.level, $code AS code
  FROM $open AS o
  INNER JOIN $chosen AS h ON h.class = o.class
) AS cut
INNER JOIN $places AS p ON p.attribute = cut.attribute AND p.code = cut.code
LEFT JOIN $nodes AS t ON t.attribute = cut.attribute AND t.level = cut.level AND t.position = p.position
INNER JOIN $moves AS m
  ON m.class = cut.class AND m.node = CASE WHEN cut.split IS NULL THEN t.node WHEN p.position <= cut.split THEN 0 ELSE 1 END;

-- name: unsafe_cuts
-- List the cuts that create a partition which does not meet the privacy model.
SELECT DISTINCT m.class, m.attribute
FROM $moves AS m
WHERE m.next_class IN (SELECT x.class FROM $next AS x GROUP BY x.class HAVING NOT COALESCE($safe, FALSE));

-- name: other_cuts
-- Remove the impossible cuts from all cuts that were found.
SELECT *
FROM $cuts AS c
WHERE NOT EXISTS (SELECT 1 AS same FROM $unsafe AS u WHERE u.class = c.class AND u.attribute = c.attribute);

-- name: after_rounds
-- Return the tuples of the partitions that are open after some rounds, or of those that became classes in them.
SELECT $columns FROM $rounds WHERE is_open = $open;

-- name: widths
-- Pass widths on to the new partitions: the own width of an attribute that was tried before the chosen one, else the inherited width.
-- columns: class, attribute, width (none for the attribute that was cut)
SELECT
  n.class, m.attribute,
  CASE WHEN m.width > c.width OR (m.width = c.width AND m.attribute < c.attribute) THEN m.own ELSE m.width END AS width
FROM (SELECT DISTINCT class AS parent, next_class AS class FROM $moves) AS n
INNER JOIN $chosen AS h ON h.class = n.parent
INNER JOIN $medians AS c ON c.class = n.parent AND c.attribute = h.attribute
INNER JOIN $medians AS m ON m.class = n.parent AND m.attribute <> h.attribute;

-- name: sides
-- Find the range of the chosen attribute's positions in every new partition.
-- columns: class, parent (the partition that was cut), attribute, low, high (positions; NULL: as in the parent)
SELECT
  m.next_class AS class, m.class AS parent, m.attribute,
  CASE WHEN h.split IS NULL THEN MIN(o.low) WHEN m.part = 1 THEN h.split + CASE WHEN h.kept > 0 THEN 0 ELSE 1 END END AS low,
  CASE WHEN h.split IS NULL THEN MAX(o.high) WHEN m.part = 0 THEN h.split END AS high
FROM $moves AS m
INNER JOIN $chosen AS h ON h.class = m.class
LEFT JOIN $nodes AS o ON o.attribute = m.attribute AND o.level = h.level AND o.node = m.part
GROUP BY m.next_class, m.class, m.attribute, m.part, h.split, h.kept;

-- name: places
-- Place the values of one attribute that occur on a line; values without a number lie two ranges beyond its ends.
-- columns: attribute, code, position, number (NULL if the attribute is not ordered), range (of the numbers that occur; 1 if only one occurs), most (the loss of all leaves, in positions), weight
SELECT
  $attribute AS attribute, code, position,
  CASE
    WHEN NOT $ordered THEN NULL
    WHEN number IS NULL AND value IS NULL AND NOT starred THEN COALESCE(lowest, 0) - 2 * range
    WHEN number IS NULL THEN COALESCE(highest, 0) + 2 * range
    ELSE number
  END AS number,
  range, CAST($most AS DOUBLE PRECISION) AS most, CAST($weight AS DOUBLE PRECISION) AS weight
FROM (
  SELECT
    code, position, number, value, starred,
    MIN(number) OVER () AS lowest, MAX(number) OVER () AS highest,
    COALESCE(NULLIF(MAX(number) OVER () - MIN(number) OVER (), 0), 1) AS range
  FROM (
    SELECT
      p.code_0 AS code, p.position, p.value, p.starred, CASE WHEN NOT p.starred THEN $number END AS number,
      ROW_NUMBER() OVER (PARTITION BY p.code_0 ORDER BY p.position DESC) AS choice
    FROM $positions AS p
    INNER JOIN (SELECT $code AS code FROM $frequency_set GROUP BY $code) AS found ON found.code = p.code_0
  ) AS occurring
  WHERE choice = 1
) AS measured;

-- name: scales
-- Return the figures of attributes that are equal for all their values.
-- columns: attribute, range (of the numbers that occur; 1 if only one occurs), most (the loss of all leaves, in positions), weight
SELECT attribute, MIN(range) AS range, MIN(most) AS most, MIN(weight) AS weight FROM $places GROUP BY attribute;

-- name: nodes
-- List the node above every value of one attribute on one level of its hierarchy, with the positions that the node covers.
-- columns: attribute, position, level, node, low, high (positions under the node), leaves (under the node), width (share of all leaves, 0 for one leaf)
SELECT
  $attribute AS attribute, position, $level AS level, node,
  MIN(position) OVER (PARTITION BY node) AS low, MAX(position) OVER (PARTITION BY node) AS high,
  leaves,
  CASE WHEN leaves > 1 THEN CAST(leaves AS DOUBLE PRECISION) / $count ELSE 0 END AS width
FROM (SELECT position, $code AS node, $leaves AS leaves FROM $positions) AS labelled;

-- name: regions
-- Combine the cuts between the first partition and every class: the range of positions of every attribute that was cut.
-- columns: class, attribute, low, high (positions; NULL: unbounded)
SELECT class, attribute, MAX(low) AS low, MIN(high) AS high
FROM (
  WITH RECURSIVE ways AS (
    SELECT class, class AS node FROM $assignment GROUP BY class
    UNION ALL
    SELECT w.class, s.parent FROM ways AS w INNER JOIN $sides AS s ON s.class = w.node
  )
  SELECT w.class, s.attribute, s.low, s.high
  FROM ways AS w
  LEFT JOIN $sides AS s ON s.class = w.node
) AS walked
GROUP BY class, attribute;

-- name: sides_of_boxes
-- Count the rows of classes with the same range of one attribute's positions.
-- columns: attribute, low, high (positions), n (rows)
SELECT $attribute AS attribute, $low AS low, $high AS high, CAST(SUM(n) AS BIGINT) AS n FROM $boxes GROUP BY $low, $high;

-- name: ncp
-- Add up the normalized widths of all rows' cells: the range of numbers, or the leaves under the lowest common node.
-- columns: penalty (divided by rows times attributes: the normalized certainty penalty)
SELECT COALESCE(SUM(n * width), 0) AS penalty
FROM (
  SELECT b.n, MIN(COALESCE(a.width, LEAST(1, (highest.number - lowest.number) / s.range))) AS width
  FROM $sides_of_boxes AS b
  INNER JOIN $scales AS s ON s.attribute = b.attribute
  INNER JOIN $places AS lowest ON lowest.attribute = b.attribute AND lowest.position = b.low
  INNER JOIN $places AS highest ON highest.attribute = b.attribute AND highest.position = b.high
  LEFT JOIN $nodes AS a ON a.attribute = b.attribute AND a.position = b.low AND a.high >= b.high
  GROUP BY b.attribute, b.low, b.high, b.n
) AS widths;
