-- title: Parts of a memory difference
-- question: Which parts does the difference of reserved memory consist of?
-- definition: For each pair of matched modules and memory space, the
--   difference of reserved_bytes by part (difference_parts) and kind of
--   allocation: sums of buffer_diff, as in hlodb report and hlodb diff.
--   delta_bytes of all parts and residual_bytes add up to total_delta_bytes;
--   residual_bytes is 0 if XLA's sizes agree with one another. A module that
--   one side lacks counts as 0 bytes there.
-- grain: pair of modules, memory space, part, kind
-- leading: program, color, part, kind, delta_bytes, delta_ratio, buffer_count
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
-- column module_number INTEGER id neutral: XLA's number of the module in the
--   candidate, else in the base.
-- column rank
-- column color
-- column part VARCHAR name neutral: Part of the difference, see
--   difference_parts.
-- column kind VARCHAR name neutral: Kind of allocation.
-- column delta_bytes BIGINT bytes lower_is_better: Bytes of the part.
-- column delta_ratio DOUBLE ratio neutral: Its share of total_delta_bytes.
-- column buffer_count BIGINT count neutral: Buffers of the part; 0 if the
--   details of a run are pruned.
-- column total_delta_bytes BIGINT bytes lower_is_better: Difference of
--   reserved_bytes.
-- column residual_bytes BIGINT bytes lower_is_better: Difference that no part
--   explains.
WITH pairs AS MATERIALIZED (
  SELECT
    row_number() OVER (
      ORDER BY m.program, m.rank, m.base_module_number,
        m.candidate_module_number, m.base_module_id, m.candidate_module_id,
        m.candidate_place, m.base_place
    ) AS pair,
    m.base AS base_run, m.candidate AS candidate_run,
    m.program AS program_name,
    nullif(m.base_program, m.candidate_program) AS base_program, m.rank,
    coalesce(m.candidate_module_number, m.base_module_number) AS number,
    m.base_module_id, m.candidate_module_id
  FROM matched_modules(
    base := $base, candidate := $candidate, program := $program,
    follow := $follow
  ) AS m
  WHERE m.base_module_id IS DISTINCT FROM m.candidate_module_id
),
parts AS (
  SELECT DISTINCT
    b.pair, b.color AS space_color, b.part, b.kind, b.part_delta_bytes,
    CASE WHEN b.is_detailed THEN b.part_buffer_count ELSE 0 END
      AS buffer_count,
    b.total_delta_bytes, b.residual_bytes
  FROM buffer_changes(
    base_ids := (
      SELECT list(o.base_module_id ORDER BY o.pair) FROM pairs AS o
    ),
    candidate_ids := (
      SELECT list(o.candidate_module_id ORDER BY o.pair) FROM pairs AS o
    )
  ) AS b
  WHERE b.part <> 'same'
)
SELECT
  p.base_run AS base, p.candidate_run AS candidate, p.program_name AS program,
  p.base_program, p.number AS module_number, p.rank, d.space_color AS color,
  d.part, d.kind, d.part_delta_bytes AS delta_bytes,
  d.part_delta_bytes / nullif(d.total_delta_bytes, 0) AS delta_ratio,
  d.buffer_count, d.total_delta_bytes, d.residual_bytes
FROM parts AS d
JOIN pairs AS p USING (pair)
ORDER BY
  abs(d.total_delta_bytes) DESC, p.program_name, p.rank, p.pair, d.space_color,
  abs(d.part_delta_bytes) DESC, d.part, d.kind
