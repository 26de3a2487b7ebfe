-- step: Arguments in fewer parts than partitions, and optimiser state that
--   each device holds whole. Where a program has one tree of arguments alone,
--   those are its branches; other arguments of the same dimensions, such as
--   keys and values, go together.
-- grain: argument
WITH undivided AS MATERIALIZED (
  SELECT
    m.module_id, a.allocation_id, t.op_name, t.parameter_number,
    t.shards, t.partitions, FALSE AS is_state
  FROM replicated_tensors(top := NULL) AS t
  JOIN selected_modules() AS m
    ON m.program = t.program
    AND m.module_number IS NOT DISTINCT FROM t.module_number
    AND m.rank IS NOT DISTINCT FROM t.rank
  JOIN allocations AS a
    ON a.module_id = m.module_id
    AND a.parameter_number = t.parameter_number
    AND a.size_bytes = t.device_bytes
  UNION
  SELECT
    s.module_id, s.allocation_id, s.root, a.parameter_number, 1,
    s.partitions, TRUE
  FROM whole_states AS s
  JOIN allocations AS a
    ON a.module_id = s.module_id
    AND a.allocation_id = s.allocation_id
),
trees AS (
  SELECT a.module_id, count(DISTINCT a.root) = 1 AS is_single
  FROM arguments AS a
  WHERE a.root <> ''
  GROUP BY a.module_id
),
rooted AS (
  SELECT
    u.*, s.allocation_id IS NOT NULL AS is_of_state, a.dimensions,
    a.is_replaced,
    coalesce(
      nullif(regexp_extract(
        coalesce(nullif(a.name, ''), u.op_name), CASE WHEN t.is_single
          THEN '^[^.\[]*(\[[0-9]+\])?' ELSE '^[^.\[]*' END
      ), ''), 'parameter ' || u.parameter_number
    ) AS root
  FROM undivided AS u
  LEFT JOIN trees AS t USING (module_id)
  LEFT JOIN arguments AS a
    ON a.module_id = u.module_id
    AND a.allocation_id = u.allocation_id
  LEFT JOIN whole_states AS s
    ON s.module_id = u.module_id
    AND s.allocation_id = u.allocation_id
),
shapes AS (
  SELECT
    module_id, root, bool_or(is_of_state) AS is_of_state,
    list_sort(list(DISTINCT coalesce(dimensions, ''))) AS signature
  FROM rooted
  GROUP BY module_id, root
),
groups AS (
  SELECT
    s.module_id, s.root,
    string_agg(s.root, ', ') OVER (
      PARTITION BY s.module_id, s.signature ORDER BY s.root
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS roots
  FROM shapes AS s
)
SELECT
  r.module_id, r.allocation_id, g.roots AS root, r.shards, r.partitions,
  r.dimensions, coalesce(r.is_replaced, FALSE) AND NOT r.is_of_state
    AS has_copies
FROM rooted AS r
JOIN groups AS g
  ON g.module_id = r.module_id
  AND g.root = r.root
