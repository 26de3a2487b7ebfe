-- step: Edits of checkpoints, each at the innermost call of the user that
--   leads to nearly all that is no longer or newly recomputed, on the side
--   that recomputes it; the other side has the line of the same function that
--   computes most of it. One checkpoint has all that is recomputed below it:
--   what leads to most of it is often a function that it calls. JAX keeps the
--   innermost ten frames: calls further out are those of the loops around it.
--   Checkpoints of several loops that one function leads to, each by a call of
--   its own, are edited at the call with most of what is recomputed. Where
--   only one side has opt-barriers of some function, the call that writes most
--   of them is the checkpoint. What is saved of products of matrices is most
--   of the memory: where fewer of these are recomputed, though more
--   operations, more is saved.
-- grain: pair
WITH RECURSIVE called_functions AS (
  SELECT
    pair, is_candidate, frame_id,
    list(function_name ORDER BY distance) AS functions
  FROM call_sites
  SEMI JOIN recomputation_changes USING (pair)
  GROUP BY pair, is_candidate, frame_id
),
-- What one checkpoint recomputes on both sides, where another no longer does:
-- below another path, or in functions that others call.
still_recomputed AS (
  SELECT
    o.pair, o.key,
    regexp_extract(o.op_name, '^(.*?)rematted_computation', 1) AS path,
    c.functions
  FROM operations AS o
  JOIN recomputed_keys AS k USING (pair, key)
  JOIN called_functions AS c USING (pair, is_candidate, frame_id)
  WHERE o.is_recomputed
  GROUP BY o.pair, o.key, path, c.functions
  HAVING count_if(o.is_candidate) = count_if(NOT o.is_candidate)
),
-- Functions that call as many checkpoints on both sides.
even_functions AS MATERIALIZED (
  SELECT o.pair, i.file_name, i.function_name
  FROM operations AS o
  JOIN innermost_calls AS i USING (pair, is_candidate, frame_id)
  WHERE o.opcode = 'opt-barrier'
  GROUP BY o.pair, i.file_name, i.function_name
  HAVING count_if(o.is_candidate) = count_if(NOT o.is_candidate)
),
-- has_more: on the side that recomputes more, what is recomputed counts.
affected AS MATERIALIZED (
  SELECT
    o.pair, o.is_candidate, o.instruction_id, o.computation_id, o.frame_id,
    o.is_candidate = (t.more_recomputed > 0) AS has_more
  FROM operations AS o
  JOIN recomputation_changes AS t USING (pair)
  LEFT JOIN recomputed_keys AS k USING (pair, key)
  LEFT JOIN called_functions AS c USING (pair, is_candidate, frame_id)
  LEFT JOIN still_recomputed AS a
    ON a.pair = o.pair
    AND a.key = o.key
    AND a.functions = c.functions
    AND a.path = regexp_extract(o.op_name, '^(.*?)rematted_computation', 1)
  LEFT JOIN lone_checkpoints AS n
    ON n.pair = o.pair
    AND n.is_candidate = o.is_candidate
    AND n.computation_id = o.computation_id
  LEFT JOIN innermost_calls AS i
    ON i.pair = o.pair
    AND i.is_candidate = o.is_candidate
    AND i.frame_id = o.frame_id
  LEFT JOIN even_functions AS e
    ON e.pair = i.pair
    AND e.file_name = i.file_name
    AND e.function_name = i.function_name
  WHERE o.is_located
    AND (
      k.key IS NOT NULL AND a.key IS NULL
      OR o.opcode = 'opt-barrier' AND t.more_barriers <> 0 AND e.pair IS NULL
      OR (t.is_of_one OR n.pair IS NOT NULL) AND o.is_recomputed
    )
    AND (o.is_recomputed OR o.opcode = 'opt-barrier') = has_more
),
led AS (
  SELECT DISTINCT
    pair, is_candidate, computation_id, computation_id AS caller_id,
    CAST(NULL AS BIGINT) AS frame_id, 0 AS level
  FROM affected
  UNION
  SELECT
    l.pair, l.is_candidate, l.computation_id, c.caller_id, c.frame_id,
    l.level + 1 AS level
  FROM led AS l
  JOIN checkpoint_callers AS c
    ON c.pair = l.pair
    AND c.is_candidate = l.is_candidate
    AND c.computation_id = l.caller_id
),
leading_frames AS (
  SELECT
    pair, is_candidate, has_more, computation_id, instruction_id, frame_id,
    0 AS depth
  FROM affected
  UNION ALL
  SELECT
    m.pair, m.is_candidate, m.has_more, m.computation_id, m.instruction_id,
    l.frame_id, 100 * l.level AS depth
  FROM affected AS m
  JOIN led AS l USING (pair, is_candidate, computation_id)
),
leading_sites AS (
  SELECT
    f.pair, f.is_candidate, f.has_more, f.computation_id, f.instruction_id,
    c.site, c.file_name, c.function_name, c.line,
    min(f.depth + c.distance) AS distance
  FROM leading_frames AS f
  JOIN call_sites AS c USING (pair, is_candidate, frame_id)
  GROUP BY ALL
),
sites AS MATERIALIZED (
  SELECT
    pair, is_candidate, has_more, site, file_name, function_name, line,
    median(distance) AS distance, count(*) AS operation_count
  FROM leading_sites
  GROUP BY
    pair, is_candidate, has_more, site, file_name, function_name, line
),
-- What a loop recomputes in computations that it calls is its own.
loop_counts AS MATERIALIZED (
  SELECT
    m.pair, m.is_candidate, m.computation_id, m.loop_id, a.operation_count,
    sum(a.operation_count) OVER (PARTITION BY m.pair, m.loop_id)
      AS loop_count,
    sum(a.operation_count) OVER (PARTITION BY m.pair) AS pair_count
  FROM (
    SELECT
      l.pair, l.is_candidate, l.computation_id,
      arg_max(l.caller_id, l.level) AS loop_id
    FROM led AS l
    SEMI JOIN affected AS c
      ON c.pair = l.pair
      AND c.is_candidate = l.is_candidate
      AND c.computation_id = l.caller_id
      AND c.has_more
    GROUP BY l.pair, l.is_candidate, l.computation_id
  ) AS m
  JOIN (
    SELECT pair, is_candidate, computation_id, count(*) AS operation_count
    FROM affected
    WHERE has_more
    GROUP BY pair, is_candidate, computation_id
  ) AS a USING (pair, is_candidate, computation_id)
),
-- Of each loop the innermost call that leads to all that it recomputes.
loop_sites AS (
  SELECT
    s.pair, s.is_candidate, s.file_name, s.function_name, s.line,
    c.pair_count, count(*) AS operation_count
  FROM leading_sites AS s
  JOIN loop_counts AS c USING (pair, is_candidate, computation_id)
  GROUP BY
    s.pair, s.is_candidate, c.loop_id, c.loop_count, c.pair_count, s.site,
    s.file_name, s.function_name, s.line
  HAVING count(*) >= 0.995 * c.loop_count
  QUALIFY row_number() OVER (
    PARTITION BY s.pair, c.loop_id
    ORDER BY median(s.distance), s.site
  ) = 1
),
shared_sites AS (
  SELECT
    pair, any_value(is_candidate) AS is_candidate,
    any_value(file_name) AS file_name,
    any_value(function_name) AS function_name,
    arg_max(line, (operation_count, -line)) AS line
  FROM loop_sites
  GROUP BY pair
  HAVING count(DISTINCT line) > 1
    AND count(DISTINCT row(file_name, function_name)) = 1
    AND sum(operation_count) >= 0.9 * any_value(pair_count)
),
outer_sites AS MATERIALIZED (
  SELECT s.pair, s.is_candidate, s.file_name, s.function_name, s.line
  FROM sites AS s
  JOIN (
    SELECT pair, max(operation_count) AS most
    FROM sites
    WHERE has_more
    GROUP BY pair
  ) AS m USING (pair)
  JOIN recomputation_changes AS t USING (pair)
  WHERE s.has_more
    AND s.operation_count
      >= CASE WHEN t.is_of_one THEN 0.995 ELSE 0.9 END * m.most
  QUALIFY row_number() OVER (
    PARTITION BY s.pair
    ORDER BY s.distance, s.operation_count DESC, s.site
  ) = 1
),
checkpoint_sites AS (
  SELECT pair, is_candidate, file_name, function_name, line
  FROM barrier_sites
  UNION ALL
  SELECT pair, is_candidate, file_name, function_name, line
  FROM shared_sites
  ANTI JOIN barrier_sites USING (pair)
  UNION ALL
  SELECT pair, is_candidate, file_name, function_name, line
  FROM outer_sites
  ANTI JOIN shared_sites USING (pair)
  ANTI JOIN barrier_sites USING (pair)
),
other_lines AS (
  SELECT
    c.pair, arg_max(s.line, (s.operation_count, -abs(s.line - c.line))) AS line
  FROM checkpoint_sites AS c
  JOIN sites AS s USING (pair, file_name, function_name)
  WHERE NOT s.has_more
  GROUP BY c.pair
),
paths AS (
  SELECT
    o.pair,
    list(DISTINCT o.op_paths) FILTER (WHERE NOT o.is_candidate) AS base_paths,
    list(DISTINCT o.op_paths) FILTER (WHERE o.is_candidate) AS candidate_paths
  FROM operations AS o
  JOIN recomputed_keys AS k USING (pair, key)
  WHERE $with_paths
  GROUP BY o.pair
)
SELECT
  t.pair, 'recomputation' AS change,
  coalesce(
    m.base_parts,
    CAST(CASE
      WHEN t.is_of_products THEN t.base_products ELSE t.base_recomputed
    END AS VARCHAR)
  ) AS base_text,
  coalesce(
    m.candidate_parts,
    CAST(CASE
      WHEN t.is_of_products THEN t.candidate_products
      ELSE t.candidate_recomputed
    END AS VARCHAR)
  ) AS candidate_text,
  CASE
    WHEN m.pair IS NOT NULL THEN 'moved'
    WHEN a.is_around_in_candidate THEN 'around loop'
    WHEN a.pair IS NOT NULL THEN 'around steps'
    WHEN t.is_of_products
      THEN CASE
        WHEN t.candidate_products < t.base_products THEN 'saves products'
        ELSE 'recomputes products'
      END
    WHEN t.candidate_recomputed > t.base_recomputed
      THEN CASE WHEN t.more_barriers > 0 THEN 'more' ELSE 'saves less' END
    WHEN t.is_kept
      THEN CASE WHEN t.more_barriers < 0 THEN 'fewer' ELSE 'saves more' END
    ELSE 'removed'
  END AS subject,
  CAST(abs(t.candidate_recomputed - t.base_recomputed) AS BIGINT)
    AS operation_count,
  s.file_name AS source_file, s.function_name,
  CASE WHEN s.is_candidate THEN l.line ELSE s.line END AS base_line,
  CASE WHEN s.is_candidate THEN s.line ELSE l.line END AS candidate_line,
  p.base_paths, p.candidate_paths
FROM (
  SELECT
    *, is_kept
    AND more_barriers = 0
    AND least(base_products, base_recomputed) > 0
    AND sign(candidate_products - base_products)
      = -sign(candidate_recomputed - base_recomputed) AS is_of_products
  FROM recomputation_changes
) AS t
LEFT JOIN moved_checkpoints AS m ON m.pair = t.pair
LEFT JOIN loop_checkpoints AS a ON a.pair = t.pair
LEFT JOIN paths AS p ON p.pair = t.pair
LEFT JOIN checkpoint_sites AS s ON s.pair = t.pair
LEFT JOIN other_lines AS l ON l.pair = t.pair
WHERE NOT t.is_little
  OR m.pair IS NOT NULL
