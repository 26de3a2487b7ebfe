-- title: Fusions
-- question: What does each fusion read and write, and how many bytes does it
--   save?
-- definition: Fusions of the last snapshot of every module. op_count is the
--   number of instructions in the fused computation, without parameters,
--   constants, tuples and get-tuple-elements. read_bytes are the operands,
--   written_bytes the results. saved_bytes are the results of fused
--   instructions that are never written to memory: the sum over the fused
--   instructions minus the results of the fusion itself (without parameters
--   and constants that it only passes on). Tuples count by their arrays
--   (tuple_sizes). All sizes are logical.
-- grain: module occurrence, fusion
-- leading: program, instruction, saved_bytes, read_bytes, written_bytes,
--   fusion_kind, op_count
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
-- column saved_bytes BIGINT bytes higher_is_better: Bytes that are not written
--   to memory because of the fusion.
-- column op_name
WITH sized AS MATERIALIZED (
  -- Once: fusions, what they read and what is fused are looked up here.
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.name, f.opcode,
    f.fusion_kind, f.op_name, coalesce(t.array_count, 1) AS array_count,
    coalesce(t.array_bytes, f.logical_bytes) AS result_bytes
  FROM final_contents() AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
  LEFT JOIN tuple_sizes() AS t USING (shape)
),
passed AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id, p.operand_id
  FROM sized AS i
  JOIN operands AS p USING (module_id, instruction_id)
  WHERE i.opcode IN ('fusion', 'tuple')
),
fusions AS MATERIALIZED (
  SELECT i.*, c.computation_id AS fused_id, d.root_instruction_id
  FROM sized AS i
  JOIN called_computations AS c USING (module_id, instruction_id)
  JOIN computations AS d
    ON d.module_id = c.module_id
    AND d.computation_id = c.computation_id
  WHERE i.opcode = 'fusion'
    AND c.role = 'calls'
),
read AS (
  SELECT f.module_id, f.instruction_id, sum(o.result_bytes) AS read_bytes
  FROM fusions AS f
  JOIN passed AS p USING (module_id, instruction_id)
  JOIN sized AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.operand_id
  GROUP BY f.module_id, f.instruction_id
),
fused AS (
  SELECT
    f.module_id, f.instruction_id, count(*) AS op_count,
    sum(i.result_bytes) AS made_bytes
  FROM fusions AS f
  JOIN sized AS i
    ON i.module_id = f.module_id
    AND i.computation_id = f.fused_id
  WHERE i.opcode NOT IN ('parameter', 'constant', 'tuple', 'get-tuple-element')
  GROUP BY f.module_id, f.instruction_id
),
results AS (
  -- The root, or what it puts into a tuple: each once.
  SELECT f.module_id, f.instruction_id, f.root_instruction_id AS result_id
  FROM fusions AS f
  UNION
  SELECT f.module_id, f.instruction_id, p.operand_id
  FROM fusions AS f
  JOIN sized AS r
    ON r.module_id = f.module_id
    AND r.instruction_id = f.root_instruction_id
    AND r.opcode = 'tuple'
  JOIN passed AS p
    ON p.module_id = r.module_id
    AND p.instruction_id = r.instruction_id
),
kept AS (
  SELECT
    r.module_id, r.instruction_id, sum(i.result_bytes) AS kept_bytes
  FROM results AS r
  JOIN sized AS i
    ON i.module_id = r.module_id
    AND i.instruction_id = r.result_id
  WHERE i.opcode NOT IN ('parameter', 'constant', 'tuple')
  GROUP BY r.module_id, r.instruction_id
)
SELECT
  m.run, m.program, m.module_number, m.rank, f.name AS instruction,
  f.fusion_kind,
  coalesce(d.op_count, 0) AS op_count, f.array_count AS output_count,
  CAST(coalesce(r.read_bytes, 0) AS BIGINT) AS read_bytes,
  f.result_bytes AS written_bytes,
  CAST(
    coalesce(d.made_bytes, 0) - coalesce(k.kept_bytes, 0) AS BIGINT
  ) AS saved_bytes,
  f.op_name
FROM final_modules() AS m
JOIN fusions AS f USING (module_id)
LEFT JOIN read AS r USING (module_id, instruction_id)
LEFT JOIN fused AS d USING (module_id, instruction_id)
LEFT JOIN kept AS k USING (module_id, instruction_id)
ORDER BY
  saved_bytes DESC, m.program, m.module_number, m.rank, f.instruction_id
LIMIT $top
