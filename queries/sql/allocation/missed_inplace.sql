-- title: Missed in-place reuse
-- question: Where does an instruction write to a new buffer although an
--   operand of the same size is no longer needed?
-- definition: Pairs of temporary values in one memory space: an instruction
--   reads the older value for the last time and defines the newer one at the
--   same step; both have the same size, but different places, and the
--   instruction could work in place (element-wise operations, fusions of kind
--   loop or input, dynamic-update-slice, scatter, sort, copy). If several
--   operands and results have the same size, the n-th is paired with the n-th;
--   those that do share a place are left out. leverage_bytes is the fall of
--   the live peak if the pair shared its bytes at that step.
-- grain: module occurrence, pair of values
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
WITH tenants AS (
  SELECT *
  FROM placed_values()
  WHERE kind = 'temp'
    AND start_step IS NOT NULL
    AND size_bytes > 0
),
met AS MATERIALIZED (
  SELECT DISTINCT
    b.module_id, b.color AS space_color, b.instruction_id, b.instruction,
    b.shape_index, a.instruction AS operand_instruction,
    a.shape_index AS operand_shape_index, b.start_step AS step, b.shape,
    b.size_bytes, i.opcode, i.op_name, a.value_id AS older_id,
    b.value_id AS newer_id,
    a.allocation_id = b.allocation_id AND a.offset_bytes = b.offset_bytes
      AS is_shared
  FROM tenants AS a
  JOIN store.value_uses AS u
    ON u.module_id = a.module_id
    AND u.value_id = a.value_id
  JOIN tenants AS b
    ON b.module_id = u.module_id
    AND b.instruction_id = u.instruction_id
    AND b.start_step = a.end_step
    AND b.size_bytes = a.size_bytes
    AND b.color = a.color
    AND b.value_id <> a.value_id
  JOIN selected_instructions() AS i
    ON i.module_id = b.module_id
    AND i.instruction_id = b.instruction_id
  WHERE (
      i.opcode IN (
        'abs', 'add', 'and', 'atan2', 'bitcast-convert', 'cbrt', 'ceil',
        'clamp',
        'compare', 'convert', 'copy', 'cosine', 'divide',
        'dynamic-update-slice',
        'erf', 'exponential', 'exponential-minus-one', 'floor', 'log',
        'log-plus-one', 'logistic', 'maximum', 'minimum', 'multiply', 'negate',
        'not',
        'or', 'popcnt', 'power', 'reduce-precision', 'remainder',
        'round-nearest-afz', 'round-nearest-even', 'rsqrt', 'scatter',
        'select',
        'shift-left', 'shift-right-arithmetic', 'shift-right-logical', 'sign',
        'sine',
        'sort', 'sqrt', 'subtract', 'tan', 'tanh', 'xor'
      )
      OR (i.opcode = 'fusion' AND i.fusion_kind IN ('kLoop', 'kInput'))
    )
),
apart AS (
  SELECT
    *,
    dense_rank() OVER (sizes ORDER BY older_id) AS older_place,
    dense_rank() OVER (sizes ORDER BY newer_id) AS newer_place
  FROM (
    SELECT
      *,
      bool_or(is_shared) OVER (PARTITION BY module_id, older_id) AS is_taken,
      bool_or(is_shared) OVER (PARTITION BY module_id, newer_id) AS is_placed
    FROM met
  )
  WHERE NOT is_taken
    AND NOT is_placed
  WINDOW sizes AS (
    PARTITION BY module_id, instruction_id, space_color, size_bytes
  )
),
pairs AS (
  SELECT *
  FROM apart
  WHERE older_place = newer_place
),
peaks AS (
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
JOIN pairs AS p
  ON p.module_id = m.module_id
  AND p.space_color = m.color
LEFT JOIN peaks AS k
  ON k.module_id = m.module_id
  AND k.space_color = m.color
ORDER BY
  leverage_bytes DESC, saved_bytes DESC, m.program, m.module_number, m.rank,
  p.older_id, p.newer_id
LIMIT $top
