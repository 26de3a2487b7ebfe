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
numbered AS MATERIALIZED (
  -- All modules, also those that donate nothing.
  SELECT DISTINCT
    m.is_candidate, m.program AS program_name, m.rank, m.module_number,
    dense_rank() OVER (
      PARTITION BY m.is_candidate, m.program, m.rank ORDER BY m.module_number
    ) AS ordinal
  FROM (
    SELECT false AS is_candidate, b.program, b.rank, b.module_number
    FROM chosen_modules(
      run := (SELECT c.base FROM the_pair AS c), program := $program
    ) AS b
    UNION ALL
    SELECT true, c.program, c.rank, c.module_number
    FROM chosen_modules(
      run := (SELECT c.candidate FROM the_pair AS c), program := $program
    ) AS c
  ) AS m
),
there_in_both AS (
  SELECT program_name, rank, ordinal
  FROM numbered
  GROUP BY program_name, rank, ordinal
  HAVING count(*) = 2
),
donations AS MATERIALIZED (
  SELECT d.*, n.ordinal
  FROM (
    SELECT false AS is_candidate, *
    FROM donation_ledger(
      run := (SELECT c.base FROM the_pair AS c), program := $program
    )
    UNION ALL
    SELECT true, *
    FROM donation_ledger(
      run := (SELECT c.candidate FROM the_pair AS c), program := $program
    )
  ) AS d
  JOIN numbered AS n
    ON n.is_candidate = d.is_candidate
    AND n.program_name = d.program
    AND n.rank IS NOT DISTINCT FROM d.rank
    AND n.module_number IS NOT DISTINCT FROM d.module_number
  JOIN there_in_both AS t
    ON t.program_name = n.program_name
    AND t.rank IS NOT DISTINCT FROM n.rank
    AND t.ordinal = n.ordinal
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
  FROM (SELECT * FROM donations WHERE NOT is_candidate) AS b
  FULL JOIN (SELECT * FROM donations WHERE is_candidate) AS c
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
