-- step: Names of the arguments whose memory results could take: three of them,
--   and how many more.
-- grain: program, memory space
SELECT
  p.module_id, p.space_color,
  string_agg(p.argument, ', ' ORDER BY p.parameter_number)
    FILTER (WHERE p.argument_place <= 3)
  || CASE WHEN count(*) > 3 THEN ' and ' || (count(*) - 3) || ' more'
    ELSE '' END AS arguments
FROM (
  SELECT
    a.*,
    row_number() OVER (
      PARTITION BY a.module_id, a.space_color ORDER BY a.parameter_number
    ) AS argument_place
  FROM (
    SELECT DISTINCT
      p.module_id, p.color AS space_color, p.parameter_number,
      coalesce(n.op_name, 'parameter ' || p.parameter_number || CASE
        WHEN p.parameter_index = '{}' THEN '' ELSE p.parameter_index END
      ) AS argument
    FROM missed_pairs AS p
    LEFT JOIN entry_parameters() AS n
      ON n.module_id = p.module_id
      AND n.parameter_number = p.parameter_number
  ) AS a
) AS p
GROUP BY p.module_id, p.space_color
