-- title: Results that only one of two modules keeps in a parameter
-- question: Which results lie in memory of a parameter in one module, and in
--   an allocation of their own in the other?
-- definition: Results with equal position and dimensions that lie in an
--   allocation of kind live_out on one side and of kind parameter on the
--   other; each live_out allocation once, by its first result.
-- grain: pair of modules, allocation
-- param base_ids BIGINT[] = NULL: Module contents of the base.
-- param candidate_ids BIGINT[] = NULL: Module contents of the candidate, in
--   the same order.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column is_lost BOOLEAN flag neutral: True if the candidate lost the
--   donation, false if it gained it.
-- column allocation_id
-- column color
-- column output_index VARCHAR name neutral: Index into the result, {} for an
--   array.
-- column size_bytes BIGINT bytes lower_is_better: Size of the allocation.
WITH couples AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest(range(1, len($base_ids) + 1)) AS pair,
    unnest($base_ids) AS base_id, unnest($candidate_ids) AS own_id
),
donating AS MATERIALIZED (
  -- A module's content stands in many runs.
  SELECT DISTINCT m.module_id, m.entry_computation_id
  FROM (
    SELECT unnest(list_distinct(list(base_id) || list(own_id))) AS module_id
    FROM couples
  )
  JOIN store.snapshots AS m USING (module_id)
),
roots AS MATERIALIZED (
  SELECT m.module_id, c.root_instruction_id
  FROM donating AS m
  JOIN computations AS c
    ON c.module_id = m.module_id
    AND c.computation_id = m.entry_computation_id
),
results AS MATERIALIZED (
  SELECT DISTINCT
    p.module_id, coalesce(p.shape_index, '{}') AS place, a.allocation_id,
    a.color AS space_color, a.kind, a.size_bytes,
    regexp_replace(v.shape, '\{[^}]*\}', '', 'g') AS array_type
  FROM roots AS m
  JOIN store.value_positions AS p
    ON p.module_id = m.module_id
    AND p.instruction_id = m.root_instruction_id
  JOIN store."values" AS v
    ON v.module_id = p.module_id
    AND v.value_id = p.value_id
  JOIN allocation_values AS s
    ON s.module_id = p.module_id
    AND s.value_id = p.value_id
  JOIN allocations AS a
    ON a.module_id = s.module_id
    AND a.allocation_id = s.allocation_id
  WHERE a.kind IN ('parameter', 'live_out')
),
ways AS (
  SELECT pair, TRUE AS is_lost, own_id AS one_id, base_id AS other_id
  FROM couples
  WHERE base_id <> own_id
  UNION ALL
  SELECT pair, FALSE, base_id, own_id
  FROM couples
  WHERE base_id <> own_id
)
SELECT
  w.pair, w.is_lost, o.allocation_id, o.space_color AS color,
  min(o.place) AS output_index, o.size_bytes
FROM ways AS w
JOIN results AS o
  ON o.module_id = w.one_id
  AND o.kind = 'live_out'
SEMI JOIN results AS p
  ON p.module_id = w.other_id
  AND p.kind = 'parameter'
  AND p.place = o.place
  AND p.array_type IS NOT DISTINCT FROM o.array_type
GROUP BY w.pair, w.is_lost, o.allocation_id, o.space_color, o.size_bytes
