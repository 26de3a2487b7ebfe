-- step: What was edited in a group: a type, sharding or shape, what a loop
--   stacks, else which operations were added, removed or replaced, and by the
--   call of which function, if nine of ten are of one. One stray type, shape
--   or sharding changes many lines: its groups are one edit, at the first of
--   them, and so are those in which the same operations stand for one. What
--   has another shape since something is joined to it, or cut from it,
--   belongs to that.
-- grain: pair, edit
WITH
-- The function that nine of ten operations of a line come from by its call.
callees AS (
  SELECT
    pair, source_file, function_name, is_candidate, line,
    regexp_replace(callee, '^.*<locals>\.', '') AS callee
  FROM (
    SELECT
      pair, source_file, function_name, is_candidate, line, callee,
      count(*) AS operation_count,
      sum(count(*)) OVER (
        PARTITION BY pair, source_file, function_name, is_candidate, line
      ) AS line_count
    FROM grouped_operations
    GROUP BY pair, source_file, function_name, is_candidate, line, callee
  )
  WHERE operation_count >= 0.9 * line_count
    AND NOT contains(callee, '<lambda>')
),
sums AS (
  SELECT
    pair, source_file, g.function_name, min(base_line) AS base_line,
    min(candidate_line) AS candidate_line,
    any_value(inner_call) AS inner_call,
    arg_max(
      struct_pack(
        file_name := n.file_name, function_name := n.function_name,
        line := n.line
      ), (size_bytes, -instruction_id)
    ) FILTER (
      WHERE NOT is_candidate AND starts_with(operation, 'dynamic_update')
    ) AS base_stack_call,
    arg_max(
      struct_pack(
        file_name := n.file_name, function_name := n.function_name,
        line := n.line
      ), (size_bytes, -instruction_id)
    ) FILTER (
      WHERE is_candidate AND starts_with(operation, 'dynamic_update')
    ) AS candidate_stack_call,
    -- What a loop stacks that does more than that.
    arg_max(shape, (size_bytes, -instruction_id)) FILTER (
      WHERE is_candidate
        AND regexp_matches(
          op_name, '(^|/)while/body/(jit\()?dynamic_update_[a-z_]+\)?$'
        )
    ) AS stack_shape,
    count(*) AS operation_count,
    -- A filled array has the shape of what it is for.
    coalesce(
      bool_and(opcode IN ('broadcast', 'iota')) FILTER (WHERE is_start), FALSE
    ) AS is_filled,
    -- That of the candidate where it has any.
    coalesce(
      min(row(e.place, instruction_id))
        FILTER (WHERE is_start AND is_candidate),
      min(row(e.place, instruction_id))
        FILTER (WHERE is_start)
    ) AS first_place,
    min(row(e.place, instruction_id)) FILTER (
      WHERE is_start AND NOT is_candidate AND opcode = 'convert'
    ) AS first_lost_place,
    sum(CASE WHEN is_candidate THEN size_bytes ELSE -size_bytes END)
      AS delta_bytes,
    arg_min(
      coalesce(nullif(core, '*'), operation), (instruction_id, is_candidate)
    ) FILTER (WHERE is_start) AS subject,
    string_agg(DISTINCT op_name, ' ' ORDER BY op_name)
      FILTER (WHERE is_candidate AND is_start) AS operations
  FROM grouped_operations AS g
  LEFT JOIN operation_places AS e USING (pair, is_candidate, instruction_id)
  LEFT JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
  GROUP BY pair, source_file, g.function_name
),
group_changes AS (
  SELECT
    s.*, o.base_operations, o.candidate_operations,
    -- That of the largest result of what is named first.
    o.candidate_lines[list_filter(
      o.candidate_operations,
      lambda x: NOT list_contains(o.candidate_unnamed, x)
        AND NOT coalesce(list_contains(o.base_operations, x), FALSE)
    )[1]] AS named_line, p.base_paths,
    p.candidate_paths, t.operation_count AS retyped_count, t.new_line,
    t.lost_line, t.kept_line, t.first_call,
    CASE
      WHEN t.base_type IS NOT NULL THEN 'retyped'
      WHEN k.is_resharded AND k.is_even THEN 'resharded'
      WHEN k.candidate_shape IS NOT NULL AND k.is_even THEN 'reshaped'
      WHEN w.pair IS NOT NULL THEN 'stack'
      WHEN o.base_operations IS NULL THEN 'added'
      WHEN o.candidate_operations IS NULL THEN 'removed'
      ELSE 'replaced'
    END AS change,
    CASE change
      WHEN 'retyped' THEN t.base_type
      WHEN 'resharded' THEN k.base_sharding
      WHEN 'reshaped' THEN k.base_shape
      WHEN 'stack' THEN w.base_stacks
      ELSE nullif(array_to_string(list_filter(
        o.base_operations,
        lambda x: NOT list_contains(o.base_unnamed, x)
          AND NOT coalesce(list_contains(o.candidate_operations, x), FALSE)
      )[:3], ', '), '')
    END AS base_text,
    CASE change
      WHEN 'retyped' THEN t.candidate_type
      WHEN 'resharded' THEN k.candidate_sharding
      WHEN 'reshaped' THEN k.candidate_shape
      WHEN 'stack' THEN w.candidate_stacks
      ELSE nullif(array_to_string(list_filter(
        o.candidate_operations,
        lambda x: NOT list_contains(o.candidate_unnamed, x)
          AND NOT coalesce(list_contains(o.base_operations, x), FALSE)
      )[:3], ', '), '')
    END AS candidate_text
  FROM sums AS s
  JOIN operation_lists AS o USING (pair, source_file, function_name)
  LEFT JOIN group_paths AS p USING (pair, source_file, function_name)
  LEFT JOIN group_types AS t USING (pair, source_file, function_name)
  LEFT JOIN group_shapes AS k USING (pair, source_file, function_name)
  LEFT JOIN group_stacks AS w USING (pair, source_file, function_name)
),
ranked AS (
  SELECT
    g.* REPLACE (
      CASE change
        WHEN 'retyped' THEN CAST(g.retyped_count AS BIGINT)
        ELSE g.operation_count
      END AS operation_count,
      CASE
        WHEN g.inner_call.element_type <> g.candidate_text
          AND g.new_line IS NULL
          AND g.lost_line IS NULL
          THEN coalesce(g.first_call, g.inner_call)
        WHEN g.new_line IS NOT NULL OR g.kept_line IS NULL THEN g.inner_call
      END AS inner_call,
      CASE
        WHEN change = 'stack'
          THEN coalesce(
            g.candidate_stack_call.file_name, g.base_stack_call.file_name,
            g.source_file
          )
        ELSE g.source_file
      END AS source_file,
      CASE
        WHEN change = 'stack'
          THEN coalesce(
            g.candidate_stack_call.function_name,
            g.base_stack_call.function_name, g.function_name
          )
        ELSE g.function_name
      END AS function_name,
      -- A conversion that is new or gone is where the type was edited.
      CASE
        WHEN change = 'retyped' THEN coalesce(g.lost_line, g.base_line)
        WHEN change = 'stack'
          THEN coalesce(g.base_stack_call.line, g.base_line)
        ELSE g.base_line
      END AS base_line,
      CASE
        WHEN change = 'retyped'
          THEN coalesce(
            g.new_line,
            -- A call further up may be on other lines.
            CASE WHEN g.candidate_line IS NOT NULL THEN g.kept_line END,
            g.candidate_line,
            CASE
              WHEN g.lost_line IS NULL
                AND g.first_call.function_name = g.function_name
                THEN g.first_call.line
            END
          )
        WHEN change = 'stack'
          THEN coalesce(g.candidate_stack_call.line, g.candidate_line)
        WHEN change IN ('added', 'replaced')
          THEN coalesce(g.named_line, g.candidate_line)
        ELSE g.candidate_line
      END AS candidate_line,
      CASE
        WHEN g.candidate_text IS NULL
          THEN coalesce(a.callee || ' (' || g.base_text || ')', g.base_text)
        ELSE g.base_text
      END AS base_text,
      CASE
        WHEN g.base_text IS NULL
          THEN coalesce(
            a.callee || ' (' || g.candidate_text || ')', g.candidate_text
          )
        ELSE g.candidate_text
      END AS candidate_text
    ),
    row_number() OVER (
      PARTITION BY g.pair
      ORDER BY
        g.change = 'retyped'
        AND (
          g.lost_line IS NOT NULL
          OR g.base_line IS NULL AND g.new_line IS NOT NULL
        ) DESC,
        CASE
          WHEN g.change = 'retyped' AND g.lost_line IS NOT NULL
            THEN coalesce(g.first_lost_place, g.first_place)
          ELSE g.first_place
        END, g.source_file, g.function_name
    ) AS rank
  FROM group_changes AS g
  LEFT JOIN callees AS a
    ON a.pair = g.pair
    AND a.source_file = g.source_file
    AND a.function_name = g.function_name
    AND g.change IN ('added', 'removed', 'replaced')
    AND a.is_candidate = (g.base_text IS NULL)
    AND a.line = CASE
      WHEN a.is_candidate THEN coalesce(g.named_line, g.candidate_line)
      ELSE g.base_line
    END
),
-- What has the shape of an array that is joined or cut on one side alone.
followers AS (
  SELECT g.pair, g.rank, min(m.rank) AS maker_rank
  FROM ranked AS g
  JOIN (
    SELECT r.pair, r.rank, o.is_candidate, o.shape
    FROM ranked AS r
    JOIN grouped_operations AS o USING (pair, source_file, function_name)
    ANTI JOIN unmatched_operations AS u
      ON u.pair = o.pair
      AND u.is_candidate <> o.is_candidate
      AND u.key = o.key
    WHERE r.change IN ('added', 'removed', 'replaced')
      AND o.operation IN ('concatenate', 'pad', 'slice', 'dynamic_slice')
      AND NOT o.is_backward
  ) AS m
    ON m.pair = g.pair
    AND (
      g.is_filled
      OR m.shape = CASE
        WHEN m.is_candidate THEN g.candidate_text ELSE g.base_text
      END
    )
  WHERE g.change = 'reshaped'
  GROUP BY g.pair, g.rank
),
-- A function that both sides have, and none edited, is called once more, or
-- once less, by what another group is of.
called_elsewhere AS (
  SELECT g.pair, g.rank
  FROM ranked AS g
  JOIN (
    SELECT pair, file_name, function_name
    FROM frames
    GROUP BY pair, file_name, function_name
    HAVING count(DISTINCT is_candidate) = 2
  ) AS f
    ON f.pair = g.pair
    AND f.file_name = g.source_file
    AND f.function_name = g.function_name
  ANTI JOIN edited_functions AS e
    ON e.pair = g.pair
    AND e.file_name = g.source_file
    AND e.function_name = g.function_name
  SEMI JOIN ranked AS o
    ON o.pair = g.pair
    AND o.change IN (g.change, 'replaced')
    AND o.operation_count > g.operation_count
  WHERE g.change IN ('added', 'removed')
)
SELECT
  g.pair, g.change, g.base_text, min(g.rank) AS first_rank,
  unnest(arg_min([g.candidate_text], g.rank)) AS candidate_text,
  arg_min(g.subject, g.rank) AS subject,
  string_agg(g.operations, ' ' ORDER BY g.rank) AS operations,
  sum(g.operation_count) AS operation_count,
  sum(g.delta_bytes) AS delta_bytes,
  arg_min(g.source_file, g.rank) AS source_file,
  arg_min(g.function_name, g.rank) AS function_name,
  unnest(arg_min([g.stack_shape], g.rank)) AS stack_shape,
  CAST(unnest(arg_min([g.base_line], g.rank)) AS INTEGER) AS base_line,
  CAST(unnest(arg_min([g.candidate_line], g.rank)) AS INTEGER)
    AS candidate_line,
  unnest(arg_min([g.inner_call], g.rank) FILTER (WHERE g.change = 'retyped'))
    AS inner_call,
  list_distinct(flatten(list(list_concat(g.base_paths, f.base_paths))))
    AS base_paths,
  list_distinct(flatten(list(
    list_concat(g.candidate_paths, f.candidate_paths)
  ))) AS candidate_paths
