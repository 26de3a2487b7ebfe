-- title: First difference and origin, per pair of compilations
-- question: After which stage or pass do two compilations of a program first
--   differ, and what is the likely origin?
-- definition: Follows both compilations from before_optimizations through the
--   passes to after_optimizations. Snapshots are compared by content, not by
--   name, because a pass may run many times and releases rename passes: by
--   graph_fingerprint, or by exact_fingerprint (with layouts, schedule,
--   backend config) if the last graphs are equal. last_equal_stage is the last
--   snapshot of the candidate that the base has, too; first_different_stage is
--   the next one, from the base if only the base ran that pass. blame is the
--   first rule that applies. (1) program: the part is alias, and the sources
--   declare other donations. (2) packing: the programs are the same, and
--   buffers are assigned differently. (3) With per-pass dumps, by the name of
--   the first different pass: partitioner, fusion, scheduler, layout, else
--   optimisation. (4) program: the graphs are the same, and kernels reserve
--   other scoped memory. (5) scheduler: the graphs are the same. (6) If the
--   source is the same, or was not dumped, the compiler: packing for
--   fragmentation; partitioner if collectives differ; scheduler for lifetimes
--   and kinds of allocation, in programs at least 95 % alike; else fusion. (7)
--   If the sources differ, program; but the compiler, as in (6), if they are
--   at least 95 % alike with equal shapes, and either the part is lifetime,
--   allocation_kind or fragmentation, or the results differ more than twice as
--   much as the sources. If one source was compiled with other flags that may
--   move memory, environment replaces packing in (2), scheduler in (5) and the
--   compiler in (6). Likeness is the sum of the smaller opcode counts divided
--   by the sum of the greater ones.
-- grain: pair of compilations, as given
-- steps: asked_pairs, compiled_pairs, compilation_sides, stage_snapshots,
--   stage_differences, compared_snapshots, last_equal_stage,
--   first_differences, compared_forms, likenesses, program_traits,
--   runs_with_other_flags, pair_facts
-- param base_runs BIGINT[] = NULL from 0: run_id of each base module.
-- param base_places BIGINT[] = NULL from 0: Their places in the run, see
--   compilations.
-- param candidate_runs BIGINT[] = NULL from 0: run_id of each candidate
--   module.
-- param candidate_places BIGINT[] = NULL from 0: Their places.
-- param main_parts VARCHAR[] = NULL: Part with most of the difference of each
--   pair, see buffer_changes.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column blame VARCHAR name neutral: Likely origin: program, partitioner,
--   fusion, scheduler, layout, packing, environment or optimisation.
-- column reason VARCHAR text neutral: The reason in words.
-- column difference VARCHAR name neutral: graph (the instructions or their
--   operands), in_order_only or none; NULL without snapshots on both sides.
-- column last_equal_stage VARCHAR name neutral: Last snapshot that both have.
-- column first_different_stage VARCHAR name neutral: The next snapshot, and
--   which side has it if only one does.
-- column base_instruction_count INTEGER count neutral: Instructions of the
--   snapshot after the last equal one in the base.
-- column candidate_instruction_count INTEGER count neutral: The same in the
--   candidate.
-- column compared_stages BIGINT count neutral: Snapshots of the candidate that
--   were compared.
-- column base_remat_count BIGINT count neutral: Recomputed instructions in the
--   source of the base, else in the program.
-- column candidate_remat_count BIGINT count neutral: The same in the
--   candidate.
-- column are_remats_marked BOOLEAN flag neutral: Whether both mark recomputed
--   instructions; older releases only say remat in a path, without saying
--   which side of it is recomputed.
-- column base_scoped_bytes BIGINT bytes neutral: The most VMEM that a kernel
--   of the base reserves.
-- column candidate_scoped_bytes BIGINT bytes neutral: The same in the
--   candidate.
WITH rules AS (
  SELECT
    a.asked_number, a.main_part, f.*,
    CASE
      WHEN a.main_part = 'alias' AND f.base_aliases <> f.candidate_aliases
        THEN 'donations'
      WHEN f.is_identical THEN 'assignment'
      WHEN f.stage_name = 'pass' THEN 'pass'
      WHEN f.is_same_graph AND f.base_scoped <> f.candidate_scoped
        THEN 'kernels'
      WHEN f.is_same_graph THEN 'order'
      WHEN f.is_same_source THEN 'compiler'
      WHEN NOT f.has_sources THEN 'unknown'
      ELSE 'source'
    END AS rule,
    CASE
      WHEN a.main_part = 'fragmentation' THEN 'packing'
      WHEN f.has_other_collectives THEN 'partitioner'
      WHEN a.main_part IN ('lifetime', 'allocation_kind')
        AND f.likeness >= 0.95 THEN 'scheduler'
      ELSE 'fusion'
    END AS compiler,
    -- Sources that differ are not 100 % alike, however little.
    CASE
      WHEN f.source_likeness < 1
        THEN format('the programs handed to XLA are {:.0f} % alike',
          least(100 * f.source_likeness, 99))
      ELSE 'the programs handed to XLA have the same operations'
    END
    || CASE
      WHEN f.typed_likeness < f.source_likeness
        THEN format(
          ' ({:.0f} % with their shapes)', least(100 * f.typed_likeness, 99)
        )
      ELSE ''
    END
    || format(', the compiled ones {}{:.0f} %{}',
      CASE WHEN f.source_likeness < 1 THEN '' ELSE 'are ' END,
      100 * f.likeness,
      CASE WHEN f.source_likeness < 1 THEN '' ELSE ' alike' END) AS likenesses,
    f.has_other_shardings
    AND (
      NOT (f.has_other_shapes OR f.source_likeness < 0.95)
      OR f.has_other_sharding_kinds
    ) AS is_sharded_otherwise
  FROM asked_pairs AS a
  JOIN pair_facts AS f
    USING (base_run, base_number, candidate_run, candidate_number)
)
SELECT
  r.asked_number AS pair,
  CASE
    WHEN r.rule IN ('donations', 'kernels') THEN 'program'
    WHEN r.rule IN ('assignment', 'order', 'compiler') AND r.is_by_flags
      THEN 'environment'
    WHEN r.rule = 'assignment' THEN 'packing'
    WHEN r.rule = 'order' THEN 'scheduler'
    WHEN r.rule = 'pass' THEN
      CASE
        WHEN regexp_matches(r.pass_after, 'spmd|partition|shard')
          THEN 'partitioner'
        WHEN contains(r.pass_after, 'fusion') THEN 'fusion'
        WHEN regexp_matches(r.pass_after, 'schedul|remat') THEN 'scheduler'
        WHEN contains(r.pass_after, 'layout') THEN 'layout'
        ELSE 'optimisation'
      END
    WHEN r.rule IN ('compiler', 'unknown') THEN r.compiler
    WHEN r.is_sharded_otherwise OR r.has_other_shapes
      OR r.typed_likeness < 0.95 OR r.main_part IN ('resized', 'retyped')
      THEN 'program'
    WHEN r.source_likeness >= 0.95
      AND (
        r.main_part IN ('lifetime', 'allocation_kind', 'fragmentation')
        OR 1 - r.likeness > 2 * (1 - r.source_likeness)
      ) THEN r.compiler
    ELSE 'program'
  END AS blame,
  CASE r.rule
    WHEN 'donations'
      THEN format(
        '{} outputs may share the memory of a parameter, {} before',
        r.candidate_aliases, r.base_aliases
      )
    WHEN 'assignment'
      THEN
        'the compiled programs are the same, their buffers are placed'
        || ' otherwise'
    WHEN 'pass' THEN 'the input of that pass is the same'
    WHEN 'kernels'
      THEN 'the instructions are the same, kernels reserve other scoped memory'
    WHEN 'order'
      THEN 'the instructions are the same, their order or layouts differ'
    WHEN 'compiler' THEN 'the programs handed to XLA are the same'
    WHEN 'unknown' THEN 'no program before optimizations was dumped'
    ELSE r.likenesses
      || CASE
        WHEN r.is_sharded_otherwise THEN '; the former are sharded otherwise'
        ELSE ''
      END
  END
  || CASE
    WHEN r.rule IN ('assignment', 'order', 'compiler') AND r.is_by_flags
      THEN ', compiler flags differ'
    ELSE ''
  END AS reason,
  r.difference, r.last_equal_stage AS last_equal_stage,
  r.first_different AS first_different_stage,
  r.base_count AS base_instruction_count,
  r.candidate_count AS candidate_instruction_count,
  r.snapshot_count AS compared_stages,
  CAST(r.base_remats AS BIGINT) AS base_remat_count,
  CAST(r.candidate_remats AS BIGINT) AS candidate_remat_count,
  r.are_marked AS are_remats_marked, r.base_scoped AS base_scoped_bytes,
  r.candidate_scoped AS candidate_scoped_bytes
FROM rules AS r
