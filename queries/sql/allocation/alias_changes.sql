-- title: Donations lost and gained
-- question: Which donations were lost or gained between two runs?
-- definition: Compares donation_ledger of both runs, for modules matched by
--   matched_modules; parameters are matched by paired_parameters. change: lost
--   (realised only in the base), gained (realised only in the candidate),
--   moved (one parameter lost the output that another gained), reordered (the
--   same parameter is aliased in both runs, with an output of another index),
--   status (any other change, such as from declared to missed). Unchanged
--   aliases, and modules that only one run has, are left out.
-- grain: program, rank, module, parameter, output
-- leading: program, change, parameter_number, op_name, lost_bytes,
--   base_status, candidate_status, shape
-- param base
-- param candidate
-- param program
-- column program
-- column module_number INTEGER id neutral: XLA's number of the module in the
--   candidate.
-- column rank
-- column change VARCHAR name neutral: lost, gained, reordered, moved or
--   status.
-- column output_index VARCHAR name neutral: Index into the result in the
--   candidate, or else in the base; NULL for a donor without an output.
-- column base_output_index VARCHAR name neutral: Index in the base, if
--   different.
-- column parameter_number INTEGER id neutral: Entry parameter in the
--   candidate, or else in the base.
-- column parameter_index VARCHAR name neutral: Index into that parameter.
-- column op_name VARCHAR name neutral: Framework path of the parameter in the
--   candidate, or else in the base.
-- column base_status VARCHAR name neutral: Status in the base; NULL if there
--   is none.
-- column candidate_status VARCHAR name neutral: Status in the candidate.
-- column donated_bytes BIGINT bytes neutral: Size of the parameter's
--   allocation.
-- column lost_bytes BIGINT bytes lower_is_better: donated_bytes if lost, the
--   negative if gained, else 0.
-- column shape VARCHAR text neutral: Shape of the parameter.
WITH the_pair AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have this name.
  SELECT * FROM selected_pair()
),
pairs AS MATERIALIZED (
  SELECT
    m.program AS program_name, m.rank, m.base_rank, m.candidate_rank,
    m.base_module_number, m.candidate_module_number, m.base_module_id,
    m.candidate_module_id,
    row_number() OVER (
      ORDER BY
        m.program, m.rank, m.candidate_module_number, m.base_module_number,
        m.candidate_module_id, m.base_module_id
    ) AS pair
  FROM (
    SELECT DISTINCT
      a.program, a.rank, a.base_rank, a.candidate_rank,
      a.base_module_number, a.candidate_module_number,
      a.base_module_id, a.candidate_module_id
    FROM matched_modules(
      base := (SELECT c.base FROM the_pair AS c),
      candidate := (SELECT c.candidate FROM the_pair AS c)
    ) AS a
    WHERE a.base_module_id IS NOT NULL
      AND a.candidate_module_id IS NOT NULL
  ) AS m
),
sides AS (
  SELECT
    false AS is_candidate, pair, program_name, rank,
    base_rank AS own_rank, candidate_module_number,
    base_module_number AS module_number, base_module_id AS module_id,
    candidate_module_id
  FROM pairs
  UNION ALL
  SELECT
    true, pair, program_name, rank, candidate_rank,
    candidate_module_number,
    candidate_module_number, candidate_module_id, candidate_module_id
  FROM pairs
),
arguments AS MATERIALIZED (
  SELECT *
  FROM paired_parameters(
    base_ids := (
      SELECT list(o.base_module_id ORDER BY o.pair) FROM pairs AS o
    ),
    candidate_ids := (
      SELECT list(o.candidate_module_id ORDER BY o.pair) FROM pairs AS o
    )
  )
),
known AS (
  SELECT DISTINCT p.pair
  FROM pairs AS p
  JOIN arguments AS a USING (base_module_id, candidate_module_id)
),
donations AS MATERIALIZED (
  SELECT DISTINCT
    d.is_candidate, d.program AS program_name, n.rank,
    n.candidate_module_number, n.pair, d.output_index, d.parameter_number,
    d.parameter_index, d.op_name, d.status, d.donated_bytes, d.shape,
    -- The number in the candidate; below 0 where it has no such parameter.
    CASE
      WHEN d.is_candidate OR k.pair IS NULL THEN d.parameter_number
      ELSE coalesce(a.candidate_number, -1 - d.parameter_number)
    END AS argument
  FROM (
    SELECT false AS is_candidate, *
    FROM donation_ledger(run := (SELECT c.base FROM the_pair AS c))
    UNION ALL
    SELECT true, *
    FROM donation_ledger(run := (SELECT c.candidate FROM the_pair AS c))
  ) AS d
  JOIN sides AS n
    ON n.is_candidate = d.is_candidate
    AND n.program_name = d.program
    AND n.own_rank IS NOT DISTINCT FROM d.rank
    AND n.module_number IS NOT DISTINCT FROM d.module_number
    AND n.module_id = d.module_id
  LEFT JOIN arguments AS a
    ON a.base_module_id = n.module_id
    AND a.candidate_module_id = n.candidate_module_id
    AND a.base_number = d.parameter_number
  -- Without module texts nothing tells arguments but their numbers.
  LEFT JOIN known AS k ON k.pair = n.pair
),
twins AS (
  SELECT
    *,
    min(is_candidate) OVER same_place < max(is_candidate) OVER same_place
      AS has_twin
  FROM donations
  WINDOW same_place AS (
    PARTITION BY pair, output_index, argument, parameter_index
  )
),
-- Of what has no twin, the n-th of a parameter goes with its n-th elsewhere.
placed AS MATERIALIZED (
  SELECT
    *,
    CASE WHEN has_twin THEN output_index END AS own_output,
    CASE
      WHEN has_twin THEN 0
      ELSE row_number() OVER (
        PARTITION BY
          is_candidate, pair, argument, parameter_index, has_twin
        ORDER BY status = 'realised' DESC, status, output_index
      )
    END AS nth
  FROM twins
),
compared AS (
  SELECT
    coalesce(b.program_name, c.program_name) AS program_name,
    coalesce(b.rank, c.rank) AS rank,
    coalesce(b.candidate_module_number, c.candidate_module_number)
      AS module_number,
    coalesce(b.pair, c.pair) AS pair,
    b.output_index AS base_output, c.output_index AS candidate_output,
    coalesce(b.output_index, c.output_index)
      IS DISTINCT FROM coalesce(c.output_index, b.output_index)
      AS is_elsewhere,
    coalesce(c.parameter_number, b.parameter_number) AS parameter_number,
    b.parameter_number <> c.parameter_number AS is_renumbered,
    coalesce(b.parameter_index, c.parameter_index) AS parameter_index,
    coalesce(c.op_name, b.op_name) AS op_name,
    b.status AS base_status, c.status AS candidate_status,
    coalesce(c.donated_bytes, b.donated_bytes) AS donated_bytes,
    coalesce(c.shape, b.shape) AS shape
  FROM (SELECT * FROM placed WHERE NOT is_candidate) AS b
  FULL JOIN (SELECT * FROM placed WHERE is_candidate) AS c
    ON c.pair = b.pair
    AND c.argument = b.argument
    AND c.parameter_index = b.parameter_index
    AND c.own_output IS NOT DISTINCT FROM b.own_output
    AND c.nth = b.nth
),
judged AS (
  SELECT
    *,
    CASE
      WHEN base_status = 'realised' AND candidate_status IS DISTINCT
        FROM 'realised' THEN 'lost'
      WHEN candidate_status = 'realised' AND base_status IS DISTINCT
        FROM 'realised' THEN 'gained'
      WHEN base_status IS DISTINCT FROM candidate_status THEN 'status'
      WHEN is_elsewhere AND NOT is_renumbered AND base_status <> 'missed'
        THEN 'reordered'
    END AS change
  FROM compared
),
named AS (
  SELECT
    * REPLACE (
      CASE
        WHEN bool_or(change = 'lost') OVER same_output
          AND bool_or(change = 'gained') OVER same_output
          AND change IN ('lost', 'gained')
        THEN 'moved'
        ELSE change
      END AS change
    )
  FROM judged
  WINDOW same_output AS (
    PARTITION BY
      pair,
      CASE WHEN change = 'lost' THEN base_output ELSE candidate_output END,
      CASE WHEN coalesce(base_output, candidate_output) IS NULL
        THEN parameter_number END
  )
)
SELECT
  j.program_name AS program, j.module_number, j.rank, j.change,
  coalesce(j.candidate_output, j.base_output) AS output_index,
  CASE WHEN j.is_elsewhere THEN j.base_output END AS base_output_index,
  j.parameter_number, j.parameter_index, j.op_name, j.base_status,
  j.candidate_status, j.donated_bytes,
  CASE j.change
    WHEN 'lost' THEN j.donated_bytes WHEN 'gained' THEN -j.donated_bytes ELSE 0
  END AS lost_bytes,
  j.shape
FROM named AS j
WHERE j.change IS NOT NULL
ORDER BY
  j.donated_bytes DESC NULLS LAST, j.program_name, j.rank, j.pair,
  coalesce(j.candidate_output, j.base_output), j.parameter_number,
  j.parameter_index
