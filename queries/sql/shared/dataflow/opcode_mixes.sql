-- title: Opcodes of modules
-- question: Do two modules consist of the same operations, whatever their
--   sizes?
-- definition: A hash of how many instructions of each opcode a module has, in
--   all of its computations. Modules without stored instructions are left out.
-- grain: module content
-- param module_ids BIGINT[] = NULL: Contents of the modules (module_id).
-- column module_id
-- column opcode_mix BIGINT id neutral: The hash.
WITH wanted AS (
  SELECT unnest(list_distinct($module_ids)) AS module_id
),
counted AS (
  SELECT
    i.module_id, coalesce(i.opcode, '') AS name, count(*) AS instruction_count
  FROM wanted
  JOIN instructions AS i USING (module_id)
  WHERE i.computation_id IS NOT NULL
  GROUP BY ALL
)
SELECT
  c.module_id,
  CAST(
    hash(list((c.name, c.instruction_count) ORDER BY c.name)) >> 1 AS BIGINT
  ) AS opcode_mix
FROM counted AS c
GROUP BY c.module_id
