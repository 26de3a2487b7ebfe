-- step: Saved arrays that a loop fills with a part for each iteration. A stack
--   that no loop reads is a result of its own loop, and stays; of stacks with
--   the dimensions of the state, as many bytes stay as it has. What a loop
--   only reads is no state. A checkpoint around the body keeps all numbers of
--   the state before each iteration. Where no stack has the dimensions of any
--   of them, as many bytes stay: part of whole is what goes of a set.
-- grain: value
WITH carried_arrays AS MATERIALIZED (
  SELECT
    s.module_id, s.instruction_id, s.name AS loop_name, v.value_id,
    v.allocation_id, v.offset_bytes, v.dimensions, v.element_type,
    v.size_bytes,
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
-- What the compiler widens is read by what reads it then.
reads_of_widened AS MATERIALIZED (
  SELECT v.module_id, v.instruction_id AS widening_id, u.instruction_id
  FROM arrays AS v
  SEMI JOIN widened_arrays AS w
    ON w.module_id = v.module_id
    AND w.value_id = v.value_id
  JOIN store.value_uses AS u
    ON u.module_id = v.module_id
    AND u.value_id = v.value_id
),
-- A stack that no loop reads is a result of its own loop, and stays.
results_of_loops AS MATERIALIZED (
  SELECT l.module_id, l.allocation_id, l.offset_bytes
  FROM carried_arrays AS l
  JOIN store.value_uses AS u USING (module_id, value_id)
  LEFT JOIN reads_of_widened AS r
    ON r.module_id = u.module_id
    AND r.widening_id = u.instruction_id
  JOIN store.instructions AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = coalesce(r.instruction_id, u.instruction_id)
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE l.dimensions LIKE '%,%'
  GROUP BY l.module_id, l.allocation_id, l.offset_bytes
  HAVING NOT bool_or(f.opcode = 'while')
),
stacks AS (
  SELECT
    v.module_id, v.value_id, l.instruction_id, l.loop_name, l.dimensions,
    l.allocation_id, l.offset_bytes, l.size_bytes,
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
    module_id, instruction_id, dimensions, sum(size_bytes) AS state_bytes,
    coalesce(sum(size_bytes) FILTER (
      WHERE regexp_matches(element_type, '^b?f[0-9]')
    ), 0) AS number_bytes
  FROM carried_arrays
  WHERE dimensions <> ''
    AND is_changed
  GROUP BY module_id, instruction_id, dimensions
),
placed AS MATERIALIZED (
  SELECT
    s.*,
    (s.stack_place - 1) * s.part_bytes >= coalesce(c.state_bytes, 0) AS is_kept
  FROM stacks AS s
  LEFT JOIN states AS c
    ON c.module_id = s.module_id
    AND c.instruction_id = s.instruction_id
    AND c.dimensions = substr(s.dimensions, strpos(s.dimensions, ',') + 1)
),
steps AS (
  SELECT
    module_id, instruction_id, any_value(loop_name) AS loop_name,
    mode(CAST(split_part(dimensions, ',', 1) AS BIGINT)) AS step_count
  FROM placed
  GROUP BY module_id, instruction_id
),
-- What is carried with the iterations as a dimension is collected, no state.
added AS (
  SELECT
    n.module_id, n.loop_name, sum(c.number_bytes * n.step_count) AS added_bytes
  FROM steps AS n
  JOIN states AS c USING (module_id, instruction_id)
  ANTI JOIN placed AS p
    ON p.module_id = n.module_id
    AND p.instruction_id = n.instruction_id
    AND NOT p.is_kept
  -- Some of them are read outside of loops alone, as what is widened there.
  ANTI JOIN carried_arrays AS q
    ON q.module_id = c.module_id
    AND q.instruction_id = c.instruction_id
    AND q.is_changed
    AND q.dimensions = n.step_count || ',' || c.dimensions
  WHERE split_part(c.dimensions, ',', 1) <> CAST(n.step_count AS VARCHAR)
  GROUP BY n.module_id, n.loop_name
),
kept AS (
  SELECT
    module_id, value_id, min(loop_name) AS loop_name,
    any_value(allocation_id) AS allocation_id,
    any_value(offset_bytes) AS offset_bytes,
    any_value(size_bytes) AS size_bytes
  FROM placed
  WHERE is_kept
  GROUP BY module_id, value_id
),
-- Forms of one array lie in the same bytes.
sums AS (
  SELECT module_id, loop_name, sum(size_bytes) AS size_bytes
  FROM (
    SELECT
      module_id, loop_name, allocation_id, offset_bytes,
      max(size_bytes) AS size_bytes
    FROM kept
    GROUP BY module_id, loop_name, allocation_id, offset_bytes
  )
  GROUP BY module_id, loop_name
)
SELECT
  k.module_id, k.value_id, k.loop_name,
  CAST(greatest(0, s.size_bytes - coalesce(a.added_bytes, 0)) * 1000
    // s.size_bytes AS BIGINT) AS part,
  1000 AS whole
FROM kept AS k
JOIN sums AS s USING (module_id, loop_name)
LEFT JOIN added AS a USING (module_id, loop_name)
