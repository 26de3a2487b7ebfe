-- step: What they are compared with instead: the same program in the latest of
--   up to 90 earlier runs that has it. No run stands in for a base that is
--   named.
-- grain: module of the candidate
WITH earlier AS MATERIALIZED (
  SELECT
    unnest($earlier_ids) AS run_id,
    unnest(range(1, len($earlier_ids) + 1)) AS ordinal
  UNION ALL
  SELECT c.run_id, c.place
  FROM base_choice(candidate := (
    -- No run has no name: then nothing is looked for.
    SELECT CASE WHEN count(o.candidate_place) > 0 THEN max(p.candidate) ELSE ''
      END
    FROM paired_runs AS p
    LEFT JOIN open_modules AS o ON TRUE
  )) AS c
  WHERE c.is_followed
    AND $earlier_ids IS NULL
    AND $base IS NULL
  ORDER BY ordinal
  LIMIT 90
),
asked_earlier AS MATERIALIZED (
  SELECT e.run_id, e.ordinal
  FROM earlier AS e
  WHERE EXISTS (SELECT 1 FROM open_modules)
),
seen AS (
  SELECT
    m.*,
    row_number() OVER (
      PARTITION BY m.candidate_place
      ORDER BY m.differing_keys = '' DESC, e.ordinal
    ) AS choice_number
  FROM module_ladder(
    base_ids := (
      SELECT list(e.run_id ORDER BY e.ordinal) FROM asked_earlier AS e
    ),
    candidate_ids := (
      SELECT list(p.candidate_run_id)
      FROM asked_earlier AS e
      CROSS JOIN paired_runs AS p
    ),
    base_program := NULL, assigned_only := TRUE
  ) AS m
  JOIN asked_earlier AS e ON e.run_id = m.base_run_id
  JOIN open_modules AS o ON o.candidate_place = m.candidate_place
  WHERE m.method IS NOT NULL
)
SELECT
  s.* EXCLUDE (choice_number)
  REPLACE ('series' AS method, 0.9 AS confidence)
FROM seen AS s
WHERE s.choice_number = 1