FROM ranked AS g
ANTI JOIN followers AS d
  ON d.pair = g.pair
  AND d.rank = g.rank
LEFT JOIN (
  SELECT
    f.pair, f.maker_rank, flatten(list(r.base_paths)) AS base_paths,
    flatten(list(r.candidate_paths)) AS candidate_paths
  FROM followers AS f
  JOIN ranked AS r USING (pair, rank)
  GROUP BY f.pair, f.maker_rank
) AS f
  ON f.pair = g.pair
  AND f.maker_rank = g.rank
ANTI JOIN called_elsewhere AS k
  ON k.pair = g.pair
  AND k.rank = g.rank
-- What is filled beside an edit is filled for that.
ANTI JOIN (
  SELECT r.pair, r.rank
  FROM ranked AS r
  SEMI JOIN ranked AS o
    ON o.pair = r.pair
    AND o.operation_count > r.operation_count
    AND NOT o.is_filled
  WHERE r.is_filled
    AND r.change IN ('added', 'removed')
) AS l
  ON l.pair = g.pair
  AND l.rank = g.rank
-- What reads a new stack has its shape.
ANTI JOIN group_stacks AS w
  ON w.pair = g.pair
  AND g.change = 'reshaped'
  AND list_has_any(
    string_split(coalesce(w.candidate_stacks, w.base_stacks), ', '),
    [g.candidate_text, g.base_text]
  )
-- An array with a part for each step of a loop that runs more often is larger.
ANTI JOIN loop_edits AS t
  ON t.pair = g.pair
  AND g.change = 'reshaped'
  AND regexp_matches(g.base_text, '[\[,]' || t.base_text || '[,\]]')
  AND regexp_matches(g.candidate_text, '[\[,]' || t.candidate_text || '[,\]]')
GROUP BY
  g.pair, g.change, g.base_text,
  CASE
    WHEN g.change IN ('retyped', 'reshaped', 'resharded') THEN g.candidate_text
    WHEN g.change = 'replaced'
      AND g.candidate_text IS NOT NULL
      AND regexp_full_match(g.base_text, '[a-z]\w+')
      THEN array_to_string(
        list_sort(string_split(g.candidate_text, ', ')), ', '
      )
    ELSE CAST(g.rank AS VARCHAR)
  END
