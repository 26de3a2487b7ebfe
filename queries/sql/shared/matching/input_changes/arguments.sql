-- step: Their arguments, with element type, sizes and sharding.
-- grain: program, argument
WITH entry_instructions AS MATERIALIZED (
  SELECT i.module_id, i.form_id
  FROM asked_contents AS m
  JOIN store.instructions AS i USING (module_id, computation_id)
)
SELECT
  i.module_id, f.parameter_number AS number,
  coalesce(
    replace(nullif(f.op_name, ''), '\''', ''''),
    'parameter ' || f.parameter_number
  ) AS argument,
  regexp_extract(f.shape, '^\w+') AS element_type, f.logical_bytes,
  f.sharding,
  list_transform(
    regexp_extract_all(
      regexp_extract(f.shape, '\[([^\]]*)\]', 1), '\d+'
    ), lambda x: CAST(x AS BIGINT)
  ) AS sizes
FROM entry_instructions AS i
JOIN store.instruction_forms AS f USING (form_id)
WHERE f.opcode = 'parameter'
