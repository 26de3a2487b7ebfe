-- title: What was edited in the source of every program
-- question: Which edits of a program lie between two runs, at which line, and
--   what undoes them?
-- definition: Rows of source_edits, as in hlodb report and hlodb diff, for the
--   before_optimizations snapshots of compilations that are compared.
--   Arguments of other sizes or types are those of input_changes, and no rows
--   here. Programs whose sources are equal, or were not dumped, have one row
--   that says so: there flags, versions and devices are left.
-- grain: pair of compilations, see matched_compilations, edit
-- leading: program, source_path, base_line, candidate_line, function_name,
--   sentence, advice, sources
-- param base
-- param candidate
-- param program VARCHAR = NULL of modules.program: Only pairs with this
--   program on at least one side; NULL for all.
-- param follow
-- column base
-- column candidate
-- column program
-- column base_program VARCHAR name neutral: Name of the program in the base,
--   if different.
-- column rank
-- column sources VARCHAR name neutral: different, equal, or not dumped.
-- column place BIGINT id neutral: Order of the edit, the greatest first.
-- column change VARCHAR name neutral: Kind of edit, see source_edits.
-- column rule_id VARCHAR name neutral: Its rule of cause_rules.
-- column sentence VARCHAR text neutral: What was edited, as the rule says it.
-- column advice VARCHAR text neutral: What undoes it.
-- column subject VARCHAR text neutral: Argument, operation or framework path
--   that it is of.
-- column operation_count BIGINT count neutral: Operations (arguments, outputs)
--   that differ.
-- column delta_bytes BIGINT bytes neutral: By how much their results grew.
-- column source_file VARCHAR name neutral: File of the edited line.
-- column source_path VARCHAR name neutral: The same without the folder that
--   all files of the user are in.
-- column function_name VARCHAR name neutral: Its function.
-- column base_line INTEGER count neutral: Line in the base, from 1.
-- column candidate_line INTEGER count neutral: The same in the candidate.
WITH matched AS MATERIALIZED (
  SELECT p.*
  FROM matched_compilations(
    base := $base, candidate := $candidate, program := $program,
    follow := $follow
  ) AS p
  WHERE p.base_module_id IS NOT NULL
    AND p.candidate_module_id IS NOT NULL
),
compiled AS MATERIALIZED (
  SELECT c.run_id, c.place AS number, c.source_id
  FROM compilations(run_ids := (
    SELECT coalesce(list_distinct(
      list(p.base_run_id) || list(p.candidate_run_id)
    ), [])
    FROM matched AS p
  )) AS c
),
pairs AS MATERIALIZED (
  SELECT
    p.*, b.source_id AS base_source_id, c.source_id AS candidate_source_id,
    row_number() OVER (ORDER BY p.pair_id) AS place
  FROM matched AS p
  JOIN compiled AS b
    ON b.run_id = p.base_run_id
    AND b.number = p.base_place
  JOIN compiled AS c
    ON c.run_id = p.candidate_run_id
    AND c.number = p.candidate_place
)
SELECT
  p.base, p.candidate, p.candidate_program AS program,
  nullif(p.base_program, p.candidate_program) AS base_program, p.rank,
  CASE
    WHEN p.base_source_id IS NULL OR p.candidate_source_id IS NULL
      THEN 'not dumped'
    WHEN p.base_source_id = p.candidate_source_id
      OR e.pair IS NULL AND p.base_source = p.candidate_source THEN 'equal'
    ELSE 'different'
  END AS sources,
  e.place, e.change, e.rule_id, e.sentence, e.advice, e.subject,
  e.operation_count, e.delta_bytes, e.source_file, e.source_path,
  e.function_name, e.base_line, e.candidate_line
FROM pairs AS p
LEFT JOIN source_edits(
  base_runs := (SELECT list(o.base_run_id ORDER BY o.place) FROM pairs AS o),
  base_ids := (SELECT list(o.base_source_id ORDER BY o.place) FROM pairs AS o),
  candidate_runs := (
    SELECT list(o.candidate_run_id ORDER BY o.place) FROM pairs AS o
  ),
  candidate_ids := (
    SELECT list(o.candidate_source_id ORDER BY o.place) FROM pairs AS o
  )
) AS e ON e.pair = p.place
ORDER BY
  p.pair_id, e.place
