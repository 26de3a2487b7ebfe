-- step: How much the opcodes of two programs are alike: the sum of the smaller
--   counts by that of the greater ones.
-- grain: pair of contents
-- materialised: no
WITH compared AS (
  -- Unnested, they are taken for a few rows.
  SELECT unnest(list_distinct(list(base_id) || list(candidate_id)))
    AS module_id
  FROM possible_pairs
),
form_counts AS MATERIALIZED (
  SELECT i.module_id, i.form_id, count(*) AS times
  FROM compared
  JOIN store.instructions AS i USING (module_id)
  WHERE i.computation_id IS NOT NULL
  GROUP BY i.module_id, i.form_id
),
opcodes AS MATERIALIZED (
  SELECT
    i.module_id, coalesce(f.opcode, '') AS opcode, sum(i.times) AS times
  FROM form_counts AS i
  JOIN store.instruction_forms AS f USING (form_id)
  GROUP BY i.module_id, coalesce(f.opcode, '')
)
SELECT
  base_id, candidate_id,
  CAST(sum(least(base_times, candidate_times)) AS DOUBLE)
    / sum(greatest(base_times, candidate_times)) AS score
FROM (
  SELECT
    base_id, candidate_id, opcode,
    coalesce(max(times) FILTER (WHERE NOT is_candidate), 0) AS base_times,
    coalesce(max(times) FILTER (WHERE is_candidate), 0) AS candidate_times
  FROM (
    SELECT m.base_id, m.candidate_id, FALSE AS is_candidate, o.opcode, o.times
    FROM (SELECT DISTINCT base_id, candidate_id FROM possible_pairs) AS m
    JOIN opcodes AS o ON o.module_id = m.base_id
    UNION ALL
    SELECT m.base_id, m.candidate_id, TRUE, o.opcode, o.times
    FROM (SELECT DISTINCT base_id, candidate_id FROM possible_pairs) AS m
    JOIN opcodes AS o ON o.module_id = m.candidate_id
  )
  GROUP BY base_id, candidate_id, opcode
)
GROUP BY base_id, candidate_id
