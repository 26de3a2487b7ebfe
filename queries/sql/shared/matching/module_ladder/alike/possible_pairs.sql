-- step: Which of these may go together: of one rank, with equal shapes in any
--   order, or of one name and at most 100 places apart. A join of one key
--   each: with OR each module would meet each.
-- grain: pair, module of the base, module of the candidate
WITH couples AS (
  SELECT
    b.pair, b.ordinal AS base_ordinal, c.ordinal AS candidate_ordinal
  FROM unmatched_modules AS b
  JOIN unmatched_modules AS c
    ON c.pair = b.pair
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.source_arrays = b.source_arrays
  WHERE NOT b.is_candidate
    AND c.is_candidate
  UNION
  SELECT b.pair, b.ordinal, c.ordinal
  FROM unmatched_modules AS b
  JOIN unmatched_modules AS c
    ON c.pair = b.pair
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.entry_arrays = b.entry_arrays
  WHERE NOT b.is_candidate
    AND c.is_candidate
  UNION
  SELECT b.pair, b.ordinal, c.ordinal
  FROM unmatched_modules AS b
  JOIN unmatched_modules AS c
    ON c.pair = b.pair
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.called = b.called
    AND c.ordinal BETWEEN b.ordinal - 100 AND b.ordinal + 100
  WHERE NOT b.is_candidate
    AND c.is_candidate
)
SELECT
  b.pair, b.ordinal AS base_ordinal, c.ordinal AS candidate_ordinal,
  b.place AS base_place, c.place AS candidate_place,
  b.entry_shapes AS base_entry, c.entry_shapes AS candidate_entry,
  CASE
    WHEN b.source_id IS NULL OR c.source_id IS NULL THEN b.module_id
    ELSE b.source_id
  END AS base_id,
  CASE
    WHEN b.source_id IS NULL OR c.source_id IS NULL THEN c.module_id
    ELSE c.source_id
  END AS candidate_id,
  coalesce(b.source_arrays = c.source_arrays, FALSE)
    OR coalesce(b.entry_arrays = c.entry_arrays, FALSE) AS is_same_shapes
FROM couples AS o
JOIN unmatched_modules AS b
  ON b.pair = o.pair
  AND NOT b.is_candidate
  AND b.ordinal = o.base_ordinal
JOIN unmatched_modules AS c
  ON c.pair = o.pair
  AND c.is_candidate
  AND c.ordinal = o.candidate_ordinal
