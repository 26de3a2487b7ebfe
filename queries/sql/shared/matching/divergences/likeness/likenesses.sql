-- step: How much two programs are alike: the sum of the smaller counts of each
--   opcode by that of the greater ones, without shapes and with them.
-- grain: pair of contents
WITH operation_counts AS (
  SELECT
    d.module_id, FALSE AS is_typed, d.operation, sum(d.placed_times) AS times
  FROM compared_forms AS d
  GROUP BY d.module_id, d.operation
  UNION ALL
  SELECT
    d.module_id, TRUE, d.operation || ' '
    || coalesce(regexp_replace(d.shape, '\{[^{}]*\}', '', 'g'), ''),
    sum(d.placed_times)
  FROM compared_forms AS d
  GROUP BY ALL
),
both_counts AS (
  SELECT
    k.base_id, k.candidate_id, c.is_typed, c.operation,
    coalesce(max(c.times) FILTER (WHERE c.module_id = k.base_id), 0)
      AS base_times,
    coalesce(max(c.times) FILTER (WHERE c.module_id = k.candidate_id), 0)
      AS candidate_times
  FROM (
    SELECT
      s.*, unnest(list_distinct([s.base_id, s.candidate_id])) AS module_id
    FROM (
      SELECT p.b.module_id AS base_id, p.c.module_id AS candidate_id
      FROM compiled_pairs AS p
      UNION
      SELECT p.b.source_id, p.c.source_id FROM compiled_pairs AS p
    ) AS s
  ) AS k
  JOIN operation_counts AS c USING (module_id)
  WHERE c.times > 0
  GROUP BY k.base_id, k.candidate_id, c.is_typed, c.operation
)
SELECT
  base_id, candidate_id,
  sum(least(base_times, candidate_times)) FILTER (WHERE NOT is_typed)
  / sum(greatest(base_times, candidate_times)) FILTER (WHERE NOT is_typed)
    AS score,
  sum(least(base_times, candidate_times)) FILTER (WHERE is_typed)
  / sum(greatest(base_times, candidate_times)) FILTER (WHERE is_typed)
    AS typed_score,
  bool_or(
    base_times <> candidate_times
    AND regexp_matches(
      operation,
      '^(all-gather|all-reduce|all-to-all|collective-|reduce-scatter)'
    )
  ) FILTER (WHERE NOT is_typed) AS has_other_collectives
FROM both_counts
WHERE base_id IS NOT NULL
  AND candidate_id IS NOT NULL
GROUP BY base_id, candidate_id
