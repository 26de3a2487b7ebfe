-- step: The pairs in which some call of the user is at another line or column,
--   on one side only, or of another jitted function, and those compiled by one
--   release, which lists the same flags (run_releases). In all others,
--   operations that are added, removed or replaced are those of another
--   release of a library, which may rename private functions.
--   has_other_frames: the release of one side prints frames, that of the other
--   only lines.
-- grain: pair
WITH named_calls AS MATERIALIZED (
  SELECT
    i.pair, i.is_candidate, i.instruction_id,
    regexp_extract(f.op_name, '\bjit\(([A-Za-z]\w*)\)+$', 1) AS callee
  FROM program_instructions AS i
  JOIN forms AS f
    ON f.form_id = i.form_id
    AND f.opcode = 'call'
  WHERE callee <> ''
),
callees AS (
  SELECT
    r.pair, r.is_candidate, r.file_name, r.function_name, r.line,
    r.column_number, list_sort(list_distinct(list(i.callee))) AS names
  FROM named_calls AS i
  JOIN instruction_frames AS l USING (pair, is_candidate, instruction_id)
  JOIN frames AS r
    ON r.pair = l.pair
    AND r.is_candidate = l.is_candidate
    AND r.frame_id = l.frame_id
  WHERE r.is_user
  GROUP BY ALL
),
other_callees AS (
  SELECT b.pair
  FROM callees AS b
  JOIN callees AS c USING (pair, file_name, function_name, line, column_number)
  WHERE NOT b.is_candidate
    AND c.is_candidate
    AND NOT list_has_any(b.names, c.names)
),
releases AS MATERIALIZED (
  SELECT k.run_id, k.list_kinds, k.flag_names
  FROM run_releases(
    run_ids := list_distinct(list_concat($base_runs, $candidate_runs))
  ) AS k
),
of_one_release AS (
  SELECT a.pair
  FROM (
    SELECT
      unnest(range(1, len($base_runs) + 1)) AS pair,
      unnest($base_runs) AS base_run, unnest($candidate_runs) AS candidate_run
  ) AS a
  JOIN releases AS b ON b.run_id = a.base_run
  JOIN releases AS c
    ON c.run_id = a.candidate_run
    AND c.list_kinds = b.list_kinds
    AND c.flag_names = b.flag_names
),
calls AS (
  SELECT DISTINCT
    pair, is_candidate, file_name, function_name, line, column_number
  FROM frames
  WHERE is_user
    AND function_name <> '<module>'
),
counted AS (
  SELECT
    c.pair, c.function_name,
    count(*) OVER (
      PARTITION BY
        c.pair, c.file_name, c.function_name, c.line, c.column_number
    ) AS side_count
  FROM calls AS c
)
SELECT
  pair,
  bool_or(function_name = '') <> bool_and(function_name = '')
    AS has_other_frames
FROM counted
GROUP BY pair
HAVING bool_or(side_count = 1)
  OR pair IN (SELECT o.pair FROM other_callees AS o)
  OR pair IN (SELECT r.pair FROM of_one_release AS r)
