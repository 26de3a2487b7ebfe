-- title: Results that only one of two modules keeps in a parameter
-- question: Which results lie in memory of a parameter in one module, and in
--   an allocation of their own in the other?
-- definition: Results with equal position and dimensions that lie in an
--   allocation of kind live_out on one side and of kind parameter on the
--   other; each live_out allocation once, by its first result. Element types
--   may differ, as inputs may have other ones: one that was lost can be
--   donated where a free parameter of the candidate has its type, the n-th
--   such result needing n of them. Of a module without values, aliases say
--   where results lie: what the other one aliases and it does not is lost, as
--   often as it has more allocations of kind live_out of that size.
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
-- column can_be_donated BOOLEAN flag neutral: True if it was gained, or if a
--   parameter of the candidate that is not donated could still hold it.
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
    regexp_replace(v.shape, '\{[^}]*\}', '', 'g') AS array_type,
    regexp_extract(v.shape, '\[[^\]]*\]') AS dimensions
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
free_parameters AS (
  SELECT
    a.module_id, a.color AS space_color, a.size_bytes, a.shape AS array_type,
    count(*) AS parameter_count
  FROM donating AS m
  JOIN allocations AS a USING (module_id)
  ANTI JOIN aliases AS d
    ON d.module_id = a.module_id
    AND d.parameter_number = a.parameter_number
    AND coalesce(d.parameter_index, '{}')
      = coalesce(a.parameter_shape_index, '{}')
  WHERE a.parameter_number IS NOT NULL
    AND NOT coalesce(a.is_live_out, FALSE)
  GROUP BY a.module_id, a.color, a.size_bytes, a.shape
),
-- Without values, the place of a result is known where it is aliased.
unplaced AS (
  SELECT m.module_id
  FROM donating AS m
  ANTI JOIN results AS r USING (module_id)
),
aliased AS (
  SELECT
    m.module_id, d.output_index, a.color AS space_color, a.size_bytes,
    a.shape AS array_type
  FROM donating AS m
  JOIN aliases AS d USING (module_id)
  JOIN allocations AS a
    ON a.module_id = d.module_id
    AND a.parameter_number = d.parameter_number
    AND coalesce(a.parameter_shape_index, '{}')
      = coalesce(d.parameter_index, '{}')
),
numbered_results AS (
  SELECT
    u.module_id, a.allocation_id, a.color AS space_color, a.size_bytes,
    row_number() OVER (
      PARTITION BY u.module_id, a.color, a.size_bytes ORDER BY a.allocation_id
    ) AS number,
    count(*) OVER (PARTITION BY u.module_id, a.color, a.size_bytes)
      AS result_count
  FROM unplaced AS u
  JOIN allocations AS a USING (module_id)
  WHERE a.kind = 'live_out'
),
ways AS (
  SELECT pair, TRUE AS is_lost, own_id AS one_id, base_id AS other_id
  FROM couples
  WHERE base_id <> own_id
  UNION ALL
  SELECT pair, FALSE, base_id, own_id
  FROM couples
  WHERE base_id <> own_id
),
changed AS (
  SELECT
    w.pair, w.is_lost, w.one_id, o.allocation_id, o.space_color, o.size_bytes,
    min(o.place) AS output_index, min(o.array_type) AS array_type
  FROM ways AS w
  JOIN results AS o
    ON o.module_id = w.one_id
    AND o.kind = 'live_out'
  SEMI JOIN results AS p
    ON p.module_id = w.other_id
    AND p.kind = 'parameter'
    AND p.place = o.place
    AND p.dimensions IS NOT DISTINCT FROM o.dimensions
  GROUP BY
    w.pair, w.is_lost, w.one_id, o.allocation_id, o.space_color, o.size_bytes
  UNION ALL
  -- As many as there are more results of that size.
  SELECT
    l.pair, l.is_lost, l.one_id, o.allocation_id, o.space_color, o.size_bytes,
    l.output_index, l.array_type
  FROM (
    SELECT
      w.*, a.output_index, a.space_color, a.size_bytes, a.array_type,
      row_number() OVER (
        PARTITION BY w.pair, w.is_lost, a.space_color, a.size_bytes
        ORDER BY a.output_index
      ) AS number
    FROM ways AS w
    JOIN aliased AS a ON a.module_id = w.other_id
    ANTI JOIN aliased AS k
      ON k.module_id = w.one_id
      AND k.output_index = a.output_index
  ) AS l
  JOIN numbered_results AS o
    ON o.module_id = l.one_id
    AND o.space_color = l.space_color
    AND o.size_bytes = l.size_bytes
  LEFT JOIN (
    SELECT DISTINCT module_id, space_color, size_bytes, result_count
    FROM numbered_results
  ) AS b
    ON b.module_id = l.other_id
    AND b.space_color = l.space_color
    AND b.size_bytes = l.size_bytes
  WHERE o.number = l.number + coalesce(b.result_count, 0)
)
SELECT
  c.pair, c.is_lost, c.allocation_id, c.space_color AS color, c.output_index,
  c.size_bytes,
  NOT c.is_lost
    OR coalesce(f.parameter_count, 0) >= row_number() OVER (
      PARTITION BY
        c.pair, c.is_lost, c.space_color, c.size_bytes, c.array_type
      ORDER BY c.allocation_id
    ) AS can_be_donated
FROM changed AS c
LEFT JOIN free_parameters AS f
  ON f.module_id = c.one_id
  AND f.space_color = c.space_color
  AND f.size_bytes = c.size_bytes
  AND f.array_type = c.array_type
