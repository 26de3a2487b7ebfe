-- step: Forms of instructions of the compiled programs and of their sources,
--   with how often each is there.
-- grain: program, form
WITH form_counts AS MATERIALIZED (
  SELECT
    i.module_id, i.form_id, count(*) AS times,
    count(*) FILTER (WHERE i.computation_id IS NOT NULL) AS placed_times,
    count(*) FILTER (WHERE contains(i.name, '.remat')) AS remat_times
  FROM (
    SELECT unnest(list_distinct(list(x.module_id))) AS module_id
    FROM (
      SELECT unnest([s.module_id, s.earliest_id]) AS module_id
      FROM compilation_sides AS s
    ) AS x
  )
  JOIN store.instructions AS i USING (module_id)
  GROUP BY i.module_id, i.form_id
)
SELECT
  i.*, coalesce(f.opcode, '') AS operation, f.shape, f.op_name, f.sharding,
  f.backend_config
FROM form_counts AS i
JOIN store.instruction_forms AS f USING (form_id)
