-- title: Values of two modules, side by side
-- question: Which value of the candidate is which of the base?
-- definition: Placed values of matched modules, thread-local ones left out;
--   with module_ids, of pairs in which one of both is among these. In turn,
--   each value once: (1) entry parameters as in paired_parameters; (2) by
--   instruction name, shape_index, opcode, op_name and dimensions; (3) the
--   n-th of equal opcode, op_path, dimensions and shape_index, in the order of
--   their live ranges; (4) the n-th of equal op_path and dimensions. What
--   remains is new or gone.
-- grain: pair of values
-- param base
-- param candidate
-- param program
-- param module_ids
-- column program
-- column module_number INTEGER id neutral: XLA's number of the module in the
--   candidate, else in the base.
-- column rank
-- column pair BIGINT id neutral: Number of the pair of modules.
-- column base_module_id BIGINT id neutral: Content of the module in the base.
-- column candidate_module_id BIGINT id neutral: Content of the module in the
--   candidate.
-- column base_locations_id BIGINT id neutral: Source locations in the base.
-- column candidate_locations_id BIGINT id neutral: Source locations in the
--   candidate.
-- column base_value_id INTEGER id neutral: Value in the base; NULL where new.
-- column candidate_value_id INTEGER id neutral: Value in the candidate; NULL
--   where gone.
-- column base_instruction VARCHAR name neutral: Instruction in the base.
-- column instruction VARCHAR name neutral: Instruction in the candidate.
-- column opcode VARCHAR name neutral: Its operation, else that in the base.
-- column op_name VARCHAR text neutral: Its framework path, else that in the
--   base.
-- column match_method VARCHAR name neutral: parameter, name, path, similar or
--   none.
-- column match_confidence DOUBLE score higher_is_better: 1 for sure, 0 for
--   none.
WITH paired_runs AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have this name.
  SELECT * FROM selected_pair(base := $base, candidate := $candidate)
),
all_pairs AS (
  SELECT
    m.program AS program_name, m.rank, m.base_module_id, m.candidate_module_id,
    m.base_locations_id, m.candidate_locations_id,
    coalesce(m.candidate_module_number, m.base_module_number)
      AS module_number,
    row_number() OVER (
      ORDER BY m.program, m.rank, m.base_module_number,
        m.candidate_module_number
    ) AS pair
  FROM matched_modules(
    base := coalesce($base, (SELECT c.base FROM paired_runs AS c)),
    candidate := coalesce(
      $candidate, (SELECT c.candidate FROM paired_runs AS c)
    ),
    program := $program
  ) AS m
),
pairs AS (
  SELECT *
  FROM all_pairs
  WHERE $module_ids IS NULL
    OR list_contains($module_ids, base_module_id)
    OR list_contains($module_ids, candidate_module_id)
),
base_values AS (
  SELECT p.pair, v.*
  FROM described_values(
    -- The program may be called otherwise there.
    run := (SELECT c.base FROM paired_runs AS c), program := NULL,
    module_ids := (SELECT list(o.base_module_id) FROM pairs AS o)
  ) AS v
  JOIN pairs AS p ON p.base_module_id = v.module_id
),
candidate_values AS (
  SELECT p.pair, v.*
  FROM described_values(
    run := (SELECT c.candidate FROM paired_runs AS c), program := NULL,
    module_ids := (SELECT list(o.candidate_module_id) FROM pairs AS o)
  ) AS v
  JOIN pairs AS p ON p.candidate_module_id = v.module_id
),
arguments AS (
  SELECT b.pair, b.value_id AS base_value_id, c.value_id AS candidate_value_id
  FROM pairs AS p
  JOIN paired_parameters(
    base_ids := (
      SELECT list(o.base_module_id ORDER BY o.pair) FROM pairs AS o
    ),
    candidate_ids := (
      SELECT list(o.candidate_module_id ORDER BY o.pair) FROM pairs AS o
    )
  ) AS a
    ON a.base_module_id = p.base_module_id
    AND a.candidate_module_id = p.candidate_module_id
  JOIN base_values AS b
    ON b.pair = p.pair
    AND b.instruction = a.base_instruction
  JOIN candidate_values AS c
    ON c.pair = p.pair
    AND c.instruction = a.instruction
    AND c.place = b.place
),
named AS MATERIALIZED (
  SELECT
    b.pair, b.value_id AS base_value_id, c.value_id AS candidate_value_id
  FROM base_values AS b
  JOIN candidate_values AS c
    ON c.pair = b.pair
    AND c.place = b.place
    AND c.opcode = b.opcode
    AND c.instruction = b.instruction
    AND coalesce(c.op_name, '') = coalesce(b.op_name, '')
    AND c.dimensions = b.dimensions
  ANTI JOIN arguments AS a
    ON a.pair = b.pair
    AND a.base_value_id = b.value_id
  ANTI JOIN arguments AS d
    ON d.pair = c.pair
    AND d.candidate_value_id = c.value_id
),
-- Two groups take a tenth of the time of two windows.
by_name AS (
  SELECT pair, base_value_id, candidate_value_id, 'parameter' AS method
  FROM arguments
  UNION ALL
  SELECT f.pair, f.base_value_id, f.candidate_value_id, 'name'
  FROM (
    SELECT pair, base_value_id, min(candidate_value_id) AS candidate_value_id
    FROM named
    GROUP BY pair, base_value_id
  ) AS f
  JOIN (
    SELECT pair, candidate_value_id, min(base_value_id) AS base_value_id
    FROM named
    GROUP BY pair, candidate_value_id
  ) AS l USING (pair, base_value_id, candidate_value_id)
),
base_unnamed AS (
  SELECT
    b.*,
    row_number() OVER (
      PARTITION BY b.pair, b.opcode, b.op_path, b.dimensions, b.place
      ORDER BY b.first_step, b.value_id
    ) AS ordinal
  FROM base_values AS b
  ANTI JOIN by_name AS d
    ON d.pair = b.pair
    AND d.base_value_id = b.value_id
),
candidate_unnamed AS (
  SELECT
    c.*,
    row_number() OVER (
      PARTITION BY c.pair, c.opcode, c.op_path, c.dimensions, c.place
      ORDER BY c.first_step, c.value_id
    ) AS ordinal
  FROM candidate_values AS c
  ANTI JOIN by_name AS d
    ON d.pair = c.pair
    AND d.candidate_value_id = c.value_id
),
by_path AS (
  SELECT b.pair, b.value_id AS base_value_id, c.value_id AS candidate_value_id
  FROM base_unnamed AS b
  JOIN candidate_unnamed AS c
    ON c.pair = b.pair
    AND c.opcode = b.opcode
    AND c.op_path = b.op_path
    AND c.dimensions = b.dimensions
    AND c.place = b.place
    AND c.ordinal = b.ordinal
),
base_open AS (
  SELECT
    b.pair, b.value_id, b.op_path, b.dimensions,
    row_number() OVER (
      PARTITION BY b.pair, b.op_path, b.dimensions
      ORDER BY b.first_step, b.value_id
    ) AS ordinal
  FROM base_unnamed AS b
  ANTI JOIN by_path AS d
    ON d.pair = b.pair
    AND d.base_value_id = b.value_id
),
candidate_open AS (
  SELECT
    c.pair, c.value_id, c.op_path, c.dimensions,
    row_number() OVER (
      PARTITION BY c.pair, c.op_path, c.dimensions
      ORDER BY c.first_step, c.value_id
    ) AS ordinal
  FROM candidate_unnamed AS c
  ANTI JOIN by_path AS d
    ON d.pair = c.pair
    AND d.candidate_value_id = c.value_id
),
loose AS (
  SELECT
    coalesce(b.pair, c.pair) AS pair, b.value_id AS base_value_id,
    c.value_id AS candidate_value_id
  FROM base_open AS b
  FULL JOIN candidate_open AS c
    ON c.pair = b.pair
    AND c.op_path = b.op_path
    AND c.dimensions = b.dimensions
    AND c.ordinal = b.ordinal
),
matches AS (
  SELECT pair, base_value_id, candidate_value_id, method, 1.0 AS confidence
  FROM by_name
  UNION ALL
  SELECT pair, base_value_id, candidate_value_id, 'path', 0.8 FROM by_path
  UNION ALL
  SELECT
    pair, base_value_id, candidate_value_id,
    CASE
      WHEN base_value_id IS NULL OR candidate_value_id IS NULL THEN 'none'
      ELSE 'similar'
    END,
    CASE
      WHEN base_value_id IS NULL OR candidate_value_id IS NULL THEN 0.0
      ELSE 0.5
    END
  FROM loose
)
SELECT
  p.program_name AS program, p.module_number, p.rank, p.pair, p.base_module_id,
  p.candidate_module_id, p.base_locations_id, p.candidate_locations_id,
  m.base_value_id, m.candidate_value_id, b.instruction AS base_instruction,
  c.instruction,
  CASE WHEN m.candidate_value_id IS NULL THEN b.opcode ELSE c.opcode END
    AS opcode,
  CASE WHEN m.candidate_value_id IS NULL THEN b.op_name ELSE c.op_name END
    AS op_name,
  m.method AS match_method,
  CAST(m.confidence AS DOUBLE) AS match_confidence
FROM matches AS m
JOIN pairs AS p USING (pair)
LEFT JOIN base_values AS b
  ON b.pair = m.pair
  AND b.value_id = m.base_value_id
LEFT JOIN candidate_values AS c
  ON c.pair = m.pair
  AND c.value_id = m.candidate_value_id
