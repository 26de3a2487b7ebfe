-- step: Outputs that one side lacks, or that are other arrays than at the
--   same place of the other side. Where one side has more of them, outputs of
--   one type and shape go together, whatever computes them. Those of one line
--   and shape are one edit. Up to three others that are added or removed are
--   an edit each, more of them one, described by the largest. A part of what
--   another instruction computes, as of a loop, has the line and name of that;
--   what a function of one line computes that several lines call, such as a
--   sharding constraint, has the line that calls it.
-- grain: pair, edit
WITH roots AS (
  SELECT i.pair, i.is_candidate, i.instruction_id, f.opcode
  FROM program_instructions AS i
  JOIN forms AS f USING (form_id)
  WHERE i.is_entry
    AND i.is_root
),
root_operands AS (
  SELECT
    r.pair, r.is_candidate, e.operand_index AS output_index,
    e.operand_id AS instruction_id
  FROM roots AS r
  JOIN programs AS p USING (pair, is_candidate)
  JOIN operands AS e
    ON e.module_id = p.module_id
    AND e.instruction_id = r.instruction_id
  WHERE r.opcode = 'tuple'
  UNION ALL
  SELECT r.pair, r.is_candidate, 0, r.instruction_id
  FROM roots AS r
  WHERE r.opcode <> 'tuple'
),
output_instructions AS (
  SELECT
    o.pair, o.is_candidate, o.output_index, f.shape, f.logical_bytes, f.dims,
    f.element_type, f.opcode,
    CASE
      WHEN f.opcode = 'get-tuple-element' AND coalesce(f.op_name, '') = ''
        THEN e.operand_id
      ELSE o.instruction_id
    END AS instruction_id
  FROM root_operands AS o
  JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
  JOIN forms AS f USING (form_id)
  JOIN programs AS p USING (pair, is_candidate)
  LEFT JOIN operands AS e
    ON e.module_id = p.module_id
    AND e.instruction_id = o.instruction_id
    AND e.operand_index = 0
),
outputs AS (
  SELECT
    o.pair, o.is_candidate, o.output_index, o.shape, o.logical_bytes,
    f.op_name, l.frame_id, c.core,
    hash(c.core, o.opcode, o.element_type,
      CASE WHEN g.has_same_sizes THEN o.dims END) AS signature
  FROM output_instructions AS o
  JOIN program_instructions AS i USING (pair, is_candidate, instruction_id)
  JOIN forms AS f USING (form_id)
  JOIN argument_agreement AS g ON g.pair = o.pair
  LEFT JOIN instruction_frames AS l
    ON l.pair = o.pair
    AND l.is_candidate = o.is_candidate
    AND l.instruction_id = o.instruction_id
  LEFT JOIN core_paths AS c
    ON c.pair = o.pair
    AND c.is_candidate = o.is_candidate
    AND c.op_name = f.op_name
),
counted_outputs AS (
  SELECT
    o.*, row_number() OVER (
      PARTITION BY o.pair, o.is_candidate, o.signature ORDER BY o.output_index
    ) AS copy_number,
    count(*) OVER (PARTITION BY o.pair, o.signature, o.is_candidate)
      AS side_count,
    count(*) OVER (PARTITION BY o.pair, o.signature) AS both_count,
    count(*) FILTER (WHERE o.is_candidate) OVER (PARTITION BY o.pair)
    - count(*) FILTER (WHERE NOT o.is_candidate) OVER (PARTITION BY o.pair)
      AS added_count
  FROM outputs AS o
),
unlike_outputs AS (
  SELECT
    o.*, row_number() OVER (
      PARTITION BY o.pair, o.shape, o.is_candidate ORDER BY o.output_index
    ) AS shape_number,
    count(*) OVER (PARTITION BY o.pair, o.shape, o.is_candidate)
      AS same_shape_count,
    count(*) OVER (PARTITION BY o.pair, o.shape) AS shape_count
  FROM counted_outputs AS o
  WHERE o.copy_number > o.both_count - o.side_count
),
-- Where both sides have as many, equal shapes at a place are no edit, nor are
-- equal shapes in another order.
moved_outputs AS (
  SELECT o.pair
  FROM unlike_outputs AS o
  GROUP BY o.pair
  HAVING bool_and(2 * o.same_shape_count = o.shape_count)
),
unmatched_outputs AS MATERIALIZED (
  SELECT
    o.*, row_number() OVER (
      PARTITION BY o.pair, o.is_candidate ORDER BY o.output_index
    ) AS unmatched_number
  FROM unlike_outputs AS o
  LEFT JOIN unlike_outputs AS t
    ON o.added_count = 0
    AND t.pair = o.pair
    AND t.is_candidate <> o.is_candidate
    AND t.output_index = o.output_index
    AND t.shape = o.shape
  ANTI JOIN moved_outputs AS m
    ON m.pair = o.pair
    AND o.added_count = 0
  WHERE CASE
    WHEN o.added_count = 0 THEN t.pair IS NULL
    ELSE o.shape_number > o.shape_count - o.same_shape_count
  END
),
-- Outputs of one edit have one edit_number, and are ranked in it.
numbered AS (
  SELECT
    o.*, CASE
      WHEN o.added_count = 0 THEN o.unmatched_number
      WHEN abs(o.added_count) <= 3 THEN o.output_index
      ELSE 0
    END AS edit_number,
    CASE
      WHEN o.added_count = 0 THEN o.unmatched_number
      ELSE row_number() OVER (
        PARTITION BY o.pair, o.is_candidate
        ORDER BY o.logical_bytes DESC, o.output_index
      )
    END AS rank
  FROM unmatched_outputs AS o
  JOIN argument_agreement AS g USING (pair)
  WHERE g.has_same_count
    AND o.added_count <> 0
    AND o.is_candidate = (o.added_count > 0)
    OR o.added_count = 0
    AND g.has_same_sizes
    AND g.has_same_types
),
called AS (
  SELECT
    *, lead(site) OVER (
      PARTITION BY pair, is_candidate, frame_id ORDER BY distance
    ) AS caller
  FROM call_sites
),
wrappers AS (
  SELECT pair, is_candidate, file_name, function_name
  FROM called
  GROUP BY pair, is_candidate, file_name, function_name
  HAVING count(DISTINCT line) = 1
    AND count(DISTINCT caller) > 1
),
sites AS (
  SELECT
    s.pair, s.is_candidate, s.frame_id,
    coalesce(c.file_name, s.source_file) AS source_file,
    coalesce(c.function_name, s.function_name) AS function_name,
    coalesce(c.line, s.line) AS line
  FROM edit_sites AS s
  LEFT JOIN wrappers AS w
    ON w.pair = s.pair
    AND w.is_candidate = s.is_candidate
    AND w.file_name = s.source_file
    AND w.function_name = s.function_name
  LEFT JOIN (
    SELECT
      pair, is_candidate, frame_id,
      arg_min(file_name, distance) AS file_name,
      arg_min(function_name, distance) AS function_name,
      arg_min(line, distance) AS line
    FROM called
    ANTI JOIN wrappers USING (pair, is_candidate, file_name, function_name)
    GROUP BY pair, is_candidate, frame_id
  ) AS c
    ON c.pair = w.pair
    AND c.is_candidate = w.is_candidate
    AND c.frame_id = s.frame_id
),
edited AS (
  SELECT
    o.pair, o.edit_number, o.added_count,
    arg_min(o.shape, o.rank) FILTER (WHERE NOT o.is_candidate) AS base_text,
    arg_min(o.shape, o.rank) FILTER (WHERE o.is_candidate) AS candidate_text,
    arg_min(coalesce(
      nullif(o.core, '*'), nullif(ltrim(regexp_replace(
        string_split(o.op_name, '/')[-1], '\w+\(|\)', '', 'g'
      ), '_'), ''), o.op_name
    ), (o.rank, NOT o.is_candidate)) AS subject,
    count(*) AS operation_count,
    sum(
      CASE WHEN o.is_candidate THEN 1 ELSE -1 END * o.logical_bytes
    ) AS delta_bytes,
    arg_min(s.source_file, (NOT o.is_candidate, o.rank)) AS source_file,
    arg_min(s.function_name, (NOT o.is_candidate, o.rank)) AS function_name,
    arg_min(s.line, o.rank) FILTER (WHERE NOT o.is_candidate) AS base_line,
    arg_min(s.line, o.rank) FILTER (WHERE o.is_candidate) AS candidate_line,
    list(DISTINCT o.op_name) FILTER (WHERE NOT o.is_candidate) AS base_paths,
    list(DISTINCT o.op_name) FILTER (WHERE o.is_candidate) AS candidate_paths
  FROM numbered AS o
  LEFT JOIN sites AS s USING (pair, is_candidate, frame_id)
  GROUP BY o.pair, o.edit_number, o.added_count
  HAVING base_text IS DISTINCT FROM candidate_text
)
SELECT
  e.pair, 'output' AS change, e.base_text, e.candidate_text,
  arg_min(e.subject, e.edit_number) AS subject,
  CASE WHEN e.added_count = 0 THEN count(*) ELSE sum(e.operation_count) END
    AS operation_count, sum(e.delta_bytes) AS delta_bytes, e.source_file,
  e.function_name, min(e.base_line) AS base_line, e.candidate_line,
  list_distinct(flatten(list(e.base_paths))) AS base_paths,
  list_distinct(flatten(list(e.candidate_paths))) AS candidate_paths
FROM edited AS e
GROUP BY
  e.pair, e.base_text, e.candidate_text, e.source_file, e.function_name,
  e.candidate_line, e.added_count
