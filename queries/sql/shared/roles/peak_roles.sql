-- title: Role of every value at the peak
-- question: Which role has each value at the live peak, and by which rule?
-- definition: Values of peak_values that own bytes, with the role of the first
--   matching rule in role_rules; unclassified if none matches. A parameter,
--   what is written into it, and the result that takes its place have the role
--   of the parameter, and so do temporary copies and slices of it
--   (copied_parameters, array_origins); a copy of all of it in a layout that
--   takes more is of kind argument_copy and has a role of its own. Other
--   values in the memory of a donated parameter or of a result, which they use
--   before it is written, are temporary values. In a program with a backward
--   pass that donates nothing, a parameter counts as donated if it alone has
--   the shape of a result and is read by what makes that: so do weights whose
--   arguments have no names. A parameter named v next to one named k
--   (cache['v'] and cache['k']) is not the optimiser's v: it has the role of
--   the k; nor is one named m or v that the forward pass reads. What XLA
--   recomputes for the backward pass (.remat in the name of its instruction)
--   counts as made backward, as by jax.checkpoint, and so does what loops sum
--   gradients in. A fusion without a name goes by the last operation in it
--   that has one. For parameters, made_in is the phase of the first reader if
--   PyTorch names it, but unknown in a program that reads no array forward,
--   such as an optimiser on its own, which reads weights and state alike;
--   last_read_in is optimiser if only the optimiser reads it
--   (parameter_readers). owned_bytes of a module and memory space add up to
--   live_peak_bytes.
-- grain: module content, memory space, allocation, value
-- steps: named_instructions, entry_computations, origins, result_values,
--   updated_parameters, described_parameters, parameter_names,
--   parameter_copies, placed_at_peak, guest_values, homes,
--   summed_gradients
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column color
-- column allocation_id
-- column value_id
-- column instruction_id
-- column owned_bytes BIGINT bytes neutral: Bytes of the peak that it owns.
-- column padding_bytes BIGINT bytes neutral: Padding among these.
-- column role VARCHAR name neutral: Role of the value; unclassified if no rule
--   applies.
-- column rule_id VARCHAR name neutral: Rule that decided the role, with the
--   prefix copy_of_ for a copy of a parameter; NULL if none did.
WITH described AS (
  SELECT
    v.module_id, v.color AS space_color, v.allocation_id, v.value_id, v.kind,
    v.instruction_id, v.owned_bytes, v.padding_bytes, v.is_copy, i.opcode,
    v.kind = 'temp'
      AND i.is_recomputed
      AND coalesce(h.origin_phase, h.made_in) = 'forward'
      AND h.last_read_in = 'backward' AS is_redone,
    CASE
      WHEN v.kind = 'parameter' THEN n.op_name
      WHEN is_redone
        THEN coalesce(lower(i.op_name), '') || '/rematted_computation'
      ELSE lower(i.op_name)
    END AS op_name,
    coalesce(p.is_donated, FALSE) AS is_donated,
    CASE
      WHEN is_redone THEN 'backward'
      WHEN v.kind = 'temp'
        AND s.value_id IS NOT NULL
        AND coalesce(h.origin_phase, h.made_in) IN ('other', 'none')
        THEN 'backward'
      WHEN v.kind = 'temp' AND coalesce(h.origin_phase, h.made_in) = 'none'
        THEN coalesce(i.inner_phase, 'none')
      WHEN v.kind <> 'parameter' THEN coalesce(h.origin_phase, h.made_in)
      WHEN v.module_id IN (
        SELECT module_id
        FROM described_parameters WHERE is_array AND made_in = 'other'
      )
        THEN p.made_in
    END AS made_in,
    CASE
      WHEN v.kind <> 'parameter' THEN h.last_read_in
      WHEN p.is_state THEN 'optimiser'
    END AS last_read_in,
    g.value_id IS NOT NULL AS is_gathered
  FROM homes AS v
  LEFT JOIN described_parameters AS p
    ON p.module_id = v.module_id
    AND p.allocation_id = v.home_id
  LEFT JOIN parameter_names AS n
    ON n.module_id = v.module_id
    AND n.allocation_id = v.home_id
  LEFT JOIN named_instructions AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  LEFT JOIN value_phases() AS h
    ON h.module_id = v.module_id
    AND h.value_id = v.value_id
  LEFT JOIN gathered_values() AS g
    ON g.module_id = v.module_id
    AND g.value_id = v.value_id
  LEFT JOIN summed_gradients AS s
    ON s.module_id = v.module_id
    AND s.value_id = v.value_id
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
      OR regexp_matches(coalesce(d.op_name, ''), r.name_pattern)
    )
    AND (
      r.opcode_pattern IS NULL
      OR regexp_matches(coalesce(d.opcode, ''), r.opcode_pattern)
    )
)
SELECT
  r.module_id, r.space_color AS color, r.allocation_id, r.value_id,
  r.instruction_id, r.owned_bytes, r.padding_bytes,
  coalesce(arg_min(r.role, r.place), 'unclassified') AS role,
  CASE WHEN r.is_copy THEN 'copy_of_' ELSE '' END
    || arg_min(r.rule_id, r.place) AS rule_id
FROM ruled AS r
GROUP BY
  r.module_id, r.space_color, r.allocation_id, r.value_id, r.instruction_id,
  r.owned_bytes, r.padding_bytes, r.is_copy
