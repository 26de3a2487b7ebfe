-- step: Arrays saved for the backward pass that could be recomputed, wait in
--   another memory, or be saved for fewer iterations of a loop.
-- grain: value, mark, subject
WITH recomputable AS (
  SELECT
    s.module_id, s.value_id, s.size_bytes, greatest(s.like_count, 2) AS blocks,
    CASE WHEN p.may_recompute THEN 'saved' ELSE 'unrolled' END AS mark
  FROM saved_arrays AS s
  JOIN program_traits AS p USING (module_id)
  ANTI JOIN loop_stacks AS k
    ON k.module_id = s.module_id
    AND k.allocation_id = s.allocation_id
    AND k.offset_bytes = s.offset_bytes
    AND k.dimensions = s.dimensions
  WHERE NOT p.may_recompute
    OR NOT p.is_recomputed
  -- Where XLA leaves nothing recomputed, four layers or more can be a loop.
  QUALIFY p.may_recompute
    OR max(s.like_count) OVER (PARTITION BY s.module_id) >= 4
)
-- One block is held while it is computed again: of arrays of which there are
-- three alike, a third, of one that is like no other half, since nothing says
-- how large the block is that it belongs to. Each other block keeps what it
-- computes from, taken as the smallest of such arrays, but for numbers of each
-- row, where there are more of them than blocks. A set has one share.
SELECT
  r.module_id, r.value_id, r.mark, 'all saved activations' AS subject,
  CAST(
    (
      sum(CAST(r.size_bytes AS DOUBLE) * (r.blocks - 1) / r.blocks) OVER alike
      - coalesce(k.kept_bytes, 0)
    ) * 1000 / sum(r.size_bytes) OVER alike
    AS BIGINT) AS part,
  1000 AS whole, CAST(NULL AS INTEGER) AS from_step,
  CAST(NULL AS INTEGER) AS until_step
FROM recomputable AS r
LEFT JOIN (
  SELECT
    a.module_id,
    CASE
      WHEN count(*) > max(a.blocks)
        THEN min(a.size_bytes) * (max(a.blocks) - 1)
    END AS kept_bytes
  FROM recomputable AS a
  JOIN (
    SELECT module_id, max(size_bytes) AS largest_bytes
    FROM recomputable
    GROUP BY module_id
  ) AS l USING (module_id)
  WHERE a.blocks >= 3
    AND 16 * a.size_bytes >= l.largest_bytes
  GROUP BY a.module_id
) AS k USING (module_id)
WINDOW alike AS (PARTITION BY r.module_id)
UNION ALL
SELECT
  s.module_id, s.value_id, 'offloaded', 'all saved activations', 1, 1,
  s.idle_from_step, s.idle_until_step
FROM saved_arrays AS s
JOIN program_traits AS p USING (module_id)
WHERE s.idle_from_step IS NOT NULL
  AND p.platform IN ('tpu', 'gpu', 'rocm')
UNION ALL
SELECT
  k.module_id, k.value_id, 'kept',
  'values that ' || k.loop_name || ' saves per iteration', k.part, k.whole,
  NULL, NULL
FROM kept_stacks AS k
UNION ALL
-- What the compiler alone makes of them goes with them.
SELECT
  w.module_id, w.value_id, 'kept',
  'values that ' || k.loop_name || ' saves per iteration', k.part, k.whole,
  NULL, NULL
FROM widened_arrays AS w
JOIN arrays AS v USING (module_id, value_id)
JOIN store.value_uses AS u
  ON u.module_id = v.module_id
  AND u.instruction_id = v.instruction_id
JOIN kept_stacks AS k
  ON k.module_id = u.module_id
  AND k.value_id = u.value_id
