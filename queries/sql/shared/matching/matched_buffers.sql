-- title: Buffers of two modules, side by side
-- question: Which buffers of two modules correspond to each other?
-- definition: Buffers of compared_buffers that are counted on at least one
--   side. The allocation of a result that the other side keeps in a parameter
--   (donation_changes) has no partner and the method output. The others are
--   matched by the rules of buffer_rungs: for each key, the n-th of the base
--   is matched with the n-th of the candidate, counted ones first, in order of
--   definition, and by rules 9 and later the largest first. Rules stay within
--   one memory space and kind of allocation unless they say otherwise; only
--   rules 9 to 17 consider values that are not counted. No rule prefers a
--   side.
-- grain: pair of buffers
-- steps: asked_pairs, compared_arrays, lost_donations, sure_matches,
--   unmatched_arrays, likely_matches
-- param base_ids BIGINT[] = NULL: Module contents of the base; NULL for none.
-- param candidate_ids BIGINT[] = NULL: Module contents of the candidate, in
--   the same order.
-- param base_arenas BIGINT[] = NULL from 0: Allocations of the base, see
--   compared_buffers.
-- param candidate_arenas BIGINT[] = NULL from 0: Allocations of the candidate,
--   in the same order.
-- param most BIGINT = 250 from 0: Values of an arena that are counted.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column method VARCHAR name neutral: What is equal; output or none without a
--   partner.
-- column confidence DOUBLE score higher_is_better: Confidence of the match,
--   from 0 to 1.
-- column output_index VARCHAR name neutral: Of method output: index into the
--   result.
-- column base_place BIGINT id neutral: Place among those of its side, by
--   birth; NULL without one, as all of these.
-- column base_color INTEGER id neutral: Memory space.
-- column base_kind VARCHAR name neutral: Kind of allocation.
-- column base_allocation_id INTEGER id neutral: Its allocation.
-- column base_value_id INTEGER id neutral: Its value.
-- column base_instruction VARCHAR name neutral: Its instruction.
-- column base_opcode VARCHAR name neutral: Operation of that.
-- column base_op_path VARCHAR name neutral: Framework path.
-- column base_shape VARCHAR text neutral: Shape without layout.
-- column base_shape_index VARCHAR name neutral: Index into the result.
-- column base_parameter VARCHAR name neutral: Number and index of a parameter.
-- column base_offset_bytes BIGINT bytes neutral: Offset in the allocation.
-- column base_bytes BIGINT bytes neutral: Size in memory, padding included.
-- column base_logical_bytes BIGINT bytes neutral: Its data, without padding.
-- column base_start_step INTEGER step neutral: First step at which it is live.
-- column base_end_step INTEGER step neutral: The last.
-- column base_is_counted BOOLEAN flag neutral: Whether it fills the memory.
-- column base_owned_bytes BIGINT bytes neutral: Bytes that it owns.
-- column candidate_place BIGINT id neutral: Place among those of its side, by
--   birth; NULL without one, as all of these.
-- column candidate_color INTEGER id neutral: Memory space.
-- column candidate_kind VARCHAR name neutral: Kind of allocation.
-- column candidate_allocation_id INTEGER id neutral: Its allocation.
-- column candidate_value_id INTEGER id neutral: Its value.
-- column candidate_instruction VARCHAR name neutral: Its instruction.
-- column candidate_opcode VARCHAR name neutral: Operation of that.
-- column candidate_op_path VARCHAR name neutral: Framework path.
-- column candidate_shape VARCHAR text neutral: Shape without layout.
-- column candidate_shape_index VARCHAR name neutral: Index into the result.
-- column candidate_parameter VARCHAR name neutral: Number and index of a
--   parameter.
-- column candidate_offset_bytes BIGINT bytes neutral: Offset in the
--   allocation.
-- column candidate_bytes BIGINT bytes neutral: Size in memory, padding
--   included.
-- column candidate_logical_bytes BIGINT bytes neutral: Its data, without
--   padding.
-- column candidate_start_step INTEGER step neutral: First step at which it is
--   live.
-- column candidate_end_step INTEGER step neutral: The last.
-- column candidate_is_counted BOOLEAN flag neutral: Whether it fills the
--   memory.
-- column candidate_owned_bytes BIGINT bytes neutral: Bytes that it owns.
WITH couples AS (
  SELECT m.pair, m.base_place, m.candidate_place, m.rung, NULL AS output_index
  FROM sure_matches AS m
  UNION ALL
  SELECT m.pair, m.base_place, m.candidate_place, m.rung, NULL
  FROM likely_matches AS m
  UNION ALL
  SELECT
    d.pair, CASE WHEN NOT d.is_candidate THEN d.place END,
    CASE WHEN d.is_candidate THEN d.place END, NULL, d.output_index
  FROM lost_donations AS d
  UNION ALL
  SELECT
    t.pair, CASE WHEN NOT t.is_candidate THEN t.place END,
    CASE WHEN t.is_candidate THEN t.place END, NULL, NULL
  FROM unmatched_arrays AS t
  ANTI JOIN (
    SELECT x.pair, FALSE AS is_candidate, x.base_place AS place
    FROM likely_matches AS x
    UNION ALL
    SELECT x.pair, TRUE, x.candidate_place
    FROM likely_matches AS x
  ) AS m
    ON m.pair = t.pair
    AND m.is_candidate = t.is_candidate
    AND m.place = t.place
  WHERE t.is_counted
)
SELECT
  o.pair,
  CASE
    WHEN o.output_index IS NOT NULL THEN 'output'
    ELSE coalesce(r.method, 'none')
  END AS method,
  CASE
    WHEN o.output_index IS NOT NULL THEN 1.0
    ELSE coalesce(r.confidence, 0.0)
  END AS confidence,
  o.output_index,
  b.place AS base_place, b.color AS base_color, b.kind AS base_kind,
  b.allocation_id AS base_allocation_id, b.value_id AS base_value_id,
  b.instruction AS base_instruction, b.opcode AS base_opcode, b.op_path AS
  base_op_path, b.array_type AS base_shape, b.shape_index AS base_shape_index,
  b.parameter AS base_parameter, b.offset_bytes AS base_offset_bytes,
  b.size_bytes AS base_bytes, b.logical_bytes AS base_logical_bytes,
  b.start_step AS base_start_step, b.end_step AS base_end_step, b.is_counted
  AS base_is_counted, b.owned_bytes AS base_owned_bytes, c.place AS
  candidate_place, c.color AS candidate_color, c.kind AS candidate_kind,
  c.allocation_id AS candidate_allocation_id, c.value_id AS
  candidate_value_id, c.instruction AS candidate_instruction, c.opcode AS
  candidate_opcode, c.op_path AS candidate_op_path, c.array_type AS
  candidate_shape, c.shape_index AS candidate_shape_index, c.parameter AS
  candidate_parameter, c.offset_bytes AS candidate_offset_bytes, c.size_bytes
  AS candidate_bytes, c.logical_bytes AS candidate_logical_bytes, c.start_step
  AS candidate_start_step, c.end_step AS candidate_end_step, c.is_counted AS
  candidate_is_counted, c.owned_bytes AS candidate_owned_bytes
FROM couples AS o
LEFT JOIN buffer_rungs() AS r USING (rung)
LEFT JOIN compared_arrays AS b
  ON b.pair = o.pair
  AND NOT b.is_candidate
  AND b.place = o.base_place
LEFT JOIN compared_arrays AS c
  ON c.pair = o.pair
  AND c.is_candidate
  AND c.place = o.candidate_place
