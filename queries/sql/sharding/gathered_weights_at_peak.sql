-- title: Gathered weights at the peak
-- question: How much of the peak are gathered weights, and how early are they
--   gathered?
-- definition: Values of gathered_values that own bytes of the live peak.
--   prefetch_steps is the number of steps from the definition of a value to
--   its first scheduled reader.
-- grain: module occurrence, value
-- leading: program, space_name, instruction, owned_bytes, peak_ratio, weight,
--   prefetch_steps
-- split: programs
-- param run
-- param program
-- param color
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column weight VARCHAR name neutral: op_name of the parameter, or else its
--   instruction.
-- column instruction
-- column gather_instruction VARCHAR name neutral: The all-gather.
-- column owned_bytes BIGINT bytes lower_is_better: Bytes of the live peak that
--   it owns.
-- column peak_ratio DOUBLE ratio lower_is_better: Share of live_peak_bytes.
-- column start_step
-- column first_use_step INTEGER step neutral: First step at which it is read.
-- column prefetch_steps BIGINT steps neutral: Steps from definition to first
--   use.
WITH gathered AS (
  SELECT v.*, g.weight, g.gather_instruction
  FROM peak_values() AS v
  JOIN gathered_values() AS g
    USING (module_id, value_id)
  WHERE v.owned_bytes > 0
),
instructions_there AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, i.name, i.schedule_step
  FROM (
    -- Unnested, they are taken for a few, and a hash table is made of these.
    SELECT unnest(list(DISTINCT module_id)) AS module_id FROM gathered
  ) AS g
  JOIN store.instructions AS i USING (module_id)
),
first_uses AS (
  SELECT g.module_id, g.value_id, min(i.schedule_step) AS first_use_step
  FROM gathered AS g
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN instructions_there AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
  WHERE i.schedule_step > g.start_step
  GROUP BY g.module_id, g.value_id
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name, g.weight,
  n.name AS instruction, g.gather_instruction, g.owned_bytes,
  g.owned_bytes / nullif(g.live_peak_bytes, 0) AS peak_ratio, g.start_step,
  f.first_use_step,
  CAST(f.first_use_step - g.start_step AS BIGINT) AS prefetch_steps
FROM selected_memory() AS m
JOIN gathered AS g USING (module_id, color)
LEFT JOIN first_uses AS f USING (module_id, value_id)
LEFT JOIN instructions_there AS n
  ON n.module_id = g.module_id
  AND n.instruction_id = g.instruction_id
ORDER BY
  g.owned_bytes DESC, m.program, m.module_number, m.rank, g.value_id
