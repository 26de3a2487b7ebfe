-- step: Arguments of one side only, by their names with * for each number.
--   What of a training state they are, role_rules says of their names; what
--   is called params is no weights where other arguments alone have arrays of
--   two dimensions: then it is of a request.
-- grain: pair, pattern
-- materialised: no
WITH matrices AS MATERIALIZED (
  SELECT DISTINCT
    a.module_id, regexp_extract(a.argument, '^(state\.)?\w*') AS head
  FROM arguments AS a
  WHERE len(a.sizes) >= 2
    AND NOT regexp_full_match(a.element_type, 'pred|[su](32|64)')
),
unpaired_arguments AS (
  SELECT
    c.base_id, c.candidate_id, s.is_candidate, a.argument, a.number,
    a.logical_bytes,
    regexp_replace(a.argument, '\d+', '*', 'g') AS pattern,
    s.is_candidate AS is_new,
    (
      SELECT CASE arg_min(r.role, r.place)
        WHEN 'optimiser_state' THEN 'optimiser state'
        WHEN 'averaged_weights' THEN 'averaged weights'
        WHEN 'weights' THEN CASE
          WHEN (a.module_id, regexp_extract(a.argument, '^(state\.)?\w*')) IN (
              SELECT (m.module_id, m.head) FROM matrices AS m
            )
            OR a.module_id NOT IN (SELECT m.module_id FROM matrices AS m)
            THEN 'weights'
          END
        END
      FROM role_rules() AS r
      WHERE r.rule_id IN ('params', 'average_by_name', 'state_by_name')
        AND regexp_matches(lower(a.argument), r.name_pattern)
    ) AS state
  FROM asked_pairs AS c
  CROSS JOIN (SELECT unnest([FALSE, TRUE]) AS is_candidate) AS s
  JOIN arguments AS a
    ON a.module_id = CASE WHEN s.is_candidate
      THEN c.candidate_id ELSE c.base_id END
  ANTI JOIN paired_arguments AS p
    ON p.base_id = c.base_id
    AND p.candidate_id = c.candidate_id
    AND CASE WHEN s.is_candidate
      THEN p.candidate_number ELSE p.base_number END = a.number
),
patterns AS (
  SELECT
    a.base_id, a.candidate_id, a.pattern, a.state,
    count_if(NOT a.is_candidate) AS fewer, count_if(a.is_candidate) AS more,
    list(a.argument ORDER BY a.logical_bytes DESC, a.number) AS arguments,
    max(a.logical_bytes) AS most_bytes,
    sum(CASE WHEN a.is_candidate THEN 1 ELSE -1 END * a.logical_bytes) AS delta
  FROM unpaired_arguments AS a
  GROUP BY a.base_id, a.candidate_id, a.pattern, a.state
)
SELECT
  p.*,
  (
    SELECT count(*)
    FROM arguments AS a
    WHERE a.module_id = p.base_id
      AND regexp_replace(a.argument, '\d+', '*', 'g') = p.pattern
  ) AS base_times,
  EXISTS (
    SELECT 1
    FROM arguments AS a
    WHERE a.module_id = p.candidate_id
      AND regexp_replace(a.argument, '\d+', '*', 'g') = p.pattern
  ) AS is_kept
FROM patterns AS p
