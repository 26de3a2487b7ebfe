-- title: Aliases lost and gained
-- question: Which donations were lost or gained between two runs?
-- definition: Aliases of outputs with parameters, and missed pairs, of
--   donation_ledger in both runs, by program, rank, module (n-th by number),
--   output and parameter. change: lost (realised in the base only), gained
--   (realised in the candidate only), status (declared or missed otherwise),
--   moved (the output is aliased with another parameter). Where nothing
--   changed there is no row, nor for a module that one of the runs lacks.
-- grain: program, rank, module, output, parameter
-- needs: chosen_pair, chosen_modules, donation_ledger
-- param base
-- param candidate
-- param program
-- column program
-- column rank
-- column change VARCHAR name neutral: lost, gained, moved or status.
-- column output_index VARCHAR name neutral: Index into the result; NULL for a
--   donor.
-- column parameter_number INTEGER id neutral: The entry parameter.
-- column parameter_index VARCHAR name neutral: Index into that parameter.
-- column op_name VARCHAR name neutral: Framework path of the parameter, in the
--   candidate, else in the base.
-- column base_status VARCHAR name neutral: Status in the base; NULL where
--   none.
-- column candidate_status VARCHAR name neutral: Status in the candidate.
-- column donated_bytes BIGINT bytes neutral: Size of the parameter's
--   allocation.
-- column lost_bytes BIGINT bytes lower_is_better: That size where lost, its
--   negative where gained, else 0.
-- column shape VARCHAR text neutral: Shape of the parameter.
WITH the_pair AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have this name.
  SELECT * FROM chosen_pair(base := $base, candidate := $candidate)
),
-- All of them, also those that donate nothing.
base_modules AS MATERIALIZED (
  SELECT DISTINCT
    m.program, m.rank, m.module_number, dense_rank() OVER (
      PARTITION BY m.program, m.rank ORDER BY m.module_number
    ) AS ordinal
  FROM chosen_modules(
    run := (SELECT c.base FROM the_pair AS c),
    program := $program
  ) AS m
),
candidate_modules AS MATERIALIZED (
  SELECT DISTINCT
    m.program, m.rank, m.module_number, dense_rank() OVER (
      PARTITION BY m.program, m.rank ORDER BY m.module_number
    ) AS ordinal
  FROM chosen_modules(
    run := (SELECT c.candidate FROM the_pair AS c),
    program := $program
  ) AS m
),
there_in_both AS MATERIALIZED (
  SELECT
    b.program AS program_name, b.rank, b.ordinal,
    b.module_number AS base_number, c.module_number AS candidate_number
  FROM base_modules AS b
  JOIN candidate_modules AS c
    ON c.program = b.program
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.ordinal = b.ordinal
),
base_side AS (
  SELECT d.*, m.ordinal
  FROM donation_ledger(
    run := (SELECT c.base FROM the_pair AS c),
    program := $program
  ) AS d
  JOIN there_in_both AS m
    ON m.program_name = d.program
    AND m.rank IS NOT DISTINCT FROM d.rank
    AND m.base_number IS NOT DISTINCT FROM d.module_number
),
candidate_side AS (
  SELECT d.*, m.ordinal
  FROM donation_ledger(
    run := (SELECT c.candidate FROM the_pair AS c),
    program := $program
  ) AS d
  JOIN there_in_both AS m
    ON m.program_name = d.program
    AND m.rank IS NOT DISTINCT FROM d.rank
    AND m.candidate_number IS NOT DISTINCT FROM d.module_number
),
compared AS (
  SELECT DISTINCT
    coalesce(b.program, c.program) AS program_name,
    coalesce(b.rank, c.rank) AS rank,
    coalesce(b.ordinal, c.ordinal) AS ordinal,
    coalesce(b.output_index, c.output_index) AS output_index,
    coalesce(b.parameter_number, c.parameter_number) AS parameter_number,
    coalesce(b.parameter_index, c.parameter_index) AS parameter_index,
    coalesce(c.op_name, b.op_name) AS op_name,
    b.status AS base_status, c.status AS candidate_status,
    coalesce(c.donated_bytes, b.donated_bytes) AS donated_bytes,
    coalesce(c.shape, b.shape) AS shape
  FROM base_side AS b
  FULL JOIN candidate_side AS c
    ON c.program = b.program
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.ordinal = b.ordinal
    AND c.output_index IS NOT DISTINCT FROM b.output_index
    AND c.parameter_number = b.parameter_number
    AND c.parameter_index = b.parameter_index
),
judged AS (
  SELECT
    *,
    CASE
      WHEN base_status = 'realised' AND candidate_status IS DISTINCT
        FROM 'realised'
      THEN CASE
        WHEN bool_or(candidate_status = 'realised') OVER same_output
          THEN 'moved'
        ELSE 'lost'
      END
      WHEN candidate_status = 'realised' AND base_status IS DISTINCT
        FROM 'realised'
      THEN CASE
        WHEN bool_or(base_status = 'realised') OVER same_output THEN 'moved'
        ELSE 'gained'
      END
      WHEN base_status IS DISTINCT FROM candidate_status THEN 'status'
    END AS change
  FROM compared
  WINDOW same_output
    AS (PARTITION BY program_name, rank, ordinal, output_index)
)
SELECT
  j.program_name AS program, j.rank, j.change, j.output_index,
  j.parameter_number, j.parameter_index, j.op_name, j.base_status,
  j.candidate_status, j.donated_bytes,
  CASE j.change
    WHEN 'lost' THEN j.donated_bytes WHEN 'gained' THEN -j.donated_bytes ELSE 0
  END AS lost_bytes,
  j.shape
FROM judged AS j
WHERE j.change IS NOT NULL
ORDER BY
  j.donated_bytes DESC NULLS LAST, j.program_name, j.rank, j.ordinal,
  j.output_index, j.parameter_number, j.parameter_index
