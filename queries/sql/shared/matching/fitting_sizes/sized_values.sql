-- step: Values of both sizes of each series, with dimensions, and with their
--   number among values of the same operation, name, type and rank.
-- grain: program, value, place
WITH described AS (
  SELECT
    v.*, coalesce(f.opcode, '') AS opcode, coalesce(f.op_name, '') AS op_name,
    regexp_extract(v.shape, '^([a-z][a-z0-9]*)\[', 1) AS element_type,
    nullif(regexp_extract(v.shape, '\]\{([0-9,]*)', 1), '') AS minor_to_major,
    list_transform(
      string_split(replace(
        regexp_extract(v.shape, '^[a-z0-9]+\[([^\]]*)\]', 1), '<=', ''
      ), ','), lambda x: TRY_CAST(x AS BIGINT)
    ) AS sizes,
    list_transform(
      string_split(
        nullif(regexp_extract(v.shape, ':[^S]*?T\(([0-9,*]*)\)', 1), ''), ','
      ), lambda x: TRY_CAST(x AS BIGINT)
    ) AS tile
  FROM value_places(
    run := NULL, program := NULL, every_run := TRUE, module_ids := (
      SELECT list(DISTINCT o.module_id)
      FROM (
        SELECT m.base_id AS module_id FROM size_models AS m
        UNION
        SELECT m.lesser_id FROM size_models AS m
      ) AS o
    )
  ) AS v
  LEFT JOIN store.instructions AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  LEFT JOIN store.instruction_forms AS f USING (form_id)
)
SELECT
  *,
  row_number() OVER (
    PARTITION BY
      module_id, opcode, op_name, element_type, len(sizes), shape_index
    ORDER BY start_step, value_id, allocation_id, offset_bytes
  ) AS ordinal,
  count(*) OVER (
    PARTITION BY
      module_id, opcode, op_name, element_type, len(sizes), shape_index
  ) AS alike_count
FROM described
