-- title: Copies that the compiler inserted
-- question: Which copies did the compiler insert, and why?
-- definition: copy and copy-start instructions outside of fusions (data_moves)
--   with a reason, the first that applies: space (memory spaces differ),
--   layout (order or tiling of dimensions differ), loop (in the body or
--   condition of a loop, or read by a while), output (a parameter or constant
--   copied to the result), async (any other copy-start), interference (all
--   others: the value is needed again after it is overwritten). at_peak_bytes
--   are bytes that the copy owns at the live peaks of all memory spaces.
-- grain: module occurrence, instruction
-- leading: program, instruction, reason, copied_bytes, at_peak_bytes,
--   operand_shape, shape, source_line
-- param run
-- param program
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column instruction
-- column opcode
-- column reason VARCHAR name neutral: space, layout, loop, output, async or
--   interference.
-- column operand_shape VARCHAR text neutral: Shape of the operand.
-- column shape VARCHAR text neutral: Shape of the result.
-- column copied_bytes BIGINT bytes lower_is_better: Logical size of the
--   operand.
-- column at_peak_bytes BIGINT bytes lower_is_better: Bytes it owns at the live
--   peaks; NULL without live ranges.
-- column op_name
-- column source_file
-- column source_line
WITH read AS MATERIALIZED (
  -- Once: operands are looked up in four ways.
  SELECT p.module_id, p.instruction_id, p.operand_index, p.operand_id
  FROM final_contents() AS m
  JOIN operands AS p USING (module_id)
),
copies AS MATERIALIZED (
  SELECT o.*, c.kind AS computation_kind, c.root_instruction_id
  FROM data_moves() AS o
  LEFT JOIN computations AS c USING (module_id, computation_id)
  WHERE o.opcode IN ('copy', 'copy-start')
    AND coalesce(c.kind, 'entry') NOT IN ('fusion', 'reducer')
),
readers AS (
  SELECT
    c.module_id, c.instruction_id,
    bool_or(r.opcode = 'while') AS feeds_loop,
    bool_or(p.instruction_id = c.root_instruction_id) AS feeds_result
  FROM copies AS c
  JOIN read AS p
    ON p.module_id = c.module_id
    AND p.operand_id = c.instruction_id
  JOIN instructions AS r
    ON r.module_id = p.module_id
    AND r.instruction_id = p.instruction_id
  GROUP BY c.module_id, c.instruction_id
),
tuples AS (
  SELECT DISTINCT c.module_id, c.instruction_id
  FROM copies AS c
  JOIN read AS p
    ON p.module_id = c.module_id
    AND p.operand_id = c.instruction_id
  JOIN instructions AS t
    ON t.module_id = p.module_id
    AND t.instruction_id = p.instruction_id
    AND t.opcode = 'tuple'
  JOIN read AS q
    ON q.module_id = t.module_id
    AND q.operand_id = t.instruction_id
  JOIN instructions AS w
    ON w.module_id = q.module_id
    AND w.instruction_id = q.instruction_id
    AND w.opcode = 'while'
),
peaks AS (
  SELECT module_id, instruction_id, sum(owned_bytes) AS owned_bytes
  FROM peak_values()
  WHERE instruction_id IS NOT NULL
  GROUP BY module_id, instruction_id
),
measured AS (
  SELECT DISTINCT module_id
  FROM memory_profile
  WHERE memory_profile.peak_step IS NOT NULL
),
reasons AS (
  SELECT
    c.module_id, c.instruction_id, c.instruction, c.opcode, c.operand_shape,
    c.shape, c.logical_bytes, c.op_name,
    CASE WHEN n.module_id IS NOT NULL THEN coalesce(k.owned_bytes, 0) END
      AS owned_bytes,
    CASE
      WHEN c.from_color <> c.to_color THEN 'space'
      WHEN regexp_replace(c.shape, 'S\([0-9]+\)', '', 'g')
        <> regexp_replace(c.operand_shape, 'S\([0-9]+\)', '', 'g')
          THEN 'layout'
      WHEN c.computation_kind IN ('while_body', 'while_condition') THEN 'loop'
      WHEN r.feeds_loop OR t.instruction_id IS NOT NULL THEN 'loop'
      WHEN c.operand_opcode IN ('parameter', 'constant')
        AND (r.feeds_result OR c.instruction_id = c.root_instruction_id)
          THEN 'output'
      WHEN c.opcode = 'copy-start' THEN 'async'
      ELSE 'interference'
    END AS reason
  FROM copies AS c
  LEFT JOIN readers AS r USING (module_id, instruction_id)
  LEFT JOIN tuples AS t USING (module_id, instruction_id)
  LEFT JOIN peaks AS k USING (module_id, instruction_id)
  LEFT JOIN measured AS n USING (module_id)
)
SELECT
  m.run, m.program, m.module_number, m.rank, r.instruction, r.opcode, r.reason,
  r.operand_shape, r.shape, r.logical_bytes AS copied_bytes,
  CAST(r.owned_bytes AS BIGINT) AS at_peak_bytes, r.op_name, s.source_file,
  s.source_line
FROM final_modules() AS m
JOIN reasons AS r USING (module_id)
LEFT JOIN instruction_sources() AS s
  ON s.module_id = m.module_id
  AND s.locations_id = m.locations_id
  AND s.instruction_id = r.instruction_id
ORDER BY
  copied_bytes DESC, m.program, m.module_number, m.rank, r.instruction_id
LIMIT $top
