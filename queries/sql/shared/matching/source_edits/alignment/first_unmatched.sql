-- step: Unmatched operations that start an edit: none of their operands is
--   unmatched, and they neither follow from another edit nor were there
--   before.
-- grain: pair, side, instruction
WITH
-- The scalar operand of another operation, which several of these may share:
-- where only one side has such, it follows from what reads it.
shared_scalars AS MATERIALIZED (
  SELECT u.pair, u.is_candidate, u.instruction_id
  FROM unmatched_operations AS u
  ANTI JOIN unmatched_operations AS o
    ON o.pair = u.pair
    AND o.is_candidate <> u.is_candidate
    AND o.key = u.key
  WHERE u.opcode = 'broadcast'
    AND regexp_full_match(u.op_name, '(.*/)?(add|sub|mul|div|max|min|pow)')
),
-- What a loop stores newly in a stack comes from the stack, too.
new_stacks AS MATERIALIZED (
  SELECT u.pair, u.is_candidate, u.instruction_id
  FROM unmatched_operations AS u
  ANTI JOIN unmatched_operations AS o
    ON o.pair = u.pair
    AND o.is_candidate <> u.is_candidate
    AND o.key = u.key
  WHERE starts_with(u.operation, 'dynamic_update')
    AND NOT u.is_backward
    AND u.is_located
),
-- What a call is given that only fills an array.
filled_parameters AS MATERIALIZED (
  SELECT i.pair, i.is_candidate, i.instruction_id
  FROM (
    SELECT i.pair, i.is_candidate, i.computation_id, u.instruction_id,
      f.parameter_number
    FROM unmatched_operations AS u
    JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
    JOIN forms AS f USING (form_id)
    WHERE u.opcode = 'parameter'
  ) AS i
  JOIN program_calls AS c
    ON c.pair = i.pair
    AND c.is_candidate = i.is_candidate
    AND c.called_id = i.computation_id
  JOIN programs AS p
    ON p.pair = i.pair
    AND p.is_candidate = i.is_candidate
  JOIN operands AS e
    ON e.module_id = p.module_id
    AND e.instruction_id = c.instruction_id
    AND e.operand_index = i.parameter_number
  LEFT JOIN operations AS o
    ON o.pair = i.pair
    AND o.is_candidate = i.is_candidate
    AND o.instruction_id = e.operand_id
  GROUP BY i.pair, i.is_candidate, i.instruction_id
  HAVING bool_and(
    coalesce(o.opcode = 'broadcast' AND NOT o.is_located, FALSE)
  )
),
fed_by_unmatched AS (
  SELECT e.pair, e.is_candidate, e.instruction_id
  FROM operand_edges AS e
  JOIN unmatched_operations AS o
    ON o.pair = e.pair
    AND o.is_candidate = e.is_candidate
    AND o.instruction_id = e.operand_id
  ANTI JOIN shared_scalars AS s
    ON s.pair = o.pair
    AND s.is_candidate = o.is_candidate
    AND s.instruction_id = o.instruction_id
  ANTI JOIN filled_parameters AS p
    ON p.pair = o.pair
    AND p.is_candidate = o.is_candidate
    AND p.instruction_id = o.instruction_id
  LEFT JOIN new_stacks AS n
    ON n.pair = e.pair
    AND n.is_candidate = e.is_candidate
    AND n.instruction_id = e.instruction_id
  WHERE o.opcode <> 'constant'
    AND (o.is_located OR o.opcode <> 'broadcast')
    AND NOT (n.pair IS NOT NULL AND o.opcode = 'get-tuple-element')
),
-- Lines whose unmatched operations all follow from others of them.
own_lines AS MATERIALIZED (
  SELECT l.pair, l.is_candidate, l.site
  FROM (
    SELECT u.*, c.site
    FROM unmatched_operations AS u
    JOIN innermost_calls AS c USING (pair, is_candidate, frame_id)
  ) AS l
  LEFT JOIN operand_edges AS e USING (pair, is_candidate, instruction_id)
  LEFT JOIN unmatched_operations AS o
    ON o.pair = e.pair
    AND o.is_candidate = e.is_candidate
    AND o.instruction_id = e.operand_id
    AND o.opcode <> 'constant'
  LEFT JOIN innermost_calls AS f
    ON f.pair = o.pair
    AND f.is_candidate = o.is_candidate
    AND f.frame_id = o.frame_id
  WHERE NOT l.is_recomputed
    AND NOT l.is_backward
  GROUP BY l.pair, l.is_candidate, l.site
  HAVING bool_and(o.pair IS NULL OR coalesce(f.site = l.site, TRUE))
),
starts AS MATERIALIZED (
  SELECT u.*
  FROM unmatched_operations AS u
  ANTI JOIN fed_by_unmatched AS f USING (pair, is_candidate, instruction_id)
  ANTI JOIN shared_scalars AS c USING (pair, is_candidate, instruction_id)
  WHERE u.may_start
    AND u.is_located
    AND NOT u.is_recomputed
),
-- A function that nobody edited has it on both sides, and as many as the other
-- side lacks follow from another start: this one is not new.
there_before AS (
  SELECT s.pair, s.is_candidate, s.instruction_id
  FROM starts AS s
  JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  ANTI JOIN edited_functions AS e
    ON e.pair = n.pair
    AND e.file_name = n.file_name
    AND e.function_name = n.function_name
  JOIN key_counts AS k USING (pair, key)
  JOIN (
    SELECT pair, is_candidate, key, count(*) AS follower_count
    FROM unmatched_operations
    SEMI JOIN fed_by_unmatched USING (pair, is_candidate, instruction_id)
    GROUP BY pair, is_candidate, key
  ) AS f USING (pair, is_candidate, key)
  WHERE s.opcode <> 'convert'
    AND least(k.base_count, k.candidate_count) > 0
    AND f.follower_count = CASE
      WHEN s.is_candidate THEN k.candidate_count - k.base_count
      ELSE k.base_count - k.candidate_count
    END
),
-- The other side has it with another type, and there it starts nothing. In
-- functions of libraries operations of one name have little else in common.
of_another_type AS (
  SELECT s.pair, s.is_candidate, s.instruction_id
  FROM starts AS s
  JOIN unmatched_operations AS o
    ON o.pair = s.pair
    AND o.is_candidate <> s.is_candidate
    AND o.key = s.key
    AND o.is_backward = s.is_backward
    AND (
      o.element_type <> s.element_type
      OR s.opcode <> 'convert' AND NOT s.is_of_call
    )
  LEFT JOIN starts AS k
    ON k.pair = o.pair
    AND k.is_candidate = o.is_candidate
    AND k.instruction_id = o.instruction_id
  GROUP BY s.pair, s.is_candidate, s.instruction_id
  HAVING count(k.instruction_id) = 0
),
-- The other side has it with another type alone.
of_other_type_alone AS MATERIALIZED (
  SELECT DISTINCT s.pair, s.is_candidate, s.instruction_id
  FROM starts AS s
  JOIN unmatched_operations AS o
    ON o.pair = s.pair
    AND o.is_candidate <> s.is_candidate
    AND o.key = s.key
    AND o.dims = s.dims
  WHERE o.element_type <> s.element_type
),
-- It is converted as what it meets in a reader is of another type, which is
-- not converted itself, and does not follow from it; or it is a constant of
-- that type, such as the zeros that a scatter adds to.
converted_for_another AS (
  SELECT s.pair, s.is_candidate, s.instruction_id
  FROM starts AS s
  JOIN operand_edges AS e
    ON e.pair = s.pair
    AND e.is_candidate = s.is_candidate
    AND e.operand_id = s.instruction_id
  JOIN operand_edges AS m
    ON m.pair = e.pair
    AND m.is_candidate = e.is_candidate
    AND m.instruction_id = e.instruction_id
  JOIN unmatched_operations AS o
    ON o.pair = m.pair
    AND o.is_candidate = m.is_candidate
    AND o.instruction_id = m.operand_id
  ANTI JOIN starts AS k
    ON k.pair = o.pair
    AND k.is_candidate = o.is_candidate
    AND k.instruction_id = o.instruction_id
  LEFT JOIN of_other_type_alone AS a
    ON a.pair = s.pair
    AND a.is_candidate = s.is_candidate
    AND a.instruction_id = s.instruction_id
  WHERE (
      s.opcode = 'convert'
      OR s.opcode = 'broadcast'
      AND a.pair IS NOT NULL
      AND o.element_type = s.element_type
    )
    AND o.opcode NOT IN ('constant', 'broadcast', 'parameter', 'convert')
    -- The backward pass follows from what is converted.
    AND (s.is_backward OR NOT o.is_backward)
    AND NOT EXISTS (
      SELECT 1
      FROM innermost_calls AS c
      JOIN innermost_calls AS d USING (pair, is_candidate, site)
      JOIN own_lines AS l USING (pair, is_candidate, site)
      WHERE c.pair = s.pair
        AND c.is_candidate = s.is_candidate
        AND c.frame_id = s.frame_id
        AND d.frame_id = o.frame_id
    )
)
SELECT s.*
FROM starts AS s
ANTI JOIN of_another_type AS t USING (pair, is_candidate, instruction_id)
ANTI JOIN converted_for_another AS c USING (pair, is_candidate, instruction_id)
ANTI JOIN there_before AS b USING (pair, is_candidate, instruction_id)
