-- step: Their parameters, with what the framework calls them. sizes: the
--   dimensions without the element type.
-- grain: module, parameter
WITH
-- Fixed before it meets the forms: else the instructions of all modules do.
entry_instructions AS MATERIALIZED (
  SELECT i.module_id, i.name, i.form_id
  FROM (
    SELECT DISTINCT s.module_id, s.entry_computation_id AS computation_id
    FROM (
      -- Unnested, they are taken for a few rows (final_contents).
      SELECT unnest(list_distinct(list(base_id) || list(own_id))) AS module_id
      FROM asked_pairs
    )
    JOIN store.snapshots AS s USING (module_id)
  ) AS m
  JOIN store.instructions AS i USING (module_id, computation_id)
)
SELECT
  i.module_id, i.name, f.parameter_number,
  -- Older releases may name it after an operation that was merged into it.
  CASE
    WHEN regexp_matches(f.op_name, '^p?jit\(') THEN NULL
    ELSE nullif(f.op_name, '')
  END AS argument,
  -- flax.nnx writes .value behind each of its variables.
  regexp_extract(f.op_name, '(\.\w+[^.]*?)(\.value)?$', 1) AS ending,
  regexp_replace(f.shape, '\{[^}]*\}', '', 'g') AS dimensions,
  regexp_replace(dimensions, '^\w+', '') AS sizes,
  count(*) OVER (PARTITION BY i.module_id, f.op_name) = 1 AS is_alone,
  count(*) OVER (PARTITION BY i.module_id) AS parameter_count
FROM entry_instructions AS i
JOIN store.instruction_forms AS f USING (form_id)
WHERE f.opcode = 'parameter'
