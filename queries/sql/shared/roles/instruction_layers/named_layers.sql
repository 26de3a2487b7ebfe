-- step: Instructions outside of fusions, with the layer that op_name names.
-- grain: instruction
WITH there AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.opcode, i.op_name,
    i.parameter_number
  FROM selected_instructions() AS i
  JOIN computations AS c USING (module_id, computation_id)
  WHERE c.kind IS DISTINCT FROM 'fusion'
),
paths AS (
  SELECT
    op_name, '/' || regexp_replace(op_name, '[\[\]()''"./]+', '/', 'g') AS path
  FROM (SELECT DISTINCT op_name FROM there)
  WHERE regexp_matches(op_name, '[0-9]')
),
matching AS (
  SELECT
    p.op_name, p.path, r.pattern, r.place,
    regexp_extract(p.path, r.pattern, 1) AS name
  FROM paths AS p
  CROSS JOIN layer_rules() AS r
),
layered_names AS MATERIALIZED (
  -- Compared by number.
  SELECT
    m.op_name,
    arg_min(
      {
        'number': CAST(regexp_extract(m.path, m.pattern, 2) AS BIGINT),
        'name': m.name
      },
      m.place
    ) AS layer
  FROM matching AS m
  WHERE m.name <> ''
  GROUP BY m.op_name
)
SELECT t.*, n.layer
FROM there AS t
LEFT JOIN layered_names AS n USING (op_name)
