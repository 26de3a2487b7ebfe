-- title: Instructions by opcode
-- question: How many instructions of each opcode does a module have, and how
--   large are their results?
-- definition: Instructions by opcode, in the last snapshot of every module
--   unless stage is set. out_bytes is the sum of the logical sizes of their
--   results; a tuple counts as its table of pointers. top_level_count leaves
--   out instructions inside fusions and inside the small computations that
--   reductions, sorts and scatters apply: it counts what is scheduled.
-- grain: module occurrence, opcode
-- leading: program, stage, opcode, instruction_count, count_ratio,
--   top_level_count, out_bytes
-- split: programs
-- param run
-- param program
-- param stage VARCHAR = NULL of modules.stage: Only snapshots of this stage;
--   NULL for the last one of every module.
-- column run
-- column program
-- column module_number
-- column rank
-- column stage
-- column opcode
-- column instruction_count BIGINT count neutral: Instructions of this opcode.
-- column count_ratio DOUBLE ratio neutral: Share of the module's instructions.
-- column top_level_count BIGINT count neutral: Instructions outside of fusions
--   and reducers.
-- column out_bytes BIGINT bytes neutral: Sum of the logical sizes of their
--   results.
-- column top_level_out_bytes BIGINT bytes neutral: The same for top-level
--   instructions.
WITH chosen AS (
  SELECT
    f.run AS run_name, f.program AS program_name, f.module_number, f.rank,
    f.stage AS stage_name, f.path, f.module_id
  FROM final_modules() AS f
  WHERE $stage IS NULL
  UNION ALL
  SELECT
    r.run, m.program, m.module_number, m.rank, m.stage, m.path, m.module_id
  FROM modules AS m
  JOIN selected_run() AS r USING (run_id)
  WHERE m.stage = $stage
    AND ($program IS NULL OR m.program = $program)
),
counted AS (
  SELECT
    i.module_id, i.opcode, count(*) AS instruction_count,
    count(*) FILTER (
      WHERE c.kind IS NULL OR c.kind NOT IN ('fusion', 'reducer')
    ) AS top_level_count,
    CAST(coalesce(sum(i.logical_bytes), 0) AS BIGINT) AS out_bytes,
    CAST(coalesce(sum(i.logical_bytes) FILTER (
      WHERE c.kind IS NULL OR c.kind NOT IN ('fusion', 'reducer')
    ), 0) AS BIGINT) AS top_level_out_bytes
  FROM (SELECT DISTINCT module_id FROM chosen) AS m
  JOIN instructions AS i USING (module_id)
  LEFT JOIN computations AS c USING (module_id, computation_id)
  GROUP BY i.module_id, i.opcode
)
SELECT
  m.run_name AS run, m.program_name AS program, m.module_number, m.rank,
  m.stage_name AS stage, n.opcode, n.instruction_count,
  n.instruction_count / sum(n.instruction_count) OVER (
    PARTITION BY
      m.run_name, m.program_name, m.module_number, m.rank, m.stage_name,
      m.path, m.module_id
  ) AS count_ratio,
  n.top_level_count, n.out_bytes, n.top_level_out_bytes
FROM chosen AS m
JOIN counted AS n USING (module_id)
ORDER BY
  m.program_name, m.module_number, m.rank, m.stage_name, m.path,
  n.instruction_count DESC, n.opcode
