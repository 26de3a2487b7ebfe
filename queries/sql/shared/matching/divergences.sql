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
--   first rule that applies. (1) framework: the part is alias, and the sources
--   declare other donations. (2) packing: the programs are the same, and
--   buffers are assigned differently. (3) With per-pass dumps, by the name of
--   the first different pass: partitioner, fusion, scheduler, layout, else
--   optimisation. (4) framework: the graphs are the same, and kernels reserve
--   other scoped memory. (5) scheduler: the graphs are the same. (6) If the
--   source is the same, or was not dumped, the compiler: packing for
--   fragmentation; partitioner if collectives differ; scheduler for lifetimes
--   and kinds of allocation, in programs at least 95 % alike; else fusion. (7)
--   If the sources differ, framework; but the compiler, as in (6), if they are
--   at least 95 % alike with equal shapes, and either the part is lifetime,
--   allocation_kind or fragmentation, or the results differ more than twice as
--   much as the sources. If one source was compiled with other flags that may
--   move memory, environment replaces packing in (2), scheduler in (5) and the
--   compiler in (6). Likeness is the sum of the smaller opcode counts divided
--   by the sum of the greater ones.
-- grain: pair of compilations, as given
-- param base_runs BIGINT[] = NULL from 0: run_id of each base module.
-- param base_places BIGINT[] = NULL from 0: Their places in the run, see
--   compilations.
-- param candidate_runs BIGINT[] = NULL from 0: run_id of each candidate
--   module.
-- param candidate_places BIGINT[] = NULL from 0: Their places.
-- param main_parts VARCHAR[] = NULL: Part with most of the difference of each
--   pair, see buffer_changes.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column blame VARCHAR name neutral: Likely origin: framework, partitioner,
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
WITH asked AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest(range(1, len($base_runs) + 1)) AS asked_pair,
    unnest($base_runs) AS base_run, unnest($base_places) AS base_number,
    unnest($candidate_runs) AS own_run,
    unnest($candidate_places) AS own_number, unnest($main_parts) AS main_part
),
compiled AS MATERIALIZED (
  SELECT c.*, coalesce(c.source_id, c.module_id) AS earliest_id
  FROM compilations(run_ids := (
    SELECT coalesce(list_distinct(list(base_run) || list(own_run)), [])
    FROM asked
  )) AS c
),
pairs AS MATERIALIZED (
  SELECT
    row_number() OVER (
      ORDER BY a.base_run, a.base_number, a.own_run, a.own_number
    ) AS pair,
    b, c
  FROM (
    SELECT DISTINCT base_run, base_number, own_run, own_number FROM asked
  ) AS a
  JOIN compiled AS b
    ON b.run_id = a.base_run
    AND b.place = a.base_number
  JOIN compiled AS c
    ON c.run_id = a.own_run
    AND c.place = a.own_number
),
sides AS (
  SELECT p.pair, FALSE AS is_candidate, unnest(p.b) FROM pairs AS p
  UNION ALL
  SELECT p.pair, TRUE, unnest(p.c) FROM pairs AS p
),
numbered_sides AS (
  SELECT s.*, s.module_number AS number, FALSE AS is_first_number
  FROM sides AS s
  UNION ALL
  SELECT s.*, s.first_number, TRUE
  FROM sides AS s
  WHERE s.first_number IS NOT NULL
),
snapshots AS MATERIALIZED (
  SELECT
    s.pair, s.is_candidate, m.stage AS stage_name, m.pass_after,
    m.graph_fingerprint, m.exact_fingerprint, m.instruction_count,
    CASE
      WHEN m.stage = 'pass'
        THEN concat(
          coalesce(m.pipeline, 'pipeline'), ': after ',
          coalesce(m.pass_after, 'start')
        )
      ELSE m.stage
    END AS label,
    row_number() OVER (
      PARTITION BY s.pair, s.is_candidate
      ORDER BY
        m.stage = 'before_optimizations' DESC, m.stage = 'after_optimizations',
        s.is_first_number DESC, m.pass_step, m.path, m.part
    ) AS place
  FROM numbered_sides AS s
  JOIN modules AS m
    ON m.run_id = s.run_id
    AND m.program = s.program
    AND m.rank IS NOT DISTINCT FROM s.own_rank
    AND m.module_number IS NOT DISTINCT FROM s.number
    AND m.folder = s.folder
  WHERE m.stage IN ('before_optimizations', 'pass', 'after_optimizations')
    AND m.graph_fingerprint IS NOT NULL
),
ends AS (
  SELECT
    pair, count(*) FILTER (WHERE is_candidate) AS snapshot_count,
    arg_max(graph_fingerprint, place) FILTER (WHERE NOT is_candidate)
      AS base_graph,
    arg_max(graph_fingerprint, place) FILTER (WHERE is_candidate)
      AS candidate_graph,
    arg_max(exact_fingerprint, place) FILTER (WHERE NOT is_candidate)
      AS base_exact,
    arg_max(exact_fingerprint, place) FILTER (WHERE is_candidate)
      AS candidate_exact
  FROM snapshots
  GROUP BY pair
),
differences AS (
  SELECT
    pair, snapshot_count,
    CASE
      WHEN base_graph <> candidate_graph THEN 'graph'
      WHEN base_exact <> candidate_exact THEN 'in_order_only'
      ELSE 'none'
    END AS difference
  FROM ends
  WHERE base_graph IS NOT NULL
    AND candidate_graph IS NOT NULL
),
contents AS (
  SELECT
    s.*,
    CASE d.difference
      WHEN 'graph' THEN s.graph_fingerprint
      ELSE s.exact_fingerprint
    END AS content
  FROM snapshots AS s
  JOIN differences AS d USING (pair)
),
base_snapshots AS (
  SELECT pair, content, max(place) AS place
  FROM contents
  WHERE NOT is_candidate
  GROUP BY pair, content
),
last_equal AS (
  SELECT
    c.pair, arg_max(c.label, c.place) AS label,
    max(c.place) AS candidate_place, arg_max(b.place, c.place) AS base_place
  FROM contents AS c
  JOIN base_snapshots AS b USING (pair, content)
  WHERE c.is_candidate
  GROUP BY c.pair
),
followers AS (
  SELECT
    c.*, l.pair IS NOT NULL AS has_equal,
    row_number() OVER (
      PARTITION BY c.pair, c.is_candidate ORDER BY c.place
    ) AS nth,
    min(c.is_candidate) OVER same_pass = max(c.is_candidate) OVER same_pass
      AS is_one_sided
  FROM contents AS c
  JOIN differences AS d USING (pair)
  LEFT JOIN last_equal AS l USING (pair)
  WHERE d.difference <> 'none'
    AND c.place
    > CASE
      WHEN l.pair IS NULL THEN 0
      WHEN c.is_candidate THEN l.candidate_place
      ELSE l.base_place
    END
  WINDOW same_pass AS (PARTITION BY c.pair, c.label)
),
heads AS (
  SELECT
    f.*,
    f.has_equal AND f.is_one_sided
      AND count(*) FILTER (WHERE f.is_one_sided) OVER of_pair = 1
      AS is_extra,
    max(CASE WHEN NOT f.is_candidate THEN f.instruction_count END)
      OVER of_pair AS base_count,
    max(CASE WHEN f.is_candidate THEN f.instruction_count END)
      OVER of_pair AS candidate_count
  FROM followers AS f
  WHERE f.nth = 1
  WINDOW of_pair AS (PARTITION BY f.pair)
),
partings AS (
  SELECT
    h.*,
    h.label
    || CASE
      WHEN h.is_extra AND h.is_candidate THEN ' (in the candidate only)'
      WHEN h.is_extra THEN ' (in the base only)'
      ELSE ''
    END AS name
  FROM heads AS h
  QUALIFY row_number() OVER (
    PARTITION BY h.pair ORDER BY h.is_extra DESC, h.is_candidate DESC
  ) = 1
),
-- Fixed before it meets the forms: else the instructions of all modules do.
forms_there AS MATERIALIZED (
  SELECT
    i.module_id, i.form_id, count(*) AS times,
    count(*) FILTER (WHERE i.computation_id IS NOT NULL) AS placed_times,
    count(*) FILTER (WHERE contains(i.name, '.remat')) AS remat_times
  FROM (
    SELECT unnest(list_distinct(list(x.module_id))) AS module_id
    FROM (
      SELECT unnest([s.module_id, s.earliest_id]) AS module_id FROM sides AS s
    ) AS x
  )
  JOIN store.instructions AS i USING (module_id)
  GROUP BY i.module_id, i.form_id
),
described AS MATERIALIZED (
  SELECT
    i.*, coalesce(f.opcode, '') AS operation, f.shape, f.op_name, f.sharding,
    f.backend_config
  FROM forms_there AS i
  JOIN store.instruction_forms AS f USING (form_id)
),
opcodes AS MATERIALIZED (
  SELECT d.module_id, d.operation, sum(d.placed_times) AS times
  FROM described AS d
  GROUP BY d.module_id, d.operation
  HAVING sum(d.placed_times) > 0
),
typed_opcodes AS MATERIALIZED (
  SELECT
    d.module_id,
    d.operation || ' '
    || coalesce(regexp_replace(d.shape, '\{[^{}]*\}', '', 'g'), '')
      AS typed_operation,
    sum(d.placed_times) AS times
  FROM described AS d
  GROUP BY ALL
  HAVING sum(d.placed_times) > 0
),
result_keys AS (
  SELECT DISTINCT p.b.module_id AS base_key, p.c.module_id AS own_key
  FROM pairs AS p
),
source_keys AS (
  SELECT DISTINCT p.b.source_id AS base_key, p.c.source_id AS own_key
  FROM pairs AS p
  WHERE p.b.source_id IS NOT NULL
    AND p.c.source_id IS NOT NULL
),
results AS (
  SELECT
    p.base_key, p.own_key,
    sum(least(p.base_times, p.own_times))
    / nullif(sum(greatest(p.base_times, p.own_times)), 0) AS score,
    bool_or(
      p.base_times <> p.own_times
      AND regexp_matches(
        p.operation,
        '^(all-gather|all-reduce|all-to-all|collective-|reduce-scatter)'
      )
    ) AS has_other_collectives
  FROM (
    SELECT
      k.base_key, k.own_key, c.operation,
      coalesce(max(c.times) FILTER (WHERE c.module_id = k.base_key), 0)
        AS base_times,
      coalesce(max(c.times) FILTER (WHERE c.module_id = k.own_key), 0)
        AS own_times
    FROM result_keys AS k
    JOIN opcodes AS c ON c.module_id IN (k.base_key, k.own_key)
    GROUP BY k.base_key, k.own_key, c.operation
  ) AS p
  GROUP BY p.base_key, p.own_key
),
sources AS (
  SELECT
    p.base_key, p.own_key,
    sum(least(p.base_times, p.own_times))
    / nullif(sum(greatest(p.base_times, p.own_times)), 0) AS score
  FROM (
    SELECT
      k.base_key, k.own_key, c.operation,
      coalesce(max(c.times) FILTER (WHERE c.module_id = k.base_key), 0)
        AS base_times,
      coalesce(max(c.times) FILTER (WHERE c.module_id = k.own_key), 0)
        AS own_times
    FROM source_keys AS k
    JOIN opcodes AS c ON c.module_id IN (k.base_key, k.own_key)
    GROUP BY k.base_key, k.own_key, c.operation
  ) AS p
  GROUP BY p.base_key, p.own_key
),
typed_sources AS (
  SELECT
    p.base_key, p.own_key,
    sum(least(p.base_times, p.own_times))
    / nullif(sum(greatest(p.base_times, p.own_times)), 0) AS score
  FROM (
    SELECT
      k.base_key, k.own_key, c.typed_operation,
      coalesce(max(c.times) FILTER (WHERE c.module_id = k.base_key), 0)
        AS base_times,
      coalesce(max(c.times) FILTER (WHERE c.module_id = k.own_key), 0)
        AS own_times
    FROM source_keys AS k
    JOIN typed_opcodes AS c ON c.module_id IN (k.base_key, k.own_key)
    GROUP BY k.base_key, k.own_key, c.typed_operation
  ) AS p
  GROUP BY p.base_key, p.own_key
),
-- Nothing is said of the sharding of a program for one device, where it stands
-- beside what is put into the host's memory.
alone AS (
  SELECT DISTINCT s.module_id
  FROM sides AS p
  JOIN store.snapshots AS s ON s.module_id = p.earliest_id
  WHERE s.num_partitions = 1
    AND s.replica_count = 1
),
traits AS MATERIALIZED (
  SELECT
    d.module_id,
    sum(
      CASE
        WHEN contains(d.op_name, 'rematted_computation') THEN d.times
        ELSE d.remat_times
      END
    ) AS remat_count,
    coalesce(sum(d.times) FILTER (WHERE contains(d.op_name, 'remat')), 0)
      AS remat_mentions,
    list_sort(list(DISTINCT d.operation || ' ' || d.sharding)
      FILTER (WHERE d.sharding IS NOT NULL AND a.module_id IS NULL))
      AS sharding_kinds,
    coalesce(max(TRY_CAST(regexp_extract(
      d.backend_config,
      '"scoped_memory_configs": ?\[\{"memory_space": ?"?1"?, ?"offset": ?'
        || '"?0"?, ?"size": ?"?([0-9]+)',
      1
    ) AS BIGINT)) FILTER (WHERE d.operation = 'custom-call'), 0)
      AS scoped_bytes
  FROM described AS d
  LEFT JOIN alone AS a USING (module_id)
  GROUP BY d.module_id
),
shardings AS MATERIALIZED (
  SELECT
    g.module_id, list_sort(list(g.sharding || ' ' || g.times)) AS shardings
  FROM (
    SELECT
      d.module_id, d.operation || ' ' || d.sharding AS sharding,
      sum(d.times) AS times
    FROM described AS d
    ANTI JOIN alone AS a USING (module_id)
    WHERE d.sharding IS NOT NULL
    GROUP BY ALL
  ) AS g
  GROUP BY g.module_id
),
declared AS (
  SELECT a.module_id, count(*) AS alias_count
  FROM aliases AS a
  JOIN (SELECT DISTINCT s.earliest_id AS module_id FROM sides AS s)
    USING (module_id)
  GROUP BY a.module_id
),
run_pairs AS MATERIALIZED (
  SELECT DISTINCT base_run, own_run FROM asked
),
flagged AS (
  SELECT DISTINCT r.base_run, r.own_run
  FROM (
    SELECT
      o.*, row_number() OVER (ORDER BY o.base_run, o.own_run) AS pair
    FROM run_pairs AS o
  ) AS r
  JOIN environment_changes(
    base_runs := (
      SELECT list(o.base_run ORDER BY o.base_run, o.own_run)
      FROM run_pairs AS o
    ),
    candidate_runs := (
      SELECT list(o.own_run ORDER BY o.base_run, o.own_run)
      FROM run_pairs AS o
    )
  ) AS e USING (pair)
  WHERE e.is_memory_relevant
),
facts AS MATERIALIZED (
  SELECT
    p.pair, p.b.run_id AS base_run, p.b.place AS base_number,
    p.c.run_id AS own_run, p.c.place AS own_number,
    coalesce(x.alias_count, 0) AS base_aliases,
    coalesce(y.alias_count, 0) AS own_aliases,
    p.b.source_graph IS NOT NULL AND p.c.source_graph IS NOT NULL
      AS has_sources,
    coalesce(p.b.source_graph = p.c.source_graph, FALSE) AS is_same_source,
    coalesce(p.b.source_graph = p.c.source_graph, FALSE)
    AND f.base_run IS NOT NULL AS is_by_flags,
    coalesce(p.b.exact_fingerprint = p.c.exact_fingerprint, FALSE)
      AS is_identical,
    coalesce(p.b.graph_fingerprint = p.c.graph_fingerprint, FALSE)
      AS is_same_graph,
    coalesce(p.b.source_shapes <> p.c.source_shapes, FALSE)
      AS has_other_shapes,
    coalesce(t.remat_count, 0) AS base_remats,
    coalesce(u.remat_count, 0) AS own_remats,
    NOT (coalesce(t.remat_count, 0) = 0 AND coalesce(t.remat_mentions, 0) > 0)
    AND NOT (
      coalesce(u.remat_count, 0) = 0 AND coalesce(u.remat_mentions, 0) > 0
    ) AS are_marked,
    coalesce(t.scoped_bytes, 0) AS base_scoped,
    coalesce(u.scoped_bytes, 0) AS own_scoped,
    h.shardings IS DISTINCT FROM g.shardings AS has_other_shardings,
    t.sharding_kinds IS DISTINCT FROM u.sharding_kinds
      AS has_other_sharding_kinds,
    coalesce(r.score, 1.0) AS likeness,
    coalesce(r.has_other_collectives, FALSE) AS has_other_collectives,
    coalesce(s.score, 1.0) AS source_likeness,
    coalesce(v.score, 1.0) AS typed_likeness,
    d.difference, e.label AS last_equal, n.name AS first_different,
    n.stage_name, lower(coalesce(n.pass_after, '')) AS pass_after,
    n.base_count, n.candidate_count, d.snapshot_count
  FROM pairs AS p
  LEFT JOIN declared AS x ON x.module_id = p.b.earliest_id
  LEFT JOIN declared AS y ON y.module_id = p.c.earliest_id
  LEFT JOIN traits AS t ON t.module_id = p.b.earliest_id
  LEFT JOIN traits AS u ON u.module_id = p.c.earliest_id
  LEFT JOIN shardings AS h ON h.module_id = p.b.earliest_id
  LEFT JOIN shardings AS g ON g.module_id = p.c.earliest_id
  LEFT JOIN flagged AS f
    ON f.base_run = p.b.run_id
    AND f.own_run = p.c.run_id
  LEFT JOIN results AS r
    ON r.base_key = p.b.module_id
    AND r.own_key = p.c.module_id
  LEFT JOIN sources AS s
    ON s.base_key = p.b.source_id
    AND s.own_key = p.c.source_id
  LEFT JOIN typed_sources AS v
    ON v.base_key = p.b.source_id
    AND v.own_key = p.c.source_id
  LEFT JOIN differences AS d ON d.pair = p.pair
  LEFT JOIN last_equal AS e ON e.pair = p.pair
  LEFT JOIN partings AS n ON n.pair = p.pair
),
ruled AS (
  SELECT
    a.asked_pair, a.main_part, f.*,
    CASE
      WHEN a.main_part = 'alias' AND f.base_aliases <> f.own_aliases
        THEN 'donations'
      WHEN f.is_identical THEN 'assignment'
      WHEN f.stage_name = 'pass' THEN 'pass'
      WHEN f.is_same_graph AND f.base_scoped <> f.own_scoped THEN 'kernels'
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
  FROM asked AS a
  JOIN facts AS f USING (base_run, base_number, own_run, own_number)
)
SELECT
  r.asked_pair AS pair,
  CASE
    WHEN r.rule IN ('donations', 'kernels') THEN 'framework'
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
      THEN 'framework'
    WHEN r.source_likeness >= 0.95
      AND (
        r.main_part IN ('lifetime', 'allocation_kind', 'fragmentation')
        OR 1 - r.likeness > 2 * (1 - r.source_likeness)
      ) THEN r.compiler
    ELSE 'framework'
  END AS blame,
  CASE r.rule
    WHEN 'donations'
      THEN format(
        '{} outputs may share the memory of a parameter, {} before',
        r.own_aliases, r.base_aliases
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
  r.difference, r.last_equal AS last_equal_stage,
  r.first_different AS first_different_stage,
  r.base_count AS base_instruction_count,
  r.candidate_count AS candidate_instruction_count,
  r.snapshot_count AS compared_stages,
  CAST(r.base_remats AS BIGINT) AS base_remat_count,
  CAST(r.own_remats AS BIGINT) AS candidate_remat_count,
  r.are_marked AS are_remats_marked, r.base_scoped AS base_scoped_bytes,
  r.own_scoped AS candidate_scoped_bytes
FROM ruled AS r
