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
-- steps: asked_pairs, detailed_pairs, space_deltas, buffer_pairs,
--   lasting_pairs, buffer_parts, profile_parts, parts, part_sums, main_parts
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
-- column is_detailed BOOLEAN flag neutral: Whether the buffers of both sides
--   are known.
WITH explained AS (
  SELECT p.pair, p.space_color, sum(p.part_delta) AS delta
  FROM part_sums AS p
  GROUP BY p.pair, p.space_color
),
placed AS (
  SELECT
    f.*,
    row_number() OVER (
      PARTITION BY f.pair, f.space_color
      ORDER BY abs(f.delta) DESC, f.part, f.kind, f.name, f.number
    ) AS place,
    CASE WHEN f.status IS NOT NULL THEN
      dense_rank() OVER (
        PARTITION BY f.pair, f.space_color
        ORDER BY
          greatest(coalesce(f.base_held, 0), coalesce(f.candidate_held, 0))
            DESC,
          f.status, f.name, f.number, f.kind
      )
    END AS held
  FROM parts AS f
)
SELECT
  f.pair, f.space_color AS color, f.place, f.part, f.kind,
  CAST(f.delta AS BIGINT) AS delta_bytes, f.note, f.status, f.held,
  f.base_held AS base_held_bytes, f.candidate_held AS candidate_held_bytes,
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
  coalesce(
    f.part = m.part
    AND f.kind = coalesce(m.main_kind, f.kind)
    AND NOT f.is_regrouped, FALSE
  ) AS is_main,
  m.share AS main_share_ratio, s.is_detailed
FROM placed AS f
JOIN space_deltas AS s USING (pair, space_color)
JOIN explained AS e USING (pair, space_color)
JOIN part_sums AS p USING (pair, space_color, part, kind)
LEFT JOIN buffer_pairs AS b ON b.number = f.number
LEFT JOIN main_parts AS m
  ON m.pair = f.pair
  AND m.space_color = f.space_color
