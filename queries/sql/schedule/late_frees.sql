-- title: Values held for one late reader
-- question: Which values live through the peak only because their last reader
--   is scheduled late?
-- definition: Temporary arrays that are live at the peak of their memory
--   space, whose last scheduled read comes after the peak and whose read
--   before that, or else definition, comes before the peak. Values that are
--   defined or read at the peak are needed there and left out. gap_steps is
--   the number of steps between the two. is_movable: the last reader could run
--   before the peak, because none of its other operands is made at the peak or
--   later, and it is not a done, which waits for operations in between.
--   net_saving_bytes is the value's leverage minus the reader's temporary
--   results in the memory space, at least 0; 0 if it is not movable.
-- grain: module occurrence, value
-- leading: program, space_name, instruction, net_saving_bytes, last_reader,
--   is_movable, size_bytes, gap_steps
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
-- column use_step_before INTEGER step neutral: Step of the use before the
--   last, or else of the definition.
-- column last_use_step INTEGER step neutral: Last step at which it is read.
-- column gap_steps BIGINT steps lower_is_better: Steps between the two.
-- column last_reader VARCHAR name neutral: Last instruction that reads it.
-- column is_movable BOOLEAN flag neutral: Whether the last reader could run
--   before the peak.
-- column result_bytes BIGINT bytes neutral: Temporary results of the last
--   reader.
-- column net_saving_bytes BIGINT bytes higher_is_better: Largest possible fall
--   of the live peak.
-- column op_name
WITH tenants AS (
  SELECT *
  FROM value_places()
  WHERE kind = 'temp'
    AND start_step IS NOT NULL
    AND size_bytes > 0
),
scheduled AS MATERIALIZED (
  -- Once: instructions are looked up in four ways.
  SELECT
    i.module_id, i.instruction_id, i.name, i.form_id, i.schedule_step AS step
  FROM (SELECT DISTINCT module_id FROM tenants) AS m
  JOIN store.instructions AS i USING (module_id)
),
reads AS MATERIALIZED (
  SELECT DISTINCT
    t.module_id, t.value_id, t.start_step, t.end_step,
    u.instruction_id AS reader_id,
    i.name AS reader, i.step
  FROM tenants AS t
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN scheduled AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
),
numbered AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY module_id, value_id ORDER BY step DESC, reader_id DESC
    ) AS place,
    lead(step, 1, start_step) OVER (
      PARTITION BY module_id, value_id ORDER BY step DESC, reader_id DESC
    ) AS step_before
  FROM reads
  WHERE step BETWEEN start_step AND end_step
),
late AS MATERIALIZED (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.space_name, m.peak_step, t.*, n.reader_id, n.reader,
    n.step AS last_use_step, n.step_before
  FROM selected_memory() AS m
  JOIN tenants AS t USING (module_id, color)
  JOIN numbered AS n USING (module_id, value_id)
  WHERE n.place = 1
    AND n.step > m.peak_step
    AND n.step_before < m.peak_step
    AND t.start_step < m.peak_step
    AND t.shape NOT LIKE '(%'
),
read AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id, p.operand_id
  FROM (SELECT DISTINCT module_id FROM tenants) AS m
  JOIN operands AS p USING (module_id)
),
late_operands AS MATERIALIZED (
  SELECT l.module_id, l.value_id, l.instruction_id, l.peak_step, p.operand_id
  FROM late AS l
  JOIN read AS p
    ON p.module_id = l.module_id
    AND p.instruction_id = l.reader_id
),
blocked AS (
  SELECT DISTINCT l.module_id, l.value_id
  FROM late_operands AS l
  JOIN scheduled AS o
    ON o.module_id = l.module_id
    AND o.instruction_id = l.operand_id
  WHERE l.operand_id <> l.instruction_id
    AND o.step >= l.peak_step
  UNION
  SELECT l.module_id, l.value_id
  FROM late AS l
  JOIN scheduled AS r
    ON r.module_id = l.module_id
    AND r.instruction_id = l.reader_id
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE f.opcode LIKE '%-done'
),
results AS (
  SELECT l.module_id, l.value_id, sum(r.size_bytes) AS result_bytes
  FROM (
    -- Several processes may have the same module.
    SELECT DISTINCT module_id, value_id, reader_id, late.color FROM late
  ) AS l
  JOIN tenants AS r
    ON r.module_id = l.module_id
    AND r.instruction_id = l.reader_id
    AND r.color = l.color
  GROUP BY l.module_id, l.value_id
)
SELECT
  l.run_name AS run, l.program_name AS program, l.module_number, l.rank,
  l.color AS color, l.space_name, i.name AS instruction, l.shape_index,
  f.opcode, l.shape, l.size_bytes, l.step_before AS use_step_before,
  l.last_use_step,
  CAST(l.last_use_step - l.step_before AS BIGINT) AS gap_steps,
  l.reader AS last_reader,
  b.value_id IS NULL AS is_movable,
  CAST(coalesce(s.result_bytes, 0) AS BIGINT) AS result_bytes,
  CAST(CASE
    WHEN b.value_id IS NOT NULL THEN 0
    ELSE greatest(0, coalesce(v.leverage_bytes, 0)
      - coalesce(s.result_bytes, 0))
  END AS BIGINT) AS net_saving_bytes,
  f.op_name
FROM late AS l
JOIN scheduled AS i USING (module_id, instruction_id)
LEFT JOIN store.instruction_forms AS f USING (form_id)
LEFT JOIN blocked AS b
  ON b.module_id = l.module_id
  AND b.value_id = l.value_id
LEFT JOIN results AS s
  ON s.module_id = l.module_id
  AND s.value_id = l.value_id
LEFT JOIN value_leverage() AS v
  ON v.module_id = l.module_id
  AND v.allocation_id = l.allocation_id
  AND v.value_id = l.value_id
ORDER BY
  net_saving_bytes DESC, l.size_bytes DESC, l.program_name, l.module_number,
  l.rank, l.value_id
LIMIT $top
