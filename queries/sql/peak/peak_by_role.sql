-- title: Peak memory by role
-- question: How much of the peak is weights, optimiser state, caches, inputs,
--   gradients, activations, gathered weights, outputs and workspace?
-- definition: owned_bytes of peak_roles by role and rule. Values in a
--   parameter's allocation, and copies of a parameter, count as that
--   parameter, but for argument_copies, whose layout takes more.
-- grain: module occurrence, memory space, role, rule
-- leading: program, space_name, role, owned_bytes, peak_ratio, value_count,
--   largest_instruction
-- split: programs
-- param run
-- param program
-- param color
-- param by_rule BOOLEAN = true: A row for each rule that gave the role; false
--   for a row per role.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column role VARCHAR name neutral: Role, such as weights; unclassified if no
--   rule applies.
-- column rule_id VARCHAR name neutral: Rule that decided the role, with the
--   prefix copy_of_ for a copy of a parameter; NULL if none did, or without
--   by_rule.
-- column owned_bytes BIGINT bytes lower_is_better: Bytes of the live peak.
-- column copied_bytes BIGINT bytes lower_is_better: Those of them that are
--   copies of parameters, such as slices in a loop, beside the parameters.
-- column padding_bytes BIGINT bytes lower_is_better: Those of them that are
--   padding.
-- column peak_ratio DOUBLE ratio neutral: Share of live_peak_bytes.
-- column value_count BIGINT count neutral: Number of values.
-- column largest_instruction VARCHAR name neutral: Instruction that owns the
--   most bytes.
-- column path
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name, g.role,
  CASE WHEN $by_rule THEN g.rule_id END AS rule_id,
  CAST(sum(g.owned_bytes) AS BIGINT) AS owned_bytes,
  CAST(coalesce(
    sum(g.owned_bytes) FILTER (WHERE g.rule_id LIKE 'copy\_of\_%' ESCAPE '\'),
    0
  ) AS BIGINT) AS copied_bytes,
  CAST(coalesce(sum(g.padding_bytes), 0) AS BIGINT) AS padding_bytes,
  sum(g.owned_bytes) / nullif(m.live_peak_bytes, 0) AS peak_ratio,
  count(g.value_id) AS value_count,
  arg_max(i.name, (g.owned_bytes, -g.value_id)) AS largest_instruction,
  m.path
FROM selected_memory() AS m
JOIN peak_roles() AS g
  USING (module_id, color)
LEFT JOIN store.instructions AS i
  ON i.module_id = g.module_id
  AND i.instruction_id = g.instruction_id
GROUP BY
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  m.occurrence, m.path, m.live_peak_bytes, g.role,
  CASE WHEN $by_rule THEN g.rule_id END
ORDER BY
  m.live_peak_bytes DESC, m.program, m.module_number, m.rank, m.occurrence,
  m.color, owned_bytes DESC, g.role, rule_id
