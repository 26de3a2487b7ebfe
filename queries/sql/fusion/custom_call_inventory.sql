-- title: Custom calls and custom fusions
-- question: Which custom calls and custom fusions does a program have, and how
--   much workspace do they need?
-- definition: Custom calls of the last snapshot of every module, by target,
--   and custom fusions (kind=kCustom) with a kind in their backend config,
--   such as __ynn_fusion. takes_run_time_memory says that run_time_rules has
--   them: they take memory at run time that no dump states. operand_bytes and
--   result_bytes are logical sizes; for a tuple-shaped result, those of its
--   arrays (tuple_sizes). Workspace is the u8[] elements of tuple-shaped
--   results, and for cuBLAS also one-dimensional s8[] elements. Calls may take
--   more memory that no dump mentions, as cuBLAS did in 2022 and LAPACK and
--   kernels do: without such an element the workspace is unknown (NULL).
--   Scoped memory is the VMEM that a TPU kernel reserves for itself
--   (scoped_memory_configs, vmem_limit_bytes of Pallas). It holds no values,
--   so it is part of fragmentation_bytes; frag_by_space and frag_breakdown
--   show it.
-- grain: module occurrence, target
-- leading: program, custom_call_target, call_count, workspace_bytes,
--   result_bytes, operand_bytes, largest_call
-- split: programs
-- param run
-- param program
-- column run
-- column program
-- column module_number
-- column rank
-- column custom_call_target VARCHAR name neutral: Target of the call, or kind
--   of the fusion.
-- column opcode
-- column takes_run_time_memory BOOLEAN flag neutral: Whether they take memory
--   at run time that no figure includes.
-- column call_count BIGINT count neutral: Number of calls.
-- column operand_bytes BIGINT bytes neutral: Logical sizes of their operands.
-- column result_bytes BIGINT bytes neutral: Logical sizes of their results.
-- column workspace_bytes BIGINT bytes lower_is_better: Workspace of all calls;
--   NULL if none is known.
-- column max_workspace_bytes BIGINT bytes lower_is_better: Largest workspace
--   of one call.
-- column max_scoped_bytes BIGINT bytes lower_is_better: Most scoped memory of
--   one call; NULL if none is recorded.
-- column largest_call VARCHAR name neutral: Instruction with the largest
--   result.
WITH calls AS (
  SELECT DISTINCT
    i.module_id, i.instruction_id, i.name, i.opcode,
    CASE
      WHEN i.opcode = 'custom-call' THEN i.custom_call_target
      ELSE regexp_extract(i.backend_config, '"kind": ?"([^"]+)"', 1)
    END AS custom_call_target,
    i.logical_bytes, i.element_type, i.shape,
    TRY_CAST(regexp_extract(
      i.backend_config,
      '"scoped_memory_configs": ?\[\{"memory_space": ?"?1"?, ?'
        || '"offset": ?"?0"?, ?"size": ?"?([0-9]+)',
      1
    ) AS BIGINT) AS scoped_bytes
  FROM final_modules() AS m
  JOIN instructions AS i USING (module_id)
  WHERE i.opcode = 'custom-call'
    OR (
      i.opcode = 'fusion'
      AND i.fusion_kind = 'kCustom'
      AND regexp_matches(i.backend_config, '"kind": ?"')
    )
),
read AS (
  SELECT c.module_id, c.instruction_id, sum(o.logical_bytes) AS operand_bytes
  FROM calls AS c
  JOIN operands AS p USING (module_id, instruction_id)
  JOIN instructions AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.operand_id
  GROUP BY c.module_id, c.instruction_id
),
elements AS (
  SELECT
    module_id, instruction_id,
    unnest(regexp_extract_all(
      shape,
      CASE
        WHEN starts_with(custom_call_target, '__cublas')
        THEN '\b(?:u8\[[0-9,]*|s8\[[0-9]+)\]'
        ELSE '\bu8\[[0-9,]*\]'
      END
    )) AS printed
  FROM calls
  WHERE element_type = 'tuple'
),
workspaces AS (
  SELECT
    module_id, instruction_id,
    sum(list_reduce(
      list_transform(
        regexp_extract_all(regexp_extract(printed, '\[(.*)\]', 1), '[0-9]+'),
        lambda size: TRY_CAST(size AS BIGINT)
      ),
      lambda x, y: x * y, CAST(1 AS HUGEINT)
    )) AS workspace_bytes
  FROM elements
  GROUP BY module_id, instruction_id
),
sized AS (
  SELECT
    c.*, coalesce(r.operand_bytes, 0) AS operand_bytes,
    CASE
      WHEN c.element_type = 'tuple' THEN coalesce(t.array_bytes, 0)
      ELSE coalesce(c.logical_bytes, 0)
    END AS result_bytes,
    w.workspace_bytes
  FROM calls AS c
  LEFT JOIN read AS r USING (module_id, instruction_id)
  LEFT JOIN workspaces AS w USING (module_id, instruction_id)
  LEFT JOIN tuple_sizes() AS t USING (shape)
)
SELECT
  m.run, m.program, m.module_number, m.rank, s.custom_call_target, s.opcode,
  bool_or(EXISTS (
    SELECT 1
    FROM run_time_rules() AS r
    WHERE r.opcode = s.opcode
      AND regexp_matches(s.custom_call_target, r.pattern)
  )) AS takes_run_time_memory,
  count(*) AS call_count,
  CAST(sum(s.operand_bytes) AS BIGINT) AS operand_bytes,
  CAST(sum(s.result_bytes) AS BIGINT) AS result_bytes,
  CAST(sum(s.workspace_bytes) AS BIGINT) AS workspace_bytes,
  CAST(max(s.workspace_bytes) AS BIGINT) AS max_workspace_bytes,
  max(s.scoped_bytes) AS max_scoped_bytes,
  arg_max(s.name, (s.result_bytes, -s.instruction_id)) AS largest_call
FROM final_modules() AS m
JOIN sized AS s USING (module_id)
GROUP BY
  m.run, m.program, m.module_number, m.rank, m.module_id, m.path,
  s.custom_call_target, s.opcode
ORDER BY
  workspace_bytes DESC NULLS LAST, result_bytes DESC, m.program,
  m.module_number, m.rank, s.custom_call_target
