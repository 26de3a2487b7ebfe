-- step: New and gone results, and arrays that are results on one side, that
--   are as large as an output that was added or removed: they are its memory,
--   and nothing else is.
-- grain: pair, memory space, row of buffer_changes
WITH results AS (
  SELECT
    c.pair, c.space_color, c.number, c.delta_bytes,
    row_number() OVER (
      PARTITION BY c.pair, c.space_color, c.delta_bytes ORDER BY c.number
    ) AS copy_number
  FROM changed_buffers AS c
  WHERE c.kind = 'live_out' AND c.part IN ('new', 'gone')
    OR c.part = 'allocation_kind'
),
output_sizes AS (
  SELECT
    e.pair, e.place, e.delta_bytes,
    row_number() OVER (
      PARTITION BY e.pair, e.delta_bytes ORDER BY e.place
    ) AS copy_number
  FROM edits AS e
  WHERE e.change = 'output'
)
SELECT r.pair, r.space_color, r.number, s.place
FROM results AS r
JOIN output_sizes AS s USING (pair, delta_bytes, copy_number)
