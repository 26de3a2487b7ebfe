-- title: Where two compilations part
-- question: Framework, partitioner, fusion, scheduler or buffer assignment:
--   after which stage or pass do two compilations of a program first differ?
-- definition: Both compilations are followed from before_optimizations through
--   the passes in their order to after_optimizations. Snapshots are told apart
--   by what they hold, never by name, since a pass may run many times and
--   releases name passes otherwise: by graph_fingerprint; by exact_fingerprint
--   (layouts, schedule, backend config) where the last graphs are equal. They
--   part after the last snapshot of the candidate that the base holds too. The
--   next one is named: the base's where only the base ran that pass, else the
--   candidate's. hlodb diff and hlodb report name the same. blame is framework
--   where before_optimizations declares other donations, which are no part of
--   a graph; else it goes by that snapshot: partitioner, fusion, scheduler,
--   layout or else optimisation by the name of a pass; scheduler where the
--   last graphs are equal; framework at before_optimizations, compiler at
--   after_optimizations, which hlodb diff tells more of by opcodes, flags and
--   what moved; packing where nothing differs but the memory; none. Pairs
--   without such snapshots on both sides are left out.
-- grain: pair of compilations, see matched_compilations
-- leading: program, blame, last_equal_stage, first_different_stage,
--   difference, delta_reserved_bytes
-- param base
-- param candidate
-- param program
-- column base
-- column candidate
-- column program
-- column base_program VARCHAR name neutral: Its name in the base, if another.
-- column rank
-- column base_module_number INTEGER id neutral: XLA's number of the module in
--   the base.
-- column candidate_module_number INTEGER id neutral: The same in the
--   candidate.
-- column blame VARCHAR name neutral: Where the difference comes from.
-- column difference VARCHAR name neutral: graph, in_order_only, memory or
--   none.
-- column last_equal_stage VARCHAR name neutral: Last snapshot that both hold.
-- column first_different_stage VARCHAR name neutral: What follows it, and
--   which side ran it if only one did.
-- column base_instruction_count INTEGER count neutral: Instructions of the
--   snapshot after the last equal one in the base.
-- column candidate_instruction_count INTEGER count neutral: The same in the
--   candidate.
-- column compared_stages BIGINT count neutral: Snapshots of the candidate that
--   were compared.
-- column delta_reserved_bytes BIGINT bytes lower_is_better: Difference of
--   reserved bytes of colour 0.
WITH pairs AS MATERIALIZED (
  SELECT p.*
  FROM matched_compilations(
    base := $base, candidate := $candidate, program := $program
  ) AS p
  WHERE p.base_module_id IS NOT NULL
    AND p.candidate_module_id IS NOT NULL
),
sides AS (
  SELECT
    pair_id, FALSE AS is_candidate, base_run_id AS run_id, base_rank AS rank,
    base_program AS program_name, base_module_number AS module_number,
    base_folder AS folder
  FROM pairs AS p
  UNION ALL
  SELECT
    pair_id, TRUE, candidate_run_id, candidate_rank, candidate_program,
    candidate_module_number, candidate_folder
  FROM pairs AS p
),
numbered_sides AS (
  SELECT
    pair_id, is_candidate, run_id, rank, program_name, module_number, folder,
    FALSE AS is_first_number
  FROM sides
  UNION ALL
  SELECT
    s.pair_id, s.is_candidate, s.run_id, s.rank, s.program_name,
    n.module_number, s.folder, TRUE
  FROM sides AS s
  JOIN renumbered_modules(every_run := TRUE) AS n
    ON n.run_id = s.run_id
    AND n.program = s.program_name
    AND n.rank IS NOT DISTINCT FROM s.rank
    AND n.next_number = s.module_number
    AND n.folder = s.folder
),
snapshots AS (
  SELECT
    s.pair_id, s.is_candidate, m.module_id, m.stage AS stage_name,
    m.pass_after,
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
      PARTITION BY s.pair_id, s.is_candidate
      ORDER BY
        m.stage = 'before_optimizations' DESC, m.stage = 'after_optimizations',
        s.is_first_number DESC, m.pass_step, m.path, m.part
    ) AS place
  FROM numbered_sides AS s
  JOIN modules AS m
    ON m.run_id = s.run_id
    AND m.program = s.program_name
    AND m.rank IS NOT DISTINCT FROM s.rank
    AND m.module_number IS NOT DISTINCT FROM s.module_number
    AND m.folder = s.folder
  WHERE m.stage IN ('before_optimizations', 'pass', 'after_optimizations')
    AND m.graph_fingerprint IS NOT NULL
),
ends AS (
  SELECT
    pair_id, count(*) FILTER (WHERE is_candidate) AS snapshot_count,
    arg_max(graph_fingerprint, place) FILTER (WHERE NOT is_candidate)
      AS base_graph,
    arg_max(graph_fingerprint, place) FILTER (WHERE is_candidate)
      AS candidate_graph,
    arg_max(exact_fingerprint, place) FILTER (WHERE NOT is_candidate)
      AS base_exact,
    arg_max(exact_fingerprint, place) FILTER (WHERE is_candidate)
      AS candidate_exact
  FROM snapshots
  GROUP BY pair_id
),
differences AS (
  SELECT
    pair_id, snapshot_count,
    CASE
      WHEN base_graph <> candidate_graph THEN 'graph'
      WHEN base_exact <> candidate_exact THEN 'in_order_only'
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
  JOIN differences AS d USING (pair_id)
),
base_places AS (
  SELECT pair_id, content, max(place) AS place
  FROM contents
  WHERE NOT is_candidate
  GROUP BY pair_id, content
),
last_equal AS (
  SELECT
    c.pair_id, arg_max(c.label, c.place) AS label,
    max(c.place) AS candidate_place, arg_max(b.place, c.place) AS base_place
  FROM contents AS c
  JOIN base_places AS b USING (pair_id, content)
  WHERE c.is_candidate
  GROUP BY c.pair_id
),
followers AS (
  SELECT
    c.*, l.pair_id IS NOT NULL AS has_equal,
    row_number() OVER (
      PARTITION BY c.pair_id, c.is_candidate ORDER BY c.place
    ) AS nth,
    min(c.is_candidate) OVER same_pass = max(c.is_candidate) OVER same_pass
      AS is_one_sided
  FROM contents AS c
  LEFT JOIN last_equal AS l USING (pair_id)
  WHERE c.place
    > CASE
      WHEN l.pair_id IS NULL THEN 0
      WHEN c.is_candidate THEN l.candidate_place
      ELSE l.base_place
    END
  WINDOW same_pass AS (PARTITION BY c.pair_id, c.label)
),
heads AS (
  SELECT
    f.*,
    f.has_equal AND f.is_one_sided
      AND count(*) FILTER (WHERE f.is_one_sided) OVER pair = 1
      AS is_extra,
    max(CASE WHEN NOT f.is_candidate THEN f.instruction_count END) OVER pair
      AS base_count,
    max(CASE WHEN f.is_candidate THEN f.instruction_count END) OVER pair
      AS candidate_count
  FROM followers AS f
  WHERE f.nth = 1
  WINDOW pair AS (PARTITION BY f.pair_id)
),
partings AS (
  SELECT
    h.*,
    h.label
    || CASE
      WHEN h.is_extra AND h.is_candidate THEN ' (in the candidate only)'
      WHEN h.is_extra THEN ' (in the base only)'
      ELSE ''
    END AS name,
    row_number() OVER (
      PARTITION BY h.pair_id ORDER BY h.is_extra DESC, h.is_candidate DESC
    ) AS preference
  FROM heads AS h
),
declared AS (
  SELECT
    s.pair_id, s.is_candidate,
    string_agg(
      concat_ws(
        ' ', a.output_index, a.parameter_number, a.parameter_index, a.kind
      ),
      ',' ORDER BY a.output_index, a.parameter_number, a.parameter_index
    ) AS donations
  FROM snapshots AS s
  LEFT JOIN aliases AS a USING (module_id)
  WHERE s.stage_name = 'before_optimizations'
  GROUP BY s.pair_id, s.is_candidate
),
donations AS (
  SELECT
    b.pair_id, b.donations IS DISTINCT FROM c.donations AS are_others
  FROM declared AS b
  JOIN declared AS c USING (pair_id)
  WHERE NOT b.is_candidate
    AND c.is_candidate
),
memory AS (
  SELECT
    pair_id,
    CAST(c.reserved_bytes AS BIGINT) - b.reserved_bytes AS main_delta
  FROM pairs AS p
  JOIN memory_profile AS b
    ON b.module_id = p.base_module_id
    AND b.color = 0
  JOIN memory_profile AS c
    ON c.module_id = p.candidate_module_id
    AND c.color = 0
)
SELECT
  p.base, p.candidate, p.candidate_program AS program,
  nullif(p.base_program, p.candidate_program) AS base_program, p.rank,
  p.base_module_number, p.candidate_module_number,
  CASE
    WHEN o.are_others THEN 'framework'
    WHEN f.stage_name = 'pass' THEN
      CASE
        WHEN regexp_matches(lower(f.pass_after), 'spmd|partition|shard')
          THEN 'partitioner'
        WHEN regexp_matches(lower(f.pass_after), 'fusion') THEN 'fusion'
        WHEN regexp_matches(lower(f.pass_after), 'schedul|remat')
          THEN 'scheduler'
        WHEN regexp_matches(lower(f.pass_after), 'layout') THEN 'layout'
        ELSE 'optimisation'
      END
    WHEN d.difference = 'in_order_only' THEN 'scheduler'
    WHEN f.stage_name = 'before_optimizations' THEN 'framework'
    WHEN f.stage_name = 'after_optimizations' THEN 'compiler'
    WHEN m.main_delta <> 0 THEN 'packing'
    ELSE 'none'
  END AS blame,
  coalesce(
    d.difference, CASE WHEN m.main_delta <> 0 THEN 'memory' ELSE 'none' END
  ) AS difference,
  e.label AS last_equal_stage, f.name AS first_different_stage,
  f.base_count AS base_instruction_count,
  f.candidate_count AS candidate_instruction_count,
  d.snapshot_count AS compared_stages, m.main_delta AS delta_reserved_bytes
FROM pairs AS p
JOIN differences AS d USING (pair_id)
LEFT JOIN last_equal AS e USING (pair_id)
LEFT JOIN partings AS f
  ON f.pair_id = p.pair_id
  AND f.preference = 1
LEFT JOIN donations AS o
  ON o.pair_id = p.pair_id
LEFT JOIN memory AS m
  ON m.pair_id = p.pair_id
ORDER BY abs(m.main_delta) DESC NULLS LAST, p.pair_id
