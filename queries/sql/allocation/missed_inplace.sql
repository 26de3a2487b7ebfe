-- title: Missed in-place reuse
-- question: Where does an instruction write to a new buffer although an
--   operand of the same size is no longer needed?
-- definition: Pairs of temporary values in one memory space: an instruction
--   reads the older value for the last time and defines the newer one at the
--   same step; both have the same size, but different places, and the
--   instruction could work in place: whatever it writes at a place depends, of
--   the older value, on the same place alone. So are element-wise operations
--   and copies without a change of layout, the first operand of
--   dynamic-update-slice and scatter, the n-th operand of a sort for its n-th
--   result; and fusions of kind loop or input, if everything that reads the
--   operand in them is such an operation (or a bitcast, or a reshape or
--   transpose that moves nothing), and leads to that result. Other transposes,
--   slices, broadcasts, reductions and other reads of an operand rule it out,
--   as does a fusion whose computation the dump lacks. If several operands and
--   results have the same size, the n-th is paired with the n-th; those that
--   do share a place are left out. leverage_bytes is the fall of the live peak
--   if the pair shared its bytes at that step.
-- grain: module occurrence, pair of values
-- steps: elementwise_opcodes, meeting_values, fused_instructions, layouts,
--   fusion_nodes, fusion_edges, in_place_results, missed_pairs
-- leading: program, space_name, instruction, operand_instruction,
--   leverage_bytes, saved_bytes, shape
-- param run
-- param program
-- param color
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column instruction VARCHAR name neutral: Instruction that defines the newer
--   value.
-- column shape_index
-- column opcode
-- column operand_instruction VARCHAR name neutral: Instruction of the older
--   value, the operand.
-- column operand_shape_index VARCHAR name neutral: Index into its result.
-- column step INTEGER step neutral: Step at which the older value ends and the
--   newer one begins.
-- column shape VARCHAR text neutral: Shape of the newer value.
-- column saved_bytes BIGINT bytes higher_is_better: Size of each of the two.
-- column leverage_bytes BIGINT bytes higher_is_better: Possible fall of the
--   live peak.
-- column op_name
WITH highest_stretches AS (
  SELECT
    module_id, t.color AS space_color, max(live_bytes) AS first_bytes,
    count(*) FILTER (
      WHERE live_bytes = highest
    ) AS highest_count,
    max(live_bytes) FILTER (WHERE live_bytes < highest) AS second_bytes,
    max(from_step) FILTER (WHERE live_bytes = highest) AS highest_from,
    max(to_step) FILTER (WHERE live_bytes = highest) AS highest_to
  FROM (
    SELECT
      *,
      max(live_bytes) OVER (
        PARTITION BY module_id, memory_timeline.color
      ) AS highest
    FROM memory_timeline
  ) AS t
  GROUP BY module_id, t.color
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  p.instruction, p.shape_index, p.opcode, p.operand_instruction,
  p.operand_shape_index, p.step, p.shape,
  p.size_bytes AS saved_bytes,
  CASE
    WHEN k.highest_count = 1
      AND k.highest_from = p.step
      AND k.highest_to = p.step
    THEN least(p.size_bytes, k.first_bytes - coalesce(k.second_bytes, 0))
    ELSE 0
  END AS leverage_bytes,
  p.op_name
FROM selected_memory() AS m
JOIN missed_pairs AS p
  ON p.module_id = m.module_id
  AND p.space_color = m.color
LEFT JOIN highest_stretches AS k
  ON k.module_id = m.module_id
  AND k.space_color = m.color
ORDER BY
  leverage_bytes DESC, saved_bytes DESC, m.program, m.module_number, m.rank,
  p.older_id, p.newer_id
LIMIT $top
