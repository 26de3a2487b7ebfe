-- step: The edits of groups. One stray type, shape or sharding changes many
--   lines: its groups are one edit, at the first of them, and so are those in
--   which the same operations stand for one. What has another shape since
--   something is joined to it, or cut from it, belongs to that.
-- grain: pair, edit
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
  -- A draw is where it is asked for, not where it is read.
  CAST(unnest(arg_min([
    CASE
      WHEN g.change = 'random'
        AND g.inner_call.file_name = g.source_file
        AND g.inner_call.function_name = g.function_name
        THEN g.inner_call.line
      ELSE g.candidate_line
    END
  ], g.rank)) AS INTEGER) AS candidate_line,
  unnest(arg_min([g.inner_call], g.rank) FILTER (
    WHERE g.change IN ('retyped', 'random')
  )) AS inner_call,
  list_distinct(flatten(list(list_concat(g.base_paths, f.base_paths))))
    AS base_paths,
  list_distinct(flatten(list(
    list_concat(g.candidate_paths, f.candidate_paths)
  ))) AS candidate_paths
FROM ranked_groups AS g
ANTI JOIN shape_followers AS d
  ON d.pair = g.pair
  AND d.rank = g.rank
LEFT JOIN (
  SELECT
    f.pair, f.maker_rank, flatten(list(r.base_paths)) AS base_paths,
    flatten(list(r.candidate_paths)) AS candidate_paths
  FROM shape_followers AS f
  JOIN ranked_groups AS r USING (pair, rank)
  GROUP BY f.pair, f.maker_rank
) AS f
  ON f.pair = g.pair
  AND f.maker_rank = g.rank
ANTI JOIN groups_called_elsewhere AS k
  ON k.pair = g.pair
  AND k.rank = g.rank
-- What is filled beside an edit is filled for that.
ANTI JOIN (
  SELECT r.pair, r.rank
  FROM ranked_groups AS r
  SEMI JOIN ranked_groups AS o
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
