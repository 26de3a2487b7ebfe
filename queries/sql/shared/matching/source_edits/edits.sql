-- step: The edits, without what may only follow from another one. Where
--   arguments have other types, so have the operations on them, unless their
--   line was edited, too; so has an output of an operation that was retyped.
--   What a loop stacks, or takes from a stack, belongs to the loop, output or
--   checkpoint, and so do sums of gradients (add_any), which nobody writes,
--   and the calls of what is recomputed. Where a loop goes through the same
--   data in more steps, or fewer, what a step holds is smaller, or larger.
-- grain: pair, edit
WITH changed_types AS (
  SELECT pair, list(element_type) AS element_types
  FROM (
    SELECT pair, element_type
    FROM arguments
    GROUP BY pair, element_type
    HAVING count_if(is_candidate) <> count_if(NOT is_candidate)
  )
  GROUP BY pair
),
-- Shapes that follow from another number of steps, or from steps at all.
shapes_of_steps AS (
  SELECT DISTINCT s.pair, s.base_text, s.candidate_text
  FROM all_edits AS l
  JOIN argument_agreement AS g USING (pair)
  JOIN (
    SELECT
      pair, base_text, candidate_text,
      list_product(CAST(string_split(
        regexp_extract(base_text, '\[([\d,]+)\]', 1), ','
      ) AS DOUBLE[])) AS base_size,
      list_product(CAST(string_split(
        regexp_extract(candidate_text, '\[([\d,]+)\]', 1), ','
      ) AS DOUBLE[])) AS candidate_size
    FROM group_edits
    WHERE change IN ('batched', 'reshaped', 'unbatched')
      AND regexp_matches(base_text, '\[\d')
      AND regexp_matches(candidate_text, '\[\d')
  ) AS s
    ON s.pair = l.pair
    AND s.base_size * coalesce(TRY_CAST(l.base_text AS DOUBLE), 1)
      = s.candidate_size * coalesce(TRY_CAST(l.candidate_text AS DOUBLE), 1)
  WHERE l.change = 'loop'
    AND g.has_same_sizes
),
weighed AS (
  SELECT
    e.*, max(abs(e.delta_bytes)) OVER (PARTITION BY e.pair) AS most_bytes,
    -- A type first differs where it was edited, and not in what calls that.
    e.inner_call IS NOT NULL AND o.pair IS NULL AS is_at_inner_call,
    bool_or(e.change = 'output') OVER (PARTITION BY e.pair)
      AS has_other_outputs,
    bool_or(
      e.change IN ('loop', 'recomputation')
      -- One of few bytes is no stack, but may be computed from it.
      OR (
        e.change = 'output'
        AND abs(coalesce(e.delta_bytes, 0))
          >= 0.01 * coalesce(s.stack_bytes, 0)
      )
    ) OVER (PARTITION BY e.pair) AS has_other_stacks,
    bool_or(e.change = 'stack') OVER (PARTITION BY e.pair) AS has_stacks
  FROM all_edits AS e
  LEFT JOIN edited_lines AS o
    USING (pair, source_file, function_name, candidate_line)
  LEFT JOIN (
    SELECT pair, max(abs(delta_bytes)) AS stack_bytes
    FROM all_edits
    WHERE change = 'stack'
    GROUP BY pair
  ) AS s ON s.pair = e.pair
),
located AS (
  SELECT
    w.* REPLACE (
      CASE
        WHEN w.is_at_inner_call THEN w.inner_call.file_name
        ELSE w.source_file
      END AS source_file,
      CASE
        WHEN w.is_at_inner_call THEN w.inner_call.function_name
        ELSE w.function_name
      END AS function_name,
      CASE WHEN NOT w.is_at_inner_call THEN w.base_line END AS base_line,
      CASE
        WHEN w.is_at_inner_call THEN w.inner_call.line
        ELSE w.candidate_line
      END AS candidate_line
    )
  FROM weighed AS w
)
SELECT
  e.* EXCLUDE (
    most_bytes, has_other_outputs, has_other_stacks, has_stacks, inner_call,
    is_at_inner_call, stack_shape
  ) REPLACE (
    CASE
      WHEN h.pair IS NOT NULL THEN h.candidate_shape
      WHEN e.change = 'added'
        THEN regexp_replace(
          e.candidate_text, 'dynamic_update_(slice|index_in_dim)',
          coalesce(
            '\0 (the loop also stores ' || e.stack_shape || ')', '\0'
          )
        )
      ELSE e.candidate_text
    END AS candidate_text,
    CASE
      WHEN h.pair IS NOT NULL THEN h.base_shape
      WHEN m.is_out_of_loop THEN 'outside of the loop'
      WHEN m.is_in_loop THEN 'in the loop'
      ELSE e.base_text
    END AS base_text,
    coalesce(m.operations, e.subject) AS subject,
    CASE
      WHEN h.pair IS NOT NULL THEN 'reshaped'
      WHEN m.pair IS NOT NULL THEN 'moved'
      WHEN e.change = 'replaced' AND e.candidate_text IS NULL THEN 'removed'
      WHEN e.change = 'replaced' AND e.base_text IS NULL THEN 'added'
      ELSE e.change
    END AS change
  ),
  d.pair IS NOT NULL
  OR e.change NOT IN ('batched', 'gradients', 'reshaped', 'retyped')
  -- The number of trips is said elsewhere, too, as by a constant.
  AND NOT (
    e.change = 'loop'
    AND coalesce(
      regexp_full_match(e.base_text, '\d+')
      AND regexp_full_match(e.candidate_text, '\d+'), FALSE
    )
  ) AS is_line_edited
