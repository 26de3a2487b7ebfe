-- title: Arena size under other packings
-- question: Would another packing make an arena smaller, and how small can any
--   packing be?
-- definition: Simulates six packings of each temporary allocation, those that
--   XLA's heap_simulator_replay tries. Values that share bytes in place are
--   one block, which covers their bytes and all their steps. Blocks are placed
--   one by one in the order of largest_first (by size, lifetime or rent; of
--   equal ones the larger first, then the one that starts and the one that
--   ends first, so that numbers of values do not matter), at the lowest place
--   that is free over all their steps (lowest), or in the smallest gap that is
--   large enough, the lowest among equals (best_fit). Sizes are rounded up to
--   the alignment: the largest power of two, at most 1024, that divides all
--   offsets of the arena. floor_bytes is the arena's live peak, rounded in the
--   same way: no packing needs less, and it cannot always be reached.
-- grain: module occurrence, allocation, packing
-- leading: program, space_name, allocation_id, fit, largest_first,
--   packed_bytes, saved_bytes, floor_bytes
-- split: programs
-- param run
-- param program
-- param color
-- param max_blocks BIGINT = 1000 from 0: Leave out arenas with more blocks:
--   the work grows with their square.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column allocation_id
-- column largest_first VARCHAR name neutral: Order of the blocks, the largest
--   first: size, lifetime or rent (size times lifetime).
-- column fit VARCHAR name neutral: lowest or best_fit.
-- column block_count BIGINT count neutral: Blocks placed.
-- column align_bytes BIGINT bytes neutral: Alignment of the blocks.
-- column allocation_bytes BIGINT bytes lower_is_better: Size of the
--   allocation, as XLA packed it.
-- column packed_bytes BIGINT bytes lower_is_better: Size in this packing.
-- column floor_bytes BIGINT bytes lower_is_better: Size below which no packing
--   can go.
-- column gap_to_floor_bytes BIGINT bytes lower_is_better: packed_bytes minus
--   floor_bytes.
-- column gap_ratio DOUBLE ratio lower_is_better: Share of packed_bytes.
-- column saved_bytes BIGINT bytes higher_is_better: allocation_bytes minus
--   packed_bytes.
WITH RECURSIVE tenants AS MATERIALIZED (
  SELECT *
  FROM value_places() AS v
  WHERE kind = 'temp'
    AND start_step IS NOT NULL
    AND size_bytes > 0
    AND ($color IS NULL OR v.color = $color)
),
touches AS (
  SELECT a.module_id, a.allocation_id, a.value_id, b.value_id AS other_id
  FROM tenants AS a
  JOIN tenants AS b
    ON b.module_id = a.module_id
    AND b.allocation_id = a.allocation_id
    AND b.start_step = a.end_step
  WHERE a.value_id <> b.value_id
    AND a.offset_bytes < b.offset_bytes + b.size_bytes
    AND b.offset_bytes < a.offset_bytes + a.size_bytes
),
links AS MATERIALIZED (
  SELECT module_id, allocation_id, value_id, other_id FROM touches
  UNION
  SELECT module_id, allocation_id, other_id, value_id FROM touches
),
-- A block is known by its lowest value_id, which spreads along the links.
chains USING KEY (module_id, allocation_id, value_id) AS (
  SELECT module_id, allocation_id, value_id, value_id AS block_id FROM tenants
  UNION ALL
  SELECT
    c.module_id, c.allocation_id, l.other_id AS value_id,
    min(c.block_id) AS block_id
  FROM chains AS c
  JOIN links AS l USING (module_id, allocation_id, value_id)
  JOIN recurring.chains AS k
    ON k.module_id = c.module_id
    AND k.allocation_id = c.allocation_id
    AND k.value_id = l.other_id
  WHERE c.block_id < k.block_id
  GROUP BY c.module_id, c.allocation_id, l.other_id
),
arenas AS (
  SELECT
    t.module_id, t.allocation_id, p.live_peak_bytes,
    greatest(1, least(
      1024, bit_or(t.offset_bytes) & -bit_or(t.offset_bytes)
    )) AS align_bytes
  FROM tenants AS t
  JOIN (
    SELECT module_id, allocation_id, max(live_bytes) AS live_peak_bytes
    FROM arena_timeline()
    GROUP BY module_id, allocation_id
  ) AS p USING (module_id, allocation_id)
  GROUP BY t.module_id, t.allocation_id, p.live_peak_bytes
),
spans AS (
  SELECT
    t.module_id, t.allocation_id, c.block_id,
    max(t.offset_bytes + t.size_bytes) - min(t.offset_bytes) AS span_bytes,
    min(t.start_step) AS start_step, max(t.end_step) AS end_step
  FROM tenants AS t
  JOIN chains AS c USING (module_id, allocation_id, value_id)
  GROUP BY t.module_id, t.allocation_id, c.block_id
),
blocks AS (
  SELECT
    s.module_id, s.allocation_id, s.block_id, s.start_step, s.end_step,
    (s.span_bytes + a.align_bytes - 1) // a.align_bytes * a.align_bytes
      AS bytes,
    s.end_step - s.start_step + 1 AS steps
  FROM spans AS s
  JOIN arenas AS a USING (module_id, allocation_id)
),
ordered AS (
  SELECT *, 'size' AS largest_first, bytes AS greatness FROM blocks
  UNION ALL
  SELECT *, 'lifetime', steps FROM blocks
  UNION ALL
  SELECT *, 'rent', CAST(bytes AS HUGEINT) * steps FROM blocks
),
waiting AS (
  SELECT
    o.module_id, o.allocation_id, o.largest_first, f.fit,
    count(*) AS block_count,
    list({
      'bytes': o.bytes, 'start_step': o.start_step, 'end_step': o.end_step,
      'is_best_fit': f.fit = 'best_fit',
      'placed': CAST([] AS STRUCT(
        place BIGINT, bytes BIGINT, start_step INTEGER, end_step INTEGER
      )[])
    } ORDER BY o.greatness DESC, o.bytes DESC, o.start_step, o.end_step)
      AS blocks
  FROM ordered AS o
  CROSS JOIN (VALUES ('lowest'), ('best_fit')) AS f (fit)
  GROUP BY o.module_id, o.allocation_id, o.largest_first, f.fit
),
-- The outer fold places a block after the other. The inner one runs through
-- the blocks of the same steps by place, and keeps the gap to take; behind the
-- last of them all is free. DuckDB mixes rows up where the function of a fold
-- uses more than its two arguments: what it needs travels with the elements.
packed AS (
  SELECT
    w.module_id, w.allocation_id, w.largest_first, w.fit, w.block_count,
    list_reduce(
      w.blocks,
      lambda done, block: {
        'bytes': block.bytes, 'start_step': block.start_step,
        'end_step': block.end_step, 'is_best_fit': block.is_best_fit,
        'placed': list_append(done.placed, {
          'place': list_reduce(
            list_transform(
              list_append(
                list_sort(list_filter(
                  done.placed,
                  lambda p: p.start_step <= block.end_step
                    AND p.end_step >= block.start_step
                )),
                {
                  'place': CAST(1 AS BIGINT) << 62, 'bytes': 0,
                  'start_step': NULL, 'end_step': NULL
                }
              ),
              lambda p: {
                'from_byte': p.place, 'to_byte': p.place + p.bytes,
                'wanted_bytes': block.bytes, 'is_best_fit': block.is_best_fit,
                'gap_bytes': CAST(NULL AS BIGINT),
                'place': CAST(NULL AS BIGINT)
              }
            ),
            lambda seen, next: {
              'from_byte': next.from_byte,
              'to_byte': greatest(seen.to_byte, next.to_byte),
              'wanted_bytes': next.wanted_bytes,
              'is_best_fit': next.is_best_fit,
              'gap_bytes': CASE
                WHEN next.from_byte - seen.to_byte >= next.wanted_bytes
                  AND (seen.place IS NULL OR (
                    next.is_best_fit
                    AND next.from_byte - seen.to_byte < seen.gap_bytes
                  ))
                THEN next.from_byte - seen.to_byte ELSE seen.gap_bytes
              END,
              'place': CASE
                WHEN next.from_byte - seen.to_byte >= next.wanted_bytes
                  AND (seen.place IS NULL OR (
                    next.is_best_fit
                    AND next.from_byte - seen.to_byte < seen.gap_bytes
                  ))
                THEN seen.to_byte ELSE seen.place
              END
            },
            {
              'from_byte': CAST(0 AS BIGINT), 'to_byte': CAST(0 AS BIGINT),
              'wanted_bytes': CAST(0 AS BIGINT), 'is_best_fit': FALSE,
              'gap_bytes': CAST(NULL AS BIGINT), 'place': CAST(NULL AS BIGINT)
            }
          ).place,
          'bytes': block.bytes, 'start_step': block.start_step,
          'end_step': block.end_step
        })
      },
      {
        'bytes': 0, 'start_step': 0, 'end_step': 0, 'is_best_fit': FALSE,
        'placed': []
      }
    ).placed AS placed
  FROM waiting AS w
  WHERE w.block_count <= $max_blocks
),
measured AS (
  SELECT
    p.module_id, p.allocation_id, p.largest_first, p.fit, p.block_count,
    a.align_bytes,
    list_max(list_transform(p.placed, lambda b: b.place + b.bytes))
      AS packed_bytes,
    (a.live_peak_bytes + a.align_bytes - 1) // a.align_bytes * a.align_bytes
      AS floor_bytes
  FROM packed AS p
  JOIN arenas AS a USING (module_id, allocation_id)
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  p.allocation_id, p.largest_first, p.fit, p.block_count, p.align_bytes,
  a.size_bytes AS allocation_bytes, p.packed_bytes, p.floor_bytes,
  p.packed_bytes - p.floor_bytes AS gap_to_floor_bytes,
  (p.packed_bytes - p.floor_bytes) / nullif(p.packed_bytes, 0) AS gap_ratio,
  a.size_bytes - p.packed_bytes AS saved_bytes
FROM selected_memory() AS m
JOIN allocations AS a USING (module_id, color)
JOIN measured AS p USING (module_id, allocation_id)
ORDER BY
  a.size_bytes DESC, m.program, m.module_number, m.rank, p.allocation_id,
  p.packed_bytes, p.largest_first, p.fit
