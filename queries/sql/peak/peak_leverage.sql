-- title: Fall of the peak without one value
-- question: How far would the peak fall without a value?
-- definition: The exact live peak of the memory space without the value,
--   everything else unchanged. Bytes that another live value uses, too, stay,
--   such as those that it shares in place at its first or last step; a
--   parameter, constant or live-out allocation goes only at steps where no
--   other value lives in it. new_peak_bytes is the greatest number of live
--   bytes that remain, new_peak_step the first step that reaches it: it limits
--   the saving. A value that is not live at every step of the peak has
--   leverage 0, however large it is.
-- grain: module occurrence, value
-- leading: program, space_name, instruction, leverage_bytes, leverage_ratio,
--   size_bytes, shape, new_peak_instruction
-- split: programs
-- param run
-- param program
-- param color
-- param top BIGINT = NULL from 0: At most this many values per module and
--   memory space; NULL for all, or for 20 where hlodb query prints a table.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column instruction
-- column shape_index
-- column opcode
-- column kind
-- column shape
-- column size_bytes
-- column leverage_bytes BIGINT bytes higher_is_better: Fall of the live peak.
-- column leverage_ratio DOUBLE ratio higher_is_better: Its share of
--   live_peak_bytes.
-- column live_peak_bytes
-- column new_peak_bytes
-- column new_peak_step
-- column new_peak_instruction VARCHAR name neutral: Instruction scheduled at
--   that step.
-- column start_step
-- column end_step
-- column op_name
WITH ranked AS (
  SELECT
    m.run, m.program, m.module_number, m.rank, m.occurrence, m.color,
    m.space_name, v.module_id, v.value_id, v.instruction_id, v.shape_index,
    v.kind, v.shape, v.size_bytes, m.live_peak_bytes, v.start_step, v.end_step,
    coalesce(r.new_peak_bytes, m.live_peak_bytes) AS new_peak_bytes,
    coalesce(r.new_peak_step, m.peak_step) AS new_peak_step,
    row_number() OVER (
      PARTITION BY m.occurrence, m.color
      ORDER BY r.new_peak_bytes NULLS LAST, v.size_bytes DESC, v.value_id
    ) AS place
  FROM selected_memory() AS m
  JOIN value_places() AS v
    USING (module_id, color)
  LEFT JOIN value_leverage() AS r
    ON r.module_id = v.module_id
    AND r.allocation_id = v.allocation_id
    AND r.value_id = v.value_id
  WHERE v.kind <> 'thread_local'
    AND m.peak_step IS NOT NULL
),
instructions_there AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, i.name, i.form_id
  FROM (SELECT DISTINCT module_id FROM ranked) AS r
  JOIN store.instructions AS i USING (module_id)
)
SELECT
  r.run, r.program, r.module_number, r.rank, r.color, r.space_name,
  i.name AS instruction, r.shape_index, f.opcode, r.kind, r.shape,
  r.size_bytes,
  CAST(r.live_peak_bytes - r.new_peak_bytes AS BIGINT) AS leverage_bytes,
  (r.live_peak_bytes - r.new_peak_bytes) / nullif(r.live_peak_bytes, 0)
    AS leverage_ratio,
  r.live_peak_bytes, CAST(r.new_peak_bytes AS BIGINT) AS new_peak_bytes,
  r.new_peak_step, n.name AS new_peak_instruction, r.start_step, r.end_step,
  f.op_name
FROM ranked AS r
LEFT JOIN instructions_there AS i
  ON i.module_id = r.module_id
  AND i.instruction_id = r.instruction_id
LEFT JOIN store.instruction_forms AS f USING (form_id)
LEFT JOIN store.schedule AS s
  ON s.module_id = r.module_id
  AND s.step = r.new_peak_step
LEFT JOIN instructions_there AS n
  ON n.module_id = s.module_id
  AND n.instruction_id = s.instruction_id
WHERE $top IS NULL
  OR r.place <= $top
ORDER BY
  r.live_peak_bytes DESC, r.program, r.module_number, r.rank, r.occurrence,
  r.color, r.place
