-- title: Where two compilations part
-- question: Framework, partitioner, fusion, scheduler or buffer assignment: at
--   which stage do two compilations of a program begin to differ?
-- definition: Snapshots of a program in two runs in pipeline order
--   (before_optimizations, passes by number, the stages after optimisation),
--   matched by stage, pass names and occurrence; only those that both runs
--   hold. A snapshot differs where its graph_fingerprint does, else
--   in_order_only where only exact_fingerprint does (layouts, schedule,
--   backend config). blame: framework where before_optimizations differs;
--   partitioner, layout, fusion, scheduler or pass by the name of the pass
--   before the first difference; compiler where no passes are dumped;
--   buffer_assignment where all snapshots are equal and the memory differs;
--   none.
-- grain: program, rank, n-th module of that name
-- needs: chosen_pair, modules, memory_profile
-- param base
-- param candidate
-- param program
-- column base
-- column candidate
-- column program
-- column rank
-- column blame VARCHAR name neutral: Where the difference comes from.
-- column difference VARCHAR name neutral: graph, in_order_only, memory or
--   none.
-- column last_equal_stage VARCHAR name neutral: Last snapshot before it.
-- column first_different_stage VARCHAR name neutral: First snapshot that
--   differs.
-- column base_instruction_count INTEGER count neutral: Instructions of that
--   snapshot in the base.
-- column candidate_instruction_count INTEGER count neutral: In the candidate.
-- column compared_stages BIGINT count neutral: Snapshots compared.
-- column delta_reserved_bytes BIGINT bytes lower_is_better: Difference of
--   reserved bytes of colour 0.
WITH numbered AS (
  SELECT
    p.base AS base_run, p.candidate AS candidate_run,
    m.run_id = p.candidate_run_id AS is_candidate, m.program AS program_name,
    m.rank, m.module_number, m.module_id, m.stage AS stage_name, m.pass_step,
    m.pass_after, m.pass_before, m.pipeline, m.graph_fingerprint,
    m.exact_fingerprint, m.instruction_count, m.has_assignment,
    dense_rank() OVER (
      PARTITION BY m.run_id, m.program, m.rank ORDER BY m.module_number
    ) AS ordinal,
    CASE m.stage
      WHEN 'before_optimizations' THEN 0
      WHEN 'after_spmd_partitioner' THEN 1
      WHEN 'pass' THEN 2
      WHEN 'after_optimizations_before_buffer_assignment' THEN 3
      WHEN 'after_optimizations' THEN 4
      WHEN 'after_optimizations_after_buffer_assignment' THEN 5
      ELSE 6
    END AS stage_place
  FROM chosen_pair(base := $base, candidate := $candidate) AS p
  JOIN modules AS m ON m.run_id IN (p.base_run_id, p.candidate_run_id)
  WHERE $program IS NULL
    OR m.program = $program
),
snapshots AS (
  SELECT
    *,
    concat_ws(
      '.', stage_name, pipeline, 'after_' || pass_after,
      'before_' || pass_before
    ) AS label,
    row_number() OVER (
      PARTITION BY
        is_candidate, program_name, rank, ordinal, stage_name, pipeline,
        pass_after, pass_before
      ORDER BY pass_step, module_id
    ) AS occurrence
  FROM numbered
),
compared AS (
  SELECT
    b.base_run, b.candidate_run, b.program_name, b.rank, b.ordinal, b.label,
    b.stage_name, b.pass_after, b.instruction_count AS base_count,
    c.instruction_count AS candidate_count,
    row_number() OVER (
      PARTITION BY b.program_name, b.rank, b.ordinal
      ORDER BY b.stage_place, b.pass_step, b.label
    ) AS place,
    CASE
      WHEN b.graph_fingerprint IS DISTINCT FROM c.graph_fingerprint
        THEN 'graph'
      WHEN b.exact_fingerprint IS DISTINCT FROM c.exact_fingerprint
      THEN 'in_order_only'
    END AS difference
  FROM snapshots AS b
  JOIN snapshots AS c
    ON c.program_name = b.program_name
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.ordinal = b.ordinal
    AND c.label = b.label
    AND c.occurrence = b.occurrence
  WHERE NOT b.is_candidate
    AND c.is_candidate
),
firsts AS (
  SELECT
    base_run, candidate_run, program_name, rank, ordinal,
    min(place) FILTER (WHERE difference IS NOT NULL) AS first_place,
    count(*) AS compared_stages
  FROM compared
  GROUP BY base_run, candidate_run, program_name, rank, ordinal
),
memory AS (
  SELECT
    s.program_name, s.rank, s.ordinal,
    sum(CASE WHEN s.is_candidate THEN 1 ELSE -1 END * p.reserved_bytes)
      AS main_delta
  FROM snapshots AS s
  JOIN memory_profile AS p USING (module_id)
  WHERE s.has_assignment
    AND p.color = 0
  GROUP BY s.program_name, s.rank, s.ordinal
  HAVING bool_or(s.is_candidate)
    AND NOT bool_and(s.is_candidate)
)
SELECT
  f.base_run AS base, f.candidate_run AS candidate, f.program_name AS program,
  f.rank,
  CASE
    WHEN d.stage_name = 'before_optimizations' THEN 'framework'
    WHEN d.stage_name = 'pass' THEN
      CASE
        WHEN regexp_matches(d.pass_after, 'spmd|shard|partition')
          THEN 'partitioner'
        WHEN regexp_matches(d.pass_after, 'layout') THEN 'layout'
        WHEN regexp_matches(d.pass_after, 'fusion') THEN 'fusion'
        WHEN regexp_matches(d.pass_after, 'schedul|remat') THEN 'scheduler'
        ELSE 'pass'
      END
    WHEN d.stage_name IS NOT NULL THEN 'compiler'
    WHEN m.main_delta <> 0 THEN 'buffer_assignment'
    ELSE 'none'
  END AS blame,
  coalesce(
    d.difference, CASE WHEN m.main_delta <> 0 THEN 'memory' ELSE 'none' END
  ) AS difference,
  e.label AS last_equal_stage, d.label AS first_different_stage,
  d.base_count AS base_instruction_count,
  d.candidate_count AS candidate_instruction_count, f.compared_stages,
  CAST(m.main_delta AS BIGINT) AS delta_reserved_bytes
FROM firsts AS f
LEFT JOIN compared AS d
  ON d.program_name = f.program_name
  AND d.rank IS NOT DISTINCT FROM f.rank
  AND d.ordinal = f.ordinal
  AND d.place = f.first_place
LEFT JOIN compared AS e
  ON e.program_name = f.program_name
  AND e.rank IS NOT DISTINCT FROM f.rank
  AND e.ordinal = f.ordinal
  AND e.place = coalesce(f.first_place, f.compared_stages + 1) - 1
LEFT JOIN memory AS m
  ON m.program_name = f.program_name
  AND m.rank IS NOT DISTINCT FROM f.rank
  AND m.ordinal = f.ordinal
ORDER BY abs(m.main_delta) DESC NULLS LAST, f.program_name, f.rank, f.ordinal
