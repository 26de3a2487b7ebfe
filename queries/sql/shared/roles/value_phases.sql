-- title: Phase in which a value is made and last read
-- question: Is a value made forward and last read backward?
-- definition: made_in is the phase of the defining instruction
--   (dataflow_phases). For one that only passes an array on, or a part of it,
--   such as a slice in a loop, origin_phase is that of what computed the array
--   (array_origins): backward if any did so backward. last_read_in is the
--   phase of the scheduled reader with the greatest step that has one; what
--   only makes another type or layout of it is read for it. An
--   array that a while loop fills or changes is one array before, inside and
--   after the loop: values passed to the loop, and those that its body
--   carries or ends with, are last read where the loop's result at that index
--   is, and are made in the phase of the loop if their instruction has none or
--   another, as the empty array has that the loop begins with.
-- grain: module content, value
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column value_id
-- column made_in VARCHAR name neutral: forward, backward, between, optimiser,
--   other or none.
-- column origin_phase VARCHAR name neutral: The same of what it passes on;
--   NULL if its own instruction computes it.
-- column last_read_in VARCHAR name neutral: Phase of the last reader, with
--   backward for between; NULL without a reader.
WITH paths AS MATERIALIZED (
  SELECT o.module_id, o.instruction_id, o.phase, o.schedule_step
  FROM dataflow_phases() AS o
),
tenants AS MATERIALIZED (
  SELECT DISTINCT
    module_id, value_id, instruction_id, shape_index, is_phi,
    coalesce(
      TRY_CAST(regexp_extract(shape_index, '^\{([0-9]+)', 1) AS INTEGER), -1
    ) AS element
  FROM value_places()
),
passed AS MATERIALIZED (
  SELECT
    o.module_id, o.instruction_id, o.element,
    arg_max(p.phase, CASE p.phase
      WHEN 'backward' THEN 4 WHEN 'between' THEN 3
      WHEN 'optimiser' THEN 2 WHEN 'forward' THEN 1 ELSE 0
    END) AS phase
  FROM array_origins() AS o
  JOIN paths AS p
    ON p.module_id = o.module_id
    AND p.instruction_id = o.origin_id
  WHERE o.kind = 'computed'
    AND p.phase <> 'none'
  GROUP BY o.module_id, o.instruction_id, o.element
),
direct_uses AS MATERIALIZED (
  SELECT u.module_id, u.value_id, u.instruction_id, u.shape_index
  FROM (SELECT DISTINCT module_id FROM tenants) AS t
  JOIN store.value_uses AS u USING (module_id)
  WHERE NOT $every_run
    OR list_contains($module_ids, u.module_id)
),
-- What the compiler alone makes in another type or layout is read for it.
forms_of_arrays AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id
  FROM paths AS p
  JOIN direct_uses AS u USING (module_id, instruction_id)
  JOIN store.instructions AS i USING (module_id, instruction_id)
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE p.phase = 'none'
    AND coalesce(f.op_name, '') = ''
    AND f.opcode IN ('convert', 'copy', 'fusion', 'transpose')
  GROUP BY p.module_id, p.instruction_id
  HAVING count(*) = 1
),
uses AS MATERIALIZED (
  FROM direct_uses
  UNION
  SELECT u.module_id, u.value_id, r.instruction_id, u.shape_index
  FROM direct_uses AS u
  JOIN forms_of_arrays AS f USING (module_id, instruction_id)
  JOIN tenants AS t USING (module_id, instruction_id)
  JOIN direct_uses AS r
    ON r.module_id = t.module_id
    AND r.value_id = t.value_id
),
readers AS MATERIALIZED (
  SELECT
    u.module_id, u.value_id,
    arg_max(
      CASE p.phase WHEN 'between' THEN 'backward' ELSE p.phase END,
      (p.schedule_step, p.instruction_id)
    ) AS last_read_in
  FROM uses AS u
  JOIN paths AS p USING (module_id, instruction_id)
  WHERE p.phase <> 'none'
    AND p.schedule_step IS NOT NULL
  GROUP BY u.module_id, u.value_id
),
elements AS MATERIALIZED (
  SELECT e.module_id, e.instruction_id, e.source_id, e.source_element
  FROM array_flow() AS e
  JOIN store.instructions AS i USING (module_id, instruction_id)
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE f.opcode = 'get-tuple-element'
),
looped AS MATERIALIZED (
  SELECT
    p.module_id, p.instruction_id, p.phase, c.computation_id AS body_id
  FROM called_computations AS c
  JOIN paths AS p USING (module_id, instruction_id)
  WHERE c.role = 'body'
    AND p.schedule_step IS NOT NULL
),
bodies AS MATERIALIZED (
  SELECT w.module_id, w.instruction_id, i.instruction_id AS carried_id
  FROM looped AS w
  JOIN store.instructions AS i
    ON i.module_id = w.module_id
    AND i.computation_id = w.body_id
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE f.opcode = 'parameter'
),
-- What the end of a body passes on, an array or an element of a fusion.
ends AS MATERIALIZED (
  SELECT
    w.module_id, w.instruction_id, e.element,
    coalesce(g.source_id, e.source_id) AS source_id,
    coalesce(g.source_element, e.source_element) AS source_element
  FROM looped AS w
  JOIN computations AS c
    ON c.module_id = w.module_id
    AND c.computation_id = w.body_id
  JOIN array_flow() AS e
    ON e.module_id = w.module_id
    AND e.instruction_id = c.root_instruction_id
  LEFT JOIN elements AS g
    ON g.module_id = e.module_id
    AND g.instruction_id = e.source_id
),
-- Of each loop: what comes in at an index, and what goes on in the body there.
entering AS (
  SELECT w.module_id, w.instruction_id, u.shape_index, u.value_id
  FROM looped AS w
  JOIN direct_uses AS u USING (module_id, instruction_id)
  UNION
  SELECT b.module_id, b.instruction_id, t.shape_index, t.value_id
  FROM bodies AS b
  JOIN tenants AS t
    ON t.module_id = b.module_id
    AND t.instruction_id = b.carried_id
  WHERE t.is_phi
  UNION
  SELECT e.module_id, e.instruction_id, '{' || e.element || '}', t.value_id
  FROM ends AS e
  JOIN tenants AS t
    ON t.module_id = e.module_id
    AND t.instruction_id = e.source_id
    AND t.element = e.source_element
  WHERE NOT t.is_phi
),
filled AS (
  SELECT
    e.module_id, e.value_id, max(w.phase) AS phase,
    max(r.last_read_in) AS last_read_in
  FROM entering AS e
  JOIN looped AS w USING (module_id, instruction_id)
  JOIN tenants AS t
    ON t.module_id = e.module_id
    AND t.instruction_id = e.instruction_id
    AND t.shape_index = e.shape_index
  LEFT JOIN readers AS r
    ON r.module_id = t.module_id
    AND r.value_id = t.value_id
  WHERE t.is_phi
  GROUP BY e.module_id, e.value_id
  HAVING count(*) = 1
)
SELECT
  t.module_id, t.value_id,
  CASE
    WHEN f.value_id IS NOT NULL
      AND coalesce(p.phase, 'none') IN ('none', 'other')
      THEN f.phase
    ELSE coalesce(p.phase, 'none')
  END AS made_in,
  o.phase AS origin_phase,
  coalesce(f.last_read_in, r.last_read_in) AS last_read_in
FROM tenants AS t
LEFT JOIN paths AS p
  ON p.module_id = t.module_id
  AND p.instruction_id = t.instruction_id
LEFT JOIN passed AS o
  ON o.module_id = t.module_id
  AND o.instruction_id = t.instruction_id
  AND o.element = t.element
LEFT JOIN readers AS r
  ON r.module_id = t.module_id
  AND r.value_id = t.value_id
LEFT JOIN filled AS f
  ON f.module_id = t.module_id
  AND f.value_id = t.value_id