FROM located AS e
LEFT JOIN edited_calls AS p USING (pair)
LEFT JOIN changed_types AS t USING (pair)
LEFT JOIN edited_lines AS d
  USING (pair, source_file, function_name, candidate_line)
LEFT JOIN moved_groups AS m
  ON m.pair = e.pair
  AND m.source_file = e.source_file
  AND m.function_name = e.function_name
  AND (
    e.change = 'replaced'
    AND e.base_text IS NULL
    AND e.candidate_text IS NULL
    OR m.is_draw
    AND e.change IN ('batched', 'replaced', 'reshaped', 'unbatched')
  )
  AND m.operations <> ''
-- What only arranges is named by the shapes that follow from it.
LEFT JOIN followed_shapes AS h
  ON h.pair = e.pair
  AND e.change IN ('added', 'removed', 'replaced')
  AND regexp_full_match(
    concat_ws(', ', e.base_text, e.candidate_text),
    '((and|or|not|iota|squeeze|expand_dims|reshape|transpose)(, )?)+'
  )
-- Without an edited line of the user, other operations are those of another
-- release of a library, unless outputs differ. Where one side has no frames,
-- loops cannot be distinguished from unrolled ones.
WHERE (
  coalesce(NOT p.has_other_frames, e.has_other_outputs)
  OR e.change NOT IN ('added', 'removed', 'replaced', 'random', 'stack')
  AND NOT (e.change = 'loop' AND coalesce(p.has_other_frames, FALSE))
)
-- The same operations on both sides say nothing.
AND NOT (
  e.change IN ('added', 'removed', 'replaced')
  AND e.base_text IS NULL
  AND e.candidate_text IS NULL
  AND m.pair IS NULL
)
-- What is little beside another edit may be a trace of it.
AND (
  coalesce(abs(e.delta_bytes), e.most_bytes) >= 0.01 * e.most_bytes
  OR e.change NOT IN (
    'added', 'removed', 'replaced', 'random', 'retyped', 'reshaped', 'stack'
  )
)
AND NOT (
  e.change = 'output'
  AND regexp_extract(e.base_text, '\[.*')
    = regexp_extract(e.candidate_text, '\[.*')
  AND (
    e.pair, split_part(e.base_text, '[', 1),
    split_part(e.candidate_text, '[', 1)
  ) IN (
    SELECT (r.pair, r.base_text, r.candidate_text)
    FROM group_edits AS r
    WHERE r.change = 'retyped'
  )
)
-- An output of another shape follows from operations that are larger, too.
AND NOT (
  e.change = 'output'
  AND split_part(e.base_text, '[', 1) = split_part(e.candidate_text, '[', 1)
  AND EXISTS (
    SELECT 1
    FROM group_edits AS r
    WHERE r.pair = e.pair
      AND r.change = 'reshaped'
      AND r.delta_bytes * sign(e.delta_bytes) > abs(e.delta_bytes)
  )
)
AND NOT (
  e.change = 'retyped'
  AND d.pair IS NULL
  AND coalesce(
    list_has_all(t.element_types, [e.base_text, e.candidate_text]), FALSE
  )
)
AND NOT (
  e.change = 'stack'
  AND e.has_other_stacks
)
-- Gradients of what is recomputed bring operations and stacks of their own.
AND NOT EXISTS (
  SELECT 1
  FROM gradient_sides AS s
  WHERE s.pair = e.pair
    AND (
      e.change = 'stack'
      OR e.change IN ('added', 'removed', 'replaced')
      AND (CASE WHEN s.is_candidate THEN e.base_text ELSE e.candidate_text END)
        IS NULL
    )
)
-- What has the sharding of an argument follows it.
AND NOT (
  e.change = 'resharded'
  AND (e.pair, e.base_text, e.candidate_text) IN (
    SELECT (a.pair, a.base_text, a.candidate_text)
    FROM argument_edits AS a
    WHERE a.change = 'argument_sharding'
  )
)
AND NOT (
  e.change IN ('batched', 'reshaped', 'unbatched')
  AND (e.pair, e.base_text, e.candidate_text) IN (
    SELECT (s.pair, s.base_text, s.candidate_text) FROM shapes_of_steps AS s
  )
)
AND NOT (
  e.change IN ('added', 'removed', 'replaced')
  AND (e.has_other_stacks OR e.has_stacks)
  AND regexp_full_match(
    concat_ws(', ', e.base_text, e.candidate_text),
    '((dynamic_(update_)?(slice|index_in_dim)|broadcast_in_dim|slice|pad'
    || '|squeeze|add_any|checkpoint|remat\d*)(, )?)+'
  )
)
