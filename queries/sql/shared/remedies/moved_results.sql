-- title: Results that the memory of arguments could take
-- question: Which values would lie in the memory of an argument if all that
--   can be were donated?
-- definition: Values of the results of missed_donations, from the last use of
--   the argument on, or from the beginning where a loop makes the result from
--   the argument in its place. Where it goes through the argument and stacks
--   another array (the xs and ys of jax.lax.scan), both are there to its end:
--   is_stacked, for values that lie in the argument if it carries that.
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
-- column is_stacked BOOLEAN flag neutral: Whether a loop stacks another array
--   in the place of the argument, which donating it alone does not change.
WITH RECURSIVE pairs AS MATERIALIZED (
  SELECT d.*, d.color AS space_color, u.last_use_step
  FROM missed_donations() AS d
  LEFT JOIN argument_last_uses() AS u
    ON u.module_id = d.module_id
    AND u.allocation_id = d.parameter_id
),
-- Without their names: a column of strings takes most of the time to read.
opcodes AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, f.opcode
  FROM (SELECT unnest(list_distinct(list(module_id))) AS module_id FROM pairs)
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
),
described AS MATERIALIZED (
  SELECT
    v.module_id, v.color AS space_color, v.allocation_id, v.value_id,
    o.opcode, v.size_bytes, v.start_step, v.instruction_id, v.shape_index
  FROM value_places() AS v
  LEFT JOIN opcodes AS o USING (module_id, instruction_id)
  WHERE v.kind <> 'thread_local'
),
loop_results AS MATERIALIZED (
  SELECT
    p.module_id, p.output_id, p.parameter_number, p.last_use_step, v.opcode,
    v.instruction_id, v.shape_index
  FROM pairs AS p
  JOIN result_places() AS r
    ON r.module_id = p.module_id
    AND r.output_index = p.output_index
  JOIN described AS v
    ON v.module_id = r.module_id
    AND v.allocation_id = r.allocation_id
    AND v.value_id = r.value_id
),
-- Unnested, they are taken for a few modules (final_contents).
looping AS MATERIALIZED (
  SELECT unnest(list_distinct(list(module_id))) AS module_id
  FROM loop_results
  WHERE opcode = 'while'
),
operands_there AS MATERIALIZED (
  SELECT e.module_id, e.instruction_id, e.operand_index, e.operand_id
  FROM looping
  JOIN operands AS e USING (module_id)
),
operations AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, f.opcode, f.parameter_number,
    e.operand_index, e.operand_id
  FROM looping
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
  LEFT JOIN operands_there AS e USING (module_id, instruction_id)
  WHERE f.opcode IN ('while', 'tuple', 'parameter', 'copy', 'bitcast')
),
-- What a loop begins with in the place of each result, and what that copies.
beginnings AS (
  SELECT DISTINCT
    l.module_id, l.output_id, l.parameter_number, t.operand_id AS origin_id
  FROM loop_results AS l
  JOIN operations AS w USING (module_id, instruction_id)
  JOIN operations AS t
    ON t.module_id = l.module_id
    AND t.instruction_id = w.operand_id
    AND l.shape_index = '{' || t.operand_index || '}'
  WHERE l.opcode = 'while'
  UNION
  SELECT b.module_id, b.output_id, b.parameter_number, o.operand_id
  FROM beginnings AS b
  JOIN operations AS o
    ON o.module_id = b.module_id
    AND o.instruction_id = b.origin_id
  WHERE o.opcode IN ('copy', 'bitcast')
),
carried AS (
  SELECT DISTINCT b.module_id, b.output_id
  FROM beginnings AS b
  JOIN operations AS o
    ON o.module_id = b.module_id
    AND o.instruction_id = b.origin_id
  WHERE o.opcode = 'parameter'
    AND o.parameter_number = b.parameter_number
),
read_in_loops AS (
  SELECT DISTINCT l.module_id, l.output_id
  FROM loop_results AS l
  JOIN operations AS w USING (module_id, instruction_id)
  JOIN operations AS t
    ON t.module_id = l.module_id
    AND t.instruction_id = w.operand_id
  JOIN operations AS o
    ON o.module_id = l.module_id
    AND o.instruction_id = t.operand_id
  WHERE l.opcode = 'while'
    AND o.opcode = 'parameter'
    AND o.parameter_number = l.parameter_number
),
-- A result is free from the last use of its argument on.
movable AS (
  SELECT
    l.module_id, l.output_id,
    bool_or(c.output_id IS NULL AND r.output_id IS NOT NULL) AS is_stacked,
    CASE
      WHEN is_stacked OR bool_or(c.output_id IS NOT NULL) THEN 0
      ELSE min(l.last_use_step)
    END AS last_use_step
  FROM loop_results AS l
  LEFT JOIN carried AS c USING (module_id, output_id)
  LEFT JOIN read_in_loops AS r USING (module_id, output_id)
  GROUP BY l.module_id, l.output_id
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
    coalesce(l.is_stacked, FALSE) AS is_stacked, nullif(n.root, '') AS root,
    n.op_name AS argument,
    coalesce(n.op_name, 'parameter ' || p.parameter_number || CASE
      WHEN p.parameter_index = '{}' THEN '' ELSE p.parameter_index END
    ) AS described, p.size_bytes
  FROM pairs AS p
  LEFT JOIN movable AS l USING (module_id, output_id)
  LEFT JOIN entries AS n
    ON n.module_id = p.module_id
    AND n.parameter_number = p.parameter_number
),
-- A function is given arguments, and each of them is donated whole.
grouped AS (
  SELECT
    n.module_id, n.space_color, n.is_stacked,
    min(n.parameter_number) AS first_number,
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
    n.module_id, n.space_color, n.is_stacked, n.root,
    CASE WHEN n.root IS NULL THEN n.described END
),
-- Scalars and the like beside large arrays are not worth a word.
ordered AS (
  SELECT
    g.*,
    row_number() OVER (
      PARTITION BY g.module_id, g.space_color, g.is_stacked
      ORDER BY g.first_number
    ) AS argument_place
  FROM (
    SELECT
      *, sum(size_bytes) OVER (
        PARTITION BY module_id, space_color, is_stacked
      ) AS whole_bytes
    FROM grouped
  ) AS g
  WHERE 1000 * g.size_bytes >= g.whole_bytes
),
listed AS (
  SELECT
    o.module_id, o.space_color, o.is_stacked,
    string_agg(o.argument, ', ' ORDER BY o.first_number)
      FILTER (WHERE o.argument_place <= 3)
    || CASE WHEN count(*) > 3 THEN ' and ' || (count(*) - 3) || ' more'
      ELSE '' END AS arguments
  FROM ordered AS o
  GROUP BY o.module_id, o.space_color, o.is_stacked
)
SELECT
  v.module_id, v.space_color AS color, v.value_id, v.size_bytes, n.arguments,
  n.is_stacked
FROM described AS v
JOIN movable AS p
  ON p.module_id = v.module_id
  AND p.output_id = v.allocation_id
JOIN listed AS n
  ON n.module_id = v.module_id
  AND n.space_color = v.space_color
  AND n.is_stacked = p.is_stacked
WHERE v.start_step >= coalesce(p.last_use_step, 0)
