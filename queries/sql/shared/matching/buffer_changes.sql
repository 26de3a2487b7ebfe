-- title: Difference of two modules, buffer by buffer
-- question: Which buffers make one module need more memory than another, in
--   which memory space, and why?
-- definition: Every byte of the difference of reserved_bytes is in exactly one
--   row, with a part of difference_parts: the bytes that buffers of
--   matched_buffers own, and the bytes that arenas have beyond these (part
--   fragmentation). A buffer that uses one memory space and kind of allocation
--   on both sides has a row for each part that changed, or one row of part
--   same; otherwise each side has a row of its own. Without live ranges on
--   both sides, the temporary memory of a space is one row of part temp; if
--   the details of a module were pruned, each kind of allocation is one row of
--   part whole. residual_bytes is the difference that no row explains: 0 if
--   the sizes of allocations and the temporary live peak agree with
--   memory_profile.
-- grain: pair of modules, memory space, pair of buffers, part
-- param base_ids BIGINT[] = NULL: Module contents of the base; NULL for none.
-- param candidate_ids BIGINT[] = NULL: Module contents of the candidate, in
--   the same order.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column color
-- column place BIGINT id neutral: Position of the row in its pair and memory
--   space, the greatest change first.
-- column part VARCHAR name neutral: Part of the difference, see
--   difference_parts; same if nothing changed.
-- column kind VARCHAR name neutral: Kind of allocation of the bytes.
-- column delta_bytes BIGINT bytes lower_is_better: Bytes of the part.
-- column note VARCHAR text neutral: The change in words.
-- column status VARCHAR name neutral: same, larger, smaller, new or gone; now
--   at the peak or no longer at the peak; moved in or moved out (from or to
--   another kind of allocation or memory space); now shared or no longer
--   shared (in place, with another buffer). NULL for rows that are not
--   buffers.
-- column held BIGINT id neutral: Number of the buffer among all that fill the
--   memory of either side, the largest first; NULL for rows that are not
--   buffers. Rows of several parts share it.
-- column base_held_bytes BIGINT bytes lower_is_better: Bytes that it owns in
--   the base; NULL if it owns none of this memory space there.
-- column candidate_held_bytes BIGINT bytes lower_is_better: The same in the
--   candidate.
-- column method VARCHAR name neutral: How it was matched, see buffer_rungs;
--   output or none without a partner, profile for rows that are not buffers.
-- column confidence DOUBLE score higher_is_better: Confidence of the match,
--   from 0 to 1.
-- column base_value_id INTEGER id neutral: Its value in the base.
-- column base_instruction VARCHAR name neutral: Its instruction in the base.
-- column base_opcode VARCHAR name neutral: Opcode of that instruction.
-- column base_op_path VARCHAR name neutral: Framework path in the base.
-- column base_shape VARCHAR text neutral: Shape without layout in the base.
-- column base_shape_index VARCHAR name neutral: Index into the result.
-- column base_parameter VARCHAR name neutral: Number and index of a parameter
--   of the base.
-- column base_bytes BIGINT bytes neutral: Size in memory in the base, padding
--   included.
-- column candidate_value_id INTEGER id neutral: Its value in the candidate.
-- column candidate_instruction VARCHAR name neutral: Its instruction in the
--   candidate.
-- column candidate_opcode VARCHAR name neutral: Opcode of that instruction.
-- column candidate_op_path VARCHAR name neutral: Framework path in the
--   candidate.
-- column candidate_shape VARCHAR text neutral: Shape without layout in the
--   candidate.
-- column candidate_shape_index VARCHAR name neutral: Index into the result.
-- column candidate_parameter VARCHAR name neutral: Number and index of a
--   parameter of the candidate.
-- column candidate_bytes BIGINT bytes neutral: Size in memory in the
--   candidate, padding included.
-- column total_delta_bytes BIGINT bytes lower_is_better: Difference of
--   reserved_bytes of the pair and memory space.
-- column residual_bytes BIGINT bytes lower_is_better: Difference that no row
--   explains.
-- column part_delta_bytes BIGINT bytes lower_is_better: Sum of the part and
--   kind in the pair and memory space.
-- column part_buffer_count BIGINT count neutral: Rows of the part and kind.
-- column main_part VARCHAR name neutral: Part with most of the difference,
--   over all kinds; none if nothing changed. If details were pruned, each kind
--   counts alone.
-- column is_main BOOLEAN flag neutral: Whether the row belongs to that part,
--   and if details were pruned, to that kind.
-- column main_share_ratio DOUBLE ratio neutral: Share of these rows among all
--   parts with the same sign; NULL if nothing changed.
-- column main_confidence DOUBLE score higher_is_better: Confidence of the
--   matches of these rows, weighted by bytes; 0.8 for rows without a match.
-- column is_detailed BOOLEAN flag neutral: Whether the buffers of both sides
--   are known.
WITH module_pairs AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest(range(1, len($base_ids) + 1)) AS pair,
    unnest($base_ids) AS base_id, unnest($candidate_ids) AS own_id
),
pruned AS (
  SELECT i.module_id
  FROM (
    SELECT base_id AS module_id FROM module_pairs
    UNION
    SELECT own_id FROM module_pairs
  ) AS i
  JOIN memory_profile AS p USING (module_id)
  ANTI JOIN allocations AS a ON a.module_id = i.module_id
  GROUP BY i.module_id
  HAVING sum(p.reserved_bytes) > 0
),
detailed_pairs AS MATERIALIZED (
  SELECT
    p.pair, p.base_id, p.own_id,
    b.module_id IS NULL AND c.module_id IS NULL AS is_detailed
  FROM module_pairs AS p
  LEFT JOIN pruned AS b ON b.module_id = p.base_id
  LEFT JOIN pruned AS c ON c.module_id = p.own_id
),
used AS (
  SELECT DISTINCT p.pair, m.color AS space_color
  FROM module_pairs AS p
  JOIN memory_profile AS m ON m.module_id = p.base_id
  UNION
  SELECT p.pair, m.color
  FROM module_pairs AS p
  JOIN memory_profile AS m ON m.module_id = p.own_id
),
spaces AS MATERIALIZED (
  SELECT
    u.pair, u.space_color, p.is_detailed,
    coalesce(c.reserved_bytes, 0) - coalesce(b.reserved_bytes, 0)
      AS total_delta,
    coalesce(b.temp_live_peak_bytes IS NOT NULL OR b.temp_bytes = 0, TRUE)
    AND coalesce(c.temp_live_peak_bytes IS NOT NULL OR c.temp_bytes = 0, TRUE)
      AS has_ranges,
    coalesce(c.parameter_bytes, 0) - coalesce(b.parameter_bytes, 0)
      AS parameter_delta,
    coalesce(c.constant_bytes, 0) - coalesce(b.constant_bytes, 0)
      AS constant_delta,
    coalesce(c.live_out_bytes, 0) - coalesce(b.live_out_bytes, 0)
      AS live_out_delta,
    coalesce(c.thread_local_bytes, 0) - coalesce(b.thread_local_bytes, 0)
      AS thread_local_delta,
    coalesce(c.temp_bytes, 0) - coalesce(b.temp_bytes, 0) AS temp_delta,
    coalesce(c.temp_live_peak_bytes, 0) - coalesce(b.temp_live_peak_bytes, 0)
      AS live_delta,
    coalesce(c.fragmentation_bytes, 0) - coalesce(b.fragmentation_bytes, 0)
      AS packing_delta
  FROM used AS u
  JOIN detailed_pairs AS p USING (pair)
  LEFT JOIN memory_profile AS b
    ON b.module_id = p.base_id
    AND b.color = u.space_color
  LEFT JOIN memory_profile AS c
    ON c.module_id = p.own_id
    AND c.color = u.space_color
),
matched AS MATERIALIZED (
  SELECT
    m.*,
    row_number() OVER (
      ORDER BY m.pair, m.candidate_place NULLS LAST, m.base_place
    ) AS number,
    m.base_is_counted AND m.candidate_is_counted
    AND m.base_color = m.candidate_color
    AND m.base_kind = m.candidate_kind AS is_beside,
    -- Data that does not fit into its room is not known.
    CASE
      WHEN m.base_logical_bytes <= m.base_bytes THEN m.base_logical_bytes
      ELSE m.base_bytes
    END AS base_data,
    CASE
      WHEN m.candidate_logical_bytes <= m.candidate_bytes
        THEN m.candidate_logical_bytes
      ELSE m.candidate_bytes
    END AS own_data,
    CASE WHEN m.base_shape NOT LIKE '(%'
      THEN nullif(regexp_extract(m.base_shape, '^([a-z]\w*)\[', 1), '')
    END AS base_type,
    CASE WHEN m.candidate_shape NOT LIKE '(%'
      THEN nullif(regexp_extract(m.candidate_shape, '^([a-z]\w*)\[', 1), '')
    END AS own_type
  FROM matched_buffers(
    base_ids := (
      SELECT list(CASE WHEN p.is_detailed THEN p.base_id END ORDER BY p.pair)
      FROM detailed_pairs AS p
    ),
    candidate_ids := (
      SELECT list(CASE WHEN p.is_detailed THEN p.own_id END ORDER BY p.pair)
      FROM detailed_pairs AS p
    )
  ) AS m
),
beside AS MATERIALIZED (
  SELECT
    m.*,
    CASE
      WHEN m.base_type IS NOT DISTINCT FROM m.own_type
        THEN m.own_data - m.base_data
      -- What other dimensions cost at the mean of both element widths; the
      -- rest is the element type's. Both change sign when the sides do.
      WHEN e.base_count * e.own_count > 0
        THEN CAST(
          (
            m.base_data * e.own_count // e.base_count - m.base_data
            + m.own_data - m.own_data * e.base_count // e.own_count
          ) // 2
          AS BIGINT
        )
      ELSE 0
    END AS resized,
    (m.candidate_owned_bytes - m.candidate_bytes)
    - (m.base_owned_bytes - m.base_bytes) AS shared
  FROM matched AS m,
  LATERAL (
    SELECT
      CAST(coalesce(list_product(list_transform(
        string_split(nullif(
          regexp_extract(m.base_shape, '\[([^\]]*)\]$', 1), ''), ','
        ),
        lambda x: coalesce(TRY_CAST(replace(x, '<=', '') AS BIGINT), 0)
      )), 1) AS HUGEINT) AS base_count,
      CAST(coalesce(list_product(list_transform(
        string_split(nullif(
          regexp_extract(m.candidate_shape, '\[([^\]]*)\]$', 1), ''), ','
        ),
        lambda x: coalesce(TRY_CAST(replace(x, '<=', '') AS BIGINT), 0)
      )), 1) AS HUGEINT) AS own_count
  ) AS e
  WHERE m.is_beside
),
split AS (
  SELECT
    m.number,
    unnest(
      CASE
        WHEN m.method = 'size'
          THEN [{
            part: 'alias', delta: m.candidate_owned_bytes - m.base_owned_bytes,
            note: 'shares more or less in place'
          }]
        ELSE [
          {
            part: 'retyped',
            delta: CASE
              WHEN m.base_type IS DISTINCT FROM m.own_type
                THEN m.own_data - m.base_data - m.resized
              ELSE 0
            END,
            note: concat(
              coalesce(m.base_shape, 'None'), ' to ',
              coalesce(m.candidate_shape, 'None')
            )
          },
          {
            part: 'resized', delta: m.resized,
            note: concat(
              coalesce(m.base_shape, 'None'), ' to ',
              coalesce(m.candidate_shape, 'None')
            )
          },
          {
            part: 'repadded',
            delta: (m.candidate_bytes - m.own_data)
              - (m.base_bytes - m.base_data),
            note: concat(
              m.base_bytes, ' B to ', m.candidate_bytes, ' B'
            )
          },
          {
            part: 'alias', delta: m.shared,
            note: CASE
              WHEN m.shared > 0 THEN 'shares less in place'
              ELSE 'shares in place'
            END
          }
        ]
      END
    ) AS change
  FROM beside AS m
),
changed AS MATERIALIZED (
  SELECT s.number, s.change.part, s.change.delta, s.change.note
  FROM split AS s
  WHERE s.change.delta <> 0
),
sided AS (
  SELECT m.number, FALSE AS is_candidate
  FROM matched AS m
  WHERE NOT m.is_beside IS NOT DISTINCT FROM TRUE
    AND m.base_is_counted
  UNION ALL
  SELECT m.number, TRUE
  FROM matched AS m
  WHERE NOT m.is_beside IS NOT DISTINCT FROM TRUE
    AND m.candidate_is_counted
),
rows_of_buffers AS (
  SELECT
    m.number, m.candidate_color AS space_color, m.candidate_kind AS kind,
    coalesce(c.part, 'same') AS part, coalesce(c.delta, 0) AS delta,
    coalesce(c.note, '') AS note,
    CASE
      WHEN m.base_owned_bytes = m.candidate_owned_bytes THEN 'same'
      WHEN m.base_owned_bytes < m.candidate_owned_bytes THEN 'larger'
      ELSE 'smaller'
    END AS status,
    m.base_owned_bytes AS base_held, m.candidate_owned_bytes AS own_held
  FROM beside AS m
  LEFT JOIN changed AS c USING (number)
  UNION ALL
  SELECT
    m.number,
    CASE WHEN s.is_candidate THEN m.candidate_color ELSE m.base_color END,
    CASE WHEN s.is_candidate THEN m.candidate_kind ELSE m.base_kind END,
    CASE
      WHEN m.method = 'output' THEN 'alias'
      WHEN m.candidate_place IS NULL THEN 'gone'
      WHEN m.base_place IS NULL THEN 'new'
      WHEN m.base_color <> m.candidate_color THEN 'memory_space'
      WHEN m.base_kind <> m.candidate_kind THEN 'allocation_kind'
      WHEN m.candidate_kind = 'temp' THEN 'lifetime'
      ELSE 'alias'
    END,
    CASE
      WHEN s.is_candidate THEN m.candidate_owned_bytes
      ELSE -m.base_owned_bytes
    END,
    CASE
      WHEN m.method = 'output' AND s.is_candidate
        THEN format(
          'output {} shared its memory with a parameter', m.output_index
        )
      WHEN m.method = 'output'
        THEN format(
          'output {} now shares its memory with a parameter', m.output_index
        )
      WHEN m.candidate_place IS NULL OR m.base_place IS NULL THEN ''
      WHEN m.base_color <> m.candidate_color
        THEN format(
          'memory space {} to {}', m.base_color, m.candidate_color
        )
      WHEN m.base_kind <> m.candidate_kind
        THEN concat(m.base_kind, ' to ', m.candidate_kind)
      WHEN m.candidate_kind = 'temp' AND m.candidate_is_counted
        THEN 'now live at the peak'
      WHEN m.candidate_kind = 'temp' THEN 'no longer live at the peak'
      WHEN m.candidate_is_counted THEN 'has its own allocation'
      ELSE 'shares an allocation'
    END,
    CASE
      WHEN s.is_candidate AND m.base_place IS NULL THEN 'new'
      WHEN m.candidate_place IS NULL THEN 'gone'
      WHEN m.base_color <> m.candidate_color
        OR m.base_kind <> m.candidate_kind
        THEN CASE WHEN s.is_candidate THEN 'moved in' ELSE 'moved out' END
      WHEN m.candidate_kind = 'temp' AND s.is_candidate THEN 'now at the peak'
      WHEN m.candidate_kind = 'temp' THEN 'no longer at the peak'
      WHEN s.is_candidate THEN 'no longer shared'
      ELSE 'now shared'
    END,
    CASE WHEN NOT s.is_candidate THEN m.base_owned_bytes END,
    CASE WHEN s.is_candidate THEN m.candidate_owned_bytes END
  FROM matched AS m
  JOIN sided AS s USING (number)
),
rows_of_profiles AS (
  SELECT
    s.pair, s.space_color,
    unnest(
      CASE
        WHEN s.is_detailed THEN []
        ELSE [
          {part: 'whole', kind: 'parameter', delta: s.parameter_delta},
          {part: 'whole', kind: 'constant', delta: s.constant_delta},
          {part: 'whole', kind: 'live_out', delta: s.live_out_delta},
          {part: 'whole', kind: 'thread_local', delta: s.thread_local_delta},
          {
            part: 'whole', kind: 'temp',
            delta: CASE WHEN s.has_ranges THEN s.live_delta ELSE 0 END
          }
        ]
      END
      || [{
        part: CASE
          WHEN s.packing_delta = 0 AND s.has_ranges THEN 'same'
          WHEN s.temp_delta = 0 AND NOT s.has_ranges THEN 'same'
          WHEN s.has_ranges THEN 'fragmentation'
          ELSE 'temp'
        END,
        kind: 'temp',
        delta: CASE
          WHEN s.has_ranges THEN s.packing_delta ELSE s.temp_delta
        END
      }]
    ) AS change
  FROM spaces AS s
),
-- Few columns: each window carries all that there are.
found AS MATERIALIZED (
  SELECT
    m.pair, r.number, r.space_color, r.kind, r.part, r.delta, r.note,
    r.status, r.base_held, r.own_held, m.confidence,
    coalesce(
      CASE
        WHEN m.candidate_bytes IS NULL THEN m.base_instruction
        ELSE m.candidate_instruction
      END, ''
    ) AS own_name
  FROM rows_of_buffers AS r
  JOIN matched AS m USING (number)
  JOIN spaces AS s
    ON s.pair = m.pair
    AND s.space_color = r.space_color
  WHERE s.has_ranges
    OR r.kind <> 'temp'
  UNION ALL BY NAME
  SELECT
    r.pair, r.space_color, r.change.kind, r.change.part, r.change.delta,
    CASE r.change.part
      WHEN 'fragmentation' THEN 'packing'
      WHEN 'temp' THEN 'one side has no live ranges'
      WHEN 'whole' THEN 'details of a run are pruned'
      ELSE ''
    END AS note,
    1.0 AS confidence, '' AS own_name
  FROM rows_of_profiles AS r
  WHERE r.change.delta <> 0
    OR r.change.part = 'same'
),
part_sums AS MATERIALIZED (
  SELECT
    f.pair, f.space_color, f.part, f.kind, sum(f.delta) AS part_delta,
    count(*) AS part_count
  FROM found AS f
  GROUP BY f.pair, f.space_color, f.part, f.kind
),
explained AS (
  SELECT p.pair, p.space_color, sum(p.part_delta) AS delta
  FROM part_sums AS p
  GROUP BY p.pair, p.space_color
),
placed AS (
  SELECT
    f.*,
    row_number() OVER (
      PARTITION BY f.pair, f.space_color
      ORDER BY abs(f.delta) DESC, f.part, f.kind, f.own_name, f.number
    ) AS place,
    CASE WHEN f.status IS NOT NULL THEN
      dense_rank() OVER (
        PARTITION BY f.pair, f.space_color
        ORDER BY
          greatest(coalesce(f.base_held, 0), coalesce(f.own_held, 0)) DESC,
          f.status, f.own_name, f.number, f.kind
      )
    END AS held
  FROM found AS f
),
-- Decimals: sums do not depend on the order of rows.
causes AS (
  SELECT
    f.pair, f.space_color, f.part,
    CASE WHEN NOT s.is_detailed THEN f.kind END AS own_kind,
    CAST(sum(f.delta) AS BIGINT) AS delta,
    CAST(sum(
      abs(f.delta) * CAST(
        CASE WHEN f.confidence = 0 THEN 0.8 ELSE f.confidence END
        AS DECIMAL(3, 2)
      )
    ) AS DOUBLE) / nullif(sum(abs(f.delta)), 0) AS confidence
  FROM found AS f
  JOIN spaces AS s USING (pair, space_color)
  WHERE f.part <> 'same'
  GROUP BY ALL
),
mains AS (
  SELECT
    c.*,
    CASE
      WHEN c.delta > 0
        THEN c.delta
          / sum(greatest(c.delta, 0)) OVER (PARTITION BY c.pair, c.space_color)
      WHEN c.delta < 0
        THEN c.delta
          / sum(least(c.delta, 0)) OVER (PARTITION BY c.pair, c.space_color)
      ELSE 0.0
    END AS share
  FROM causes AS c
  JOIN spaces AS s USING (pair, space_color)
  QUALIFY row_number() OVER (
    PARTITION BY c.pair, c.space_color
    ORDER BY
      CASE WHEN s.total_delta < 0 THEN c.delta ELSE -c.delta END, c.part,
      c.own_kind
  ) = 1
)
SELECT
  f.pair, f.space_color AS color, f.place, f.part, f.kind,
  CAST(f.delta AS BIGINT) AS delta_bytes, f.note, f.status, f.held,
  f.base_held AS base_held_bytes, f.own_held AS candidate_held_bytes,
  coalesce(b.method, 'profile') AS method,
  CAST(f.confidence AS DOUBLE) AS confidence,
  b.base_value_id, b.base_instruction, b.base_opcode, b.base_op_path,
  b.base_shape, b.base_shape_index, b.base_parameter, b.base_bytes,
  b.candidate_value_id, b.candidate_instruction, b.candidate_opcode,
  b.candidate_op_path, b.candidate_shape, b.candidate_shape_index,
  b.candidate_parameter, b.candidate_bytes,
  CAST(s.total_delta AS BIGINT) AS total_delta_bytes,
  CAST(s.total_delta - e.delta AS BIGINT) AS residual_bytes,
  CAST(p.part_delta AS BIGINT) AS part_delta_bytes,
  p.part_count AS part_buffer_count,
  coalesce(m.part, 'none') AS main_part,
  coalesce(f.part = m.part AND f.kind = coalesce(m.own_kind, f.kind), FALSE)
    AS is_main,
  m.share AS main_share_ratio, coalesce(m.confidence, 1.0) AS main_confidence,
  s.is_detailed
FROM placed AS f
JOIN spaces AS s USING (pair, space_color)
JOIN explained AS e USING (pair, space_color)
JOIN part_sums AS p USING (pair, space_color, part, kind)
LEFT JOIN matched AS b ON b.number = f.number
LEFT JOIN mains AS m
  ON m.pair = f.pair
  AND m.space_color = f.space_color
