-- title: Peak memory by role
-- question: Weights, optimiser state, caches, inputs, gradients, activations,
--   gathered weights, outputs, workspace: who owns the peak?
-- definition: owned_bytes of peak_values by the role that the first rule of
--   role_rules gives; what no rule takes is unclassified. What lies in a
--   parameter's allocation belongs to the parameter. Its made_in is the phase
--   of its first reader where PyTorch names it; unknown in a program that
--   reads no array forward, as an optimiser by itself, which is the first to
--   read the weights as well as its state. Its last_read_in is optimiser where
--   nothing but the optimiser reads it (parameter_readers).
-- grain: module occurrence, colour, role, rule
-- needs: chosen_memory, peak_values, role_rules, allocations, modules,
--   instructions, instruction_phases, value_phases, gathered_values,
--   chosen_instructions, parameter_readers
-- param run
-- param program
-- param color
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column role VARCHAR name neutral: The role.
-- column rule_id VARCHAR name neutral: Rule that gave it; NULL where none did.
-- column owned_bytes BIGINT bytes lower_is_better: Bytes of the live peak.
-- column peak_ratio DOUBLE ratio neutral: Share of live_peak_bytes.
-- column value_count BIGINT count neutral: Values.
-- column largest_instruction VARCHAR name neutral: Instruction that owns the
--   most.
WITH parameters AS (
  SELECT
    a.module_id, a.allocation_id,
    bool_or(coalesce(a.is_live_out, FALSE)) AS is_donated,
    bool_or(a.shape NOT LIKE '%[]%') AS is_array,
    max(i.op_name) AS op_name, max(h.phase) AS made_in,
    bool_or(coalesce(s.is_state, FALSE)) AS is_state
  FROM (
    SELECT DISTINCT module_id
    FROM chosen_memory(run := $run, program := $program, color := $color)
  ) AS c
  JOIN allocations AS a USING (module_id)
  JOIN (
    SELECT DISTINCT module_id,
      entry_computation_id AS computation_id FROM modules
  ) AS m USING (module_id)
  LEFT JOIN chosen_instructions(run := $run, program := $program) AS i
    ON i.module_id = a.module_id
    AND i.computation_id = m.computation_id
    AND i.opcode = 'parameter'
    AND i.parameter_number = a.parameter_number
  LEFT JOIN parameter_readers(run := $run, program := $program) AS s
    ON s.module_id = a.module_id
    AND s.parameter_number = a.parameter_number
  LEFT JOIN instruction_phases(run := $run, program := $program) AS h
    ON h.module_id = i.module_id
    AND h.instruction_id = i.instruction_id
  WHERE a.kind = 'parameter'
  GROUP BY a.module_id, a.allocation_id
),
described AS (
  SELECT
    v.module_id, v.color AS space_color, v.allocation_id, v.value_id, v.kind,
    i.name AS instruction, v.owned_bytes, v.live_peak_bytes, f.opcode,
    CASE WHEN v.kind = 'parameter' THEN p.op_name ELSE f.op_name END
      AS op_name,
    coalesce(p.is_donated, FALSE) AS is_donated,
    CASE
      WHEN v.kind <> 'parameter' THEN h.made_in
      WHEN v.module_id IN (
        SELECT module_id FROM parameters WHERE is_array AND made_in = 'other'
      )
        THEN p.made_in
    END AS made_in,
    CASE
      WHEN v.kind <> 'parameter' THEN h.last_read_in
      WHEN p.is_state THEN 'optimiser'
    END AS last_read_in,
    g.value_id IS NOT NULL AS is_gathered
  FROM peak_values(run := $run, program := $program) AS v
  LEFT JOIN parameters AS p USING (module_id, allocation_id)
  LEFT JOIN store.instructions AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  LEFT JOIN store.instruction_forms AS f USING (form_id)
  LEFT JOIN value_phases(run := $run, program := $program) AS h
    ON h.module_id = v.module_id
    AND h.value_id = v.value_id
  LEFT JOIN gathered_values(run := $run, program := $program) AS g
    ON g.module_id = v.module_id
    AND g.value_id = v.value_id
  WHERE v.owned_bytes > 0
),
ruled AS (
  SELECT d.*, r.place, r.rule_id, r.role
  FROM described AS d
  LEFT JOIN role_rules() AS r
    ON (r.kind IS NULL OR r.kind = d.kind)
    AND (r.is_donated IS NULL OR r.is_donated = d.is_donated)
    AND (r.is_gathered IS NULL OR r.is_gathered = d.is_gathered)
    AND (r.made_in IS NULL OR r.made_in = d.made_in)
    AND (r.last_read_in IS NULL OR r.last_read_in = d.last_read_in)
    AND (
      r.name_pattern IS NULL
      OR regexp_matches(lower(coalesce(d.op_name, '')), r.name_pattern)
    )
    AND (
      r.opcode_pattern IS NULL
      OR regexp_matches(coalesce(d.opcode, ''), r.opcode_pattern)
    )
),
given AS (
  SELECT
    module_id, space_color, allocation_id, value_id, instruction, owned_bytes,
    live_peak_bytes, arg_min(rule_id, place) AS rule_id,
    coalesce(arg_min(role, place), 'unclassified') AS role
  FROM ruled
  GROUP BY ALL
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name, g.role,
  g.rule_id,
  CAST(sum(g.owned_bytes) AS BIGINT) AS owned_bytes,
  sum(g.owned_bytes) / nullif(m.live_peak_bytes, 0) AS peak_ratio,
  count(g.value_id) AS value_count,
  arg_max(g.instruction, (g.owned_bytes, -g.value_id)) AS largest_instruction
FROM chosen_memory(run := $run, program := $program, color := $color) AS m
JOIN given AS g
  ON g.module_id = m.module_id
  AND g.space_color = m.color
GROUP BY
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  m.occurrence, m.live_peak_bytes, g.role, g.rule_id
ORDER BY
  m.live_peak_bytes DESC, m.program, m.module_number, m.rank, m.occurrence,
  m.color, owned_bytes DESC, g.role, g.rule_id
