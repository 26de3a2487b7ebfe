-- step: Values with the rules that apply to them, and how much of them goes.
--   shard_at_most is no rule, but the most that sharding saves: gradients go
--   with the argument.
-- grain: value, rule, subject
WITH values_marked AS MATERIALIZED (
  SELECT * FROM remedy_marks()
),
-- Each pattern is compiled for each row: so few rows as there can be.
fitting AS (
  SELECT r.*, v.kind, v.element_type, v.name
  FROM (SELECT DISTINCT mark, kind, element_type, name FROM values_marked) AS v
  JOIN remedy_rules() AS r
    ON r.mark = v.mark
    AND (r.kind_pattern IS NULL OR regexp_matches(v.kind, r.kind_pattern))
    AND (
      r.type_pattern IS NULL
      OR regexp_full_match(v.element_type, r.type_pattern)
    )
    AND (r.name_pattern IS NULL OR regexp_matches(v.name, r.name_pattern))
)
SELECT
  v.module_id, v.color AS space_color, v.value_id, v.size_bytes,
  v.instruction_id, r.rule_id,
  coalesce(v.subject, coalesce(r.subject, '') || CASE r.subject_by
    WHEN 'type' THEN v.element_type
    WHEN 'shape' THEN v.element_type || '[' || v.dimensions || ']'
    WHEN 'value' THEN v.instruction || ' ' || v.shape
    WHEN 'name' THEN v.name
    ELSE ''
  END) AS subject,
  coalesce(v.part, r.part) AS part, coalesce(v.whole, r.whole) AS whole,
  v.is_apart, v.from_step, v.until_step, v.chunk
FROM values_marked AS v
JOIN fitting AS r
  ON r.mark = v.mark
  AND r.kind = v.kind
  AND r.element_type = v.element_type
  AND r.name = v.name
UNION ALL
SELECT
  v.module_id, v.color, v.value_id, v.size_bytes, v.instruction_id,
  'shard_at_most', v.subject, v.part, v.whole, v.is_apart, v.from_step,
  v.until_step, v.chunk
FROM values_marked AS v
SEMI JOIN (
  SELECT m.module_id, m.color, m.subject
  FROM values_marked AS m
  WHERE m.mark = 'replicated_gradient'
) AS g
  ON g.module_id = v.module_id
  AND g.color = v.color
  AND g.subject = v.subject
WHERE v.mark IN ('replicated', 'replicated_gradient')
