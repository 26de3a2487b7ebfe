-- step: Groups of other shapes that have that of an array which is joined or
--   cut on one side alone: they belong to that. So do those in which the same
--   sizes differ as in what is joined or cut in another size, where all that
--   it is made of, and the arguments, have the same sizes. Where the
--   arguments have the same sizes, what differs by the same factor belongs to
--   the first of it, unless its function was edited itself; and what a
--   function computes that nobody edited belongs to what was added, removed or
--   replaced before in one that calls it. All that has a dimension more, or
--   less, belongs to the first of it.
-- grain: pair, group
WITH cuts AS MATERIALIZED (
  SELECT
    pair, source_file, function_name, is_candidate, key, shape, is_start
  FROM grouped_operations
  WHERE operation IN ('concatenate', 'pad', 'slice', 'dynamic_slice')
    AND NOT is_backward
),
of_one_side AS (
  SELECT r.pair, r.rank, o.is_candidate, o.shape
  FROM ranked_groups AS r
  JOIN cuts AS o USING (pair, source_file, function_name)
  ANTI JOIN unmatched_operations AS u
    ON u.pair = o.pair
    AND u.is_candidate <> o.is_candidate
    AND u.key = o.key
  WHERE r.change IN ('added', 'removed', 'replaced')
),
sizes AS (
  SELECT
    r.pair, r.rank, list_filter(
      list_zip(
        string_split(regexp_extract(r.base_text, '\[(.*)\]', 1), ','),
        string_split(regexp_extract(r.candidate_text, '\[(.*)\]', 1), ',')
      ), lambda x: x[1] <> x[2]
    ) AS changed,
    (r.pair, r.source_file, r.function_name) IN (
      SELECT (o.pair, o.source_file, o.function_name)
      FROM cuts AS o
      WHERE o.is_start
    ) AS is_made
  FROM ranked_groups AS r
  JOIN argument_agreement AS a USING (pair)
  WHERE r.change = 'reshaped'
    AND a.has_same_sizes
    AND len(string_split(r.base_text, ','))
      = len(string_split(r.candidate_text, ','))
),
callers AS (
  SELECT DISTINCT
    n.pair, n.file_name, n.function_name, c.file_name AS caller_file,
    c.function_name AS caller_name
  FROM innermost_calls AS n
  JOIN call_sites AS c USING (pair, is_candidate, frame_id)
  SEMI JOIN untouched_functions AS u
    ON u.pair = n.pair
    AND u.file_name = n.file_name
    AND u.function_name = n.function_name
  SEMI JOIN edited_functions AS e
    ON e.pair = c.pair
    AND e.file_name = c.file_name
    AND e.function_name = c.function_name
),
factors AS (
  SELECT
    pair, rank, min(candidate_size / base_size) AS factor
  FROM (
    SELECT
      pair, rank, TRY_CAST(unnest(changed)[1] AS DOUBLE) AS base_size,
      TRY_CAST(unnest(changed)[2] AS DOUBLE) AS candidate_size
    FROM sizes
  )
  GROUP BY pair, rank
  HAVING count(DISTINCT candidate_size / base_size) = 1
)
SELECT pair, rank, min(maker_rank) AS maker_rank
FROM (
  SELECT g.pair, g.rank, m.rank AS maker_rank
  FROM ranked_groups AS g
  JOIN of_one_side AS m
    ON m.pair = g.pair
    AND (
      g.is_filled
      OR m.shape = CASE
        WHEN m.is_candidate THEN g.candidate_text ELSE g.base_text
      END
    )
  WHERE g.change = 'reshaped'
  UNION ALL
  SELECT g.pair, g.rank, m.rank
  FROM sizes AS g
  JOIN sizes AS m
    ON m.pair = g.pair
    AND m.changed = g.changed
  WHERE m.is_made
    AND NOT g.is_made
    AND len(m.changed) > 0
  UNION ALL
  SELECT g.pair, g.rank, m.rank
  FROM factors AS g
  JOIN factors AS m
    ON m.pair = g.pair
    AND m.factor = g.factor
    AND m.rank < g.rank
  JOIN ranked_groups AS r
    ON r.pair = g.pair
    AND r.rank = g.rank
  ANTI JOIN edited_functions AS e
    ON e.pair = r.pair
    AND e.file_name = r.source_file
    AND e.function_name = r.function_name
  UNION ALL
  SELECT g.pair, g.rank, m.rank
  FROM ranked_groups AS g
  SEMI JOIN sizes AS s USING (pair, rank)
  JOIN callers AS c
    ON c.pair = g.pair
    AND c.file_name = g.source_file
    AND c.function_name = g.function_name
  JOIN ranked_groups AS m
    ON m.pair = g.pair
    AND m.source_file = c.caller_file
    AND m.function_name = c.caller_name
    AND m.change IN ('added', 'removed', 'replaced')
    AND m.rank < g.rank
  UNION ALL
  SELECT g.pair, g.rank, m.rank
  FROM ranked_groups AS g
  JOIN ranked_groups AS m USING (pair, change)
  WHERE g.change IN ('batched', 'unbatched')
    AND m.rank < g.rank
)
GROUP BY pair, rank
