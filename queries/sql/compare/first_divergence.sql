-- title: First difference between two compilations
-- question: After which stage or pass do two compilations of a program first
--   differ?
-- definition: Rows of divergences, as in hlodb report and hlodb diff, for each
--   memory space with a change in buffer_changes, and for compilations that
--   differ without one. If nothing differs, blame and difference are none; if
--   only the memory differs, difference is memory. Compilations without a
--   partner are left out.
-- grain: pair of compilations, see matched_compilations, memory space
-- leading: program, blame, first_different_stage, delta_reserved_bytes,
--   last_equal_stage, difference
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
-- column base_module_number INTEGER id neutral: XLA's number of the module in
--   the base.
-- column candidate_module_number INTEGER id neutral: The same in the
--   candidate.
-- column color INTEGER id neutral: Memory space number; NULL where no memory
--   changed.
-- column blame VARCHAR name neutral: Likely origin: program, partitioner,
--   fusion, scheduler, layout, packing, environment or optimisation; none
--   without a difference.
-- column reason VARCHAR text neutral: The reason in words.
-- column difference VARCHAR name neutral: graph (the instructions or their
--   operands), in_order_only, memory or none; NULL without snapshots on both
--   sides.
-- column last_equal_stage VARCHAR name neutral: Last snapshot that both have.
-- column first_different_stage VARCHAR name neutral: The next snapshot, and
--   which side has it if only one does.
-- column base_instruction_count INTEGER count neutral: Instructions of the
--   snapshot after the last equal one in the base.
-- column candidate_instruction_count INTEGER count neutral: The same in the
--   candidate.
-- column compared_stages BIGINT count neutral: Snapshots of the candidate that
--   were compared.
-- column main_part VARCHAR name neutral: Part with most of the difference, see
--   difference_parts.
-- column main_share_ratio DOUBLE ratio neutral: Share of the main part among
--   all parts with the same sign.
-- column delta_reserved_bytes BIGINT bytes lower_is_better: Difference of
--   reserved bytes.
WITH pairs AS MATERIALIZED (
  SELECT p.*
  FROM matched_compilations(
    base := $base, candidate := $candidate, program := $program,
    follow := $follow
  ) AS p
  WHERE p.base_module_id IS NOT NULL
    AND p.candidate_module_id IS NOT NULL
),
moved AS (
  SELECT DISTINCT
    p.pair_id, b.color AS space_color, b.main_part, b.main_share_ratio,
    b.total_delta_bytes
  FROM (
    SELECT o.*, row_number() OVER (ORDER BY o.pair_id) AS pair
    FROM pairs AS o
    WHERE o.base_module_id <> o.candidate_module_id
  ) AS p
  JOIN buffer_changes(
    base_ids := (
      SELECT list(o.base_module_id ORDER BY o.pair_id)
      FROM pairs AS o
      WHERE o.base_module_id <> o.candidate_module_id
    ),
    candidate_ids := (
      SELECT list(o.candidate_module_id ORDER BY o.pair_id)
      FROM pairs AS o
      WHERE o.base_module_id <> o.candidate_module_id
    )
  ) AS b USING (pair)
  WHERE b.main_part <> 'none'
),
asked AS MATERIALIZED (
  SELECT
    p.*, m.space_color, coalesce(m.main_part, 'none') AS main_part,
    m.main_share_ratio, m.total_delta_bytes AS delta,
    row_number() OVER (ORDER BY p.pair_id, m.space_color) AS place
  FROM pairs AS p
  LEFT JOIN moved AS m USING (pair_id)
)
SELECT
  a.base, a.candidate, a.candidate_program AS program,
  nullif(a.base_program, a.candidate_program) AS base_program, a.rank,
  a.base_module_number, a.candidate_module_number, a.space_color AS color,
  CASE
    WHEN a.main_part = 'none' AND coalesce(d.difference, 'none') = 'none'
      THEN 'none'
    ELSE d.blame
  END AS blame,
  CASE
    WHEN a.main_part = 'none' AND coalesce(d.difference, 'none') = 'none'
      THEN NULL
    ELSE d.reason
  END AS reason,
  CASE
    WHEN d.difference = 'none' AND a.main_part <> 'none' THEN 'memory'
    ELSE d.difference
  END AS difference,
  d.last_equal_stage, d.first_different_stage, d.base_instruction_count,
  d.candidate_instruction_count, d.compared_stages, a.main_part,
  a.main_share_ratio, a.delta AS delta_reserved_bytes
FROM asked AS a
JOIN divergences(
  base_runs := (SELECT list(o.base_run_id ORDER BY o.place) FROM asked AS o),
  base_places := (SELECT list(o.base_place ORDER BY o.place) FROM asked AS o),
  candidate_runs := (
    SELECT list(o.candidate_run_id ORDER BY o.place) FROM asked AS o
  ),
  candidate_places := (
    SELECT list(o.candidate_place ORDER BY o.place) FROM asked AS o
  ),
  main_parts := (SELECT list(o.main_part ORDER BY o.place) FROM asked AS o)
) AS d ON d.pair = a.place
ORDER BY
  abs(a.delta) DESC NULLS LAST, a.pair_id, a.space_color
