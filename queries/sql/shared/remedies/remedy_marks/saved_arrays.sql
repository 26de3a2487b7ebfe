-- step: Arrays that are saved for the backward pass, and how many are alike:
--   of one shape, computed by one operation, whatever the numbers in names of
--   layers are. Not more than there are layers by the largest arguments that
--   are alike: each may compute two.
-- grain: value
WITH layers AS (
  SELECT
    module_id,
    arg_max(argument_count, (element_count, place)) AS layer_count
  FROM (
    SELECT
      a.module_id,
      regexp_replace(a.name, '[0-9]+', '', 'g') AS place,
      count(*) AS argument_count,
      count(*) * list_product(list_transform(
        string_split(nullif(a.dimensions, ''), ','),
        lambda x: TRY_CAST(x AS DOUBLE)
      )) AS element_count
    FROM arguments AS a
    WHERE NOT a.is_input
      AND regexp_matches(a.name, '[0-9]')
    GROUP BY a.module_id, place, a.dimensions
  )
  WHERE argument_count > 1
  GROUP BY module_id
)
SELECT
  v.*, s.idle_from_step, s.idle_until_step,
  least(count(*) OVER (
    PARTITION BY
      v.module_id, v.dimensions, v.element_type,
      regexp_replace(coalesce(i.op_name, ''), '[0-9]+', '', 'g')
  ), l.layer_count) AS like_count
FROM saved_values() AS s
JOIN arrays AS v
  ON v.module_id = s.module_id
  AND v.value_id = s.value_id
LEFT JOIN scheduled_instructions AS i
  ON i.module_id = v.module_id
  AND i.instruction_id = v.instruction_id
LEFT JOIN layers AS l
  ON l.module_id = v.module_id
