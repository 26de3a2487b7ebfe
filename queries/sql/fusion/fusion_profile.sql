-- title: Fusions
-- question: How well did fusion do: what does each fusion read, write and
--   save?
-- definition: Fusion instructions of the last snapshot of every module.
--   op_count counts the instructions of the fused computation without
--   parameters, constants, tuples and get-tuple-elements. read_bytes are the
--   operands, written_bytes the results (a tuple by its elements), saved_bytes
--   the results of the fused instructions that were never written: their sum
--   minus written_bytes. All sizes are logical.
-- grain: module occurrence, fusion
-- needs: final_modules, instructions, operands, called_computations,
--   computations
-- param run
-- param program
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column instruction
-- column fusion_kind VARCHAR name neutral: kLoop, kInput, kOutput or kCustom.
-- column op_count BIGINT count higher_is_better: Fused instructions.
-- column output_count BIGINT count neutral: Results.
-- column read_bytes BIGINT bytes lower_is_better: Sizes of the operands.
-- column written_bytes BIGINT bytes lower_is_better: Sizes of the results.
-- column saved_bytes BIGINT bytes higher_is_better: What is never written.
-- column op_name
WITH fusions AS (
  SELECT DISTINCT
    i.module_id, i.instruction_id, i.name, i.fusion_kind, i.op_name,
    i.logical_bytes, c.computation_id, d.root_instruction_id
  FROM final_modules(run := $run, program := $program) AS m
  JOIN instructions AS i USING (module_id)
  JOIN called_computations AS c USING (module_id, instruction_id)
  JOIN computations AS d
    ON d.module_id = c.module_id
    AND d.computation_id = c.computation_id
  WHERE i.opcode = 'fusion'
    AND c.role = 'calls'
),
read AS (
  SELECT f.module_id, f.instruction_id, sum(o.logical_bytes) AS read_bytes
  FROM fusions AS f
  JOIN operands AS p USING (module_id, instruction_id)
  JOIN instructions AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.operand_id
  GROUP BY f.module_id, f.instruction_id
),
fused AS (
  SELECT
    f.module_id, f.instruction_id, count(*) AS op_count,
    sum(i.logical_bytes) AS made_bytes
  FROM fusions AS f
  JOIN instructions AS i
    ON i.module_id = f.module_id
    AND i.computation_id = f.computation_id
  WHERE i.opcode NOT IN ('parameter', 'constant', 'tuple', 'get-tuple-element')
  GROUP BY f.module_id, f.instruction_id
),
written AS (
  SELECT
    f.module_id, f.instruction_id, count(*) AS output_count,
    sum(e.logical_bytes) AS written_bytes
  FROM fusions AS f
  JOIN instructions AS r
    ON r.module_id = f.module_id
    AND r.instruction_id = f.root_instruction_id
    AND r.opcode = 'tuple'
  JOIN operands AS p
    ON p.module_id = r.module_id
    AND p.instruction_id = r.instruction_id
  JOIN instructions AS e
    ON e.module_id = p.module_id
    AND e.instruction_id = p.operand_id
  GROUP BY f.module_id, f.instruction_id
)
SELECT
  m.run, m.program, m.module_number, m.rank, f.name AS instruction,
  f.fusion_kind,
  coalesce(d.op_count, 0) AS op_count,
  coalesce(w.output_count, 1) AS output_count,
  CAST(coalesce(r.read_bytes, 0) AS BIGINT) AS read_bytes,
  CAST(coalesce(w.written_bytes, f.logical_bytes) AS BIGINT) AS written_bytes,
  CAST(
    coalesce(d.made_bytes, 0) - coalesce(w.written_bytes, f.logical_bytes)
      AS BIGINT
  ) AS saved_bytes,
  f.op_name
FROM final_modules(run := $run, program := $program) AS m
JOIN fusions AS f USING (module_id)
LEFT JOIN read AS r USING (module_id, instruction_id)
LEFT JOIN fused AS d USING (module_id, instruction_id)
LEFT JOIN written AS w USING (module_id, instruction_id)
ORDER BY
  saved_bytes DESC, m.program, m.module_number, m.rank, f.instruction_id
LIMIT $top
