-- name: mondrian/chosen
-- Choose the attribute by which every partition is cut; the first one where several are as good.
-- reads: medians (class, attribute, allowed, split, dealt, kept, width, gain), branches (class, attribute, level, node, n, safe, weight, most, width, saved)
-- holes: $medians relation, $branches relation, $worth columns, $leftover value, $merge value, $safe predicate
-- gives: class, attribute, split (NULL for branches), dealt, kept, level, spared (a safe child that stays with the rest)
-- engines: duckdb
SELECT class, best.attribute, best.split, best.dealt, best.kept, best.level, best.spared
FROM (
  SELECT
    class,
    ARG_MAX(
      {
        'attribute': attribute, 'split': split, 'dealt': dealt, 'kept': kept,
        'level': level, 'spared': spared
      },
      {'worth': $worth, 'first': -attribute}
    ) AS best
  FROM (
    SELECT class, attribute, width, gain, split, dealt, kept, NULL AS level, NULL AS spared FROM $medians WHERE allowed
    UNION ALL
    SELECT
      class, attribute, width, weight * (saved - CASE WHEN alone THEN 0 ELSE least_saved END) / most, NULL, NULL, NULL, level,
      CASE WHEN NOT alone THEN least END
    FROM (
      SELECT
        class, attribute, level, MIN(weight) AS weight, MIN(most) AS most, MIN(width) AS width,
        SUM(children) FILTER (WHERE safe) AS safe_children,
        SUM(saved) FILTER (WHERE safe) AS saved,
        MIN(least) FILTER (WHERE safe) AS least,
        MIN(least_saved) FILTER (WHERE safe) AS least_saved,
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
) AS found
