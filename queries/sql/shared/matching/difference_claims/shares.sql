-- step: Bytes of the difference by origin: one edit, the inputs, several of
--   these, or none (unexplained). An edit that more bytes follow from together
--   with others than alone has no bytes of its own. is_of_own_memory: they are
--   of allocations that nothing else is in.
-- grain: pair, memory space, origin, edit
WITH origins AS (
  FROM kinds_of_edits
  UNION
  FROM path_origins
  UNION
  FROM line_origins
  UNION
  FROM stacks_of_checkpoints
),
counted AS (
  SELECT
    c.pair, c.space_color, c.number, c.delta_bytes,
    -- What is shared or moved may be needed elsewhere, unless an output is all
    -- of it.
    c.kind <> 'temp'
    AND (
      c.part NOT IN ('alias', 'allocation_kind') OR r.place IS NOT NULL
    ) AS is_of_own_memory,
    count(o.place) AS origin_count, min(o.place) AS first_place
  FROM changed_buffers AS c
  LEFT JOIN origins AS o USING (pair, space_color, number)
  LEFT JOIN results_of_outputs AS r USING (pair, space_color, number)
  GROUP BY
    c.pair, c.space_color, c.number, c.delta_bytes, c.kind, c.part, r.place
),
tangled AS (
  SELECT o.pair, o.space_color, o.place AS first_place
  FROM origins AS o
  JOIN counted AS c USING (pair, space_color, number)
  WHERE o.place > 0
  GROUP BY o.pair, o.space_color, o.place
  HAVING coalesce(sum(abs(c.delta_bytes)) FILTER (WHERE c.origin_count > 1), 0)
    > abs(coalesce(sum(c.delta_bytes) FILTER (WHERE c.origin_count = 1), 0))
),
placed AS (
  SELECT
    c.*,
    CASE
      WHEN c.origin_count = 0 THEN 'unexplained'
      WHEN c.origin_count > 1 OR t.pair IS NOT NULL THEN 'several'
      WHEN c.first_place = 0 THEN 'inputs'
      ELSE 'edit'
    END AS origin
  FROM counted AS c
  LEFT JOIN tangled AS t USING (pair, space_color, first_place)
)
SELECT
  c.pair, c.space_color, c.origin,
  CASE WHEN c.origin = 'edit' THEN c.first_place END AS edit_place,
  CAST(sum(c.delta_bytes) AS BIGINT) AS share_bytes,
  count(*) AS changed_count, bool_and(c.is_of_own_memory) AS is_of_own_memory
FROM placed AS c
GROUP BY ALL
