-- step: Saved arrays that a loop fills with a part for each iteration. A stack
--   that no loop reads is a result of its own loop, and stays; of stacks with
--   the dimensions of the state, as many bytes stay as it has. What a loop
--   only reads is no state.
-- grain: value
WITH carried_arrays AS MATERIALIZED (
  SELECT
    s.module_id, s.instruction_id, s.name AS loop_name, v.value_id,
    v.allocation_id, v.offset_bytes, v.dimensions, v.size_bytes,
    v.instruction_id = s.instruction_id AS is_changed
  FROM (
    SELECT DISTINCT i.module_id, i.instruction_id, i.instruction AS name
    FROM described_values AS i
    WHERE i.opcode = 'while'
  ) AS s
  JOIN store.value_positions AS p
    ON p.module_id = s.module_id
    AND p.instruction_id = s.instruction_id
  JOIN arrays AS v
    ON v.module_id = p.module_id
    AND v.value_id = p.value_id
),
-- A stack that no loop reads is a result of its own loop, and stays.
results_of_loops AS MATERIALIZED (
  SELECT l.module_id, l.allocation_id, l.offset_bytes
  FROM carried_arrays AS l
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN store.instructions AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE l.dimensions LIKE '%,%'
  GROUP BY l.module_id, l.allocation_id, l.offset_bytes
  HAVING NOT bool_or(f.opcode = 'while')
),
stacks AS (
  SELECT
    v.module_id, v.value_id, l.instruction_id, l.loop_name, l.dimensions,
    l.size_bytes // greatest(
      1, CAST(split_part(l.dimensions, ',', 1) AS BIGINT)
    ) AS part_bytes,
    dense_rank() OVER (
      PARTITION BY l.module_id, l.instruction_id, l.dimensions
      ORDER BY l.allocation_id, l.offset_bytes
    ) AS stack_place
  FROM carried_arrays AS l
  JOIN saved_arrays AS v
    ON v.module_id = l.module_id
    AND v.allocation_id = l.allocation_id
    AND v.offset_bytes = l.offset_bytes
    AND v.dimensions = l.dimensions
  ANTI JOIN results_of_loops AS r
    ON r.module_id = l.module_id
    AND r.allocation_id = l.allocation_id
    AND r.offset_bytes = l.offset_bytes
  WHERE v.dimensions LIKE '%,%'
    AND l.is_changed
),
states AS (
  SELECT
    module_id, instruction_id, dimensions, sum(size_bytes) AS state_bytes
  FROM carried_arrays
  WHERE dimensions <> ''
    AND is_changed
  GROUP BY module_id, instruction_id, dimensions
)
SELECT s.module_id, s.value_id, min(s.loop_name) AS loop_name
FROM stacks AS s
LEFT JOIN states AS c
  ON c.module_id = s.module_id
  AND c.instruction_id = s.instruction_id
  AND c.dimensions = substr(s.dimensions, strpos(s.dimensions, ',') + 1)
WHERE (s.stack_place - 1) * s.part_bytes >= coalesce(c.state_bytes, 0)
GROUP BY s.module_id, s.value_id
