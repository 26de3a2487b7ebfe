-- title: Peak by forward, backward and optimiser
-- question: How is the peak divided between forward pass, backward pass and
--   optimiser?
-- definition: owned_bytes of peak_values by the phase in which the values are
--   made (value_phases). The phase comes from op_name (path_marks) or from the
--   source line (line_marks), see instruction_phases. For programs that do not
--   mark the whole forward pass, the rest follows from the data flow
--   (dataflow_phases). other is a path without a phase, none is no op_name;
--   parameters and constants are phases of their own. A saved activation is
--   made in the forward pass and last read in the backward pass.
-- grain: module occurrence, memory space, phase
-- leading: program, space_name, phase, owned_bytes, peak_ratio,
--   saved_activation_bytes, value_count
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
-- column phase VARCHAR name neutral: forward, backward, optimiser, parameter,
--   constant, other or none.
-- column owned_bytes BIGINT bytes lower_is_better: Bytes of the live peak.
-- column peak_ratio DOUBLE ratio neutral: Share of live_peak_bytes.
-- column saved_activation_bytes BIGINT bytes lower_is_better: Values made in
--   the forward pass and last read in the backward pass.
-- column value_count BIGINT count neutral: Number of values.
WITH phased AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.color AS space_color, m.space_name, m.occurrence, m.live_peak_bytes,
    v.value_id, v.owned_bytes, p.made_in, p.last_read_in,
    CASE
      WHEN v.value_id IS NULL THEN v.kind
      WHEN i.opcode = 'parameter' AND v.kind = 'parameter' THEN 'parameter'
      WHEN i.opcode = 'constant' THEN 'constant'
      WHEN p.made_in = 'between' THEN 'backward'
      ELSE coalesce(p.made_in, 'none')
    END AS phase
  FROM selected_memory() AS m
  JOIN peak_values() AS v
    USING (module_id, color)
  LEFT JOIN selected_instructions() AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  LEFT JOIN value_phases() AS p
    ON p.module_id = v.module_id
    AND p.value_id = v.value_id
)
SELECT
  p.run_name AS run, p.program_name AS program, p.module_number, p.rank,
  p.space_color AS color, p.space_name, p.phase,
  CAST(sum(p.owned_bytes) AS BIGINT) AS owned_bytes,
  sum(p.owned_bytes) / nullif(p.live_peak_bytes, 0) AS peak_ratio,
  CAST(coalesce(sum(p.owned_bytes) FILTER (
    WHERE p.phase = 'forward' AND p.last_read_in = 'backward'
  ), 0) AS BIGINT) AS saved_activation_bytes,
  count(p.value_id) AS value_count
FROM phased AS p
GROUP BY
  p.run_name, p.program_name, p.module_number, p.rank, p.space_color,
  p.space_name, p.occurrence, p.live_peak_bytes, p.phase
ORDER BY
  p.live_peak_bytes DESC, p.program_name, p.module_number, p.rank,
  p.occurrence, p.space_color, owned_bytes DESC, p.phase
