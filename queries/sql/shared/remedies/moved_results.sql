-- title: Results that the memory of arguments could take
-- question: Which values would lie in the memory of an argument if all that
--   can be were donated?
-- definition: Values of the results of missed_donations, from the last use of
--   the argument on, or from the beginning where a loop makes the result.
-- grain: module content, value
-- param run
-- param program
-- column module_id
-- column color
-- column value_id
-- column size_bytes
-- column arguments VARCHAR text neutral: Arguments of the function to donate
--   in this memory space, with the number of their arrays: three of them, and
--   how many more.
WITH pairs AS MATERIALIZED (
  SELECT d.*, d.color AS space_color, u.last_use_step
  FROM missed_donations() AS d
  LEFT JOIN argument_last_uses() AS u
    ON u.module_id = d.module_id
    AND u.allocation_id = d.parameter_id
),
described AS MATERIALIZED (
  SELECT
    v.module_id, v.color AS space_color, v.allocation_id, v.value_id,
    v.opcode, v.size_bytes, v.start_step
  FROM remedy_values() AS v
),
-- A result is free from the last use of its argument on.
movable AS (
  SELECT
    p.module_id, p.output_id,
    CASE WHEN bool_or(v.opcode = 'while') THEN 0
      ELSE min(p.last_use_step) END AS last_use_step
  FROM pairs AS p
  JOIN result_places() AS r
    ON r.module_id = p.module_id
    AND r.output_index = p.output_index
  JOIN described AS v
    ON v.module_id = r.module_id
    AND v.allocation_id = r.allocation_id
    AND v.value_id = r.value_id
  GROUP BY p.module_id, p.output_id
),
entries AS MATERIALIZED (
  SELECT
    e.module_id, e.parameter_number, e.op_name,
    regexp_extract(e.op_name, '^[A-Za-z_]\w*') AS root
  FROM entry_parameters() AS e
),
roots AS MATERIALIZED (
  SELECT module_id, root, count(*) AS arrays
  FROM entries
  GROUP BY module_id, root
),
named AS (
  SELECT DISTINCT
    p.module_id, p.space_color, p.parameter_number,
    nullif(n.root, '') AS root, n.op_name AS argument,
    coalesce(n.op_name, 'parameter ' || p.parameter_number || CASE
      WHEN p.parameter_index = '{}' THEN '' ELSE p.parameter_index END
    ) AS described, p.size_bytes
  FROM pairs AS p
  LEFT JOIN entries AS n
    ON n.module_id = p.module_id
    AND n.parameter_number = p.parameter_number
),
-- A function is given arguments, and each of them is donated whole.
grouped AS (
  SELECT
    n.module_id, n.space_color, min(n.parameter_number) AS first_number,
    sum(n.size_bytes) AS size_bytes,
    CASE
      WHEN n.root IS NULL OR n.root = any_value(n.argument)
        THEN any_value(n.described)
      WHEN count(*) = any_value(r.arrays)
        THEN 'all of ' || n.root || ' (' || count(*)
          || CASE count(*) WHEN 1 THEN ' array)' ELSE ' arrays)' END
      ELSE n.root || ' (' || count(*) || ' of ' || any_value(r.arrays)
        || ' arrays)'
    END AS argument
  FROM named AS n
  LEFT JOIN roots AS r
    ON r.module_id = n.module_id
    AND r.root = n.root
  GROUP BY
    n.module_id, n.space_color, n.root,
    CASE WHEN n.root IS NULL THEN n.described END
),
-- Scalars and the like beside large arrays are not worth a word.
ordered AS (
  SELECT
    g.*,
    row_number() OVER (
      PARTITION BY g.module_id, g.space_color ORDER BY g.first_number
    ) AS argument_place
  FROM (
    SELECT *, sum(size_bytes) OVER (PARTITION BY module_id, space_color)
      AS whole_bytes
    FROM grouped
  ) AS g
  WHERE 1000 * g.size_bytes >= g.whole_bytes
),
listed AS (
  SELECT
    o.module_id, o.space_color,
    string_agg(o.argument, ', ' ORDER BY o.first_number)
      FILTER (WHERE o.argument_place <= 3)
    || CASE WHEN count(*) > 3 THEN ' and ' || (count(*) - 3) || ' more'
      ELSE '' END AS arguments
  FROM ordered AS o
  GROUP BY o.module_id, o.space_color
)
SELECT
  v.module_id, v.space_color AS color, v.value_id, v.size_bytes, n.arguments
FROM described AS v
JOIN movable AS p
  ON p.module_id = v.module_id
  AND p.output_id = v.allocation_id
JOIN listed AS n
  ON n.module_id = v.module_id
  AND n.space_color = v.space_color
WHERE v.start_step >= coalesce(p.last_use_step, 0)
