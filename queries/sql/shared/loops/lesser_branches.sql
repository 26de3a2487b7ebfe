-- title: Branches with less work
-- question: Which computations does XLA's cost analysis leave out?
-- definition: Branches of a conditional that have less computation_work than
--   another of its branches (of equal ones, all but the first), with all
--   computations that they call.
-- grain: module content, computation
-- param run
-- param program
-- column module_id
-- column computation_id INTEGER id neutral: The computation.
WITH RECURSIVE branches AS (
  SELECT
    c.module_id, c.computation_id,
    row_number() OVER (
      PARTITION BY c.module_id, c.instruction_id
      ORDER BY coalesce(w.flop, 0) DESC, c.role DESC, c.ordinal
    ) AS place
  FROM final_contents() AS m
  JOIN called_computations AS c USING (module_id)
  JOIN store.instructions AS i USING (module_id, instruction_id)
  JOIN store.instruction_forms AS f USING (form_id)
  LEFT JOIN computation_work() AS w
    ON w.module_id = c.module_id
    AND w.computation_id = c.computation_id
  WHERE f.opcode = 'conditional'
    AND c.computation_id IS NOT NULL
),
lesser AS (
  SELECT module_id, computation_id FROM branches WHERE place > 1
  UNION
  SELECT c.module_id, c.computation_id
  FROM lesser AS n
  JOIN store.instructions AS i USING (module_id, computation_id)
  JOIN called_computations AS c
    ON c.module_id = i.module_id
    AND c.instruction_id = i.instruction_id
  WHERE c.computation_id IS NOT NULL
)
SELECT l.module_id, l.computation_id FROM lesser AS l
