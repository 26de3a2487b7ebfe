-- title: Values computed long before use
-- question: Which values are computed long before their first use and live
--   through the peak?
-- definition: Temporary arrays that are live at the peak of their memory space
--   and first read after it. gap_steps is the number of steps from definition
--   to first read. operand_bytes are the temporary values that the defining
--   instruction reads and that end before the peak: they would have to live
--   longer if the value were computed at its first use. net_saving_bytes is
--   the value's leverage minus operand_bytes, at least 0. It is 0 for
--   parameters, loops, calls and asynchronous operations, and for the values
--   that they call or carry (async_collectives): these run early on purpose.
-- grain: module occurrence, value
-- leading: program, space_name, instruction, net_saving_bytes, size_bytes,
--   gap_steps, first_use_step, shape
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
-- column instruction
-- column shape_index
-- column opcode
-- column shape
-- column size_bytes
-- column start_step
-- column first_use_step INTEGER step neutral: First step at which it is read.
-- column gap_steps BIGINT steps lower_is_better: Steps from definition to
--   first read.
-- column operand_bytes BIGINT bytes neutral: Operands that would have to live
--   longer if it were computed later.
-- column net_saving_bytes BIGINT bytes higher_is_better: Largest possible fall
--   of the live peak.
-- column op_name
WITH tenants AS (
  SELECT *
  FROM placed_values()
  WHERE kind = 'temp'
    AND start_step IS NOT NULL
    AND shape NOT LIKE '(%'
),
reads AS (
  SELECT
    t.module_id, t.value_id, u.instruction_id AS reader_id,
    i.schedule_step AS step
  FROM tenants AS t
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN store.instructions AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
  WHERE i.schedule_step IS NOT NULL
),
first_reads AS (
  SELECT r.module_id, r.value_id, min(r.step) AS first_use_step
  FROM reads AS r
  JOIN tenants AS t USING (module_id, value_id)
  WHERE r.step > t.start_step
  GROUP BY r.module_id, r.value_id
),
early AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.space_name, m.peak_step, t.*, f.first_use_step
  FROM selected_memory() AS m
  JOIN tenants AS t USING (module_id, color)
  JOIN first_reads AS f USING (module_id, value_id)
  WHERE t.start_step < m.peak_step
    AND t.end_step >= m.peak_step
    AND f.first_use_step > m.peak_step
),
carriers AS (
  SELECT DISTINCT module_id, fusion_id
  FROM async_collectives()
),
prices AS (
  SELECT e.module_id, e.value_id, sum(e.size_bytes) AS operand_bytes
  FROM (
    SELECT DISTINCT b.module_id, b.value_id, o.value_id AS operand_id,
      o.size_bytes
    FROM early AS b
    JOIN reads AS r
      ON r.module_id = b.module_id
      AND r.reader_id = b.instruction_id
    JOIN tenants AS o
      ON o.module_id = r.module_id
      AND o.value_id = r.value_id
      AND o.color = b.color
      AND o.end_step < b.peak_step
  ) AS e
  GROUP BY e.module_id, e.value_id
)
SELECT
  e.run_name AS run, e.program_name AS program, e.module_number, e.rank,
  e.color AS color, e.space_name, e.instruction, e.shape_index, i.opcode,
  e.shape, e.size_bytes, e.start_step, e.first_use_step,
  CAST(e.first_use_step - e.start_step AS BIGINT) AS gap_steps,
  CAST(coalesce(p.operand_bytes, 0) AS BIGINT) AS operand_bytes,
  CAST(CASE
    WHEN i.opcode IN ('parameter', 'while', 'call', 'conditional')
      OR regexp_matches(i.opcode, '-(start|update|done)$')
      OR n.kind = 'async'
      OR c.fusion_id IS NOT NULL THEN 0
    ELSE greatest(
      0, coalesce(l.leverage_bytes, 0) - coalesce(p.operand_bytes, 0)
    )
  END AS BIGINT) AS net_saving_bytes,
  i.op_name
FROM early AS e
JOIN selected_instructions() AS i
  USING (module_id, instruction_id)
LEFT JOIN computations AS n
  ON n.module_id = i.module_id
  AND n.computation_id = i.computation_id
LEFT JOIN carriers AS c
  ON c.module_id = i.module_id
  AND c.fusion_id = i.instruction_id
LEFT JOIN prices AS p USING (module_id, value_id)
LEFT JOIN value_leverage() AS l
  ON l.module_id = e.module_id
  AND l.allocation_id = e.allocation_id
  AND l.value_id = e.value_id
ORDER BY
  net_saving_bytes DESC, e.size_bytes DESC, e.program_name, e.module_number,
  e.rank, e.value_id
LIMIT $top
