-- title: Opcodes of pairs of modules
-- question: Of which operations does one module have more than another?
-- definition: Instructions of all computations by opcode, where their number
--   is not the same in both.
-- grain: pair of modules, opcode
-- param base_ids BIGINT[] = NULL: Module contents of the base.
-- param candidate_ids BIGINT[] = NULL: Module contents of the candidate, in
--   the same order.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column opcode
-- column base_count BIGINT count neutral: Instructions in the base.
-- column candidate_count BIGINT count neutral: The same in the candidate.
WITH counted_pairs AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest(range(1, len($base_ids) + 1)) AS pair,
    unnest($base_ids) AS base_id, unnest($candidate_ids) AS own_id
),
-- Fixed before it meets the forms: else the instructions of all modules do.
forms_there AS MATERIALIZED (
  SELECT i.module_id, i.form_id, count(*) AS times
  FROM (
    SELECT unnest(list_distinct(list(base_id) || list(own_id))) AS module_id
    FROM counted_pairs
    WHERE base_id <> own_id
  )
  JOIN store.instructions AS i USING (module_id)
  WHERE i.computation_id IS NOT NULL
  GROUP BY i.module_id, i.form_id
),
counts AS MATERIALIZED (
  SELECT
    i.module_id, coalesce(f.opcode, '') AS operation, sum(i.times) AS times
  FROM forms_there AS i
  JOIN store.instruction_forms AS f USING (form_id)
  GROUP BY i.module_id, coalesce(f.opcode, '')
),
sides AS (
  SELECT p.pair, c.operation, c.times AS base_times, 0 AS own_times
  FROM counted_pairs AS p
  JOIN counts AS c ON c.module_id = p.base_id
  WHERE p.base_id <> p.own_id
  UNION ALL
  SELECT p.pair, c.operation, 0, c.times
  FROM counted_pairs AS p
  JOIN counts AS c ON c.module_id = p.own_id
  WHERE p.base_id <> p.own_id
)
SELECT
  s.pair, s.operation AS opcode,
  CAST(sum(s.base_times) AS BIGINT) AS base_count,
  CAST(sum(s.own_times) AS BIGINT) AS candidate_count
FROM sides AS s
GROUP BY s.pair, s.operation
HAVING sum(s.base_times) <> sum(s.own_times)
