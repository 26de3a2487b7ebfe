-- step: Their arguments, with element type, sizes on one device and sharding.
--   parts: into how many of these each dimension of the whole array is split.
-- grain: program, argument
WITH entry_instructions AS MATERIALIZED (
  SELECT i.module_id, i.form_id, m.num_partitions
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
  ) AS sizes,
  CASE
    WHEN i.num_partitions > 1 AND s.split NOT IN ('replicated', 'maximal')
      THEN list_transform(
        string_split(split_part(s.split, ',', 1), 'x'),
        lambda x: TRY_CAST(x AS BIGINT)
      )
  END AS parts
FROM entry_instructions AS i
JOIN store.instruction_forms AS f USING (form_id)
LEFT JOIN sharding_splits() AS s USING (sharding)
WHERE f.opcode = 'parameter'
